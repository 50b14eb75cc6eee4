//! BGV in files: the records of `docs/format.md` other than keys.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sunzi_rlwe::RlweContext;
use sunzi_rlwe::moduli::MAX_MODULI;
use sunzi_rlwe::wire::{
    CiphertextOf, FieldReader, Fields, Kind, RingPart, SchemeFormat, SecurityClaim, StoredParameters,
    WireError, claimed, get_security, put_security,
};

use crate::budget::{Budget, MOST_PLAIN_PRODUCTS, Operations, Usage};
use crate::{Bgv, Context, Metadata, Parameters};

/// Writes the numbers on which BGV messages depend: t, and the moduli and the factor of the last one of every level.
fn describe(plain_modulus: u64, levels: impl Iterator<Item = (usize, u64)>, fields: &mut Fields) {
    fields.bytes(b"BGV\0");
    fields.u64(plain_modulus);
    for (limbs, share) in levels {
        fields.usize(limbs);
        fields.u64(share);
    }
}
impl SchemeFormat for Context {
    type Scheme = Bgv;
    const CIPHERTEXT: Kind = Kind::BgvCiphertext;
    const CIPHERTEXTS: Kind = Kind::BgvCiphertexts;
    const PLAINTEXT: Kind = Kind::BgvPlaintext;
    const METADATA_LEN: usize = 5 * 8;

    fn rlwe(&self) -> &RlweContext {
        self.rlwe()
    }

    fn describe(&self, fields: &mut Fields) {
        describe(self.plain_modulus(), self.level_places(), fields);
    }

    fn put_metadata(&self, metadata: &Metadata, fields: &mut Fields) {
        let Metadata { level, place, usage, .. } = metadata;
        fields.usize(*level);
        fields.usize(*place);
        fields.u64(usage.terms);
        fields.u64(usage.rotations);
        fields.u64(usage.plain_products as u64);
    }

    fn get_metadata(&self, fields: &mut FieldReader<'_>) -> Result<Metadata, WireError> {
        let level = fields.usize_in("level of BGV", 0..=self.depth())?;
        let place = fields.usize_in("place in the chain of moduli", self.places_at(level))?;
        let (terms, rotations) = (fields.u64()?, fields.u64()?);
        let plain_products = fields.usize_in("products with plaintexts", 0..=MOST_PLAIN_PRODUCTS)?;
        let usage = Usage { terms, rotations, plain_products };
        self.metadata(level, place, usage).map_err(WireError::scheme)
    }

    fn accept(&self, ciphertext: CiphertextOf<Self>) -> Result<CiphertextOf<Self>, WireError> {
        self.check(&ciphertext).map_err(WireError::scheme)?;
        self.finish(ciphertext, "load", &[]).map_err(WireError::scheme)
    }
}

/// Number of moduli of every level and the factor of the last one.
fn places(parameters: &Parameters) -> impl Iterator<Item = (usize, u64)> + '_ {
    let shares = parameters.shares().iter().copied().chain(std::iter::repeat(0));
    parameters.levels().iter().copied().zip(shares)
}

fn ring_part(parameters: &Parameters) -> RingPart {
    RingPart {
        ring: parameters.ring(),
        moduli: parameters.moduli().to_vec(),
        rungs: parameters.rungs().to_vec(),
        key_switching: parameters.key_switching().clone(),
        secrets: parameters.secrets(),
    }
}

fn put_operations(operations: &Operations, fields: &mut Fields) {
    fields.u64(operations.additions);
    fields.u64(operations.rotations);
    fields.u64(operations.plain_products as u64);
}

fn get_operations(fields: &mut FieldReader<'_>) -> Result<Operations, WireError> {
    let (additions, rotations) = (fields.u64()?, fields.u64()?);
    let plain_products = fields.usize_in("declared products with plaintexts", 0..=MOST_PLAIN_PRODUCTS)?;
    Ok(Operations { additions, rotations, plain_products })
}

impl StoredParameters for Parameters {
    const KIND: Kind = Kind::BgvParameters;

    fn key_bytes(&self) -> Vec<u8> {
        ring_part(self).to_bytes()
    }

    fn describe(&self, fields: &mut Fields) {
        describe(self.plain_modulus(), places(self), fields);
    }

    fn claim(&self) -> SecurityClaim {
        ring_part(self).claim("BGV", vec![self.plain_modulus()], self.security())
    }

    fn table_bytes(&self) -> u64 {
        self.table_bytes()
    }

    fn digits(&self) -> usize {
        ring_part(self).digits()
    }

    fn put(&self, fields: &mut Fields) {
        fields.bytes(&self.key_bytes());
        fields.u64(self.plain_modulus());
        fields.list(self.levels().iter().map(|&limbs| limbs as u64));
        fields.list(self.shares().iter().copied());
        put_security(fields, self.security());
        let Budget { fresh, per_level, last } = self.budget();
        [fresh, per_level, last].into_iter().for_each(|operations| put_operations(operations, fields));
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let ring = RingPart::get(fields)?;
        let plain_modulus = fields.u64()?;
        let levels = fields.list("levels", MAX_LEVELS)?;
        let shares = fields.list("shares of moduli", MAX_LEVELS)?;
        let security = get_security(fields)?;
        let [fresh, per_level, last] =
            [get_operations(fields)?, get_operations(fields)?, get_operations(fields)?];
        let levels = levels.into_iter().map(|limbs| usize::try_from(limbs).unwrap_or(usize::MAX)).collect();
        let parameters = Self::new(ring.ring, ring.moduli, plain_modulus, security)
            .with_rungs(ring.rungs)
            .with_shared_moduli(levels, shares)
            .with_key_switching(ring.key_switching)
            .with_secrets(ring.secrets)
            .with_budget(Budget { fresh, per_level, last });
        parameters.validate().map_err(WireError::scheme)?;
        Ok(parameters)
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        claimed(Self::deserialize(deserializer)?)
    }
}

/// Bound on the number of levels in files: several levels may share a modulus.
const MAX_LEVELS: usize = 8 * MAX_MODULI;
