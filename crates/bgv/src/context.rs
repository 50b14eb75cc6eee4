//! The BGV context: ring, keys, levels and factors of one parameter set.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use num_traits::{ToPrimitive, Zero};
use sunzi_encoding::{EncodingError, check_pairwise_coprime, check_plain_modulus};
use sunzi_math::{mod_inv, mul_mod};
use sunzi_ring::{GadgetOptions, Ring, Scaler};
use sunzi_rlwe::noise::Tail;
use sunzi_rlwe::{
    Log2, NoiseBound, RlweContext, SecretDistribution, Security, Trace, galois, memory, reencryption,
    relinearization,
};

use crate::noise::{self, LevelNoise, NoiseSettings};
use crate::parameters::{check_dynamic, check_levels};
use crate::{Bgv, BgvError, Budget, Ciphertext, Metadata, Parameters, Usage};

/// Ring, plaintext modulus, levels and correction factors of BGV. Cheap to clone.
///
/// The [`Ring`] of a BGV context stores residues in words unless the context was made with another one. Keys do not
/// depend on the plaintext modulus: contexts that share a ring share keys.
///
/// ```
/// use sunzi_bgv::{BatchEncoder, Context, Encoder, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let parameters = Parameters::builder().depth(1).fresh_additions(1).plain_modulus(257).log2_degree(7);
/// # let parameters = parameters.security(sunzi_rlwe::Security::InsecureForResearchOnly).build()?;
/// # let context = Context::new(&parameters)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
/// # let a = context.encrypt_secret(&encoder.encode(&[1, 2])?, &secret, &mut rng)?;
/// assert_eq!((context.degree(), context.plain_modulus()), (128, 257));
/// let left = context.bits_left(&a)?;
/// assert!(left > 10.0, "{left} bits of noise are left");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

/// BGV contexts for several plaintext moduli, which share ring and keys: for integers wider than one of them. See
/// [`Parameters::contexts`].
///
/// ```
/// use sunzi_bgv::{CrtContext, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::builder().depth(0).plain_modulus(65537).build()?;
/// let contexts: CrtContext = parameters.contexts(&[65537, 114_689])?;
/// assert_eq!(contexts.plain_moduli(), [65537, 114_689]);
/// assert_eq!(contexts[1].degree(), contexts[0].degree());
/// # Ok(())
/// # }
/// ```
pub type CrtContext = sunzi_rlwe::CrtContext<Bgv>;

#[derive(Debug)]
struct Inner {
    rlwe: RlweContext,
    plain_modulus: u64,
    /// Moduli Q_0, …, Q_L, Q_(L+1) of the chain.
    places: Vec<Place>,
    /// Correction factor f of every level, from 0 to L.
    factors: Vec<u64>,
    /// Scalers that decrypt by the first 1, 2, … moduli, made at first use.
    scalers: Vec<OnceLock<Scaler>>,
    budget: Budget,
    /// Noise of every level when all that is declared is used.
    levels: Vec<LevelNoise>,
    tail: Tail,
}

/// One modulus Q_i of the BGV chain.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Number of moduli of the ring that Q_i is made of.
    pub(crate) limbs: usize,
    /// Factor of the last modulus of Q_i that belongs to Q_i; 0 if all of it does.
    pub(crate) share: u64,
    /// Product Q_i of the moduli.
    pub(crate) modulus: BigUint,
    /// Size log2 Q_i.
    pub(crate) bits: f64,
}

/// Settings of a BGV context over an existing ring.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Plaintext modulus t.
    pub plain_modulus: u64,
    /// Numbers of moduli of Q_0, Q_1, …, Q_L.
    pub levels: Vec<usize>,
    /// Factor of the last modulus that belongs to each Q_i, 0 for all of it; empty where no modulus is shared by
    /// levels.
    pub shares: Vec<u64>,
    /// Digits and special moduli of key switching.
    pub key_switching: GadgetOptions,
    /// Operations that are declared.
    pub budget: Budget,
    /// Security that the context must reach.
    pub security: Security,
    /// Distribution of secrets: uniform ternary ones, or joint ones of several parties.
    pub secrets: SecretDistribution,
}

