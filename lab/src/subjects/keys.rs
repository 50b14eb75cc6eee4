//! The keys that a product takes.

use rand_core::CryptoRng;
use sunzi_rlwe::{PublicKey, RelinearizationKey, RlweContext, RlweError, SecretKey};

/// A secret key and what is made from it, over one ring.
pub(crate) struct Keys {
    pub(crate) secret: SecretKey,
    pub(crate) public: PublicKey,
    pub(crate) relinearization: RelinearizationKey,
}

impl Keys {
    /// Fresh keys.
    pub(crate) fn generate(context: &RlweContext, rng: &mut dyn CryptoRng) -> Result<Self, RlweError> {
        let secret = SecretKey::generate(context, rng)?;
        let public = PublicKey::generate(context, &secret, rng)?;
        let relinearization = RelinearizationKey::generate(context, &secret, rng)?;
        Ok(Self { secret, public, relinearization })
    }
}
