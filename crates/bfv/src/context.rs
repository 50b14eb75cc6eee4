//! The BFV context: ring, keys and scaling tables of one parameter set.

use std::sync::{Arc, OnceLock};

use sunzi_ring::{Ring, Scaler};
use sunzi_rlwe::noise::Tail;
use sunzi_rlwe::wire::StoredParameters;
use sunzi_rlwe::{
    Log2, NoiseBound, NoiseTerm, RlweContext, SecretDistribution, Security, Trace, memory, relinearization,
};

use crate::noise::{LevelModel, ProductModel};
use crate::{Algorithms, Bfv, BfvError, Ciphertext, CrtParameters, EncodingError, Parameters};

/// Ring, plaintext modulus and scaling tables of BFV. Cheap to clone.
///
/// The [`Ring`] of a BFV context stores residues in words unless the context was made with another one. Contexts that
/// share ring and secret key may differ in plaintext modulus: keys do not depend on it.
///
/// ```
/// use sunzi_bfv::{BatchEncoder, Context, Encoder, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(1).plain_modulus(257).log2_degree(7);
/// # let parameters = parameters.security(sunzi_rlwe::Security::InsecureForResearchOnly).build()?;
/// # let context = Context::new(&parameters)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// # let a = context.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
/// assert_eq!((context.degree(), context.plain_modulus()), (128, 257));
/// let left = context.bits_left(&a);
/// assert!(left > 10.0, "{left} bits of noise are left");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

/// BFV contexts for several plaintext moduli, which share ring and keys: for integers wider than one of them.
///
/// ```
/// use sunzi_bfv::{Evaluator, Parameters};
/// use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::builder().depth(1).plain_range(10_u128.pow(24)).build_crt()?;
/// let contexts = parameters.contexts()?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
/// let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
/// let key = RelinearizationKey::generate(contexts.rlwe(), &secret, &mut rng)?;
///
/// let encoder = contexts.encoder()?;
/// let x = contexts.encrypt(&encoder.encode(&[-987_654_321_098])?, &public, &mut rng)?;
/// let square = contexts.compute([&x], |context, [x]| Evaluator::new(context).square(x, &key))?;
/// let opened = encoder.decode(&contexts.decrypt(&square, &secret)?)?;
/// assert_eq!(opened[0], 987_654_321_098 * 987_654_321_098);
/// # Ok(())
/// # }
/// ```
pub type CrtContext = sunzi_rlwe::CrtContext<Bfv>;

#[derive(Debug)]
struct Inner {
    rlwe: RlweContext,
    plain_modulus: u64,
    algorithms: Algorithms,
    scaler: Scaler,
    tail: Tail,
    /// Noise models of products by level, the lowest first, computed when a product first asks.
    levels: OnceLock<Vec<LevelModel>>,
}

impl Context {
    /// Builds the BFV context of `parameters`.
    ///
    /// # Errors
    /// Every error of [`Parameters::validate`]; [`BfvError::Ring`] for moduli the ring cannot use;
    /// [`RlweError::Memory`](sunzi_rlwe::RlweError::Memory) in a [`BfvError::Rlwe`], before any work, where the
    /// machine cannot hold the tables.
    pub fn new(parameters: &Parameters) -> Result<Self, BfvError> {
        parameters.validate()?;
        memory::require(StoredParameters::table_bytes(parameters))?;
        let ring = Ring::new(parameters.ring().index(), parameters.moduli())?;
        let (t, algorithms) = (parameters.plain_modulus(), parameters.algorithms());
        let rlwe = RlweContext::with_gadget(ring, parameters.security(), &algorithms.key_switching)?;
        Self::over(rlwe.with_secrets(parameters.secrets())?, t, algorithms)
    }
}

impl Context {
    /// Builds a BFV context over an existing ring.
    ///
    /// # Errors
    /// [`BfvError::Rlwe`] above the security limit; [`BfvError::Ring`] for a plaintext modulus the ring cannot scale.
    pub fn with_ring(ring: Ring, plain_modulus: u64, security: Security) -> Result<Self, BfvError> {
        Self::with_algorithms(ring, plain_modulus, security, &Algorithms::default())
    }

    /// Builds a BFV context over an existing ring, with a choice of algorithms.
    ///
    /// # Errors
    /// Every error of [`with_ring`](Self::with_ring), and [`BfvError::Ring`] for algorithms the ring cannot follow.
    pub fn with_algorithms(
        ring: Ring,
        plain_modulus: u64,
        security: Security,
        algorithms: &Algorithms,
    ) -> Result<Self, BfvError> {
        Self::over(
            RlweContext::with_gadget(ring, security, &algorithms.key_switching)?,
            plain_modulus,
            algorithms,
        )
    }

    /// Makes the BFV context of the same ring for secrets of another distribution than the uniform ternary one: joint secrets of several parties.
    ///
    /// # Errors
    /// Every error of [`with_ring`](Self::with_ring); [`BfvError::Ring`] for sparse secrets, and unless 2 to 1024 parties have a joint one.
    pub fn with_secrets(&self, secrets: SecretDistribution) -> Result<Self, BfvError> {
        let Inner { rlwe, plain_modulus, algorithms, .. } = &*self.inner;
        secrets.check_dense(rlwe.ring().degree())?;
        Self::over(rlwe.clone().with_secrets(secrets)?, *plain_modulus, algorithms)
    }