impl From<&Parameters> for Settings {
    fn from(parameters: &Parameters) -> Self {
        Self {
            plain_modulus: parameters.plain_modulus(),
            levels: parameters.levels().to_vec(),
            shares: parameters.shares().to_vec(),
            key_switching: parameters.key_switching().clone(),
            budget: *parameters.budget(),
            security: parameters.security(),
            secrets: parameters.secrets(),
        }
    }
}

impl Context {
    /// Builds the BGV context of `parameters`.
    ///
    /// # Errors
    /// Every error of [`Parameters::validate`]; [`BgvError::Ring`] for moduli the ring cannot use;
    /// [`RlweError::Memory`](sunzi_rlwe::RlweError::Memory) in a [`BgvError::Rlwe`], before any work, where the
    /// machine cannot hold the tables.
    pub fn new(parameters: &Parameters) -> Result<Self, BgvError> {
        parameters.validate()?;
        memory::require(parameters.table_bytes())?;
        Self::with_ring(parameters.poly_ring()?, &Settings::from(parameters))
    }
}

impl Context {
    /// Builds a BGV context over an existing ring.
    ///
    /// # Errors
    /// [`BgvError::Rlwe`] above the security limit; [`BgvError::LevelsUnusable`] for levels the ring has not;
    /// [`BgvError::Encoding`] and [`BgvError::Math`] for a plaintext modulus out of range or not coprime to the moduli.
    pub fn with_ring(ring: Ring, settings: &Settings) -> Result<Self, BgvError> {
        check_plain_modulus(settings.plain_modulus)?;
        check_levels(&settings.levels, &settings.shares, ring.level())?;
        let rlwe = RlweContext::with_gadget(ring, settings.security, &settings.key_switching)?;
        settings.secrets.check_dense(rlwe.ring().degree())?;
        Self::over(rlwe.with_secrets(settings.secrets)?, settings)
    }

    /// Makes a BGV context of the same ring, keys and levels with another plaintext modulus: the two contexts share
    /// their tables.
    ///
    /// # Errors
    /// [`BgvError::Encoding`] and [`BgvError::Math`] for a plaintext modulus out of range or not coprime to the moduli.
    pub fn with_plain_modulus(&self, plain_modulus: u64) -> Result<Self, BgvError> {
        check_plain_modulus(plain_modulus)?;
        let rlwe = self.rlwe();
        let (levels, shares) = self.level_places().unzip();
        let settings = Settings {
            plain_modulus,
            levels,
            shares,
            key_switching: rlwe.gadget().options().clone(),
            budget: *self.budget(),
            security: rlwe.security(),
            secrets: rlwe.secrets(),
        };
        Self::over(rlwe.clone(), &settings)
    }

    fn over(rlwe: RlweContext, settings: &Settings) -> Result<Self, BgvError> {
        rlwe.check_whole("BGV")?;
        let Settings { plain_modulus, levels, shares, budget, .. } = settings;
        let count = rlwe.level();
        let places = places(&rlwe, levels, shares)?;
        if budget.is_dynamic() {
            check_dynamic(places.iter().map(|place| place.modulus.clone()), *plain_modulus)?;
        }
        let factors = factors(&places, *plain_modulus)?;
        let scalers = (0..count).map(|_| OnceLock::new()).collect();
        let tail = Tail::new(rlwe.ring().expansion());
        let levels = level_noise(&rlwe, &places, *plain_modulus)?.levels(budget);
        let inner = Inner {
            rlwe,
            plain_modulus: *plain_modulus,
            places,
            factors,
            scalers,
            budget: *budget,
            levels,
            tail,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The RLWE context: ring, key switching and security.
    #[must_use]
    pub fn rlwe(&self) -> &RlweContext {
        &self.inner.rlwe
    }

    /// The ring of fresh BGV ciphertexts.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        self.inner.rlwe.ring()
    }

    /// The ring degree n of a BGV context.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.ring().degree()
    }

