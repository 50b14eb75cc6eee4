//! Wire format of encapsulation keys, to a sparse secret and back.

use std::io::BufRead;

use super::keys::{Bodies, get_switch, put_switch};
use super::{FieldReader, Fields, Format, Header, Kind, Sink, Source, WireError};
use crate::encapsulation::{EncapsulationKeys, SparseSecret};
use crate::{KeyId, KeySwitchKey, RlweContext};

/// Largest number of polynomials that a sparse secret may be made of.
const MOST_RANK: usize = 16;
/// Largest number of special moduli of encapsulation keys at the low level.
const MOST_SPECIAL: usize = 16;

/// Returns whether the first halves of encapsulation key i are stored: every key to the sparse secret but the first has
/// zeros.
fn bodies(i: usize) -> Bodies {
    if i == 0 { Bodies::Stored } else { Bodies::Zero }
}

impl Format<EncapsulationKeys> for RlweContext {
    const KIND: Kind = Kind::EncapsulationKeys;

    fn key(&self, keys: &EncapsulationKeys) -> Option<KeyId> {
        Some(keys.id())
    }

    fn put(&self, keys: &EncapsulationKeys, sink: &mut impl Sink) -> Result<(), WireError> {
        let (low, SparseSecret { weight, rank }) = (keys.low(), keys.sparse());
        let special = &low.gadget().options().special_moduli;
        let mut fields = Fields::default();
        [weight, rank, low.level(), special.len()].into_iter().for_each(|number| fields.usize(number));
        sink.sealed(fields.as_bytes())?;
        let mut fields = Fields::default();
        special.iter().for_each(|&modulus| fields.u64(modulus));
        sink.sealed(fields.as_bytes())?;
        for (i, key) in keys.enter().iter().enumerate() {
            put_switch(low, key, bodies(i), sink)?;
        }
        keys.leave().iter().try_for_each(|key| put_switch(self, key, Bodies::Stored, sink))
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<EncapsulationKeys, WireError> {
        let record = source.sealed("the shape of the sparse secret", 4 * 8)?;
        let mut fields = FieldReader::new(&record);
        let weight = fields.usize_in("weight of the sparse secret", 1..=MOST_RANK * self.ring().degree())?;
        let rank = fields.usize_in("polynomials of the sparse secret", 1..=MOST_RANK)?;
        let level = fields.usize_in("level of the sparse secret", 1..=self.level())?;
        let special = fields.usize_in("special moduli of the sparse secret", 0..=MOST_SPECIAL)?;
        let record = source.sealed("the special moduli of the sparse secret", 8 * special)?;
        let mut fields = FieldReader::new(&record);
        let special = (0..special).map(|_| fields.u64()).collect::<Result<Vec<_>, _>>()?;
        // The low context checks security again.
        let low = EncapsulationKeys::low_context(self, SparseSecret { weight, rank }, level, &special)?;
        let mut keys = |context: &RlweContext, bodies: fn(usize) -> Bodies| {
            (0..rank).map(|i| get_switch(context, bodies(i), source)).collect::<Result<Vec<_>, _>>()
        };
        let enter = keys(&low, bodies)?;
        let leave = keys(self, |_| Bodies::Stored)?;
        let high = |key: &KeySwitchKey| key.level();
        let complete = enter.iter().all(|key| key.level() == level)
            && leave.iter().all(|key| Some(key.level()) == leave.first().map(high));
        if complete {
            Ok(EncapsulationKeys::from_keys(low, header.required_key()?, enter, leave))
        } else {
            Err(WireError::value("levels of encapsulation keys", "one on each way", "several"))
        }
    }
}
