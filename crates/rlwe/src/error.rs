//! What can go wrong in the RLWE layer.

use sunzi_ring::{GadgetOptions, RingError};

use crate::rotation::{describe, describe_all};
use crate::{SecretDistribution, Security};

/// An error of the RLWE layer: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RlweError {
    /// The modulus of a key is too large for the security asked for.
    #[error(
        "a modulus of {log2_modulus:.1} bits at ring degree {degree} does not reach {security} security \
         ({}); use a larger ring or a smaller modulus",
        describe_limit(*limit, *secret)
    )]
    Insecure {
        /// Ring degree n.
        degree: usize,
        /// log2 of the modulus, special modulus included.
        log2_modulus: f64,
        /// How the secret is drawn.
        secret: SecretDistribution,
        /// The table's limit in bits, if it has one.
        limit: Option<u32>,
        /// The security asked for.
        security: Security,
    },
    /// More memory than the machine has left.
    #[error(
        "this takes about {needed} bytes of memory, {available} are left: take smaller parameters, fewer keys, or another machine"
    )]
    Memory {
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// Two objects belong to different secret keys.
    #[error("{what} belongs to another secret key than the ciphertext: use the keys made together with it")]
    KeyMismatch {
        /// The object that does not fit.
        what: &'static str,
    },
    /// A key was made with other digits than the context uses.
    #[error(
        "the key is for {got}, the context uses {expected}; make the key in a context of the same \
         parameters, algorithms included"
    )]
    GadgetMismatch {
        /// The options of the context.
        expected: GadgetOptions,
        /// The options of the key.
        got: GadgetOptions,
    },
    /// A key of a level below that of a ciphertext.
    #[error(
        "the key is for ciphertexts of at most {key} moduli, this one has {ciphertext}; switch it down first or \
         make the key for a higher level"
    )]
    KeyLevel {
        /// The level of the key.
        key: usize,
        /// The level of the ciphertext.
        ciphertext: usize,
    },
    /// No Galois key for the automorphism asked for.
    #[error(
        "there is no Galois key for {} (X -> X^{exponent}): generate one; there are keys for: {}",
        describe(*exponent, *index), describe_all(present, *index)
    )]
    MissingGaloisKey {
        /// The exponent k of X → X^k.
        exponent: u64,
        /// The ring index m.
        index: u64,
        /// The exponents at hand, in ascending order.
        present: Vec<u64>,
    },
    /// Rotations of two rows of slots in a ring that has none.
    #[error(
        "the ring of index {index} has no two rows of slots: rotate along the dimensions of its own slots, by automorphisms"
    )]
    NoRows {
        /// The ring index m.
        index: u64,
    },
    /// A ciphertext has the wrong number of parts for an operation.
    #[error("{operation} needs a ciphertext of {expected} parts, this one has {got}; {remedy}")]
    WrongPartCount {
        /// The operation.
        operation: &'static str,
        /// Parts it takes, in words.
        expected: &'static str,
        /// Parts that came.
        got: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// A setting of shared decryptions that is not possible.
    #[error("{what}: {got} is not possible; give {expected}")]
    Sharing {
        /// The setting.
        what: &'static str,
        /// What is possible.
        expected: String,
        /// What came.
        got: String,
    },
    /// As many decryptions were shared under a key as its policy allows.
    #[error("all {queries} decryptions that may be shared under this key were shared: make a new key")]
    SharingSpent {
        /// How many.
        queries: u64,
    },
    /// A ciphertext says that its noise is above what was declared.
    #[error(
        "the ciphertext says its noise may reach 2^{claimed:.1}, declared are 2^{declared:.1}: declare the bound of the program \
         that made it"
    )]
    NoiseDeclaredTooLow {
        /// log2 of the declared bound.
        declared: f64,
        /// log2 of the ciphertext's.
        claimed: f64,
    },
    /// No room for the noise that hides the ciphertext's.
    #[error(
        "sharing this result takes {bits_short:.1} bits more than its modulus holds beside the declared noise of 2^{declared:.1}: \
         build the parameters with the option `sharing`, share fewer results, or ask for fewer statistical bits"
    )]
    SharingRoom {
        /// Bits that are missing.
        bits_short: f64,
        /// log2 of the declared noise.
        declared: f64,
    },
    /// The file that counts shared decryptions.
    #[error("the sharing ledger: {0}")]
    Ledger(#[source] Box<crate::wire::WireError>),
    /// The operating system gave no randomness.
    #[error("the operating system's random generator failed: {0}")]
    Randomness(String),
    /// An error of the ring below.
    #[error(transparent)]
    Ring(#[from] RingError),
}

fn describe_limit(limit: Option<u32>, secret: SecretDistribution) -> String {
    match (limit, secret) {
        (Some(bits), SecretDistribution::Ternary) => format!("the limit is {bits} bits"),
        (Some(bits), secret) => format!("the limit is {bits} bits for {secret}"),
        (None, SecretDistribution::Ternary) => "the table has no entry for this degree".to_owned(),
        (None, secret) => format!("the table has no entry for this degree and {secret}"),
    }
}
