//! Bootstrapper: the steps of bootstrapping, one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};

use sunzi_ckks::{Ciphertext, CkksError, Evaluator, Metadata, Precision};
use sunzi_ring::on_pool;
use sunzi_rlwe::{Log2, RaisingTables, encapsulation};

use super::blueprint::Transform;
use super::dft::{CoeffsToSlots, Parts, SlotsToCoeffs};
use super::noise::{MOST, exact};
use super::set::Order;
use super::steps::Steps;
use super::{Blueprint, BootstrapError, BootstrapKeys, SparseKeys, trace};

/// Bootstrapper of ciphertexts: it restores their levels.
#[derive(Clone)]
pub struct Bootstrapper {
    pub(super) blueprint: Blueprint,
    pub(super) evaluator: Evaluator,
    /// Evaluators of the steps that may have special moduli of their own.
    pub(super) evaluators: Steps<Evaluator>,
    /// First matrix of CoeffsToSlots, if it is applied while the modulus is raised.
    first_matrix: Option<RaisingTables>,
    coeffs_to_slots: CoeffsToSlots,
    slots_to_coeffs: SlotsToCoeffs,
    /// Maps of parts side by side to real and to imaginary parts.
    sides: Option<[SlotsToCoeffs; 2]>,
}

/// Remainders modulo q_0 of the parts of a raised ciphertext.
pub(super) struct Remainder {
    pub(super) parts: Parts,
    /// Ciphertext that was raised.
    pub(super) lowered: Ciphertext,
    /// Bound on x mod 1.
    pub(super) reach: f64,
}

impl Bootstrapper {
    /// Encodes all diagonals, several matrices at a time. `progress` is called with the numbers of matrices done and of all, from
    /// any thread of the pool.
    ///
    /// # Errors
    /// [`BootstrapError::Set`] for a set for tables, which a [`FunctionalBootstrapper`](super::functional::FunctionalBootstrapper) evaluates;
    /// [`BootstrapError::Transform`] for entries that do not fit their scale.
    pub fn new(
        blueprint: &Blueprint,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        if blueprint.set.tables.is_some() {
            let expected = "one without tables, or a FunctionalBootstrapper must take it".to_owned();
            return Err(BootstrapError::Set { what: "the set", got: blueprint.set.to_string(), expected });
        }
        Self::encode(blueprint, progress)
    }

    /// Encodes all diagonals, of sets for tables too.
    pub(super) fn encode(
        blueprint: &Blueprint,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        let (Transform { plan: there, scales: up }, Transform { plan: back, scales: down }) =
            (&blueprint.coeffs_to_slots, &blueprint.slots_to_coeffs);
        let first = blueprint.first_matrix.as_ref();
        let sides = blueprint.sides.as_ref();
        let more = usize::from(first.is_some()) + sides.map_or(0, |sides| sides.len());
        let total = there.factors().len() + back.factors().len() + more;
        let done = AtomicUsize::new(0);
        let count = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        let context = blueprint.context();
        let first_matrix = first.map(|first| first.tables(context)).transpose()?;
        first_matrix.iter().for_each(|_| count());
        let steps = &blueprint.steps;
        let coeffs_to_slots = CoeffsToSlots::encode(&steps.coeffs_to_slots, there.clone(), *up, &count)?;
        let slots_to_coeffs = SlotsToCoeffs::encode(&steps.slots_to_coeffs, back.clone(), *down, &count)?;
        let encode = |Transform { plan, scales }: &Transform| {
            SlotsToCoeffs::encode(&steps.coeffs_to_slots, plan.clone(), *scales, &count)
        };
        let sides =
            sides.map(|[real, imaginary]| Ok::<_, BootstrapError>([encode(real)?, encode(imaginary)?]));
        let sides = sides.transpose()?;
        let (evaluator, evaluators) = (Evaluator::new(context), steps.map(Evaluator::new));
        let blueprint = blueprint.clone();
        Ok(Self { blueprint, evaluator, evaluators, first_matrix, coeffs_to_slots, slots_to_coeffs, sides })
    }

