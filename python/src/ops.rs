//! Operations on ciphertexts of any scheme.

use std::sync::Arc;

use sunzi_circuits::EvaluationKeys;
use sunzi_encoding::{row_rotation_exponent, row_swap_exponent};
use sunzi_ring::Ring;
use sunzi_rlwe::{GaloisKeys, RelinearizationKey};

use crate::error::Failure;
use crate::scheme::{Cipher, Plain, Scheme, mixed, wrong_scheme};

type Outcome = Result<Cipher, Failure>;

/// Calls the method of this name of the scheme's evaluator, on one ciphertext.
macro_rules! unary {
    ($scheme:expr, $a:expr, |$e:ident, $x:ident| $body:expr) => {
        match ($scheme, $a) {
            (Scheme::Bfv(exact), Cipher::Bfv($x)) => {
                let $e = &exact.evaluator;
                Ok(Cipher::from($body?))
            }
            (Scheme::Bgv(exact), Cipher::Bgv($x)) => {
                let $e = &exact.evaluator;
                Ok(Cipher::from($body?))
            }
            (Scheme::Ckks(reals), Cipher::Ckks($x)) => {
                let $e = &reals.evaluator;
                Ok(Cipher::from($body?))
            }
            _ => Err(mixed()),
        }
    };
}

/// Calls the method of this name of the scheme's evaluator, on two ciphertexts.
macro_rules! binary {
    ($scheme:expr, $a:expr, $b:expr, |$e:ident, $x:ident, $y:ident| $body:expr) => {
        match ($scheme, $a, $b) {
            (Scheme::Bfv(exact), Cipher::Bfv($x), Cipher::Bfv($y)) => {
                let $e = &exact.evaluator;
                Ok(Cipher::from($body?))
            }
            (Scheme::Bgv(exact), Cipher::Bgv($x), Cipher::Bgv($y)) => {
                let $e = &exact.evaluator;
                Ok(Cipher::from($body?))
            }
            (Scheme::Ckks(reals), Cipher::Ckks($x), Cipher::Ckks($y)) => {
                let $e = &reals.evaluator;
                Ok(Cipher::from($body?))
            }
            _ => Err(mixed()),
        }
    };
}

/// Calls the method of this name of the scheme's evaluator, on a ciphertext and a plaintext.
macro_rules! with_plain {
    ($scheme:expr, $a:expr, $m:expr, |$e:ident, $x:ident, $y:ident| $body:expr) => {
        match ($scheme, $a, $m) {
            (Scheme::Bfv(exact), Cipher::Bfv($x), Plain::Exact($y)) => {
                let $e = &exact.evaluator;
                Ok(Cipher::from($body?))
            }
            (Scheme::Bgv(exact), Cipher::Bgv($x), Plain::Exact($y)) => {
                let $e = &exact.evaluator;
                Ok(Cipher::from($body?))
            }
            (Scheme::Ckks(reals), Cipher::Ckks($x), Plain::Ckks($y)) => {
                let $e = &reals.evaluator;
                Ok(Cipher::from($body?))
            }
            _ => Err(mixed()),
        }
    };
}

pub(crate) fn add(scheme: &Scheme, a: &Cipher, b: &Cipher) -> Outcome {
    binary!(scheme, a, b, |e, x, y| e.add(x, y))
}

pub(crate) fn sub(scheme: &Scheme, a: &Cipher, b: &Cipher) -> Outcome {
    binary!(scheme, a, b, |e, x, y| e.sub(x, y))
}

pub(crate) fn negate(scheme: &Scheme, a: &Cipher) -> Outcome {
    unary!(scheme, a, |e, x| e.negate(x))
}

pub(crate) fn multiply(scheme: &Scheme, a: &Cipher, b: &Cipher, keys: &EvaluationKeys) -> Outcome {
    let key = relinearization(keys)?;
    binary!(scheme, a, b, |e, x, y| if Arc::ptr_eq(x, y) { e.square(x, key) } else { e.multiply(x, y, key) })
}

/// Multiplies two ciphertexts to a product of three parts, at the product of both scales in CKKS.
pub(crate) fn multiply_unrelinearized(scheme: &Scheme, a: &Cipher, b: &Cipher) -> Outcome {
    match (scheme, a, b) {
        (Scheme::Bfv(exact), Cipher::Bfv(x), Cipher::Bfv(y)) => {
            Ok(exact.evaluator.multiply_unrelinearized(x, y)?.into())
        }
        (Scheme::Bgv(exact), Cipher::Bgv(x), Cipher::Bgv(y)) => {
            Ok(exact.evaluator.multiply_unrelinearized(x, y)?.into())
        }
        (Scheme::Ckks(reals), Cipher::Ckks(x), Cipher::Ckks(y)) => {
            Ok(reals.evaluator.multiply_unscaled(x, y)?.into())
        }
        _ => Err(mixed()),
    }
}

