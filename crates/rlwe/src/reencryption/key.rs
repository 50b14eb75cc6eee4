//! Keys of re-encryption: what the receiver publishes, and what the owner makes of it for a proxy.

use rand_core::CryptoRng;
use sunzi_ring::{Addends, Evaluation, GadgetOptions, PackedPoly, Poly, SwitchInput};
use zeroize::Zeroizing;

use crate::key_switch::{check_fits, public_noise};
use crate::{KeyId, NoiseTerm, PublicKey, RlweContext, RlweError, SecretKey, memory};

/// A public key for re-encryption: the encryption of zero (−(a·s + e), a) modulo QP, under which others make keys that lead to s.
///
/// It is longer than a [`PublicKey`](crate::PublicKey), whose modulus is Qp with one special modulus, and can do what that one can.
///
/// ```
/// use sunzi_rlwe::{ReencryptionKey, ReencryptionPublicKey, RlweContext, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let [alice, bob] = [SecretKey::generate(&context, &mut rng)?, SecretKey::generate(&context, &mut rng)?];
/// let to_bob = ReencryptionPublicKey::generate(&context, &bob, &mut rng)?;
/// // Alice needs no secret of Bob, and Bob none of Alice.
/// let key = ReencryptionKey::generate(&context, &alice, &to_bob, &mut rng)?;
/// assert_eq!((key.source(), key.target()), (alice.id(), bob.id()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ReencryptionPublicKey(pub(crate) PublicKey);

/// A re-encryption key from one secret to another: encryptions of g_i·s_A under the public key of B modulo Q_l·P, both halves of every digit, and that public key.
///
/// It is for a proxy alone: whoever has it and the secret of B computes that of A.
#[derive(Clone)]
pub struct ReencryptionKey {
    pub(crate) source: KeyId,
    pub(crate) target: ReencryptionPublicKey,
    pub(crate) options: GadgetOptions,
    pub(crate) level: usize,
    pub(crate) halves: [Vec<PackedPoly>; 2],
}

impl ReencryptionPublicKey {
    /// Makes the public key for re-encryption of a secret key.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring.
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        context.check_security()?;
        Ok(Self(PublicKey::over(context.key_ring(), context, secret, rng)?))
    }

    /// The name of the secret key to which the public key belongs.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.0.id
    }

    /// Returns an encryption of zero at the highest level, made modulo Qp as under a [`PublicKey`](crate::PublicKey).
    fn zero(
        &self,
        context: &RlweContext,
        rng: &mut dyn CryptoRng,
    ) -> Result<[Poly<Evaluation>; 2], RlweError> {
        let (whole, ring) = (context.key_ring(), context.encryption_ring()?);
        let body = whole.restrict(&self.0.body, ring.level())?;
        let uniform = whole.restrict(&self.0.uniform(whole), ring.level())?;
        Ok(ring.masked([&body, &uniform], None, context.level(), rng)?)
    }
}

impl ReencryptionKey {
    /// Makes the key that leads from `secret` to the secret of the `target` key, for ciphertexts of all levels.
    ///
    /// # Errors
    /// [`RlweError::SameKey`]; [`RlweError::Ring`] for a secret or a public key of another ring; [`RlweError::Memory`].
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        target: &ReencryptionPublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        Self::generate_at_level(context, secret, target, context.level(), rng)
    }

    /// Makes a key for ciphertexts of at most `level` moduli, smaller than one for all levels.
    ///
    /// # Errors
    /// Every error of [`generate`](Self::generate); [`RlweError::Ring`] for a level that is not there.
    pub fn generate_at_level(
        context: &RlweContext,
        secret: &SecretKey,
        target: &ReencryptionPublicKey,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        context.check_security()?;
        if secret.id() == target.id() {
            return Err(RlweError::SameKey);
        }
        let gadget = context.gadget_at(level)?;
        if context.ring().stores_residues() {
            memory::require(context.switch_key_bytes(level)?)?;
        }
        let ring = gadget.key_ring();
        let source = Zeroizing::new(gadget.restrict_key(secret.evaluation())?);
        let body = gadget.restrict_key(&target.0.body)?;
        let uniform = gadget.restrict_key(&target.0.uniform(context.key_ring()))?;
        let mut halves = [(); 2].map(|()| Vec::with_capacity(gadget.digit_count()));
        for digit in 0..gadget.digit_count() {
            let zero = ring.masked([&body, &uniform], None, ring.level(), rng)?;
            let parts = gadget.key_part(zero, &source, digit)?;
            for (half, part) in halves.iter_mut().zip(parts) {
                half.push(gadget.pack_part(part, digit)?);
            }
        }
        let options = gadget.options().clone();
        Ok(Self { source: secret.id(), target: target.clone(), options, level, halves })
    }

    /// The name of the secret key whose ciphertexts the key re-encrypts.
    #[must_use]
    pub fn source(&self) -> KeyId {
        self.source
    }

    /// The name of the secret key that decrypts what the key re-encrypts.
    #[must_use]
    pub fn target(&self) -> KeyId {
        self.target.id()
    }

    /// The highest level of ciphertexts that the key re-encrypts.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// Length of the encryptions in memory, in bytes: both halves of every digit, for which other keys may store a seed and one half.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.halves.iter().flatten().map(PackedPoly::byte_len).sum()
    }

    /// Checks that the key re-encrypts ciphertexts of a secret and a level.
    pub(crate) fn check(&self, context: &RlweContext, key: KeyId, level: usize) -> Result<(), RlweError> {
        if self.source != key {
            return Err(RlweError::KeyMismatch { what: "the re-encryption key" });
        }
        check_fits(context, &self.options, self.level, level)
    }

    /// Switches (c_0, c_1) of a level to the other secret, and adds a fresh encryption of zero under it.
    pub(super) fn switch(
        &self,
        context: &RlweContext,
        level: usize,
        [c0, c1]: [&Poly<Evaluation>; 2],
        rng: &mut dyn CryptoRng,
    ) -> Result<[Poly<Evaluation>; 2], RlweError> {
        let (ring, gadget) = (context.ring_at(level)?, context.gadget_at(level)?);
        let [first, second] = &self.halves;
        let (input, added) = (SwitchInput::Values(c1), Addends::Values([Some(c0), None]));
        let mut switched = gadget.switch(input, added, [first, second], level, 1)?;
        for (part, zero) in switched.iter_mut().zip(self.target.zero(context, rng)?) {
            ring.add_assign(part, &context.ring().restrict(&zero, level)?)?;
        }
        Ok(switched)
    }
}

/// Returns the noise that the key switch and the encryption of zero of a re-encryption add at a level, flooding noise apart.
///
/// # Errors
/// [`RlweError::Ring`] for a level that does not exist.
pub fn added_noise_at(context: &RlweContext, level: usize) -> Result<NoiseTerm, RlweError> {
    let zero = context.noise_model().public_encryption(context.log2_encryption_excess());
    Ok(public_noise(context, level)?.plus(zero))
}
