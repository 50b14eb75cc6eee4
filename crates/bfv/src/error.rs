//! Errors of BFV.

use sunzi_encoding::EncodingError;
use sunzi_kernels::KernelError;
use sunzi_math::MathError;
use sunzi_ring::RingError;
use sunzi_rlwe::{ModuliError, RlweError, Trace};

use crate::refusal::NothingFits;

/// An error of the BFV layer: what was expected, what came, what to do.
///
/// ```
/// use sunzi_bfv::{BatchEncoder, BfvError, Context, Encoder, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(1).plain_modulus(257).log2_degree(7);
/// # let parameters = parameters.security(sunzi_rlwe::Security::InsecureForResearchOnly).build()?;
/// # let context = Context::new(&parameters)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// # let a = context.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
/// let other = context.with_plain_modulus(769)?;
/// let Err(error) = other.decrypt(&a, &secret) else { panic!("the moduli differ") };
/// assert!(matches!(error, BfvError::PlainModulusMismatch { expected: 769, got: 257 }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BfvError {
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
    /// Error: the moduli do not allow an option of the algorithms.
    #[error("algorithms: {0}")]
    Algorithms(#[source] RingError),
    /// Error: a ciphertext lacks moduli of the context.
    #[error("the ciphertext has the first {got} of {expected} moduli: use the context it was made in")]
    LevelMismatch {
        /// Number of moduli of the context.
        expected: usize,
        /// Number of moduli of the ciphertext.
        got: usize,
    },
    /// Error: the ciphertext moduli and special moduli make no ring.
    #[error(transparent)]
    Moduli(#[from] ModuliError),
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
    /// Error: no BFV parameter set meets the request.
    #[error(transparent)]
    NothingFits(#[from] Box<NothingFits>),
    /// Error: the noise bound of a ciphertext does not guarantee a right decryption.
    #[error(
        "the noise may exceed what decryption tolerates by {bits_short:.1} bits ({}): choose parameters for \
         more depth, or fewer operations",
        trace.summary()
    )]
    NoiseExhausted {
        /// Bits by which the noise exceeds the capacity.
        bits_short: f64,
        /// Trace of the operations that made the noise.
        trace: Trace,
    },
    /// Error: BFV products do not have the level that was asked for.
    #[error("products at level {got} do not exist: expected one from 1 to {highest}")]
    LevelMissing {
        /// Level of products that was asked for.
        got: usize,
        /// Highest level that products have.
        highest: usize,
    },
    /// Error: this build lacks a part of the library.
    #[error("{what} need the feature `{feature}`, which this build lacks: build with `--features {feature}`")]
    MissingFeature {
        /// Part of the library that was asked for.
        what: &'static str,
        /// Feature of this crate, and of the crates above, that adds the part.
        feature: &'static str,
    },
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
    /// Error of the arithmetic kernels.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}
