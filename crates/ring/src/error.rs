//! Errors of the ring crate.

use std::fmt;
use std::ops::Range;

use sunzi_kernels::KernelError;
use sunzi_math::{MathError, RingIndex, ToRingIndex};
use thiserror::Error;

/// The greatest degree of a ring.
const MAX_DEGREE: usize = 1 << 17;

/// Degree and number of limbs, on which a polynomial and its ring must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Number of coefficients of a polynomial.
    pub degree: usize,
    /// Number of residues of a coefficient; for the big-integer ring, bits of its modulus.
    pub limbs: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "degree {} with {} limbs", self.degree, self.limbs)
    }
}

/// Faults that arguments of a ring operation can have.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RingError {
    /// A polynomial belongs to another ring, of another shape.
    #[error("expected a polynomial of {expected}, got one of {got}; use polynomials of the same ring")]
    ShapeMismatch {
        /// Shape of polynomials of the ring.
        expected: Shape,
        /// Shape of the polynomial.
        got: Shape,
    },
    /// A polynomial belongs to another ring that has the same shape.
    #[error(
        "expected a polynomial of this ring, got one of {shape} modulo other numbers; use keys, ciphertexts and \
         contexts made from the same parameters"
    )]
    OtherModulus {
        /// Shape that both rings share.
        shape: Shape,
    },
    /// A list has the wrong length.
    #[error("{what}: expected {expected} entries, got {got}")]
    LengthMismatch {
        /// Name of the list of wrong length.
        what: &'static str,
        /// Length of the list that is needed.
        expected: usize,
        /// Length of the list that was passed.
        got: usize,
    },
    /// An argument is outside the range that an operation accepts.
    #[error("{what}: expected {expected}, got {got}")]
    OutOfRange {
        /// Name of the argument that is out of range.
        what: &'static str,
        /// Condition that the argument must satisfy.
        expected: String,
        /// Value of the argument that was passed.
        got: String,
    },
    /// Two moduli that must be coprime share a factor.
    #[error("{left} and {right} share a factor; choose coprime moduli")]
    NotCoprime {
        /// First of the two moduli that share a factor.
        left: u64,
        /// Second of the two moduli that share a factor.
        right: u64,
    },
    /// A ring or a polynomial does not have this level.
    #[error("level {got} does not exist here: expected one from 1 to {highest}")]
    NoSuchLevel {
        /// Level of the ring or polynomial asked for.
        got: usize,
        /// Highest level of the ring or polynomial.
        highest: usize,
    },
    /// The modulus of a level does not divide that of another.
    #[error(
        "level {level} is not nested in level {within}: its moduli are not all among theirs; switch moduli instead"
    )]
    NotNested {
        /// Level asked for, which is not nested.
        level: usize,
        /// Level in which the one asked for should be nested.
        within: usize,
    },
    /// The map X → X^k is no automorphism of the ring.
    #[error(
        "X -> X^{exponent} is no automorphism of the ring of index {index}: the exponent must be coprime to the index and between 0 and it, \
         and 1 modulo 4 in a real ring"
    )]
    NotAnAutomorphism {
        /// Exponent k of the map X → X^k.
        exponent: u64,
        /// Ring index m, to which k must be coprime.
        index: u64,
    },
    /// A real ring was asked to multiply by a power of X that it does not have.
    #[error(
        "X^{exponent} is no element of a real ring, which has X^j + X^-j alone; use the ring of all elements"
    )]
    NotReal {
        /// Exponent of the power of X.
        exponent: u64,
    },
    /// A ring index is too small or too large.
    #[error(
        "ring index {index} is not supported: choose one from 3 on whose degree, phi({index}), is at most 2^17, \
         and for the word-size ring a power of two from 2^7 on or an index with an odd factor"
    )]
    UnsupportedIndex {
        /// Ring index asked for.
        index: u64,
    },
    /// A value given to a ring was made by another storage of residues.
    #[error(
        "this was made by a ring that stores residues another way; use keys, ciphertexts and contexts made from the \
         same parameters"
    )]
    OtherStorage,
    /// An operation needs residues, of which a dry ring has none.
    #[error("a dry ring stores no residues, so it can {0}; use a ring that does")]
    Dry(&'static str),
    /// A table of this library has no entry for a limb, which no argument explains.
    #[error(
        "the library has no {table} for modulus number {limb} (from 0): this is a fault of the library, not of its \
         arguments; please report it with the parameters"
    )]
    MissingTable {
        /// Name of the table that lacks an entry.
        table: &'static str,
        /// Number of the limb, from 0 on.
        limb: usize,
    },
    /// An error of the number theory in `sunzi-math`.
    #[error(transparent)]
    Math(MathError),
    /// An error of the kernels of transforms and products.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl RingError {
    /// Builds [`OutOfRange`](Self::OutOfRange) from values that print.
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