    /// The plaintext modulus t of a BGV context.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.inner.plain_modulus
    }

    /// The depth L of a BGV context: multiplications in a row, and the level of fresh ciphertexts.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.inner.factors.len().saturating_sub(1)
    }

    /// The operations that the BGV parameters declare.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.inner.budget
    }

    /// The correction factor f of a level: its ciphertexts, read as BFV, hold f·m.
    #[must_use]
    pub fn factor(&self, level: usize) -> Option<u64> {
        self.inner.factors.get(level).copied()
    }

    /// Numbers of moduli of Q_0, …, Q_L, and the factor of the last one that belongs to each, 0 for all of it.
    pub(crate) fn level_places(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let levels = self.inner.places.iter().take(self.inner.factors.len());
        levels.map(|place| (place.limbs, place.share))
    }

    /// The modulus Q_i of place i in the chain.
    pub(crate) fn place(&self, place: usize) -> Result<&Place, BgvError> {
        let missing = BgvError::LevelMismatch { level: place, limbs: 0, factor: 0 };
        self.inner.places.get(place).ok_or(missing)
    }

    /// The index i of the modulus Q_i of fresh ciphertexts: L + 1, or L where Q_(L+1) = Q_L and no switch is due.
    pub(crate) fn top(&self) -> usize {
        let depth = self.depth();
        let last = self.inner.places.get(depth..);
        let same = matches!(last, Some([own, above]) if own.modulus == above.modulus);
        depth + usize::from(!same)
    }

    /// The places that the modulus of a ciphertext of a level may have: that of the level and the next one, or any with
    /// dynamic switching.
    pub(crate) fn places_at(&self, level: usize) -> RangeInclusive<usize> {
        if self.budget().is_dynamic() { 0..=self.top() } else { level..=level + 1 }
    }

    /// The ring of the parts of a BGV ciphertext.
    pub(crate) fn ring_of(&self, ciphertext: &Ciphertext) -> Result<Ring, BgvError> {
        Ok(self.rlwe().ring_at(self.place(ciphertext.metadata().place)?.limbs)?)
    }

    /// The scaler that decrypts by the first `limbs` moduli.
    pub(crate) fn scaler(&self, limbs: usize) -> Result<&Scaler, BgvError> {
        let none = || BgvError::LevelMismatch { level: 0, limbs, factor: 0 };
        let slot = self.inner.scalers.get(limbs.wrapping_sub(1)).ok_or_else(none)?;
        if let Some(scaler) = slot.get() {
            return Ok(scaler);
        }
        let made = self.rlwe().ring_at(limbs)?.decryption_scaler(self.plain_modulus())?;
        Ok(slot.get_or_init(|| made))
    }

    /// Fails unless a BGV ciphertext belongs to the context; returns the place of its modulus.
    pub(crate) fn check(&self, ciphertext: &Ciphertext) -> Result<usize, BgvError> {
        let &Metadata { plain_modulus: got, level, place, factor, .. } = ciphertext.metadata();
        let expected = self.plain_modulus();
        if got != expected {
            return Err(BgvError::PlainModulusMismatch { expected, got });
        }
        let part = ciphertext.parts().first().ok_or(BgvError::Empty { what: "a ciphertext" })?;
        let limbs = self.ring().level_of(part)?;
        let known = self.inner.places.get(place).is_some_and(|place| place.limbs == limbs);
        let stands = self.places_at(level).contains(&place);
        if self.factor(level) == Some(factor) && known && stands {
            Ok(place)
        } else {
            Err(BgvError::LevelMismatch { level, limbs, factor })
        }
    }

    /// log2 of the largest noise that decrypts at the modulus Q of a place: Q/2t. Where only a part of the last word
    /// counts, the noise that decrypts after the switch to the moduli below.
    pub(crate) fn log2_noise_capacity(&self, place: usize) -> f64 {
        let half = (2.0 * self.plain_modulus() as f64).log2();
        let Some(own) = self.inner.places.get(place) else { return f64::NEG_INFINITY };
        if own.share == 0 {
            return own.bits - half;
        }
        let Some(whole) = self.whole_below(place) else { return f64::NEG_INFINITY };
        let steps = (place - whole) as f64;
        let rounding = NoiseBound::dependent(self.rlwe().noise_model().mod_switch(2), 0).times_norm(steps);
        let below = self.inner.places.get(whole).map_or(f64::NEG_INFINITY, |below| below.bits);
        let share = (self.noise_bound(&rounding).bits() - (below - half)).exp2();
        own.bits - half + (1.0 - share).max(0.0).log2()
    }

    /// The next place below `place` in the chain of moduli whose last word counts as a whole.
    pub(crate) fn whole_below(&self, place: usize) -> Option<usize> {
        (0..place).rev().find(|&below| self.inner.places.get(below).is_some_and(|below| below.share == 0))
    }

    /// Bits left before decryption of a BGV ciphertext may fail: log2 of the noise capacity at its modulus minus log2
    /// of its noise. Operations that would leave fewer than none are refused.
    ///
    /// # Errors
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for one of other parameters.
    pub fn bits_left(&self, ciphertext: &Ciphertext) -> Result<f64, BgvError> {
        Ok(self.room(self.check(ciphertext)?, ciphertext.noise()))
    }

    pub(crate) fn room(&self, place: usize, noise: &NoiseBound) -> f64 {
        let left = self.log2_noise_capacity(place) - noise.bound_by(&self.inner.tail).bits();
        if left.is_nan() { f64::NEG_INFINITY } else { left }
    }

    /// The noise of every BGV level, level 0 first, when all that is declared is used.
    #[must_use]
    pub fn level_noise(&self) -> &[LevelNoise] {
        &self.inner.levels
    }

    /// The bound on a noise that holds except with probability 2^-128.
    pub(crate) fn noise_bound(&self, noise: &NoiseBound) -> Log2 {
        noise.bound_by(&self.inner.tail)
    }

    /// Makes the metadata of a BGV ciphertext from its level and the place of its modulus.
    pub(crate) fn metadata(&self, level: usize, place: usize, usage: Usage) -> Result<Metadata, BgvError> {
        let missing = BgvError::LevelMismatch { level, limbs: 0, factor: 0 };
        let factor = self.factor(level).ok_or(missing)?;
        Ok(Metadata { plain_modulus: self.plain_modulus(), level, place, factor, usage })
    }

    /// The constant f_to/f_from modulo t, which converts a ciphertext of one level to the factor of another.
    pub(crate) fn adjustment(&self, from: usize, to: usize) -> Result<u64, BgvError> {
        let missing = |level| BgvError::LevelMismatch { level, limbs: 0, factor: 0 };
        let t = self.plain_modulus();
        let [from, to] = [from, to].map(|level| self.factor(level).ok_or_else(|| missing(level)));
        Ok(mul_mod(to?, mod_inv(from?, t)?, t))
    }

    /// Bits left in the result of a BGV operation; fails if the operation was not declared or its result might not
    /// decrypt.
    pub(crate) fn admit(&self, result: &Ciphertext, operation: &'static str) -> Result<f64, BgvError> {
        let (depth, metadata) = (self.depth(), result.metadata());
        let level = metadata.level;
        let declared = &self.budget().at(level, depth);
        if let Some(excess) = metadata.usage.excess(operation, level, level == depth, declared) {
            return Err(BgvError::Undeclared(excess));
        }
        let left = self.room(metadata.place, result.noise());
        if left < 0.0 {
            return Err(BgvError::BudgetExceeded { operation, level, bits_short: -left });
        }
        Ok(left)
    }

    /// Ends a BGV operation: fails if the result is not admitted, else notes in the result what made it.
    pub(crate) fn finish(
        &self,
        result: Ciphertext,
        operation: &'static str,
        operands: &[&Trace],
    ) -> Result<Ciphertext, BgvError> {
        sunzi_rlwe::evaluator::finish(self, result, operation, operands)
    }
}

