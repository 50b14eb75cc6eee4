//! The keys that a homomorphic product takes.

use rand_core::CryptoRng;
use sunzi_rlwe::{PublicKey, RelinearizationKey, RlweContext, RlweError, SecretKey};

/// A secret key with its public and evaluation keys, over one ring.
pub(crate) struct Keys {
    pub(crate) secret: SecretKey,
    pub(crate) public: PublicKey,
    pub(crate) relinearization: RelinearizationKey,
}

impl Keys {
    /// Generates a fresh secret key and the keys made from it.
    pub(crate) fn generate(context: &RlweContext, rng: &mut dyn CryptoRng) -> Result<Self, RlweError> {
        let secret = SecretKey::generate(context, rng)?;
        let public = PublicKey::generate(context, &secret, rng)?;
        let relinearization = RelinearizationKey::generate(context, &secret, rng)?;
        Ok(Self { secret, public, relinearization })
    }
}