pub(crate) fn relinearize(scheme: &Scheme, a: &Cipher, keys: &EvaluationKeys) -> Outcome {
    let key = relinearization(keys)?;
    unary!(scheme, a, |e, x| e.relinearize(x, key))
}

pub(crate) fn add_plain(scheme: &Scheme, a: &Cipher, m: &Plain) -> Outcome {
    with_plain!(scheme, a, m, |e, x, y| e.add_plain(x, y))
}

pub(crate) fn sub_plain(scheme: &Scheme, a: &Cipher, m: &Plain) -> Outcome {
    with_plain!(scheme, a, m, |e, x, y| e.sub_plain(x, y))
}

pub(crate) fn multiply_plain(scheme: &Scheme, a: &Cipher, m: &Plain) -> Outcome {
    with_plain!(scheme, a, m, |e, x, y| e.multiply_plain(x, y))
}

/// Multiplies a ciphertext by a plaintext, at the product of both scales in CKKS.
pub(crate) fn multiply_plain_unscaled(scheme: &Scheme, a: &Cipher, m: &Plain) -> Outcome {
    match (scheme, a, m) {
        (Scheme::Ckks(reals), Cipher::Ckks(x), Plain::Ckks(y)) => {
            Ok(reals.evaluator.multiply_plain_unscaled(x, y)?.into())
        }
        _ => multiply_plain(scheme, a, m),
    }
}

/// Multiplies a ciphertext by an integer k, without using a level in CKKS.
pub(crate) fn multiply_integer(scheme: &Scheme, a: &Cipher, factor: i64) -> Outcome {
    match (scheme, a) {
        (Scheme::Bfv(exact), Cipher::Bfv(x)) => Ok(exact.evaluator.multiply_scalar(x, factor)?.into()),
        (Scheme::Bgv(exact), Cipher::Bgv(x)) => Ok(exact.evaluator.multiply_scalar(x, factor)?.into()),
        (Scheme::Ckks(reals), Cipher::Ckks(x)) => Ok(reals.evaluator.multiply_integer(x, factor)?.into()),
        _ => Err(mixed()),
    }
}

/// Applies the automorphism X → X^`exponent` to a ciphertext.
pub(crate) fn automorphism(scheme: &Scheme, a: &Cipher, exponent: u64, keys: &EvaluationKeys) -> Outcome {
    if exponent == 1 {
        return Ok(a.clone());
    }
    let keys = galois(keys)?;
    unary!(scheme, a, |e, x| e.automorphism(x, exponent, keys))
}

/// Applies several automorphisms to one ciphertext, which share its digits.
pub(crate) fn automorphisms(
    scheme: &Scheme,
    a: &Cipher,
    exponents: &[u64],
    keys: &EvaluationKeys,
) -> Result<Vec<Cipher>, Failure> {
    if exponents.iter().filter(|&&exponent| exponent != 1).count() < 2 {
        return exponents.iter().map(|&exponent| automorphism(scheme, a, exponent, keys)).collect();
    }
    let keys = galois(keys)?;
    macro_rules! hoisted {
        ($evaluator:expr, $x:expr) => {{
            let hoisted = $evaluator.hoist($x)?;
            let one = |&exponent: &u64| match exponent {
                1 => Ok(a.clone()),
                _ => Ok(Cipher::from(hoisted.automorphism(exponent, keys)?)),
            };
            exponents.iter().map(one).collect()
        }};
    }
    match (scheme, a) {
        (Scheme::Bfv(exact), Cipher::Bfv(x)) => hoisted!(exact.evaluator, x),
        (Scheme::Bgv(exact), Cipher::Bgv(x)) => hoisted!(exact.evaluator, x),
        (Scheme::Ckks(reals), Cipher::Ckks(x)) => hoisted!(reals.evaluator, x),
        _ => Err(mixed()),
    }
}

/// Returns the exponent of the automorphism that rotates slots left by `steps`: both rows of an exact scheme.
pub(crate) fn rotation_exponent(scheme: &Scheme, steps: i64) -> u64 {
    let ring = scheme.rlwe().ring();
    match scheme {
        Scheme::Ckks(_) => sunzi_ckks::rotation::rotation_exponent(steps, ring.index()),
        _ => row_rotation_exponent(degree(ring), steps),
    }
}

/// Returns the exponent of the automorphism that swaps the rows of an exact scheme, or conjugates the slots of CKKS.
pub(crate) fn swap_exponent(scheme: &Scheme) -> u64 {
    let ring = scheme.rlwe().ring();
    match scheme {
        Scheme::Ckks(_) => sunzi_ckks::rotation::conjugation_exponent(ring.index()),
        _ => row_swap_exponent(degree(ring)),
    }
}

fn degree(ring: &Ring) -> usize {
    ring.degree()
}

