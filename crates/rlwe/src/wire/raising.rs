//! Wire format of raising keys, to a sparse secret and back by a linear map.

use std::io::BufRead;

use super::encapsulation::{MOST_SPECIAL, get_entry, get_moduli, put_entry, put_moduli};
use super::{FieldReader, Fields, Format, Header, Kind, Sink, Source, WireError};
use crate::encapsulation::RaisingKeys;
use crate::{KeyId, RlweContext};

/// Largest number of terms of a linear map in a file.
const MOST_TERMS: usize = 4096;

impl Format<RaisingKeys> for RlweContext {
    const KIND: Kind = Kind::RaisingKeys;

    fn key(&self, keys: &RaisingKeys) -> Option<KeyId> {
        Some(keys.id())
    }

    fn put(&self, keys: &RaisingKeys, sink: &mut impl Sink) -> Result<(), WireError> {
        put_entry(keys.entry(), sink)?;
        let (high, map) = (keys.high(), keys.map());
        let (gadget, special) = (high.gadget(), &high.gadget().options().special_moduli);
        let mut fields = Fields::default();
        [high.level(), special.len(), map.exponents.len()]
            .into_iter()
            .for_each(|number| fields.usize(number));
        fields.f64(map.length);
        fields.bytes(map.seed);
        sink.sealed(fields.as_bytes())?;
        put_moduli(special, sink)?;
        put_moduli(map.exponents, sink)?;
        map.first.iter().try_for_each(|part| sink.key_part(gadget, part, 0))?;
        sink.seal()
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<RaisingKeys, WireError> {
        let entry = get_entry(self, header, source)?;
        let record = source.sealed("the shape of a linear map", 4 * 8 + 32)?;
        let mut fields = FieldReader::new(&record);
        let level = fields.usize_in("level of a linear map", 1..=self.level())?;
        let special = fields.usize_in("special moduli of a linear map", 1..=MOST_SPECIAL)?;
        let terms = fields.usize_in("terms of a linear map", 1..=MOST_TERMS)?;
        let length = fields.f64_in("length of a linear map", f64::MIN_POSITIVE..=f64::MAX)?;
        let seed = fields.array()?;
        let special = get_moduli("the special moduli of a linear map", special, source)?;
        let exponents = get_moduli("the automorphisms of a linear map", terms, source)?;
        // The context checks security again.
        let high = self.up_to(level, &special)?;
        let (gadget, ring) = (high.gadget().clone(), high.key_ring().clone());
        let first = (0..terms * entry.keys().len()).map(|_| Ok(gadget.pack_part(source.poly(&ring)?, 0)?));
        let first = first.collect::<Result<Vec<_>, WireError>>()?;
        source.seal("keys of a linear map")?;
        Ok(RaisingKeys::from_parts(entry, high, exponents, length, seed, first))
    }
}
