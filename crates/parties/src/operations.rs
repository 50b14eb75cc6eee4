//! Operations on a ciphertext that parties do by one share each: a refresh, a switch to the public key of somebody else or to another joint secret, additive shares of a message.
//!
//! They are requests and answers as those of a [decryption](crate::decryption), and guard the same. What is of a scheme stands with the caller: it makes the share, from what
//! [`Making`] says, and puts the shares of all together ([`JointContext`](sunzi_rlwe::joint::JointContext), [`ExactJointContext`](sunzi_rlwe::joint::ExactJointContext),
//! CKKS's `Context::refresh` and `Context::additive_share`, [`PublicKeySwitchShare`], [`KeySwitchShare`]).
//!
//! * **A share is made once** for a part c_1, an operation and a quorum, and is kept before it is sent. Asked again the party sends the same; another request for the same part, whose
//!   session is another one, is refused: two draws would halve the variance of what hides the noise.
//! * **Every share counts** in the ledger. In BFV and BGV a refresh opens noise beside flooding noise, as every decryption does; in CKKS masks are as wide as the number of shared
//!   results asks.
//! * **The seed of an encryption by shares** follows from the session of the request and the ciphertext's hash, so that it serves once.
//!
//! ```
//! use sunzi_parties::operations::{Making, Refresh, Given};
//! use sunzi_parties::decryption::{Decryptor, Subject};
//! use sunzi_parties::operations::OperationRequest;
//! use sunzi_parties::{MemoryStore, PartiesError};
//! use sunzi_rlwe::DeclaredNoise;
//! use sunzi_rlwe::joint::RefreshShare;
//!
//! /// What a party does with a request that it holds for right; `share` is the scheme's.
//! fn refresh(
//!     party: &mut Decryptor<MemoryStore>,
//!     request: &OperationRequest<Refresh>,
//!     subject: Subject<'_>,
//!     noise: DeclaredNoise,
//!     share: impl FnOnce(&Making<'_>) -> Result<RefreshShare, PartiesError>,
//! ) -> Result<Given, PartiesError> {
//!     let reviewed = party.review_operation(request, subject, noise, &())?;
//!     party.answer_operation(reviewed, |making| share(making).map(Into::into))
//! }
//! ```

mod answer;
mod collect;
mod request;

use sunzi_rlwe::joint::{DecryptionShare, KeySwitchShare, PublicKeySwitchShare, RefreshShare};
use sunzi_rlwe::wire::{self, Kind, WireError};
use sunzi_rlwe::{KeyId, PublicKey, RlweContext};

use crate::digest::{Digest, digest};
use crate::{PartiesError, Step, lengths};

pub use answer::{Given, Made, Making, ReviewedOperation};
pub use collect::OperationCollector;
pub use request::OperationRequest;

/// An operation that parties do by one share each. Those of this module alone.
pub trait Operation: sealed::Sealed + Sized {
    /// Share of a party.
    type Share;
    /// What the result is for, besides the ciphertext.
    type Target;
    /// Step of the answers.
    const STEP: Step;
    /// Kind of requests.
    const REQUEST: Kind;
    /// Name of the operation.
    const NAME: &'static str;
    /// Returns the hash of what the result is for.
    ///
    /// # Errors
    /// [`PartiesError::Wire`] for a target of another context.
    fn target(context: &RlweContext, target: &Self::Target) -> Result<[u8; 32], PartiesError>;
    /// Returns the largest number of bytes of a share for a ciphertext of a level.
    ///
    /// # Errors
    /// [`PartiesError::Rlwe`] for a level that is not there.
    fn most(context: &RlweContext, level: usize) -> Result<u64, PartiesError>;
    /// Returns the level at which a share opens the ciphertext.
    ///
    /// # Errors
    /// [`WireError`] for a share of another ring.
    fn level(context: &RlweContext, share: &Self::Share) -> Result<usize, WireError>;
    /// Returns the bytes of a share.
    ///
    /// # Errors
    /// [`WireError`] for a share of another context.
    fn write(context: &RlweContext, share: &Self::Share) -> Result<Vec<u8>, WireError>;
    /// Reads a share.
    ///
    /// # Errors
    /// Any [`WireError`].
    fn read(context: &RlweContext, bytes: &[u8]) -> Result<Self::Share, WireError>;
}

/// Refresh of a ciphertext: its noise, or its level, becomes that of a fresh one, and nobody learns the message.
pub enum Refresh {}

/// Switch of a ciphertext to the public key of somebody else, who alone can decrypt the result.
pub enum Switch {}

/// Additive shares of a message: each party that is asked keeps one, and whoever asks gets what is left of the message.
pub enum Additive {}