    /// Blueprint from which the bootstrapper was made.
    #[must_use]
    pub fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    /// Evaluator that the bootstrapper computes with.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// Number of bytes of the encoded diagonals of the bootstrapper.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let first = self.first_matrix.as_ref().map_or(0, RaisingTables::byte_len);
        let sides: usize = self.sides.iter().flatten().map(SlotsToCoeffs::byte_len).sum();
        first + self.coeffs_to_slots.byte_len() + self.slots_to_coeffs.byte_len() + sides
    }

    /// Returns the message at the residual level of the set and its canonical scale, with the error of the bootstrapping: `[AS19, 3]`.
    ///
    /// # Errors
    /// [`BootstrapError::MessageTooLarge`]; [`BootstrapError::TooManySlots`]; [`BootstrapError::LevelTooLow`] where SlotsToCoeffs comes first and has not
    /// enough levels; [`BootstrapError::MissingKey`], [`BootstrapError::Rlwe`] for keys of another secret; [`BootstrapError::Ckks`] and
    /// [`BootstrapError::Transform`] for ciphertexts of another context, or at an unusual scale.
    pub fn bootstrap(&self, a: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        self.bootstrapped(a, 0.0, false, keys)
    }

    /// Bootstraps slots of at most the magnitude and `beside` together, plus the noise: the magnitude decides about refusal, both decide the bounds. Real parts alone if
    /// `only_real` says so, where SlotsToCoeffs comes first.
    pub(super) fn bootstrapped(
        &self,
        a: &Ciphertext,
        beside: f64,
        only_real: bool,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        self.on_pool(|| self.all_steps(a, beside, only_real, keys))
    }

    /// Runs steps on the threads that share them.
    pub(super) fn on_pool<T: Send>(
        &self,
        steps: impl FnOnce() -> Result<T, BootstrapError> + Send,
    ) -> Result<T, BootstrapError> {
        on_pool(self.blueprint.context.rlwe().switch_words(), steps).map_err(BootstrapError::of_bootstrapping)
    }

    /// Runs all steps, on real parts of slots alone if `only_real` says so, where SlotsToCoeffs comes first.
    pub(super) fn all_steps(
        &self,
        a: &Ciphertext,
        beside: f64,
        only_real: bool,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let length = a.metadata().precision.magnitude();
        let Remainder { parts, lowered, reach } = self.remainder(a, [length, beside], only_real, keys)?;
        let evaluator = &self.evaluator;
        let result = match (self.blueprint.set.order, &parts.imaginary) {
            (Order::Last, _) => {
                let keys = keys.rotations_to_coeffs();
                self.slots_to_coeffs.apply(&self.evaluators.slots_to_coeffs, &parts, keys)?
            }
            (Order::First, Some(imaginary)) => {
                evaluator.add(&parts.real, &evaluator.multiply_by_i(imaginary)?)?
            }
            (Order::First, None) => parts.real,
        };
        self.declared(a, reach, &lowered, result)
    }

    /// Steps 0 to 4: x mod 1 of both parts of the raised ciphertext, or of the real one. Slots are at most the magnitude and `beside` together in each part, and
    /// `length` as complex numbers.
    pub(super) fn remainder(
        &self,
        a: &Ciphertext,
        [length, beside]: [f64; 2],
        only_real: bool,
        keys: &BootstrapKeys,
    ) -> Result<Remainder, BootstrapError> {
        let (parts, lowered) = self.raised_parts(a, length, only_real, keys)?;
        let reach = self.blueprint.reach(a, beside, &lowered);
        let bounds = [a.metadata().precision.magnitude(), reach];
        let parts = self.eval_mod(&parts, lowered.metadata().scale, bounds, keys)?;
        let parts = self.asunder(parts, only_real, keys)?;
        Ok(Remainder { parts, lowered, reach })
    }

    /// Steps 0 to 2: both parts of the raised ciphertext in slots, or the real one, and the ciphertext that was raised.
    pub(super) fn raised_parts(
        &self,
        a: &Ciphertext,
        length: f64,
        only_real: bool,
        keys: &BootstrapKeys,
    ) -> Result<(Parts, Ciphertext), BootstrapError> {
        let (slots, got) = (self.blueprint.slots, a.metadata().slots);
        if got > slots {
            return Err(BootstrapError::TooManySlots { slots, got });
        }
        let bare = exact(a);
        let lowered = match self.blueprint.set.order {
            Order::Last => self.lowered(&bare)?,
            Order::First => self.lowered_by_transform(&bare, length, keys)?,
        };
        let (raised, evaluator) = (self.mod_raise(&lowered, keys)?, &self.evaluators.coeffs_to_slots);
        let parts = if only_real {
            self.coeffs_to_slots.apply_to_real(evaluator, &raised, keys.rotations())?
        } else {
            self.coeffs_to_slots.apply(evaluator, &raised, keys.rotations())?
        };
        Ok((parts, lowered))
    }

    /// Takes parts that lie side by side asunder, the imaginary one unless only the real one is wanted.
    fn asunder(&self, parts: Parts, only_real: bool, keys: &BootstrapKeys) -> Result<Parts, BootstrapError> {
        let Some([real, imaginary]) = &self.sides else { return Ok(parts) };
        let part = |side: &SlotsToCoeffs| {
            Ok::<_, BootstrapError>(side.apply(&self.evaluators.coeffs_to_slots, &parts, keys.rotations())?)
        };
        let imaginary = if only_real { None } else { Some(part(imaginary)?) };
        Ok(Parts { real: part(real)?, imaginary })
    }

    /// Returns a result with the slots, scale, precision and noise that follow from the message and what was raised.
    pub(super) fn declared(
        &self,
        a: &Ciphertext,
        reach: f64,
        lowered: &Ciphertext,
        mut result: Ciphertext,
    ) -> Result<Ciphertext, BootstrapError> {
        let (of, own, bound) = (a.metadata(), result.metadata(), a.metadata().precision.magnitude());
        let whole = self.blueprint.message_error_at(bound, lowered.metadata().scale);
        let precision = own.precision.with_magnitude(bound).plus_dependent_error(whole);
        let scale = self.blueprint.context.snapped(own.level, own.scale)?;
        let metadata = Metadata { slots: of.slots, scale, precision, ..own.clone() };
        result.set_metadata(metadata);
        result.set_noise(self.blueprint.whole_noise(a, reach, lowered, &result)?);
        Ok(result)
    }

    /// Runs [`bootstrap`](Self::bootstrap) `rounds` times, each round on the error of the rounds before `[BCCKK22]`: every round adds about as many
    /// bits as the first gave, up to the precision of the residual scale, and takes one of the residual levels. One round is a bootstrapping.
    ///
    /// # Errors
    /// Every error of [`bootstrap`](Self::bootstrap); [`BootstrapError::TooManyRounds`] for more rounds than residual levels above the
    /// [lowest](super::Set::lowest_level) that a message may have.
    pub fn bootstrap_refined(
        &self,
        a: &Ciphertext,
        rounds: usize,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        if rounds <= 1 {
            return self.bootstrap(a, keys);
        }
        // Rounds correct towards all that `a` holds, including its noise, which returns unchanged.
        let (given, from, whole) = (*a.noise(), a.metadata().scale, exact(a));
        let beside = self.blueprint.largest_slot(&given, from);
        let mut sum = self.refined(&whole, rounds, (beside, false), keys)?;
        let deviation = sum.metadata().precision.deviation().hypot(a.metadata().precision.deviation());
        let precision = sum.metadata().precision.with_deviation(deviation);
        sum.set_metadata(Metadata { precision, ..sum.metadata().clone() });
        let carried = given.scaled(Log2::of(sum.metadata().scale / from));
        sum.set_noise(self.blueprint.within_modulus(&sum, &sum.noise().sum(&carried))?);
        Ok(sum)
    }

    /// Runs several rounds on a message without noise, whose slots are at most the magnitude and `beside` together: on their real parts alone if `only_real` says so,
    /// where SlotsToCoeffs comes first.
    pub(super) fn refined(
        &self,
        whole: &Ciphertext,
        rounds: usize,
        (beside, only_real): (f64, bool),
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let (evaluator, levels) = (&self.evaluator, self.blueprint.levels);
        // Further rounds start from the message again.
        let lowest = self.blueprint.set.lowest_level();
        let above = levels.residual - lowest;
        if rounds > above.max(1) {
            return Err(BootstrapError::TooManyRounds { rounds, levels: above });
        }
        let mut sum = self.bootstrapped(whole, beside, only_real, keys)?;
        let high = whole.metadata().level > lowest;
        let message = if high { evaluator.level_to(whole, lowest)? } else { whole.clone() };
        for _ in 1..rounds {
            sum = self.corrected(&message, (beside, only_real), &sum, keys)?;
        }
        Ok(sum)
    }

    /// Adds to a bootstrapped message a bootstrapped correction of its error, one level lower.
    fn corrected(
        &self,
        message: &Ciphertext,
        (beside, only_real): (f64, bool),
        sum: &Ciphertext,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let (evaluator, blueprint) = (&self.evaluator, &self.blueprint);
        let (level, scale) = (sum.metadata().level - 1, message.metadata().scale);
        let bound = message.metadata().precision.magnitude();
        // An error of eight deviations occurs in no slot; the error that one coefficient may cause is a bound already.
        let largest = blueprint.message_error(bound);
        let spread = 8.0 * (sum.metadata().precision.deviation() - largest).max(0.0);
        let estimated = (bound / (spread + largest)).log2().floor().clamp(0.0, 62.0);
        // That coefficient may have the rarest integer.
        let reach = spread + blueprint.largest_error(bound + beside);
        let gained = blueprint.bits_to_enlarge(sum, [bound, reach], estimated);
        // The trace removes the part outside the subring of few slots, which is not corrected. Counted are the noise of both terms, and that of
        // lowering them: all that is not in the correction.
        let sum = self.traced(exact(sum), keys)?;
        let mut wrong =
            evaluator.sub(message, &evaluator.set_scale(&sum, message.metadata().level, scale)?)?;
        let moved = *wrong.noise();
        // The message is now the earlier error; its own error is that of its rounding.
        let precision = Precision::plain(bound / gained.exp2(), blueprint.rounding_error(scale));
        wrong.set_metadata(Metadata { precision, ..wrong.metadata().clone() });
        let enlarged = evaluator.multiply_integer(&exact(&wrong), 1_i64 << gained as u32)?;
        let beyond = (reach * gained.exp2() - bound).max(0.0);
        let correction = self.bootstrapped(&enlarged, beyond, only_real, keys)?;
        let enlarged = correction.metadata().scale * gained.exp2();
        let correction = with_scale(correction, enlarged);
        let to = blueprint.scales.share * blueprint.context().scale(level)?;
        let [mut next, correction] =
            [evaluator.set_scale(&sum, level, to)?, evaluator.set_scale(&correction, level, to)?];
        let precision = next.metadata().precision.with_deviation(0.0);
        next.set_metadata(Metadata { precision, ..next.metadata().clone() });
        let mut next = evaluator.with_magnitude(&evaluator.add(&next, &correction)?, bound)?;
        next.set_noise(next.noise().sum(&moved.scaled(Log2::of(to / scale))));
        Ok(next)
    }

    /// Returns the mean over all rotations that leave the slots as they are, by another scale: in the subring of the slots but for the noise of key switches.
    fn traced(&self, a: Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let context = self.evaluators.coeffs_to_slots.context();
        let stage = |sum: Ciphertext, steps: Vec<i64>| {
            trace::mean_of_rotations(context, &sum, &steps, keys.rotations())
        };
        Ok(self.blueprint.trace().into_iter().try_fold(a, stage)?)
    }

    /// Step 0: lowers the ciphertext to modulus q_0, with a message as large as EvalMod takes.
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
        Ok(with_scale(product, own * factor))
    }

    /// Step 0 where SlotsToCoeffs comes first: lowers the ciphertext by that transform; no slot is longer than `length`.
    fn lowered_by_transform(
        &self,
        a: &Ciphertext,
        length: f64,
        keys: &BootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let (expected, got) = (self.blueprint.levels.slots_to_coeffs, a.metadata().level);
        if got < expected {
            return Err(BootstrapError::LevelTooLow { what: "SlotsToCoeffs", expected, got });
        }
        self.check_message(a.metadata().precision.magnitude(), self.blueprint.scales.raised)?;
        // Slots stand for coefficients now, so q_0 need not hold sums of slots; the roundings of diagonals matter.
        let small = length / self.blueprint.slots as f64;
        let a = self.evaluator.with_magnitude(&self.evaluator.level_to(a, expected)?, small)?;
        let (evaluator, rotations) = (&self.evaluators.slots_to_coeffs, keys.rotations_to_coeffs());
        let mut a = self.slots_to_coeffs.apply_to_whole(evaluator, &a, rotations)?;
        let precision = a.metadata().precision.plus_error(self.slots_to_coeffs.rounding_error(length));
        a.set_metadata(Metadata { precision, ..a.metadata().clone() });
        Ok(a)
    }

    fn check_message(&self, magnitude: f64, scale: f64) -> Result<(), BootstrapError> {
        let ratio = (-self.blueprint.set.eval_mod.ratio_bits).exp2();
        // Margin for the rounding of the scale.
        let limit = self.blueprint.scales.first * ratio / scale * (1.0 + 1e-9);
        if magnitude <= limit {
            Ok(())
        } else {
            Err(BootstrapError::MessageTooLarge { got: magnitude, limit })
        }
    }

    /// Step 1 `[AS19, 3.2]`: raises the modulus to Q_L, where the ciphertext is one of m + q_0·I; its slots are read over q_0. The first matrix of
    /// CoeffsToSlots may be applied at once.
    fn mod_raise(&self, a: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let (blueprint, context) = (&self.blueprint, self.blueprint.context());
        let first_matrix = blueprint.first_matrix.as_ref().zip(self.first_matrix.as_ref());
        let mut raised = match (blueprint.set.encapsulation, keys.sparse(), first_matrix) {
            (Some(_), Some(SparseKeys::KeySwitch(keys)), None) => keys.mod_raise(context.rlwe(), a)?,
            (Some(_), Some(SparseKeys::FirstMatrix(keys)), Some((_, tables))) => keys.mod_raise(tables, a)?,
            (Some(_), _, _) => {
                return Err(BootstrapError::MissingKey { what: "the key to the sparse secret".to_owned() });
            }
            (None, _, _) => encapsulation::mod_raise(context.rlwe(), a, context.rlwe().level())?,
        };
        let (scales, of) = (&blueprint.scales, a.metadata());
        let shrunk = of.precision.scaled(of.scale / scales.first);
        // The magnitude is the root mean square of a slot: errors depend on it, and there is room for far more.
        let magnitude = blueprint.raised_length();
        raised.set_metadata(Metadata {
            level: blueprint.levels.coeffs_to_slots,
            scale: scales.first,
            slots: blueprint.slots.max(of.slots),
            precision: shrunk.with_magnitude(magnitude),
        });
        let raised = match first_matrix {
            Some((first, tables)) => first.finish(context, tables, raised, magnitude),
            None => {
                let lifted = self.evaluator.multiply_integer(&raised, scales.lift)?;
                with_scale(lifted, scales.first * scales.lift as f64)
            }
        };
        // A matrix whose rows repeat with the slots commutes with the trace.
        self.traced(raised, keys)
    }

    /// Steps 3 and 4: the remainder modulo q_0, as a message of this scale again; `reach` bounds x mod 1.
    fn eval_mod(
        &self,
        parts: &Parts,
        scale: f64,
        [bound, reach]: [f64; 2],
        keys: &BootstrapKeys,
    ) -> Result<Parts, CkksError> {
        let (Blueprint { eval_mod, scales, .. }, evaluators) = (&self.blueprint, &self.evaluators);
        let products =
            [(&evaluators.polynomial, keys.of_polynomial()), (&self.evaluator, keys.relinearization())];
        let rotations = (&evaluators.coeffs_to_slots, keys.rotations());
        let reduce = |x: &Ciphertext| {
            let mut rest = eval_mod.evaluate(&exact(x), scales.reduced, products, rotations)?;
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
            // Noise that came with x grows by the slope, which is close to 1.
            let slope = eval_mod.worst_error(reach.min(MOST)).slope;
            let carried =
                x.noise().scaled(Log2::of(slope * eval_mod.width() * metadata.scale / x.metadata().scale));
            rest.set_noise(rest.noise().sum(&carried));
            rest.set_metadata(metadata);
            Ok::<_, CkksError>(with_scale(rest, message))
        };
        let imaginary = || parts.imaginary.as_ref().map(reduce).transpose();
        let (real, imaginary) = rayon::join(|| reduce(&parts.real), imaginary);
        Ok(Parts { real: real?, imaginary: imaginary? })
    }
}

/// Declares another scale for the same integers: slots of another size.
pub(super) fn with_scale(mut a: Ciphertext, scale: f64) -> Ciphertext {
    let metadata = a.metadata();
    let precision = metadata.precision.scaled(metadata.scale / scale);
    let metadata = Metadata { scale, precision, ..metadata.clone() };
    a.set_metadata(metadata);
    a
}
