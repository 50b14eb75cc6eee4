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

mod decryption;
mod galois;
mod public_key;
mod reference;
mod relinearization;

pub use decryption::{DecryptionShare, combined_phase};
pub use galois::GaloisShares;
pub use public_key::PublicKeyShare;
pub use reference::Reference;
pub use relinearization::{RelinearizationShare, RelinearizationSum, RoundTwoShare};

use sunzi_ring::{Evaluation, Gadget, Poly, Ring};

use crate::{RlweContext, RlweError};

/// Fails unless there is one share of every party of the context's joint secrets.
fn check_count(context: &RlweContext, shares: usize) -> Result<(), RlweError> {
    let parties = context.secrets().parties() as usize;
    if parties < 2 {
        return Err(disagree("the context", "one for joint secrets", context.secrets()));
    }
    if shares == parties { Ok(()) } else { Err(disagree("the number of shares", parties, shares)) }
}

/// Fails unless all shares have the digits of a gadget: what is missing would be missing in the sum.
fn check_digits(gadget: &Gadget, counts: impl IntoIterator<Item = usize>) -> Result<(), RlweError> {
    let expected = gadget.digit_count();
    match counts.into_iter().find(|&count| count != expected) {
        Some(count) => Err(disagree("the number of digits of key shares", expected, count)),
        None => Ok(()),
    }
}

fn disagree(what: &'static str, expected: impl ToString, got: impl ToString) -> RlweError {
    RlweError::Shares { what, expected: expected.to_string(), got: got.to_string() }
}

/// Returns the sum of polynomials of a ring.
fn sum<'a>(
    ring: &Ring,
    polys: impl IntoIterator<Item = &'a Poly<Evaluation>>,
) -> Result<Poly<Evaluation>, RlweError> {
    let mut sum = ring.zero();
    for poly in polys {
        ring.add_assign(&mut sum, poly)?;
    }
    Ok(sum)
}
