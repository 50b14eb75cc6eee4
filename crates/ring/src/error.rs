//! The errors of this crate.

use std::fmt;
use std::ops::Range;

use sunzi_kernels::KernelError;
use sunzi_math::{MathError, RingIndex, gcd};
use thiserror::Error;

/// The greatest degree of a ring.
const MAX_DEGREE: usize = 1 << 17;

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
    /// A level whose modulus does not divide that of another.
    #[error(
        "level {level} is not nested in level {within}: its moduli are not all among theirs; switch moduli instead"
    )]
    NotNested {
        /// The level asked for.
        level: usize,
        /// The level it should be nested in.
        within: usize,
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
    /// A ring index that is too small or too large.
    #[error(
        "ring index {index} is not supported: choose one from 3 on whose degree, phi({index}), is at most 2^17, \
         and for the word-size ring a power of two from 2^7 on or an index with an odd factor"
    )]
    UnsupportedIndex {
        /// The index asked for.
        index: u64,
    },
    /// A value that another storage of residues made.
    #[error(
        "this was made by a ring that stores residues another way; use keys, ciphertexts and contexts made from the \
         same parameters"
    )]
    OtherStorage,
    /// Residues of a ring that has none.
    #[error("a dry ring stores no residues, so it can {0}; use a ring that does")]
    Dry(&'static str),
    /// A table of this library has no entry for a limb, which no argument explains.
    #[error(
        "the library has no {table} for modulus number {limb} (from 0): this is a fault of the library, not of its \
         arguments; please report it with the parameters"
    )]
    MissingTable {
        /// Which table.
        table: &'static str,
        /// Which limb, from 0 on.
        limb: usize,
    },
    /// From the number theory below.
    #[error(transparent)]
    Math(MathError),
    /// From the kernels below.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl RingError {
    /// [`OutOfRange`](Self::OutOfRange) of values that print.
    #[doc(hidden)]
    pub fn out_of_range(what: &'static str, expected: impl fmt::Display, got: impl fmt::Display) -> Self {
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

/// The entry of a table for a limb.
pub fn entry<'a, T>(table: &'static str, entries: &'a [T], limb: usize) -> Result<&'a T, RingError> {
    entries.get(limb).ok_or(RingError::MissingTable { table, limb })
}

/// Part of a table or of the words of limbs, those of limb `limb`.
pub fn part<'a, T>(
    table: &'static str,
    entries: &'a [T],
    range: Range<usize>,
    limb: usize,
) -> Result<&'a [T], RingError> {
    entries.get(range).ok_or(RingError::MissingTable { table, limb })
}

/// Checks that a table has an entry for each of so many limbs, and no other, before both are read side by side.
pub fn check_table(table: &'static str, limbs: usize, entries: usize) -> Result<(), RingError> {
    if limbs == entries { Ok(()) } else { Err(RingError::MissingTable { table, limb: limbs.min(entries) }) }
}

/// [`check_table`] for the words of limbs of n words each.
pub fn check_limbs(table: &'static str, limbs: usize, n: usize, words: usize) -> Result<(), RingError> {
    if limbs * n == words {
        return Ok(());
    }
    Err(RingError::MissingTable { table, limb: limbs.min(words / n.max(1)) })
}

/// Checks the length of a list.
///
/// # Errors
/// [`RingError::LengthMismatch`].
pub fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), RingError> {
    if expected == got { Ok(()) } else { Err(RingError::LengthMismatch { what, expected, got }) }
}

/// Checks the shape of a polynomial.
pub fn check_shape(expected: Shape, got: Shape) -> Result<(), RingError> {
    if expected == got { Ok(()) } else { Err(RingError::ShapeMismatch { expected, got }) }
}

/// Checks that a level is between 1 and the highest.
pub fn check_level(got: usize, highest: usize) -> Result<(), RingError> {
    if (1..=highest).contains(&got) { Ok(()) } else { Err(RingError::NoSuchLevel { got, highest }) }
}

/// Automorphisms are X → X^k for the units k of Z/m.
///
/// # Errors
/// [`RingError::NotAnAutomorphism`].
pub fn check_automorphism(exponent: u64, index: u64) -> Result<(), RingError> {
    if exponent < index && gcd(exponent, index) == 1 {
        Ok(())
    } else {
        Err(RingError::NotAnAutomorphism { exponent, index })
    }
}

/// The index of a ring of a degree up to 2^17.
pub fn supported_index(index: u64) -> Result<RingIndex, RingError> {
    let shape = RingIndex::new(index).map_err(|error| match error {
        MathError::OutOfRange { .. } => RingError::UnsupportedIndex { index },
        other => other.into(),
    })?;
    if shape.degree() > MAX_DEGREE { Err(RingError::UnsupportedIndex { index }) } else { Ok(shape) }
}

/// Fails unless a plaintext has n coefficients below t, which has at most 62 bits. The error names no coefficient: they are secret.
///
/// # Errors
/// [`RingError::LengthMismatch`]; [`RingError::OutOfRange`].
pub fn check_message(message: &[u64], t: u64, n: usize) -> Result<(), RingError> {
    check_length("plaintext", n, message.len())?;
    check_plaintext_modulus(t, 62)?;
    if message.iter().all(|&x| x < t) {
        return Ok(());
    }
    Err(RingError::out_of_range("plaintext coefficient", format_args!("below t = {t}"), "more"))
}

/// Plaintext moduli of the scale-invariant operations: from 2 on, of so many bits.
///
/// # Errors
/// [`RingError::OutOfRange`].
pub fn check_plaintext_modulus(t: u64, bits: u32) -> Result<(), RingError> {
    if t < 2 || t >> bits != 0 {
        return Err(RingError::out_of_range("plaintext modulus", format_args!("2 <= t < 2^{bits}"), t));
    }
    Ok(())
}

/// log2 of the radix of digits.
///
/// # Errors
/// [`RingError::OutOfRange`] unless it is from 1 to 61.
pub fn check_radix(bits: u32) -> Result<(), RingError> {
    if (1..=61).contains(&bits) {
        Ok(())
    } else {
        Err(RingError::out_of_range("radix_bits", "1 to 61", bits))
    }
}

/// The error of digit i where there are `count`.
#[must_use]
pub fn no_such_digit(count: usize, i: usize) -> RingError {
    RingError::out_of_range("digit", format_args!("below {count}"), i)
}
