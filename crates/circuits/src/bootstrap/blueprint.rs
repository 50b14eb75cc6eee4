//! Blueprint of a bootstrapping: its keys and sizes, known before any key or diagonal is made.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use num_traits::ToPrimitive;
use sunzi_ckks::precision::slot_error;
use sunzi_ckks::rotation::rotation_exponent;
use sunzi_ckks::{CkksError, Context};
use sunzi_ring::{Gadget, GadgetOptions};

use super::dft::{Dft, DftPlan, add_exponents};
use super::eval_mod::EvalMod;
use super::first_matrix::FirstMatrix;
use super::set::{Levels, Order, Set};
use super::steps::{SpecialModuli, Steps};
use super::trace;
use crate::bootstrap::BootstrapError;

/// log2 of the least scale of raised ciphertexts: at it roundings of these cost less than the roundings of diagonals, which
/// grow with the scale.
const RAISED_BITS: f64 = 49.5;

/// Least scale of messages when their modulus is raised: below it nothing is left of a message.
const LEAST_RAISED: f64 = 1024.0;

/// A key that a bootstrapping needs.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyNeed {
    /// Kind of the key that is needed.
    pub kind: KeyKind,
    /// Highest level of the ciphertexts that the key serves.
    pub level: usize,
    /// Bytes of the key in memory.
    pub bytes: usize,
    /// Bytes of the key in a file, to a percent of all keys together.
    pub file_bytes: u64,
}

/// Kind of a key of a bootstrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Galois key of the automorphism X → X^k, which rotates or conjugates the slots: see
    /// [`sunzi_ckks::rotation`].
    Automorphism(u64),
    /// Relinearisation key for products.
    Relinearization,
    /// Key switch from the main secret to the sparse secret and back.
    Encapsulation,
}

/// A bootstrapping of messages of a number of slots: the steps of a [`Set`] in a context, with lists of all keys and bytes.
#[derive(Clone, Debug)]
pub struct Blueprint {
    pub(super) context: Context,
    /// Contexts of the steps that have special moduli of their own, or clones of the context.
    pub(super) steps: Steps<Context>,
    pub(super) set: Set,
    pub(super) slots: usize,
    pub(super) levels: Levels,
    pub(super) eval_mod: EvalMod,
    pub(super) scales: Scales,
    /// First matrix of CoeffsToSlots, if it is applied while the modulus is raised.
    pub(super) first_matrix: Option<FirstMatrix>,
    /// CoeffsToSlots without that matrix.
    pub(super) coeffs_to_slots: Transform,
    pub(super) slots_to_coeffs: Transform,
    /// Maps of parts side by side to real and to imaginary parts, after EvalMod where SlotsToCoeffs comes first.
    pub(super) sides: Option<[Transform; 2]>,
}

/// A Fourier transform and the scales of ciphertexts before and after it.
#[derive(Clone, Debug)]
pub(super) struct Transform {
    pub(super) plan: DftPlan,
    pub(super) scales: [f64; 2],
}

/// Scales of ciphertexts between the steps of a bootstrapping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scales {
    /// Lowest modulus q_0 as a scale.
    pub(super) first: f64,
    /// Scale of messages when their modulus is raised: the largest multiple of the canonical scale that leaves the ratio, or less where SlotsToCoeffs comes
    /// first.
    pub(super) raised: f64,
    /// Factor that multiplies a raised ciphertext, where q_0 is short: rounding errors do not grow with it.
    pub(super) lift: i64,
    /// Scale of x mod 1 after EvalMod.
    pub(super) reduced: f64,
    /// Scale of results over the canonical scale of their level: 1, or 1/2 where a trace doubles them.
    pub(super) share: f64,
}

impl Blueprint {
    /// Chooses rotations and sizes of all steps. Makes no tables. A transform of k matrices has at least 2^k slots: fewer are bootstrapped as so many.
    ///
    /// # Errors
    /// [`BootstrapError::ContextMismatch`] for a context of another set; [`BootstrapError::Set`] for a set whose q_0 has no room for messages;
    /// [`BootstrapError::Transform`] for numbers of slots or levels that a Fourier transform cannot have.
    pub fn new(context: &Context, set: &Set, slots: usize) -> Result<Self, BootstrapError> {
        Self::of_share(context, set, slots, 1.0)
    }

