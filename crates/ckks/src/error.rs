//! Errors of CKKS.

use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::words::counted;
use sunzi_rlwe::{ModuliError, RlweError};

use crate::encoder::EncoderError;
use crate::refusal::NothingFits;

/// An error of the CKKS layer: what was expected, what came, what to do.
///
/// ```
/// use sunzi_ckks::{CkksError, Context, Encoder, Evaluator, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// let evaluator = Evaluator::new(&context);
/// let spent = evaluator.drop_to(&a, 0)?;
/// let Err(error) = evaluator.multiply_constant(&spent, 0.5) else { panic!("no level is left") };
/// assert!(matches!(error, CkksError::LevelExhausted { level: 0, needed: 1, .. }));
/// assert!(error.to_string().contains("declare more depth"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CkksError {
    /// Error: the slots of two operands are multiplied by different scales.
    #[error(
        "{operation} needs operands of one scale, these have 2^{left:.6} and 2^{right:.6}: rescale the larger one, \
         encode a plaintext with encode_at for the level and scale of the ciphertext, or bring one to the other's with \
         Evaluator::set_scale, which takes a level"
    )]
    ScaleMismatch {
        /// Name of the operation that needs operands of one scale.
        operation: &'static str,
        /// log2 of the scale of the first operand.
        left: f64,
        /// log2 of the scale of the second operand.
        right: f64,
    },
    /// Error: an operation needs a rescaling, and the ciphertext has none left.
    #[error(
        "no level left: {operation} takes {}, the operand has {level}; declare more depth \
         (Context.for_depth in Python), multiply in pairs, or bootstrap before it",
        counted(*needed, "level", "levels")
    )]
    LevelExhausted {
        /// Name of the operation that needs levels.
        operation: &'static str,
        /// Number of levels that the operation takes.
        needed: usize,
        /// Level of the operand.
        level: usize,
    },
    /// Error: a change to a higher level was asked for.
    #[error("{what} stands at level {got} and cannot go to level {wanted}: levels only go down")]
    LevelTooLow {
        /// Name of the operand whose level is too low.
        what: &'static str,
        /// Level of the operand.
        got: usize,
        /// Level that was asked for.
        wanted: usize,
    },
    /// Error: the context does not have the level that was asked for.
    #[error("level {level} is not there: the levels are 0 to {depth}")]
    NoSuchLevel {
        /// Level that was asked for.
        level: usize,
        /// Highest level of the context.
        depth: usize,
    },
    /// Error: a ciphertext or plaintext belongs to a context with other levels.
    #[error(
        "the operand stands at level {level} with {limbs} moduli, which this context does not have: use the context it was \
         made in"
    )]
    LevelMismatch {
        /// Level of the operand.
        level: usize,
        /// Number of moduli of the operand's parts.
        limbs: usize,
    },
    /// Error: a rotation has no key.
    #[error(
        "there is no key for {wanted}; there are keys for: {present}; make it with rotation_keys, or name the rotation in \
         keygen(rotations=...) in Python"
    )]
    MissingRotation {
        /// Rotation without a key, in words.
        wanted: String,
        /// Rotations that have keys, in words.
        present: String,
    },
    /// Error: slots do not fit into the modulus at their scale.
    #[error(
        "{operation} leaves slots of up to 2^{magnitude:.1} at level {level}, where 2^{limit:.1} fit: keep the numbers \
         smaller, declare a tighter bound with Evaluator::with_magnitude if you know one, or ask for more message bits"
    )]
    MessageTooLarge {
        /// Name of the operation whose result does not fit.
        operation: &'static str,
        /// log2 of the bound on the slots of the result.
        magnitude: f64,
        /// Level of the result.
        level: usize,
        /// log2 of the largest slots that fit.
        limit: f64,
    },
    /// Error: a slot exceeds the bound that was declared for messages.
    #[error(
        "the message has a slot of magnitude {got}, declared are at most {bound}: declare more with message_bits of the \
         parameters, or scale the values down"
    )]
    MessageBound {
        /// Largest magnitude of a slot of the message.
        got: f64,
        /// Bound that was declared for messages.
        bound: f64,
    },
    /// Error: a value is no finite number.
    #[error("{what} {got} is not possible: {expected}")]
    Value {
        /// Name of the refused argument.
        what: &'static str,
        /// Value of the refused argument.
        got: f64,
        /// Values that the refused argument may have.
        expected: &'static str,
    },
    /// Error: the ring degree is out of range.
    #[error("a ring degree of 2^{log2_degree} is not supported: it must be 2^6 to 2^17")]
    Degree {
        /// log2 of the ring degree.
        log2_degree: u32,
    },
    /// Error: no ring can have the moduli of the parameters.
    #[error(transparent)]
    Moduli(#[from] ModuliError),
    /// Error: too few primes are left for a scale.
    #[error(
        "there are too few primes of about {bits:.1} bits of the form {step}k + 1: choose a larger scale, fewer levels or a \
         smaller ring"
    )]
    NoPrimes {
        /// log2 of the primes looked for.
        bits: f64,
        /// Ring index 2n.
        step: u64,
    },
    /// Error: a request to the parameter builder contradicts itself or is out of range.
    #[error("{what}: {got} is not possible; {expected}")]
    Request {
        /// Name of the refused setting of the request.
        what: &'static str,
        /// Value that the request gave to the refused setting.
        got: String,
        /// Values that the refused setting may have.
        expected: &'static str,
    },
    /// Error: no CKKS parameter set meets the request.
    #[error(transparent)]
    NothingFits(#[from] Box<NothingFits>),
    /// Error: the numbers of moduli of the levels do not describe the list of moduli.
    #[error(
        "the levels {levels:?} do not fit a ring of {moduli} levels: they must ascend from 1 or more, and end at the highest unless levels are sets of moduli"
    )]
    LevelsUnusable {
        /// Number of moduli of every level of the chain.
        levels: Vec<usize>,
        /// Number of ciphertext moduli.
        moduli: usize,
    },
    /// Error: a level cannot hold messages at its canonical scale.
    #[error(
        "the scale of level {level} would be 2^{bits:.2}, possible are 2^{least} to 2^{limit:.1}: choose moduli nearer to \
         the scale, or start a range of scales there"
    )]
    ScaleUnusable {
        /// Level whose scale is unusable.
        level: usize,
        /// log2 of the level's canonical scale.
        bits: f64,
        /// log2 of the least scale that is possible.
        least: f64,
        /// log2 of the largest scale that is possible.
        limit: f64,
    },
    /// Error: the moduli do not allow the options of key switching.
    #[error("key switching: {0}")]
    KeySwitching(#[source] RingError),
    /// Error: an operation on lists was given an empty one.
    #[error("{what} needs at least one term")]
    Empty {
        /// Name of the operation that was given an empty list.
        what: &'static str,
    },
    /// Error of encoding.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// Error of the RLWE layer.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
    /// Error of the polynomial ring.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// Error of number theory.
    #[error(transparent)]
    Math(#[from] MathError),
}
