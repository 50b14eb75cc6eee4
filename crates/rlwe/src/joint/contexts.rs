//! What contexts of schemes offer to the parties of a joint secret: results opened by shares, additive shares of messages, refreshes.

use std::borrow::Cow;

use rand_core::CryptoRng;
use sunzi_encoding::Plaintext;
use sunzi_ring::{Coefficient, Poly, sampling};
use zeroize::Zeroizing;

use super::{
    AdditiveSecret, DecryptionShare, EncryptionShare, JointDecryption, MaskedTransform, Quorum, RefreshShare,
};
use crate::encryption::scaled_message;
use crate::evaluator::finish;
use crate::sharing::Flooding;
use crate::{Ciphertext, DeclaredNoise, Evaluator, Exact, Homomorphic, KeyId, SharingPolicy};

type ErrorOf<C> = <<C as JointContext>::Scheme as Homomorphic>::Error;
type CiphertextOf<C> = Ciphertext<<C as JointContext>::Scheme>;
type PlaintextOf<C> = <<C as JointContext>::Scheme as Homomorphic>::Plaintext;

/// A ciphertext as it is opened for others to see: the ciphertext that parties make shares of, the level that holds the result, and the flooding noise of each party.
pub struct Opening<'a, S: Homomorphic> {
    /// Ciphertext that is opened, switched to lower moduli where it has to be.
    pub ciphertext: Cow<'a, Ciphertext<S>>,
    /// Level that holds the result: see [`JointContext::ring_level`].
    pub level: usize,
    /// Flooding noise of each party.
    pub flooding: Flooding,
}

/// A context whose ciphertexts the parties of a joint secret open together.
///
/// All parties, and whoever opens a result, call its methods with the same ciphertext, noise and policy: a declared `noise` of their own knowledge
/// and the policy of their ledgers.
pub trait JointContext: Sized {
    /// The scheme as a type.
    type Scheme: Homomorphic<Context = Self>;

    /// Returns how a ciphertext is opened for others to see.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`](crate::RlweError::SharingRoom) where a right answer is not sure beside the flooding noise of all parties;
    /// [`RlweError::NoiseDeclaredTooLow`](crate::RlweError::NoiseDeclaredTooLow); the scheme's errors for a ciphertext of other parameters.
    fn opening<'a>(
        &self,
        ciphertext: &'a CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<Opening<'a, Self::Scheme>, ErrorOf<Self>>;

    /// Returns the level of the ring for a level of an [`Opening`]: the same, unless the scheme has levels of its own.
    ///
    /// # Errors
    /// The scheme's error for a level that does not exist.
    fn ring_level(&self, level: usize) -> Result<usize, ErrorOf<Self>> {
        Ok(level)
    }

    /// Returns the message that a phase holds, with the flooding noise of so many parties.
    ///
    /// # Errors
    /// The scheme's errors for a phase of another level.
    fn opened(
        &self,
        opening: &Opening<'_, Self::Scheme>,
        phase: Zeroizing<Poly<Coefficient>>,
        parties: usize,
    ) -> Result<PlaintextOf<Self>, ErrorOf<Self>>;

    /// Returns what the parties decrypt together, each by a share of its own.
    ///
    /// # Errors
    /// Every error of [`opening`](Self::opening); [`RlweError::WrongPartCount`](crate::RlweError::WrongPartCount) for a ciphertext that is not relinearised.
    fn joint_decryption(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<JointDecryption, ErrorOf<Self>> {
        decryption_of(self, &self.opening(ciphertext, noise, policy)?)
    }

    /// Decrypts a ciphertext by the shares of all parties, or of a quorum, who made them of the [`joint_decryption`](Self::joint_decryption) of these
    /// arguments.
    ///
    /// # Errors
    /// Every error of [`joint_decryption`](Self::joint_decryption) and of [`JointDecryption::combine`].
    fn open_shares<'s>(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        quorum: Option<&Quorum>,
        shares: impl IntoIterator<Item = &'s DecryptionShare, IntoIter: ExactSizeIterator>,
    ) -> Result<PlaintextOf<Self>, ErrorOf<Self>> {
        let (opening, rlwe) = (self.opening(ciphertext, noise, policy)?, Self::Scheme::rlwe(self));
        let shares = shares.into_iter();
        let parties = shares.len();
        let phase = decryption_of(self, &opening)?.combine(rlwe, quorum, shares)?;
        self.opened(&opening, phase, parties)
    }
}

