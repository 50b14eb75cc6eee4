//! What can go wrong between numbers and plaintexts.

use num_bigint::BigInt;
use sunzi_kernels::KernelError;
use sunzi_math::MathError;

/// An error of encoding or decoding: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// A plaintext does not belong to the context.
    #[error(
        "the plaintext has degree {degree} and modulus {modulus}, the context degree {expected_degree} and \
         modulus {expected_modulus}: encode it for this context"
    )]
    PlaintextMismatch {
        /// The context's ring degree.
        expected_degree: usize,
        /// The context's plaintext modulus.
        expected_modulus: u64,
        /// The plaintext's degree.
        degree: usize,
        /// The plaintext's modulus.
        modulus: u64,
    },
    /// A number outside the range a plaintext holds. The number itself is not repeated: it may be secret.
    #[error(
        "the number at index {index} is outside [{low}, {high}]: choose a larger plaintext modulus or range"
    )]
    ValueOutOfRange {
        /// Where the first such number stands.
        index: usize,
        /// The smallest number that fits.
        low: BigInt,
        /// The largest number that fits.
        high: BigInt,
    },
    /// More numbers than slots.
    #[error("{got} numbers do not fit one plaintext of {slots} slots: split them")]
    TooManyValues {
        /// Numbers given.
        got: usize,
        /// Slots there are.
        slots: usize,
    },
    /// A decoded integer is wider than the type asked for.
    #[error("the integer at index {index} is wider than 128 bits: decode to big integers")]
    TooWide {
        /// Where it stands.
        index: usize,
    },
    /// The number of plaintexts is not the number of plaintext moduli.
    #[error("{got} plaintexts for {expected} plaintext moduli: give one for each, in order")]
    PlaintextCount {
        /// Plaintext moduli there are.
        expected: usize,
        /// Plaintexts given.
        got: usize,
    },
    /// A ring degree that is not a power of two of a supported size.
    #[error("ring degree {got}: expected a power of two from 2^6 to 2^17")]
    DegreeOutOfRange {
        /// The degree given.
        got: u64,
    },
    /// Encoders to be joined differ in degree.
    #[error("encoders of ring degrees {left} and {right} cannot be joined: use one degree")]
    DegreesDiffer {
        /// The first degree.
        left: usize,
        /// The other one.
        right: usize,
    },
    /// A plaintext modulus outside the supported range.
    #[error("plaintext modulus {got}: expected 2 <= t < 2^60; join several moduli for wider integers")]
    PlainModulusOutOfRange {
        /// The modulus given.
        got: u64,
    },
    /// No plaintext modulus at all.
    #[error("no plaintext modulus is given: give at least one")]
    NoPlainModuli,
    /// Two plaintext moduli share a factor.
    #[error("plaintext moduli {left} and {right} share a factor: they must be pairwise coprime")]
    PlainModuliNotCoprime {
        /// The first modulus.
        left: u64,
        /// The second modulus.
        right: u64,
    },
    /// The plaintext modulus is a multiple of a ciphertext or special modulus.
    #[error("plaintext modulus {plain_modulus} is a multiple of the modulus {modulus}: replace one")]
    PlainModulusNotCoprime {
        /// The plaintext modulus.
        plain_modulus: u64,
        /// The modulus that divides it.
        modulus: u64,
    },
    /// The plaintext modulus does not split into slots.
    #[error(
        "plaintext modulus {plain_modulus} is not a prime of the form 2nk + 1 for n = {degree}: choose one that \
         is, or use coefficient encoding"
    )]
    NotBatchable {
        /// The plaintext modulus.
        plain_modulus: u64,
        /// The ring degree n.
        degree: usize,
    },
    /// A request for a plaintext modulus that contradicts itself or is out of range.
    #[error("{what}: {got} is not possible; {expected}")]
    Request {
        /// The setting.
        what: &'static str,
        /// What was asked.
        got: String,
        /// What is possible.
        expected: &'static str,
    },
    /// A segment of slots has an impossible length.
    #[error("a segment of {length} slots: the length must be a power of two and at most {longest}")]
    SegmentLength {
        /// The length asked for.
        length: usize,
        /// The longest possible.
        longest: usize,
    },
    /// An error of the number theory.
    #[error(transparent)]
    Math(#[from] MathError),
    /// An error of the kernels.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl EncodingError {
    /// A number that is not in [0, t).
    pub(crate) fn unsigned_out_of_range(index: usize, t: u64) -> Self {
        Self::ValueOutOfRange { index, low: BigInt::ZERO, high: BigInt::from(t) - 1 }
    }

    /// A number that is not in [-⌊t/2⌋, ⌈t/2⌉ − 1].
    pub(crate) fn signed_out_of_range(index: usize, t: u64) -> Self {
        Self::ValueOutOfRange { index, low: -BigInt::from(t / 2), high: BigInt::from(t.div_ceil(2)) - 1 }
    }
}
