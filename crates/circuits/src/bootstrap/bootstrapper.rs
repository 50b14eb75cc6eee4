//! The steps of bootstrapping, one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};

use sunzi_ckks::{Ciphertext, CkksError, Evaluator, Metadata, Precision};
use sunzi_rlwe::{Log2, encapsulation};

use super::blueprint::Transform;
use super::dft::{CoeffsToSlots, Parts, SlotsToCoeffs};
use super::noise::{MOST, exact};
use super::set::Order;
use super::{Blueprint, BootstrapError, BootstrapKeys};

/// Gives ciphertexts their levels back.
#[derive(Clone)]
pub struct Bootstrapper {
    blueprint: Blueprint,
    evaluator: Evaluator,
    coeffs_to_slots: CoeffsToSlots,
    slots_to_coeffs: SlotsToCoeffs,
}

impl Bootstrapper {
    /// Encodes all diagonals, several matrices at a time. `progress` is told how many of them are done and how many there are, from
    /// any thread of the pool.
    ///
    /// # Errors
    /// [`BootstrapError::Transform`] for entries that do not fit their scale.
    pub fn new(
        blueprint: &Blueprint,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        let (Transform { plan: there, scales: up }, Transform { plan: back, scales: down }) =
            (&blueprint.coeffs_to_slots, &blueprint.slots_to_coeffs);
        let (done, total) = (AtomicUsize::new(0), there.factors().len() + back.factors().len());
        let count = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        let context = blueprint.context();
        let coeffs_to_slots = CoeffsToSlots::encode(context, there.clone(), *up, &count)?;
        let slots_to_coeffs = SlotsToCoeffs::encode(context, back.clone(), *down, &count)?;
        let evaluator = Evaluator::new(context);
        Ok(Self { blueprint: blueprint.clone(), evaluator, coeffs_to_slots, slots_to_coeffs })
    }

