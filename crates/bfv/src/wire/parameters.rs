//! Parameters of BFV as numbers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sunzi_ring::{
    Auxiliary, Decryption, MTilde, ModulusSwitching, Multiplication, Precision, ScalerOptions, Storage,
};
use sunzi_rlwe::moduli::MAX_MODULI;
use sunzi_rlwe::wire::{
    FieldReader, Fields, Fingerprint, Kind, RingPart, SecurityClaim, StoredParameters, WireError,
    get_security, put_security, ring_bytes,
};
use sunzi_rlwe::{DEGREES, RingShape, SecretDistribution, Security};

use super::describe;
use crate::{Algorithms, CrtParameters, FermatParameters, Parameters, tables};

const MULTIPLICATIONS: [Multiplication; 4] =
    [Multiplication::Behz, Multiplication::Hps, Multiplication::HpsOverQ, Multiplication::HpsOverQLeveled];
const SWITCHINGS: [ModulusSwitching; 2] = [ModulusSwitching::Exact, ModulusSwitching::Approximate];
const M_TILDES: [MTilde; 3] = [MTilde::None, MTilde::Bits8, MTilde::Bits16];
const AUXILIARIES: [Auxiliary; 2] = [Auxiliary::Standard, Auxiliary::LikeModulus];
/// Decryptions without a number, and the place of γ and log2 γ, which have one.
const DECRYPTIONS: [Option<Decryption>; 6] = [
    None,
    None,
    Some(Decryption::FloatingPoint { precision: Precision::Automatic }),
    Some(Decryption::FloatingPoint { precision: Precision::Double }),
    Some(Decryption::FloatingPoint { precision: Precision::Fixed128 }),
    Some(Decryption::DigitDecomposition),
];

/// The choice, and what a choice with a number has.
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

/// Security, and the algorithms that no object depends on.
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

/// All but the plaintext moduli.
fn get_choices(fields: &mut FieldReader<'_>, ring: RingPart) -> Result<(Security, Algorithms), WireError> {
    ring.check_prefixes()?;
    if ring.secrets != SecretDistribution::Ternary {
        return Err(WireError::value("secrets of BFV", SecretDistribution::Ternary, ring.secrets));
    }
    let security = get_security(fields)?;
    let scaling = ScalerOptions {
        decryption: get_decryption(fields)?,
        multiplication: fields.choice("multiplication", &MULTIPLICATIONS)?,
        modulus_switching: fields.choice("modulus switching", &SWITCHINGS)?,
        m_tilde: fields.choice("m~", &M_TILDES)?,
        auxiliary: fields.choice("auxiliary moduli", &AUXILIARIES)?,
    };
    let cushion_bits = fields.usize_in("cushion", 0..=u32::MAX as usize)? as u32;
    Ok((security, Algorithms { scaling, cushion_bits, key_switching: ring.key_switching }))
}

fn ring_part(ring: RingShape, moduli: &[u64], algorithms: &Algorithms) -> RingPart {
    RingPart {
        index: ring.index(),
        moduli: moduli.to_vec(),
        rungs: Vec::new(),
        key_switching: algorithms.key_switching.clone(),
        secrets: SecretDistribution::Ternary,
    }
}

impl StoredParameters for Parameters {
    const KIND: Kind = Kind::BfvParameters;

    fn fingerprint(&self) -> Fingerprint {
        let mut fields = Fields::default();
        describe(self.plain_modulus(), &mut fields);
        let ring = ring_part(self.ring(), self.moduli(), self.algorithms());
        Fingerprint::of_ring(&ring.to_bytes()).with_scheme(fields.as_bytes())
    }

    fn claim(&self) -> SecurityClaim {
        SecurityClaim {
            scheme: "BFV",
            degree: self.degree(),
            log2_key_modulus: self.log2_key_modulus(),
            moduli: self.moduli().len() + self.special_moduli().len(),
            plain_moduli: vec![self.plain_modulus()],
            secrets: SecretDistribution::Ternary,
            security: self.security(),
        }
    }

    fn table_bytes(&self) -> u64 {
        tables::bytes(self.ring(), self.moduli(), &[self.plain_modulus()], self.algorithms())
    }

