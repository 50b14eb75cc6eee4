//! Checks of whether a timed transform is also right.

use sunzi_math::mul_mod;

/// Largest degree at which transforms are checked with the full schoolbook product; larger ones take a sparse
/// factor.
const DENSE_DEGREE: usize = 1 << 13;
/// Nonzero terms of the sparse factor in the check of a transform.
const SPARSE_TERMS: usize = 64;

/// A transform under test, which works in place on canonical residues.
pub(crate) type Transform<'a> = &'a dyn Fn(&mut [u64]);

/// Deterministic residues below `q`, different for each seed.
pub(crate) fn residues(n: usize, q: u64, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..n).map(|_| next_word(&mut state) % q).collect()
}

/// Residues below `q` of which all but [`SPARSE_TERMS`] are zero, for degrees from 2^10 on.
pub(crate) fn sparse_residues(n: usize, q: u64, seed: u64) -> Vec<u64> {
    let mut words = residues(n, q, seed);
    let kept = (n / SPARSE_TERMS).max(1);
    for (index, word) in words.iter_mut().enumerate() {
        // One term in every block, at a place that differs from block to block.
        if index % kept != (index / kept * 37 + 5) % kept {
            *word = 0;
        }
    }
    words
}

/// The next word of Steele, Lea and Flood's splitmix64 generator.
fn next_word(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Whether `inverse` undoes `forward` up to the factor `scale`, and the two multiply polynomials modulo X^n + 1.
pub(crate) fn transforms_hold(
    n: usize,
    q: u64,
    scale: u64,
    forward: Transform<'_>,
    inverse: Transform<'_>,
) -> bool {
    let left = residues(n, q, 1);
    let right = if n > DENSE_DEGREE { sparse_residues(n, q, 2) } else { residues(n, q, 2) };
    let scaled = |words: &[u64]| -> Vec<u64> { words.iter().map(|word| mul_mod(*word, scale, q)).collect() };

    let mut image = left.clone();
    forward(&mut image);
    let mut back = image.clone();
    inverse(&mut back);
    let mut product = right.clone();
    forward(&mut product);
    for (a, b) in product.iter_mut().zip(&image) {
        *a = mul_mod(*a, *b, q);
    }
    inverse(&mut product);
    back == scaled(&left) && product == scaled(&schoolbook(&left, &right, q))
}

/// The schoolbook product of two polynomials modulo X^n + 1 and q. It needs terms·q^2 < 2^128, for the terms
/// of `right` that are not zero.
pub(crate) fn schoolbook(left: &[u64], right: &[u64], q: u64) -> Vec<u64> {
    let n = left.len();
    let mut low = vec![0u128; n];
    let mut high = vec![0u128; n];
    for (shift, factor) in right.iter().enumerate().filter(|(_, factor)| **factor != 0) {
        let (kept, wrapped) = left.split_at(n - shift);
        for (sum, word) in low.iter_mut().skip(shift).zip(kept) {
            *sum += u128::from(*word) * u128::from(*factor);
        }
        for (sum, word) in high.iter_mut().zip(wrapped) {
            *sum += u128::from(*word) * u128::from(*factor);
        }
    }
    let reduce = |sum: &u128| (sum % u128::from(q)) as u64;
    let pairs = low.iter().zip(&high);
    pairs.map(|(plus, minus)| (reduce(plus) + q - reduce(minus)) % q).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schoolbook_wraps_with_a_minus_sign() {
        // (1 + 2X)(3 + 4X) = 3 + 10X + 8X^2 = -5 + 10X modulo X^2 + 1.
        assert_eq!(schoolbook(&[1, 2], &[3, 4], 97), [92, 10]);
    }

    #[test]
    fn a_wrong_transform_is_noticed() {
        let nothing = |_: &mut [u64]| {};
        assert!(!transforms_hold(8, 97, 1, &nothing, &nothing));
        // Undoing itself is not enough: it must also multiply.
        let reverse = |words: &mut [u64]| words.reverse();
        assert!(!transforms_hold(8, 97, 1, &reverse, &reverse));
    }
}
