//! Matrices of complex numbers times the slots of a CKKS ciphertext, by diagonals.
//!
//! [`Diagonals`] is a matrix in the clear, [`Plan`] lists its needs at a level: rotations, and bytes of encoded diagonals.
//! [`LinearTransform`] holds the encoded diagonals and multiplies, with baby steps, giant steps and double hoisting.
//!
//! ```
//! use num_complex::Complex64;
//! use sunzi_circuits::linear_transform::{Diagonals, LinearTransform, Plan};
//! use sunzi_ckks::{Context, Encoder, Evaluator, Parameters};
//! # use sunzi_rlwe::{SecretKey, Security, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let moduli = vec![0x3fffffffdb01, 0xffffff581];
//! # let options = sunzi_ring::GadgetOptions { special_moduli: vec![0x7fffffffff81], ..Default::default() };
//! # let parameters = Parameters::new(6, moduli, vec![1, 2], 35, Security::InsecureForResearchOnly)
//! #     .with_key_switching(options);
//! let context = Context::new(&parameters)?;
//! let matrix = Diagonals::from_entries(4, |i, j| Complex64::from((i + 2 * j) as f64 / 8.0))?;
//! let plan = Plan::new(&context, &matrix, context.depth())?;
//!
//! let mut rng = randomness::from_os()?;
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let keys =
//!     sunzi_ckks::rotation::rotation_keys(&context, &secret, plan.rotations(), false, plan.level(), &mut rng)?;
//! let transform = LinearTransform::encode(&context, &matrix, plan)?;
//!
//! let encoder = Encoder::new(&context, 4)?;
//! let vector = context.encrypt_secret(&encoder.encode_real(&[0.5, 0.25, 1.0, -0.5])?, &secret, &mut rng)?;
//! let product = transform.apply(&Evaluator::new(&context), &vector, &keys)?;
//! let slots = encoder.decode_real(&context.decrypt(&product, &secret)?)?;
//! assert!((slots[2] - 0.5).abs() < 1e-3, "{slots:?}");
//! # Ok(())
//! # }
//! ```

mod diagonals;
mod error;
mod noise;
mod plan;

use num_complex::Complex64;
use sunzi_ckks::encoder::Embedding;
use sunzi_ckks::rotation::{named, rotation_exponent};
use sunzi_ckks::{Ciphertext, CkksError, Context, Evaluator, Metadata, precision};
use sunzi_ring::{Gadget, Multiplier, on_pool};
use sunzi_rlwe::{ExtendedCiphertext, GaloisKeys, Log2, NoiseTerm, RlweError, extended, galois};

pub use diagonals::Diagonals;
pub use error::LinearTransformError;
pub(crate) use noise::{Slots, UnitaryProduct};
pub use plan::Plan;

/// A matrix with encoded diagonals, ready to multiply.
#[derive(Clone)]
pub struct LinearTransform {
    plan: Plan,
    /// Factor by which encoded entries exceed the entries of the matrix.
    scale: f64,
    norms: Norms,
    /// Encoded diagonals of the matrix in the order of the plan.
    diagonals: Vec<Vec<Multiplier>>,
}

/// Norms of a matrix and of its diagonals.
#[derive(Clone, Copy, Debug)]
struct Norms {
    /// Largest sum of absolute values in a row of the matrix.
    row_sum: f64,
    /// Largest root of the sum of squares in a row of the matrix.
    row_length: f64,
    /// Sum over all diagonals of the largest absolute value in each.
    diagonals: f64,
    /// Largest deviation in a slot from rounding one diagonal, times the scale.
    rounding: f64,
}

impl LinearTransform {
    /// Encodes the matrix of a plan such that ciphertexts go from the canonical scale of the plan's level to that of the next level.
    ///
    /// # Errors
    /// [`LinearTransformError::PlanMismatch`] for a plan of another matrix; [`LinearTransformError::Encoder`] for entries that are
    /// too large or no numbers; [`LinearTransformError::Ckks`] at level 0.
    pub fn encode(context: &Context, matrix: &Diagonals, plan: Plan) -> Result<Self, LinearTransformError> {
        let (from, to) = (context.scale(plan.level())?, plan.level().saturating_sub(1));
        let to = context.scale(to)?;
        Self::encode_between(context, matrix, plan, from, to)
    }

