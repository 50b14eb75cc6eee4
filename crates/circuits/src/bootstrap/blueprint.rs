//! What a bootstrapping needs, known before any key or diagonal is made.

use num_traits::ToPrimitive;
use sunzi_ckks::rotation::{conjugation_exponent, rotation_exponent};
use sunzi_ckks::{CkksError, Context};
use sunzi_ring::{Gadget, Multipliers, PolyRing, Ring};

use super::dft::{Dft, Packing};
use super::eval_mod::EvalMod;
use super::set::{Levels, Order, Set};
use crate::bootstrap::BootstrapError;
use crate::linear_transform::{Diagonals, Plan};

/// A key that has to be there.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyNeed {
    /// What it does.
    pub kind: KeyKind,
    /// The highest level of ciphertexts it serves.
    pub level: usize,
    /// Bytes in memory.
    pub bytes: usize,
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Rotates the slots left.
    Rotation(i64),
    /// Conjugates the slots.
    Conjugation,
    /// Relinearises products.
    Relinearization,
    /// Leads to the sparse secret and back.
    Encapsulation,
}

/// One factor of a Fourier transform and how it will be applied.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) matrix: Diagonals,
    pub(super) plan: Plan,
    /// The scales of ciphertexts before and after it.
    pub(super) scales: [f64; 2],
}

/// A bootstrapping of messages of a number of slots: the steps of a [`Set`] in a context, with lists of all keys and bytes.
#[derive(Clone, Debug)]
pub struct Blueprint<R: PolyRing = Ring> {
    pub(super) context: Context<R>,
    pub(super) set: Set,
    pub(super) slots: usize,
    pub(super) levels: Levels,
    pub(super) eval_mod: EvalMod,
    pub(super) scales: Scales,
    pub(super) coeffs_to_slots: Vec<Stage>,
    pub(super) slots_to_coeffs: Vec<Stage>,
}

/// Scales at the seams of the steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scales {
    /// q_0.
    pub(super) first: f64,
    /// Of messages when their modulus is raised: the largest multiple of the canonical one that leaves the ratio.
    pub(super) raised: f64,
    /// What a raised ciphertext is multiplied by: rounding errors do not grow with it.
    pub(super) lift: i64,
    /// Of x mod 1 after EvalMod.
    pub(super) reduced: f64,
}

impl<R: Multipliers> Blueprint<R> {
    /// Chooses rotations and sizes of all steps. Makes no tables.
    ///
    /// # Errors
    /// [`BootstrapError::ContextMismatch`] for a context of another set; [`BootstrapError::Set`] for a set whose q_0 has no room for messages;
    /// [`BootstrapError::Transform`] for slots or levels that a Fourier transform cannot have.
    pub fn new(context: &Context<R>, set: &Set, slots: usize) -> Result<Self, BootstrapError> {
        let levels = set.levels()?;
        if context.depth() != levels.coeffs_to_slots {
            let expected = levels.coeffs_to_slots + 1;
            return Err(BootstrapError::ContextMismatch { expected, got: context.depth() + 1 });
        }
        context.check_slots(slots)?;
        let eval_mod = EvalMod::new(set.eval_mod)?;
        let scales = Scales::new(context, set, &levels, &eval_mod)?;
        // Where SlotsToCoeffs comes first, both parts lie in a ciphertext each.
        let degree = if set.order == Order::First { 2 * slots } else { context.degree() };
        let repeats = context.max_slots() / slots;
        let forth = Dft::coeffs_to_slots(degree, slots, set.coeffs_to_slots.levels, 1.0 / eval_mod.width())?;
        let back = Dft::slots_to_coeffs(degree, slots, set.slots_to_coeffs.levels, 1.0)?;
        let from = scales.first * scales.lift as f64 * repeats as f64;
        let to = context.scale(levels.eval_mod)?;
        let coeffs_to_slots = stages(context, &forth, levels.coeffs_to_slots, [from, to])?;
        let ends = match set.order {
            Order::Last => [scales.reduced * scales.raised / scales.first, context.scale(levels.residual)?],
            Order::First => [context.scale(levels.slots_to_coeffs)?, scales.raised],
        };
        let slots_to_coeffs = stages(context, &back, levels.slots_to_coeffs, ends)?;
        let (context, set) = (context.clone(), set.clone());
        Ok(Self { context, set, slots, levels, eval_mod, scales, coeffs_to_slots, slots_to_coeffs })
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &Context<R> {
        &self.context
    }

    /// Slots of messages.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The levels of every step.
    #[must_use]
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// EvalMod.
    #[must_use]
    pub fn eval_mod(&self) -> &EvalMod {
        &self.eval_mod
    }

    /// log2 of a bound on the probability of failure: see [`Set::log2_failure`].
    #[must_use]
    pub fn log2_failure(&self) -> f64 {
        self.set.log2_failure(self.slots)
    }

    /// Bytes of the encoded diagonals of both transforms.
    #[must_use]
    pub fn diagonal_bytes(&self) -> usize {
        self.coeffs_to_slots.iter().chain(&self.slots_to_coeffs).map(|stage| stage.plan.bytes()).sum()
    }

    /// Bytes of all keys.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn key_bytes(&self) -> Result<usize, BootstrapError> {
        Ok(self.keys()?.iter().map(|key| key.bytes).sum())
    }

