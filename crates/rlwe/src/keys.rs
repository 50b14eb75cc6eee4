//! Secret keys, public keys, and the names of keys.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, Poly, Ring};
use zeroize::{Zeroize, Zeroizing};

use crate::uniform_half::UniformHalf;
use crate::{RlweContext, RlweError, SecretDistribution, randomness};

/// The name of a secret key, 16 random bytes that reveal nothing about the key.
///
/// Every public key, evaluation key and ciphertext carries the name of its secret key, so that a
/// mix-up is an error instead of garbage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyId([u8; 16]);

impl KeyId {
    /// The 16 bytes of the name of a key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the name of a key that has the given 16 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub(crate) fn random(rng: &mut dyn CryptoRng) -> Self {
        Self(randomness::public_bytes(rng))
    }
}

/// Formats the name of a key as 32 hexadecimal digits.
impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A secret key s, uniform ternary unless the context says otherwise. Erased when dropped; neither printable nor
/// comparable.
///
/// ```
/// use sunzi_rlwe::{RlweContext, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let secret = SecretKey::generate(&context, &mut randomness::from_os()?)?;
/// assert_eq!(secret.duplicate().id(), secret.id());
/// # Ok(())
/// # }
/// ```
pub struct SecretKey {
    id: KeyId,
    s: Poly<Evaluation>,
}

impl SecretKey {
    /// Draws a secret key from the distribution of the context.
    ///
    /// # Errors
    /// [`RlweError::Insecure`] never for a context that exists, as its modulus was checked.
    pub fn generate(context: &RlweContext, rng: &mut dyn CryptoRng) -> Result<Self, RlweError> {
        context.check_security()?;
        let coefficients = context.secrets().sample(context.key_ring().degree(), rng)?;
        Self::from_coefficients(context, KeyId::random(rng), &coefficients)
    }

    /// Draws the secret key of one party: uniform ternary, whatever the secrets of the context are.
    ///
    /// # Errors
    /// Every error of [`generate`](Self::generate).
    pub fn generate_share(context: &RlweContext, rng: &mut dyn CryptoRng) -> Result<Self, RlweError> {
        let id = KeyId::random(rng);
        Self::generate_share_named(context, id, rng)
    }

    /// Draws the secret key of one party of a joint secret, with the name that [`Reference::share_id`](crate::joint::Reference::share_id) gives it.
    ///
    /// # Errors
    /// Every error of [`generate`](Self::generate).
    pub fn generate_share_named(
        context: &RlweContext,
        id: KeyId,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        context.check_security()?;
        let coefficients = SecretDistribution::Ternary.sample(context.key_ring().degree(), rng)?;
        Self::from_coefficients(context, id, &coefficients)
    }

    /// Copies a secret key; explicit, since copies of secrets should be rare.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self { id: self.id, s: self.s.clone() }
    }

    /// Returns the secret key, under its name, in the ring of another context of its degree, for a key that leads from
    /// one to the other.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for another degree, or if the secret is not of the context `from`.
    pub fn in_context(&self, from: &RlweContext, to: &RlweContext) -> Result<Self, RlweError> {
        Self::from_coefficients(to, self.id, &self.coefficients(from)?)
    }

    /// Makes a secret key of the given coefficients.
    pub(crate) fn from_coefficients(
        context: &RlweContext,
        id: KeyId,
        coefficients: &[i64],
    ) -> Result<Self, RlweError> {
        let ring = context.key_ring();
        Ok(Self { id, s: ring.to_evaluation(ring.from_signed(coefficients)?)? })
    }

    /// The n coefficients of a secret key: −1, 0 or 1 for every power of X.
    pub(crate) fn coefficients(&self, context: &RlweContext) -> Result<Zeroizing<Vec<i64>>, RlweError> {
        if !context.key_ring().stores_residues() {
            // Every polynomial counts as zero there.
            return Ok(Zeroizing::new(vec![0; context.key_ring().degree()]));
        }
        let lowest = context.key_ring().at_level(1)?;
        let coefficients = Zeroizing::new(lowest.to_coefficient(context.key_ring().restrict(&self.s, 1)?)?);
        // The conversion is exact: coefficients are small.
        let floats = Zeroizing::new(lowest.to_floats(&coefficients)?);
        Ok(Zeroizing::new(floats.iter().map(|&c| c as i64).collect()))
    }

    /// The name of the secret key, which its public keys and ciphertexts carry.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The secret s in evaluation form, an element of the key ring.
    pub(crate) fn evaluation(&self) -> &Poly<Evaluation> {
        &self.s
    }

    /// The secret s in evaluation form, at a level of the key ring.
    pub(crate) fn at_level(
        &self,
        context: &RlweContext,
        level: usize,
    ) -> Result<Zeroizing<Poly<Evaluation>>, RlweError> {
        Ok(Zeroizing::new(context.key_ring().restrict(&self.s, level)?))
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.s.zeroize();
    }
}