impl Parameters {
    /// Builds a BGV context for each of several plaintext moduli, in place of the one of these parameters; all share
    /// ring, tables and keys.
    ///
    /// # Errors
    /// Every error of [`validate`](Self::validate) with each of them, and of [`Context::new`];
    /// [`EncodingError::NoPlainModuli`]; [`EncodingError::PlainModuliNotCoprime`].
    pub fn contexts(&self, plain_moduli: &[u64]) -> Result<CrtContext, BgvError> {
        check_pairwise_coprime(plain_moduli)?;
        let with = |&t: &u64| self.clone().with_plain_modulus(t);
        plain_moduli.iter().try_for_each(|t| with(t).validate())?;
        let first = plain_moduli.first().map(with).ok_or(EncodingError::NoPlainModuli)?;
        CrtContext::new(&Context::new(&first)?, plain_moduli)
    }
}

/// The moduli Q_0, …, Q_L, Q_(L+1) of a ring.
fn places(rlwe: &RlweContext, levels: &[usize], shares: &[u64]) -> Result<Vec<Place>, BgvError> {
    let shares = shares.iter().copied().chain(std::iter::repeat(0));
    let mut places = Vec::with_capacity(levels.len() + 1);
    for (limbs, share) in levels.iter().copied().zip(shares).chain([(rlwe.level(), 0)]) {
        let mut modulus = rlwe.ring_at(limbs)?.modulus().clone();
        if share > 0 {
            let below = match limbs {
                1 => BigUint::from(1_u8),
                _ => rlwe.ring_at(limbs - 1)?.modulus().clone(),
            };
            // Shares that are no factors of the last modulus, and levels that do not describe this ring, are
            // refused.
            let unusable = || BgvError::LevelsUnusable { levels: levels.to_vec(), moduli: rlwe.level() };
            let word = &modulus / &below;
            if !(&word % share).is_zero() || word == share.into() || limbs < 2 {
                return Err(unusable());
            }
            modulus = below * share;
        }
        let bits = sunzi_math::log2(&modulus);
        places.push(Place { limbs, share, modulus, bits });
    }
    Ok(places)
}

