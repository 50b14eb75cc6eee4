//! Expansion of a ciphertext into one for each of its coefficients `[ACLS18, algorithm 3]`.

use sunzi_bfv::{BfvError, Ciphertext, Evaluator, Plaintext, PreparedPlaintext};
use sunzi_rlwe::EvaluationKeys;

use super::RetrievalError;
use crate::CircuitError;

/// Returns ciphertexts of the first `count` coefficients of what a ciphertext holds, each times 2^k as a constant, for the least k with 2^k ≥ `count`.
/// Coefficients from 2^k on must be zero.
///
/// Step j splits every ciphertext in two: X → X^(n/2^j + 1) leaves coefficients at even multiples of 2^j as they are, and negates
/// those at odd ones, which a sum and a difference tell apart. Noise grows by 2^k and the noise of the key switches on the way.
///
/// # Errors
/// [`RetrievalError::Setting`] for a count of 0, or of more than the degree, and for a ring whose index is no power of two; [`CircuitError::MissingAutomorphism`];
/// [`RetrievalError::Bfv`].
pub fn expand(
    evaluator: &Evaluator,
    a: &Ciphertext,
    count: usize,
    keys: &EvaluationKeys,
) -> Result<Vec<Ciphertext>, RetrievalError> {
    let (context, degree) = (evaluator.context(), evaluator.context().degree());
    if !(1..=degree).contains(&count) {
        return Err(RetrievalError::setting("the number of coefficients", format!("1 to {degree}"), count));
    }
    RetrievalError::check_ring(context)?;
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
    ) -> Result<Vec<(usize, Ciphertext)>, RetrievalError> {
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
) -> Result<Ciphertext, RetrievalError> {
    match &keys.galois {
        Some(galois) if keys.has_exponent(exponent) => Ok(evaluator.automorphism(a, exponent, galois)?),
        _ => Err(CircuitError::MissingAutomorphism { exponent }.into()),
    }
}
