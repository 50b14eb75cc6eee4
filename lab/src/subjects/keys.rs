//! The keys that a product takes.

use rand_core::CryptoRng;
use sunzi_ring::PolyRing;
use sunzi_rlwe::{PublicKey, RelinearizationKey, RlweContext, RlweError, SecretKey};

/// A secret key and what is made from it, over one ring.
pub(crate) struct Keys<R: PolyRing> {
    pub(crate) secret: SecretKey<R>,
    pub(crate) public: PublicKey<R>,
    pub(crate) relinearization: RelinearizationKey<R>,
}

impl<R: PolyRing> Keys<R> {
    /// Fresh keys.
    pub(crate) fn generate<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        rng: &mut G,
    ) -> Result<Self, RlweError> {
        let secret = SecretKey::generate(context, rng)?;
        let public = PublicKey::generate(context, &secret, rng)?;
        let relinearization = RelinearizationKey::generate(context, &secret, rng)?;
        Ok(Self { secret, public, relinearization })
    }
}
