//! Chains of ciphertext moduli: primes next to a size, and levels as sets of primes.

mod finder;
mod sets;

pub use finder::PrimeFinder;
pub use sets::{LevelSets, level_sets};

use crate::switch_cost::WIDE_TRANSFORM;

/// Length log2 of the longest primes for which number-theoretic transforms are the fastest.
pub const WORD_BITS: f64 = 47.8;
/// Length log2 from which on there are primes below [`WIDE_PRIME_BOUND`](sunzi_math::WIDE_PRIME_BOUND) for any ring: that of
/// a wide word.
pub const WIDE_WORD_BITS: f64 = 48.97;

/// Returns the number of words of least cost that hold so many bits of a modulus: of [`WORD_BITS`], or fewer of up to
/// [`WIDE_WORD_BITS`] where those are worth their [transforms](WIDE_TRANSFORM).
///
/// ```
/// use sunzi_rlwe::chains::words;
///
/// assert_eq!([47.8, 47.9, 48.97, 49.0, 95.7].map(words), [1, 1, 1, 2, 2]);
/// // Ten wide words cost more than eleven others.
/// assert_eq!(words(480.0), 11);
/// ```
#[must_use]
pub fn words(bits: f64) -> usize {
    let cost = |&(words, each): &(usize, f64)| words as f64 * each;
    choices(bits, WIDE_WORD_BITS).min_by(|a, b| cost(a).total_cmp(&cost(b))).map_or(0, |(words, _)| words)
}

/// Returns the number of factors of so many bits that share a word where `count` of them are to take words of least cost,
/// wide ones or not; 0 where none has room for one.
#[must_use]
pub fn words_shared(bits: f64, count: usize) -> usize {
    let [narrow, wide] = [WORD_BITS, WIDE_WORD_BITS].map(|word| (word / bits) as usize);
    let cost = |together: usize| count.div_ceil(together.max(1)) as f64;
    if narrow == 0 || wide > narrow && WIDE_TRANSFORM * cost(wide) < cost(narrow) { wide } else { narrow }
}

/// Yields the numbers of words that may hold so many bits, each with the time of a transform modulo one of them: of
/// [`WORD_BITS`], then of `wide` bits where those are fewer.
fn choices(bits: f64, wide: f64) -> impl Iterator<Item = (usize, f64)> {
    let [narrow, wide] = [WORD_BITS, wide].map(|word| (bits / word - 1e-9).ceil().max(0.0) as usize);
    std::iter::once((narrow, 1.0)).chain((wide < narrow).then_some((wide, WIDE_TRANSFORM)))
}

/// Returns the indices of the moduli of a level of a ring, ascending: its rung, or the first `level` of `moduli`
/// where there are no rungs; empty for a level that does not exist.
#[must_use]
pub fn limbs_of_level(rungs: &[Vec<usize>], moduli: usize, level: usize) -> Vec<usize> {
    if rungs.is_empty() {
        return (0..level.min(moduli)).collect();
    }
    level.checked_sub(1).and_then(|rung| rungs.get(rung)).cloned().unwrap_or_default()
}

/// Returns log2 of the longest of at most `digits` digits of consecutive moduli, cut so that the longest is shortest.
#[must_use]
pub fn longest_digit(moduli: &[u64], digits: usize) -> f64 {
    let bits: Vec<f64> = moduli.iter().map(|&q| (q as f64).log2()).collect();
    // Filling one digit after the other up to a length gives their number and the longest of them.
    let fill = |most: f64| {
        let (mut count, mut own, mut longest) = (1, 0.0, 0.0_f64);
        for &bits in &bits {
            if own > 0.0 && own + bits > most {
                (count, own) = (count + 1, 0.0);
            }
            own += bits;
            longest = longest.max(own);
        }
        (count, longest)
    };
    let (mut low, mut high) = (0.0, bits.iter().sum::<f64>());
    // The bisection stops at 2^-40 bits: lengths differ by far more or do not matter.
    while high - low > f64::from(-40_i8).exp2() * high {
        let middle = (low + high) / 2.0;
        let (count, longest) = fill(middle);
        if count <= digits && longest <= middle {
            high = middle;
        } else {
            low = middle;
        }
    }
    fill(high).1
}
