//! The errors of this crate.

use std::fmt;

use sunzi_kernels::KernelError;
use sunzi_math::MathError;
use thiserror::Error;

/// What a polynomial and its ring must agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Coefficients.
    pub degree: usize,
    /// Residues a coefficient has; for the big-integer ring, bits of its modulus.
    pub limbs: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "degree {} with {} limbs", self.degree, self.limbs)
    }
}

/// What can be wrong with an argument of a ring operation.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RingError {
    /// A polynomial of another ring.
    #[error("expected a polynomial of {expected}, got one of {got}; use polynomials of the same ring")]
    ShapeMismatch {
        /// The shape of the ring.
        expected: Shape,
        /// The shape of the polynomial.
        got: Shape,
    },
    /// A polynomial of another ring that has the same shape.
    #[error(
        "expected a polynomial of this ring, got one of {shape} modulo other numbers; use keys, ciphertexts and \
         contexts made from the same parameters"
    )]
    OtherModulus {
        /// The shape they share.
        shape: Shape,
    },
    /// A list of the wrong length.
    #[error("{what}: expected {expected} entries, got {got}")]
    LengthMismatch {
        /// Which list.
        what: &'static str,
        /// The length needed.
        expected: usize,
        /// The length passed.
        got: usize,
    },
    /// An argument outside the range an operation accepts.
    #[error("{what}: expected {expected}, got {got}")]
    OutOfRange {
        /// Which argument.
        what: &'static str,
        /// What it must satisfy.
        expected: String,
        /// What was passed.
        got: String,
    },
    /// Two moduli that must be coprime share a factor.
    #[error("{left} and {right} share a factor; choose coprime moduli")]
    NotCoprime {
        /// The first.
        left: u64,
        /// The second.
        right: u64,
    },
    /// A level that a ring or a polynomial does not have.
    #[error("level {got} does not exist here: expected one from 1 to {highest}")]
    NoSuchLevel {
        /// The level asked for.
        got: usize,
        /// The highest there is.
        highest: usize,
    },
    /// X → X^k is no automorphism of the ring.
    #[error(
        "X -> X^{exponent} is no automorphism of the ring of index {index}: the exponent must be coprime to the index and between 0 and it"
    )]
    NotAnAutomorphism {
        /// The exponent k.
        exponent: u64,
        /// The ring index m.
        index: u64,
    },
    /// A ring index for which there is no transform.
    #[error(
        "ring index {index} is not supported: it must be a power of two from {least} to {greatest}; \
         general cyclotomic rings are not built yet"
    )]
    UnsupportedIndex {
        /// The index asked for.
        index: u64,
        /// The smallest supported index.
        least: u64,
        /// The greatest supported index.
        greatest: u64,
    },
    /// From the number theory below.
    #[error(transparent)]
    Math(MathError),
    /// From the kernels below.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl RingError {
    pub(crate) fn out_of_range(
        what: &'static str,
        expected: impl fmt::Display,
        got: impl fmt::Display,
    ) -> Self {
        Self::OutOfRange { what, expected: expected.to_string(), got: got.to_string() }
    }
}

impl From<MathError> for RingError {
    fn from(error: MathError) -> Self {
        match error {
            MathError::NotCoprime { left, right } => Self::NotCoprime { left, right },
            other => Self::Math(other),
        }
    }
}

pub(crate) fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), RingError> {
    if expected == got { Ok(()) } else { Err(RingError::LengthMismatch { what, expected, got }) }
}

pub(crate) fn check_shape(expected: Shape, got: Shape) -> Result<(), RingError> {
    if expected == got { Ok(()) } else { Err(RingError::ShapeMismatch { expected, got }) }
}

pub(crate) fn check_level(got: usize, highest: usize) -> Result<(), RingError> {
    if (1..=highest).contains(&got) { Ok(()) } else { Err(RingError::NoSuchLevel { got, highest }) }
}

/// The units of Z/m for m a power of two are the odd numbers.
pub(crate) fn check_automorphism(exponent: u64, index: u64) -> Result<(), RingError> {
    if exponent & 1 == 1 && exponent < index {
        Ok(())
    } else {
        Err(RingError::NotAnAutomorphism { exponent, index })
    }
}

/// n for m = 2n, both powers of two.
pub(crate) fn negacyclic_degree(index: u64, least: u64, greatest: u64) -> Result<usize, RingError> {
    let unsupported = RingError::UnsupportedIndex { index, least, greatest };
    if !index.is_power_of_two() || !(least..=greatest).contains(&index) {
        return Err(unsupported);
    }
    usize::try_from(index / 2).map_err(|_| unsupported)
}

/// Plaintext moduli of the scale-invariant operations.
pub(crate) fn check_plaintext_modulus(t: u64, bits: u32) -> Result<(), RingError> {
    if t < 2 || t >> bits != 0 {
        return Err(RingError::out_of_range("plaintext modulus", format_args!("2 <= t < 2^{bits}"), t));
    }
    Ok(())
}

/// log2 of the radix of digits.
pub(crate) fn check_radix(bits: u32) -> Result<(), RingError> {
    if (1..=61).contains(&bits) {
        Ok(())
    } else {
        Err(RingError::out_of_range("radix_bits", "1 to 61", bits))
    }
}

pub(crate) fn no_such_digit(count: usize, i: usize) -> RingError {
    RingError::out_of_range("digit", format_args!("below {count}"), i)
}
