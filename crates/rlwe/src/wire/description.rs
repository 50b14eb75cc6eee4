//! Descriptions of parameters as bytes, and fingerprints, which are hashes of descriptions.

use sha2::{Digest, Sha256};
use sunzi_math::log2_product;
use sunzi_ring::{GadgetOptions, RnsDigits, Storage, describe, describe_real, describe_sets};

use super::{FieldReader, Fields, SecurityClaim, WireError};
use crate::moduli::{MAX_MODULI, MAX_RUNGS};
use crate::{RingShape, RlweContext, SecretDistribution, Security};

/// Length of one half of a fingerprint, in bytes.
const LEN: usize = 8;

/// A fingerprint of parameters: a half for what keys depend on, another half for what messages depend on besides.
/// Against mix-ups: what a wrong guess lets through is still checked number by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Half of the fingerprint for ring, moduli, digits of key switching and distribution of secrets.
    pub ring: [u8; LEN],
    /// Half of the fingerprint for scheme, plaintext modulus, levels, scales; 0 for keys, which serve every scheme.
    pub scheme: [u8; LEN],
}

impl Fingerprint {
    /// Returns the fingerprint of keys from the description of their ring: the first 8 bytes of SHA-256.
    #[must_use]
    pub fn of_ring(ring: &[u8]) -> Self {
        Self { ring: hash(b"sunzi ring\0", ring), scheme: [0; LEN] }
    }

    /// Returns the fingerprint with the half for messages, from a description of the scheme.
    #[must_use]
    pub fn with_scheme(self, scheme: &[u8]) -> Self {
        Self { scheme: hash(b"sunzi scheme\0", scheme), ..self }
    }

    /// Checks that the fingerprint `other` equals this one.
    ///
    /// # Errors
    /// [`WireError::Parameters`] where the fingerprints differ.
    pub fn check(&self, other: &Self) -> Result<(), WireError> {
        if self.ring != other.ring {
            return Err(WireError::Parameters { what: "ring, moduli or key switching" });
        }
        let what = "plaintext modulus, levels or scales";
        if self.scheme == other.scheme { Ok(()) } else { Err(WireError::Parameters { what }) }
    }
}

fn hash(domain: &[u8], bytes: &[u8]) -> [u8; LEN] {
    let hash = Sha256::new().chain_update(domain).chain_update(bytes).finalize();
    hash.first_chunk().copied().unwrap_or_default()
}

/// A description of the parameters on which the keys over a [`Ring`](sunzi_ring::Ring) depend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingPart {
    /// Shape of the ring of the keys.
    pub ring: RingShape,
    /// Ciphertext moduli of the ring, in order.
    pub moduli: Vec<u64>,
    /// Indices of the moduli of every level; none where level l has the first l moduli.
    pub rungs: Vec<Vec<usize>>,
    /// Gadget options: digits and special moduli of key switching.
    pub key_switching: GadgetOptions,
    /// Distribution of the coefficients of secrets.
    pub secrets: SecretDistribution,
}

