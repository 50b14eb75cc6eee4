//! The errors of this crate.

use thiserror::Error;

/// What can be wrong with an argument of a number-theoretic function.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MathError {
    /// Fewer primes of the requested shape exist than were asked for.
    #[error(
        "only {found} primes p < {bound} with p = 1 (mod {step}) exist in the searched range, {requested} were requested; \
         ask for fewer, raise the bound or lower the step (a smaller ring degree)"
    )]
    NotEnoughPrimes {
        /// Exclusive upper bound of the search.
        bound: u64,
        /// Primes are congruent to 1 modulo this.
        step: u64,
        /// How many were asked for.
        requested: usize,
        /// How many there are.
        found: usize,
    },
    /// An argument outside the range a function accepts.
    #[error("{what}: expected {expected}, got {got}")]
    OutOfRange {
        /// Which argument.
        what: &'static str,
        /// What it must satisfy.
        expected: &'static str,
        /// What was passed.
        got: u64,
    },
    /// An index m = 2 mod 4.
    #[error(
        "ring index {index} is twice an odd number: its ring is that of index {half} with -X for X; use {half}"
    )]
    HalfOddIndex {
        /// The index m.
        index: u64,
        /// m/2.
        half: u64,
    },
    /// `value` has no inverse.
    #[error("{value} has no inverse modulo {modulus}: they share a factor")]
    NotInvertible {
        /// The value to invert.
        value: u64,
        /// The modulus.
        modulus: u64,
    },
    /// Two moduli that must be coprime are not.
    #[error("moduli {left} and {right} are not coprime")]
    NotCoprime {
        /// The first modulus.
        left: u64,
        /// The second modulus.
        right: u64,
    },
    /// A slice of the wrong length.
    #[error("expected {expected} residues, got {got}")]
    LengthMismatch {
        /// The length needed.
        expected: usize,
        /// The length passed.
        got: usize,
    },
    /// No element of the wanted order exists.
    #[error(
        "no element of order {order} exists modulo {modulus}; the order must divide {modulus} - 1 and the modulus be prime"
    )]
    NoRootOfUnity {
        /// The order asked for.
        order: u64,
        /// The modulus.
        modulus: u64,
    },
    /// A number that must be prime.
    #[error("{got} is not a prime")]
    NotPrime {
        /// The number.
        got: u64,
    },
    /// An element of a Galois ring that is 0 modulo p.
    #[error("the element is a multiple of p and has no inverse")]
    NotAUnit,
}
