//! Bootstrapping keys in files: the records of their keys, one after the other.

use std::io::BufRead;

use sunzi_rlwe::wire::{FieldReader, Format, Header, Kind, Sink, Source, WireError};
use sunzi_rlwe::{EncapsulationKeys, GaloisKeys, KeyId, RaisingKeys, RelinearizationKey, RlweContext};

use super::{BootstrapKeys, SparseKeys};

/// Words that say which keys to a sparse secret follow in a file.
const NO_SPARSE: u64 = 0;
const BY_KEY_SWITCH: u64 = 1;
const BY_FIRST_MATRIX: u64 = 2;

impl Format<BootstrapKeys> for RlweContext {
    const KIND: Kind = Kind::BootstrapKeys;

    fn key(&self, keys: &BootstrapKeys) -> Option<KeyId> {
        Some(keys.relinearization.id())
    }

    fn put(&self, keys: &BootstrapKeys, sink: &mut impl Sink) -> Result<(), WireError> {
        Format::<RelinearizationKey>::put(self, &keys.relinearization, sink)?;
        let way = keys.sparse.as_ref().map_or(NO_SPARSE, |sparse| match sparse {
            SparseKeys::KeySwitch(_) => BY_KEY_SWITCH,
            SparseKeys::FirstMatrix(_) => BY_FIRST_MATRIX,
        });
        sink.sealed(&way.to_le_bytes())?;
        match &keys.sparse {
            Some(SparseKeys::KeySwitch(keys)) => Format::<EncapsulationKeys>::put(self, keys, sink)?,
            Some(SparseKeys::FirstMatrix(keys)) => Format::<RaisingKeys>::put(self, &**keys, sink)?,
            None => {}
        }
        Format::<GaloisKeys>::put(self, &keys.automorphisms, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<BootstrapKeys, WireError> {
        let relinearization = Format::<RelinearizationKey>::get(self, header, source)?;
        let what = "kind of keys to the sparse secret";
        let record = source.sealed(what, 8)?;
        let sparse = match FieldReader::new(&record).u64()? {
            NO_SPARSE => None,
            BY_KEY_SWITCH => {
                Some(SparseKeys::KeySwitch(Format::<EncapsulationKeys>::get(self, header, source)?))
            }
            BY_FIRST_MATRIX => {
                Some(SparseKeys::FirstMatrix(Box::new(Format::<RaisingKeys>::get(self, header, source)?)))
            }
            got => return Err(WireError::value(what, "0, 1 or 2", got)),
        };
        let automorphisms = Format::<GaloisKeys>::get(self, header, source)?;
        Ok(BootstrapKeys { relinearization, automorphisms, sparse })
    }
}
