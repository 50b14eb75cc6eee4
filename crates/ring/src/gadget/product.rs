//! Digits, their transforms and the inner products with a key.

use std::ops::Range;

use rayon::prelude::*;

use super::lift::{Form, Lift, lift_residue};
use super::{RnsGadget, Tables, Top};
use crate::error::check_level;
use crate::parallel::{Parallelism, Work, block_of};
use crate::scratch::Scratch;
use crate::tensor::{Term, sum_of_terms};
use crate::{Coefficient, Evaluation, Gadget, Poly, PolyRing, RingError, Shape};

/// Words between two digits in scratch memory: without them, digits at a distance of a power of two would
/// compete for the same cache lines.
pub(crate) const PAD: usize = 72;

/// The digits of one polynomial, in evaluation form modulo every modulus of the key ring.
#[derive(Clone)]
pub struct RnsDecomposition {
    /// Modulus after modulus, all digits of each.
    words: Scratch,
    digits: usize,
    /// The tag of the key ring.
    tag: u64,
}

/// Where digits come from.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    Values(&'a Poly<Evaluation>),
    Coefficients(&'a Poly<Coefficient>),
    Digits(&'a RnsDecomposition),
}

impl<'a> Input<'a> {
    /// The limbs of the polynomial, if it is one.
    fn limb(self, i: usize) -> Option<&'a [u64]> {
        match self {
            Self::Values(a) => a.limb(i),
            Self::Coefficients(a) => a.limb(i),
            Self::Digits(_) => None,
        }
    }
}

/// Digits and a key that meet: ⟨digits, key⟩ modulo one group of targets after the other.
pub(super) struct InnerProducts<'a> {
    top: &'a Top,
    tables: &'a Tables,
    input: Input<'a>,
    /// The rows of every limb, then the quotient of every digit that has one.
    rows: Scratch,
    key: [&'a [Poly<Evaluation>]; 2],
    key_level: usize,
}

/// Limbs of both halves of a result that are computed together.
pub(super) struct Task<'a> {
    /// Which group of targets.
    pub(super) group: usize,
    /// Those of them that are wanted.
    pub(super) targets: Range<usize>,
    pub(super) outs: Vec<[&'a mut [u64]; 2]>,
    /// What is left to share inside.
    pub(super) inside: Parallelism,
}

/// The limbs `targets` of two halves by groups.
pub(super) fn tasks<'a>(tables: &Tables, targets: Range<usize>, halves: [&'a mut [u64]; 2]) -> Vec<Task<'a>> {
    let n = tables.ring.degree();
    let [first, second] = halves;
    let mut tasks: Vec<Task<'a>> = Vec::new();
    for (target, (a, b)) in targets.zip(first.chunks_exact_mut(n).zip(second.chunks_exact_mut(n))) {
        let group = tables.groups.iter().position(|group| group.contains(&target)).unwrap_or(0);
        match tasks.last_mut() {
            Some(task) if task.group == group => {
                task.targets.end = target + 1;
                task.outs.push([a, b]);
            }
            _ => {
                let (targets, inside) = (target..target + 1, tables.ring.parallelism());
                tasks.push(Task { group, targets, outs: vec![[a, b]], inside });
            }
        }
    }
    let inside = tables.ring.parallelism().inside(tasks.len());
    tasks.iter_mut().for_each(|task| task.inside = inside);
    tasks
}

