//! The order of CKKS slots: slot i is the value at ζ^(5^i), i < n/2; its conjugate is the value at ζ^(−5^i). In a real ring, i < n, both are equal.
//!
//! The generator of the slot order is 5 and not 3 as for plaintexts modulo t, since 5^i ≡ 1 (mod 4): X^(n/2) is i in
//! every slot.

use rand_core::CryptoRng;
use sunzi_math::mod_pow;
use sunzi_rlwe::rotation::{Movement, all_in_words, in_words};
use sunzi_rlwe::{GaloisKeys, RlweError, SecretKey};

use crate::{CkksError, Context};

/// The number 5, which generates the exponents of the slots.
pub const GENERATOR: u64 = 5;

/// The exponent k for which X → X^k rotates the slots of a ring of index m left by `steps` (right if negative).
#[must_use]
pub fn rotation_exponent(steps: i64, index: u64) -> u64 {
    let order = (index / 4).max(1).cast_signed();
    mod_pow(GENERATOR, steps.rem_euclid(order).cast_unsigned(), index)
}

/// The exponent k for which X → X^k conjugates every slot.
#[must_use]
pub fn conjugation_exponent(index: u64) -> u64 {
    index.saturating_sub(1)
}

/// Makes the keys of rotations by `steps`, and that of the conjugation if wanted, for ciphertexts of at most `level`.
///
/// # Errors
/// [`CkksError::NoSuchLevel`]; [`CkksError::Rlwe`] for a secret of another ring, and for the conjugation where slots are real.
pub fn rotation_keys(
    context: &Context,
    secret: &SecretKey,
    steps: impl IntoIterator<Item = i64>,
    conjugation: bool,
    level: usize,
    rng: &mut dyn CryptoRng,
) -> Result<GaloisKeys, CkksError> {
    if conjugation {
        context.rlwe().check_whole("the conjugation of slots")?;
    }
    let index = context.ring().index();
    let rotations = steps.into_iter().map(|steps| rotation_exponent(steps, index));
    let exponents = rotations.chain(conjugation.then(|| conjugation_exponent(index)));
    Ok(GaloisKeys::generate_at_level(context.rlwe(), secret, exponents, context.key_level(level)?, rng)?)
}

/// Turns the error of a missing Galois key into one that names the rotation in steps of slots.
#[must_use]
pub fn named(error: RlweError) -> CkksError {
    match error {
        RlweError::MissingGaloisKey { exponent, index, present } => CkksError::MissingRotation {
            wanted: describe(exponent, index),
            present: all_in_words(&present, CONJUGATION, |k| movement(k, index)),
        },
        other => CkksError::Rlwe(other),
    }
}

/// Name of the automorphism that exchanges every slot with its conjugate.
const CONJUGATION: &str = "the conjugation";

/// Writes an automorphism as text: "a rotation by 5 slots", "the conjugation", "the conjugation and a rotation by −1 slot".
fn describe(exponent: u64, index: u64) -> String {
    in_words(exponent, CONJUGATION, |k| movement(k, index))
}

/// Returns what an automorphism does to the slots of CKKS.
fn movement(exponent: u64, index: u64) -> Option<Movement> {
    let order = index / 4;
    let (conjugated, target) = if exponent % 4 == 3 { (true, index - exponent) } else { (false, exponent) };
    let power = |steps: &u64| mod_pow(GENERATOR, *steps, index) == target;
    // The search is for messages only: it takes n/2 steps at most.
    let left = (0..order).find(power)?;
    Some(Movement::new(conjugated, left, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exponent_is_named_by_its_steps() {
        let index = 64;
        for steps in -7_i64..=8 {
            let exponent = rotation_exponent(steps, index);
            let sign = if steps < 0 { "−" } else { "" };
            let plural = if steps.abs() == 1 { "" } else { "s" };
            let words = format!("{sign}{} slot{plural}", steps.abs());
            assert_eq!(describe(exponent, index), format!("a rotation by {words}"));
            let conjugated = exponent * conjugation_exponent(index) % index;
            let expected = match steps {
                0 => "the conjugation".to_owned(),
                _ => format!("the conjugation and a rotation by {words}"),
            };
            assert_eq!(describe(conjugated, index), expected);
        }
    }
}
