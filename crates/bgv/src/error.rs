//! Errors of BGV.

use sunzi_encoding::EncodingError;
use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::{ModuliError, RlweError};

use crate::budget::Excess;
use crate::refusal::NothingFits;

/// An error of the BGV layer: what was expected, what came, what to do.
///
/// ```
/// use sunzi_bgv::{BatchEncoder, BgvError, Context, Encoder, Evaluator, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(1).fresh_additions(1).plain_modulus(257).log2_degree(7);
/// # let parameters = parameters.security(sunzi_rlwe::Security::InsecureForResearchOnly).build()?;
/// # let context = Context::new(&parameters)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// # let a = context.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
/// let keys = context.evaluation_keys(&secret, [], &mut rng)?;
/// let evaluator = Evaluator::new(&context);
/// let e = evaluator.with(&keys);
/// // One multiplication is declared, and this is a second.
/// let Err(error) = (e.bind(&a) * e.bind(&a) * e.bind(&a)).get() else { panic!("too deep") };
/// assert!(matches!(error.error(), BgvError::DepthExceeded { depth: 1, .. }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BgvError {
    /// Error: a ciphertext belongs to another plaintext modulus than the context.
    #[error(
        "the ciphertext has plaintext modulus {got}, the context {expected}: use the context it was made in"
    )]
    PlainModulusMismatch {
        /// Plaintext modulus of the context.
        expected: u64,
        /// Plaintext modulus of the ciphertext.
        got: u64,
    },
    /// Error: a ciphertext belongs to a context with other levels.
    #[error(
        "the ciphertext stands at level {level} with {limbs} moduli and factor {factor}, which this context does not \
         have: use the context it was made in"
    )]
    LevelMismatch {
        /// Level of the ciphertext.
        level: usize,
        /// Number of moduli of the ciphertext's parts.
        limbs: usize,
        /// Correction factor of the ciphertext.
        factor: u64,
    },
    /// Error: a multiplication of a ciphertext that has no level left.
    #[error(
        "no level left: {operation} would be multiplication number {needed} in a row where {depth} are declared; declare \
         depth({needed}) (Context.for_depth({needed}) in Python), or multiply in pairs"
    )]
    DepthExceeded {
        /// Name of the operation that needs more levels.
        operation: &'static str,
        /// Depth that the operation needs.
        needed: usize,
        /// Depth that the parameters declare.
        depth: usize,
    },
    /// Error: an operation that the budget does not declare.
    #[error("{0}")]
    Undeclared(Excess),
    /// Error: an operation whose result could not be decrypted with certainty, since the parameters were not made for
    /// what they declare.
    #[error(
        "the result of {operation} at level {level} may have {bits_short:.1} bits more noise than decrypts: choose \
         larger moduli, or let Parameters::builder() choose them"
    )]
    BudgetExceeded {
        /// Name of the operation that was refused.
        operation: &'static str,
        /// Level of the operation's result.
        level: usize,
        /// Bits by which the noise exceeds the capacity.
        bits_short: f64,
    },
    /// Error: a modulus switch to a higher level was asked for.
    #[error(
        "the ciphertext stands at level {got} and cannot be switched to level {wanted}: levels only go down"
    )]
    LevelTooLow {
        /// Level of the ciphertext.
        got: usize,
        /// Level to which a modulus switch was asked for.
        wanted: usize,
    },
    /// Error: the ciphertext moduli and special moduli make no ring.
    #[error(transparent)]
    Moduli(#[from] ModuliError),
    /// Error: the numbers of moduli of the levels do not describe the list of moduli.
    #[error(
        "the levels have {levels:?} moduli, the whole list {moduli}: they must ascend from at least 1 to at \
         most all"
    )]
    LevelsUnusable {
        /// Number of moduli of every level of the chain.
        levels: Vec<usize>,
        /// Number of ciphertext moduli.
        moduli: usize,
    },
    /// Error: the moduli do not allow dynamic switching, which takes them in any order.
    #[error(
        "dynamic switching takes moduli that are 1 modulo t, and {modulus} is {residue} modulo {plain_modulus}: let \
         Parameters::builder() choose them"
    )]
    NotDynamic {
        /// First modulus that is not 1 modulo t.
        modulus: String,
        /// That modulus modulo t.
        residue: u64,
        /// Plaintext modulus t.
        plain_modulus: u64,
    },
    /// Error: the moduli do not allow the options of key switching.
    #[error("key switching: {0}")]
    KeySwitching(#[source] RingError),
    /// Error: a request to the parameter builder contradicts itself or is out of range.
    #[error("{what}: {got} is not possible; {expected}")]
    Request {
        /// Name of the refused setting of the parameter builder.
        what: &'static str,
        /// Value that the request gave to the refused setting.
        got: String,
        /// Values that the refused setting may have.
        expected: String,
    },
    /// Error: no BGV parameter set meets the request.
    #[error(transparent)]
    NothingFits(#[from] Box<NothingFits>),
    /// Error: an operation on lists was given an empty one.
    #[error("{what} needs at least one term")]
    Empty {
        /// Name of the operation that was given an empty list.
        what: &'static str,
    },
    /// Error of plaintexts and encoders.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
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