/// A context of exact integers modulo t, whose parties keep additive shares of messages and refresh ciphertexts.
pub trait ExactJointContext: JointContext<Scheme: Exact> {
    /// Returns the residues modulo t that the phase of an opening holds for a message.
    ///
    /// # Errors
    /// The scheme's errors for a ciphertext of other parameters.
    fn held(
        &self,
        opening: &Opening<'_, Self::Scheme>,
        message: &Plaintext,
    ) -> Result<Zeroizing<Vec<u64>>, ErrorOf<Self>>;

    /// Makes a party's share of the decryption of a message less a `mask`, which the party keeps as its additive share modulo t of the message:
    /// uniform in every coefficient, and drawn for this share alone. The parties together open what is left.
    ///
    /// # Errors
    /// Every error of [`joint_decryption`](JointContext::joint_decryption); the scheme's error for a mask of another degree or modulus.
    fn masked_share(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        secret: &impl AdditiveSecret,
        mask: &Plaintext,
        rng: &mut dyn CryptoRng,
    ) -> Result<DecryptionShare, ErrorOf<Self>> {
        let (opening, rlwe) = (self.opening(ciphertext, noise, policy)?, Self::Scheme::rlwe(self));
        let t = Self::Scheme::plain_modulus(self);
        mask.check(rlwe.ring().degree(), t)?;
        let ring = rlwe.ring_at(self.ring_level(opening.level)?)?;
        let mask = scaled_message(&ring, &self.held(&opening, mask)?, t)?;
        Ok(decryption_of(self, &opening)?.share(rlwe, secret, rng)?.masked(rlwe, &mask)?)
    }

    /// Makes a party's share of an encryption of the sum of what the parties know, under the joint secret. The seed is common to all, and serves once.
    ///
    /// # Errors
    /// The scheme's errors for a plaintext of another degree or modulus; [`RlweError::Ring`](crate::RlweError::Ring) for a secret of another ring.
    fn encryption_share(
        &self,
        plaintext: &Plaintext,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
        rng: &mut dyn CryptoRng,
    ) -> Result<EncryptionShare, ErrorOf<Self>> {
        let (rlwe, t) = (Self::Scheme::rlwe(self), Self::Scheme::plain_modulus(self));
        plaintext.check(rlwe.ring().degree(), t)?;
        let message = scaled_message(rlwe.ring(), plaintext.coefficients(), t)?;
        Ok(EncryptionShare::new(rlwe, secret, seed, &message, rng)?)
    }