    /// Chooses rotations and sizes of all steps for messages of all slots.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn of_all_slots(context: &Context, set: &Set) -> Result<Self, BootstrapError> {
        Self::new(context, set, context.max_slots())
    }

    /// Makes the blueprint for results at a `share` of the canonical scale of their level.
    pub(super) fn of_share(
        context: &Context,
        set: &Set,
        slots: usize,
        share: f64,
    ) -> Result<Self, BootstrapError> {
        context.rlwe().check_whole("bootstrapping").map_err(CkksError::from)?;
        let levels = set.levels()?;
        if context.depth() != levels.coeffs_to_slots {
            let expected = levels.coeffs_to_slots + 1;
            return Err(BootstrapError::ContextMismatch { expected, got: context.depth() + 1 });
        }
        context.check_slots(slots)?;
        let slots = slots.max(set.fewest_slots()).min(context.max_slots());
        let eval_mod = EvalMod::new(set.eval_mod)?;
        let scales = Scales::new(context, set, &levels, &eval_mod, share)?;
        let steps = step_contexts(context, set)?;
        let result = share * context.scale(levels.residual)?;
        let sides =
            set.splits_parts().then(|| sides(&steps.coeffs_to_slots, set, slots, result)).transpose()?;
        // Where SlotsToCoeffs comes first, coefficients are slots, and parts lie in a ciphertext each unless they lie side by side.
        let whole = set.order == Order::First;
        let [own, degree] =
            [whole && sides.is_none(), whole].map(|whole| if whole { 2 * slots } else { context.degree() });
        let repeats = context.max_slots() / slots;
        let forth = Dft::coeffs_to_slots(own, slots, set.matrices_to_slots(), 1.0 / eval_mod.width())?;
        let from = scales.first * scales.lift as f64 * repeats as f64;
        let to = context.scale(levels.eval_mod)?;
        // The first matrix takes its part of the way between both scales, wherever it is applied: slots become smaller in it, and
        // the error of its rounding must not become larger beside them.
        let after_first = forth.scales([from, to]).get(1).copied().unwrap_or(to);
        let (first, forth) = if set.raises_with_matrix() { forth.split_first() } else { (None, forth) };
        let from = if first.is_some() { after_first } else { from };
        let back = Dft::slots_to_coeffs(degree, slots, set.slots_to_coeffs.levels, 1.0)?;
        let rank = set.encapsulation.map_or(1, |capsule| capsule.rank);
        let raised = [scales.first, after_first / repeats as f64];
        let first_matrix = first.map(|matrix| FirstMatrix::new(context, matrix, raised, rank)).transpose()?;
        let plan = DftPlan::new(&steps.coeffs_to_slots, forth, levels.coeffs_to_slots)?;
        let coeffs_to_slots = Transform { plan, scales: [from, to] };
        let ends = match set.order {
            Order::Last => [scales.reduced * scales.raised / scales.first, result],
            Order::First => [context.scale(levels.slots_to_coeffs)?, scales.raised],
        };
        let plan = DftPlan::new(&steps.slots_to_coeffs, back, levels.slots_to_coeffs)?;
        let slots_to_coeffs = Transform { plan, scales: ends };
        let (context, set) = (context.clone(), set.clone());
        Ok(Self {
            context,
            steps,
            set,
            slots,
            levels,
            eval_mod,
            scales,
            first_matrix,
            coeffs_to_slots,
            slots_to_coeffs,
            sides,
        })
    }

    /// Parameter set of the bootstrapping that is planned.
    #[must_use]
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Context of the ciphertexts to bootstrap.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Number of slots of the messages to bootstrap.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Levels at which every step of the bootstrapping starts.
    #[must_use]
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// Number of levels that a message has left after the rounds of the set.
    #[must_use]
    pub fn levels_left(&self) -> usize {
        self.set.levels_left()
    }

    /// Polynomials of EvalMod in this bootstrapping.
    #[must_use]
    pub fn eval_mod(&self) -> &EvalMod {
        &self.eval_mod
    }

    /// log2 of a bound on the probability that a bootstrapping fails: see [`Set::log2_failure`].
    #[must_use]
    pub fn log2_failure(&self) -> f64 {
        self.set.log2_failure(self.slots)
    }

    /// Bound on the error of every slot, for slots of at most `bound`, because EvalMod is not the identity near 0: largest where all of a message is in one
    /// coefficient, as if all slots are equal. It falls with the third power of the bound or faster. Estimates of results contain it.
    ///
    /// Where SlotsToCoeffs comes first, coefficients are slots, and the bound on the message's error is
    /// EvalMod's own error.
    #[must_use]
    pub fn message_error(&self, bound: f64) -> f64 {
        self.message_error_at(bound, self.scales.raised)
    }

    /// Returns [`message_error`](Self::message_error) for a message that is raised at this scale.
    pub(super) fn message_error_at(&self, bound: f64, scale: f64) -> f64 {
        match self.set.order {
            Order::Last => {
                self.eval_mod.distortion(bound * scale / self.scales.first) * self.scales.first / scale
            }
            Order::First => 0.0,
        }
    }

    /// Root mean square √E|e|² of the error that EvalMod adds to x mod 1 of at most `largest`: its approximation, and the roundings of its products.
    pub(super) fn eval_mod_error(&self, largest: f64) -> Result<f64, CkksError> {
        let rounding = self.rounding_error(self.context.scale(self.levels.eval_mod)?);
        let typical = match self.set.order {
            // Coefficients of messages with many different slots are small; for all others `message_error` is the bound.
            Order::Last => {
                let count = 2.0 * self.slots as f64;
                let coefficient = largest / count.sqrt();
                self.eval_mod.sample_error(count).hypot(self.eval_mod.relative_error() * coefficient)
            }
            Order::First => self.eval_mod.error_within(largest),
        };
        let last = self.rounding_error(self.scales.reduced);
        Ok((rounding * self.eval_mod.growth()).hypot(typical).hypot(last))
    }

    /// Root mean square √E|e|² of the error in a slot from one rounding at this scale.
    pub(super) fn rounding_error(&self, scale: f64) -> f64 {
        let coefficient = self.context.rlwe().noise_model().mod_switch(2).deviation.bits().exp2();
        slot_error(coefficient, self.context.max_slots(), scale)
    }

    /// Number of bytes of the encoded diagonals of both transforms.
    #[must_use]
    pub fn diagonal_bytes(&self) -> usize {
        let first = self.first_matrix.as_ref().map_or(0, FirstMatrix::table_bytes);
        let sides: usize = self.sides.iter().flatten().map(|side| side.plan.bytes()).sum();
        first + self.coeffs_to_slots.plan.bytes() + self.slots_to_coeffs.plan.bytes() + sides
    }

    /// Number of bytes of all keys of the bootstrapping.
    ///
    /// # Errors
    /// Every error of [`keys`](Self::keys).
    pub fn key_bytes(&self) -> Result<usize, BootstrapError> {
        Ok(self.keys()?.iter().map(|key| key.bytes).sum())
    }

    /// Number of bytes of the file of all keys of the bootstrapping, to a percent.
    ///
    /// # Errors
    /// Every error of [`keys`](Self::keys).
    pub fn key_file_bytes(&self) -> Result<u64, BootstrapError> {
        Ok(self.keys()?.iter().map(|key| key.file_bytes).sum())
    }

    /// Lists all keys of the bootstrapping, each for the highest level at which it is used.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`] never: all levels exist.
    pub fn keys(&self) -> Result<Vec<KeyNeed>, BootstrapError> {
        let mut keys = Vec::new();
        let mut need = |context: &Context, kind, level| -> Result<(), BootstrapError> {
            let (bytes, file_bytes) = bytes_of_key(context, level)?;
            keys.push(KeyNeed { kind, level, bytes, file_bytes });
            Ok(())
        };
        let steps = [&self.steps.coeffs_to_slots, &self.steps.slots_to_coeffs];
        for (context, exponents) in steps.into_iter().zip(self.exponents()) {
            for (exponent, level) in exponents {
                need(context, KeyKind::Automorphism(exponent), level)?;
            }
        }
        if self.has_own_steps() {
            need(&self.steps.polynomial, KeyKind::Relinearization, self.levels.eval_mod)?;
        }
        if let Some(tables) = &self.steps.tables {
            need(tables, KeyKind::Relinearization, self.set.below_eval_mod())?;
        }
        need(&self.context, KeyKind::Relinearization, self.relinearization_level())?;
        if let Some(capsule) = self.set.encapsulation {
            let special_moduli = vec![self.special_modulus(capsule.special_bits)?];
            let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
            let low = self.context.ring_at(0)?.gadget(&options).and_then(|gadget| gadget.key_bytes());
            let low = low.map_err(CkksError::from)?;
            let level = self.levels.coeffs_to_slots;
            let back = match &self.first_matrix {
                Some(first) => first.key_bytes(&self.context)?,
                None => capsule.rank * bytes_of_key(&self.context, level)?.0,
            };
            let bytes = capsule.rank * low + back;
            // Seeds stand for the uniform halves.
            let file_bytes = bytes as u64 / 2;
            keys.push(KeyNeed { kind: KeyKind::Encapsulation, level, bytes, file_bytes });
        }
        Ok(keys)
    }

    /// Returns whether steps have special moduli of their own.
    pub(super) fn has_own_steps(&self) -> bool {
        self.set.special == SpecialModuli::EachStep
    }

    /// log2 of the largest modulus of a key of the main secret, which decides the security.
    #[must_use]
    pub fn log2_key_modulus(&self) -> f64 {
        let Steps { coeffs_to_slots, polynomial, tables, slots_to_coeffs } = &self.steps;
        let contexts =
            [&self.context, coeffs_to_slots, polynomial, slots_to_coeffs].into_iter().chain(tables);
        contexts.map(|context| context.rlwe().log2_key_modulus()).fold(0.0, f64::max)
    }

    /// Highest level of the products that are relinearised with the special moduli of the context.
    pub(super) fn relinearization_level(&self) -> usize {
        let own = if self.has_own_steps() { self.eval_mod.polynomial_depth() } else { 0 };
        self.levels.eval_mod - own
    }

    /// Exponents of the automorphisms, each with its highest level: of CoeffsToSlots and the trace, and of SlotsToCoeffs where that has special moduli
    /// of its own. Rotations of results by powers of two are with the latter.
    pub(super) fn exponents(&self) -> [BTreeMap<u64, usize>; 2] {
        let index = self.context.ring().index();
        let top = self.levels.coeffs_to_slots;
        let mut forth = self.coeffs_to_slots.plan.exponents(index);
        let trace = self.trace().concat();
        add_exponents(&mut forth, trace.into_iter().map(|steps| (rotation_exponent(steps, index), top)));
        add_exponents(&mut forth, self.sides.iter().flatten().flat_map(|side| side.plan.exponents(index)));
        let mut back = self.slots_to_coeffs.plan.exponents(index);
        if self.set.rotates_results() {
            let residual = self.levels.residual;
            let steps = (0..).map(|i| 1_i64 << i).take_while(|step| *step < self.context.max_slots() as i64);
            let both = steps.flat_map(|step| [step, -step]);
            add_exponents(&mut back, both.map(|step| (rotation_exponent(step, index), residual)));
        }
        if !self.has_own_steps() {
            add_exponents(&mut forth, std::mem::take(&mut back));
        }
        [forth, back]
    }

    /// Special modulus of the encapsulation: the largest prime of `bits` bits that is no other modulus.
    pub(super) fn special_modulus(&self, bits: u32) -> Result<u64, BootstrapError> {
        let none = || BootstrapError::Set {
            what: "special_bits",
            got: bits.to_string(),
            expected: "20 to 61, with a prime left".to_owned(),
        };
        if !(20..=61).contains(&bits) {
            return Err(none());
        }
        let first = self.context.ring_at(0)?.modulus();
        let primes =
            sunzi_math::primes_below(1 << bits, self.context.ring().index(), 4).map_err(|_| none())?;
        primes.into_iter().find(|&p| first % p != num_bigint::BigUint::ZERO).ok_or_else(none)
    }

    /// Rotations of every stage of the trace, whose sum lies in the subring of the slots: all multiples of the slots.
    pub(super) fn trace(&self) -> Vec<Vec<i64>> {
        trace::stages(self.slots, self.context.max_slots())
    }
}

