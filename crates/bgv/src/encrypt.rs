//! BGV encryption under the public or the secret key, done as in BFV.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use sunzi_encoding::Plaintext;
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::{Exact, PublicKey, SecretKey};
use zeroize::Zeroizing;

use crate::{Bgv, BgvError, Ciphertext, Context};

impl Context {
    /// Encrypts a plaintext under the public key.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::PlaintextMismatch`] if the plaintext has another degree or modulus;
    /// [`BgvError::Rlwe`] for a key of another ring; [`BgvError::BudgetExceeded`] for parameters without room for the
    /// noise of an encryption.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        key: &PublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, BgvError> {
        Bgv::encrypt(self, plaintext, key.into(), rng)
    }

    /// Encrypts a plaintext under the secret key, with less noise than under the public key.
    ///
    /// # Errors
    /// Every error of [`encrypt`](Self::encrypt).
    pub fn encrypt_secret(
        &self,
        plaintext: &Plaintext,
        key: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Ciphertext, BgvError> {
        Bgv::encrypt(self, plaintext, key.into(), rng)
    }

    /// The scaled message ⌊(Q/t)·(f·m mod t)⌉ for the modulus Q of a place, in evaluation form, erased when
    /// dropped: (Q·m′ + µ)/t with µ = −Q·m′ modulo t centred, so µ/t modulo Q.
    pub(crate) fn scaled(
        &self,
        plaintext: &Plaintext,
        place: usize,
        factor: u64,
    ) -> Result<Zeroizing<Poly<Evaluation>>, BgvError> {
        let t = self.plain_modulus();
        plaintext.check(self.degree(), t)?;
        let place = self.place(place)?;
        let q = (&place.modulus % t).to_u64().unwrap_or(0);
        let factor = (t - sunzi_math::mul_mod(q, factor, t)) % t;
        let centred = |&m: &u64| {
            let residue = sunzi_math::mul_mod(m, factor, t);
            // The cast is exact: t is below 2^60.
            if residue >= t.div_ceil(2) { residue as i64 - t as i64 } else { residue as i64 }
        };
        let remainder = Zeroizing::new(plaintext.coefficients().iter().map(centred).collect::<Vec<i64>>());
        let ring = self.rlwe().ring_at(place.limbs)?;
        let mut scaled = Zeroizing::new(ring.to_evaluation(ring.from_signed(&remainder)?)?);
        // t is coprime to every modulus: that of the factors to the moduli of the levels, and a word has no others.
        let inverse = BigInt::from(t).modinv(&BigInt::from(ring.modulus().clone()));
        let none = sunzi_math::MathError::NotCoprime { left: t, right: 0 };
        ring.mul_integer_assign(&mut scaled, &inverse.ok_or(none)?)?;
        Ok(scaled)
    }
}