/// Returns the entry of a table for a limb.
pub fn entry<'a, T>(table: &'static str, entries: &'a [T], limb: usize) -> Result<&'a T, RingError> {
    entries.get(limb).ok_or(RingError::MissingTable { table, limb })
}

/// Returns the part of a table, or of the words of a polynomial, that belongs to limb `limb`.
pub fn part<'a, T>(
    table: &'static str,
    entries: &'a [T],
    range: Range<usize>,
    limb: usize,
) -> Result<&'a [T], RingError> {
    entries.get(range).ok_or(RingError::MissingTable { table, limb })
}

/// Checks that a table has exactly one entry for each of `limbs` limbs, before both are read side by side.
pub fn check_table(table: &'static str, limbs: usize, entries: usize) -> Result<(), RingError> {
    if limbs == entries { Ok(()) } else { Err(RingError::MissingTable { table, limb: limbs.min(entries) }) }
}

/// Does [`check_table`] for the words of limbs of n words each.
pub fn check_limbs(table: &'static str, limbs: usize, n: usize, words: usize) -> Result<(), RingError> {
    if limbs * n == words {
        return Ok(());
    }
    Err(RingError::MissingTable { table, limb: limbs.min(words / n.max(1)) })
}

/// Checks the length of a list.
///
/// # Errors
/// [`RingError::LengthMismatch`] where the list has another length.
pub fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), RingError> {
    if expected == got { Ok(()) } else { Err(RingError::LengthMismatch { what, expected, got }) }
}

/// Checks that a polynomial has the expected shape.
pub fn check_shape(expected: Shape, got: Shape) -> Result<(), RingError> {
    if expected == got { Ok(()) } else { Err(RingError::ShapeMismatch { expected, got }) }
}

/// Checks that a level is between 1 and the highest.
pub fn check_level(got: usize, highest: usize) -> Result<(), RingError> {
    if (1..=highest).contains(&got) { Ok(()) } else { Err(RingError::NoSuchLevel { got, highest }) }
}

/// Checks that X → X^k is an [automorphism](RingIndex::is_automorphism) of a ring.
///
/// # Errors
/// [`RingError::NotAnAutomorphism`] for any other k.
pub fn check_automorphism(exponent: u64, index: &RingIndex) -> Result<(), RingError> {
    if index.is_automorphism(exponent) {
        Ok(())
    } else {
        Err(RingError::NotAnAutomorphism { exponent, index: index.value() })
    }
}

/// Checks that X^k is an element of a ring: a real ring has 1 and −1 alone.
///
/// # Errors
/// [`RingError::NotReal`] for any other k.
pub fn check_monomial(exponent: u64, index: &RingIndex) -> Result<(), RingError> {
    if index.is_real() && !exponent.is_multiple_of(index.value() / 2) {
        return Err(RingError::NotReal { exponent });
    }
    Ok(())
}

/// The ring index m, checked to be of a degree up to 2^17.
pub fn supported_index(index: impl ToRingIndex) -> Result<RingIndex, RingError> {
    let index = index.to_ring_index().map_err(|error| match error {
        MathError::OutOfRange { got: index, .. } => RingError::UnsupportedIndex { index },
        other => other.into(),
    })?;
    if index.degree() > MAX_DEGREE {
        return Err(RingError::UnsupportedIndex { index: index.value() });
    }
    Ok(index)
}

/// Fails unless a plaintext has n coefficients below t, which has at most 62 bits. The error names no coefficient: they are secret.
///
/// # Errors
/// [`RingError::LengthMismatch`] for another count of coefficients; [`RingError::OutOfRange`] for a coefficient of t
/// or more.
pub fn check_message(message: &[u64], t: u64, n: usize) -> Result<(), RingError> {
    check_length("plaintext", n, message.len())?;
    check_plaintext_modulus(t, 62)?;
    // x < t < 2^63 sets the top bit of both words. Without a branch it becomes a loop over vectors.
    if message.iter().fold(u64::MAX, |top, &x| top & x.wrapping_sub(t) & !x) >> 63 == 1 {
        return Ok(());
    }
    Err(RingError::out_of_range("plaintext coefficient", format_args!("below t = {t}"), "more"))
}

/// Checks a plaintext modulus of the scale-invariant operations: from 2 on, of at most `bits` bits.
///
/// # Errors
/// [`RingError::OutOfRange`] for any other modulus.
pub fn check_plaintext_modulus(t: u64, bits: u32) -> Result<(), RingError> {
    if t < 2 || t >> bits != 0 {
        return Err(RingError::out_of_range("plaintext modulus", format_args!("2 <= t < 2^{bits}"), t));
    }
    Ok(())
}

/// Checks log2 of the radix ω of digits.
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

/// Returns the error for a digit number i where there are `count` digits.
#[must_use]
pub fn no_such_digit(count: usize, i: usize) -> RingError {
    RingError::out_of_range("digit", format_args!("below {count}"), i)
}
