//! Expansion of a ciphertext into one for each of its coefficients `[ACLS18, algorithm 3]`.

use rayon::prelude::*;
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
    let mut expanded = vec![a.clone()];
    while expanded.len() < count {
        let half = expanded.len();
        // The sum has coefficient i of the ciphertext before, the difference that of i + half.
        let shift = monomial(evaluator, degree - half)?;
        let exponent = (degree / half) as u64 + 1;
        let split = |(at, one): (usize, &Ciphertext)| -> Result<_, RetrievalError> {
            let turned = turn(evaluator, one, exponent, keys)?;
            let sum = evaluator.add(one, &turned)?;
            if at + half >= count {
                return Ok((sum, None));
            }
            // X^(−half) is −X^(n − half).
            let difference = evaluator.sub(&turned, one)?;
            Ok((sum, Some(evaluator.multiply_prepared(&difference, &shift)?)))
        };
        let pairs: Vec<_> = expanded.par_iter().enumerate().map(split).collect::<Result<_, _>>()?;
        let (low, high): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        expanded = low.into_iter().chain(high.into_iter().flatten()).collect();
    }
    Ok(expanded)
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
