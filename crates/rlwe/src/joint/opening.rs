//! What the parties of a decryption agree on: the parts of a ciphertext, and the flooding noise that each of them adds.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Poly};
use zeroize::Zeroizing;

use super::{AdditiveSecret, DecryptionShare, Quorum, combined_phase};
use crate::sharing::Flooding;
use crate::{RlweContext, RlweError};

/// A ciphertext (c_0, c_1) as its parties decrypt it together, at the lowest level that holds the result, and the flooding noise of each party.
///
/// Contexts of schemes make it from a ciphertext, a declared noise and a policy, and every party makes the same of the same: shares belong to
/// these parts and to no others.
#[derive(Clone)]
pub struct JointDecryption {
    parts: [Poly<Evaluation>; 2],
    flooding: Flooding,
}

impl JointDecryption {
    /// Makes the joint decryption of the parts of a ciphertext, brought to a level that is nested in theirs.
    ///
    /// # Errors
    /// [`RlweError::WrongPartCount`] unless there are two parts; [`RlweError::Ring`] for a level that they do not have.
    pub fn new(
        context: &RlweContext,
        parts: &[Poly<Evaluation>],
        level: usize,
        flooding: Flooding,
    ) -> Result<Self, RlweError> {
        let [constant, linear] = parts else {
            let operation = "a decryption by several parties";
            let remedy = "relinearise it first";
            return Err(RlweError::WrongPartCount { operation, expected: "two", got: parts.len(), remedy });
        };
        let ring = context.ring();
        let parts = [ring.restrict(constant, level)?, ring.restrict(linear, level)?];
        Ok(Self { parts, flooding })
    }

    /// The part c_1, of which parties make their shares.
    #[must_use]
    pub fn linear(&self) -> &Poly<Evaluation> {
        let [_, linear] = &self.parts;
        linear
    }

    /// The flooding noise that each party adds to its share.
    #[must_use]
    pub fn flooding(&self) -> &Flooding {
        &self.flooding
    }

    /// Makes the share of the party that holds `secret`, or of one in a quorum. Each one is a query that the party's ledger counts before the share leaves, and none is
    /// made twice for one ciphertext: two of them would tell the noise by half of its width.
    ///
    /// # Errors
    /// Every error of [`DecryptionShare::new`].
    pub fn share(
        &self,
        context: &RlweContext,
        secret: &impl AdditiveSecret,
        rng: &mut dyn CryptoRng,
    ) -> Result<DecryptionShare, RlweError> {
        DecryptionShare::new(context, self.linear(), secret, &self.flooding, rng)
    }

    /// Returns the phase c_0 + Σ (s_i·c_1 + E_i) from the shares of all parties, or of a quorum. It is secret: erased when dropped.
    ///
    /// # Errors
    /// Every error of [`combined_phase`].
    pub fn combine<'s>(
        &self,
        context: &RlweContext,
        quorum: Option<&Quorum>,
        shares: impl IntoIterator<Item = &'s DecryptionShare, IntoIter: ExactSizeIterator>,
    ) -> Result<Zeroizing<Poly<Coefficient>>, RlweError> {
        let [constant, _] = &self.parts;
        combined_phase(context, constant, quorum, shares)
    }
}
