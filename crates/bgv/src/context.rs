//! The tables of one BGV parameter set.

use std::sync::{Arc, OnceLock};

use num_traits::ToPrimitive;
use sunzi_math::{mod_inv, mul_mod};
use sunzi_ring::{GadgetOptions, PolyRing, Ring, ScalerOptions};
use sunzi_rlwe::noise::Tail;
use sunzi_rlwe::{Log2, NoiseBound, RlweContext, Security, Trace, relinearization};

use crate::noise::{self, LevelNoise, NoiseSettings};
use crate::parameters::check_levels;
use crate::{BgvError, Budget, Ciphertext, Metadata, Parameters, Usage};

/// Ring, plaintext modulus, levels and their factors. Cheap to clone.
///
/// `R` is the ring seam: the word-size RNS [`Ring`] unless said otherwise, or
/// [`BigRing`](sunzi_ring::BigRing), the multi-precision oracle. Keys do not depend on the plaintext modulus:
/// contexts that share a ring share keys.
#[derive(Clone, Debug)]
pub struct Context<R: PolyRing = Ring> {
    inner: Arc<Inner<R>>,
}

#[derive(Debug)]
struct Inner<R: PolyRing> {
    rlwe: RlweContext<R>,
    plain_modulus: u64,
    /// Moduli of Q_0, …, Q_L, Q_(L+1).
    limbs: Vec<usize>,
    /// f of every level, from 0 to L.
    factors: Vec<u64>,
    /// log2 of the product of the first 1, 2, … moduli.
    log2_moduli: Vec<f64>,
    /// Decryption by the first 1, 2, … moduli, made at first use.
    scalers: Vec<OnceLock<R::Scaler>>,
    budget: Budget,
    /// The noise of every level when all that is declared is used.
    levels: Vec<LevelNoise>,
    tail: Tail,
}

/// What a context over a ring that is there already depends on besides.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The plaintext modulus t.
    pub plain_modulus: u64,
    /// Moduli of Q_0, Q_1, …, Q_L.
    pub levels: Vec<usize>,
    /// Digits and special moduli of key switching.
    pub key_switching: GadgetOptions,
    /// The computation declared.
    pub budget: Budget,
    /// The security to reach.
    pub security: Security,
}

impl From<&Parameters> for Settings {
    fn from(parameters: &Parameters) -> Self {
        Self {
            plain_modulus: parameters.plain_modulus(),
            levels: parameters.levels().to_vec(),
            key_switching: parameters.key_switching().clone(),
            budget: *parameters.budget(),
            security: parameters.security(),
        }
    }
}

impl Context<Ring> {
    /// Builds the tables of `parameters`.
    ///
    /// # Errors
    /// Those of [`Parameters::validate`]; [`BgvError::Ring`] for moduli the ring cannot use.
    pub fn new(parameters: &Parameters) -> Result<Self, BgvError> {
        parameters.validate()?;
        let ring = Ring::new(2 << parameters.log2_degree(), parameters.moduli())?;
        Self::with_ring(ring, &Settings::from(parameters))
    }
}

impl<R: PolyRing> Context<R> {
    /// Builds the tables over a ring that is there already.
    ///
    /// # Errors
    /// [`BgvError::Rlwe`] above the security limit; [`BgvError::LevelsUnusable`] for levels the ring has not;
    /// [`BgvError::Encoding`] and [`BgvError::Math`] for a plaintext modulus out of range or not coprime to the moduli.
    pub fn with_ring(ring: R, settings: &Settings) -> Result<Self, BgvError> {
        let Settings { plain_modulus, levels, key_switching, budget, security } = settings;
        sunzi_encoding::check_plain_modulus(*plain_modulus)?;
        let count = ring.level();
        check_levels(levels, count)?;
        let limbs: Vec<usize> = levels.iter().copied().chain([count]).collect();
        let rlwe = RlweContext::with_gadget(ring, *security, key_switching)?;
        let factors = factors(&rlwe, levels, *plain_modulus)?;
        let log2_moduli = (1..=count).map(|level| rlwe.log2_modulus_at(level)).collect::<Result<_, _>>()?;
        let scalers = (0..count).map(|_| OnceLock::new()).collect();
        let tail = Tail::new(rlwe.ring().degree());
        let levels = level_noise(&rlwe, &limbs, *plain_modulus)?.levels(budget);
        let inner = Inner {
            rlwe,
            plain_modulus: *plain_modulus,
            limbs,
            factors,
            log2_moduli,
            scalers,
            budget: *budget,
            levels,
            tail,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Ring and security.
    #[must_use]
    pub fn rlwe(&self) -> &RlweContext<R> {
        &self.inner.rlwe
    }

    /// The ring of fresh ciphertexts.
    #[must_use]
    pub fn ring(&self) -> &R {
        self.inner.rlwe.ring()
    }

    /// The ring degree n.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.ring().degree()
    }

    /// The plaintext modulus t.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.inner.plain_modulus
    }