/// Brings a ciphertext down to a level: at its canonical scale in CKKS. BFV has no levels.
pub(crate) fn level_to(scheme: &Scheme, a: &Cipher, level: usize) -> Outcome {
    match (scheme, a) {
        (Scheme::Bgv(exact), Cipher::Bgv(x)) => Ok(exact.evaluator.mod_switch_to(x, level)?.into()),
        (Scheme::Ckks(reals), Cipher::Ckks(x)) => Ok(reals.evaluator.level_to(x, level)?.into()),
        (Scheme::Bfv(_), _) => Err(wrong_scheme("a level", "bgv or ckks", "bfv")),
        _ => Err(mixed()),
    }
}

/// Returns the bits of noise that a ciphertext can still take before decryption refuses it; in CKKS, bits of
/// the modulus that rescalings can still take.
pub(crate) fn bits_left(scheme: &Scheme, a: &Cipher) -> Result<f64, Failure> {
    match (scheme, a) {
        (Scheme::Bfv(exact), Cipher::Bfv(x)) => Ok(exact.evaluator.context().bits_left(&**x)),
        (Scheme::Bgv(exact), Cipher::Bgv(x)) => Ok(exact.evaluator.context().bits_left(x)?),
        (Scheme::Ckks(reals), Cipher::Ckks(x)) => {
            let context = reals.evaluator.context();
            Ok(context.log2_modulus_at(x.metadata().level)? - context.log2_modulus_at(0)?)
        }
        _ => Err(mixed()),
    }
}

pub(crate) fn relinearization(keys: &EvaluationKeys) -> Result<&RelinearizationKey, Failure> {
    let missing = "products take a relinearisation key: make one with keygen(relinearization=True)";
    keys.relinearization.as_ref().ok_or_else(|| Failure::new("MissingRelinearizationKey", missing))
}

pub(crate) fn galois(keys: &EvaluationKeys) -> Result<&GaloisKeys, Failure> {
    let missing = "rotations take Galois keys: name their steps in keygen(rotations=...)";
    keys.galois.as_ref().ok_or_else(|| Failure::new("MissingGaloisKey", missing))
}

/// Returns the sum Σ a_i·m_i of products with plaintexts.
pub(crate) fn sum_of_plain_products(scheme: &Scheme, terms: &[(Cipher, Plain)]) -> Outcome {
    let mut sum: Option<Cipher> = None;
    for (a, m) in terms {
        let product = multiply_plain_unscaled(scheme, a, m)?;
        sum = Some(match sum {
            Some(sum) => add(scheme, &sum, &product)?,
            None => product,
        });
    }
    match (scheme, sum) {
        (Scheme::Ckks(reals), Some(Cipher::Ckks(sum))) => Ok(reals.evaluator.rescale(&sum)?.into()),
        (_, Some(sum)) => Ok(sum),
        (_, None) => Err(Failure::new("Empty", "a sum of products needs at least one term")),
    }
}

/// Returns the sum Σ a_i·b_i of products of ciphertexts.
pub(crate) fn sum_of_products(scheme: &Scheme, terms: &[(Cipher, Cipher)], keys: &EvaluationKeys) -> Outcome {
    let key = relinearization(keys)?;
    macro_rules! pairs {
        ($variant:ident) => {
            terms
                .iter()
                .map(|pair| match pair {
                    (Cipher::$variant(a), Cipher::$variant(b)) => Ok((&**a, &**b)),
                    _ => Err(mixed()),
                })
                .collect::<Result<Vec<_>, Failure>>()?
        };
    }
    Ok(match scheme {
        Scheme::Bfv(exact) => exact.evaluator.dot_product(&pairs!(Bfv), key)?.into(),
        Scheme::Bgv(exact) => exact.evaluator.sum_of_products(pairs!(Bgv), key)?.into(),
        Scheme::Ckks(reals) => reals.evaluator.sum_of_products(pairs!(Ckks), key)?.into(),
    })
}

/// Returns Σ c_i·a_i + c of CKKS for real constants, rescaled once.
pub(crate) fn linear_combination(scheme: &Scheme, terms: &[(f64, Cipher)], constant: f64) -> Outcome {
    let evaluator = &scheme.reals()?.evaluator;
    let ciphers = terms.iter().map(|(factor, term)| match term {
        Cipher::Ckks(term) => Ok((*factor, &**term)),
        _ => Err(mixed()),
    });
    let terms = ciphers.collect::<Result<Vec<_>, Failure>>()?;
    let level = terms.iter().map(|(_, term)| term.metadata().level).min().unwrap_or(0);
    let context = evaluator.context();
    let divisor = context.divisor(level)?;
    let scale = context.scale(level.saturating_sub(1))? * divisor;
    let mut sum = evaluator.linear_combination(&terms, level, scale)?;
    if constant != 0.0 {
        evaluator.add_constant_assign(&mut sum, constant)?;
    }
    Ok(evaluator.rescale(&sum)?.into())
}
