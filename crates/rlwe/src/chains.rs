//! Chains of ciphertext moduli: primes next to a size, and levels as sets of primes.

mod finder;
mod sets;

pub use finder::PrimeFinder;
pub use sets::{LevelSets, level_sets};

/// Length log2 of the longest primes for which number-theoretic transforms are the fastest.
pub const WORD_BITS: f64 = 47.8;

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