/// Switch of a ciphertext to another joint secret, of which the parties that are asked have secrets or shares too.
pub enum JointSwitch {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Refresh {}
    impl Sealed for super::Switch {}
    impl Sealed for super::Additive {}
    impl Sealed for super::JointSwitch {}
}

/// The hash that stands for no target.
const NONE: Digest = [0; 32];

impl Operation for Refresh {
    type Share = RefreshShare;
    type Target = ();
    const STEP: Step = Step::Refresh;
    const REQUEST: Kind = Kind::RefreshRequest;
    const NAME: &'static str = "refresh";

    fn target(_: &RlweContext, (): &()) -> Result<[u8; 32], PartiesError> {
        Ok(NONE)
    }

    fn most(context: &RlweContext, level: usize) -> Result<u64, PartiesError> {
        lengths::polynomials([&context.ring_at(level)?, context.ring()])
    }

    fn level(context: &RlweContext, share: &RefreshShare) -> Result<usize, WireError> {
        Ok(share.opening.level(context)?)
    }

    fn write(context: &RlweContext, share: &RefreshShare) -> Result<Vec<u8>, WireError> {
        wire::to_bytes(context, share)
    }

    fn read(context: &RlweContext, bytes: &[u8]) -> Result<RefreshShare, WireError> {
        wire::from_bytes(context, bytes)
    }
}

impl Operation for Switch {
    type Share = PublicKeySwitchShare;
    type Target = PublicKey;
    const STEP: Step = Step::Switch;
    const REQUEST: Kind = Kind::SwitchRequest;
    const NAME: &'static str = "switch";

    fn target(context: &RlweContext, target: &PublicKey) -> Result<[u8; 32], PartiesError> {
        Ok(digest("sunzi target of a switch", [&wire::to_bytes(context, target)?[..]]))
    }

    fn most(context: &RlweContext, level: usize) -> Result<u64, PartiesError> {
        let ring = context.ring_at(level)?;
        lengths::polynomials([&ring, &ring])
    }

    fn level(_: &RlweContext, share: &PublicKeySwitchShare) -> Result<usize, WireError> {
        Ok(share.level())
    }

    fn write(context: &RlweContext, share: &PublicKeySwitchShare) -> Result<Vec<u8>, WireError> {
        wire::to_bytes(context, share)
    }

    fn read(context: &RlweContext, bytes: &[u8]) -> Result<PublicKeySwitchShare, WireError> {
        wire::from_bytes(context, bytes)
    }
}

impl Operation for Additive {
    type Share = DecryptionShare;
    type Target = ();
    const STEP: Step = Step::Additive;
    const REQUEST: Kind = Kind::AdditiveRequest;
    const NAME: &'static str = "additive";

    fn target(_: &RlweContext, (): &()) -> Result<[u8; 32], PartiesError> {
        Ok(NONE)
    }

    fn most(context: &RlweContext, level: usize) -> Result<u64, PartiesError> {
        lengths::polynomial(&context.ring_at(level)?)
    }

    fn level(context: &RlweContext, share: &DecryptionShare) -> Result<usize, WireError> {
        Ok(share.level(context)?)
    }

    fn write(context: &RlweContext, share: &DecryptionShare) -> Result<Vec<u8>, WireError> {
        wire::to_bytes(context, share)
    }

    fn read(context: &RlweContext, bytes: &[u8]) -> Result<DecryptionShare, WireError> {
        wire::from_bytes(context, bytes)
    }
}

impl Operation for JointSwitch {
    type Share = KeySwitchShare;
    type Target = KeyId;
    const STEP: Step = Step::JointSwitch;
    const REQUEST: Kind = Kind::JointSwitchRequest;
    const NAME: &'static str = "joint-switch";

    fn target(_: &RlweContext, target: &KeyId) -> Result<[u8; 32], PartiesError> {
        Ok(digest("sunzi target of a switch to a joint secret", [&target.as_bytes()[..]]))
    }

    fn most(context: &RlweContext, level: usize) -> Result<u64, PartiesError> {
        lengths::polynomial(&context.ring_at(level)?)
    }

    fn level(context: &RlweContext, share: &KeySwitchShare) -> Result<usize, WireError> {
        Ok(share.level(context)?)
    }

    fn write(context: &RlweContext, share: &KeySwitchShare) -> Result<Vec<u8>, WireError> {
        wire::to_bytes(context, share)
    }

    fn read(context: &RlweContext, bytes: &[u8]) -> Result<KeySwitchShare, WireError> {
        wire::from_bytes(context, bytes)
    }
}
