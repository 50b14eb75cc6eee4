//! The steps of bootstrapping, one after the other.

use rayon::prelude::*;
use sunzi_ckks::{Ciphertext, CkksError, Evaluator, Metadata};
use sunzi_ring::{Multipliers, PolyRing, Ring};
use sunzi_rlwe::encapsulation;

use super::blueprint::Stage;
use super::dft::Packing;
use super::set::Order;
use super::{Blueprint, BootstrapError, BootstrapKeys};
use crate::linear_transform::LinearTransform;

/// Gives ciphertexts their levels back.
#[derive(Clone)]
pub struct Bootstrapper<R: Multipliers = Ring> {
    blueprint: Blueprint<R>,
    evaluator: Evaluator<R>,
    coeffs_to_slots: Vec<LinearTransform<R>>,
    slots_to_coeffs: Vec<LinearTransform<R>>,
}

/// The ciphertexts between CoeffsToSlots and SlotsToCoeffs: real parts and imaginary parts, or both in one.
enum Parts<R: PolyRing> {
    Both(Box<[Ciphertext<R>; 2]>),
    Joint(Box<Ciphertext<R>>),
}

impl<R: Multipliers> Bootstrapper<R> {
    /// Encodes all diagonals. `progress` is told how many of the matrices are done and how many there are, from any thread of the pool.
    ///
    /// # Errors
    /// [`BootstrapError::Transform`] for entries that do not fit their scale.
    pub fn new(
        blueprint: &Blueprint<R>,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        let stages: Vec<&Stage> =
            blueprint.coeffs_to_slots.iter().chain(&blueprint.slots_to_coeffs).collect();
        let done = std::sync::atomic::AtomicUsize::new(0);
        let encoded = stages.par_iter().map(|stage| {
            let [from, to] = stage.scales;
            let context = blueprint.context();
            let made = LinearTransform::encode_between(context, &stage.matrix, stage.plan.clone(), from, to)?;
            progress(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1, stages.len());
            Ok::<_, BootstrapError>(made)
        });
        let mut coeffs_to_slots = encoded.collect::<Result<Vec<_>, _>>()?;
        let slots_to_coeffs = coeffs_to_slots.split_off(blueprint.coeffs_to_slots.len());
        let evaluator = Evaluator::new(blueprint.context());
        Ok(Self { blueprint: blueprint.clone(), evaluator, coeffs_to_slots, slots_to_coeffs })
    }

    /// What it was made from.
    #[must_use]
    pub fn blueprint(&self) -> &Blueprint<R> {
        &self.blueprint
    }

