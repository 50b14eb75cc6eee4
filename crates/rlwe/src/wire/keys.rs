//! Wire format of keys: secrets as small numbers, uniform halves as seeds.

use std::io::BufRead;

use sunzi_kernels::{pack, packed_len, unpack};
use sunzi_ring::Ring;
use zeroize::Zeroizing;

use super::{FieldReader, Fields, Fingerprint, Format, Header, Kind, Scope, Sink, Source, WireError};
use crate::uniform_half::UniformHalf;
use crate::{KeyId, KeySwitchKey, PublicKey, RelinearizationKey, RlweContext, SecretDistribution, SecretKey};

/// Number of bits of a stored coefficient of a secret, which is stored plus 1.
const COEFFICIENT_BITS: u32 = 2;
/// Length of the level and the seed of a key-switching key, in bytes.
pub(super) const SWITCH_NUMBERS_LEN: usize = 8 + 32;

impl Scope for RlweContext {
    fn expected(&self) -> Option<Fingerprint> {
        Some(self.fingerprint())
    }
}

impl Format<SecretKey> for RlweContext {
    const KIND: Kind = Kind::SecretKey;

    fn key(&self, key: &SecretKey) -> Option<KeyId> {
        Some(key.id())
    }

    fn put(&self, key: &SecretKey, sink: &mut impl Sink) -> Result<(), WireError> {
        put_small(self, key, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<SecretKey, WireError> {
        let coefficients = get_small(self, source)?;
        let weight = coefficients.iter().map(|c| c * c).sum::<i64>();
        match self.secrets() {
            SecretDistribution::FixedWeight(expected) if weight != expected as i64 => {
                Err(WireError::value("Hamming weight of the secret", expected, "another"))
            }
            _ => Ok(SecretKey::from_coefficients(self, header.required_key()?, &coefficients)?),
        }
    }
}

/// Writes a secret as one record of small numbers.
pub(super) fn put_small(
    context: &RlweContext,
    key: &SecretKey,
    sink: &mut impl Sink,
) -> Result<(), WireError> {
    let coefficients = key.coefficients(context)?;
    if coefficients.iter().any(|c| !(-1..=1).contains(c)) {
        // Only tests add up the secrets of several parties.
        let expected = "-1, 0 or 1: store the parties' own";
        return Err(WireError::value("coefficients of the secret", expected, "others"));
    }
    let words = Zeroizing::new(coefficients.iter().map(|&c| (c + 1) as u64).collect::<Vec<_>>());
    let mut bytes = Zeroizing::new(vec![0; secret_len(words.len())]);
    pack(&mut bytes, &words, COEFFICIENT_BITS).map_err(sunzi_ring::RingError::from)?;
    sink.sealed(&bytes)
}

/// Reads the coefficients of a secret: -1, 0 or 1 each.
pub(super) fn get_small(
    context: &RlweContext,
    source: &mut Source<impl BufRead>,
) -> Result<Zeroizing<Vec<i64>>, WireError> {
    let degree = context.ring().degree();
    let bytes = source.sealed("the secret", secret_len(degree))?;
    let mut words = Zeroizing::new(vec![0; degree]);
    let range = "numbers from 0 to 2, and 0 behind the last";
    match unpack(&mut words, &bytes, COEFFICIENT_BITS) {
        Ok(0..=2) => {}
        _ => return Err(WireError::value("coefficients of the secret", range, "others")),
    }
    Ok(Zeroizing::new(words.iter().map(|&word| word as i64 - 1).collect()))
}

fn secret_len(degree: usize) -> usize {
    // The length exists: there are at most 2^17 numbers.
    packed_len(degree, COEFFICIENT_BITS).unwrap_or(usize::MAX)
}

impl Format<PublicKey> for RlweContext {
    const KIND: Kind = Kind::PublicKey;

    fn key(&self, key: &PublicKey) -> Option<KeyId> {
        Some(key.id())
    }

    fn put(&self, key: &PublicKey, sink: &mut impl Sink) -> Result<(), WireError> {
        put_public(&self.encryption_ring()?, key, sink)
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<PublicKey, WireError> {
        let names = ["the seed of the public key", "the public key"];
        get_public(&self.encryption_ring()?, header.required_key()?, names, source)
    }
}

/// Writes a public key that was made in a ring: its seed, and its first half.
pub(super) fn put_public(ring: &Ring, key: &PublicKey, sink: &mut impl Sink) -> Result<(), WireError> {
    sink.sealed(&key.seed)?;
    sink.poly(ring, &key.body)?;
    sink.seal()
}

/// Reads a public key of a ring; errors name its seed, and the whole key, as `names` says.
pub(super) fn get_public(
    ring: &Ring,
    id: KeyId,
    names: [&'static str; 2],
    source: &mut Source<impl BufRead>,
) -> Result<PublicKey, WireError> {
    let seed = FieldReader::new(&source.sealed(names[0], 32)?).array()?;
    let body = source.poly(ring)?;
    source.seal(names[1])?;
    Ok(PublicKey { id, seed, body, uniform: UniformHalf::new() })
}

impl Format<RelinearizationKey> for RlweContext {
    const KIND: Kind = Kind::RelinearizationKey;

    fn key(&self, key: &RelinearizationKey) -> Option<KeyId> {
        Some(key.id())
    }

    fn put(&self, key: &RelinearizationKey, sink: &mut impl Sink) -> Result<(), WireError> {
        put_switch(self, key.key(), Bodies::Stored, sink)
    }

    fn get(
        &self,
        header: &Header,
        source: &mut Source<impl BufRead>,
    ) -> Result<RelinearizationKey, WireError> {
        let key = get_switch(self, Bodies::Stored, source)?;
        Ok(RelinearizationKey::from_key(header.required_key()?, key))
    }
}

/// Presence of the first halves of a key-switching key in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bodies {
    /// The file of the key has one first half for every digit.
    Stored,
    /// The first halves of the key are 0 and not stored.
    Zero,
}

/// Writes a key-switching key: level and seed in one record, then the first halves in another.
pub(super) fn put_switch(
    context: &RlweContext,
    key: &KeySwitchKey,
    bodies: Bodies,
    sink: &mut impl Sink,
) -> Result<(), WireError> {
    let level = key.level_in(context);
    key.check(context, level)?;
    let mut fields = Fields::default();
    fields.usize(level);
    fields.bytes(key.seed());
    sink.sealed(fields.as_bytes())?;
    if bodies == Bodies::Zero {
        return Ok(());
    }
    let gadget = context.gadget_at(level)?;
    for (digit, body) in key.first().iter().enumerate() {
        sink.key_part(&gadget, body, digit)?;
    }
    sink.seal()
}

/// Reads a key-switching key that [`put_switch`] wrote.
pub(super) fn get_switch(
    context: &RlweContext,
    bodies: Bodies,
    source: &mut Source<impl BufRead>,
) -> Result<KeySwitchKey, WireError> {
    let record = source.sealed("a key's numbers", SWITCH_NUMBERS_LEN)?;
    let mut fields = FieldReader::new(&record);
    let (level, seed) = (fields.usize_in("level of a key", 1..=context.level())?, fields.array()?);
    let gadget = context.gadget_at(level)?;
    let digits = 0..gadget.digit_count();
    let mut first = Vec::new();
    for digit in digits.clone() {
        let ring = gadget.part_ring(digit)?;
        let body = if bodies == Bodies::Stored { source.poly(&ring)? } else { ring.zero() };
        first.push(gadget.pack_part(body, digit)?);
    }
    if bodies == Bodies::Stored {
        source.seal("a key")?;
    }
    Ok(KeySwitchKey::from_first(context, seed, level, first))
}
