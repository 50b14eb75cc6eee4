//! One key switch: digits, inner products and the way down, one group of target moduli after the other.

use super::RnsGadget;
use super::product::{InnerProducts, PAD};
use super::tasks::{Task, everywhere, for_each_task, tasks};
use crate::automorphism::ValueSources;
use crate::division::{Division, Factor, Lifted, transform_inner, transform_outer};
use crate::error::check_table;
use crate::parallel::{ENDED, Parallelism, Work};
use crate::scratch::Scratch;
use crate::transform::Plan;
use crate::{Backend, Coefficient, Domain, Evaluation, Poly, RingError, WordRing};

/// What is added to both halves, times P.
#[derive(Clone, Copy)]
pub(super) enum Rest<'a> {
    Values([Option<&'a Poly<Evaluation>>; 2]),
    Coefficients([&'a Poly<Coefficient>; 2]),
}

/// ⌊(P·rest + ⟨digits, key⟩)·Q_j/(Q_l·P)⌉ for level j, at X^k.
///
/// First the inner products modulo what is divided by, special moduli and those above level j: their remainders r give
/// −r/D modulo every other modulus, which the inner products there, divided by D, are added to.
pub(super) fn switch(
    gadget: &RnsGadget,
    products: &InnerProducts<'_>,
    rest: Rest<'_>,
    level: usize,
    exponent: u64,
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let tables = &*gadget.tables;
    let (n, own) = (tables.ring.degree(), tables.ring.level());
    let target = tables.ring.at_level(level)?;
    let division = if level < tables.key_ring.level() { Some(tables.division(level)?) } else { None };
    let mut remainders = [Scratch::new(0), Scratch::new(0)];
    if let Some(division) = division {
        let places: Vec<Option<usize>> = division.route().divisor().iter().copied().map(Some).collect();
        // One more row for the quotients.
        remainders = remainders.map(|_| Scratch::new((places.len() + 1) * n));
        let tasks = tasks(tables, &places, remainders.each_mut().map(|half| &mut **half))?;
        for_each_task(tables.ring.parallelism(), tasks, products.scratch_words(), |scratch, mut task| {
            products.apply(&mut task, scratch)?;
            add_multiples(gadget, rest, &mut task)
        })?;
        let (words, halves) = (2 * places.len() * n, remainders.iter_mut().collect());
        let fill = |half: &mut Scratch| division.fill_rows(half, None, &[]);
        tables.ring.parallelism().for_each(Work::Transform, words, halves, fill)?;
    }
    let permutation = if exponent == 1 { None } else { Some(target.value_sources(exponent)?) };
    let mut halves: [Poly<Evaluation>; 2] = [target.arbitrary(), target.arbitrary()];
    let slots = tables.longest_group() * (n + PAD);
    let words = products.scratch_words() + if permutation.is_some() { 3 } else { 1 } * slots;
    let places = tables.key_ring.ladder().places(level, tables.key_ring.level());
    let tasks = tasks(tables, &places, halves.each_mut().map(|half| half.words_mut()))?;
    let way = Way { division: division.zip(Some(&remainders)), target: &target, lower: level < own };
    let finish = |scratch: &mut [u64], mut task: Task<'_>| {
        let (lifted, slots) = scratch.split_at_mut_checked(products.scratch_words()).unwrap_or_default();
        products.apply(&mut task, lifted)?;
        finish(gadget, &way, rest, &mut task, slots)
    };
    for_each_task(tables.ring.parallelism(), tasks, words, |scratch, task| match &permutation {
        None => finish(scratch, task),
        Some(sources) => {
            let (scratch, turned) = scratch.split_at_mut_checked(words - 2 * slots).unwrap_or_default();
            turn(n, task, turned, sources, |task| finish(scratch, task))
        }
    })?;
    Ok(halves)
}

/// (P·rest, 0) + ⟨digits, key⟩ in the key ring at X^k.
pub(super) fn switch_extended(
    gadget: &RnsGadget,
    products: &InnerProducts<'_>,
    rest: Option<&Poly<Evaluation>>,
    exponent: u64,
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let (tables, n) = (&*gadget.tables, gadget.tables.ring.degree());
    let ring = &tables.key_ring;
    let permutation = if exponent == 1 { None } else { Some(ring.value_sources(exponent)?) };
    // Of the ring or of the key ring.
    let of_ring = rest.filter(|rest| tables.ring.check(rest).is_ok());
    let whole = if of_ring.is_some() { None } else { rest };
    whole.map_or(Ok(()), |rest| ring.check(rest))?;
    let compute = |scratch: &mut [u64], mut task: Task<'_>| {
        products.apply(&mut task, scratch)?;
        if let Some(rest) = whole {
            for (&target, [first, _]) in task.run.targets.iter().zip(&mut task.outs) {
                ring.basis().own(target)?.add_assign(first, rest.own_limb(target)?)?;
            }
        }
        add_multiples(gadget, Rest::Values([of_ring, None]), &mut task)
    };
    let mut halves = [ring.arbitrary::<Evaluation>(), ring.arbitrary::<Evaluation>()];
    let slots = if permutation.is_some() { tables.longest_group() * (n + PAD) } else { 0 };
    let words = products.scratch_words() + 2 * slots;
    let tasks = tasks(tables, &everywhere(tables), halves.each_mut().map(|half| half.words_mut()))?;
    for_each_task(tables.ring.parallelism(), tasks, words, |scratch, task| match &permutation {
        None => compute(scratch, task),
        Some(sources) => {
            let (scratch, turned) = scratch.split_at_mut_checked(words - 2 * slots).unwrap_or_default();
            turn(n, task, turned, sources, |task| compute(scratch, task))
        }
    })?;
    Ok(halves)
}

/// Lets `f` write the limbs of a task in scratch memory and permutes them into place, while they are in the cache.
fn turn(
    n: usize,
    task: Task<'_>,
    scratch: &mut [u64],
    sources: &ValueSources,
    f: impl FnOnce(Task<'_>) -> Result<(), RingError>,
) -> Result<(), RingError> {
    let inside = task.inside;
    check_slots(task.outs.len(), scratch.len() / 2, n)?;
    let (first, second) = scratch.split_at_mut_checked(scratch.len() / 2).unwrap_or_default();
    let slots = first.chunks_exact_mut(n + PAD).zip(second.chunks_exact_mut(n + PAD));
    let outs = slots.filter_map(|(a, b)| Some([a.get_mut(..n)?, b.get_mut(..n)?]));
    f(Task { outs: outs.take(task.outs.len()).collect(), run: task.run, inside })?;
    let turned = first.chunks_exact(n + PAD).zip(second.chunks_exact(n + PAD));
    for (outs, (a, b)) in task.outs.into_iter().zip(turned) {
        inside.for_each_part(outs, n, |_, part, [out_a, out_b]| {
            sources.apply(out_a, part.start, a.get(..n).unwrap_or_default(), 0)?;
            Ok(sources.apply(out_b, part.start, b.get(..n).unwrap_or_default(), 0)?)
        })?;
    }
    Ok(())
}

/// Fails unless so many words hold a slot for each of these limbs.
fn check_slots(limbs: usize, words: usize, n: usize) -> Result<(), RingError> {
    check_table("slot of scratch memory", limbs, limbs.min(words / (n + PAD)))
}

/// Adds P·rest modulo the ciphertext moduli among the targets.
fn add_multiples(gadget: &RnsGadget, rest: Rest<'_>, task: &mut Task<'_>) -> Result<(), RingError> {
    let Rest::Values(rest) = rest else { return Ok(()) };
    for (&target, outs) in task.run.targets.iter().zip(&mut task.outs) {
        // P is zero modulo the special moduli, which come last.
        let Some(modulus) = gadget.tables.ring.basis().moduli().get(target) else { continue };
        for (out, rest) in outs.iter_mut().zip(rest) {
            if let Some(rest) = rest {
                let factor = gadget.top.special_mod(modulus);
                modulus.add_scaled_assign(out, rest.own_limb(target)?, factor)?;
            }
        }
    }
    Ok(())
}

/// The limb at a place of a polynomial, if there are both.
fn own_limb<D: Domain>(place: Option<usize>, a: Option<&Poly<D>>) -> Result<Option<&[u64]>, RingError> {
    place.zip(a).map(|(place, a)| a.own_limb(place)).transpose()
}

/// The way down from the key ring.
struct Way<'a> {
    /// What is divided by, and both remainders; none where keys are modulo the ciphertext modulus.
    division: Option<(&'a Division, &'a [Scratch; 2])>,
    target: &'a WordRing,
    /// Whether the target is of a lower level.
    lower: bool,
}

/// Divides inner products and adds what remains.
fn finish(
    gadget: &RnsGadget,
    way: &Way<'_>,
    rest: Rest<'_>,
    task: &mut Task<'_>,
    scratch: &mut [u64],
) -> Result<(), RingError> {
    let n = way.target.degree();
    let Task { run, outs, inside } = task;
    check_slots(outs.len(), scratch.len(), n)?;
    for half in 0..2 {
        let division = way.division.and_then(|(division, rows)| Some((division, &**rows.get(half)?)));
        let lifted = match (division, rest) {
            (Some((division, rows)), Rest::Values(_)) => division.lifted(rows, run.outs.clone())?,
            // What is in coefficient form is added before the transform.
            _ => None,
        };
        if let (Some((division, rows)), None) = (division, &lifted) {
            let slots = scratch.chunks_exact_mut(n + PAD).take(run.outs.len());
            let slots: Vec<&mut [u64]> = slots.filter_map(|slot| slot.get_mut(..n)).collect();
            division.remainders(rows, run.outs.clone(), slots, *inside)?;
        }
        let slots = scratch.chunks_exact_mut(n + PAD).filter_map(|slot| slot.get_mut(..n));
        for (i, ((at, outs), slot)) in run.outs.clone().zip(outs.iter_mut()).zip(slots).enumerate() {
            let (plan, [first, second]) = (way.target.plan(at)?, outs);
            let out = if half == 0 { &mut **first } else { &mut **second };
            // Without a place in the key ring there is a remainder only.
            let place = run.targets.get(i).copied();
            let coefficients = match rest {
                Rest::Coefficients(rest) => own_limb(place, rest.get(half).copied())?,
                Rest::Values(_) => None,
            };
            let modulus = plan.modulus();
            let down = way
                .division
                .map(|(division, _)| Ok::<_, RingError>((division.factor(), division.inverse(at)?)));
            let down = down.transpose()?;
            match (coefficients, down) {
                (Some(own), None) => slot.copy_from_slice(own),
                (Some(own), Some((Factor::Inverse, _))) => modulus.add_assign(slot, own)?,
                (Some(own), Some((Factor::One, inverse))) => {
                    let missing = RingError::MissingTable { table: "inverse of a divisor", limb: at };
                    modulus.add_scaled_assign(slot, own, modulus.inv(inverse).ok_or(missing)?)?;
                }
                (None, _) => {}
            }
            let added = coefficients.is_some() || way.division.is_some();
            let lifted = lifted.as_ref().and_then(|lifted| lifted.get(i).copied());
            if added {
                transform_outer(plan, slot, lifted)?;
            }
            let values = match rest {
                Rest::Values(rest) => own_limb(place, rest.get(half).copied().flatten())?,
                Rest::Coefficients(_) => None,
            };
            // Of what is divided by, only P multiplies the values.
            let scale = down.filter(|_| way.lower);
            let scale = scale.map(|(_, inverse)| modulus.mul(inverse, gadget.top.special_mod(&modulus)));
            let ending = Ending { plan, added, lifted, down, is_there: place.is_some(), values, scale };
            ending.apply(*inside, out, slot)?;
        }
    }
    Ok(())
}

/// What a limb of a half becomes after its inner products.
struct Ending<'a> {
    plan: &'a Plan,
    /// Whether a remainder or a polynomial is added, whose transform has begun.
    added: bool,
    lifted: Option<Lifted<'a>>,
    down: Option<(Factor, u64)>,
    /// Whether there are inner products.
    is_there: bool,
    values: Option<&'a [u64]>,
    /// A factor of the values.
    scale: Option<u64>,
}