/// A public key: the encryption of zero (−(a·s + e), a), modulo Qp where there is a special modulus p, otherwise modulo
/// Q.
///
/// ```
/// use sunzi_rlwe::{PublicKey, RlweContext, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(&context, &mut rng)?;
/// // Whoever encrypts needs the public key alone.
/// let public = PublicKey::generate(&context, &secret, &mut rng)?;
/// assert_eq!(public.id(), secret.id());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PublicKey {
    pub(crate) id: KeyId,
    /// Seed from which the uniform half a of a public key follows.
    pub(crate) seed: [u8; 32],
    pub(crate) body: Poly<Evaluation>,
    pub(crate) uniform: UniformHalf<Poly<Evaluation>>,
}

impl PublicKey {
    /// Makes a public key of the secret key `secret`.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring.
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        context.check_security()?;
        Self::over(&context.encryption_ring()?, context, secret, rng)
    }

    /// Makes the encryption of zero of a public key in a ring of some level of the key ring.
    pub(crate) fn over(
        ring: &Ring,
        context: &RlweContext,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let s = secret.at_level(context, ring.level())?;
        let seed = randomness::public_seed(rng);
        let a = ring.uniform(&mut randomness::public_stream(&seed, 0));
        let [body, uniform] = zero_sample(ring, &s, a, rng)?;
        Ok(Self { id: secret.id(), seed, body, uniform: uniform.into() })
    }

    /// The uniform half a of a public key, in the ring that it was made in.
    pub(crate) fn uniform(&self, ring: &Ring) -> Cow<'_, Poly<Evaluation>> {
        let draw = || Ok::<_, Infallible>(ring.uniform(&mut randomness::public_stream(&self.seed, 0)));
        self.uniform.get(draw).unwrap_or_else(|never| match never {})
    }

    /// The name of the secret key to which the public key belongs.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }
}

/// Returns the encryption of zero (−(a·s + e), a) for a given uniform a, in one ring: every key and secret-key
/// ciphertext is made of these.
pub(crate) fn zero_sample(
    ring: &Ring,
    s: &Poly<Evaluation>,
    a: Poly<Evaluation>,
    rng: &mut dyn CryptoRng,
) -> Result<[Poly<Evaluation>; 2], RlweError> {
    Ok([ring.error_sample(&[[&a, s]], 1, true, rng)?, a])
}

/// Returns −(Σ a_i·s_i + e), the first half of a [`zero_sample`] for a secret of several polynomials.
pub(crate) fn vector_sample(
    ring: &Ring,
    secrets: &[Zeroizing<Poly<Evaluation>>],
    uniform: &[Poly<Evaluation>],
    rng: &mut dyn CryptoRng,
) -> Result<Poly<Evaluation>, RlweError> {
    let products: Vec<[&Poly<Evaluation>; 2]> = uniform.iter().zip(secrets).map(|(a, s)| [a, &**s]).collect();
    Ok(ring.error_sample(&products, 1, true, rng)?)
}
