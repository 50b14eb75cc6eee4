//! How BGV operations change the two noise bounds of a ciphertext, and the noise of a declared computation.
//!
//! The noise of a BGV ciphertext is the real-valued v with u(s) = (Q/t)·m′ + v (mod Q): the noise of `[KPZ21]` plus
//! m/t. A product has the noise t·v·v′ and nothing else, see [`NoiseBound::product`]; a modulus switch divides the
//! noise and adds a rounding of both parts.

use sunzi_ring::{DigitBound, Expansion, GadgetOptions, RingError, RnsDigits};
use sunzi_rlwe::noise::{NoiseModel, Tail};
use sunzi_rlwe::reencryption::Reencryptions;
use sunzi_rlwe::{Log2, NoiseBound, NoiseTerm};

use crate::{Budget, Operations};

/// Figures on which the noise of every BGV level depends.
#[derive(Clone, Debug)]
pub struct NoiseSettings {
    /// Ring of the ciphertexts: its degree n, and the growth of coefficients in products.
    pub ring: Expansion,
    /// Plaintext modulus t.
    pub plain_modulus: u64,
    /// Sizes log2 of the moduli q_0, q_1, …, q_L, q_(L+1); the last is 0 where there is none.
    pub log2_moduli: Vec<f64>,
    /// Noise of a public-key encryption, its rounding included.
    pub fresh: NoiseBound,
    /// Noise that relinearisation adds at the modulus Q_i, for every i.
    pub relinearization: Vec<NoiseTerm>,
    /// Noise that a rotation adds at the modulus Q_i, for every i.
    pub rotation: Vec<NoiseTerm>,
    /// Noise that a re-encryption adds at the modulus Q_i beside flooding noise, for every i.
    pub reencryption: Vec<NoiseTerm>,
    /// Noise that a modulus switch of two parts adds.
    pub rounding: NoiseTerm,
}

/// The noise of one BGV level, when everything declared is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelNoise {
    /// Noise of the operands of a multiplication, right after the modulus switch.
    pub operand: NoiseBound,
    /// Noise before the modulus switch of the level: of sums of products with their rotations, or of fresh
    /// ciphertexts.
    pub used: NoiseBound,
}

impl NoiseSettings {
    /// The noise at every BGV level, level 0 first, after a computation that uses all of `budget` at each.
    #[must_use]
    pub fn levels(&self, budget: &Budget) -> Vec<LevelNoise> {
        let depth = self.log2_moduli.len().saturating_sub(2);
        let mut levels = Vec::with_capacity(depth + 1);
        let mut used = self.summed(&self.fresh, depth, &budget.fresh);
        for level in (0..=depth).rev() {
            let operand = self.switched(&used, level);
            levels.push(LevelNoise { operand, used });
            if level > 0 {
                used = self.summed(&self.summand(&operand, level), level - 1, &budget.at(level - 1, depth));
            }
        }
        levels.reverse();
        levels
    }

    /// The noise of one summand of level `level` − 1: a relinearised product of two operands of level `level`, or an
    /// operand times the constant that gives it the factor of the lower level.
    fn summand(&self, operand: &NoiseBound, level: usize) -> NoiseBound {
        let product = operand
            .product(operand, self.plain_modulus as f64, self.ring)
            .plus(at(&self.relinearization, level));
        let adjusted = operand.times_norm((self.plain_modulus / 2) as f64);
        product.max(&adjusted)
    }

    /// The noise of a sum of terms after all operations declared for a level.
    fn summed(&self, term: &NoiseBound, level: usize, declared: &Operations) -> NoiseBound {
        let terms = declared.additions as f64 + 1.0;
        let switches = Log2::of(declared.rotations as f64);
        let NoiseTerm { worst, deviation, peak } = at(&self.rotation, level + 1);
        let rotations =
            NoiseTerm { worst: worst * switches, deviation: deviation * switches, peak: peak * switches };
        let mut noise = term.plus(NoiseTerm::rounding()).times_norm(terms);
        if declared.rotations > 0 {
            noise = noise.plus(rotations);
        }
        let norm = self.ring.degree() as f64 * (self.plain_modulus / 2) as f64;
        // All plaintext products count at once, for their number may be any.
        noise.scaled(Log2::from_bits(norm.log2() * declared.plain_products as f64))
    }

    /// The noise after the switch from Q_(level+1) to Q_level, which rounds.
    fn switched(&self, noise: &NoiseBound, level: usize) -> NoiseBound {
        let dropped = self.log2_moduli.get(level + 1).copied().unwrap_or(0.0);
        if dropped == 0.0 {
            return *noise;
        }
        noise.scaled(Log2::from_bits(-dropped)).plus(self.rounding)
    }

