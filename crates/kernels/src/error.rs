//! What a kernel refuses, and what to do about it.

use thiserror::Error;

use crate::isa::Isa;

/// A refused argument. Nothing has been written when a kernel returns one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// `SUNZI_ISA` holds a word that names no instruction set.
    #[error("SUNZI_ISA is {value:?}; choose one of: portable, neon, avx2, avx512ifma")]
    UnknownIsa {
        /// The value found.
        value: String,
    },
    /// This processor lacks the instruction set asked for.
    #[error("this processor cannot run {isa}; choose portable or leave SUNZI_ISA unset")]
    UnavailableIsa {
        /// The instruction set asked for.
        isa: Isa,
    },
    /// A modulus outside `[2, 2^62)`.
    #[error("modulus {value} is outside the supported range 2 <= q < 2^62")]
    ModulusOutOfRange {
        /// The modulus given.
        value: u64,
    },
    /// Two slices that must be equally long are not.
    #[error("slices of {expected} words expected, got one of {got}")]
    LengthMismatch {
        /// The length set by the first operand or by the plan.
        expected: usize,
        /// The length found.
        got: usize,
    },
    /// A number of slices does not match what the operation was built for.
    #[error("{expected} slices expected, got {got}")]
    CountMismatch {
        /// The number expected.
        expected: usize,
        /// The number found.
        got: usize,
    },
    /// An inner product or a conversion of more terms than the accumulators are proved for.
    #[error("at most {limit} terms can be summed at once, got {got}; split the sum")]
    TooManyTerms {
        /// The largest number of terms.
        limit: usize,
        /// The number given.
        got: usize,
    },
    /// A transform length that is not a power of two from 2^6 to 2^17.
    #[error("transform length {n} is not a power of two from 64 to 131072")]
    UnsupportedLength {
        /// The length given.
        n: usize,
    },
    /// An exponent that is not coprime to a power of two.
    #[error("X -> X^{exponent} is no automorphism; odd exponents are")]
    NotAnAutomorphism {
        /// The exponent given.
        exponent: u64,
    },
    /// The modulus has no primitive 2n-th root of unity.
    #[error("no primitive root of unity of order {order} modulo {modulus}; choose a prime q = 1 mod {order}")]
    NoRootOfUnity {
        /// The modulus given.
        modulus: u64,
        /// The order needed, twice the transform length.
        order: u64,
    },
    /// A scalar operand is not below the modulus.
    #[error("operand {value} is not below the modulus {modulus}; reduce it first")]
    NotReduced {
        /// The operand.
        value: u64,
        /// The modulus.
        modulus: u64,
    },
    /// An inverse scale was built for another modulus than the plan's.
    #[error("inverse scale of modulus {got} used with a plan of modulus {expected}")]
    ModulusMismatch {
        /// The plan's modulus.
        expected: u64,
        /// The scale's modulus.
        got: u64,
    },
    /// Packed words of a length that no modulus has.
    #[error("words of {bits} bits cannot be packed; lengths are 1 to 62")]
    WordLength {
        /// The length given.
        bits: u32,
    },
    /// Packed words do not take as many bytes as there are.
    #[error("{expected} bytes of packed words expected, got {got}")]
    PackedLength {
        /// The bytes that the words take.
        expected: usize,
        /// The bytes found.
        got: usize,
    },
    /// Bits behind the last packed word are set.
    #[error("bits behind the last packed word are not 0; the bytes are damaged")]
    Padding,
    /// A permutation index points outside its input.
    #[error("index {index} is outside an input of {len} words")]
    IndexOutOfRange {
        /// The index found.
        index: u32,
        /// The length of the input.
        len: usize,
    },
}

/// Checks that a slice is as long as the others.
pub(crate) fn check_length(expected: usize, got: usize) -> Result<(), KernelError> {
    if expected == got { Ok(()) } else { Err(KernelError::LengthMismatch { expected, got }) }
}

/// Checks that as many slices came as the operation was built for.
pub(crate) fn check_count(expected: usize, got: usize) -> Result<(), KernelError> {
    if expected == got { Ok(()) } else { Err(KernelError::CountMismatch { expected, got }) }
}
