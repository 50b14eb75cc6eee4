//! What can go wrong in CKKS.

use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::{ModuliError, RlweError};

use crate::encoder::EncoderError;
use crate::refusal::NothingFits;

/// An error of the CKKS layer: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CkksError {
    /// Operands whose slots are multiplied by different scales.
    #[error(
        "{operation} needs operands of one scale, these have 2^{left:.6} and 2^{right:.6}: rescale the larger one, \
         encode a plaintext with encode_at for the level and scale of the ciphertext, or bring one to the other's with \
         Evaluator::set_scale, which takes a level"
    )]
    ScaleMismatch {
        /// The operation that needs operands of one scale.
        operation: &'static str,
        /// log2 of the scale of the first operand.
        left: f64,
        /// log2 of the scale of the second operand.
        right: f64,
    },
    /// An operation that needs a rescaling, of a ciphertext that has none left.
    #[error(
        "{operation} takes {needed} level(s), the operand has {level}: declare more depth, or bootstrap before it"
    )]
    LevelExhausted {
        /// The operation that needs levels.
        operation: &'static str,
        /// Number of levels that the operation takes.
        needed: usize,
        /// The level of the operand.
        level: usize,
    },
    /// A change of level upwards.
    #[error("{what} stands at level {got} and cannot go to level {wanted}: levels only go down")]
    LevelTooLow {
        /// The name of the operand.
        what: &'static str,
        /// The operand's level.
        got: usize,
        /// The level asked for.
        wanted: usize,
    },
    /// A level that the context does not have.
    #[error("level {level} is not there: the levels are 0 to {depth}")]
    NoSuchLevel {
        /// The level asked for.
        level: usize,
        /// The highest level of the context.
        depth: usize,
    },
    /// A ciphertext or plaintext of a context with other levels.
    #[error(
        "the operand stands at level {level} with {limbs} moduli, which this context does not have: use the context it was \
         made in"
    )]
    LevelMismatch {
        /// The operand's level.
        level: usize,
        /// Number of moduli of the operand's parts.
        limbs: usize,
    },
    /// There is no key for a rotation.
    #[error("there is no key for {wanted}: make one with rotation_keys; there are keys for: {present}")]
    MissingRotation {
        /// The rotation, in words.
        wanted: String,
        /// The rotations there are keys for.
        present: String,
    },
    /// Slots that do not fit into the modulus at their scale.
    #[error(
        "{operation} leaves slots of up to 2^{magnitude:.1} at level {level}, where 2^{limit:.1} fit: keep the numbers \
         smaller, declare a tighter bound with Evaluator::with_magnitude if you know one, or ask for more message bits"
    )]
    MessageTooLarge {
        /// The operation whose result does not fit.
        operation: &'static str,
        /// log2 of the bound on the slots.
        magnitude: f64,
        /// The level of the result.
        level: usize,
        /// log2 of the largest slots that fit.
        limit: f64,
    },
    /// A value above the bound that was declared for messages.
    #[error(
        "the message has a slot of magnitude {got}, declared are at most {bound}: declare more with message_bits of the \
         parameters, or scale the values down"
    )]
    MessageBound {
        /// The largest magnitude of a slot.
        got: f64,
        /// The bound that was declared for messages.
        bound: f64,
    },
    /// A value that is no finite number.
    #[error("{what} {got} is not possible: {expected}")]
    Value {
        /// The name of the value that was given.
        what: &'static str,
        /// The value that was given.
        got: f64,
        /// The values that are possible.
        expected: &'static str,
    },
    /// A ring degree out of range.
    #[error("a ring degree of 2^{log2_degree} is not supported: it must be 2^6 to 2^17")]
    Degree {
        /// log2 of the ring degree.
        log2_degree: u32,
    },
    /// Moduli that no ring can have.
    #[error(transparent)]
    Moduli(#[from] ModuliError),
    /// No primes are left for a scale.
    #[error(
        "there are too few primes of about {bits:.1} bits of the form {step}k + 1: choose a larger scale, fewer levels or a \
         smaller ring"
    )]
    NoPrimes {
        /// log2 of the primes looked for.
        bits: f64,
        /// The ring index 2n.
        step: u64,
    },
    /// A request that contradicts itself or is out of range.
    #[error("{what}: {got} is not possible; {expected}")]
    Request {
        /// The setting of the request.
        what: &'static str,
        /// The value that was asked for.
        got: String,
        /// The values that are possible.
        expected: &'static str,
    },
    /// No parameter set meets the request.
    #[error(transparent)]
    NothingFits(#[from] Box<NothingFits>),
    /// The numbers of moduli of the levels do not describe the list of moduli.
    #[error(
        "the levels have {levels:?} moduli, the whole list {moduli}: they must ascend from at least 1 to all of them"
    )]
    LevelsUnusable {
        /// Number of moduli of every level.
        levels: Vec<usize>,
        /// Number of moduli that there are.
        moduli: usize,
    },
    /// A canonical scale at which a level cannot hold messages.
    #[error(
        "the scale of level {level} would be 2^{bits:.2}, possible are 2^{least} to 2^{limit:.1}: choose moduli nearer to \
         the scale, or start a range of scales there"
    )]
    ScaleUnusable {
        /// The level whose scale is unusable.
        level: usize,
        /// log2 of the level's canonical scale.
        bits: f64,
        /// log2 of the least scale that is possible.
        least: f64,
        /// log2 of the largest scale that is possible.
        limit: f64,
    },
    /// Options of key switching that the moduli do not allow.
    #[error("key switching: {0}")]
    KeySwitching(#[source] RingError),
    /// An operation was given nothing where it needs something.
    #[error("{what} needs at least one term")]
    Empty {
        /// The operation that was given nothing.
        what: &'static str,
    },
    /// An error of encoding.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// An error of the RLWE layer.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    /// An error of the ring.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// An error of the number theory.
    #[error(transparent)]
    Math(#[from] MathError),
}
