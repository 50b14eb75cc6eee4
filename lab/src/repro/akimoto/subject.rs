//! The five CKKS operations of `[AS19]` on real ciphertexts.

use std::time::Duration;

use num_complex::Complex64;
use sunzi_ckks::{LevelRange, Parameters};
use sunzi_ring::Parallelism;
use sunzi_rlwe::Security;

use super::printed::{DEPTH, FIRST_BITS, SCALE_BITS};
use crate::repro::{LabError, Result, timed};
use crate::subjects::strategies::{Operands, Operation, Subject};

/// Number of digits of key switching.
const DIGITS: usize = 3;
/// Largest error allowed in a slot of a timed CKKS operation.
const TOLERANCE: f64 = 1e-6;

/// The operations of Table 1 of `[AS19]` in the paper's order, with the paper's names.
pub(super) const OPERATIONS: [(Operation, &str); 5] = [
    (Operation::Add, "Add"),
    (Operation::Constant { scale_bits: SCALE_BITS }, "CMult"),
    (Operation::Multiply, "Mult"),
    (Operation::Rescale, "Rescale"),
    (Operation::Rotate, "LeftRot"),
];

/// The three strategies of sharing work among threads, with the names of `[AS19]`.
pub(super) const STRATEGIES: [(Parallelism, &str); 3] = [
    (Parallelism::CoefficientWise, "Coefficient-wise"),
    (Parallelism::ModulusWise, "Modulus-wise"),
    (Parallelism::Collapsed, "Coef&Mod-wise"),
];

/// Keys and ciphertexts with the moduli of `[AS19]` at N = 2^`log2_degree`, for levels up to 32.
pub(super) fn subject(log2_degree: u32) -> Result<Subject> {
    let ranges = [LevelRange { levels: DEPTH, scale_bits: SCALE_BITS }];
    let research = Security::InsecureForResearchOnly;
    let parameters =
        Parameters::from_ranges(log2_degree, FIRST_BITS, &ranges, research)?.with_digits(DIGITS)?;
    Subject::new(&parameters, |slots| [0.37, 1.93].map(|step| message(slots, step)), TOLERANCE)
}

/// Time of one CKKS operation; its result is decrypted and must be right.
pub(super) fn time(
    subject: &Subject,
    (operation, name): (Operation, &'static str),
    parallelism: Parallelism,
    operands: &Operands,
) -> Result<Duration> {
    let evaluator = subject.evaluator(parallelism)?;
    let (taken, result) = timed(|| subject.apply(operation, evaluator, operands))?;
    LabError::unless(subject.is_right(operation, &result)?, name, "CKKS", evaluator.context().degree())?;
    Ok(taken)
}

/// A message of complex numbers in the unit disc that look random.
pub(super) fn message(slots: usize, step: f64) -> Vec<Complex64> {
    let part = |at: f64| (at * step).sin() * 0.7;
    (0..slots).map(|at| Complex64::new(part(at as f64), part(at as f64 * 1.618 + 0.5))).collect()
}
