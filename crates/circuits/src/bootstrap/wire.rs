//! Bootstrapping keys in files: the records of their keys, one after the other.

use std::io::BufRead;

use sunzi_rlwe::wire::{
    FieldReader, Fingerprint, Format, Header, Kind, Scope, Sink, Source, WireError, get_lower, get_real_ring,
    put_lower, put_real_ring,
};
use sunzi_rlwe::{EncapsulationKeys, GaloisKeys, KeyId, RaisingKeys, RelinearizationKey, RlweContext};

use super::keys::StepKeys;
use super::steps::Steps;
use super::{BootstrapKeys, RealBlueprint, RealBootstrapKeys, SparseKeys};

/// Words that say which keys to a sparse secret follow in a file.
const NO_SPARSE: u64 = 0;
const BY_KEY_SWITCH: u64 = 1;
const BY_FIRST_MATRIX: u64 = 2;
/// Added to such a word where steps have special moduli of their own, and where tables are among these steps.
const OWN_STEPS: u64 = 4;
const OWN_TABLES: u64 = 8;

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
        let own = keys.own.as_ref().map_or(0, |own| match own.tables {
            Some(_) => OWN_STEPS | OWN_TABLES,
            None => OWN_STEPS,
        });
        sink.sealed(&(way | own).to_le_bytes())?;
        match &keys.sparse {
            Some(SparseKeys::KeySwitch(keys)) => Format::<EncapsulationKeys>::put(self, keys, sink)?,
            Some(SparseKeys::FirstMatrix(keys)) => Format::<RaisingKeys>::put(self, &**keys, sink)?,
            None => {}
        }
        let Some(own) = &keys.own else {
            return Format::<GaloisKeys>::put(self, &keys.automorphisms, sink);
        };
        let Steps { coeffs_to_slots, polynomial, tables, slots_to_coeffs } = &own.contexts;
        put_lower(coeffs_to_slots, sink)?;
        Format::<GaloisKeys>::put(coeffs_to_slots, &keys.automorphisms, sink)?;
        put_lower(polynomial, sink)?;
        Format::<RelinearizationKey>::put(polynomial, &own.polynomial, sink)?;
        if let Some((context, key)) = tables.as_ref().zip(own.tables.as_ref()) {
            put_lower(context, sink)?;
            Format::<RelinearizationKey>::put(context, key, sink)?;
        }
        put_lower(slots_to_coeffs, sink)?;
        Format::<GaloisKeys>::put(slots_to_coeffs, &own.slots_to_coeffs, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<BootstrapKeys, WireError> {
        let relinearization = Format::<RelinearizationKey>::get(self, header, source)?;
        let what = "kind of keys to the sparse secret";
        let record = source.sealed(what, 8)?;
        let word = FieldReader::new(&record).u64()?;
        let own = word & (OWN_STEPS | OWN_TABLES);
        let sparse = match word ^ own {
            NO_SPARSE => None,
            BY_KEY_SWITCH => {
                Some(SparseKeys::KeySwitch(Format::<EncapsulationKeys>::get(self, header, source)?))
            }
            BY_FIRST_MATRIX => {
                Some(SparseKeys::FirstMatrix(Box::new(Format::<RaisingKeys>::get(self, header, source)?)))
            }
            _ => return Err(WireError::value(what, "0, 1, 2, 4, 5, 6, 12, 13 or 14", word)),
        };
        if own == OWN_TABLES {
            return Err(WireError::value(what, "12, 13 or 14 with keys of tables", word));
        }
        if own == 0 {
            let automorphisms = Format::<GaloisKeys>::get(self, header, source)?;
            return Ok(BootstrapKeys { relinearization, automorphisms, sparse, own: None });
        }
        let coeffs_to_slots = get_lower(self, source)?;
        let automorphisms = Format::<GaloisKeys>::get(&coeffs_to_slots, header, source)?;
        let step = get_lower(self, source)?;
        let polynomial = Format::<RelinearizationKey>::get(&step, header, source)?;
        let (of_tables, tables) = if own & OWN_TABLES == 0 {
            (None, None)
        } else {
            let step = get_lower(self, source)?;
            let key = Format::<RelinearizationKey>::get(&step, header, source)?;
            (Some(step), Some(key))
        };
        let last = get_lower(self, source)?;
        let to_coeffs = Format::<GaloisKeys>::get(&last, header, source)?;
        let contexts = Steps { coeffs_to_slots, polynomial: step, tables: of_tables, slots_to_coeffs: last };
        let own = Some(Box::new(StepKeys { contexts, polynomial, tables, slots_to_coeffs: to_coeffs }));
        Ok(BootstrapKeys { relinearization, automorphisms, sparse, own })
    }
}

/// Files of a bootstrapping of ciphertexts of a real ring have the fingerprint of its parameters, and are read with the blueprint, which knows the whole ring.
impl Scope for RealBlueprint {
    fn expected(&self) -> Option<Fingerprint> {
        self.real().rlwe().expected()
    }
}

impl Format<RealBootstrapKeys> for RealBlueprint {
    const KIND: Kind = Kind::RealBootstrapKeys;

    fn key(&self, keys: &RealBootstrapKeys) -> Option<KeyId> {
        let [of_real, _] = keys.between.ids();
        Some(of_real)
    }

    fn put(&self, keys: &RealBootstrapKeys, sink: &mut impl Sink) -> Result<(), WireError> {
        put_real_ring(self.real().rlwe(), &keys.between, sink)?;
        Format::<BootstrapKeys>::put(self.whole().context().rlwe(), &keys.whole, sink)
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<RealBootstrapKeys, WireError> {
        let whole = self.whole().context().rlwe();
        let between = get_real_ring([self.real().rlwe(), whole], source)?;
        let [of_real, of_whole] = between.ids();
        if header.key != Some(of_real) {
            return Err(WireError::Key { expected: header.key, got: Some(of_real) });
        }
        let inner = Header { key: Some(of_whole), ..*header };
        Ok(RealBootstrapKeys { whole: Format::<BootstrapKeys>::get(whole, &inner, source)?, between })
    }
}