    /// The noise at every level after re-encryptions of the results, those of level 0 at either of its moduli.
    #[must_use]
    pub fn handed_on(&self, mut levels: Vec<LevelNoise>, hops: &Reencryptions) -> Vec<LevelNoise> {
        if let Some(last) = levels.first_mut() {
            for (place, noise) in [&mut last.operand, &mut last.used].into_iter().enumerate() {
                *noise = hops.after(noise, at(&self.reencryption, place), self.ring);
            }
        }
        levels
    }

    /// Bits of noise left at the level that has the fewest: the capacity of each level against the noise of its sums
    /// and of its operands. With `worst`, against the worst case alone.
    #[must_use]
    pub fn bits_left(&self, levels: &[LevelNoise], worst: bool) -> f64 {
        let tail = Tail::new(self.ring);
        let left = |capacity: f64, noise: &NoiseBound| {
            let bits =
                capacity - if worst { noise.worst_case(self.ring) } else { noise.bound_by(&tail) }.bits();
            if bits.is_nan() { f64::NEG_INFINITY } else { bits }
        };
        let mut moduli = self.log2_moduli.iter();
        let mut capacity = moduli.next().copied().unwrap_or(0.0) - (2.0 * self.plain_modulus as f64).log2();
        let mut least = f64::INFINITY;
        for (level, bits) in levels.iter().zip(moduli) {
            least = least.min(left(capacity, &level.operand));
            capacity += bits;
            least = least.min(left(capacity, &level.used));
        }
        least
    }
}

/// The noise of key switches at a level, which is none beyond the last.
fn at(noise: &[NoiseTerm], level: usize) -> NoiseTerm {
    noise.get(level).copied().unwrap_or_else(NoiseTerm::none)
}

/// The noise of an encryption under the public key modulo Qp, with its rounding; `log2_p` is 0 without special moduli.
#[must_use]
pub fn fresh(secret: &NoiseModel, log2_p: f64) -> NoiseBound {
    let rounding = NoiseTerm::rounding().scaled(Log2::from_bits(-log2_p));
    NoiseBound::fresh(secret.public_encryption(log2_p), 0).plus_own(rounding)
}

/// The noise that a key switch adds to a ciphertext whose moduli have the ascending indices `limbs`, by a key from a product of `power`
/// secrets: 1 for rotations, 2 for relinearisation.
///
/// # Errors
/// [`RingError`] for options that these moduli do not allow.
pub fn key_switch(
    secret: &NoiseModel,
    power: u32,
    moduli: &[u64],
    options: &GadgetOptions,
    limbs: &[usize],
) -> Result<NoiseTerm, RingError> {
    switched(secret, moduli, options, limbs, |digits| secret.key_switch(digits, power))
}

/// The noise that a re-encryption adds beside flooding noise to a ciphertext whose moduli have the ascending indices `limbs`.
///
/// # Errors
/// [`RingError`] for options that these moduli do not allow.
pub fn reencryption(
    secret: &NoiseModel,
    moduli: &[u64],
    options: &GadgetOptions,
    limbs: &[usize],
) -> Result<NoiseTerm, RingError> {
    let log2_p = sunzi_math::log2_product(options.special_moduli.get(..1).unwrap_or_default());
    let zero = secret.public_encryption(log2_p);
    Ok(switched(secret, moduli, options, limbs, |digits| secret.public_key_switch(digits))?.plus(zero))
}

/// The noise of a key switch from that of the errors of its key, for digits over P.
fn switched(
    secret: &NoiseModel,
    moduli: &[u64],
    options: &GadgetOptions,
    limbs: &[usize],
    errors: impl FnOnce(&[DigitBound]) -> NoiseTerm,
) -> Result<NoiseTerm, RingError> {
    let log2_special = sunzi_math::log2_product(&options.special_moduli);
    let scaled = |bound: DigitBound| DigitBound {
        log2_bound: bound.log2_bound - log2_special,
        log2_mean: bound.log2_mean - log2_special,
    };
    let digits = RnsDigits::new(options, moduli)?;
    let bounds: Vec<DigitBound> = digits.bounds_of(limbs).into_iter().map(scaled).collect();
    let errors = errors(&bounds);
    Ok(if options.special_moduli.is_empty() { errors } else { errors.plus(secret.mod_switch(2)) })
}
