//! Errors of encoding and decoding.

use num_bigint::BigInt;
use sunzi_kernels::KernelError;
use sunzi_math::MathError;

/// An error of encoding or decoding: what was expected, what came, what to do.
///
/// ```
/// use sunzi_encoding::{BatchEncoder, EncodingError};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Slots need a t that is 1 modulo 2n.
/// let Err(error) = BatchEncoder::new(64, 250) else { panic!("250 has no slots") };
/// let error: EncodingError = error;
/// assert!(error.to_string().contains("250"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// A plaintext does not belong to the encoder or context that it was given to.
    #[error(
        "the plaintext has degree {degree} and modulus {modulus}, the context degree {expected_degree} and \
         modulus {expected_modulus}: encode it for this context"
    )]
    PlaintextMismatch {
        /// Ring degree of the context.
        expected_degree: usize,
        /// Plaintext modulus of the context.
        expected_modulus: u64,
        /// Degree of the plaintext.
        degree: usize,
        /// Modulus of the plaintext.
        modulus: u64,
    },
    /// A number outside the range a plaintext holds. The number itself is not repeated: it may be secret.
    #[error(
        "the number at index {index} is outside [{low}, {high}]: choose a larger plaintext modulus or range"
    )]
    ValueOutOfRange {
        /// Index of the first number that does not fit.
        index: usize,
        /// Smallest number that fits a plaintext.
        low: BigInt,
        /// Largest number that fits a plaintext.
        high: BigInt,
    },
    /// There are more numbers than slots in a plaintext.
    #[error("{got} numbers do not fit one plaintext of {slots} slots: split them")]
    TooManyValues {
        /// Number of numbers given to encode.
        got: usize,
        /// Number of slots of a plaintext.
        slots: usize,
    },
    /// A decoded integer is wider than the type asked for.
    #[error("the integer at index {index} is wider than 128 bits: decode to big integers")]
    TooWide {
        /// Index of the integer that is too wide.
        index: usize,
    },
    /// The number of plaintexts differs from the number of plaintext moduli.
    #[error("{got} plaintexts for {expected} plaintext moduli: give one for each, in order")]
    PlaintextCount {
        /// Number of plaintext moduli of the encoder.
        expected: usize,
        /// Number of plaintexts given to decode.
        got: usize,
    },
    /// A ring degree that is not a power of two of a supported size.
    #[error("ring degree {got}: expected a power of two from 2^6 to 2^17")]
    DegreeOutOfRange {
        /// Ring degree given.
        got: u64,
    },
    /// Encoders to be joined differ in degree.
    #[error("encoders of ring degrees {left} and {right} cannot be joined: use one degree")]
    DegreesDiffer {
        /// Degree of the first encoder.
        left: usize,
        /// Degree of the other encoder.
        right: usize,
    },
    /// A plaintext modulus outside the supported range.
    #[error("plaintext modulus {got}: expected 2 <= t < 2^60; join several moduli for wider integers")]
    PlainModulusOutOfRange {
        /// Plaintext modulus given.
        got: u64,
    },
    /// The list of plaintext moduli is empty.
    #[error("no plaintext modulus is given: give at least one")]
    NoPlainModuli,
    /// Two plaintext moduli share a factor.
    #[error("plaintext moduli {left} and {right} share a factor: they must be pairwise coprime")]
    PlainModuliNotCoprime {
        /// First of the two plaintext moduli.
        left: u64,
        /// Second of the two plaintext moduli.
        right: u64,
    },
    /// The plaintext modulus is a multiple of a ciphertext or special modulus.
    #[error("plaintext modulus {plain_modulus} is a multiple of the modulus {modulus}: replace one")]
    PlainModulusNotCoprime {
        /// Plaintext modulus given.
        plain_modulus: u64,
        /// Modulus of the ring that divides the plaintext modulus.
        modulus: u64,
    },
    /// The plaintext modulus does not split into slots.
    #[error(
        "plaintext modulus {plain_modulus} is not a prime of the form 2nk + 1 for n = {degree}: choose one that \
         is, or use coefficient encoding"
    )]
    NotBatchable {
        /// Plaintext modulus given.
        plain_modulus: u64,
        /// Ring degree n that the slots are asked for.
        degree: usize,
    },
    /// A request for a plaintext modulus that contradicts itself or is out of range.
    #[error("{what}: {got} is not possible; {expected}")]
    Request {
        /// Name of the setting at fault.
        what: &'static str,
        /// Value requested of the setting.
        got: String,
        /// Values that are possible for the setting.
        expected: &'static str,
    },
    /// A segment of slots has an impossible length.
    #[error("a segment of {length} slots: the length must be a power of two and at most {longest}")]
    SegmentLength {
        /// Length of segment requested.
        length: usize,
        /// Largest possible length of a segment.
        longest: usize,
    },
    /// Plaintexts of the ring index are too long.
    #[error("ring index {index} has degree {degree}: at most {most} is supported")]
    IndexTooLarge {
        /// Ring index m given.
        index: u64,
        /// Degree φ(m) of the ring of this index.
        degree: usize,
        /// Largest supported degree of a ring.
        most: usize,
    },
    /// Slots of a Galois ring need a prime p.
    #[error("slots modulo a power of {got}, which is not a prime: {below} and {above} are the nearest")]
    PlainPrime {
        /// Number given as the prime.
        got: u64,
        /// Next prime below the number given; 2 where there is none.
        below: u64,
        /// Next prime above the number given.
        above: u64,
    },
    /// The plaintext prime divides the ring index.
    #[error("p = {prime} divides the ring index m = {index}: there are slots for m = {works}")]
    PrimeDividesIndex {
        /// Plaintext prime p.
        prime: u64,
        /// Ring index m.
        index: u64,
        /// A near ring index that the prime does not divide.
        works: u64,
    },
    /// A power of the plaintext prime that is not supported.
    #[error("t = {prime}^{got}: the exponent must be 1 to {most}, for which t < 2^60")]
    PlainExponent {
        /// Plaintext prime p.
        prime: u64,
        /// Exponent r of the prime given.
        got: u32,
        /// Largest supported exponent of the prime.
        most: u32,
    },
    /// The degree of the slots is too high.
    #[error(
        "slots of m = {index} and p = {prime} have degree {degree}, at most {most} is supported: choose a divisor m \
         of p^k - 1 for a small k, or for this m the prime {works}, whose slots have degree 1"
    )]
    SlotDegree {
        /// Plaintext prime p.
        prime: u64,
        /// Ring index m.
        index: u64,
        /// Degree of the slots: the order of p modulo m.
        degree: usize,
        /// Largest supported degree of slots.
        most: usize,
        /// A plaintext prime that is 1 modulo m.
        works: u64,
    },
    /// There are more elements than slots in a plaintext.
    #[error(
        "{got} elements for the {slots} slots of m = {index} and p = {prime}: {}",
        .works.map_or_else(|| "split them".to_owned(), |m| format!("split them, or take m = {m}"))
    )]
    TooManyElements {
        /// Number of elements given to encode.
        got: usize,
        /// Number of slots of a plaintext.
        slots: usize,
        /// Plaintext prime p.
        prime: u64,
        /// Ring index m.
        index: u64,
        /// A ring index with enough slots.
        works: Option<u64>,
    },
    /// No ring has as many slots as were asked for.
    #[error(
        "no ring of degree 2^{} to 2^{} has {got} slots for p = {prime}: {}",
        .degrees[0],
        .degrees[1],
        .most.map_or_else(|| "none has any".to_owned(), |(slots, m)| format!("the most are {slots}, at m = {m}"))
    )]
    TooManySlots {
        /// Number of slots that were asked for.
        got: usize,
        /// Plaintext prime p.
        prime: u64,
        /// Degrees that were searched, as log2 n.
        degrees: [u32; 2],
        /// The most slots of a ring, and its index m; `None` where no ring has slots for p.
        most: Option<(usize, u64)>,
    },
    /// An element has more coefficients than a slot holds.
    #[error(
        "the element of slot {slot} has {got} coefficients, slots of m = {index} and p = {prime} hold {degree}: reduce \
         it modulo the polynomial of the slots, or take an m modulo which {prime} has order {got} or more"
    )]
    ElementDegree {
        /// Index of the slot with too many coefficients.
        slot: usize,
        /// Number of coefficients of the element given.
        got: usize,
        /// Number of coefficients that a slot holds.
        degree: usize,
        /// Plaintext prime p.
        prime: u64,
        /// Ring index m.
        index: u64,
    },
    /// A slot holds an element that is no number.
    #[error("slot {slot} holds an element that is not a number: decode elements")]
    NotANumber {
        /// Index of the first slot that holds no number.
        slot: usize,
    },
    /// The hypercube of slots has no such dimension.
    #[error("dimension {got} of {dimensions}: they are numbered from 0")]
    NoDimension {
        /// Index of the dimension given.
        got: usize,
        /// Number of dimensions of the hypercube.
        dimensions: usize,
    },
    /// An error of the number-theoretic functions.
    #[error(transparent)]
    Math(#[from] MathError),
    /// An error of the kernels of transforms and packing.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl EncodingError {
    /// Makes the error for a number outside [0, t).
    pub(crate) fn unsigned_out_of_range(index: usize, t: u64) -> Self {
        Self::ValueOutOfRange { index, low: BigInt::ZERO, high: BigInt::from(t) - 1 }
    }

    /// Makes the error for a number outside [-⌊t/2⌋, ⌈t/2⌉ − 1].
    pub(crate) fn signed_out_of_range(index: usize, t: u64) -> Self {
        Self::ValueOutOfRange { index, low: -BigInt::from(t / 2), high: BigInt::from(t.div_ceil(2)) - 1 }
    }
}
