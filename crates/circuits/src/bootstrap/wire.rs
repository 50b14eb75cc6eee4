//! Bootstrapping keys in files: the records of their keys, one after the other.

use std::io::BufRead;

use sunzi_rlwe::wire::{FieldReader, Format, Header, Kind, Sink, Source, WireError};
use sunzi_rlwe::{EncapsulationKeys, GaloisKeys, KeyId, RelinearizationKey, RlweContext};

use super::BootstrapKeys;

impl Format<BootstrapKeys> for RlweContext {
    const KIND: Kind = Kind::BootstrapKeys;

    fn key(&self, keys: &BootstrapKeys) -> Option<KeyId> {
        Some(keys.relinearization.id())
    }

    fn put(&self, keys: &BootstrapKeys, sink: &mut impl Sink) -> Result<(), WireError> {
        Format::<RelinearizationKey>::put(self, &keys.relinearization, sink)?;
        sink.sealed(&u64::from(keys.encapsulation.is_some()).to_le_bytes())?;
        if let Some(encapsulation) = &keys.encapsulation {
            Format::<EncapsulationKeys>::put(self, encapsulation, sink)?;
        }
        Format::<GaloisKeys>::put(self, &keys.automorphisms, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<BootstrapKeys, WireError> {
        let relinearization = Format::<RelinearizationKey>::get(self, header, source)?;
        let record = source.sealed("whether there are encapsulation keys", 8)?;
        let encapsulated = FieldReader::new(&record).flag("whether there are encapsulation keys")?;
        let encapsulation =
            if encapsulated { Some(Format::<EncapsulationKeys>::get(self, header, source)?) } else { None };
        let automorphisms = Format::<GaloisKeys>::get(self, header, source)?;
        Ok(BootstrapKeys { relinearization, automorphisms, encapsulation })
    }
}
