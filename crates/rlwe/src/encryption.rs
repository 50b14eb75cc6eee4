//! Encryption, and the phase c(s) by which decryption begins.
//!
//! A message m modulo t is encrypted as ⌊(Q/t)·m⌉, for BFV and BGV alike. With special moduli the public key encrypts
//! modulo Qp for the first of them, p, and the result is scaled down to Q `[KPZ21, 3.1]`: of the errors little more is
//! left than the rounding, (1 + δB_key)/2 at worst. That takes three transforms more: the parts of the public key times
//! u, modulo p alone, return to coefficients, where the errors and the message join the remainder before its one
//! transform. An encryption under the secret key has only one error, smaller than that rounding, and stays modulo Q.

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Poly, Ring, secret_coefficients};
use zeroize::Zeroizing;

use crate::keys::zero_sample;
use crate::{
    KeyId, Log2, NoiseBound, NoiseTerm, PublicKey, RlweContext, RlweError, SecretKey, noise, randomness,
};

/// A key that encrypts: the public key or the secret key.
#[derive(Clone, Copy)]
pub enum EncryptionKey<'a> {
    /// The public key, with which anybody encrypts.
    Public(&'a PublicKey),
    /// The secret key: its encryptions have less noise, and half the bytes in files.
    Secret(&'a SecretKey),
}

impl EncryptionKey<'_> {
    /// The name of the secret key that decrypts ciphertexts under the encryption key.
    #[must_use]
    pub fn id(&self) -> KeyId {
        match self {
            Self::Public(key) => key.id(),
            Self::Secret(key) => key.id(),
        }
    }
}

impl<'a> From<&'a PublicKey> for EncryptionKey<'a> {
    fn from(key: &'a PublicKey) -> Self {
        Self::Public(key)
    }
}

impl<'a> From<&'a SecretKey> for EncryptionKey<'a> {
    fn from(key: &'a SecretKey) -> Self {
        Self::Secret(key)
    }
}

/// A fresh encryption: two parts, with their noise bounds.
#[derive(Clone)]
pub struct Encryption {
    /// Parts c_0 and c_1 of a fresh encryption.
    pub parts: [Poly<Evaluation>; 2],
    /// Worst-case and tail bound on the noise of a fresh encryption.
    pub noise: NoiseBound,
    /// Seed from which part c_1 of an encryption under the secret key follows; stored in files in place of c_1.
    pub seed: Option<[u8; 32]>,
}

/// Encrypts zero under the public key: (p_0·u + e_1, p_1·u + e_2) with u ternary, scaled down if made modulo Qp.
///
/// The noise of a public-key encryption is −e·u + e_1 + e_2·s, at most B_err(1 + 2δB_key); over p plus a rounding if
/// scaled down.
///
/// # Errors
/// [`RlweError::Ring`] if the key belongs to another ring.
pub fn zero_public(
    context: &RlweContext,
    key: &PublicKey,
    rng: &mut dyn CryptoRng,
) -> Result<Encryption, RlweError> {
    masked_public(context, key, None, rng)
}

/// Encrypts a message with coefficients in [0, t) under the public key; rounding (Q/t)·m is part of its noise.
///
/// # Errors
/// [`RlweError::Ring`] if the key belongs to another ring, for a message of another length, and for a coefficient of t
/// or more.
pub fn encrypt_public(
    context: &RlweContext,
    key: &PublicKey,
    message: &[u64],
    t: u64,
    rng: &mut dyn CryptoRng,
) -> Result<Encryption, RlweError> {
    let scaled = Zeroizing::new(context.encryption_ring()?.scale_plaintext(message, t)?);
    let zero = masked_public(context, key, Some(&scaled), rng)?;
    let rounding = NoiseTerm::rounding().scaled(Log2::from_bits(-context.log2_encryption_excess()));
    Ok(Encryption { noise: zero.noise.plus_own(rounding), ..zero })
}

fn masked_public(
    context: &RlweContext,
    key: &PublicKey,
    message: Option<&Poly<Coefficient>>,
    rng: &mut dyn CryptoRng,
) -> Result<Encryption, RlweError> {
    let ring = context.encryption_ring()?;
    let parts = ring.masked([&key.body, &key.uniform(&ring)], message, context.level(), rng)?;
    let noise = context.noise_model().public_encryption(context.log2_encryption_excess());
    Ok(Encryption { parts, noise: NoiseBound::fresh(noise, randomness::tag(rng)), seed: None })
}

