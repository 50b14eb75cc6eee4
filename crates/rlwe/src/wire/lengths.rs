//! Lengths of files of evaluation keys, told before any key is made.

use std::collections::BTreeMap;

use sunzi_ring::Gadget;

use super::WireError;
use super::galois::directory_len;
use super::header::HEADER_LEN;
use super::keys::SWITCH_NUMBERS_LEN;
use super::sink::CHECKSUM_LEN;

/// Returns the number of bytes of a key-switching key for the level of a gadget in a file, before there is a key.
///
/// # Errors
/// [`WireError::Rlwe`] where the gadget has no such ring.
pub fn switch_key_len(gadget: &Gadget) -> Result<u64, WireError> {
    let mut bodies = 0;
    for digit in 0..gadget.digit_count() {
        bodies += gadget.part_ring(digit)?.packed_len() as u64;
    }
    Ok((SWITCH_NUMBERS_LEN + 2 * CHECKSUM_LEN) as u64 + bodies)
}

/// Returns the number of bytes of the two files of evaluation keys: a relinearisation key for the level of the gadget, and a
/// Galois key for each of the given levels. A gadget over a dry ring counts dropped limbs too.
///
/// # Errors
/// [`WireError::Rlwe`] for a level that does not exist.
///
/// ```
/// use sunzi_ring::Ring;
/// use sunzi_rlwe::{GaloisKeys, RelinearizationKey, RlweContext, SecretKey, Security, randomness, wire};
///
/// let ring = Ring::new(128, &sunzi_math::primes_below(1 << 36, 128, 3)?)?;
/// let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let told = wire::evaluation_keys_len(context.gadget(), [3, 2])?;
///
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(&context, &mut rng)?;
/// let product = RelinearizationKey::generate(&context, &secret, &mut rng)?;
/// let rotations = GaloisKeys::generate_levels(&context, &secret, [(3, 3), (5, 2)], &mut rng, |_, _| ())?;
/// let files = [wire::to_bytes(&context, &product)?, wire::to_bytes(&context, &rotations)?];
/// assert_eq!(files.concat().len() as u64, told);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluation_keys_len(
    gadget: &Gadget,
    levels: impl IntoIterator<Item = usize>,
) -> Result<u64, WireError> {
    let (mut count, mut bytes) = (0, switch_key_len(gadget)?);
    let mut lengths = BTreeMap::new();
    for level in levels {
        let len = match lengths.get(&level) {
            Some(&len) => len,
            None => switch_key_len(&gadget.at_level(level)?)?,
        };
        lengths.insert(level, len);
        bytes = bytes.saturating_add(len);
        count += 1;
    }
    Ok(bytes.saturating_add(2 * HEADER_LEN as u64 + directory_len(count)))
}