/// The noise settings of the levels of a BGV chain.
fn level_noise(rlwe: &RlweContext, places: &[Place], plain_modulus: u64) -> Result<NoiseSettings, BgvError> {
    let (ring, secret) = (rlwe.ring().expansion(), rlwe.noise_model());
    let (mut log2_moduli, mut below) = (Vec::new(), 0.0);
    let (mut relinearization, mut rotation, mut handing_on) = (Vec::new(), Vec::new(), Vec::new());
    for place in places {
        log2_moduli.push(place.bits - below);
        below = place.bits;
        relinearization.push(relinearization::added_noise_at(rlwe, place.limbs)?);
        rotation.push(galois::added_noise_at(rlwe, place.limbs)?);
        handing_on.push(reencryption::added_noise_at(rlwe, place.limbs)?);
    }
    let fresh = noise::fresh(&secret, rlwe.log2_encryption_excess());
    Ok(NoiseSettings {
        ring,
        plain_modulus,
        log2_moduli,
        fresh,
        relinearization,
        rotation,
        reencryption: handing_on,
        rounding: secret.mod_switch(2),
    })
}

/// The correction factors of all levels: f_L = 1 and f_(l−1) = −Q_l·f_l² modulo t. A product t·u·u′ at Q_l of
/// ciphertexts with factor f_l holds −Q_l·f_l²·m·m′.
fn factors(places: &[Place], plain_modulus: u64) -> Result<Vec<u64>, BgvError> {
    let mut factor = 1;
    let mut factors = vec![factor];
    let levels = places.split_last().map_or(places, |(_, levels)| levels);
    for place in levels.iter().skip(1).rev() {
        let q = (&place.modulus % plain_modulus).to_u64().unwrap_or(0);
        let square = mul_mod(factor, factor, plain_modulus);
        factor = (plain_modulus - mul_mod(q, square, plain_modulus)) % plain_modulus;
        factors.push(factor);
    }
    factors.reverse();
    // Factors are invertible exactly if Q and t are coprime.
    factors.iter().try_for_each(|&factor| mod_inv(factor, plain_modulus).map(|_| ()))?;
    Ok(factors)
}
