//! A ring together with the security it must reach.

use sunzi_ring::PolyRing;

use crate::{RlweError, Security, security};

/// The ring of a parameter set, checked against the security table.
#[derive(Clone, Debug)]
pub struct RlweContext<R: PolyRing> {
    ring: R,
    security: Security,
    log2_modulus: f64,
}

impl<R: PolyRing> RlweContext<R> {
    /// Joins ring and security.
    ///
    /// # Errors
    /// [`RlweError::Insecure`] when log2 q exceeds the table's limit.
    pub fn new(ring: R, security: Security) -> Result<Self, RlweError> {
        let log2_modulus = sunzi_math::log2(ring.modulus());
        let context = Self { ring, security, log2_modulus };
        context.check_key(log2_modulus)?;
        Ok(context)
    }

    /// Checks the modulus of one key, special modulus included: every key passes through here.
    pub(crate) fn check_key(&self, log2_modulus: f64) -> Result<(), RlweError> {
        security::check(self.ring.degree(), log2_modulus, self.security)
    }

    /// The ring R_q.
    pub fn ring(&self) -> &R {
        &self.ring
    }

    /// The security asked for.
    pub fn security(&self) -> Security {
        self.security
    }

    /// log2 of the ciphertext modulus.
    pub fn log2_modulus(&self) -> f64 {
        self.log2_modulus
    }
}
