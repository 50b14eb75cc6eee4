//! Where randomness comes from: ChaCha20 seeded by the operating system.

use chacha20::ChaCha20Rng;
use rand_core::{CryptoRng, SeedableRng};
use sunzi_ring::sampling::SeededRng;
use zeroize::Zeroizing;

use crate::RlweError;

/// A ChaCha20 generator seeded with 32 bytes of the operating system's randomness.
///
/// Every function that needs randomness accepts any [`CryptoRng`]; this is the one to use when
/// there is no reason for another.
///
/// # Errors
/// [`RlweError::Randomness`] if the operating system has none to give.
pub fn from_os() -> Result<ChaCha20Rng, RlweError> {
    let mut seed = Zeroizing::new([0_u8; 32]);
    getrandom::fill(seed.as_mut()).map_err(|error| RlweError::Randomness(error.to_string()))?;
    Ok(ChaCha20Rng::from_seed(*seed))
}

/// A 32-byte seed for values that become public; the secret streams never see it again.
pub(crate) fn public_seed<G: CryptoRng + ?Sized>(rng: &mut G) -> [u8; 32] {
    let mut seed = [0_u8; 32];
    rng.fill_bytes(&mut seed);
    seed
}

/// Stream `index` of a public seed: the uniform half number `index` of a key.
pub(crate) fn public_stream(seed: &[u8; 32], index: u64) -> SeededRng {
    SeededRng::derive(seed, "sunzi uniform half", index)
}
