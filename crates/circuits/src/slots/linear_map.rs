//! Linear maps of each slot of GF(p^d) and GR(p^r, d).

use std::collections::BTreeSet;

use sunzi_encoding::{Encoder, EncodingError, GaloisEncoder, Plaintext};
use sunzi_math::MathError;

use super::check_keys;
use crate::{Arithmetic, Automorphisms, CircuitError, GiantStep, Outcome};

/// A map of every slot that is linear over Z_(p^r), such as taking out one coefficient or multiplying by a matrix of bits: Σ c_k·Frob^k(x), by
/// baby steps and giant steps.
///
/// With k = i + b·j the sum is Σ_j Frob^(b·j)(Σ_i Frob^(−b·j)(c_k)·Frob^i(x)): the baby steps Frob^i are automorphisms of one ciphertext,
/// which share their digits, the giant steps one automorphism of a sum each. So there are about 2·√d key switches and keys, and d products with
/// plaintexts, fewer where coefficients are 0.
pub struct SlotMap<A: Automorphisms> {
    giants: Vec<Giant<A>>,
}

/// A giant step of a linear map: its exponent, and coefficients by the exponent of their baby step.
type Giant<A> = (u64, Vec<(u64, <A as Arithmetic>::Multiplier)>);

/// Coefficients of one power of Frobenius, in every slot.
type Column = Vec<Vec<u64>>;

impl<A: Automorphisms<Plaintext = Plaintext>> SlotMap<A> {
    /// Prepares a map for each slot, as the images of Y^0, …, Y^(d − 1); the last map is used for all slots that follow.
    ///
    /// # Errors
    /// [`CircuitError::Empty`] without a map; [`CircuitError::Encoding`] for too many maps, or images that are no elements;
    /// [`CircuitError::Scheme`].
    pub fn new(arithmetic: &A, encoder: &GaloisEncoder, maps: &[Vec<Vec<u64>>]) -> Outcome<A, Self> {
        if maps.is_empty() {
            return Err(CircuitError::Empty { what: "a linear map" });
        }
        let columns = columns(encoder, maps).map_err(EncodingError::from)?;
        let powers: Vec<usize> = columns.iter().map(|(k, _)| *k).collect();
        let step = baby_steps(&powers, encoder.ring().degree());
        let giants: BTreeSet<usize> = powers.iter().map(|k| k / step * step).collect();
        let exponent = |k: usize| encoder.frobenius_exponent(k as i64);
        let giant = |&turn: &usize| -> Outcome<A, _> {
            let back = encoder.frobenius_exponent(-(turn as i64));
            let mut factors = Vec::new();
            for (k, column) in columns.iter().filter(|(k, _)| k / step * step == turn) {
                let turned = column.iter().map(|c| encoder.ring().substitute(c, back));
                let turned: Column = turned.collect::<Result<_, _>>().map_err(EncodingError::from)?;
                let baby = exponent(k % step);
                factors.push((baby, arithmetic.multiplier(&encoder.encode_elements(&turned)?)?));
            }
            Ok((exponent(turn), factors))
        };
        Ok(Self { giants: giants.iter().map(giant).collect::<Outcome<A, _>>()? })
    }

    /// Exponents of the automorphisms for which the map needs keys.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + '_ {
        let babies = self.giants.iter().flat_map(|(_, factors)| factors).map(|(exponent, _)| *exponent);
        let all: BTreeSet<u64> = babies.chain(self.giants.iter().map(|(exponent, _)| *exponent)).collect();
        all.into_iter().filter(|&exponent| exponent != 1)
    }

    /// Applies the linear map to every slot.
    ///
    /// # Errors
    /// [`CircuitError::MissingAutomorphism`]; [`CircuitError::Scheme`].
    pub fn apply(&self, arithmetic: &A, a: &A::Ciphertext, keys: &A::Keys) -> Outcome<A, A::Ciphertext> {
        check_keys(arithmetic, keys, false, self.exponents())?;
        let mut steps: Vec<GiantStep<'_, u64, A>> = Vec::with_capacity(self.giants.len());
        for (exponent, factors) in &self.giants {
            steps.push((*exponent, factors.iter().map(|(exponent, factor)| (*exponent, factor)).collect()));
        }
        arithmetic.linear_map_by_exponents(a, &steps, keys)
    }
}

/// Returns the powers k of Frobenius with their coefficients in all slots, those that are not 0 everywhere; Frob^0 for the zero map.
fn columns(encoder: &GaloisEncoder, maps: &[Vec<Vec<u64>>]) -> Result<Vec<(usize, Column)>, MathError> {
    let linearized = |map: &Vec<Vec<u64>>| encoder.ring().linearized(map);
    let coefficients: Vec<Column> = maps.iter().map(linearized).collect::<Result<_, _>>()?;
    let count = encoder.slots().max(coefficients.len());
    let of_slot = || coefficients.iter().chain(coefficients.last().into_iter().cycle()).take(count);
    let column = |k: usize| (k, of_slot().filter_map(|c| c.get(k).cloned()).collect::<Column>());
    let mut columns: Vec<(usize, Column)> = (0..encoder.ring().degree()).map(column).collect();
    let zero = |column: &Column| column.iter().flatten().all(|&x| x == 0);
    let nothing = columns.iter().all(|(_, column)| zero(column));
    columns.retain(|(k, column)| !zero(column) || nothing && *k == 0);
    Ok(columns)
}

/// Returns the number b of baby steps with the fewest automorphisms for these k below d; of equal ones the
/// largest, since baby steps share their digits.
fn baby_steps(powers: &[usize], d: usize) -> usize {
    let distinct =
        |steps: &mut dyn Iterator<Item = usize>| steps.filter(|&k| k != 0).collect::<BTreeSet<_>>().len();
    let cost =
        |b: usize| distinct(&mut powers.iter().map(|k| k % b)) + distinct(&mut powers.iter().map(|k| k / b));
    (1..=d).min_by_key(|&b| (cost(b), std::cmp::Reverse(b))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_few_automorphisms_as_can_be() {
        let all = |d: usize| (0..d).collect::<Vec<_>>();
        // b and how many automorphisms are left of d − 1.
        for (d, b, left) in [(1, 1, 0), (2, 2, 1), (4, 2, 2), (8, 4, 4), (9, 3, 4), (16, 4, 6), (20, 5, 7)] {
            assert_eq!(baby_steps(&all(d), d), b, "{d}");
            assert_eq!(b - 1 + (d - 1) / b, left);
        }
        assert_eq!(baby_steps(&[0], 16), 16);
        assert_eq!(baby_steps(&[5], 16), 16);
        // Every fourth: giant steps of one baby step, or baby steps alone, which share digits.
        assert_eq!(baby_steps(&[0, 4, 8, 12], 16), 8);
    }
}
