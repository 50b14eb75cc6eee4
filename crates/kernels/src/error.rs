//! Errors of kernels: arguments they refuse.

use thiserror::Error;

use crate::isa::Isa;
use crate::matrix::kernel::MatrixKernel;

/// An argument that a kernel refuses. Nothing has been written when a kernel returns the error.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// `SUNZI_ISA` holds a word that names no instruction set.
    #[error("SUNZI_ISA is {value:?}; choose one of: portable, neon, avx2, avx512ifma")]
    UnknownIsa {
        /// Value of the environment variable `SUNZI_ISA`.
        value: String,
    },
    /// This processor lacks the requested instruction set.
    #[error("this processor cannot run {isa}; choose portable or leave SUNZI_ISA unset")]
    UnavailableIsa {
        /// Requested instruction set.
        isa: Isa,
    },
    /// A modulus outside the range `[2, 2^62)`.
    #[error("modulus {value} is outside the supported range 2 <= q < 2^62")]
    ModulusOutOfRange {
        /// Modulus given.
        value: u64,
    },
    /// Two slices that must be equally long are not.
    #[error("slices of {expected} words expected, got one of {got}")]
    LengthMismatch {
        /// Length of the first operand, or of the plan.
        expected: usize,
        /// Length of the slice found.
        got: usize,
    },
    /// The number of slices differs from the number that the operation was built for.
    #[error("{expected} slices expected, got {got}")]
    CountMismatch {
        /// Number of slices expected.
        expected: usize,
        /// Number of slices found.
        got: usize,
    },
    /// An inner product or a conversion of more terms than the accumulators are proved for.
    #[error("at most {limit} terms can be summed at once, got {got}; split the sum")]
    TooManyTerms {
        /// Largest number of terms that is allowed.
        limit: usize,
        /// Number of terms given.
        got: usize,
    },
    /// A transform length that is not a power of two from 2^6 to 2^17.
    #[error("transform length {n} is not a power of two from 64 to 131072")]
    UnsupportedLength {
        /// Transform length given.
        n: usize,
    },
    /// An exponent that is not coprime to a power of two.
    #[error(
        "X -> X^{exponent} is no automorphism; odd exponents are, and in a real ring those that are 1 modulo 4"
    )]
    NotAnAutomorphism {
        /// Exponent given for the automorphism.
        exponent: u64,
    },
    /// The modulus has no primitive 2n-th root of unity.
    #[error("no primitive root of unity of order {order} modulo {modulus}; choose a prime q = 1 mod {order}")]
    NoRootOfUnity {
        /// Modulus given.
        modulus: u64,
        /// Order of the root needed, twice the transform length.
        order: u64,
    },
    /// A scalar operand is not below the modulus.
    #[error("operand {value} is not below the modulus {modulus}; reduce it first")]
    NotReduced {
        /// Scalar operand given.
        value: u64,
        /// Modulus that the scalar should be below.
        modulus: u64,
    },
    /// An inverse scale was built for another modulus than the plan's.
    #[error("inverse scale of modulus {got} used with a plan of modulus {expected}")]
    ModulusMismatch {
        /// Modulus of the plan of the transform.
        expected: u64,
        /// Modulus of the scale of the inverse transform.
        got: u64,
    },
    /// A word length in bits that no modulus has.
    #[error("words of {bits} bits cannot be packed; lengths are 1 to 62")]
    WordLength {
        /// Word length given, in bits.
        bits: u32,
    },
    /// The number of bytes differs from the number that the packed words take.
    #[error("{expected} bytes of packed words expected, got {got}")]
    PackedLength {
        /// Number of bytes that the packed words take.
        expected: usize,
        /// Number of bytes found.
        got: usize,
    },
    /// A matrix without entries, or with more columns than sums are proved for.
    #[error(
        "a matrix of {rows} rows and {columns} columns; it needs at least one of each, and at most {most} columns"
    )]
    MatrixShape {
        /// Number of rows given.
        rows: usize,
        /// Number of columns given.
        columns: usize,
        /// Largest number of columns that is allowed.
        most: usize,
    },
    /// This processor lacks the requested way to multiply matrices.
    #[error("this processor cannot multiply matrices by {kernel}; portable runs everywhere")]
    UnavailableMatrixKernel {
        /// Requested way to multiply matrices.
        kernel: MatrixKernel,
    },
    /// Bits after the last packed word are set.
    #[error("bits behind the last packed word are not 0; the bytes are damaged")]
    Padding,
    /// A permutation index points outside its input.
    #[error("index {index} is outside an input of {len} words")]
    IndexOutOfRange {
        /// Index found in the permutation.
        index: u32,
        /// Length of the permuted input.
        len: usize,
    },
}

/// Checks that a slice has the expected length.
pub(crate) fn check_length(expected: usize, got: usize) -> Result<(), KernelError> {
    if expected == got { Ok(()) } else { Err(KernelError::LengthMismatch { expected, got }) }
}

/// Checks that the number of slices is the one that the operation was built for.
pub(crate) fn check_count(expected: usize, got: usize) -> Result<(), KernelError> {
    if expected == got { Ok(()) } else { Err(KernelError::CountMismatch { expected, got }) }
}