    /// L: multiplications in a row, and the level of fresh ciphertexts.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.inner.factors.len().saturating_sub(1)
    }

    /// The computation declared.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.inner.budget
    }

    /// The factor f of a level: its ciphertexts, read as BFV, hold f·m.
    #[must_use]
    pub fn factor(&self, level: usize) -> Option<u64> {
        self.inner.factors.get(level).copied()
    }

    /// Moduli of Q_level; of Q_(L+1) for level L + 1.
    pub(crate) fn limbs(&self, level: usize) -> usize {
        // A level above L + 1 does not occur; the ring refuses what does not exist.
        self.inner.limbs.get(level).copied().unwrap_or(usize::MAX)
    }

    /// Moduli that the parts of a ciphertext have.
    pub(crate) fn limbs_of(&self, ciphertext: &Ciphertext<R>) -> Result<usize, BgvError> {
        let part = ciphertext.parts().first().ok_or(BgvError::Empty { what: "a ciphertext" })?;
        Ok(self.ring().level_of(part)?)
    }

    /// log2 of the product of the first `limbs` moduli.
    pub(crate) fn log2_modulus(&self, limbs: usize) -> f64 {
        self.inner.log2_moduli.get(limbs.wrapping_sub(1)).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// What decrypts by the first `limbs` moduli.
    pub(crate) fn scaler(&self, limbs: usize) -> Result<&R::Scaler, BgvError> {
        let none = || BgvError::LevelMismatch { level: 0, limbs, factor: 0 };
        let slot = self.inner.scalers.get(limbs.wrapping_sub(1)).ok_or_else(none)?;
        if let Some(scaler) = slot.get() {
            return Ok(scaler);
        }
        let made = self.rlwe().ring_at(limbs)?.scaler(self.plain_modulus(), &ScalerOptions::default())?;
        Ok(slot.get_or_init(|| made))
    }

    /// Fails unless a ciphertext belongs to this context; returns the number of its moduli.
    pub(crate) fn check(&self, ciphertext: &Ciphertext<R>) -> Result<usize, BgvError> {
        let &Metadata { plain_modulus: got, level, factor, .. } = ciphertext.metadata();
        let expected = self.plain_modulus();
        if got != expected {
            return Err(BgvError::PlainModulusMismatch { expected, got });
        }
        let limbs = self.limbs_of(ciphertext)?;
        let stands = limbs == self.limbs(level) || limbs == self.limbs(level + 1);
        if self.factor(level) == Some(factor) && stands {
            Ok(limbs)
        } else {
            Err(BgvError::LevelMismatch { level, limbs, factor })
        }
    }

    /// log2 of the largest noise that decrypts at so many moduli: Q/2t.
    pub(crate) fn log2_noise_capacity(&self, limbs: usize) -> f64 {
        self.log2_modulus(limbs) - (2.0 * self.plain_modulus() as f64).log2()
    }

    /// Bits left before decryption may fail: what decrypts at the ciphertext's modulus minus its noise, both as log2.
    /// Operations that would leave less than none are refused.
    ///
    /// # Errors
    /// [`BgvError::Ring`] for a ciphertext of another ring.
    pub fn bits_left(&self, ciphertext: &Ciphertext<R>) -> Result<f64, BgvError> {
        Ok(self.room(self.limbs_of(ciphertext)?, ciphertext.noise()))
    }

    pub(crate) fn room(&self, limbs: usize, noise: &NoiseBound) -> f64 {
        let left = self.log2_noise_capacity(limbs) - noise.bound_by(&self.inner.tail).bits();
        if left.is_nan() { f64::NEG_INFINITY } else { left }
    }

    /// The noise of every level, level 0 first, when all that is declared is used.
    #[must_use]
    pub fn level_noise(&self) -> &[LevelNoise] {
        &self.inner.levels
    }

    /// The bound on the noise that holds except with probability 2^-128.
    pub(crate) fn noise_bound(&self, noise: &NoiseBound) -> Log2 {
        noise.bound_by(&self.inner.tail)
    }

    /// The metadata of a ciphertext of this level.
    pub(crate) fn metadata(&self, level: usize, usage: Usage) -> Result<Metadata, BgvError> {
        let missing = BgvError::LevelMismatch { level, limbs: 0, factor: 0 };
        let factor = self.factor(level).ok_or(missing)?;
        Ok(Metadata { plain_modulus: self.plain_modulus(), level, factor, usage })
    }

    /// f_to/f_from modulo t.
    pub(crate) fn adjustment(&self, from: usize, to: usize) -> Result<u64, BgvError> {
        let missing = |level| BgvError::LevelMismatch { level, limbs: 0, factor: 0 };
        let t = self.plain_modulus();
        let [from, to] = [from, to].map(|level| self.factor(level).ok_or_else(|| missing(level)));
        Ok(mul_mod(to?, mod_inv(from?, t)?, t))
    }

    /// Ends every operation: fails if the result might not decrypt, else notes what made it.
    pub(crate) fn finish(
        &self,
        mut ciphertext: Ciphertext<R>,
        operation: &'static str,
        operands: &[&Trace],
    ) -> Result<Ciphertext<R>, BgvError> {
        let (depth, metadata) = (self.depth(), ciphertext.metadata());
        let level = metadata.level;
        let usage = metadata.usage.noted(operation, level, level == depth, self.budget().at(level, depth));
        let left = self.bits_left(&ciphertext)?;
        if left < 0.0 {
            let cause = usage.excess().copied();
            return Err(BgvError::BudgetExceeded { operation, level, bits_short: -left, cause });
        }
        ciphertext.record(operation, left, operands);
        ciphertext.set_metadata(self.metadata(level, usage)?);
        Ok(ciphertext)
    }
}

