//! What a scaler's noise depends on, known without its tables.

use super::decryption::Decryptor;
use super::extension::Overflow;
use crate::error::check_plaintext_modulus;
use crate::{Basis, RingError, ScalerOptions};

/// The constants of [BEHZ16, Lemmas 2 to 5] for moduli, a plaintext modulus and a choice of algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingBounds {
    /// ρ of the extension [Lemma 4].
    pub overflow: f64,
    /// Bound k on the flooring error [Lemma 5].
    pub scale_error: f64,
    /// The distance of t·a/q to an integer up to which decryption is right [Lemmas 2 and 3, 3.5].
    pub decryption_margin: f64,
}

impl ScalingBounds {
    /// The bounds of [`Ring::scaler`](crate::PolyRing::scaler) with these arguments for a ring modulo these numbers.
    ///
    /// # Errors
    /// As there, but for the auxiliary primes, which are not looked for.
    pub fn new(options: &ScalerOptions, moduli: &[u64], t: u64) -> Result<Self, RingError> {
        let q = Basis::new(moduli)?;
        check_scalable(&q, t)?;
        let decryption = Decryptor::new(&q, t, options.decryption)?;
        Ok(Self::of(Overflow::new(q.len(), options.m_tilde), q.len(), &decryption))
    }

    pub(super) fn of(overflow: Overflow, k: usize, decryption: &Decryptor) -> Self {
        Self { overflow: overflow.value(), scale_error: k as f64, decryption_margin: decryption.margin() }
    }
}

/// Fails unless 2 ≤ t < 2^60, q > 2t, and both are coprime.
pub(super) fn check_scalable(q: &Basis, t: u64) -> Result<(), RingError> {
    check_plaintext_modulus(t, 60)?;
    if *q.product() <= (2 * t).into() {
        return Err(RingError::out_of_range("modulus", format_args!("above 2t = {}", 2 * t), q.product()));
    }
    match q.values().iter().find(|&&q| sunzi_math::gcd(q, t) != 1) {
        Some(&left) => Err(RingError::NotCoprime { left, right: t }),
        None => Ok(()),
    }
}
