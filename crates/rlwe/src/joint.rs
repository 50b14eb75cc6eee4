//! Keys of a joint secret s = Σ s_i, of which each party knows its own s_i alone `[MTBH21]`.
//!
//! Every party makes shares from its own secret and a common [`Reference`], and anybody adds them up: a share of a public key or a Galois key is
//! such a key under s_i with the uniform halves of the reference, so that their sum is a key under s. A relinearisation key takes two rounds,
//! since s² is no sum of what parties know ([`RelinearizationShare`]).
//!
//! Contexts are those of [`SecretDistribution::Joint`](crate::SecretDistribution::Joint), whose noise bounds count the errors of all parties.
//!
//! **What this layer leaves open.** Shares are arithmetic: who sent one, in which round, and whether a share was made as it should be is not checked here.
//! Parties are taken to follow the protocol. A reference must be random, and none may serve twice: two shares of one secret for one reference
//! differ by their errors alone.

mod contexts;
mod decryption;
mod encryption;
mod galois;
mod opening;
mod public_key;
mod reference;
mod relinearization;
mod switching;
mod threshold;
mod transform;

pub use contexts::{ExactJointContext, JointContext, Opening};
pub use decryption::{DecryptionShare, combined_phase};
pub use encryption::{EncryptionShare, RefreshShare};
pub(crate) use galois::GaloisHalf;
pub use galois::GaloisShares;
pub use opening::JointDecryption;
pub use public_key::PublicKeyShare;
pub use reference::Reference;
pub(crate) use relinearization::gadget_at;
pub use relinearization::{EphemeralSecret, RelinearizationShare, RelinearizationSum, RoundTwoShare};
pub use switching::{KeySwitchShare, PublicKeySwitchShare};
pub(crate) use threshold::Point;
pub use threshold::{AdditiveSecret, Quorum, QuorumSecret, ThresholdPiece, ThresholdShare};
pub use transform::MaskedTransform;

use sunzi_ring::Gadget;

use crate::{KeyId, RlweContext, RlweError};

/// Fails unless there is one share of every party of the context's joint secrets.
fn check_count(context: &RlweContext, shares: usize) -> Result<(), RlweError> {
    let parties = context.parties() as usize;
    if parties < 2 {
        return Err(disagree("the context", "one for joint secrets", context.secrets()));
    }
    if shares == parties { Ok(()) } else { Err(disagree("the number of shares", parties, shares)) }
}

/// Fails unless there are as many shares as the quorum, or without one the context, has parties.
fn check_shares(context: &RlweContext, quorum: Option<&Quorum>, shares: usize) -> Result<(), RlweError> {
    match quorum.map(|quorum| quorum.parties().len()) {
        None => check_count(context, shares),
        Some(parties) if parties == shares => Ok(()),
        Some(parties) => Err(disagree("the number of shares", parties, shares)),
    }
}

/// Fails unless all shares have the digits of a gadget: what is missing would be missing in the sum.
fn check_digits(gadget: &Gadget, counts: impl IntoIterator<Item = usize>) -> Result<(), RlweError> {
    let expected = gadget.digit_count();
    match counts.into_iter().find(|&count| count != expected) {
        Some(count) => Err(disagree("the number of digits of key shares", expected, count)),
        None => Ok(()),
    }
}

/// Fails unless all shares are for the joint secret of a reference.
fn check_reference(reference: &Reference, keys: impl IntoIterator<Item = KeyId>) -> Result<(), RlweError> {
    let expected = reference.key_id();
    match keys.into_iter().find(|&key| key != expected) {
        Some(other) => Err(disagree("the joint secret of key shares", expected, other)),
        None => Ok(()),
    }
}

/// Returns the joint secret itself, which nobody may know: for tests and research.
///
/// # Errors
/// [`RlweError::Shares`] unless there are the secrets of all parties; [`RlweError::Ring`] for secrets of another ring.
#[cfg(feature = "danger")]
pub fn joint_secret(
    context: &RlweContext,
    reference: &Reference,
    secrets: &[crate::SecretKey],
) -> Result<crate::SecretKey, RlweError> {
    check_count(context, secrets.len())?;
    let mut sum = zeroize::Zeroizing::new(vec![0; context.key_ring().degree()]);
    for secret in secrets {
        let own = secret.coefficients(context)?;
        sum.iter_mut().zip(own.iter()).for_each(|(sum, own)| *sum += own);
    }
    crate::SecretKey::from_coefficients(context, reference.key_id(), &sum)
}

fn disagree(what: &'static str, expected: impl ToString, got: impl ToString) -> RlweError {
    RlweError::Shares { what, expected: expected.to_string(), got: got.to_string() }
}
