//! Secret files at rest: encrypted under a passphrase.
//!
//! [`lock`] encrypts a file with a secret, and [`unlock`] gives its bytes back; [`files`] reads and writes secret keys. The key is derived from the passphrase by Argon2id (RFC 9106), whose [`Cost`] the file
//! says; the cipher is XChaCha20-Poly1305. Everything that is not encrypted is authenticated: the header, which names parameters and key as the secret's own does, the
//! cost, the salt and the nonce. So a file that was changed, and a passphrase that is wrong, are refused, and nothing tells one from the other.
//!
//! [`lock_under`] encrypts a file under a data key that a key management service wraps, and which the file keeps wrapped. [`Properties`] are label and expiry of a key, in a file that the secret
//! key authenticates, and [`log`] is the audit log of what was opened with it.
//!
//! A passphrase that can be guessed protects nothing: whoever has the file tries as many as they like, each at the cost that the file says.
//!
//! ```
//! use sunzi_keystore::{Cost, Passphrase, lock, unlock};
//! use sunzi_rlwe::wire::{Header, Kind, to_bytes};
//! use sunzi_rlwe::{RlweContext, SecretKey, Security, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let ring = sunzi_ring::Ring::new(128, &sunzi_math::primes_below(1 << 47, 128, 2)?)?;
//! # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
//! # let cost = Cost { memory: 64, passes: 1, lanes: 1 };
//! let mut rng = randomness::from_os()?;
//! let secret = to_bytes(&context, &SecretKey::generate(&context, &mut rng)?)?;
//! let passphrase = Passphrase::new("correct horse battery staple")?;
//! # let default =
//! Cost::default()
//! # ; assert!(default.memory > 1 << 15)
//! ;
//! let locked = lock(&secret, &passphrase, cost, &mut rng)?;
//! assert_eq!(Header::read(&mut &locked[..])?.kind, Kind::LockedSecret as u16);
//! assert_eq!(*unlock(&locked, &passphrase)?, secret);
//! assert!(unlock(&locked, &Passphrase::new("battery staple")?).is_err());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod cost;
pub mod files;
mod locked;
pub mod log;
mod passphrase;
mod properties;
mod time;
mod wrapped;

pub use cost::Cost;
pub use locked::{LONGEST, cost_of, lock, unlock};
pub use passphrase::{LONGEST_PASSPHRASE, Passphrase};
pub use properties::{LONGEST_PROPERTIES, Label, Properties, StoredProperties};
pub use time::Time;
pub use wrapped::{DataKey, LONGEST_WRAPPED, lock_under, unlock_under, wrapped_key};

use sunzi_rlwe::wire::WireError;

/// An error of a secret file under a passphrase.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeystoreError {
    /// The passphrase cannot be one.
    #[error("a passphrase of {got} bytes: expected 1 to {LONGEST_PASSPHRASE}")]
    PassphraseLength {
        /// Number of bytes of the passphrase.
        got: usize,
    },
    /// The passphrase is another one, or the file was changed.
    #[error(
        "this passphrase does not open the file: try again, or take a copy of the file if it may be damaged"
    )]
    PassphraseWrong,
    /// The data key is another one, or the file was changed.
    #[error(
        "this data key does not open the file: unwrap the one that the file has, or take a copy of the file if it may be damaged"
    )]
    DataKeyWrong,
    /// A data key has another length.
    #[error("a data key of {got} bytes: expected 32, as they were before they were wrapped")]
    DataKeyLength {
        /// Number of bytes that came.
        got: usize,
    },
    /// A wrapped data key is too long, or is none.
    #[error("a wrapped data key of {got} bytes: expected 1 to {LONGEST_WRAPPED}")]
    WrappedLength {
        /// Number of bytes that came.
        got: usize,
    },
    /// The file is under a passphrase, and none was given.
    #[error("the secret key is under a passphrase: give it")]
    PassphraseMissing,
    /// The file asks for a derivation that is not taken.
    #[error("{what} of the derivation: expected {expected}, got {got}")]
    DerivationCost {
        /// Name of the number that is out of range.
        what: &'static str,
        /// Numbers that are taken, in words.
        expected: String,
        /// Number that came.
        got: u32,
    },
    /// The derivation failed, for want of memory.
    #[error("a derivation with {0} KiB of memory failed: free some, or take another machine")]
    DerivationMemory(u32),
    /// Somebody without the secret key set the label and the expiry.
    #[error("label and expiry of this key were changed by somebody who does not have it: set them again")]
    PropertiesChanged,
    /// The file holds no secret.
    #[error("expected a file with a secret, got {0}")]
    NotSecret(String),
    /// The file is none of a secret under a passphrase, or is damaged.
    #[error(transparent)]
    Wire(#[from] WireError),
}