/// What the noise of the levels depends on.
fn level_noise<R: PolyRing>(
    rlwe: &RlweContext<R>,
    limbs: &[usize],
    plain_modulus: u64,
) -> Result<NoiseSettings, BgvError> {
    let degree = rlwe.ring().degree();
    let (mut log2_moduli, mut key_switch, mut below) = (Vec::new(), Vec::new(), 0.0);
    for &limbs in limbs {
        let bits = rlwe.log2_modulus_at(limbs)?;
        log2_moduli.push(bits - below);
        below = bits;
        key_switch.push(relinearization::added_noise_at(rlwe, limbs)?);
    }
    let fresh = noise::fresh(degree, rlwe.log2_encryption_excess());
    Ok(NoiseSettings { degree, plain_modulus, log2_moduli, fresh, key_switch })
}

/// f_L = 1 and f_(l−1) = −Q_l·f_l² modulo t: a product t·u·u′ at Q_l of ciphertexts with factor f_l holds −Q_l·f_l²·m·m′.
fn factors<R: PolyRing>(
    rlwe: &RlweContext<R>,
    levels: &[usize],
    plain_modulus: u64,
) -> Result<Vec<u64>, BgvError> {
    let mut factor = 1;
    let mut factors = vec![factor];
    for &limbs in levels.iter().skip(1).rev() {
        let modulus = rlwe.ring_at(limbs)?;
        let q = (modulus.modulus() % plain_modulus).to_u64().unwrap_or(0);
        let square = mul_mod(factor, factor, plain_modulus);
        factor = (plain_modulus - mul_mod(q, square, plain_modulus)) % plain_modulus;
        factors.push(factor);
    }
    factors.reverse();
    // Invertible exactly if Q and t are coprime.
    factors.iter().try_for_each(|&factor| mod_inv(factor, plain_modulus).map(|_| ()))?;
    Ok(factors)
}
