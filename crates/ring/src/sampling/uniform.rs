//! Sampling of uniform residues.

use rand_core::CryptoRng;
use sunzi_kernels::keep_below;
use zeroize::Zeroizing;

/// Number of random bytes that are consumed together.
const BLOCK: usize = 4096;
/// Number of blocks asked from the generator at a time, if that many are needed: it is faster at long pieces, and the
/// first cache holds four.
const BLOCKS: usize = 4;

/// Fills `out` with independent uniform residues modulo q (q = 0 stands for 2^64).
///
/// Residues are drawn by rejection from the next power of two, word by little-endian word: which words are rejected
/// shows, and tells nothing of those that are kept. The values are a function of the generator's bytes alone, the same on every machine; up to 4095 bytes more than
/// needed are consumed.
pub fn uniform_residues<G: CryptoRng + ?Sized>(out: &mut [u64], q: u64, rng: &mut G) {
    // Erased: uniform parts of flooding noise are secret.
    let mut blocks = Zeroizing::new([[0_u8; BLOCK]; BLOCKS]);
    let mut rest = out;
    while !rest.is_empty() {
        let needed = (8 * rest.len()).div_ceil(BLOCK).min(BLOCKS);
        let bytes = blocks.get_mut(..needed).unwrap_or_default().as_flattened_mut();
        rng.fill_bytes(bytes);
        let kept = keep_below(rest, bytes, q);
        rest = rest.get_mut(kept..).unwrap_or_default();
    }
}
