//! Uniform residues.

use rand_core::CryptoRng;
use sunzi_kernels::keep_below;

/// Bytes consumed together.
const BLOCK: usize = 4096;
/// Blocks asked from the generator at a time, if that many are needed: it is faster at long pieces, and the first cache holds four.
const BLOCKS: usize = 4;

/// Fills `out` with independent uniform residues modulo q (q = 0 stands for 2^64).
///
/// By rejection from the next power of two, word by little-endian word: the number of words consumed depends
/// on the values, so this is for **public** residues only (uniform halves of keys and ciphertexts). The values
/// are a function of the generator's bytes alone, the same on every machine; up to 4095 bytes more than needed
/// are consumed.
pub fn uniform_residues<G: CryptoRng + ?Sized>(out: &mut [u64], q: u64, rng: &mut G) {
    let mut blocks = [[0_u8; BLOCK]; BLOCKS];
    let mut rest = out;
    while !rest.is_empty() {
        let needed = (8 * rest.len()).div_ceil(BLOCK).min(BLOCKS);
        let bytes = blocks.get_mut(..needed).unwrap_or_default().as_flattened_mut();
        rng.fill_bytes(bytes);
        let kept = keep_below(rest, bytes, q);
        rest = rest.get_mut(kept..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::SeededRng;

    #[test]
    fn residues_are_below_the_modulus_and_reach_its_ends() {
        for q in [1, 2, 3, 4, 5, 17, 255, 256, 257] {
            let mut out = vec![u64::MAX; 20_000];
            uniform_residues(&mut out, q, &mut SeededRng::derive(&[1; 32], "uniform", q));
            assert!(out.iter().all(|&x| x < q));
            assert!((0..q).all(|x| out.contains(&x)), "{q}");
        }
        let mut out = vec![0; 1000];
        uniform_residues(&mut out, 0, &mut SeededRng::derive(&[1; 32], "uniform", 0));
        assert!(out.iter().any(|&x| x >> 63 == 1));
        uniform_residues(&mut [], 5, &mut SeededRng::derive(&[1; 32], "uniform", 0));
    }

    #[test]
    fn agrees_with_word_by_word_rejection() {
        use rand_core::Rng;
        let q = (1 << 40) + 15;
        let mut out = vec![0; 3000];
        uniform_residues(&mut out, q, &mut SeededRng::derive(&[2; 32], "uniform", q));
        let mut rng = SeededRng::derive(&[2; 32], "uniform", q);
        let mut expected = Vec::new();
        while expected.len() < out.len() {
            let word = rng.next_u64() & ((1 << 41) - 1);
            if word < q {
                expected.push(word);
            }
        }
        assert_eq!(out, expected);
    }
}