    /// What it was made from.
    #[must_use]
    pub fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    /// The evaluator it computes with.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// Bytes of the encoded diagonals.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.coeffs_to_slots.byte_len() + self.slots_to_coeffs.byte_len()
    }

    /// The same message at the residual level of the set and its canonical scale, with the error of the bootstrapping: `[AS19, 3]`.
    ///
    /// # Errors
    /// [`BootstrapError::MessageTooLarge`]; [`BootstrapError::LevelTooLow`] where SlotsToCoeffs comes first and has not enough levels;
    /// [`BootstrapError::MissingKey`], [`BootstrapError::Rlwe`] for keys of another secret; [`BootstrapError::Ckks`] and
    /// [`BootstrapError::Transform`] for ciphertexts of another context, of more slots, or at an unusual scale.
    pub fn bootstrap(&self, a: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        self.bootstrapped(a, 0.0, keys)
    }

    /// The result for slots of at most the magnitude and `beside` together, beside the noise: what is refused depends on the magnitude, bounds on both.
    fn bootstrapped(
        &self,
        a: &Ciphertext,
        beside: f64,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let rlwe = self.blueprint.context.rlwe();
        rlwe.on_pool(|| self.all_steps(a, beside, keys)).map_err(BootstrapError::of_bootstrapping)
    }

    fn all_steps(
        &self,
        a: &Ciphertext,
        beside: f64,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let bare = exact(a);
        let lowered = match self.blueprint.set.order {
            Order::Last => self.lowered(&bare)?,
            Order::First => self.lowered_by_transform(&bare, keys)?,
        };
        let raised = self.mod_raise(&lowered, keys)?;
        let (evaluator, rotations) = (&self.evaluator, keys.rotations());
        let parts = self.coeffs_to_slots.apply(evaluator, &raised, rotations)?;
        let bound = a.metadata().precision.magnitude();
        let reach = self.blueprint.reach(a, beside, &lowered);
        let parts = self.eval_mod(&parts, lowered.metadata().scale, [bound, reach], keys)?;
        let mut result = match (self.blueprint.set.order, &parts.imaginary) {
            (Order::Last, _) => self.slots_to_coeffs.apply(evaluator, &parts, rotations)?,
            (Order::First, Some(imaginary)) => {
                evaluator.add(&parts.real, &evaluator.multiply_by_i(imaginary)?)?
            }
            (Order::First, None) => parts.real,
        };
        let (of, own) = (a.metadata(), result.metadata());
        let whole = self.blueprint.message_error_at(bound, lowered.metadata().scale);
        let precision = own.precision.with_magnitude(bound).plus_dependent_error(whole);
        let scale = self.blueprint.context.snapped(own.level, own.scale)?;
        let metadata = Metadata { slots: of.slots, scale, precision, ..own.clone() };
        result.set_metadata(metadata);
        result.set_noise(self.blueprint.whole_noise(a, reach, &lowered, &result)?);
        Ok(result)
    }

    /// [`bootstrap`](Self::bootstrap) so many times over, each time of what the times before were wrong by `[BCCKK22]`: every round adds about as many
    /// bits as the first gave, up to what the residual scale holds, and takes one of the residual levels. One round is a bootstrapping.
    ///
    /// # Errors
    /// As [`bootstrap`](Self::bootstrap); [`BootstrapError::TooManyRounds`] for more rounds than residual levels, and in sets where SlotsToCoeffs
    /// comes first, whose results cannot be compared with their messages.
    pub fn bootstrap_refined(
        &self,
        a: &Ciphertext,
        rounds: usize,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let (evaluator, levels) = (&self.evaluator, self.blueprint.levels);
        if rounds > 1 && (self.blueprint.set.order == Order::First || rounds > levels.residual) {
            let order = if self.blueprint.set.order == Order::First { "first" } else { "last" };
            return Err(BootstrapError::TooManyRounds { rounds, levels: levels.residual, order });
        }
        if rounds <= 1 {
            return self.bootstrap(a, keys);
        }
        // Of what `a` holds, its noise among it: that comes back in whole.
        let (given, from, whole) = (*a.noise(), a.metadata().scale, exact(a));
        let beside = self.blueprint.largest_slot(&given, from);
        let mut sum = self.bootstrapped(&whole, beside, keys)?;
        let message = if a.metadata().level > 0 { evaluator.level_to(&whole, 0)? } else { whole };
        for _ in 1..rounds {
            sum = self.corrected(&message, beside, &sum, keys)?;
        }
        let deviation = sum.metadata().precision.deviation().hypot(a.metadata().precision.deviation());
        let precision = sum.metadata().precision.with_deviation(deviation);
        sum.set_metadata(Metadata { precision, ..sum.metadata().clone() });
        let carried = given.scaled(Log2::of(sum.metadata().scale / from));
        sum.set_noise(self.blueprint.within_modulus(&sum, &sum.noise().sum(&carried))?);
        Ok(sum)
    }

    /// A bootstrapped message and what bootstrapping finds that it is wrong by, one level lower.
    fn corrected(
        &self,
        message: &Ciphertext,
        beside: f64,
        sum: &Ciphertext,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let (evaluator, blueprint) = (&self.evaluator, &self.blueprint);
        let (level, scale) = (sum.metadata().level - 1, message.metadata().scale);
        let bound = message.metadata().precision.magnitude();
        // An error of eight deviations is not met in any slot; what one coefficient may cause is a bound already.
        let largest = blueprint.message_error(bound);
        let spread = 8.0 * (sum.metadata().precision.deviation() - largest).max(0.0);
        let estimated = (bound / (spread + largest)).log2().floor().clamp(0.0, 62.0);
        // That coefficient may have the rarest integer.
        let reach = spread + blueprint.largest_error(bound + beside);
        let gained = blueprint.bits_to_enlarge(sum, [bound, reach], estimated);
        // What is outside of the subring of few slots is not corrected: a trace leaves none of it. What both hold, and what taking them down adds: all
        // that is not in the correction.
        let sum = self.traced(exact(sum), keys)?;
        let mut wrong = evaluator.sub(message, &evaluator.set_scale(&sum, 0, scale)?)?;
        let moved = *wrong.noise();
        // The message now is what was an error; its own is that it was rounded.
        let precision = Precision::plain(bound / gained.exp2(), blueprint.rounding_error(scale));
        wrong.set_metadata(Metadata { precision, ..wrong.metadata().clone() });
        let enlarged = evaluator.multiply_integer(&exact(&wrong), 1_i64 << gained as u32)?;
        let beyond = (reach * gained.exp2() - bound).max(0.0);
        let correction = self.bootstrapped(&enlarged, beyond, keys)?;
        let enlarged = correction.metadata().scale * gained.exp2();
        let correction = renamed(correction, enlarged);
        let to = blueprint.context().scale(level)?;
        let [mut next, correction] =
            [evaluator.set_scale(&sum, level, to)?, evaluator.set_scale(&correction, level, to)?];
        let precision = next.metadata().precision.with_deviation(0.0);
        next.set_metadata(Metadata { precision, ..next.metadata().clone() });
        let mut next = evaluator.with_magnitude(&evaluator.add(&next, &correction)?, bound)?;
        next.set_noise(next.noise().sum(&moved.scaled(Log2::of(to / scale))));
        Ok(next)
    }

    /// The mean over all rotations that leave the slots as they are, by another scale: in the subring of the slots but for the noise of key switches.
    fn traced(&self, mut sum: Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        for steps in self.blueprint.trace() {
            let turned = self.evaluator.rotate(&sum, steps, keys.rotations())?;
            sum = self.evaluator.add(&sum, &turned)?;
            let half = sum.metadata().scale * 2.0;
            sum = renamed(sum, half);
        }
        Ok(sum)
    }

    /// Step 0: the ciphertext modulo q_0, with a message as large as EvalMod takes.
    fn lowered(&self, a: &Ciphertext) -> Result<Ciphertext, BootstrapError> {
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
        a: &Ciphertext,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let (expected, got) = (self.blueprint.levels.slots_to_coeffs, a.metadata().level);
        if got < expected {
            return Err(BootstrapError::LevelTooLow { what: "SlotsToCoeffs", expected, got });
        }
        self.check_message(a.metadata().precision.magnitude(), self.blueprint.scales.raised)?;
        // As slots stand for coefficients now, sums of slots are no concern of q_0; the roundings of diagonals are.
        let magnitude = a.metadata().precision.magnitude();
        let small = magnitude / self.blueprint.slots as f64;
        let a = self.evaluator.with_magnitude(&self.evaluator.level_to(a, expected)?, small)?;
        let mut a = self.slots_to_coeffs.apply_to_whole(&self.evaluator, &a, keys.rotations())?;
        let precision = a.metadata().precision.plus_error(self.slots_to_coeffs.rounding_error(magnitude));
        a.set_metadata(Metadata { precision, ..a.metadata().clone() });
        Ok(a)
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
    fn mod_raise(&self, a: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let (blueprint, context) = (&self.blueprint, self.blueprint.context());
        let raised = match (blueprint.set.encapsulation, keys.encapsulation()) {
            (Some(_), Some(keys)) => keys.mod_raise(context.rlwe(), a)?,
            (Some(_), None) => {
                return Err(BootstrapError::MissingKey { what: "the key to the sparse secret".to_owned() });
            }
            (None, _) => encapsulation::mod_raise(context.rlwe(), a, context.rlwe().level())?,
        };
        let mut raised = raised;
        let (scales, of) = (&blueprint.scales, a.metadata());
        let shrunk = of.precision.scaled(of.scale / scales.first);
        // The root mean square of a slot: errors depend on it, and there is room for far more.
        let magnitude = blueprint.raised_length();
        raised.set_metadata(Metadata {
            level: blueprint.levels.coeffs_to_slots,
            scale: scales.first,
            slots: blueprint.slots.max(of.slots),
            precision: shrunk.with_magnitude(magnitude),
        });
        let lifted = self.evaluator.multiply_integer(&raised, scales.lift)?;
        self.traced(renamed(lifted, scales.first * scales.lift as f64), keys)
    }

    /// Steps 3 and 4: what is left modulo q_0, as a message of this scale again; `reach` bounds x mod 1.
    fn eval_mod(
        &self,
        parts: &Parts,
        scale: f64,
        [bound, reach]: [f64; 2],
        keys: &BootstrapKeys,
    ) -> Result<Parts, CkksError> {
        let (Blueprint { eval_mod, scales, .. }, evaluator) = (&self.blueprint, &self.evaluator);
        let reduce = |x: &Ciphertext| {
            let (key, rotations) = (keys.relinearization(), keys.rotations());
            let mut rest = eval_mod.evaluate(evaluator, &exact(x), scales.reduced, key, rotations)?;
            let of = x.metadata().precision;
            let largest = bound * scale / scales.first;
            let precision = of.scaled(eval_mod.width()).plus_error(self.blueprint.eval_mod_error(largest)?);
            let magnitude = match self.blueprint.set.order {
                // The coefficients of a message with slots of size 1 have root mean square 1/√(2s).
                Order::Last => largest / (2.0 * self.blueprint.slots as f64).sqrt(),
                Order::First => largest,
            };
            let metadata =
                Metadata { precision: precision.with_magnitude(magnitude), ..rest.metadata().clone() };
            let message = metadata.scale * scale / scales.first;
            // Noise that came with x grows by the slope, which is next to 1.
            let slope = eval_mod.worst_error(reach.min(MOST)).slope;
            let carried =
                x.noise().scaled(Log2::of(slope * eval_mod.width() * metadata.scale / x.metadata().scale));
            rest.set_noise(rest.noise().sum(&carried));
            rest.set_metadata(metadata);
            Ok::<_, CkksError>(renamed(rest, message))
        };
        let imaginary = || parts.imaginary.as_ref().map(reduce).transpose();
        let (real, imaginary) = rayon::join(|| reduce(&parts.real), imaginary);
        Ok(Parts { real: real?, imaginary: imaginary? })
    }
}

/// The same integers at another scale: slots of another size.
fn renamed(mut a: Ciphertext, scale: f64) -> Ciphertext {
    let metadata = a.metadata();
    let precision = metadata.precision.scaled(metadata.scale / scale);
    let metadata = Metadata { scale, precision, ..metadata.clone() };
    a.set_metadata(metadata);
    a
}
