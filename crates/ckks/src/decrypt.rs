//! CKKS decryption, for the key holder and for results that are shared.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Poly};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{
    DeclaredNoise, LedgerFile, Log2, RlweError, SecretKey, SharingPolicy, encryption::phase_values,
};
use zeroize::Zeroizing;

use crate::precision::flooding_error;
use crate::{Ciphertext, CkksError, Context, Metadata, Plaintext};

/// Bits of room above the declared magnitude of a message that is decrypted modulo fewer moduli than it has.
const ROOM: f64 = 20.0;

impl Context {
    /// Decrypts a CKKS ciphertext: the message with its error. The plaintext has the lowest level that holds it.
    ///
    /// The error of a decrypted CKKS message depends on the secret key. Whoever learns decrypted slots of a ciphertext
    /// they made or chose can compute the key from them (Li, Micciancio 2021): see `SECURITY.md` before sharing a
    /// result.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`] for another key's ciphertext; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for one of another context.
    pub fn decrypt(&self, ciphertext: &Ciphertext, key: &SecretKey) -> Result<Plaintext, CkksError> {
        self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let metadata = ciphertext.metadata();
        let (top, scale) = (metadata.level, metadata.scale);
        let needed = metadata.precision.magnitude().log2().max(0.0) + scale.log2() + 1.0 + ROOM;
        let level = self.lowest(top, needed).unwrap_or(top);
        let values = self.phase_at(ciphertext, key, level)?;
        Ok(Plaintext::from_parts(values, Metadata { level, ..metadata.clone() }))
    }

    /// Decrypts a CKKS ciphertext for somebody else to see. Added noise hides the ciphertext's own, so that the slots
    /// tell nothing of the key to whoever made or chose the ciphertext; see [`sunzi_rlwe::sharing`] for how much, and
    /// the precision of the plaintext for what is left.
    ///
    /// The parameter `noise` is the bound that the key holder declares. Nothing that the ciphertext says of itself
    /// counts: only if its own bound is larger, there is an error.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`] where message and noise do not fit the level; [`RlweError::NoiseDeclaredTooLow`]; [`RlweError::SharingSpent`];
    /// [`RlweError::Ledger`]; those of [`decrypt`](Self::decrypt). All are told before anything is opened.
    pub fn decrypt_for_sharing(
        &self,
        ciphertext: &Ciphertext,
        key: &SecretKey,
        noise: DeclaredNoise,
        ledger: &mut LedgerFile,
        rng: &mut dyn CryptoRng,
    ) -> Result<Plaintext, CkksError> {
        ciphertext.check_key(key.id(), "the secret key")?;
        let (level, flooding) = self.flooding_for(ciphertext, noise, ledger.ledger().policy())?;
        let metadata = ciphertext.metadata();
        ledger.spend(key.id())?;
        let ring = self.ring_at(level)?;
        let mut values = self.phase_at(ciphertext, key, level)?;
        let added_noise = self.evaluation_of(level, flooding.sample(ring, rng)?)?;
        ring.add_assign(&mut values, &added_noise)?;
        Ok(Plaintext::from_parts(values, shared(metadata, level, &flooding, 1)))
    }

    /// The evaluation form of a secret polynomial of a level.
    pub(crate) fn evaluation_of(
        &self,
        level: usize,
        mut secret: Zeroizing<Poly<Coefficient>>,
    ) -> Result<Zeroizing<Poly<Evaluation>>, CkksError> {
        let owned = std::mem::replace(&mut *secret, self.ring_at(0)?.zero());
        Ok(Zeroizing::new(self.ring_at(level)?.to_evaluation(owned)?))
    }

    /// Fails where [`decrypt_for_sharing`](Self::decrypt_for_sharing) with a ledger of this policy would, whatever the key: before there is a ledger.
    ///
    /// # Errors
    /// Every error of [`decrypt_for_sharing`](Self::decrypt_for_sharing) that does not depend on the key.
    pub fn check_shareable(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<(), CkksError> {
        self.flooding_for(ciphertext, noise, policy).map(drop)
    }

    /// The level to decrypt a CKKS ciphertext at, and the flooding noise that hides its noise there.
    pub(crate) fn flooding_for(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<(usize, Flooding), CkksError> {
        self.check(ciphertext)?;
        noise.check(ciphertext.noise(), self.ring().expansion())?;
        let metadata = ciphertext.metadata();
        let flooding = Flooding::new(policy, noise, self.ring().degree())?;
        let message = Log2::of(metadata.precision.magnitude()) * metadata.scale;
        let added = flooding.bound_of(self.rlwe().parties());
        let needed = (message + Log2::from_bits(noise.bits()) + added).bits() + 1.0;
        match self.lowest(metadata.level, needed) {
            Some(level) => Ok((level, flooding)),
            None => {
                let bits_short = needed - self.log2_modulus_at(metadata.level)?;
                Err(RlweError::SharingRoom { bits_short, declared: noise.bits() }.into())
            }
        }
    }

    /// log2 of the largest noise with which [`decrypt_for_sharing`](Self::decrypt_for_sharing) can decrypt at this
    /// level, half of which is left to the message. With as much noise little of a message is left: declare the bound
    /// of a program instead.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`].
    pub fn log2_largest_shareable_noise(
        &self,
        policy: SharingPolicy,
        level: usize,
    ) -> Result<f64, CkksError> {
        // The noise may take half of what the level holds, the message the other half.
        let capacity = self.log2_modulus_at(level)? - 2.0;
        Ok(Flooding::log2_largest_noise(policy, capacity, self.ring().degree(), self.rlwe().parties())?)
    }

    /// The lowest level that is nested in `top` and whose modulus has at least `bits` bits.
    pub(crate) fn lowest(&self, top: usize, bits: f64) -> Option<usize> {
        let limbs = self.limbs(top).ok()?;
        let holds = |&level: &usize| self.log2_modulus_at(level).is_ok_and(|held| held >= bits);
        (0..=top).filter(holds).find(|&level| self.is_nested(level, limbs))
    }

    /// The phase ct(s) of a CKKS ciphertext modulo Q_l, for a level l that is not above its own.
    fn phase_at(
        &self,
        ciphertext: &Ciphertext,
        key: &SecretKey,
        level: usize,
    ) -> Result<Zeroizing<Poly<Evaluation>>, CkksError> {
        Ok(phase_values(self.rlwe(), ciphertext.parts(), key, self.limbs(level)?)?)
    }
}

/// The metadata of a shared result at a level, with the flooding noise of so many parties.
pub(crate) fn shared(metadata: &Metadata, level: usize, flooding: &Flooding, parties: u32) -> Metadata {
    let added = flooding_error(flooding, parties, metadata.slots, metadata.scale);
    let precision = metadata.precision.plus_error(added);
    Metadata { level, precision, ..metadata.clone() }
}