/// Makes the contexts of a set's steps, without tables of key switching.
fn step_contexts(context: &Context, set: &Set) -> Result<Steps<Context>, BootstrapError> {
    if set.special == SpecialModuli::Shared {
        let [coeffs_to_slots, polynomial, slots_to_coeffs] = [(); 3].map(|()| context.clone());
        return Ok(Steps { coeffs_to_slots, polynomial, tables: None, slots_to_coeffs });
    }
    let (parameters, levels) = (set.parameters()?, set.step_levels()?);
    let step = |levels: &RangeInclusive<usize>| -> Result<Context, BootstrapError> {
        let special_moduli = parameters.special_moduli_for(levels.clone())?;
        Ok(context.for_levels(levels.clone(), &special_moduli)?)
    };
    Ok(Steps {
        coeffs_to_slots: step(&levels.coeffs_to_slots)?,
        polynomial: step(&levels.polynomial)?,
        tables: levels.tables.as_ref().map(step).transpose()?,
        slots_to_coeffs: step(&levels.slots_to_coeffs)?,
    })
}

/// Plans the maps of parts side by side to real and to imaginary parts, for results at a scale.
fn sides(context: &Context, set: &Set, slots: usize, scale: f64) -> Result<[Transform; 2], BootstrapError> {
    let most = context.max_slots() / 2;
    if slots > most {
        let expected = format!("at most {most} in a set for few slots where SlotsToCoeffs comes first");
        return Err(BootstrapError::Set { what: "slots", got: slots.to_string(), expected });
    }
    let side = |imaginary| {
        let dft = Dft::side(context.degree(), slots, imaginary)?;
        let plan = DftPlan::new(context, dft, set.below_eval_mod())?;
        Ok::<_, BootstrapError>(Transform { plan, scales: [scale; 2] })
    };
    Ok([side(false)?, side(true)?])
}

