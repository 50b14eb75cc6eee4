//! Sources of randomness: ChaCha20 seeded by the operating system, and streams derived from seeds.

use rand_core::{CryptoRng, Rng};
use sunzi_ring::sampling::SeededRng;
use zeroize::Zeroizing;

use crate::RlweError;

/// Returns a ChaCha20 generator seeded with 32 bytes of the operating system's randomness.
///
/// Every function that needs randomness accepts any [`CryptoRng`]; use this generator when
/// there is no reason for another.
///
/// # Errors
/// [`RlweError::Randomness`] if the operating system has none to give.
pub fn from_os() -> Result<SeededRng, RlweError> {
    let mut seed = Zeroizing::new([0_u8; 32]);
    getrandom::fill(seed.as_mut()).map_err(|error| RlweError::Randomness(error.to_string()))?;
    Ok(SeededRng::from_key(&seed))
}

/// Draws bytes that become public: never the generator's own output, from which secrets come too, but a
/// pseudo-random function of it.
pub(crate) fn public_bytes<const N: usize>(rng: &mut dyn CryptoRng) -> [u8; N] {
    let root = secret_root(rng);
    let mut bytes = [0_u8; N];
    SeededRng::derive(&root, "sunzi public bytes", 0).fill_bytes(&mut bytes);
    bytes
}

/// Draws a 32-byte seed for values that become public.
pub fn public_seed(rng: &mut dyn CryptoRng) -> [u8; 32] {
    public_bytes(rng)
}

/// Draws a random tag that tells a fresh ciphertext from others; public.
pub fn tag(rng: &mut dyn CryptoRng) -> u64 {
    u64::from_le_bytes(public_bytes(rng))
}

/// Returns the random stream `index` of a public seed, from which uniform half `index` of a key is drawn.
pub(crate) fn public_stream(seed: &[u8; 32], index: u64) -> SeededRng {
    SeededRng::derive(seed, "sunzi uniform half", index)
}

/// Draws the 32-byte root from which streams of secrets follow; erased when dropped.
pub(crate) fn secret_root(rng: &mut dyn CryptoRng) -> Zeroizing<[u8; 32]> {
    let mut root = Zeroizing::new([0_u8; 32]);
    rng.fill_bytes(root.as_mut());
    root
}

/// Returns the random stream `index` of a secret root: all the randomness of one of many keys made in parallel.
pub(crate) fn secret_stream(root: &[u8; 32], index: u64) -> SeededRng {
    SeededRng::derive(root, "sunzi secret stream", index)
}
