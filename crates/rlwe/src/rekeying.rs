//! Rekeying: ciphertexts under an old key of an owner become ciphertexts under the new key of the same owner, without decryption.
//!
//! A [`RekeyingKey`] is a key switch from the old secret to the new one: encryptions of g_i·s_old under s_new. Whoever stores ciphertexts applies it and learns nothing:
//! it is an evaluation key, made of samples of ring learning with errors under s_new, whose plaintexts do not depend on s_new.
//!
//! **No flooding noise.** [Re-encryption](crate::reencryption) hands ciphertexts to another owner, from whom the noise of the ciphertext and the errors of the key have to be
//! hidden, since the old secret follows from them. Here the owner of the new secret has the old one: there is nothing to hide from anybody who can decrypt. So one key switch
//! is all: no encryption of zero, no ledger, no bits of the modulus but those of a rotation, and CKKS as well.
//!
//! **Noise.** Tables are rekeyed as well, whose parameters were chosen for fresh ciphertexts: so the noise of the key switch has to be near that of an encryption. Where that of the
//! parameters' own digits is more by [`MOST_EXCESS`] bits, as without special moduli, a rekeying key has digits of [`SHORT_DIGIT`] bits modulo Q alone: more of them, and some 2^40
//! times less noise.
//!
//! **What it is not.** Whoever has the new secret and the rekeying key has the old secret, so the new secret opens what the old one did; the old secret and the rekeying
//! key do not give the new one. What was copied before is still under the old key.

use rand_core::CryptoRng;
use sunzi_ring::{Addends, GadgetOptions, SwitchInput};
use zeroize::Zeroizing;

use crate::key_switch::added_noise;
use crate::{
    Ciphertext, Evaluator, Homomorphic, KeyId, KeySwitchKey, NoiseBound, NoiseTerm, RlweContext, RlweError,
    SecretKey,
};

/// Name of the operation in traces and errors.
const OPERATION: &str = "rekey";

/// Bits of the short digits of rekeying keys.
pub const SHORT_DIGIT: u32 = 4;
/// Bits by which the noise of a key switch may exceed that of an encryption under the public key before digits are short.
pub const MOST_EXCESS: f64 = 4.0;

/// A rekeying key, from an old secret to a new one of the same owner.
///
/// ```
/// use sunzi_rlwe::{RekeyingKey, RlweContext, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let [old, new] = [SecretKey::generate(&context, &mut rng)?, SecretKey::generate(&context, &mut rng)?];
/// let key = RekeyingKey::generate(&context, &old, &new, &mut rng)?;
/// assert_eq!((key.source(), key.target()), (old.id(), new.id()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RekeyingKey {
    source: KeyId,
    target: KeyId,
    /// Context of the key's digits.
    context: RlweContext,
    key: KeySwitchKey,
}

impl RekeyingKey {
    /// Makes the key from the secret `old` to the secret `new`, for ciphertexts of all levels.
    ///
    /// # Errors
    /// [`RlweError::SameSecret`]; [`RlweError::Ring`] for secrets of another ring; [`RlweError::Memory`].
    pub fn generate(
        context: &RlweContext,
        old: &SecretKey,
        new: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        if old.id() == new.id() {
            return Err(RlweError::SameSecret);
        }
        let own = digits_of(context, has_short_digits(context)?)?;
        // Secrets are modulo QP, and the digits may be modulo Q.
        let level = own.key_ring().level();
        let [old_part, new_part] =
            [old, new].map(|secret| context.key_ring().restrict(secret.evaluation(), level));
        let (old_part, new_part) = (Zeroizing::new(old_part?), Zeroizing::new(new_part?));
        let key = KeySwitchKey::generate(&own, &new_part, &old_part, own.level(), rng)?;
        Ok(Self { source: old.id(), target: new.id(), context: own, key })
    }

    pub(crate) fn from_key([source, target]: [KeyId; 2], context: RlweContext, key: KeySwitchKey) -> Self {
        Self { source, target, context, key }
    }

    pub(crate) fn key(&self) -> &KeySwitchKey {
        &self.key
    }

    /// Whether the digits of the key are short ones.
    pub(crate) fn is_short(&self) -> bool {
        *self.context.options() == short_digits()
    }

    /// Returns the noise that rekeying adds to a ciphertext of a level: that of one key switch.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    pub fn noise_at(&self, level: usize) -> Result<NoiseTerm, RlweError> {
        added_noise(&self.context, level, 1)
    }

    /// The name of the old secret key, whose ciphertexts are rekeyed.
    #[must_use]
    pub fn source(&self) -> KeyId {
        self.source
    }

    /// The name of the new secret key, which decrypts what was rekeyed.
    #[must_use]
    pub fn target(&self) -> KeyId {
        self.target
    }

    /// Length of the key in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.key.byte_len()
    }
}

fn short_digits() -> GadgetOptions {
    GadgetOptions { radix_bits: Some(SHORT_DIGIT), ..GadgetOptions::default() }
}

/// Whether the noise of the context's own digits is too much.
fn has_short_digits(context: &RlweContext) -> Result<bool, RlweError> {
    let bits = |term| NoiseBound::dependent(term, 0).bound(context.ring().expansion()).bits();
    let fresh = context.noise_model().public_encryption(context.log2_encryption_excess());
    Ok(bits(added_noise(context, context.level(), 1)?) > bits(fresh) + MOST_EXCESS)
}

/// Returns the context of the digits of a rekeying key: the parameters' own, or short ones modulo Q.
pub(crate) fn digits_of(context: &RlweContext, short: bool) -> Result<RlweContext, RlweError> {
    if !short {
        return Ok(context.clone());
    }
    let own = RlweContext::with_gadget(context.ring().clone(), context.security(), &short_digits())?;
    own.with_module_secrets(context.secrets(), 1)
}

impl<S: Homomorphic> Evaluator<S> {
    /// Rekeys a ciphertext: returns one of the same message, level and scale under the new secret. Its noise grows by that of one key switch.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`] for a ciphertext of another key; [`RlweError::WrongPartCount`] for three parts; [`RlweError::GadgetMismatch`];
    /// the scheme's errors for a ciphertext of other parameters, and its refusal of the result.
    pub fn rekey(&self, a: &Ciphertext<S>, key: &RekeyingKey) -> Result<Ciphertext<S>, S::Error> {
        S::check(self.context(), a)?;
        a.check_key(key.source, "the rekeying key")?;
        let rlwe = S::rlwe(self.context());
        let [c0, c1] = a.two_parts(OPERATION)?;
        let level = rlwe.ring().level_of(c1)?;
        let (input, added) = (SwitchInput::Values(c1), Addends::Values([Some(c0), None]));
        let parts = key.key.switch(&key.context, [level, level], input, added, 1)?;
        let added = key.noise_at(level)?;
        let noise = a.noise().plus(added);
        let metadata = S::noisier(self.context(), a.metadata(), added)?;
        let rekeyed = Ciphertext::from_parts(parts.into(), metadata, noise, key.target)?;
        self.finish(rekeyed, OPERATION, &[a.trace()])
    }
}
