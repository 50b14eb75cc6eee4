//! From three parts back to two.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, PolyRing};

use crate::key_switch;
use crate::{Ciphertext, KeyId, KeySwitchKey, NoiseTerm, RlweContext, RlweError, Scheme, SecretKey};

/// The key that turns c_2·s² into two parts.
#[derive(Clone)]
pub struct RelinearizationKey<R: PolyRing> {
    id: KeyId,
    key: KeySwitchKey<R>,
}

impl<R: PolyRing> RelinearizationKey<R> {
    /// Makes the relinearisation key of `secret`.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring.
    pub fn generate<G: CryptoRng + ?Sized>(
        context: &RlweContext<R>,
        secret: &SecretKey<R>,
        rng: &mut G,
    ) -> Result<Self, RlweError> {
        let mut square = zeroize::Zeroizing::new(secret.evaluation().clone());
        context.ring().mul_assign(&mut square, secret.evaluation())?;
        Ok(Self { id: secret.id(), key: KeySwitchKey::generate(context, secret, &square, rng)? })
    }

    /// The name of the secret key this one belongs to.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The key-switching key inside.
    #[must_use]
    pub fn key(&self) -> &KeySwitchKey<R> {
        &self.key
    }

    /// Bytes in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.key.byte_len()
    }

    /// Adds c_2·s² to (c_0, c_1), given in coefficient form as scaling leaves them, and returns
    /// the two parts `[BEHZ16, 4.5]`.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if a part belongs to another ring.
    pub fn apply_to_coefficients(
        &self,
        context: &RlweContext<R>,
        parts: [R::Poly<Coefficient>; 3],
    ) -> Result<[R::Poly<sunzi_ring::Evaluation>; 2], RlweError> {
        let [c0, c1, c2] = parts;
        let ring = context.ring();
        let [mut d0, mut d1] = self.key.switch(context, &c2)?;
        ring.add_assign(&mut d0, &ring.to_evaluation(c0)?)?;
        ring.add_assign(&mut d1, &ring.to_evaluation(c1)?)?;
        Ok([d0, d1])
    }
}

/// What relinearisation adds to the noise.
#[must_use]
pub fn added_noise<R: PolyRing>(context: &RlweContext<R>) -> NoiseTerm {
    key_switch::added_noise(context, 2)
}

/// Turns a ciphertext of three parts into one of two; one of two passes unchanged.
///
/// # Errors
/// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`] for more than three parts.
pub fn relinearize<S: Scheme, R: PolyRing>(
    context: &RlweContext<R>,
    ciphertext: &Ciphertext<S, R>,
    key: &RelinearizationKey<R>,
) -> Result<Ciphertext<S, R>, RlweError> {
    ciphertext.check_key(key.id, "the relinearisation key")?;
    let ring = context.ring();
    match ciphertext.parts() {
        [_, _] => Ok(ciphertext.clone()),
        [c0, c1, c2] => {
            let [mut d0, mut d1] = key.key.switch(context, &ring.to_coefficient(c2.clone())?)?;
            ring.add_assign(&mut d0, c0)?;
            ring.add_assign(&mut d1, c1)?;
            let noise = ciphertext.noise().plus(added_noise(context));
            Ciphertext::from_parts(vec![d0, d1], ciphertext.metadata().clone(), noise, ciphertext.key())
        }
        parts => Err(RlweError::WrongPartCount {
            operation: "relinearization",
            expected: "two or three",
            got: parts.len(),
            remedy: "relinearize after every product",
        }),
    }
}