/// Runs `f` over tasks, shared among threads, with scratch memory of `words` for each.
pub(super) fn for_each_task(
    parallelism: Parallelism,
    tasks: Vec<Task<'_>>,
    words: usize,
    f: impl Fn(&mut Scratch, Task<'_>) -> Result<(), RingError> + Send + Sync,
) -> Result<(), RingError> {
    let outputs = tasks.iter().flat_map(|task| task.outs.iter().flatten()).map(|out| out.len()).sum();
    if tasks.len() > 1 && parallelism.shares_limbs(Work::Transform, outputs) {
        tasks.into_par_iter().try_for_each_init(|| Scratch::new(words), f)
    } else {
        let mut scratch = Scratch::new(words);
        tasks.into_iter().try_for_each(|task| f(&mut scratch, task))
    }
}

/// The digits of a: target moduli outermost, so that their twiddles are reused by all of them.
pub(super) fn decompose(gadget: &RnsGadget, a: &Poly<Evaluation>) -> Result<RnsDecomposition, RingError> {
    let tables = &*gadget.tables;
    tables.ring.check(a)?;
    let products = InnerProducts::new(gadget, Input::Values(a), [&[], &[]], tables.ring.level())?;
    let one = tables.lifts.len() * (tables.ring.degree() + PAD);
    let mut words = Scratch::new(tables.key_ring.basis().len() * one);
    let mut rest = &mut *words;
    let mut parts = Vec::new();
    for (g, group) in tables.groups.iter().enumerate() {
        let (part, others) =
            std::mem::take(&mut rest).split_at_mut_checked(group.len() * one).unwrap_or_default();
        parts.push((g, part));
        rest = others;
    }
    let inside = tables.ring.parallelism().inside(parts.len());
    let fill = |(g, part): (usize, &mut [u64])| -> Result<(), RingError> {
        let group = tables.groups.get(g).cloned().unwrap_or_default();
        products.lift_group(g, &group, part, inside)?;
        for (target, part) in group.zip(part.chunks_exact_mut(one)) {
            let digits = part.chunks_exact_mut(tables.ring.degree() + PAD).zip(&tables.lifts);
            for (out, _) in digits.filter(|(_, lift)| lift.is_own(target)) {
                out.iter_mut().zip(a.limb(target).unwrap_or_default()).for_each(|(to, from)| *to = *from);
            }
        }
        Ok(())
    };
    if parts.len() > 1 && tables.ring.parallelism().shares_limbs(Work::Transform, one) {
        parts.into_par_iter().try_for_each(fill)?;
    } else {
        parts.into_iter().try_for_each(fill)?;
    }
    Ok(RnsDecomposition { words, digits: tables.lifts.len(), tag: tables.key_ring.basis().tag() })
}

/// ⟨digits, key⟩ for both halves of a key, in the key ring.
pub(super) fn product(
    gadget: &RnsGadget,
    digits: &RnsDecomposition,
    key: [&[Poly<Evaluation>]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let products = InnerProducts::with_key(gadget, Input::Digits(digits), key)?;
    let ring = &gadget.tables.key_ring;
    let mut halves = [ring.arbitrary::<Evaluation>(), ring.arbitrary::<Evaluation>()];
    let tasks = tasks(&gadget.tables, 0..ring.basis().len(), halves.each_mut().map(Poly::words_mut));
    for_each_task(ring.parallelism(), tasks, 0, |scratch, mut task| products.apply(&mut task, scratch))?;
    Ok(halves)
}

impl<'a> InnerProducts<'a> {
    /// Checks digits and key, and computes what lifts start from.
    pub(super) fn with_key(
        gadget: &'a RnsGadget,
        input: Input<'a>,
        key: [&'a [Poly<Evaluation>]; 2],
    ) -> Result<Self, RingError> {
        let (top, tables) = (&*gadget.top, &*gadget.tables);
        match input {
            Input::Values(a) => tables.ring.check(a)?,
            Input::Coefficients(a) => tables.ring.check(a)?,
            Input::Digits(digits) => {
                let basis = tables.key_ring.basis();
                if digits.tag != basis.tag() || digits.digits != tables.lifts.len() {
                    let shape = Shape { degree: tables.ring.degree(), limbs: basis.len() };
                    return Err(RingError::OtherModulus { shape });
                }
            }
        }
        let key_level = top.key_level(key)?;
        top.check_key(key, key_level)?;
        check_level(gadget.level(), key_level)?;
        Self::new(gadget, input, key, key_level)
    }

    fn new(
        gadget: &'a RnsGadget,
        input: Input<'a>,
        key: [&'a [Poly<Evaluation>]; 2],
        key_level: usize,
    ) -> Result<Self, RingError> {
        let (top, tables) = (&*gadget.top, &*gadget.tables);
        let rows = match input {
            Input::Digits(_) => Scratch::new(0),
            _ => rows(tables, input)?,
        };
        Ok(Self { top, tables, input, rows, key, key_level })
    }

    /// Words that [`apply`](Self::apply) needs.
    pub(super) fn scratch_words(&self) -> usize {
        match self.input {
            Input::Digits(_) => 0,
            _ => self.tables.longest_group() * self.tables.lifts.len() * (self.tables.ring.degree() + PAD),
        }
    }

    /// The inner products modulo the targets of a task.
    pub(super) fn apply(&self, task: &mut Task<'_>, scratch: &mut [u64]) -> Result<(), RingError> {
        let (tables, n) = (self.tables, self.tables.ring.degree());
        let one = tables.lifts.len() * (n + PAD);
        let group = tables.groups.get(task.group).cloned().unwrap_or_default();
        let lifted = match self.input {
            Input::Digits(digits) => digits.words.get(group.start * one..).unwrap_or_default(),
            _ => {
                self.lift_group(task.group, &task.targets, scratch, task.inside)?;
                &*scratch
            }
        };
        for (target, outs) in task.targets.clone().zip(&mut task.outs) {
            let Some(plan) = tables.key_ring.plans().get(target) else { continue };
            let slots = lifted.chunks_exact(one).nth(target - group.start).unwrap_or_default();
            let terms = self.terms(target, slots);
            sum_of_terms(task.inside, &plan.modulus(), &terms, outs.each_mut().map(|out| &mut **out))?;
        }
        Ok(())
    }

    /// The digits whose keys are not zero modulo a target, beside these, where digits are there already.
    pub(super) fn digit_terms(&self, target: usize) -> Vec<Term<'_>> {
        let one = self.tables.lifts.len() * (self.tables.ring.degree() + PAD);
        match self.input {
            Input::Digits(digits) => {
                self.terms(target, digits.words.chunks_exact(one.max(1)).nth(target).unwrap_or_default())
            }
            _ => Vec::new(),
        }
    }

    /// The digits whose keys are not zero modulo a target, beside these.
    fn terms<'b>(&'b self, target: usize, slots: &'b [u64]) -> Vec<Term<'b>> {
        let (tables, n) = (self.tables, self.tables.ring.degree());
        let level = tables.ring.basis().len();
        let digits = tables.lifts.iter().zip(slots.chunks_exact(n + PAD));
        let parts = digits.zip(self.key[0]).zip(self.key[1]);
        let term = |(((lift, slot), first), second): (((&Lift, &'b [u64]), &'b Poly<_>), &'b Poly<_>)| {
            let limb = match target.checked_sub(level) {
                Some(special) => special + self.key_level,
                None => self.top.digits.limb(lift.range.start, target)?,
            };
            let own = match self.input {
                Input::Values(a) if lift.is_own(target) => a.limb(target),
                _ => slot.get(..n),
            };
            Some((own?, [first.limb(limb)?, second.limb(limb)?]))
        };
        parts.filter_map(term).collect()
    }

    /// Every digit modulo the targets of a group, in evaluation form, but for those that stand in the input.
    fn lift_group(
        &self,
        g: usize,
        targets: &Range<usize>,
        slots: &mut [u64],
        inside: Parallelism,
    ) -> Result<(), RingError> {
        let (tables, n) = (self.tables, self.tables.ring.degree());
        let group = tables.groups.get(g).cloned().unwrap_or_default();
        let one = tables.lifts.len() * (n + PAD);
        for (j, lift) in tables.lifts.iter().enumerate() {
            let slot = j * (n + PAD)..j * (n + PAD) + n;
            let mut outs: Vec<(usize, &mut [u64])> = group
                .clone()
                .zip(slots.chunks_exact_mut(one))
                .filter_map(|(target, slots)| Some((target, slots.get_mut(slot.clone())?)))
                .collect();
            self.lift(g, lift, &mut outs, inside)?;
            for (target, out) in outs {
                let Some(plan) = tables.key_ring.plans().get(target) else { continue };
                match (lift.is_own(target), self.input) {
                    (true, Input::Values(_)) => continue,
                    (true, input) => out.copy_from_slice(input.limb(target).unwrap_or_default()),
                    (false, _) => {}
                }
                if targets.contains(&target) && !self.is_dropped(lift, target) {
                    plan.forward(out)?;
                }
            }
        }
        Ok(())
    }

    /// Whether keys for a digit are zero modulo a target.
    fn is_dropped(&self, lift: &Lift, target: usize) -> bool {
        target < self.tables.ring.basis().len() && self.top.digits.limb(lift.range.start, target).is_none()
    }

    /// One digit modulo the targets of a group that are not its own, in coefficient form.
    fn lift(
        &self,
        g: usize,
        lift: &Lift,
        outs: &mut [(usize, &mut [u64])],
        inside: Parallelism,
    ) -> Result<(), RingError> {
        let n = self.tables.ring.degree();
        let rows = self.rows.chunks_exact(n);
        match &lift.form {
            Form::Residue { digit, .. } => {
                let row = rows.clone().nth(lift.range.start).unwrap_or_default();
                for (target, out) in outs.iter_mut().filter(|(target, _)| !lift.is_own(*target)) {
                    if let Some(plan) = self.tables.key_ring.plans().get(*target) {
                        lift_residue(out, row, digit, &plan.modulus())?;
                    }
                }
                Ok(())
            }
            Form::Remainder { conversions, .. } => {
                let quotient = rows.clone().nth(lift.quotient);
                let rows: Vec<&[u64]> =
                    rows.skip(lift.range.start).take(lift.range.len()).chain(quotient).collect();
                let others = outs.iter_mut().filter(|(target, _)| !lift.is_own(*target));
                let outs: Vec<&mut [u64]> = others.map(|(_, out)| &mut **out).collect();
                if outs.is_empty() {
                    return Ok(());
                }
                conversions.get(g).map_or(Ok(()), |conversion| inside.convert(conversion, &rows, outs))
            }
        }
    }
}

/// What lifts start from: the rows of every limb, then the quotient of every digit that has one.
fn rows(tables: &Tables, input: Input<'_>) -> Result<Scratch, RingError> {
    let n = tables.ring.degree();
    let remainders = tables.lifts.iter().any(|lift| matches!(lift.form, Form::Remainder { .. }));
    let quotients = if remainders { tables.lifts.len() } else { 0 };
    let limbs = tables.ring.basis().len();
    let mut rows = Scratch::new((limbs + quotients) * n);
    let (residues, quotients) = rows.split_at_mut_checked(limbs * n).unwrap_or_default();
    tables.ring.parallelism().for_each_limb(Work::Transform, residues, n, |i, row| {
        let lift = tables.lifts.iter().find(|lift| lift.range.contains(&i));
        let (Some(plan), Some(lift), Some(limb)) = (tables.ring.plans().get(i), lift, input.limb(i)) else {
            return Ok(());
        };
        row.copy_from_slice(limb);
        let (modulus, own) = (plan.modulus(), i - lift.range.start);
        match (input, lift.scales.get(own), lift.factors.get(own)) {
            (Input::Values(_), Some(scale), _) => plan.inverse_scaled(row, scale)?,
            (_, _, Some(&factor)) if factor != 1 => modulus.mul_scalar_assign(row, factor)?,
            _ => {}
        }
        if let Form::Residue { half, rest, .. } = lift.form {
            row.iter_mut().for_each(|x| *x = modulus.add(*x, half) + rest);
        }
        Ok(())
    })?;
    let residues = &*residues;
    tables.ring.parallelism().for_each_part([quotients], n, |i, part, [out]| {
        let Some(Lift { range, form: Form::Remainder { rounding, .. }, .. }) = tables.lifts.get(i) else {
            return Ok(());
        };
        let rows = residues.chunks_exact(n).skip(range.start).take(range.len());
        Ok(rounding.apply(&block_of(rows, &part), out)?)
    })?;
    Ok(rows)
}
