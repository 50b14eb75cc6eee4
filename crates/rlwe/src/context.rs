//! Contexts of the RLWE layer: a ring together with the security that it must reach.

use sunzi_ring::{Gadget, GadgetOptions, Ring};

use crate::noise::NoiseModel;
use crate::{RlweError, SecretDistribution, Security, security};

/// A context: the ring of a parameter set, checked against the security table.
#[derive(Clone, Debug)]
pub struct RlweContext {
    ring: Ring,
    gadget: Gadget,
    security: Security,
    secret: SecretDistribution,
    module_rank: usize,
    log2_modulus: f64,
    log2_key_modulus: f64,
    log2_encryption_excess: f64,
}

impl RlweContext {
    /// Makes the context of a ring and the security that it must reach.
    ///
    /// # Errors
    /// [`RlweError::Insecure`] when log2 q exceeds the table's limit.
    pub fn new(ring: Ring, security: Security) -> Result<Self, RlweError> {
        Self::with_gadget(ring, security, &GadgetOptions::default())
    }

    /// Makes the context of a ring, a security, and options by which key switching cuts polynomials into digits.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new), for log2 QP with special moduli; [`RlweError::Ring`] for options the ring
    /// cannot follow.
    pub fn with_gadget(ring: Ring, security: Security, options: &GadgetOptions) -> Result<Self, RlweError> {
        let log2_modulus = sunzi_math::log2(ring.modulus());
        let gadget = ring.gadget(options)?;
        let log2_key_modulus = log2_modulus + gadget.log2_special();
        let special = options.special_moduli.first();
        let log2_encryption_excess = special.map_or(0.0, |&p| (p as f64).log2());
        let secret = SecretDistribution::Ternary;
        let context = Self {
            ring,
            gadget,
            security,
            secret,
            module_rank: 1,
            log2_modulus,
            log2_key_modulus,
            log2_encryption_excess,
        };
        context.check_security()?;
        Ok(context)
    }

    /// Makes the context of the levels up to `level`, for the same secrets, with special moduli of its own and digits as long as
    /// these have room for: ciphertexts of these levels belong to both contexts, keys to one.
    ///
    /// ```
    /// use sunzi_math::primes_below;
    /// use sunzi_rlwe::{RlweContext, Security};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let primes = primes_below(1 << 47, 128, 4)?;
    /// let ring = sunzi_ring::Ring::new(128, &primes[..3])?;
    /// let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
    /// let lower = context.up_to(2, &primes[3..])?;
    /// assert_eq!((lower.level(), lower.key_ring().level()), (2, 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`RlweError::Insecure`] when log2 Q_l·P exceeds the table's limit, before any table is made; [`RlweError::Ring`] for a level
    /// that does not exist and for special moduli that the ring cannot have.
    pub fn up_to(&self, level: usize, special_moduli: &[u64]) -> Result<Self, RlweError> {
        let log2_key_modulus = self.log2_modulus_at(level)? + sunzi_math::log2_product(special_moduli);
        security::check_of(self.secret, self.dimension(), log2_key_modulus, self.security)?;
        let options = GadgetOptions { special_moduli: special_moduli.to_vec(), ..GadgetOptions::default() };
        let lower = Self::with_gadget(self.ring_at(level)?, self.security, &options)?;
        lower.with_module_secrets(self.secret, self.module_rank)
    }

    /// Fails where the ring is a real one, for a scheme or an operation that takes the whole ring.
    ///
    /// # Errors
    /// [`RlweError::RealRing`].
    pub fn check_whole(&self, what: &'static str) -> Result<(), RlweError> {
        if self.ring.ring_index().is_real() { Err(RlweError::RealRing { what }) } else { Ok(()) }
    }

    /// Returns the context for secrets of the given distribution; the default is uniform ternary.
    ///
    /// # Errors
    /// [`RlweError::Insecure`] when log2 QP exceeds the limit for such secrets; [`RlweError::Ring`] for a weight of none or of more
    /// than n.
    pub fn with_secrets(self, secret: SecretDistribution) -> Result<Self, RlweError> {
        self.with_module_secrets(secret, 1)
    }

    /// Returns the context for secrets that are vectors of `rank` polynomials: the distribution holds for all their
    /// coefficients together, and the security table is asked about the dimension n·rank of module learning with
    /// errors, which is all that its attacks know of a ring.
    ///
    /// # Errors
    /// Every error of [`with_secrets`](Self::with_secrets); [`RlweError::Ring`] for a rank of none.
    pub(crate) fn with_module_secrets(
        self,
        secret: SecretDistribution,
        module_rank: usize,
    ) -> Result<Self, RlweError> {
        let context = Self { secret, module_rank, ..self };
        secret.check(context.dimension())?;
        context.check_security()?;
        Ok(context)
    }