/// Encrypts a message with coefficients in [0, t) under the secret key: with less noise than under the public key.
///
/// # Errors
/// Every error of [`encrypt_public`].
pub fn encrypt_secret(
    context: &RlweContext,
    key: &SecretKey,
    message: &[u64],
    t: u64,
    rng: &mut dyn CryptoRng,
) -> Result<Encryption, RlweError> {
    let ring = context.ring();
    let scaled = scaled_message(ring, message, t)?;
    let mut zero = zero_secret(context, key, context.level(), rng)?;
    let [c0, _] = &mut zero.parts;
    ring.add_assign(c0, &scaled)?;
    Ok(Encryption { noise: zero.noise.plus_own(NoiseTerm::rounding()), ..zero })
}

/// Returns the scaled message ⌊(Q/t)·m⌉ of coefficients in [0, t) in evaluation form. It is secret: erased when dropped.
///
/// # Errors
/// [`RlweError::Ring`] for a message of another length, and for a coefficient of t or more.
pub fn scaled_message(
    ring: &Ring,
    message: &[u64],
    t: u64,
) -> Result<Zeroizing<Poly<Evaluation>>, RlweError> {
    Ok(Zeroizing::new(ring.to_evaluation(ring.scale_plaintext(message, t)?)?))
}

/// Encrypts zero at a level under the secret key: (−(a·s + e), a).
///
/// # Errors
/// [`RlweError::Ring`] if the key belongs to another ring, and for a level that does not exist.
pub fn zero_secret(
    context: &RlweContext,
    key: &SecretKey,
    level: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Encryption, RlweError> {
    let (ring, seed) = (context.ring_at(level)?, randomness::public_seed(rng));
    let a = ring.uniform(&mut randomness::public_stream(&seed, 0));
    let parts = zero_sample(&ring, &*key.at_level(context, level)?, a, rng)?;
    let noise = NoiseBound::fresh(noise::secret_encryption(ring.expansion()), randomness::tag(rng));
    Ok(Encryption { parts, noise, seed: Some(seed) })
}

/// Returns the phase c(s) = c_0 + c_1·s + c_2·s² + … modulo Q_l, for parts of any level l. It is secret: erased when
/// dropped.
///
/// # Errors
/// [`RlweError::Ring`] if the parts belong to another ring, [`RlweError::WrongPartCount`] if there are none.
pub fn phase(
    context: &RlweContext,
    parts: &[Poly<Evaluation>],
    key: &SecretKey,
) -> Result<Zeroizing<Poly<Coefficient>>, RlweError> {
    let level = parts.last().map_or(Ok(1), |part| context.ring().level_of(part))?;
    let values = phase_values(context, parts, key, level)?;
    Ok(secret_coefficients(&context.ring_at(level)?, values)?)
}

/// Returns the phase c(s) in evaluation form modulo Q_l for parts of level l or higher, by Horner's rule: see
/// [`phase`].
///
/// # Errors
/// Every error of [`phase`]; [`RlweError::Ring`] for a level to which the level of the parts does not lead.
pub fn phase_values(
    context: &RlweContext,
    parts: &[Poly<Evaluation>],
    key: &SecretKey,
    level: usize,
) -> Result<Zeroizing<Poly<Evaluation>>, RlweError> {
    let Some((last, rest)) = parts.split_last() else {
        return Err(RlweError::WrongPartCount {
            operation: "decryption",
            expected: "at least two",
            got: 0,
            remedy: "decrypt a ciphertext",
        });
    };
    let (ring, secret) = (context.key_ring(), key.evaluation());
    let mut rest = rest.iter().rev();
    let mut value = Zeroizing::new(match rest.next() {
        Some(part) => ring.mul_add_restricted(last, secret, part, level)?,
        None => ring.restrict(last, level)?,
    });
    for part in rest {
        value = Zeroizing::new(ring.mul_add_restricted(&value, secret, part, level)?);
    }
    Ok(value)
}
