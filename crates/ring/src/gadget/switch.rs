//! One key switch: digits, inner products and the way down, one group of target moduli after the other.

use sunzi_kernels::{Modulus, permute};

use super::RnsGadget;
use super::product::{InnerProducts, PAD, Task, for_each_task, tasks};
use crate::division::Division;
use crate::parallel::{BLOCK, Parallelism};
use crate::scratch::Scratch;
use crate::{Coefficient, Evaluation, Poly, PolyRing, RingError};

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
    let (n, all) = (tables.ring.degree(), tables.key_ring.basis().len());
    let target = tables.ring.at_level(level)?;
    let division = if level < all { Some(tables.division(level)?) } else { None };
    let mut remainders = [Scratch::new(0), Scratch::new(0)];
    if let Some(division) = division {
        // One more row for the quotients.
        remainders = remainders.map(|_| Scratch::new((all - level + 1) * n));
        let tasks = tasks(tables, level..all, remainders.each_mut().map(|half| &mut **half));
        for_each_task(tables.ring.parallelism(), tasks, products.scratch_words(), |scratch, mut task| {
            products.apply(&mut task, scratch)?;
            add_multiples(gadget, rest, &mut task)
        })?;
        for half in &mut remainders {
            division.fill_rows(half, None, None)?;
        }
    }
    let permutation = if exponent == 1 { None } else { Some(target.automorphism_sources(exponent, true)?) };
    let mut halves = [target.arbitrary::<Evaluation>(), target.arbitrary::<Evaluation>()];
    let slots = tables.longest_group() * (n + PAD);
    let words = products.scratch_words() + if permutation.is_some() { 3 } else { 1 } * slots;
    let tasks = tasks(tables, 0..level, halves.each_mut().map(Poly::words_mut));
    let finish = |scratch: &mut [u64], mut task: Task<'_>| {
        let (lifted, slots) = scratch.split_at_mut_checked(products.scratch_words()).unwrap_or_default();
        products.apply(&mut task, lifted)?;
        finish(gadget, division.zip(Some(&remainders)), rest, &mut task, level, slots)
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
    let permutation = if exponent == 1 { None } else { Some(ring.automorphism_sources(exponent, true)?) };
    // Of the ring or of the key ring.
    let of_ring = rest.filter(|rest| tables.ring.check(rest).is_ok());
    let whole = if of_ring.is_some() { None } else { rest };
    whole.map_or(Ok(()), |rest| ring.check(rest))?;
    let compute = |scratch: &mut [u64], mut task: Task<'_>| {
        products.apply(&mut task, scratch)?;
        for (target, [first, _]) in task.targets.clone().zip(&mut task.outs) {
            let Some((modulus, rest)) = ring.basis().moduli().get(target).zip(whole) else { continue };
            modulus.add_assign(first, rest.limb(target).unwrap_or_default())?;
        }
        add_multiples(gadget, Rest::Values([of_ring, None]), &mut task)
    };
    let mut halves = [ring.arbitrary::<Evaluation>(), ring.arbitrary::<Evaluation>()];
    let slots = if permutation.is_some() { tables.longest_group() * (n + PAD) } else { 0 };
    let words = products.scratch_words() + 2 * slots;
    let tasks = tasks(tables, 0..ring.basis().len(), halves.each_mut().map(Poly::words_mut));
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
    sources: &[u32],
    f: impl FnOnce(Task<'_>) -> Result<(), RingError>,
) -> Result<(), RingError> {
    let inside = task.inside;
    let (first, second) = scratch.split_at_mut_checked(scratch.len() / 2).unwrap_or_default();
    let slots = first.chunks_exact_mut(n + PAD).zip(second.chunks_exact_mut(n + PAD));
    let outs = slots.filter_map(|(a, b)| Some([a.get_mut(..n)?, b.get_mut(..n)?]));
    f(Task { outs: outs.take(task.outs.len()).collect(), targets: task.targets, ..task })?;
    let turned = first.chunks_exact(n + PAD).zip(second.chunks_exact(n + PAD));
    for (outs, (a, b)) in task.outs.into_iter().zip(turned) {
        inside.for_each_part(outs, n, |_, part, [out_a, out_b]| {
            let sources = sources.get(part).unwrap_or_default();
            permute(out_a, a.get(..n).unwrap_or_default(), sources)?;
            Ok(permute(out_b, b.get(..n).unwrap_or_default(), sources)?)
        })?;
    }
    Ok(())
}