    /// Returns the ciphertext of a sum from the shares of all parties, or of a quorum, under the joint secret of this name.
    ///
    /// # Errors
    /// [`RlweError::Shares`](crate::RlweError::Shares) unless there are as many shares as parties; [`RlweError::Ring`](crate::RlweError::Ring) for shares of another ring.
    fn encrypt_by_shares<'s>(
        &self,
        key: KeyId,
        seed: &[u8; 32],
        quorum: Option<&Quorum>,
        shares: impl IntoIterator<Item = &'s EncryptionShare, IntoIter: ExactSizeIterator>,
    ) -> Result<CiphertextOf<Self>, ErrorOf<Self>> {
        let rlwe = Self::Scheme::rlwe(self);
        let encryption = EncryptionShare::combine(rlwe, rlwe.level(), seed, quorum, shares)?;
        let made = Ciphertext::from_encryption(encryption, Self::Scheme::fresh(self)?, key);
        finish(self, made, "encrypt by shares", &[])
    }

    /// Makes a party's share of the refresh of a ciphertext: of the message less a random mask, and of an encryption of the mask. It is a shared
    /// result, which the party's ledger counts.
    ///
    /// # Errors
    /// Every error of [`masked_share`](Self::masked_share).
    fn refresh_share(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
        rng: &mut dyn CryptoRng,
    ) -> Result<RefreshShare, ErrorOf<Self>> {
        self.transform_share(ciphertext, noise, policy, secret, &MaskedTransform::identity(seed), rng)
    }

    /// Returns a fresh ciphertext of the message of `ciphertext` from the refresh shares of all parties, or of a quorum: its noise is that of an
    /// encryption, whatever was spent before. Nobody learns the message.
    ///
    /// # Errors
    /// Every error of [`open_shares`](JointContext::open_shares) and of [`encrypt_by_shares`](Self::encrypt_by_shares).
    fn refresh(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        quorum: Option<&Quorum>,
        seed: &[u8; 32],
        shares: &[RefreshShare],
    ) -> Result<CiphertextOf<Self>, ErrorOf<Self>> {
        self.transform(ciphertext, noise, policy, quorum, &MaskedTransform::identity(seed), shares)
    }

    /// Makes a party's share of a masked transform of a ciphertext: of the message less a random mask, and of an encryption of what the map makes of the mask. It is
    /// a shared result, which the party's ledger counts.
    ///
    /// # Errors
    /// Every error of [`masked_share`](Self::masked_share), and of the map.
    fn transform_share(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        secret: &impl AdditiveSecret,
        transform: &MaskedTransform<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<RefreshShare, ErrorOf<Self>> {
        let t = Self::Scheme::plain_modulus(self);
        let mut coefficients = vec![0; Self::Scheme::rlwe(self).ring().degree()];
        sampling::uniform_residues(&mut coefficients, t, rng);
        // A plaintext is erased when dropped.
        let mask = Plaintext::new(coefficients, t)?;
        let opening = self.masked_share(ciphertext, noise, policy, secret, &mask, rng)?;
        let mapped = transform.apply(mask)?;
        Ok(RefreshShare { opening, masks: self.encryption_share(&mapped, secret, transform.seed, rng)? })
    }

    /// Returns a fresh ciphertext of what the map makes of the message of `ciphertext`, from the transform shares of all parties, or of a quorum: its noise is that of
    /// an encryption. Nobody learns the message. **All must take the same map**: with others the message is another one, and no error tells it.
    ///
    /// # Errors
    /// Every error of [`open_shares`](JointContext::open_shares), of [`encrypt_by_shares`](Self::encrypt_by_shares), and of the map.
    fn transform(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        quorum: Option<&Quorum>,
        transform: &MaskedTransform<'_>,
        shares: &[RefreshShare],
    ) -> Result<CiphertextOf<Self>, ErrorOf<Self>> {
        let openings = shares.iter().map(|share| &share.opening);
        let opened = transform.apply(self.open_shares(ciphertext, noise, policy, quorum, openings)?)?;
        let masks = shares.iter().map(|share| &share.masks);
        let masks = self.encrypt_by_shares(ciphertext.key(), transform.seed, quorum, masks)?;
        Evaluator::<Self::Scheme>::new(self).add_plain(&masks, &opened)
    }
}

fn decryption_of<C: JointContext>(
    context: &C,
    opening: &Opening<'_, C::Scheme>,
) -> Result<JointDecryption, ErrorOf<C>> {
    let (rlwe, level) = (C::Scheme::rlwe(context), context.ring_level(opening.level)?);
    Ok(JointDecryption::new(rlwe, opening.ciphertext.parts(), level, opening.flooding)?)
}