/// Returns the bytes of a key in memory and in a file.
fn bytes_of_key(context: &Context, level: usize) -> Result<(usize, u64), CkksError> {
    bytes_of_keys(&context.rlwe().gadget_at(context.key_level(level)?)?)
}

/// Returns the bytes of a key of a gadget in memory and in a file.
pub(super) fn bytes_of_keys(gadget: &Gadget) -> Result<(usize, u64), CkksError> {
    // Seeds stand for the uniform halves, and what is beside the others is small.
    let halves = (0..gadget.digit_count()).map(|digit| Ok(gadget.part_ring(digit)?.packed_len() as u64));
    Ok((gadget.key_bytes()?, halves.sum::<Result<u64, CkksError>>()?))
}

impl Scales {
    fn new(
        context: &Context,
        set: &Set,
        levels: &Levels,
        eval_mod: &EvalMod,
        share: f64,
    ) -> Result<Self, BootstrapError> {
        let first = context.ring_at(0)?.modulus().to_f64().unwrap_or(f64::INFINITY);
        let canonical = context.scale(0)?;
        let room = first * (-set.eval_mod.ratio_bits).exp2() / context.message_bound();
        // SlotsToCoeffs ends at any scale; elsewhere messages are multiplied by an integer.
        let least = if set.order == Order::First { LEAST_RAISED } else { canonical };
        if room < least {
            return Err(BootstrapError::Set {
                what: "bits of q_0",
                got: set.first_bits.to_string(),
                expected: format!(
                    "{:.1} at least, for the scale and the bits of messages and of their ratio",
                    first.log2() + (least / room).log2()
                ),
            });
        }
        let raised = match set.tables {
            // Messages modulo p fill q_0.
            Some(_) => first / 2.0,
            None if room < canonical => room,
            None => canonical * (room / canonical).floor(),
        };
        let top = context.scale(levels.eval_mod)?;
        let lift = (RAISED_BITS - first.log2()).floor().clamp(0.0, 30.0).exp2() as i64;
        let wanted = match set.order {
            Order::Last if eval_mod.has_arcsine() => top,
            // No scale on the way is below the canonical one.
            Order::Last => eval_mod.squared_scale(context, levels.eval_mod)?,
            Order::First => share * context.scale(levels.residual)? * first / raised,
        };
        if set.tables.is_some() {
            let reduced = context.scale(set.below_eval_mod())?;
            return Ok(Self { first, raised, lift, reduced, share });
        }
        let reduced = eval_mod.output_scale(context, levels.eval_mod, wanted)?;
        if set.order == Order::First && (reduced / wanted - 1.0).abs() > f64::EPSILON {
            return Err(BootstrapError::Set {
                what: "the form of EvalMod",
                got: "the exponential".to_owned(),
                expected: "the cosine where SlotsToCoeffs comes first: it reaches the scale of the result"
                    .to_owned(),
            });
        }
        Ok(Self { first, raised, lift, reduced, share })
    }
}