/// Adds P·rest modulo the ciphertext moduli among the targets.
fn add_multiples(gadget: &RnsGadget, rest: Rest<'_>, task: &mut Task<'_>) -> Result<(), RingError> {
    let Rest::Values(rest) = rest else { return Ok(()) };
    for (target, outs) in task.targets.clone().zip(&mut task.outs) {
        let Some(modulus) = gadget.tables.ring.basis().moduli().get(target) else { continue };
        for (out, rest) in outs.iter_mut().zip(rest) {
            let Some(limb) = rest.and_then(|rest| rest.limb(target)) else { continue };
            let factor = gadget.top.special_mod(modulus);
            let mut multiple = [0; BLOCK];
            for (out, values) in out.chunks_mut(BLOCK).zip(limb.chunks(BLOCK)) {
                let multiple = multiple.get_mut(..values.len()).unwrap_or_default();
                multiple.copy_from_slice(values);
                modulus.mul_scalar_assign(multiple, factor)?;
                modulus.add_assign(out, multiple)?;
            }
        }
    }
    Ok(())
}

/// Divides inner products and adds what remains.
fn finish(
    gadget: &RnsGadget,
    division: Option<(&Division, &[Scratch; 2])>,
    rest: Rest<'_>,
    task: &mut Task<'_>,
    level: usize,
    scratch: &mut [u64],
) -> Result<(), RingError> {
    let (tables, n) = (&*gadget.tables, gadget.tables.ring.degree());
    for half in 0..2 {
        if let Some((division, rows)) = division {
            let rows = rows.get(half).map_or(&[][..], |rows| rows);
            let slots: Vec<&mut [u64]> = scratch
                .chunks_exact_mut(n + PAD)
                .take(task.targets.len())
                .filter_map(|slot| slot.get_mut(..n))
                .collect();
            division.remainders(rows, task.targets.clone(), slots, task.inside)?;
        }
        for (i, target) in task.targets.clone().enumerate() {
            let Some(out) = task.outs.get_mut(i).and_then(|outs| outs.get_mut(half)) else { continue };
            let slot = scratch.chunks_exact_mut(n + PAD).nth(i).and_then(|slot| slot.get_mut(..n));
            let (Some(plan), Some(slot)) = (tables.ring.plans().get(target), slot) else { continue };
            let coefficients = match rest {
                Rest::Coefficients(rest) => rest.get(half).and_then(|rest| rest.limb(target)),
                Rest::Values(_) => None,
            };
            match (coefficients, division) {
                (Some(own), None) => slot.copy_from_slice(own),
                (Some(own), Some(_)) => plan.modulus().add_assign(slot, own)?,
                (None, _) => {}
            }
            let added = coefficients.is_some() || division.is_some();
            if added {
                plan.forward(slot)?;
            }
            let values = match rest {
                Rest::Values(rest) => rest.get(half).copied().flatten().and_then(|rest| rest.limb(target)),
                Rest::Coefficients(_) => None,
            };
            let modulus = plan.modulus();
            let inverse = division.and_then(|(division, _)| division.inverse(target));
            // Of what is divided by, only P multiplies the values.
            let scale = inverse.filter(|_| level < tables.ring.basis().len());
            let scale = scale.map(|inverse| modulus.mul(inverse, gadget.top.special_mod(&modulus)));
            combine(task.inside, &modulus, (out, inverse), (slot, added), (values, scale))?;
        }
    }
    Ok(())
}

/// Multiplies the first by its factor and adds the others, the second if it counts, the third times its factor, block by
/// block: passes over whole limbs would each read them from outside the first-level cache. Overwrites the second.
fn combine(
    parallelism: Parallelism,
    modulus: &Modulus,
    (out, inverse): (&mut [u64], Option<u64>),
    (slot, added): (&mut [u64], bool),
    (values, scale): (Option<&[u64]>, Option<u64>),
) -> Result<(), RingError> {
    let n = out.len();
    parallelism.for_each_part([out, slot], n, |_, part, [out, slot]| {
        let values = values.and_then(|values| values.get(part));
        let mut values = values.into_iter().flat_map(|values| values.chunks(BLOCK));
        for (out, slot) in out.chunks_mut(BLOCK).zip(slot.chunks_mut(BLOCK)) {
            if let Some(inverse) = inverse {
                modulus.mul_scalar_assign(out, inverse)?;
            }
            if added {
                modulus.add_assign(out, slot)?;
            }
            match (values.next(), scale) {
                (Some(values), Some(scale)) => {
                    slot.copy_from_slice(values);
                    modulus.mul_scalar_assign(slot, scale)?;
                    modulus.add_assign(out, slot)?;
                }
                (Some(values), None) => modulus.add_assign(out, values)?,
                (None, _) => {}
            }
        }
        Ok(())
    })
}
