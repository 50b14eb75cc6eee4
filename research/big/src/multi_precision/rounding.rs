//! Division and rounding DR of [BEHZ16, eq. (1)] on one big integer.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;

use super::division::Division;
use super::lift::half;
use super::words::{self, BITS, MASK, columns};

/// Ratio t/q of a division and rounding, for q > 2t.
#[derive(Clone, Copy, Debug)]
pub struct Ratio<'a> {
    /// Factor t of the ratio.
    pub t: u64,
    /// Divisor q of the ratio.
    pub q: &'a BigUint,
}

/// Tables of the rounding u ↦ ⌊t·x/q⌉ + K for x = u − offset, a half rounding up: K makes the result non-negative.
///
/// The rounding's result is ⌊(t·u + C)/q⌋ with C = K·q + ⌊q/2⌋ − t·offset. It is computed by the precomputed
/// quotient t/q `[BEHZ16, B.3]` to one word after the point; where that word is ambiguous, by division; by division
/// always after `by_division`.
#[derive(Clone, Debug)]
pub struct Rounding {
    division: Division,
    /// Whether every result is divided for.
    divides: bool,
    /// Constant C of the rounding formula ⌊(t·u + C)/q⌋.
    pub constant: BigUint,
    /// Shift K that makes results of the rounding non-negative.
    shift: BigUint,
    /// Number of lowest words of 2^60·u that do not change the rounding's result.
    skip: usize,
    /// Words of ⌊2^(60·(|u| + 1))·t/q⌋, highest first.
    reciprocal: Vec<u64>,
    /// Fraction ⌊2^60·C/q⌋ of the rounding's constant C.
    fraction: u128,
    /// Least fraction for which the rounding may have to go to the next integer.
    pub doubt: u64,
}

impl Rounding {
    /// Makes the tables of the rounding for u of `length` words.
    pub fn new(ratio: Ratio<'_>, offset: &BigUint, length: usize) -> Self {
        let Ratio { t, q } = ratio;
        let shift = (offset * t).div_ceil(q);
        let constant = &shift * q + half(q) - offset * t;
        // Dropping `skip` words of 2^60·u changes t·u/q by less than 2^-60.
        let spare = q.bits() - u64::from(u64::BITS - t.leading_zeros()) - 1;
        let skip = usize::try_from(spare / BITS).unwrap_or(0).min(length);
        let terms = length + 1 - skip;
        let mut reciprocal = words::words(&(words::end(length + 1) * t / q), terms);
        reciprocal.reverse();
        Self {
            fraction: ((&constant << BITS) / q).to_u128().unwrap_or(0),
            // Every neglected part is below 2^-60: two of the operands, that of C, and one for each dropped column.
            doubt: MASK - terms as u64 - 8,
            division: Division::new(t, q, &constant),
            divides: false,
            constant,
            shift,
            skip,
            reciprocal,
        }
    }

    /// Makes the tables divide by q every time, and not multiply by a quotient.
    pub(super) fn by_division(self) -> Self {
        Self { divides: true, ..self }
    }

    /// Number of words of a rounded result.
    pub fn length(&self) -> usize {
        self.reciprocal.len().saturating_sub(2) + 1
    }

    /// Shift K that makes results of the rounding non-negative.
    pub(super) fn shift(&self) -> &BigUint {
        &self.shift
    }

    /// Computes the rounded result for the integer u whose words stand in `padded` after one zero and before
    /// another. `pairs` is working memory.
    #[inline]
    pub fn apply(&self, padded: &[u64], pairs: &mut Vec<[u64; 2]>, out: &mut [u64]) {
        if self.divides {
            return self.divide(padded, out);
        }
        let operand = padded.get(self.skip..).unwrap_or_default();
        pairs.clear();
        pairs.extend(operand.iter().zip(operand.iter().skip(1)).map(|(&a, &b)| [a, b]));
        let terms = self.reciprocal.len();
        let (mut carry, mut fraction) = (0, 0);
        // Columns terms − 1 (a guard), terms (the fraction), and the integer above.
        for d in (0..=terms.max(2)).step_by(2) {
            let shared = self.reciprocal.get(..terms.saturating_sub(d)).unwrap_or_default();
            let pairs = pairs.get(d..).unwrap_or_default();
            for (i, column) in columns(shared, pairs).into_iter().enumerate() {
                if d + i == 1 {
                    carry += self.fraction;
                }
                let word = column.carry(&mut carry);
                match (d + i).checked_sub(2) {
                    None => fraction = word,
                    Some(w) => {
                        if let Some(out) = out.get_mut(w) {
                            *out = word;
                        }
                    }
                }
            }
        }
        if fraction >= self.doubt {
            self.divide(padded, out);
        }
    }

    /// Computes the rounded result by division.
    #[cold]
    fn divide(&self, padded: &[u64], out: &mut [u64]) {
        self.division.apply(padded.get(1..).unwrap_or_default(), out);
    }
}
