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
    /// A ring index whose plaintexts are too long.
    #[error("ring index {index} has degree {degree}: at most {most} is supported")]
    IndexTooLarge {
        /// m.
        index: u64,
        /// φ(m).
        degree: usize,
        /// The greatest degree.
        most: usize,
    },
    /// Slots need a prime p.
    #[error("slots modulo a power of {got}, which is not a prime: {below} and {above} are the nearest")]
    PlainPrime {
        /// The number given.
        got: u64,
        /// The prime below; 2 where there is none.
        below: u64,
        /// The prime above.
        above: u64,
    },
    /// The plaintext prime divides the ring index.
    #[error("p = {prime} divides the ring index m = {index}: there are slots for m = {works}")]
    PrimeDividesIndex {
        /// p.
        prime: u64,
        /// m.
        index: u64,
        /// An index near by that p does not divide.
        works: u64,
    },
    /// A power of the plaintext prime that is not supported.
    #[error("t = {prime}^{got}: the exponent must be 1 to {most}, for which t < 2^60")]
    PlainExponent {
        /// p.
        prime: u64,
        /// r.
        got: u32,
        /// The greatest exponent.
        most: u32,
    },
    /// Slots of too high a degree.
    #[error(
        "slots of m = {index} and p = {prime} have degree {degree}, at most {most} is supported: choose a divisor m \
         of p^k - 1 for a small k, or for this m the prime {works}, whose slots have degree 1"
    )]
    SlotDegree {
        /// p.
        prime: u64,
        /// m.
        index: u64,
        /// The order of p modulo m.
        degree: usize,
        /// The greatest one.
        most: usize,
        /// A prime that is 1 modulo m.
        works: u64,
    },
    /// More elements than slots.
    #[error(
        "{got} elements for the {slots} slots of m = {index} and p = {prime}: {}",
        .works.map_or_else(|| "split them".to_owned(), |m| format!("split them, or take m = {m}"))
    )]
    TooManyElements {
        /// Elements given.
        got: usize,
        /// Slots there are.
        slots: usize,
        /// p.
        prime: u64,
        /// m.
        index: u64,
        /// An index with enough slots.
        works: Option<u64>,
    },
    /// An element that a slot does not hold.
    #[error(
        "the element of slot {slot} has {got} coefficients, slots of m = {index} and p = {prime} hold {degree}: reduce \
         it modulo the polynomial of the slots, or take an m modulo which {prime} has order {got} or more"
    )]
    ElementDegree {
        /// Which slot.
        slot: usize,
        /// Coefficients given.
        got: usize,
        /// Coefficients of a slot.
        degree: usize,
        /// p.
        prime: u64,
        /// m.
        index: u64,
    },
    /// A slot that holds no number.
    #[error("slot {slot} holds an element that is not a number: decode elements")]
    NotANumber {
        /// The first such slot.
        slot: usize,
    },
    /// A dimension that the slots do not have.
    #[error("dimension {got} of {dimensions}: they are numbered from 0")]
    NoDimension {
        /// The number given.
        got: usize,
        /// How many there are.
        dimensions: usize,
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
