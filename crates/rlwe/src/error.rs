//! Errors of the RLWE layer.

use std::error::Error;
use std::fmt;

use sunzi_ring::{GadgetOptions, RingError};

use crate::rotation::{missing, remedy};
use crate::wire::Fault;
use crate::words::bytes;
use crate::{SecretDistribution, Security};

/// An error of the RLWE layer: what was expected, what came, what to do.
///
/// ```
/// use sunzi_rlwe::{GaloisKeys, RlweContext, RlweError, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(&context, &mut rng)?;
/// let keys = GaloisKeys::none(&context, secret.id());
/// let Err(error) = keys.get(3) else { panic!("there is no key") };
/// assert!(matches!(error, RlweError::MissingGaloisKey { exponent: 3, index: 128, .. }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RlweError {
    /// The modulus of a key is too large for the security level asked for.
    #[error(
        "a modulus of {log2_modulus:.1} bits at ring degree {degree} does not reach {security} security \
         ({}); use a larger ring or a smaller modulus",
        describe_limit(*limit, *secret)
    )]
    Insecure {
        /// Ring degree n of the insecure parameters.
        degree: usize,
        /// Size log2 of the modulus of keys, special moduli included.
        log2_modulus: f64,
        /// Distribution of the coefficients of the secret.
        secret: SecretDistribution,
        /// Limit of the security table on log2 of the modulus, if it has one.
        limit: Option<u32>,
        /// Security level that was asked for.
        security: Security,
    },
    /// An object needs more memory than the machine has left.
    #[error(
        "this takes about {} of memory, {} is left: take smaller parameters, fewer keys, or another machine",
        bytes(*needed), bytes(*available)
    )]
    Memory {
        /// Number of bytes of memory that the object takes.
        needed: u64,
        /// Number of bytes of memory that are available.
        available: u64,
    },
    /// Two objects belong to different secret keys.
    #[error("{what} belongs to another secret key than the ciphertext: use the keys made together with it")]
    KeyMismatch {
        /// Name of the object that belongs to another secret key.
        what: &'static str,
    },
    /// Keys of a linear map are used with the tables of another map.
    #[error(
        "the keys are those of another linear map: make them from the parameters that the map was made from"
    )]
    MapMismatch,
    /// A key-switching key was made with other digits than the context uses.
    #[error(
        "the key is for {got}, the context uses {expected}; make the key in a context of the same \
         parameters, algorithms included"
    )]
    GadgetMismatch {
        /// Gadget options of the context.
        expected: GadgetOptions,
        /// Gadget options of the key.
        got: GadgetOptions,
    },
    /// A key-switching key has a level below that of the ciphertext.
    #[error(
        "the key is for ciphertexts of at most {key} moduli, this one has {ciphertext}; switch it down first or \
         make the key for a higher level"
    )]
    KeyLevel {
        /// Level of the key: the largest number of moduli of ciphertexts that the key can switch.
        key: usize,
        /// Level of the ciphertext: its number of moduli.
        ciphertext: usize,
    },
    /// The Galois key for the automorphism asked for is missing.
    #[error(
        "{}; make it with {}",
        missing(*exponent, *index, present), remedy(*exponent, *index)
    )]
    MissingGaloisKey {
        /// Exponent k of the automorphism X → X^k.
        exponent: u64,
        /// Index m of the ring.
        index: u64,
        /// Exponents of the Galois keys that exist, in ascending order.
        present: Vec<u64>,
    },
    /// A product was asked for, and the evaluation keys have no relinearisation key.
    #[error(
        "products take a relinearisation key, which these evaluation keys lack: make them with evaluation_keys of the context"
    )]
    MissingRelinearizationKey,
    /// Two rows of slots cannot be rotated in a ring that has no rows.
    #[error(
        "the ring of index {index} has no two rows of slots: rotate along the dimensions of its own slots, by automorphisms"
    )]
    NoRows {
        /// Index m of the ring.
        index: u64,
    },
    /// A real ring was given to what takes the whole ring.
    #[error(
        "{what} takes the whole ring, and this one has its real elements alone; make parameters without real slots"
    )]
    RealRing {
        /// Scheme or operation that takes the whole ring.
        what: &'static str,
    },
    /// A ciphertext has the wrong number of parts for an operation.
    #[error("{operation} needs a ciphertext of {expected} parts, this one has {got}; {remedy}")]
    WrongPartCount {
        /// Name of the operation on the ciphertext.
        operation: &'static str,
        /// Number of parts that the operation takes, in words.
        expected: &'static str,
        /// Number of parts of the ciphertext.
        got: usize,
        /// Advice to the caller how to get the right number of parts.
        remedy: &'static str,
    },
    /// An integer has another number of ciphertexts than there are plaintext moduli.
    #[error("{got} ciphertexts cannot hold integers modulo {expected} plaintext moduli: each takes one")]
    CiphertextCount {
        /// Number of plaintext moduli, each of which takes a ciphertext.
        expected: usize,
        /// Number of ciphertexts that were given.
        got: usize,
    },
    /// A setting of shared decryptions is not possible.
    #[error("{what}: {got} is not possible; give {expected}")]
    Sharing {
        /// Name of the setting of shared decryptions.
        what: &'static str,
        /// Values that are possible for the setting of shared decryptions, in words.
        expected: String,
        /// Value that was given for the setting of shared decryptions.
        got: String,
    },
    /// All decryptions that the policy of a key allows were shared.
    #[error("all {queries} decryptions that may be shared under this key were shared: make a new key")]
    SharingSpent {
        /// Number of shared decryptions that the policy allows.
        queries: u64,
    },
    /// The noise bound that a ciphertext carries is above the declared bound.
    #[error(
        "the ciphertext says its noise may reach 2^{claimed:.1}, declared are 2^{declared:.1}: declare the bound of the program \
         that made it"
    )]
    NoiseDeclaredTooLow {
        /// Declared noise bound, as log2.
        declared: f64,
        /// Noise bound that the ciphertext carries, as log2.
        claimed: f64,
    },
    /// The ciphertext modulus is too small for the flooding noise that hides the ciphertext's noise.
    #[error(
        "sharing this result takes {bits_short:.1} bits more than its modulus holds beside the declared noise of 2^{declared:.1}: \
         build the parameters with the option `sharing`, share fewer results, or ask for fewer statistical bits"
    )]
    SharingRoom {
        /// Number of bits that the ciphertext modulus lacks.
        bits_short: f64,
        /// Declared noise of the ciphertext, as log2.
        declared: f64,
    },
    /// The ciphertext modulus is too small for one more re-encryption.
    #[error(
        "re-encryption number {hop} takes {bits_short:.1} bits more than the modulus of the ciphertext holds beside the declared noise of \
         2^{declared:.1}: build the parameters with the option `reencryptions`, or ask for fewer statistical bits or results"
    )]
    ReencryptionRoom {
        /// Number of the re-encryption of the ciphertext, from 1 on.
        hop: u32,
        /// Number of bits that the ciphertext modulus lacks.
        bits_short: f64,
        /// Declared noise of the ciphertext, as log2.
        declared: f64,
    },
    /// A re-encryption key was asked for that leads to where it starts.
    #[error(
        "a re-encryption key leads to the key of somebody else, and this is the public key of the same secret"
    )]
    SameKey,
    /// A rekeying key was asked for that leads from a secret to itself.
    #[error(
        "a rekeying key leads from an old secret key to a new one, and both are the same: make a new one"
    )]
    SameSecret,
    /// The file that counts shared decryptions failed.
    #[error("the sharing ledger: {0}")]
    Ledger(#[source] LedgerError),
    /// Shares of several parties do not make one key or one result.
    #[error(
        "{what}: expected {expected}, got {got}; all parties make their shares for one reference, context and list of keys"
    )]
    Shares {
        /// Name of the property in which the shares disagree.
        what: &'static str,
        /// Value that the property must have in every share.
        expected: String,
        /// Value of the property in a share that has another one.
        got: String,
    },
    /// The random generator of the operating system failed.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(String),
    /// An error of the ring layer.
    #[error(transparent)]
    Ring(#[from] RingError),
}

fn describe_limit(limit: Option<u32>, secret: SecretDistribution) -> String {
    match (limit, secret) {
        (Some(bits), SecretDistribution::Ternary | SecretDistribution::Joint(_)) => {
            format!("the limit is {bits} bits")
        }
        (Some(bits), secret) => format!("the limit is {bits} bits for {secret}"),
        (None, SecretDistribution::Ternary | SecretDistribution::Joint(_)) => {
            "the table has no entry for this degree".to_owned()
        }
        (None, secret) => format!("the table has no entry for this degree and {secret}"),
    }
}

/// An error of the file of a sharing ledger, with the text of the error that the file gave.
#[derive(Debug)]
pub struct LedgerError {
    fault: Fault,
    error: Box<dyn Error + Send + Sync>,
}

impl LedgerError {
    /// Wraps an error of a ledger's file that `fault` caused.
    pub(crate) fn new(fault: Fault, error: impl Error + Send + Sync + 'static) -> Self {
        Self { fault, error: Box::new(error) }
    }

    /// Returns which side caused the error of the ledger's file.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for LedgerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