impl RingPart {
    /// Returns the description of a ring part as bytes, as fingerprints hash it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let rungs = self.rungs.iter().map(|rung| &**rung);
        let mut ring = describe(Storage::Words, self.ring.index(), &self.moduli);
        if self.ring.is_real() {
            ring = describe_real(&ring);
        }
        let ring = describe_sets(ring, self.moduli.len(), rungs);
        ring_bytes(ring, &self.key_switching, self.secrets)
    }

    /// Reads the description of a ring part. The checks of [`moduli::check`](crate::moduli::check) and of security come
    /// later.
    ///
    /// # Errors
    /// [`WireError::Value`] for a number out of range; [`WireError::Length`] for bytes that end early.
    pub fn get(fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let [mut storage] = fields.array()?;
        let has_sets = storage == Storage::Sets as u8;
        if has_sets {
            [storage] = fields.array()?;
        }
        let is_real = storage == Storage::Real as u8;
        if is_real {
            [storage] = fields.array()?;
        }
        if storage != Storage::Words as u8 {
            return Err(WireError::value("storage of residues", Storage::Words as u8, storage));
        }
        let (index, count) = (fields.u64()?, fields.u32()? as usize);
        let ring = match RingShape::of_index(index) {
            ring if !is_real => ring,
            RingShape::Log2Degree(log2) if log2 > 0 => RingShape::RealLog2Degree(log2 - 1),
            _ => return Err(WireError::value("index of a real ring", "a power of two", index)),
        };
        if count > MAX_MODULI {
            return Err(WireError::value("moduli", format!("at most {MAX_MODULI}"), count));
        }
        let moduli: Vec<u64> = (0..count).map(|_| fields.u64()).collect::<Result<_, _>>()?;
        let rungs = if has_sets { get_rungs(count, fields)? } else { Vec::new() };
        let key_switching = get_options(fields)?;
        let weight = fields.option("weight of secrets")?;
        let secrets = weight.map_or(SecretDistribution::Ternary, |weight| {
            // A weight above all degrees tells older readers that they cannot read it.
            match weight.checked_sub(JOINT).and_then(|parties| u32::try_from(parties).ok()) {
                Some(parties) => SecretDistribution::Joint(parties),
                None => SecretDistribution::FixedWeight(usize::try_from(weight).unwrap_or(usize::MAX)),
            }
        });
        Ok(Self { ring, moduli, rungs, key_switching, secrets })
    }

    /// Returns the security claim of parameters with these keys.
    #[must_use]
    pub fn claim(&self, scheme: &'static str, plain_moduli: Vec<u64>, security: Security) -> SecurityClaim {
        let special = &self.key_switching.special_moduli;
        SecurityClaim {
            scheme,
            degree: self.ring.degree(),
            log2_key_modulus: log2_product(&self.moduli) + log2_product(special),
            moduli: self.moduli.len() + special.len(),
            plain_moduli,
            secrets: self.secrets,
            security,
        }
    }

    /// Returns the number of digits of key switching; 0 for options that the moduli do not allow.
    #[must_use]
    pub fn digits(&self) -> usize {
        RnsDigits::new(&self.key_switching, &self.moduli).map_or(0, |digits| digits.count())
    }

    /// Checks that levels are prefixes of the moduli, for parameters without levels that are sets.
    ///
    /// # Errors
    /// [`WireError::Value`] where levels are sets of moduli.
    pub fn check_prefixes(&self) -> Result<(), WireError> {
        if self.rungs.is_empty() {
            return Ok(());
        }
        Err(WireError::value("moduli of a level of this scheme", "the first of all", "other sets of them"))
    }
}

/// Reads the moduli of levels as sets of `count` moduli. Prefixes have a storage of their own, so that every ring has
/// one name.
fn get_rungs(count: usize, fields: &mut FieldReader<'_>) -> Result<Vec<Vec<usize>>, WireError> {
    let levels = fields.usize_in("levels of the ring", 1..=MAX_RUNGS)?;
    let mut rungs = Vec::with_capacity(levels);
    for _ in 0..levels {
        let mut rung = Vec::new();
        for first in (0..count).step_by(64) {
            let set = fields.u64()?;
            rung.extend((0..64).filter(|bit| set >> bit & 1 == 1).map(|bit| first + bit));
        }
        if rung.last().is_some_and(|&last| last >= count) {
            return Err(WireError::value("moduli of a level", format!("of {count}"), "others"));
        }
        rungs.push(rung);
    }
    if (1..).zip(&rungs).all(|(level, rung)| rung.iter().copied().eq(0..level)) {
        return Err(WireError::value("moduli of levels", "sets that are not the first of all", "these"));
    }
    Ok(rungs)
}

fn get_options(fields: &mut FieldReader<'_>) -> Result<GadgetOptions, WireError> {
    let radix = fields.option("radix of digits")?;
    let radix_bits = radix.map(u32::try_from).transpose();
    let radix_bits =
        radix_bits.map_err(|_| WireError::value("radix of digits", "at most 61 bits", "more"))?;
    let dropped_limbs = fields.usize_in("dropped limbs", 0..=MAX_MODULI)?;
    let digits = fields.option("digits")?.map(|digits| usize::try_from(digits).unwrap_or(usize::MAX));
    let special_moduli = fields.list("special moduli", MAX_MODULI)?;
    Ok(GadgetOptions { radix_bits, dropped_limbs, digits, special_moduli })
}

/// Weight of secrets that stands for a joint secret of no party.
const JOINT: u64 = 1 << 63;

/// Returns the bytes on which keys depend: the [description](sunzi_ring::Ring::description) of a ring, and how
/// switching keys and secrets are made.
#[must_use]
pub fn ring_bytes(description: Vec<u8>, options: &GadgetOptions, secrets: SecretDistribution) -> Vec<u8> {
    let mut fields = Fields::default();
    fields.bytes(&description);
    fields.option(options.radix_bits.map(u64::from));
    fields.usize(options.dropped_limbs);
    fields.option(options.digits.map(|digits| digits as u64));
    fields.list(options.special_moduli.iter().copied());
    fields.option(match secrets {
        SecretDistribution::Ternary => None,
        SecretDistribution::FixedWeight(weight) => Some(weight as u64),
        SecretDistribution::Joint(parties) => Some(JOINT + u64::from(parties)),
    });
    fields.into_bytes()
}

