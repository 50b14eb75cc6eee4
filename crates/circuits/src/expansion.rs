//! Expansion of a ciphertext into one for each of its coefficients `[ACLS18, algorithm 3]`.

use sunzi_bfv::{BfvError, Ciphertext, Evaluator, Plaintext, PreparedPlaintext};
use sunzi_rlwe::EvaluationKeys;

use crate::CircuitError;

/// An error of an expansion.
type Failure = CircuitError<BfvError>;

/// log2 of the number of coefficients that are expanded, rounded up: the number of steps.
pub(crate) fn steps(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros()
}

/// Exponents k of the automorphisms X → X^k that an expansion takes in a ring of this degree.
pub(crate) fn exponents(degree: usize, count: usize) -> impl Iterator<Item = u64> + use<> {
    (0..steps(count)).map(move |step| (degree as u64 >> step) + 1)
}

/// The inverse of what an expansion multiplies by, modulo an odd number.
pub(crate) fn inverse_of_growth(count: usize, modulus: u64) -> u64 {
    (0..steps(count)).fold(1, |value, _| halved(value, modulus))
}

/// Returns half of a value modulo an odd number.
fn halved(value: u64, modulus: u64) -> u64 {
    if value.is_multiple_of(2) { value / 2 } else { value / 2 + modulus / 2 + 1 }
}

/// Returns ciphertexts of the first `count` coefficients of what a ciphertext holds, each times 2^k as a constant, for the least k with 2^k ≥ `count`, in a ring
/// whose index is a power of two. Coefficients from 2^k on must be zero.
///
/// Step j splits every ciphertext in two: X → X^(n/2^j + 1) leaves coefficients at even multiples of 2^j as they are, and negates
/// those at odd ones, which a sum and a difference tell apart. Noise grows by 2^k and the noise of the key switches on the way.
pub(crate) fn expand(
    evaluator: &Evaluator,
    a: &Ciphertext,
    count: usize,
    keys: &EvaluationKeys,
) -> Result<Vec<Ciphertext>, Failure> {
    let degree = evaluator.context().degree();
    let mut steps = Vec::new();
    while 1 << steps.len() < count {
        let half = 1 << steps.len();
        steps.push(Step { exponent: (degree / half) as u64 + 1, shift: monomial(evaluator, degree - half)? });
    }
    let expansion = Expansion { evaluator, steps, count, keys };
    let mut expanded = expansion.below(a.clone(), 0, 0)?;
    expanded.sort_unstable_by_key(|(at, _)| *at);
    Ok(expanded.into_iter().map(|(_, one)| one).collect())
}

/// A step of an expansion: the exponent k of its automorphism X → X^k, and the monomial that differences are multiplied by.
struct Step {
    exponent: u64,
    shift: PreparedPlaintext,
}

struct Expansion<'a> {
    evaluator: &'a Evaluator,
    steps: Vec<Step>,
    count: usize,
    keys: &'a EvaluationKeys,
}

impl Expansion<'_> {
    /// Expands what the given number of steps left at a place: returns ciphertexts with their places. One half follows the other, so that what is
    /// split next is still in a cache.
    fn below(
        &self,
        mut one: Ciphertext,
        at: usize,
        done: usize,
    ) -> Result<Vec<(usize, Ciphertext)>, Failure> {
        let Some(step) = self.steps.get(done) else { return Ok(vec![(at, one)]) };
        let evaluator = self.evaluator;
        let turned = turn(evaluator, &one, step.exponent, self.keys)?;
        // The sum has the coefficient of this place, the difference that of the other.
        let other = at + (1 << done);
        if other >= self.count {
            evaluator.add_assign(&mut one, &turned)?;
            return self.below(one, at, done + 1);
        }
        // X^(−half) is −X^(n − half).
        let difference = evaluator.multiply_prepared(&evaluator.sub(&turned, &one)?, &step.shift)?;
        evaluator.add_assign(&mut one, &turned)?;
        drop(turned);
        let (low, high) =
            rayon::join(|| self.below(one, at, done + 1), || self.below(difference, other, done + 1));
        Ok([low?, high?].into_iter().flatten().collect())
    }
}

/// Returns the plaintext X^k, ready to multiply.
fn monomial(evaluator: &Evaluator, exponent: usize) -> Result<PreparedPlaintext, BfvError> {
    let context = evaluator.context();
    let mut coefficients = vec![0; context.degree()];
    if let Some(coefficient) = coefficients.get_mut(exponent) {
        *coefficient = 1;
    }
    evaluator.prepare_plain(&Plaintext::new(coefficients, context.plain_modulus())?)
}

fn turn(
    evaluator: &Evaluator,
    a: &Ciphertext,
    exponent: u64,
    keys: &EvaluationKeys,
) -> Result<Ciphertext, Failure> {
    match &keys.galois {
        Some(galois) if keys.has_exponent(exponent) => Ok(evaluator.automorphism(a, exponent, galois)?),
        _ => Err(CircuitError::MissingAutomorphism { exponent }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_those_of_a_field() {
        for modulus in [257_u64, 65_537, 1_032_193] {
            for value in [0, 1, 2, 3, modulus - 1] {
                assert_eq!(2 * halved(value, modulus) % modulus, value);
            }
        }
    }
}
