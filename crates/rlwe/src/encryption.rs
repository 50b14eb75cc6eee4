//! Encryptions of zero, and the way back: the phase c(s).

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, PolyRing, sampling};
use zeroize::Zeroizing;

use crate::keys::zero_sample;
use crate::{NoiseBound, PublicKey, RlweContext, RlweError, SecretKey, noise, randomness};

/// Two parts that encrypt zero, with their noise.
pub type ZeroEncryption<R> = ([<R as PolyRing>::Poly<Evaluation>; 2], NoiseBound);

/// An encryption of zero under the public key: (p_0·u + e_1, p_1·u + e_2) with u ternary.
///
/// Its noise is −e·u + e_1 + e_2·s, at most B_err(1 + 2δB_key).
///
/// # Errors
/// [`RlweError::Ring`] if the key belongs to another ring.
pub fn zero_public<R: PolyRing, G: CryptoRng + ?Sized>(
    context: &RlweContext<R>,
    key: &PublicKey<R>,
    rng: &mut G,
) -> Result<ZeroEncryption<R>, RlweError> {
    masked_public(context, key, None, rng)
}

/// [`zero_public`] with a message added to c_0: to e_1 before its transform, so that the message needs none.
///
/// # Errors
/// [`RlweError::Ring`] if the key or the message belongs to another ring.
pub fn message_public<R: PolyRing, G: CryptoRng + ?Sized>(
    context: &RlweContext<R>,
    key: &PublicKey<R>,
    message: &R::Poly<Coefficient>,
    rng: &mut G,
) -> Result<ZeroEncryption<R>, RlweError> {
    masked_public(context, key, Some(message), rng)
}

fn masked_public<R: PolyRing, G: CryptoRng + ?Sized>(
    context: &RlweContext<R>,
    key: &PublicKey<R>,
    message: Option<&R::Poly<Coefficient>>,
    rng: &mut G,
) -> Result<ZeroEncryption<R>, RlweError> {
    let ring = context.ring();
    let coefficients = sampling::ternary(ring.degree(), rng)?;
    let u = Zeroizing::new(ring.to_evaluation(ring.from_signed(&coefficients)?)?);
    let mut parts = key.parts.clone();
    for (part, message) in parts.iter_mut().zip([message, None]) {
        ring.mul_assign(part, &u)?;
        let mut error = ring.from_signed(&sampling::centered_binomial(ring.degree(), rng)?)?;
        if let Some(message) = message {
            ring.add_assign(&mut error, message)?;
        }
        let error = Zeroizing::new(ring.to_evaluation(error)?);
        ring.add_assign(part, &error)?;
    }
    Ok((parts, NoiseBound::fresh(noise::public_encryption(ring.degree()), randomness::tag(rng))))
}

/// An encryption of zero under the secret key: (−(a·s + e), a).
///
/// # Errors
/// [`RlweError::Ring`] if the key belongs to another ring.
pub fn zero_secret<R: PolyRing, G: CryptoRng + ?Sized>(
    context: &RlweContext<R>,
    key: &SecretKey<R>,
    rng: &mut G,
) -> Result<ZeroEncryption<R>, RlweError> {
    let seed = randomness::public_seed(rng);
    let a = context.ring().uniform(&mut randomness::public_stream(&seed, 0));
    let parts = zero_sample(context.ring(), &*key.at_level(context, context.level())?, a, rng)?;
    let noise = noise::secret_encryption(context.ring().degree());
    Ok((parts, NoiseBound::fresh(noise, randomness::tag(rng))))
}

/// The phase c(s) = c_0 + c_1·s + c_2·s² + … modulo Q_l, for parts of any level l, by Horner's rule. It is secret: erased when dropped.
///
/// # Errors
/// [`RlweError::Ring`] if the parts belong to another ring, [`RlweError::WrongPartCount`] if there are none.
pub fn phase<R: PolyRing>(
    context: &RlweContext<R>,
    parts: &[R::Poly<Evaluation>],
    key: &SecretKey<R>,
) -> Result<Zeroizing<R::Poly<Coefficient>>, RlweError> {
    let Some((last, rest)) = parts.split_last() else {
        return Err(RlweError::WrongPartCount {
            operation: "decryption",
            expected: "at least two",
            got: 0,
            remedy: "decrypt a ciphertext",
        });
    };
    let ring = context.ring_at(context.ring().level_of(last)?)?;
    let mut value = last.clone();
    for part in rest.iter().rev() {
        context.key_ring().mul_restricted_assign(&mut value, key.evaluation())?;
        ring.add_assign(&mut value, part)?;
    }
    Ok(Zeroizing::new(ring.to_coefficient(value)?))
}
