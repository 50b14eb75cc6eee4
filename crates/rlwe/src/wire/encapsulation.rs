//! Wire format of encapsulation keys, to a sparse secret and back.

use std::io::BufRead;

use super::keys::{Bodies, get_switch, put_switch};
use super::{FieldReader, Fields, Format, Header, Kind, Sink, Source, WireError};
use crate::encapsulation::{EncapsulationKeys, Entry, SparseSecret};
use crate::{KeyId, KeySwitchKey, RlweContext};

/// Largest number of polynomials that a sparse secret may be made of.
pub(super) const MOST_RANK: usize = 16;
/// Largest number of special moduli of encapsulation keys.
pub(super) const MOST_SPECIAL: usize = 16;

/// Returns whether the first halves of encapsulation key i are stored: every key to the sparse secret but the first has
/// zeros.
fn bodies(i: usize) -> Bodies {
    if i == 0 { Bodies::Stored } else { Bodies::Zero }
}

/// Writes the key switch to a sparse secret.
pub(super) fn put_entry(entry: &Entry, sink: &mut impl Sink) -> Result<(), WireError> {
    let (low, SparseSecret { weight, rank }) = (entry.low(), entry.sparse());
    let special = &low.gadget().options().special_moduli;
    let mut fields = Fields::default();
    [weight, rank, low.level(), special.len()].into_iter().for_each(|number| fields.usize(number));
    sink.sealed(fields.as_bytes())?;
    put_moduli(special, sink)?;
    entry.keys().iter().enumerate().try_for_each(|(i, key)| put_switch(low, key, bodies(i), sink))
}

/// Reads the key switch that [`put_entry`] wrote.
pub(super) fn get_entry(
    context: &RlweContext,
    header: &Header,
    source: &mut Source<impl BufRead>,
) -> Result<Entry, WireError> {
    let record = source.sealed("the shape of the sparse secret", 4 * 8)?;
    let mut fields = FieldReader::new(&record);
    let weight = fields.usize_in("weight of the sparse secret", 1..=MOST_RANK * context.ring().degree())?;
    let rank = fields.usize_in("polynomials of the sparse secret", 1..=MOST_RANK)?;
    let level = fields.usize_in("level of the sparse secret", 1..=context.level())?;
    let special = fields.usize_in("special moduli of the sparse secret", 0..=MOST_SPECIAL)?;
    let special = get_moduli("the special moduli of the sparse secret", special, source)?;
    // The low context checks security again.
    let low = Entry::low_context(context, SparseSecret { weight, rank }, level, &special)?;
    let keys = (0..rank).map(|i| get_switch(&low, bodies(i), source)).collect::<Result<Vec<_>, _>>()?;
    if keys.iter().all(|key| key.level() == level) {
        Ok(Entry::from_keys(low, header.required_key()?, keys))
    } else {
        Err(several_levels())
    }
}

/// Writes a list of moduli whose length is known.
pub(super) fn put_moduli(moduli: &[u64], sink: &mut impl Sink) -> Result<(), WireError> {
    let mut fields = Fields::default();
    moduli.iter().for_each(|&modulus| fields.u64(modulus));
    sink.sealed(fields.as_bytes())
}

/// Reads moduli that [`put_moduli`] wrote.
pub(super) fn get_moduli(
    what: &'static str,
    count: usize,
    source: &mut Source<impl BufRead>,
) -> Result<Vec<u64>, WireError> {
    let record = source.sealed(what, 8 * count)?;
    let mut fields = FieldReader::new(&record);
    (0..count).map(|_| fields.u64()).collect()
}

fn several_levels() -> WireError {
    WireError::value("levels of encapsulation keys", "one on each way", "several")
}

impl Format<EncapsulationKeys> for RlweContext {
    const KIND: Kind = Kind::EncapsulationKeys;

    fn key(&self, keys: &EncapsulationKeys) -> Option<KeyId> {
        Some(keys.id())
    }

    fn put(&self, keys: &EncapsulationKeys, sink: &mut impl Sink) -> Result<(), WireError> {
        put_entry(keys.entry(), sink)?;
        keys.leave().iter().try_for_each(|key| put_switch(self, key, Bodies::Stored, sink))
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<EncapsulationKeys, WireError> {
        let entry = get_entry(self, header, source)?;
        let keys = (0..entry.keys().len()).map(|_| get_switch(self, Bodies::Stored, source));
        let leave = keys.collect::<Result<Vec<_>, _>>()?;
        let high = |key: &KeySwitchKey| key.level();
        if leave.iter().all(|key| Some(key.level()) == leave.first().map(high)) {
            Ok(EncapsulationKeys::from_keys(entry, leave))
        } else {
            Err(several_levels())
        }
    }
}