    fn digits(&self) -> usize {
        tables::digits(self.moduli(), self.algorithms())
    }

    fn put(&self, fields: &mut Fields) {
        fields.bytes(&ring_part(self.ring(), self.moduli(), self.algorithms()).to_bytes());
        fields.u64(self.plain_modulus());
        put_choices(fields, self.security(), self.algorithms());
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let ring = RingPart::get(fields)?;
        let (shape, moduli, plain_modulus) =
            (RingShape::of_index(ring.index), ring.moduli.clone(), fields.u64()?);
        let (security, algorithms) = get_choices(fields, ring)?;
        let parameters = Self::new(shape, moduli, plain_modulus, security).with_algorithms(algorithms);
        parameters.validate().map_err(WireError::scheme)?;
        Ok(parameters)
    }
}

/// Contexts are those of the parts: the name here is that of all together.
impl StoredParameters for CrtParameters {
    const KIND: Kind = Kind::CrtParameters;

    fn fingerprint(&self) -> Fingerprint {
        let mut fields = Fields::default();
        self.plain_moduli().iter().for_each(|&t| describe(t, &mut fields));
        let ring = ring_part(self.ring(), self.moduli(), self.algorithms());
        Fingerprint::of_ring(&ring.to_bytes()).with_scheme(fields.as_bytes())
    }

    fn claim(&self) -> SecurityClaim {
        SecurityClaim {
            scheme: "BFV",
            degree: self.degree(),
            log2_key_modulus: self.log2_key_modulus(),
            moduli: self.moduli().len() + self.special_moduli().len(),
            plain_moduli: self.plain_moduli().to_vec(),
            secrets: SecretDistribution::Ternary,
            security: self.security(),
        }
    }

    fn table_bytes(&self) -> u64 {
        tables::bytes(self.ring(), self.moduli(), self.plain_moduli(), self.algorithms())
    }

    fn digits(&self) -> usize {
        tables::digits(self.moduli(), self.algorithms())
    }

    fn put(&self, fields: &mut Fields) {
        fields.bytes(&ring_part(self.ring(), self.moduli(), self.algorithms()).to_bytes());
        fields.list(self.plain_moduli().iter().copied());
        put_choices(fields, self.security(), self.algorithms());
    }

    fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let ring = RingPart::get(fields)?;
        let (shape, moduli) = (RingShape::of_index(ring.index), ring.moduli.clone());
        let plain_moduli = fields.list("plaintext moduli", MAX_MODULI)?;
        let (security, algorithms) = get_choices(fields, ring)?;
        let parameters = Self::new(shape, moduli, plain_moduli, security).with_algorithms(algorithms);
        parameters.validate().map_err(WireError::scheme)?;
        Ok(parameters)
    }
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// The security that they claim is checked, and parameters without any are read within
/// [`accepting_insecure`](sunzi_rlwe::security::accepting_insecure) only.
impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parameters = Self::deserialize(deserializer)?;
        parameters.claim().check().map_err(D::Error::custom)?;
        Ok(parameters)
    }
}

impl Serialize for CrtParameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// The security that they claim is checked, and parameters without any are read within
/// [`accepting_insecure`](sunzi_rlwe::security::accepting_insecure) only.
impl<'de> Deserialize<'de> for CrtParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parameters = Self::deserialize(deserializer)?;
        parameters.claim().check().map_err(D::Error::custom)?;
        Ok(parameters)
    }
}

/// Only the power-of-two ring of this degree, g, t and the security: the rest is fixed.
impl StoredParameters for FermatParameters {
    const KIND: Kind = Kind::FermatParameters;

    fn fingerprint(&self) -> Fingerprint {
        let mut fields = Fields::default();
        describe(self.plain_modulus(), &mut fields);
        let ring = sunzi_ring::describe(Storage::Fermat, 2 * self.degree() as u64, &[self.bits() as u64]);
        let bytes = ring_bytes(ring, &Self::key_switching(), SecretDistribution::Ternary);
        Fingerprint::of_ring(&bytes).with_scheme(fields.as_bytes())
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
