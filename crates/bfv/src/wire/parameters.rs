//! Files of BFV parameters.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sunzi_ring::{
    Auxiliary, Decryption, GadgetOptions, MTilde, ModulusSwitching, Multiplication, Precision, ScalerOptions,
    Storage,
};
use sunzi_rlwe::moduli::MAX_MODULI;
use sunzi_rlwe::wire::{
    FieldReader, Fields, Kind, RingPart, SecurityClaim, StoredParameters, WireError, claimed, get_security,
    put_security, ring_bytes,
};
use sunzi_rlwe::{DEGREES, SecretDistribution, Security};

use super::describe;
use crate::algorithms::Algorithms;
use crate::fermat::FermatParameters;
use crate::parameters::{OnePlainModulus, ParameterSet, SeveralPlainModuli};
use crate::tables;

const MULTIPLICATIONS: [Multiplication; 4] =
    [Multiplication::Behz, Multiplication::Hps, Multiplication::HpsOverQ, Multiplication::HpsOverQLeveled];
const SWITCHINGS: [ModulusSwitching; 2] = [ModulusSwitching::Exact, ModulusSwitching::Approximate];
const M_TILDES: [MTilde; 3] = [MTilde::None, MTilde::Bits8, MTilde::Bits16];
const AUXILIARIES: [Auxiliary; 2] = [Auxiliary::Standard, Auxiliary::LikeModulus];
/// Methods of decryption by their numbers in files; none for γ and log2 γ, which have a number of their own.
const DECRYPTIONS: [Option<Decryption>; 6] = [
    None,
    None,
    Some(Decryption::FloatingPoint { precision: Precision::Automatic }),
    Some(Decryption::FloatingPoint { precision: Precision::Double }),
    Some(Decryption::FloatingPoint { precision: Precision::Fixed128 }),
    Some(Decryption::DigitDecomposition),
];

/// Writes the method of decryption, and its number if it has one.
fn put_decryption(fields: &mut Fields, decryption: Decryption) {
    let (choice, number) = match decryption {
        Decryption::Gamma { gamma } => (0, gamma),
        Decryption::PowerOfTwo { log2_gamma } => (1, log2_gamma.map(u64::from)),
        other => (DECRYPTIONS.iter().position(|known| *known == Some(other)).unwrap_or(0), None),
    };
    fields.usize(choice);
    fields.option(number);
}

fn get_decryption(fields: &mut FieldReader<'_>) -> Result<Decryption, WireError> {
    let choice = fields.usize_in("decryption", 0..=DECRYPTIONS.len() - 1)?;
    let number = fields.option("number of a decryption")?;
    let wrong = || WireError::value("number of a decryption", "one that it has", format!("{number:?}"));
    match (DECRYPTIONS.get(choice).copied().flatten(), number) {
        (Some(decryption), None) => Ok(decryption),
        (Some(_), Some(_)) => Err(wrong()),
        (None, gamma) if choice == 0 => Ok(Decryption::Gamma { gamma }),
        (None, log2) => {
            let log2_gamma = log2.map(u32::try_from).transpose().map_err(|_| wrong())?;
            Ok(Decryption::PowerOfTwo { log2_gamma })
        }
    }
}

/// Writes the security, and the algorithms that no ciphertext or key depends on.
fn put_choices(fields: &mut Fields, security: Security, algorithms: &Algorithms) {
    put_security(fields, security);
    let ScalerOptions { decryption, multiplication, modulus_switching, m_tilde, auxiliary } =
        algorithms.scaling;
    put_decryption(fields, decryption);
    fields.choice(&multiplication, &MULTIPLICATIONS);
    fields.choice(&modulus_switching, &SWITCHINGS);
    fields.choice(&m_tilde, &M_TILDES);
    fields.choice(&auxiliary, &AUXILIARIES);
    fields.u64(algorithms.cushion_bits.into());
}

/// Reads the security and the algorithms that [`put_choices`] writes.
fn get_choices(
    fields: &mut FieldReader<'_>,
    key_switching: GadgetOptions,
) -> Result<(Security, Algorithms), WireError> {
    let security = get_security(fields)?;
    let scaling = ScalerOptions {
        decryption: get_decryption(fields)?,
        multiplication: fields.choice("multiplication", &MULTIPLICATIONS)?,
        modulus_switching: fields.choice("modulus switching", &SWITCHINGS)?,
        m_tilde: fields.choice("m~", &M_TILDES)?,
        auxiliary: fields.choice("auxiliary moduli", &AUXILIARIES)?,
    };
    let cushion_bits = fields.usize_in("cushion", 0..=u32::MAX as usize)? as u32;
    Ok((security, Algorithms { scaling, cushion_bits, key_switching }))
}