    /// The evaluator it computes with.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator<R> {
        &self.evaluator
    }

    /// Bytes of the encoded diagonals.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.coeffs_to_slots.iter().chain(&self.slots_to_coeffs).map(LinearTransform::byte_len).sum()
    }

    /// The same message at the residual level of the set and its canonical scale, with the error of the bootstrapping: `[AS19, 3]`.
    ///
    /// # Errors
    /// [`BootstrapError::MessageTooLarge`]; [`BootstrapError::LevelTooLow`] where SlotsToCoeffs comes first and has not enough levels;
    /// [`BootstrapError::MissingKey`], [`BootstrapError::Rlwe`] for keys of another secret; [`BootstrapError::Ckks`] and
    /// [`BootstrapError::Transform`] for ciphertexts of another context, of more slots, or at an unusual scale.
    pub fn bootstrap(
        &self,
        a: &Ciphertext<R>,
        keys: &BootstrapKeys<R>,
    ) -> Result<Ciphertext<R>, BootstrapError> {
        let lowered = match self.blueprint.set.order {
            Order::Last => self.lowered(a)?,
            Order::First => self.lowered_by_transform(a, keys)?,
        };
        let raised = self.mod_raise(&lowered, keys)?;
        let parts = self.coeffs_to_slots(&raised, keys)?;
        let joined = self.eval_mod(parts, lowered.metadata().scale, keys)?;
        let mut result = match self.blueprint.set.order {
            Order::Last => self.slots_to_coeffs(joined, keys)?,
            Order::First => joined,
        };
        let (of, own) = (a.metadata(), result.metadata());
        let precision = own.precision.with_magnitude(of.precision.magnitude());
        let metadata = Metadata { slots: of.slots, precision, ..own.clone() };
        result.set_metadata(metadata);
        Ok(result)
    }

    /// Step 0: the ciphertext modulo q_0, with a message as large as EvalMod takes.
    fn lowered(&self, a: &Ciphertext<R>) -> Result<Ciphertext<R>, BootstrapError> {
        let &Metadata { level, scale: own, precision, .. } = a.metadata();
        let wanted = self.blueprint.scales.raised;
        self.check_message(precision.magnitude(), wanted)?;
        if level > 0 {
            return Ok(self.evaluator.set_scale(a, 0, wanted)?);
        }
        let factor = (wanted / own * (1.0 + 1e-9)).floor().max(1.0);
        self.check_message(precision.magnitude(), own * factor)?;
        let product = self.evaluator.multiply_integer(a, factor as i64)?;
        Ok(renamed(product, own * factor))
    }

    /// The same by SlotsToCoeffs.
    fn lowered_by_transform(
        &self,
        a: &Ciphertext<R>,
        keys: &BootstrapKeys<R>,
    ) -> Result<Ciphertext<R>, BootstrapError> {
        let (expected, got) = (self.blueprint.levels.slots_to_coeffs, a.metadata().level);
        if got < expected {
            return Err(BootstrapError::LevelTooLow { what: "SlotsToCoeffs", expected, got });
        }
        self.check_message(a.metadata().precision.magnitude(), self.blueprint.scales.raised)?;
        self.slots_to_coeffs(self.evaluator.level_to(a, expected)?, keys)
    }

    fn check_message(&self, magnitude: f64, scale: f64) -> Result<(), BootstrapError> {
        let ratio = (-self.blueprint.set.eval_mod.ratio_bits).exp2();
        // What rounding the scale may add.
        let limit = self.blueprint.scales.first * ratio / scale * (1.0 + 1e-9);
        if magnitude <= limit {
            Ok(())
        } else {
            Err(BootstrapError::MessageTooLarge { got: magnitude, limit })
        }
    }

    /// Step 1 `[AS19, 3.2]`: modulo Q_L the ciphertext is one of m + q_0·I; read with slots over q_0.
    fn mod_raise(&self, a: &Ciphertext<R>, keys: &BootstrapKeys<R>) -> Result<Ciphertext<R>, BootstrapError> {
        let (blueprint, context) = (&self.blueprint, self.blueprint.context());
        let raised = match (blueprint.set.encapsulation, keys.encapsulation()) {
            (Some(_), Some(keys)) => keys.mod_raise(context.rlwe(), a)?,
            (Some(_), None) => {
                return Err(BootstrapError::MissingKey { what: "the key to the sparse secret" });
            }
            (None, _) => encapsulation::mod_raise(context.rlwe(), a, context.rlwe().level())?,
        };
        let mut raised = raised;
        let (scales, of) = (&blueprint.scales, a.metadata());
        let shrunk = of.precision.scaled(of.scale / scales.first);
        // A slot is the sum of n coefficients that are sums of uniform variables: ten deviations are exceeded with probability 2^-144.
        let weight = blueprint.set.eval_mod.weight as f64 + 1.0;
        let magnitude = 10.0 * (context.degree() as f64 * weight / 12.0).sqrt();
        raised.set_metadata(Metadata {
            level: blueprint.levels.coeffs_to_slots,
            scale: scales.first,
            slots: blueprint.slots.max(of.slots),
            precision: shrunk.with_magnitude(magnitude),
        });
        let mut sum = renamed(
            self.evaluator.multiply_integer(&raised, scales.lift)?,
            scales.first * scales.lift as f64,
        );
        for steps in blueprint.trace() {
            let turned = self.evaluator.rotate(&sum, steps, keys.rotations())?;
            sum = self.evaluator.add(&sum, &turned)?;
            let half = sum.metadata().scale * 2.0;
            sum = renamed(sum, half);
        }
        Ok(sum)
    }

    /// Step 2: the coefficients over q_0·W, as slots.
    fn coeffs_to_slots(
        &self,
        a: &Ciphertext<R>,
        keys: &BootstrapKeys<R>,
    ) -> Result<Parts<R>, BootstrapError> {
        let (evaluator, rotations) = (&self.evaluator, keys.rotations());
        let mut out = a.clone();
        for factor in &self.coeffs_to_slots {
            out = factor.apply(evaluator, &out, rotations)?;
        }
        let conjugate = evaluator.conjugate(&out, rotations)?;
        let real = evaluator.add(&out, &conjugate)?;
        Ok(match self.blueprint.packing() {
            Packing::Sparse => Parts::Joint(Box::new(real)),
            Packing::Full => {
                let turned = evaluator.multiply_by_i(&evaluator.sub(&conjugate, &out)?)?;
                Parts::Both(Box::new([real, turned]))
            }
        })
    }

    /// Steps 3 and 4: what is left modulo q_0, a + i·b or both in one, as a message of this scale again.
    fn eval_mod(
        &self,
        parts: Parts<R>,
        scale: f64,
        keys: &BootstrapKeys<R>,
    ) -> Result<Ciphertext<R>, BootstrapError> {
        let (Blueprint { eval_mod, scales, .. }, evaluator) = (&self.blueprint, &self.evaluator);
        let reduce = |x: &Ciphertext<R>| {
            let (key, rotations) = (keys.relinearization(), keys.rotations());
            let mut rest = eval_mod.evaluate(evaluator, x, scales.reduced, key, rotations)?;
            let precision = rest.metadata().precision.plus_error(eval_mod.typical_error());
            let metadata = Metadata { precision, ..rest.metadata().clone() };
            let message = metadata.scale * scale / scales.first;
            rest.set_metadata(metadata);
            Ok::<_, CkksError>(renamed(rest, message))
        };
        match parts {
            Parts::Joint(both) => Ok(reduce(&both)?),
            Parts::Both(both) => {
                let [real, imaginary] = *both;
                let (real, imaginary) = rayon::join(|| reduce(&real), || reduce(&imaginary));
                Ok(evaluator.add(&real?, &evaluator.multiply_by_i(&imaginary?)?)?)
            }
        }
    }

    /// Step 5: slots as coefficients.
    fn slots_to_coeffs(
        &self,
        mut out: Ciphertext<R>,
        keys: &BootstrapKeys<R>,
    ) -> Result<Ciphertext<R>, BootstrapError> {
        let slots = self.blueprint.slots;
        for (i, factor) in self.slots_to_coeffs.iter().enumerate() {
            out = factor.apply(&self.evaluator, &out, keys.rotations())?;
            if i == 0 && self.blueprint.packing() == Packing::Sparse {
                // Both halves, of s slots each, become one.
                let turned = self.evaluator.rotate(&out, slots as i64, keys.rotations())?;
                out = self.evaluator.add(&out, &turned)?;
                let metadata = Metadata { slots, ..out.metadata().clone() };
                out.set_metadata(metadata);
            }
        }
        Ok(out)
    }
}

/// The same integers at another scale: slots of another size.
fn renamed<R: PolyRing>(mut a: Ciphertext<R>, scale: f64) -> Ciphertext<R> {
    let metadata = a.metadata();
    let precision = metadata.precision.scaled(metadata.scale / scale);
    let metadata = Metadata { scale, precision, ..metadata.clone() };
    a.set_metadata(metadata);
    a
}
