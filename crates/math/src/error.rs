//! Errors of number-theoretic functions.

use thiserror::Error;

/// A refused argument of a number-theoretic function.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MathError {
    /// Fewer primes of the requested shape exist than were asked for.
    #[error(
        "only {found} primes p < {bound} with p = 1 (mod {step}) exist in the searched range, {requested} were requested; \
         ask for fewer, raise the bound or lower the step (a smaller ring degree)"
    )]
    NotEnoughPrimes {
        /// Exclusive upper bound of the search for primes.
        bound: u64,
        /// Number modulo which primes are congruent to 1.
        step: u64,
        /// Number of primes requested from the search.
        requested: usize,
        /// Number of primes found below the bound.
        found: usize,
    },
    /// An argument outside the range that a function accepts.
    #[error("{what}: expected {expected}, got {got}")]
    OutOfRange {
        /// Name of the argument that is out of range.
        what: &'static str,
        /// Range that the argument must lie in.
        expected: &'static str,
        /// Value of the argument that is out of range.
        got: u64,
    },
    /// A ring index m = 2 mod 4, twice an odd number.
    #[error(
        "ring index {index} is twice an odd number: its ring is that of index {half} with -X for X; use {half}"
    )]
    HalfOddIndex {
        /// Ring index m given.
        index: u64,
        /// Ring index m/2 of the same ring.
        half: u64,
    },
    /// The number `value` has no inverse modulo the number given.
    #[error("{value} has no inverse modulo {modulus}: they share a factor")]
    NotInvertible {
        /// Number to invert.
        value: u64,
        /// Modulus of the inversion.
        modulus: u64,
    },
    /// Two moduli that must be coprime are not.
    #[error("moduli {left} and {right} are not coprime")]
    NotCoprime {
        /// First of the two moduli.
        left: u64,
        /// Second of the two moduli.
        right: u64,
    },
    /// A slice of the wrong length.
    #[error("expected {expected} residues, got {got}")]
    LengthMismatch {
        /// Length of the slice that is needed.
        expected: usize,
        /// Length of the slice that was passed.
        got: usize,
    },
    /// No element of the wanted order exists.
    #[error(
        "no element of order {order} exists modulo {modulus}; the order must divide {modulus} - 1 and the modulus be prime"
    )]
    NoRootOfUnity {
        /// Multiplicative order requested.
        order: u64,
        /// Modulus of the group that was searched.
        modulus: u64,
    },
    /// A number that must be prime is not.
    #[error("{got} is not a prime")]
    NotPrime {
        /// Number passed for a prime.
        got: u64,
    },
    /// An element of a Galois ring that is 0 modulo p.
    #[error("the element is a multiple of p and has no inverse")]
    NotAUnit,
}