impl RlweContext {
    /// Returns the fingerprint of the data on which keys of the context depend.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_ring(&self.ring_bytes())
    }

    /// Returns the data on which keys of the context depend as bytes: what its [`fingerprint`](Self::fingerprint), which is short, is a hash of.
    #[must_use]
    pub fn ring_bytes(&self) -> Vec<u8> {
        ring_bytes(self.ring().description(), self.options(), self.secrets())
    }
}

/// Writes the security level of parameters, in bits.
pub fn put_security(fields: &mut Fields, security: Security) {
    fields.u64(security.bits().into());
}

/// Reads the security level of parameters. Whether parameters without security are taken is for
/// [`Accept`](super::Accept) to say.
///
/// # Errors
/// [`WireError::Value`] for an unknown number of bits; [`WireError::Length`] for bytes that end early.
pub fn get_security(fields: &mut FieldReader<'_>) -> Result<Security, WireError> {
    match fields.u64()? {
        0 => Ok(Security::InsecureForResearchOnly),
        128 => Ok(Security::Bits128),
        192 => Ok(Security::Bits192),
        256 => Ok(Security::Bits256),
        got => Err(WireError::value("security", "0, 128, 192 or 256", got)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rungs: &[&[usize]], count: u64) -> RingPart {
        RingPart {
            ring: RingShape::of_index(128),
            moduli: (0..count).map(|i| 129 + 128 * i).collect(),
            rungs: rungs.iter().map(|rung| rung.to_vec()).collect(),
            key_switching: GadgetOptions::default(),
            secrets: SecretDistribution::Ternary,
        }
    }

    #[test]
    fn sets_of_moduli_come_back() {
        let all: Vec<usize> = (0..70).collect();
        for (rungs, count) in [(&[&[1][..], &[0, 2], &[0, 1, 2]][..], 3), (&[&[0, 63, 64, 69][..], &all], 70)]
        {
            let part = part(rungs, count);
            let bytes = part.to_bytes();
            let mut fields = FieldReader::new(&bytes);
            assert_eq!(RingPart::get(&mut fields).unwrap(), part);
            fields.finish().unwrap();
            assert!(part.check_prefixes().is_err());
            for cut in 0..bytes.len() {
                assert!(RingPart::get(&mut FieldReader::new(&bytes[..cut])).is_err(), "{cut}");
            }
        }
    }

    /// A real ring has the name of its own storage before that of the ring of its index, and none without a power of two.
    #[test]
    fn real_rings_come_back() {
        for rungs in [&[][..], &[&[1][..], &[0, 1]]] {
            let part = RingPart { ring: RingShape::RealLog2Degree(6), ..part(rungs, 2) };
            let bytes = part.to_bytes();
            let mut fields = FieldReader::new(&bytes);
            assert_eq!(RingPart::get(&mut fields).unwrap(), part);
            fields.finish().unwrap();
            let start = usize::from(!rungs.is_empty());
            assert_eq!(bytes[start..start + 4], [6, 0, 0, 1]);
            for index in [0_u64, 1, 2, 3, 255, 257, u64::MAX] {
                let mut other = bytes.clone();
                other[start + 2..start + 10].copy_from_slice(&index.to_le_bytes());
                assert!(RingPart::get(&mut FieldReader::new(&other)).is_err(), "{index}");
            }
            let twice = [&[6], &bytes[start..]].concat();
            assert!(RingPart::get(&mut FieldReader::new(&twice)).is_err());
            for cut in 0..bytes.len() {
                assert!(RingPart::get(&mut FieldReader::new(&bytes[..cut])).is_err(), "{cut}");
            }
        }
    }

    /// A ring has one description: levels that are prefixes of the moduli are never written as sets, and refused as
    /// sets.
    #[test]
    fn prefixes_are_no_sets() {
        let [given, none] = [&[&[0][..], &[0, 1]][..], &[]].map(|rungs| part(rungs, 2));
        assert_eq!(given.to_bytes(), none.to_bytes());
        none.check_prefixes().unwrap();
        let mut bytes = part(&[&[1][..], &[0, 1]], 2).to_bytes();
        let first = 1 + 1 + 8 + 4 + 2 * 8 + 8;
        assert_eq!(bytes[first], 0b10);
        for (set, accepted) in [(0b10, true), (0b01, false), (0b100, false), (0b110, false)] {
            bytes[first] = set;
            assert_eq!(RingPart::get(&mut FieldReader::new(&bytes)).is_ok(), accepted, "{set:b}");
        }
        bytes[first] = 0b10;
        for levels in [0, MAX_RUNGS + 1] {
            bytes[first - 8..first].copy_from_slice(&(levels as u64).to_le_bytes());
            assert!(RingPart::get(&mut FieldReader::new(&bytes)).is_err(), "{levels} levels");
        }
    }
}
