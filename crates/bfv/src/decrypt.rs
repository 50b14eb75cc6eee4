//! BFV decryption, for the key holder and for results that are shared.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Poly};
use sunzi_rlwe::encryption::{phase, phase_values};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, LedgerFile, Log2, RlweError, SecretKey, SharingPolicy};

use crate::{BfvError, Ciphertext, Context, Plaintext};

impl Context {
    /// Decrypts a BFV ciphertext `[BEHZ16, Alg. 1]`.
    ///
    /// A decrypted result tells the holder of the ciphertext nothing about the key only as long as it is not given
    /// back to whoever made the ciphertext: see `SECURITY.md` before sharing it.
    ///
    /// # Errors
    /// [`BfvError::NoiseExhausted`] when the noise bound does not guarantee the right answer, naming the operations
    /// that spent the budget;
    /// [`sunzi_rlwe::RlweError::KeyMismatch`] for another key's ciphertext, [`BfvError::PlainModulusMismatch`]
    /// or [`BfvError::Ring`] for one of other parameters.
    pub fn decrypt(&self, ciphertext: &Ciphertext, key: &SecretKey) -> Result<Plaintext, BfvError> {
        let bits_left = self.bits_left(ciphertext);
        // The comparison is not `< 0.0`: a bound that is no number guarantees nothing either.
        if bits_left >= 0.0 {
            self.decrypt_unchecked(ciphertext, key)
        } else {
            Err(BfvError::NoiseExhausted { bits_short: -bits_left, trace: ciphertext.trace().clone() })
        }
    }

    /// Decrypts a BFV ciphertext whatever its noise bound says: the answer may be garbage.
    ///
    /// # Errors
    /// Every error of [`decrypt`](Self::decrypt) but the one for too much noise.
    pub fn decrypt_unchecked(&self, ciphertext: &Ciphertext, key: &SecretKey) -> Result<Plaintext, BfvError> {
        self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let values = phase_values(self.rlwe(), ciphertext.parts(), key, self.ring().level())?;
        let message = self.scaler().decrypt_values(self.ring(), values)?;
        Ok(Plaintext::new(message, self.plain_modulus())?)
    }

    /// Recovers the message m from a phase c(s) = (q/t)·m + v.
    pub(crate) fn open(&self, phase: &Poly<Coefficient>) -> Result<Plaintext, BfvError> {
        Ok(Plaintext::new(self.scaler().decrypt(phase)?, self.plain_modulus())?)
    }

    /// Decrypts a BFV ciphertext for somebody else to see. The answer tells nothing of the noise, and so nothing of
    /// the key, to whoever made or chose the ciphertext; see [`sunzi_rlwe::sharing`] for the noise that is added and
    /// [`SharingPolicy`] for the guarantee.
    ///
    /// The parameter `noise` is the bound that the key holder declares. The bound that the ciphertext carries does not
    /// count: only if it is larger, there is an error.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`] where a right answer is not sure, except with probability 2^-128, beside what is added; [`RlweError::NoiseDeclaredTooLow`];
    /// [`RlweError::SharingSpent`]; [`RlweError::Ledger`]; those of [`decrypt`](Self::decrypt) but for the noise. All are told before anything is opened.
    pub fn decrypt_for_sharing(
        &self,
        ciphertext: &Ciphertext,
        key: &SecretKey,
        noise: DeclaredNoise,
        ledger: &mut LedgerFile,
        rng: &mut dyn CryptoRng,
    ) -> Result<Plaintext, BfvError> {
        ciphertext.check_key(key.id(), "the secret key")?;
        let flooding = self.flooding_for(ciphertext, noise, ledger.ledger().policy())?;
        ledger.spend(key.id())?;
        let mut phase = phase(self.rlwe(), ciphertext.parts(), key)?;
        self.ring().add_assign(&mut phase, &*flooding.sample(self.ring(), rng)?)?;
        self.open(&phase)
    }

    /// Fails where [`decrypt_for_sharing`](Self::decrypt_for_sharing) with a ledger of this policy would, whatever the
    /// key: before there is a ledger.
    ///
    /// # Errors
    /// Every error of [`decrypt_for_sharing`](Self::decrypt_for_sharing) that does not depend on the key.
    pub fn check_shareable(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<(), BfvError> {
        self.flooding_for(ciphertext, noise, policy).map(drop)
    }

    /// The flooding noise that hides the noise of a BFV ciphertext.
    pub(crate) fn flooding_for(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<Flooding, BfvError> {
        self.check(ciphertext)?;
        noise.check(ciphertext.noise(), self.ring().expansion())?;
        let flooding = Flooding::new(policy, noise, self.degree())?;
        let bits_short = (Log2::from_bits(noise.bits()) + flooding.bound_of(self.rlwe().parties())).bits()
            - self.log2_noise_capacity();
        if bits_short > 0.0 {
            return Err(RlweError::SharingRoom { bits_short, declared: noise.bits() }.into());
        }
        Ok(flooding)
    }

    /// log2 of the largest noise with which [`decrypt_for_sharing`](Self::decrypt_for_sharing) can decrypt: the noise
    /// to declare where no smaller bound is known.
    ///
    /// # Errors
    /// [`BfvError::Rlwe`] never for a policy that exists.
    pub fn log2_largest_shareable_noise(&self, policy: SharingPolicy) -> Result<f64, BfvError> {
        let capacity = self.log2_noise_capacity();
        Ok(Flooding::log2_largest_noise(policy, capacity, self.degree(), self.rlwe().parties())?)
    }
}