impl Ending<'_> {
    /// Ends the transform in the slot and divides or adds, block by block: passes over whole limbs would each read them from outside
    /// the second-level cache.
    fn apply(&self, parallelism: Parallelism, out: &mut [u64], slot: &mut [u64]) -> Result<(), RingError> {
        let (n, len, modulus) = (out.len(), self.plan.block(ENDED), self.plan.modulus());
        parallelism.for_each_part([out, slot], n, |_, part, [out, slot]| {
            let values = self.values.and_then(|values| values.get(part.clone()));
            let mut values = values.into_iter().flat_map(|values| values.chunks(len));
            let blocks = out.chunks_mut(len).zip(slot.chunks_mut(len));
            for (start, (out, slot)) in part.step_by(len).zip(blocks) {
                let values = values.next();
                if self.added {
                    transform_inner(self.plan, start, slot, [Some(out), values], self.lifted)?;
                }
                match self.down {
                    _ if !self.is_there => out.copy_from_slice(slot),
                    Some((Factor::One, inverse)) => modulus.add_scale_assign(out, slot, inverse)?,
                    Some((Factor::Inverse, inverse)) => {
                        modulus.mul_scalar_assign(out, inverse)?;
                        modulus.add_assign(out, slot)?;
                    }
                    None if self.added => modulus.add_assign(out, slot)?,
                    None => {}
                }
                match (values, self.scale) {
                    (Some(values), Some(scale)) => modulus.add_scaled_assign(out, values, scale)?,
                    (Some(values), None) => modulus.add_assign(out, values)?,
                    (None, _) => {}
                }
            }
            Ok(())
        })
    }
}