    fn over(rlwe: RlweContext, plain_modulus: u64, algorithms: &Algorithms) -> Result<Self, BfvError> {
        rlwe.check_whole("BFV")?;
        let scaler = rlwe.ring().scaler(plain_modulus, &algorithms.scaling)?;
        let tail = Tail::new(rlwe.ring().expansion());
        Ok(Self {
            inner: Arc::new(Inner {
                rlwe,
                plain_modulus,
                algorithms: algorithms.clone(),
                scaler,
                tail,
                levels: OnceLock::new(),
            }),
        })
    }

    /// Makes a BFV context of the same ring and keys with another plaintext modulus: the two contexts share their
    /// tables.
    ///
    /// # Errors
    /// Every error of [`with_ring`](Self::with_ring).
    pub fn with_plain_modulus(&self, plain_modulus: u64) -> Result<Self, BfvError> {
        let Inner { rlwe, algorithms, .. } = &*self.inner;
        Self::over(rlwe.clone(), plain_modulus, algorithms)
    }

    /// The noise model of products at a level; for a level that does not exist, the model without a dropped modulus.
    pub(crate) fn level_model(&self, level: usize) -> LevelModel {
        let models = self
            .inner
            .levels
            .get_or_init(|| (1..=self.rlwe().level()).map(|level| self.model_of(level)).collect());
        models.get(level.wrapping_sub(1)).copied().unwrap_or_else(|| self.model_of(level))
    }

    fn model_of(&self, level: usize) -> LevelModel {
        let rlwe = self.rlwe();
        let log2_modulus = rlwe.log2_modulus();
        let log2_at_level = rlwe.log2_modulus_at(level).unwrap_or(log2_modulus);
        let log2_dropped = if level == rlwe.level() { 0.0 } else { log2_modulus - log2_at_level };
        let product = ProductModel {
            ring: self.ring().expansion(),
            secrets: rlwe.secrets(),
            plain_modulus: self.plain_modulus() as f64,
            log2_modulus,
            log2_dropped,
            bounds: *self.scaler().bounds(),
        };
        let noise = relinearization::added_noise_at(rlwe, level).unwrap_or_else(|_| NoiseTerm::unbounded());
        LevelModel { product, relinearization: noise.scaled(Log2::from_bits(log2_dropped)) }
    }

    /// The RLWE context: ring, key switching and security.
    #[must_use]
    pub fn rlwe(&self) -> &RlweContext {
        &self.inner.rlwe
    }

    /// The ciphertext ring R_q.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        self.inner.rlwe.ring()
    }

    /// The ring degree n of a BFV context.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.ring().degree()
    }

    /// The plaintext modulus t of a BFV context.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.inner.plain_modulus
    }

    /// The algorithms that a BFV context uses.
    #[must_use]
    pub fn algorithms(&self) -> &Algorithms {
        &self.inner.algorithms
    }

    /// The tables that extend operands, scale by t/q and decrypt.
    #[must_use]
    pub fn scaler(&self) -> &Scaler {
        &self.inner.scaler
    }

    /// Fails unless a ciphertext has the plaintext modulus and all moduli of this context. Operations that are alike
    /// at every level do not check.
    pub(crate) fn check(&self, ciphertext: &Ciphertext) -> Result<(), BfvError> {
        self.check_plain_modulus(*ciphertext.metadata())?;
        let expected = self.ring().level();
        for part in ciphertext.parts() {
            let got = self.ring().level_of(part)?;
            if got != expected {
                return Err(BfvError::LevelMismatch { expected, got });
            }
        }
        Ok(())
    }

    pub(crate) fn check_plain_modulus(&self, got: u64) -> Result<(), BfvError> {
        let expected = self.plain_modulus();
        if got == expected { Ok(()) } else { Err(BfvError::PlainModulusMismatch { expected, got }) }
    }

    /// log2 of the largest noise that a BFV ciphertext may have to decrypt: (1/2 − k/γ)·q/t `[BEHZ16, Theorem 1]`.
    #[must_use]
    pub fn log2_noise_capacity(&self) -> f64 {
        let margin = Log2::of(self.scaler().bounds().decryption_margin).bits();
        margin + self.rlwe().log2_modulus() - (self.plain_modulus() as f64).log2()
    }

    /// Bits left before decryption of a BFV ciphertext may fail: log2 of the noise capacity minus log2 of the noise.
    /// Below 0 a right answer is not guaranteed, and [`decrypt`](Self::decrypt) refuses.
    #[must_use]
    pub fn bits_left(&self, noise: impl AsRef<NoiseBound>) -> f64 {
        self.log2_noise_capacity() - noise.as_ref().bound_by(&self.inner.tail).bits()
    }

    /// Notes in a ciphertext's trace that `operation` made it from `operands`, or in place.
    pub(crate) fn record(
        &self,
        mut ciphertext: Ciphertext,
        operation: &'static str,
        operands: &[&Trace],
    ) -> Ciphertext {
        ciphertext.record(operation, self.bits_left(ciphertext.noise()), operands);
        ciphertext
    }
}

impl CrtParameters {
    /// Builds a BFV context for each plaintext modulus t_i; the contexts share ring, tables and keys.
    ///
    /// # Errors
    /// Every error of [`validate`](Self::validate) and of [`Context::new`].
    pub fn contexts(&self) -> Result<CrtContext, BfvError> {
        self.validate()?;
        let parts = self.parts();
        let first = parts.first().ok_or(EncodingError::NoPlainModuli)?;
        CrtContext::new(&Context::new(first)?, self.plain_moduli())
    }
}
