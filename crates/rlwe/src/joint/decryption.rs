//! Decryption under a joint secret: each party's product of c_1 with its own secret, hidden by noise.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Poly, secret_coefficients};
use zeroize::Zeroizing;

use super::{check_count, sum};
use crate::sharing::Flooding;
use crate::{RlweContext, RlweError, SecretKey};

/// A party's share s_i·c_1 + E_i of the decryption of a ciphertext (c_0, c_1), E_i flooding noise of its own.
///
/// Parties that know all other shares and the result know the noise of the ciphertext beside E_i, so the flooding noise of every party hides it alone: it is as
/// wide as that of one key holder who shares the result ([`sharing`](crate::sharing)), and results have the noise of all.
#[derive(Clone)]
pub struct DecryptionShare(Poly<Evaluation>);

impl DecryptionShare {
    /// Makes the share of the party that holds `secret`, of the part c_1 of a ciphertext of any level.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if c_1 or the secret belongs to another ring.
    pub fn new(
        context: &RlweContext,
        linear: &Poly<Evaluation>,
        secret: &SecretKey,
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
}

/// Returns the phase c_0 + Σ (s_i·c_1 + E_i) of a ciphertext from its part c_0 and the shares of all parties. It is secret: erased when dropped.
///
/// # Errors
/// [`RlweError::Shares`] unless there are as many shares as the context has parties; [`RlweError::Ring`] for parts of other levels.
pub fn combined_phase(
    context: &RlweContext,
    constant: &Poly<Evaluation>,
    shares: &[DecryptionShare],
) -> Result<Zeroizing<Poly<Coefficient>>, RlweError> {
    check_count(context, shares.len())?;
    let ring = context.ring_at(context.ring().level_of(constant)?)?;
    let values = sum(&ring, shares.iter().map(|share| &share.0).chain([constant]))?;
    Ok(secret_coefficients(&ring, Zeroizing::new(values))?)
}
