//! ModRaise, and the sparse secret that it happens under.
//!
//! A ciphertext modulo Q_l read modulo a larger number is one of m + Q_l·I with ‖I‖ ≤ (1 + Σ|s_i|)/2 at worst [AS19, 3.2]: the
//! sparser the secret, the smaller I and the cheaper its removal. A sparse secret allows a small modulus only, so it is used
//! just there `[BTH22]`: the ciphertext is switched to it modulo Q_l·P' for special moduli P' of its own, raised, and switched
//! back modulo QP, where its secret is the dense one again.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, GadgetOptions, PolyRing};

use crate::key_switch::added_noise;
use crate::{Ciphertext, KeyId, KeySwitchKey, RlweContext, RlweError, Scheme, SecretDistribution, SecretKey};

/// The parts of a ciphertext of any level modulo Q_j for a higher level j: what it encrypts becomes m + Q_l·I.
///
/// # Errors
/// [`RlweError::Ring`] for a ciphertext of another ring, and for a level that is not there or below its own.
pub fn mod_raise<S: Scheme, R: PolyRing>(
    context: &RlweContext<R>,
    ciphertext: &Ciphertext<S, R>,
    level: usize,
) -> Result<Ciphertext<S, R>, RlweError> {
    let ring = context.ring_at(level)?;
    let parts = ciphertext.parts().iter().map(|part| ring.mod_raise(part)).collect::<Result<_, _>>()?;
    let (metadata, noise) = (ciphertext.metadata().clone(), *ciphertext.noise());
    Ciphertext::from_parts(parts, metadata, noise, ciphertext.key())
}

/// The key from one secret to another.
#[derive(Clone)]
pub struct SecretSwitchKey<R: PolyRing> {
    from: KeyId,
    to: KeyId,
    key: KeySwitchKey<R>,
}

impl<R: PolyRing> SecretSwitchKey<R> {
    /// Makes the key for ciphertexts of at most `level` moduli; both secrets are of the context, see [`SecretKey::in_context`]. It is
    /// an encryption under `to`, whose distribution the context is checked for.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if a secret belongs to another ring or the level is not there.
    pub fn generate<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        [from, to]: [&SecretKey<R>; 2],
        level: usize,
        rng: &mut G,
    ) -> Result<Self, RlweError> {
        let key = KeySwitchKey::generate(context, to.evaluation(), from.evaluation(), level, rng)?;
        Ok(Self { from: from.id(), to: to.id(), key })
    }

    /// The ciphertext of the same message under the other secret.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`], [`RlweError::WrongPartCount`], [`RlweError::KeyLevel`].
    pub fn apply<S: Scheme>(
        &self,
        context: &RlweContext<R>,
        ciphertext: &Ciphertext<S, R>,
    ) -> Result<Ciphertext<S, R>, RlweError> {
        ciphertext.check_key(self.from, "the key to another secret")?;
        let [c0, c1] = ciphertext.two_parts("a change of secret")?;
        let level = context.ring().level_of(c1)?;
        let parts: [R::Poly<Evaluation>; 2] = self.key.switch(context, c1, [Some(c0), None], level, 1)?;
        let noise = ciphertext.noise().plus(added_noise(context, level, 1)?);
        Ciphertext::from_parts(parts.into(), ciphertext.metadata().clone(), noise, self.to)
    }

    /// Bytes in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.key.byte_len()
    }
}

/// The keys to a sparse secret at a low level and back at a high one `[BTH22]`. The sparse secret itself is kept nowhere.
#[derive(Clone)]
pub struct EncapsulationKeys<R: PolyRing> {
    low: RlweContext<R>,
    enter: SecretSwitchKey<R>,
    leave: SecretSwitchKey<R>,
}

impl<R: PolyRing> EncapsulationKeys<R> {
    /// Draws a secret of Hamming weight `weight` and makes both keys: from `secret` modulo Q_l·P' at `levels[0]` = l with these moduli
    /// of P', and back to it at `levels[1]`.
    ///
    /// # Errors
    /// [`RlweError::Insecure`] when Q_l·P' exceeds the limit for that weight, 121 bits for 32 at n = 2^16, at the security of the context;
    /// [`RlweError::Ring`] for levels or special moduli that the ring cannot follow.
    pub fn generate<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        secret: &SecretKey<R>,
        weight: usize,
        levels: [usize; 2],
        special_moduli: &[u64],
        rng: &mut G,
    ) -> Result<Self, RlweError> {
        let [low, high] = levels;
        let options = GadgetOptions { special_moduli: special_moduli.to_vec(), ..GadgetOptions::default() };
        let low = RlweContext::with_gadget(context.ring_at(low)?, context.security(), &options)?;
        let low = low.with_secrets(SecretDistribution::FixedWeight(weight))?;
        let sparse = SecretKey::generate(&low, rng)?;
        let dense = secret.in_context(context, &low)?;
        let enter = SecretSwitchKey::generate(&low, [&dense, &sparse], low.level(), rng)?;
        let sparse = sparse.in_context(&low, context)?;
        let leave = SecretSwitchKey::generate(context, [&sparse, secret], high, rng)?;
        Ok(Self { low, enter, leave })
    }

    /// [`mod_raise`] of a ciphertext of the low level under the sparse secret, to the high level and under its own secret again: for
    /// m + Q_l·I with ‖I‖ ≤ (1 + weight)/2, I depending on the sparse secret.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`], [`RlweError::WrongPartCount`]; [`RlweError::Ring`] for a ciphertext of another level.
    pub fn mod_raise<S: Scheme>(
        &self,
        context: &RlweContext<R>,
        ciphertext: &Ciphertext<S, R>,
    ) -> Result<Ciphertext<S, R>, RlweError> {
        let sparse = self.enter.apply(&self.low, ciphertext)?;
        self.leave.apply(context, &mod_raise(context, &sparse, self.leave.key.level())?)
    }

    /// The context of the sparse secret, modulo Q_l·P'.
    #[must_use]
    pub fn low(&self) -> &RlweContext<R> {
        &self.low
    }

    /// The Hamming weight of the sparse secret.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.low.secrets().norm(self.low.ring().degree()) as usize
    }

    /// The name of the secret that ciphertexts are under before and after.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.leave.to
    }

    /// Bytes in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.enter.byte_len() + self.leave.byte_len()
    }
}