/// Plaintext moduli as files of BFV parameters store them.
trait StoredModuli: AsRef<[u64]> + Sized {
    const KIND: Kind;
    fn put(&self, fields: &mut Fields);
    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError>;
}

impl StoredModuli for OnePlainModulus {
    const KIND: Kind = Kind::BfvParameters;

    fn put(&self, fields: &mut Fields) {
        fields.u64(self.plain_modulus);
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        Ok(Self { plain_modulus: fields.u64()? })
    }
}

/// Stores several plaintext moduli; the fingerprint of the parameters is that of all moduli together.
impl StoredModuli for SeveralPlainModuli {
    const KIND: Kind = Kind::CrtParameters;

    fn put(&self, fields: &mut Fields) {
        fields.list(self.plain_moduli.iter().copied());
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        Ok(Self { plain_moduli: fields.list("plaintext moduli", MAX_MODULI)? })
    }
}

fn ring_part<T: StoredModuli>(parameters: &ParameterSet<T>) -> RingPart {
    RingPart {
        ring: parameters.ring(),
        moduli: parameters.moduli().to_vec(),
        rungs: Vec::new(),
        key_switching: parameters.algorithms().key_switching.clone(),
        secrets: parameters.secrets(),
    }
}

impl<T: StoredModuli> StoredParameters for ParameterSet<T> {
    const KIND: Kind = T::KIND;

    fn key_bytes(&self) -> Vec<u8> {
        ring_part(self).to_bytes()
    }

    fn describe(&self, fields: &mut Fields) {
        self.plain().as_ref().iter().for_each(|&t| describe(t, fields));
    }

    fn claim(&self) -> SecurityClaim {
        ring_part(self).claim("BFV", self.plain().as_ref().to_vec(), self.security())
    }

    fn table_bytes(&self) -> u64 {
        tables::bytes(self.ring(), self.moduli(), self.plain().as_ref(), self.algorithms())
    }

    fn digits(&self) -> usize {
        ring_part(self).digits()
    }

    fn put(&self, fields: &mut Fields) {
        fields.bytes(&self.key_bytes());
        self.plain().put(fields);
        put_choices(fields, self.security(), self.algorithms());
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let ring = RingPart::get(fields)?;
        let plain = T::get(fields)?;
        ring.check_prefixes()?;
        let (security, algorithms) = get_choices(fields, ring.key_switching)?;
        let parameters = Self::of(ring.ring, ring.moduli, plain, security)
            .with_algorithms(algorithms)
            .with_secrets(ring.secrets);
        parameters.validate().map_err(WireError::scheme)?;
        Ok(parameters)
    }
}

impl<T: Serialize> Serialize for ParameterSet<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de, T: StoredModuli + Deserialize<'de>> Deserialize<'de> for ParameterSet<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        claimed(Self::deserialize(deserializer)?)
    }
}

/// Stores degree, g, plaintext modulus and security of parameters modulo 2^g − 1: the rest is fixed.
impl StoredParameters for FermatParameters {
    const KIND: Kind = Kind::FermatParameters;

    fn key_bytes(&self) -> Vec<u8> {
        let ring = sunzi_ring::describe(Storage::Fermat, 2 * self.degree() as u64, &[self.bits() as u64]);
        ring_bytes(ring, &Self::key_switching(), SecretDistribution::Ternary)
    }

    fn describe(&self, fields: &mut Fields) {
        describe(self.plain_modulus(), fields);
    }

    fn claim(&self) -> SecurityClaim {
        SecurityClaim {
            scheme: "BFV",
            degree: self.degree(),
            log2_key_modulus: self.bits() as f64,
            moduli: self.bits().div_ceil(64),
            plain_moduli: vec![self.plain_modulus()],
            secrets: SecretDistribution::Ternary,
            security: self.security(),
        }
    }

    fn table_bytes(&self) -> u64 {
        tables::fermat_bytes(self.degree(), self.bits())
    }

    fn digits(&self) -> usize {
        Self::key_switching().radix_bits.map_or(1, |radix| self.bits().div_ceil(radix.max(1) as usize))
    }

    fn put(&self, fields: &mut Fields) {
        fields.usize(self.degree());
        fields.usize(self.bits());
        fields.u64(self.plain_modulus());
        put_security(fields, self.security());
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let degree = fields.usize_in("degree", DEGREES)?;
        let bits = fields.usize_in("bits of a Fermat modulus", 0..=usize::MAX)?;
        let (plain_modulus, security) = (fields.u64()?, get_security(fields)?);
        Self::new(degree, bits, plain_modulus, security).map_err(WireError::scheme)
    }
}