    /// Encodes the matrix between any two scales, of the ciphertexts it takes and of those it gives.
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode).
    pub fn encode_between(
        context: &Context,
        matrix: &Diagonals,
        plan: Plan,
        from: f64,
        to: f64,
    ) -> Result<Self, LinearTransformError> {
        context.check_slots(matrix.size())?;
        if plan.size() != matrix.size() || plan.products() != matrix.count() {
            return Err(LinearTransformError::PlanMismatch);
        }
        let scale = to * context.divisor(plan.level())? / from;
        let gadget = context.rlwe().gadget_at(context.limbs(plan.level())?).map_err(CkksError::from)?;
        let mut diagonals = Vec::new();
        for (giant, babies) in plan.giants() {
            let encoded: Result<Vec<_>, LinearTransformError> = babies
                .iter()
                .map(|baby| {
                    let values = matrix.diagonal(giant + baby).ok_or(LinearTransformError::PlanMismatch)?;
                    encode_turned(&gadget, values, giant, scale)
                })
                .collect();
            diagonals.push(encoded?);
        }
        Ok(Self { plan, scale, norms: Norms::new(matrix), diagonals })
    }

    /// Plan of the linear transform.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Number of bytes of the encoded diagonals of the matrix.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.diagonals.iter().flatten().map(Multiplier::byte_len).sum()
    }

    /// Largest root of the sum of squares in a row of the matrix: the factor by which vectors of independent
    /// slots grow.
    pub(crate) fn row_length(&self) -> f64 {
        self.norms.row_length
    }

    /// Computes the product M·v, one level lower. A ciphertext of a higher level is brought to the plan's
    /// level first.
    ///
    /// # Errors
    /// [`LinearTransformError::Slots`] for a vector longer than the matrix; [`LinearTransformError::Ckks`] for a missing rotation, a
    /// ciphertext of a lower level, or one of another context.
    pub fn apply(
        &self,
        evaluator: &Evaluator,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, LinearTransformError> {
        let context = evaluator.context();
        context.check(a)?;
        let Metadata { level: got, slots, .. } = *a.metadata();
        let (level, size) = (self.plan.level(), self.plan.size());
        if slots > size {
            return Err(LinearTransformError::Slots { size, got: slots });
        }
        if got < level {
            return Err(CkksError::LevelTooLow { what: "the ciphertext", got, wanted: level }.into());
        }
        let lowered = if got > level { Some(evaluator.level_to(a, level)?) } else { None };
        let a = lowered.as_ref().unwrap_or(a);
        let sum = on_pool(context.rlwe().switch_words(), || self.sum(context, a, keys)).map_err(named)?;
        let (metadata, noise) = self.outcome(context, a)?;
        let limbs = context.limbs(level - 1)?;
        let product = match sum {
            Some(sum) => sum.mod_down(context.rlwe(), limbs, metadata, noise).map_err(CkksError::from)?,
            // The zero matrix.
            None => {
                let zero = context.ring_at(level - 1)?.zero();
                Ciphertext::from_parts(vec![zero.clone(), zero], metadata, noise, a.key())
                    .map_err(CkksError::from)?
            }
        };
        Ok(context.finish(product, "multiply by a matrix", &[a.trace()])?)
    }

    /// Computes the scaled product P·Δ·M·v modulo QP.
    fn sum<'s>(
        &'s self,
        context: &Context,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Option<ExtendedCiphertext>, RlweError> {
        let (rlwe, index) = (context.rlwe(), context.ring().index());
        let exponent = |step: usize| rotation_exponent(step as i64, index);
        let babies = self.plan.babies();
        let exponents: Vec<u64> = babies.iter().map(|&baby| exponent(baby)).collect();
        let step = |((giant, steps), diagonals): ((usize, &[usize]), &'s Vec<Multiplier>)| {
            let places = steps.iter().filter_map(|step| babies.binary_search(step).ok());
            (exponent(giant), places.zip(diagonals).collect())
        };
        let giants = self.plan.giants().zip(&self.diagonals).map(step).collect();
        extended::linear_map(rlwe, a, &exponents, giants, keys)
    }

    /// Returns √E|e|² in a slot of a product because diagonals are rounded, for slots of this magnitude.
    pub(crate) fn rounding_error(&self, magnitude: f64) -> f64 {
        magnitude * (self.plan.products() as f64).sqrt() * self.norms.rounding / self.scale
    }

    /// Returns metadata and noise of the product with a ciphertext.
    fn outcome(
        &self,
        context: &Context,
        a: &Ciphertext,
    ) -> Result<(Metadata, sunzi_rlwe::NoiseBound), LinearTransformError> {
        let (level, ring, norms) = (self.plan.level(), context.ring().expansion(), self.norms);
        let (of, slots) = (a.metadata(), self.plan.size());
        let scale = context.snapped(level - 1, of.scale * self.scale / context.divisor(level)?)?;
        let switch =
            galois::added_noise_at(context.rlwe(), context.limbs(level)?).map_err(CkksError::from)?;
        let rounding = context.rlwe().noise_model().mod_switch(2);
        let slot_error =
            |term: NoiseTerm, scale| precision::slot_error(term.deviation.bits().exp2(), slots, scale);

        let magnitude = of.precision.magnitude() * norms.row_sum;
        // Errors outside the subring of a vector that repeats more often than the matrix assumes count now.
        let spread = (slots as f64 / of.slots as f64).sqrt();
        let precision = of
            .precision
            .scaled(norms.row_length)
            .with_magnitude(magnitude.max(f64::MIN_POSITIVE))
            .with_deviation(of.precision.deviation() * spread * norms.row_length)
            .plus_error(slot_error(switch, of.scale) * norms.row_length)
            .plus_error(self.rounding_error(of.precision.magnitude()))
            .plus_error(slot_error(rounding, scale));

        let values = norms.diagonals * self.scale;
        let message = NoiseTerm::rounding().scaled(Log2::of(
            (ring.weight() as f64).sqrt() * self.plan.products() as f64 * of.precision.magnitude() * of.scale,
        ));
        let giants = switch.scaled(Log2::of(self.plan.giants().count() as f64));
        let ratio = context.log2_modulus_at(level - 1)? - context.log2_modulus_at(level)?;
        let sum = a.noise().plus(switch).times_values(values, ring).plus(message).plus(giants);
        let noise = sum.scaled(Log2::from_bits(ratio)).plus_own(rounding);
        Ok((Metadata { level: level - 1, scale, slots, precision }, noise))
    }
}

