//! Decryption under a joint secret: each party's product of c_1 with its own secret, hidden by noise.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Poly, secret_coefficients};
use zeroize::Zeroizing;

use super::{AdditiveSecret, Quorum, check_shares};
use crate::sharing::Flooding;
use crate::{RlweContext, RlweError};

/// A party's share s_i·c_1 + E_i of the decryption of a ciphertext (c_0, c_1), E_i flooding noise of its own.
///
/// Parties that know all other shares and the result know the noise of the ciphertext beside E_i, so the flooding noise of every party hides it alone: it is as
/// wide as that of one key holder who shares the result ([`sharing`](crate::sharing)), and results have the noise of all.
#[derive(Clone)]
pub struct DecryptionShare(pub(crate) Poly<Evaluation>);

impl DecryptionShare {
    /// Makes the share of the party that holds `secret`, or of one in a quorum, of the part c_1 of a ciphertext of any level.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if c_1 or the secret belongs to another ring.
    pub fn new(
        context: &RlweContext,
        linear: &Poly<Evaluation>,
        secret: &impl AdditiveSecret,
        flooding: &Flooding,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let level = context.ring().level_of(linear)?;
        let ring = context.ring_at(level)?;
        let s = secret.at_level(context, level)?;
        // The noise alone is secret: it is erased where it does not become a share.
        let noise = flooding.sample(&ring, rng)?;
        let mut share = Zeroizing::new(ring.to_evaluation((*noise).clone())?);
        ring.mul_add_assign(&mut share, linear, &s)?;
        Ok(Self(std::mem::replace(&mut *share, ring.zero())))
    }

    /// Returns the level of the ciphertext to whose decryption the share belongs.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a share of another ring.
    pub fn level(&self, context: &RlweContext) -> Result<usize, RlweError> {
        Ok(context.ring().level_of(&self.0)?)
    }

    /// Makes the share s_i·c_1 − M_i of a message from which a mask M_i was taken that is so wide that it takes the place of the flooding noise.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if c_1, the mask or the secret belongs to another ring.
    pub fn masked_by(
        context: &RlweContext,
        linear: &Poly<Evaluation>,
        secret: &impl AdditiveSecret,
        mask: &Poly<Evaluation>,
    ) -> Result<Self, RlweError> {
        let level = context.ring().level_of(linear)?;
        let ring = context.ring_at(level)?;
        let s = secret.at_level(context, level)?;
        let mut share = Zeroizing::new(mask.clone());
        ring.neg_assign(&mut share)?;
        ring.mul_add_assign(&mut share, linear, &s)?;
        Ok(Self(std::mem::replace(&mut *share, ring.zero())))
    }

    /// Returns the share of a message from which a mask was taken: the parties together open the difference, and each keeps its own mask as an
    /// additive share of the message.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a mask of another level.
    pub fn masked(mut self, context: &RlweContext, mask: &Poly<Evaluation>) -> Result<Self, RlweError> {
        let level = context.ring().level_of(&self.0)?;
        context.ring_at(level)?.sub_assign(&mut self.0, mask)?;
        Ok(self)
    }
}

/// Returns the phase c_0 + Σ (s_i·c_1 + E_i) of a ciphertext from its part c_0 and the shares of all parties, or of a quorum. It is secret: erased when
/// dropped.
///
/// # Errors
/// [`RlweError::Shares`] unless there are as many shares as the quorum, or without one the context, has parties; [`RlweError::Ring`] for parts of
/// other levels.
pub fn combined_phase<'s>(
    context: &RlweContext,
    constant: &Poly<Evaluation>,
    quorum: Option<&Quorum>,
    shares: impl IntoIterator<Item = &'s DecryptionShare, IntoIter: ExactSizeIterator>,
) -> Result<Zeroizing<Poly<Coefficient>>, RlweError> {
    let shares = shares.into_iter();
    check_shares(context, quorum, shares.len())?;
    let ring = context.ring_at(context.ring().level_of(constant)?)?;
    let values = Zeroizing::new(ring.sum(shares.map(|share| &share.0).chain([constant]))?);
    Ok(secret_coefficients(&ring, values)?)
}