    /// All keys, each for the highest level at which it is used.
    ///
    /// # Errors
    /// [`BootstrapError::Ckks`] never: all levels are there.
    pub fn keys(&self) -> Result<Vec<KeyNeed>, BootstrapError> {
        let mut keys = Vec::new();
        for (_, kind, level) in self.rotations() {
            keys.push(KeyNeed { kind, level, bytes: self.bytes_of_key(level)? });
        }
        let level = self.levels.eval_mod;
        keys.push(KeyNeed { kind: KeyKind::Relinearization, level, bytes: self.bytes_of_key(level)? });
        if self.set.encapsulation.is_some() {
            // The way there is modulo q_0 and small: one digit of two residues each, and the special one.
            let low = 2 * (self.context.limbs(0)? + 1) * self.context.degree() * 8;
            let level = self.levels.coeffs_to_slots;
            let bytes = low + self.bytes_of_key(level)?;
            keys.push(KeyNeed { kind: KeyKind::Encapsulation, level, bytes });
        }
        Ok(keys)
    }

    fn bytes_of_key(&self, level: usize) -> Result<usize, CkksError> {
        let gadget = self.context.rlwe().gadget_at(self.context.limbs(level)?)?;
        Ok(2 * gadget.digit_count() * gadget.key_ring().level() * self.context.degree() * 8)
    }

    /// Exponents of the automorphisms with their highest levels, each once.
    pub(super) fn rotations(&self) -> Vec<(u64, KeyKind, usize)> {
        let index = self.context.ring().index();
        let top = self.levels.coeffs_to_slots;
        let mut found: Vec<(i64, usize)> = self.trace().map(|steps| (steps, top)).collect();
        for stage in self.coeffs_to_slots.iter().chain(&self.slots_to_coeffs) {
            found.extend(stage.plan.rotations().into_iter().map(|steps| (steps, stage.plan.level())));
        }
        if self.packing() == Packing::Sparse {
            found.push((self.slots as i64, self.levels.slots_to_coeffs.saturating_sub(1)));
        }
        // Equal steps next to each other, the highest level first.
        found.sort_unstable_by_key(|&(steps, level)| (steps, std::cmp::Reverse(level)));
        found.dedup_by_key(|&mut (steps, _)| steps);
        let rotation = |(steps, level)| (rotation_exponent(steps, index), KeyKind::Rotation(steps), level);
        let mut all: Vec<(u64, KeyKind, usize)> = found.into_iter().map(rotation).collect();
        all.push((conjugation_exponent(index), KeyKind::Conjugation, self.levels.eval_mod));
        all
    }

    /// The special modulus of the encapsulation: the largest prime of so many bits that is no other modulus.
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

    /// The rotations whose sum leaves the subring of the slots: all multiples of the slots, by doubling.
    pub(super) fn trace(&self) -> impl Iterator<Item = i64> {
        let (slots, most) = (self.slots, self.context.max_slots());
        std::iter::successors(Some(slots), |steps| Some(2 * steps))
            .take_while(move |&steps| steps < most)
            .map(|steps| steps as i64)
    }

    pub(super) fn packing(&self) -> Packing {
        let joint = self.slots < self.context.max_slots() && self.set.order == Order::Last;
        if joint { Packing::Sparse } else { Packing::Full }
    }
}

impl Scales {
    fn new<R: PolyRing>(
        context: &Context<R>,
        set: &Set,
        levels: &Levels,
        eval_mod: &EvalMod,
    ) -> Result<Self, BootstrapError> {
        let first = context.ring_at(0)?.modulus().to_f64().unwrap_or(f64::INFINITY);
        let canonical = context.scale(0)?;
        let room = first * (-set.eval_mod.ratio_bits).exp2() / context.message_bound();
        let factor = (room / canonical).floor();
        if factor < 1.0 {
            return Err(BootstrapError::Set {
                what: "bits of q_0",
                got: set.first_bits.to_string(),
                expected: format!(
                    "{:.1} at least, for the scale and the bits of messages and of their ratio",
                    first.log2() + (canonical / room).log2()
                ),
            });
        }
        let raised = canonical * factor;
        let top = context.scale(levels.eval_mod)?;
        let lift = (top / first).log2().floor().clamp(0.0, 30.0).exp2() as i64;
        let wanted = match set.order {
            Order::Last => top,
            Order::First => context.scale(levels.residual)? * first / raised,
        };
        let reduced = eval_mod.output_scale(context, levels.eval_mod, wanted)?;
        if set.order == Order::First && (reduced / wanted - 1.0).abs() > f64::EPSILON {
            return Err(BootstrapError::Set {
                what: "the degree of arcsin",
                got: "1".to_owned(),
                expected: "3 at least where SlotsToCoeffs comes first: it sets the scale of the result"
                    .to_owned(),
            });
        }
        Ok(Self { first, raised, lift, reduced })
    }
}

/// The factors of a transform from this level down. What rounding a diagonal costs grows with the root of its period, which differs
/// from factor to factor: the scales between both ends are such that entries are encoded at scales in proportion to that.
fn stages<R: Multipliers>(
    context: &Context<R>,
    dft: &Dft,
    level: usize,
    [from, to]: [f64; 2],
) -> Result<Vec<Stage>, BootstrapError> {
    let count = dft.factors().len();
    let period = |matrix: &Diagonals| matrix.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
    let roots: Vec<f64> = dft.factors().iter().map(|matrix| (period(matrix) as f64).sqrt()).collect();
    let mean = roots.iter().map(|root| root.ln()).sum::<f64>() / count.max(1) as f64;
    let common = (to / from).powf(1.0 / count.max(1) as f64) / mean.exp();
    let mut before = from;
    let stage = |(i, (matrix, root)): (usize, (&Diagonals, &f64))| {
        let plan = Plan::new(context, matrix, level - i)?;
        let after = if i + 1 == count { to } else { before * common * root };
        let scales = [std::mem::replace(&mut before, after), after];
        Ok(Stage { matrix: matrix.clone(), plan, scales })
    };
    dft.factors().iter().zip(&roots).enumerate().map(stage).collect()
}