impl Norms {
    fn new(matrix: &Diagonals) -> Self {
        let period = matrix.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
        let mut rows = vec![(0.0_f64, 0.0_f64); period];
        let (mut diagonals, mut rounding) = (0.0, 0.0_f64);
        for (_, values) in matrix.iter() {
            for ((sum, squares), value) in rows.iter_mut().zip(values.iter().cycle()) {
                *sum += value.norm();
                *squares += value.norm_sqr();
            }
            diagonals += values.iter().map(|value| value.norm()).fold(0.0, f64::max);
            // A slot sums 2p roundings of variance 1/12.
            rounding = rounding.max((values.len() as f64 / 6.0).sqrt());
        }
        let row_sum = rows.iter().map(|row| row.0).fold(0.0, f64::max);
        let row_length = rows.iter().map(|row| row.1).fold(0.0, f64::max).sqrt();
        Self { row_sum, row_length, diagonals, rounding }
    }
}

/// Encodes the polynomial of a diagonal rotated right by `turned`, which repeats.
fn encode_turned(
    gadget: &Gadget,
    values: &[Complex64],
    turned: usize,
    scale: f64,
) -> Result<Multiplier, LinearTransformError> {
    let ring = gadget.key_ring();
    let period = values.len();
    let start = period - turned % period;
    let turned: Vec<Complex64> = values.iter().copied().cycle().skip(start).take(period).collect();
    let spread = Embedding::new(period)?.encode_in(ring.ring_index(), &turned, scale)?;
    let encode = || gadget.multiplier(ring.to_evaluation(ring.from_signed_wide(&spread)?)?);
    Ok(encode().map_err(CkksError::from)?)
}

#[cfg(test)]
mod tests;