    /// The dimension of secrets: ring degree n times the rank of a module.
    pub(crate) fn dimension(&self) -> usize {
        self.ring.degree().saturating_mul(self.module_rank)
    }

    /// Checks the modulus of keys, special moduli included, against the security table; called for every key.
    pub(crate) fn check_security(&self) -> Result<(), RlweError> {
        security::check_of(self.secret, self.dimension(), self.log2_key_modulus, self.security)
    }

    /// The ciphertext ring R_q of the context.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The number k of ciphertext moduli, which is the level of fresh ciphertexts.
    pub fn level(&self) -> usize {
        self.ring.level()
    }

    /// The ring R_{Q_l} of a level l, which shares the tables of the context's ring.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    pub fn ring_at(&self, level: usize) -> Result<Ring, RlweError> {
        Ok(self.ring.at_level(level)?)
    }

    /// The size log2 Q_l of the modulus of a level.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    pub fn log2_modulus_at(&self, level: usize) -> Result<f64, RlweError> {
        Ok(sunzi_math::log2(self.ring_at(level)?.modulus()))
    }

    /// The number of words that a key switch transforms, by which [`sunzi_ring::on_pool`] judges steps that are worth one or more.
    #[must_use]
    pub fn switch_words(&self) -> usize {
        self.ring.degree() * self.key_ring().level() * self.gadget.digit_count()
    }

    /// The key ring R_QP of secrets and keys; R_q without special moduli. Its first levels are the levels of
    /// the ring.
    pub fn key_ring(&self) -> &Ring {
        self.gadget.key_ring()
    }

    /// The ring in which the public key encrypts: R_Qp for the first special modulus p `[KPZ21, 3.1]`, R_Q without special
    /// moduli.
    ///
    /// # Errors
    /// [`RlweError::Ring`] never: the key ring has this level.
    pub fn encryption_ring(&self) -> Result<Ring, RlweError> {
        let key_ring = self.key_ring();
        Ok(key_ring.at_level(key_ring.level().min(self.level() + 1))?)
    }

    /// The size log2 p of the special modulus for encryption modulo Qp; 0 without special moduli.
    pub fn log2_encryption_excess(&self) -> f64 {
        self.log2_encryption_excess
    }

    /// The size log2 QP of the key modulus, which the security table limits.
    pub fn log2_key_modulus(&self) -> f64 {
        self.log2_key_modulus
    }

    /// The gadget, by which key switching cuts polynomials of a level into digits; tables are made at first use.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    pub fn gadget_at(&self, level: usize) -> Result<Gadget, RlweError> {
        Ok(self.gadget.at_level(level)?)
    }

    /// The approximate number of bytes of a switching key for ciphertexts of the given level, with the half that
    /// follows from a seed: a residue has as many bytes as its modulus.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level that does not exist.
    pub fn switch_key_bytes(&self, level: usize) -> Result<u64, RlweError> {
        let gadget = self.gadget_at(level)?;
        let ring = gadget.key_ring();
        let bytes = (sunzi_math::log2(ring.modulus()) / 8.0 / ring.level() as f64).ceil() as u64;
        let polynomial = (ring.degree() as u64).saturating_mul(bytes * ring.level() as u64);
        Ok(polynomial.saturating_mul(2 * gadget.digit_count() as u64))
    }

    /// The options of the gadget of key switching.
    pub(crate) fn options(&self) -> &GadgetOptions {
        self.gadget.options()
    }

    /// The gadget, by which key switching cuts polynomials of the highest level into digits.
    pub fn gadget(&self) -> &Gadget {
        &self.gadget
    }

    /// The security level that the parameters must reach.
    pub fn security(&self) -> Security {
        self.security
    }

    /// The distribution of the coefficients of secrets.
    pub fn secrets(&self) -> SecretDistribution {
        self.secret
    }

    /// The number of parties whose secrets a secret is the sum of.
    pub fn parties(&self) -> u32 {
        self.secret.parties()
    }

    /// The noise model of the context: what operations add to noise in its ring under its secrets.
    pub fn noise_model(&self) -> NoiseModel {
        NoiseModel::new(self.ring.expansion(), self.secret).with_growth(self.ring.rounding_growth())
    }

    /// The size log2 q of the ciphertext modulus.
    pub fn log2_modulus(&self) -> f64 {
        self.log2_modulus
    }
}
