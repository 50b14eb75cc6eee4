//! One key switch: inner products and their division by P, one group of target moduli after the other.

use super::inner_product::{InnerProducts, PAD};
use super::{Addends, RnsGadget};
use crate::error::check_table;
use crate::parallel::{ENDED, GroupOutputs, Parallelism, Work, for_each_group, group_outputs, longest};
use crate::scratch::Scratch;
use crate::transform::Plan;
use crate::words::automorphism::ValueSources;
use crate::words::division::{Division, Factor, Lifted, transform_inner, transform_outer};
use crate::{Backend, Domain, Evaluation, Poly, RingError, WordRing};

/// Returns ⌊(P·added + ⟨digits, key⟩)·Q_j/(Q_l·P)⌉ for level j, at X^k.
///
/// First come the inner products modulo the divisor D, that is the special moduli and those above level j: their
/// remainders r give −r/D modulo every other modulus, to which the inner products there, divided by D, are added.
pub(super) fn switch(
    gadget: &RnsGadget,
    products: &InnerProducts<'_>,
    added: Addends<'_>,
    level: usize,
    exponent: u64,
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let tables = &*gadget.tables;
    let (n, own) = (tables.ring.degree(), tables.ring.level());
    let target = tables.ring.at_level(level)?;
    let division = if level < tables.key_ring.level() { Some(tables.division(level)?) } else { None };
    let mut remainders = [Scratch::new(0), Scratch::new(0)];
    if let Some(division) = division {
        let places: Vec<Option<usize>> = division.path().divisor().iter().copied().map(Some).collect();
        // The buffer has one more row, for the quotients.
        remainders = remainders.map(|_| Scratch::new((places.len() + 1) * n));
        let groups = group_outputs(
            tables.shared(),
            &tables.groups,
            &places,
            remainders.each_mut().map(|half| &mut **half),
        )?;
        for_each_group(tables.ring.parallelism(), groups, products.scratch_words(), |scratch, mut group| {
            products.apply(&mut group, scratch)?;
            add_multiples(gadget, added, &mut group)
        })?;
        let (words, halves) = (2 * places.len() * n, remainders.iter_mut().collect());
        let fill = |half: &mut Scratch| division.fill_rows(half, None, &[]);
        tables.ring.parallelism().for_each(Work::Transform, words, halves, fill)?;
    }
    let permutation = if exponent == 1 { None } else { Some(target.value_sources(exponent)?) };
    let mut halves: [Poly<Evaluation>; 2] = [target.arbitrary(), target.arbitrary()];
    let slots = longest(&tables.groups) * (n + PAD);
    let words = products.scratch_words() + if permutation.is_some() { 3 } else { 1 } * slots;
    let places = tables.key_ring.ladder().places(level, tables.key_ring.level());
    let groups = group_outputs(
        tables.shared(),
        &tables.groups,
        &places,
        halves.each_mut().map(|half| half.words_mut()),
    )?;
    let down = ModDown { division: division.zip(Some(&remainders)), target: &target, lower: level < own };
    let finish = |scratch: &mut [u64], mut group: GroupOutputs<'_>| {
        let (lifted, slots) = scratch.split_at_mut_checked(products.scratch_words()).unwrap_or_default();
        products.apply(&mut group, lifted)?;
        down.finish(gadget, added, &mut group, slots)
    };
    for_each_group(tables.ring.parallelism(), groups, words, |scratch, group| match &permutation {
        None => finish(scratch, group),
        Some(sources) => {
            let (scratch, limbs) = scratch.split_at_mut_checked(words - 2 * slots).unwrap_or_default();
            permuted(n, group, limbs, sources, |group| finish(scratch, group))
        }
    })?;
    Ok(halves)
}

/// Returns (P·added, 0) + ⟨digits, key⟩ in the key ring at X^k.
pub(super) fn switch_extended(
    gadget: &RnsGadget,
    products: &InnerProducts<'_>,
    added: Option<&Poly<Evaluation>>,
    exponent: u64,
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let (tables, n) = (&*gadget.tables, gadget.tables.ring.degree());
    let ring = &tables.key_ring;
    let permutation = if exponent == 1 { None } else { Some(ring.value_sources(exponent)?) };
    // The added polynomial belongs to the ring or to the key ring.
    let of_ring = added.filter(|added| tables.ring.check(added).is_ok());
    let whole = if of_ring.is_some() { None } else { added };
    whole.map_or(Ok(()), |added| ring.check(added))?;
    let compute = |scratch: &mut [u64], mut group: GroupOutputs<'_>| {
        products.apply(&mut group, scratch)?;
        if let Some(added) = whole {
            for (&target, [first, _]) in group.limbs.targets.iter().zip(&mut group.outs) {
                ring.basis().own(target)?.add_assign(first, added.own_limb(target)?)?;
            }
        }
        add_multiples(gadget, Addends::Values([of_ring, None]), &mut group)
    };
    let mut halves = [ring.arbitrary::<Evaluation>(), ring.arbitrary::<Evaluation>()];
    let slots = if permutation.is_some() { longest(&tables.groups) * (n + PAD) } else { 0 };
    let words = products.scratch_words() + 2 * slots;
    let groups = group_outputs(
        tables.shared(),
        &tables.groups,
        &tables.all_places(),
        halves.each_mut().map(|half| half.words_mut()),
    )?;
    for_each_group(tables.ring.parallelism(), groups, words, |scratch, group| match &permutation {
        None => compute(scratch, group),
        Some(sources) => {
            let (scratch, limbs) = scratch.split_at_mut_checked(words - 2 * slots).unwrap_or_default();
            permuted(n, group, limbs, sources, |group| compute(scratch, group))
        }
    })?;
    Ok(halves)
}

/// Lets `f` write the limbs of a group in scratch memory and permutes them into place, while they are in the cache.
fn permuted(
    n: usize,
    group: GroupOutputs<'_>,
    scratch: &mut [u64],
    sources: &ValueSources,
    f: impl FnOnce(GroupOutputs<'_>) -> Result<(), RingError>,
) -> Result<(), RingError> {
    let inside = group.inside;
    check_slots(group.outs.len(), scratch.len() / 2, n)?;
    let (first, second) = scratch.split_at_mut_checked(scratch.len() / 2).unwrap_or_default();
    let slots = first.chunks_exact_mut(n + PAD).zip(second.chunks_exact_mut(n + PAD));
    let outs = slots.filter_map(|(a, b)| Some([a.get_mut(..n)?, b.get_mut(..n)?]));
    f(GroupOutputs { outs: outs.take(group.outs.len()).collect(), limbs: group.limbs, inside })?;
    let slots = first.chunks_exact(n + PAD).zip(second.chunks_exact(n + PAD));
    for (outs, (a, b)) in group.outs.into_iter().zip(slots) {
        inside.for_each_part(outs, n, |_, part, [out_a, out_b]| {
            sources.apply(out_a, part.start, a.get(..n).unwrap_or_default(), 0)?;
            Ok(sources.apply(out_b, part.start, b.get(..n).unwrap_or_default(), 0)?)
        })?;
    }
    Ok(())
}

/// Checks that `words` words hold a slot for each of `limbs` limbs.
fn check_slots(limbs: usize, words: usize, n: usize) -> Result<(), RingError> {
    check_table("slot of scratch memory", limbs, limbs.min(words / (n + PAD)))
}

/// Adds P·added modulo the ciphertext moduli among the targets.
fn add_multiples(
    gadget: &RnsGadget,
    added: Addends<'_>,
    group: &mut GroupOutputs<'_>,
) -> Result<(), RingError> {
    let Addends::Values(added) = added else { return Ok(()) };
    for (&target, outs) in group.limbs.targets.iter().zip(&mut group.outs) {
        // P is zero modulo the special moduli, which come last.
        let Some(modulus) = gadget.tables.ring.basis().moduli().get(target) else { continue };
        for (out, added) in outs.iter_mut().zip(added) {
            if let Some(added) = added {
                let factor = gadget.top.special_mod(modulus);
                modulus.add_scaled_assign(out, added.own_limb(target)?, factor)?;
            }
        }
    }
    Ok(())
}

/// Returns the limb at a place of a polynomial, if both exist.
fn own_limb<D: Domain>(place: Option<usize>, a: Option<&Poly<D>>) -> Result<Option<&[u64]>, RingError> {
    place.zip(a).map(|(place, a)| a.own_limb(place)).transpose()
}

/// The division that leads from the key ring to a level.
struct ModDown<'a> {
    /// Division with the remainders of both halves; `None` where keys are modulo the ciphertext modulus.
    division: Option<(&'a Division, &'a [Scratch; 2])>,
    target: &'a WordRing,
    /// Whether the target level is below the gadget's.
    lower: bool,
}

impl ModDown<'_> {
    /// Divides the inner products of a group and adds the polynomials that are to be added.
    fn finish(
        &self,
        gadget: &RnsGadget,
        added: Addends<'_>,
        group: &mut GroupOutputs<'_>,
        scratch: &mut [u64],
    ) -> Result<(), RingError> {
        let n = self.target.degree();
        let GroupOutputs { limbs, outs, inside } = group;
        check_slots(outs.len(), scratch.len(), n)?;
        for half in 0..2 {
            let division = self.division.and_then(|(division, rows)| Some((division, &**rows.get(half)?)));
            let lifted = match (division, added) {
                (Some((division, rows)), Addends::Values(_)) => division.lifted(rows, limbs.outs.clone())?,
                // Polynomials in coefficient form are added before the transform.
                _ => None,
            };
            if let (Some((division, rows)), None) = (division, &lifted) {
                let slots = scratch.chunks_exact_mut(n + PAD).take(limbs.outs.len());
                let slots: Vec<&mut [u64]> = slots.filter_map(|slot| slot.get_mut(..n)).collect();
                division.remainders(rows, limbs.outs.clone(), slots, *inside)?;
            }
            let slots = scratch.chunks_exact_mut(n + PAD).filter_map(|slot| slot.get_mut(..n));
            for (i, ((at, outs), slot)) in limbs.outs.clone().zip(outs.iter_mut()).zip(slots).enumerate() {
                let (plan, [first, second]) = (self.target.plan(at)?, outs);
                let out = if half == 0 { &mut **first } else { &mut **second };
                // A limb without a place in the key ring has a remainder only.
                let place = limbs.targets.get(i).copied();
                let coefficients = match added {
                    Addends::Coefficients(values) => own_limb(place, values.get(half).copied())?,
                    Addends::Values(_) => None,
                };
                let modulus = plan.modulus();
                let down = match self.division {
                    Some((division, _)) => Some((division.factor(), division.inverse(at)?)),
                    None => None,
                };
                match (coefficients, down) {
                    (Some(own), None) => slot.copy_from_slice(own),
                    (Some(own), Some((Factor::Inverse, _))) => modulus.add_assign(slot, own)?,
                    (Some(own), Some((Factor::One, inverse))) => {
                        let missing = RingError::MissingTable { table: "inverse of a divisor", limb: at };
                        modulus.add_scaled_assign(slot, own, modulus.inv(inverse).ok_or(missing)?)?;
                    }
                    (None, _) => {}
                }
                let transforms = coefficients.is_some() || self.division.is_some();
                let lifted = lifted.as_ref().and_then(|lifted| lifted.get(i).copied());
                if transforms {
                    transform_outer(plan, slot, lifted)?;
                }
                let values = match added {
                    Addends::Values(values) => own_limb(place, values.get(half).copied().flatten())?,
                    Addends::Coefficients(_) => None,
                };
                // Of the divisor, only P multiplies the values.
                let scale = down.filter(|_| self.lower);
                let scale = scale.map(|(_, inverse)| modulus.mul(inverse, gadget.top.special_mod(&modulus)));
                let last_step =
                    LastStep { plan, transforms, lifted, down, is_there: place.is_some(), values, scale };
                last_step.apply(*inside, out, slot)?;
            }
        }
        Ok(())
    }
}

/// Last step of a limb of a half, after its inner products.
struct LastStep<'a> {
    plan: &'a Plan,
    /// Whether the slot holds a remainder or a polynomial whose transform has begun.
    transforms: bool,
    lifted: Option<Lifted<'a>>,
    down: Option<(Factor, u64)>,
    /// Whether there are inner products.
    is_there: bool,
    values: Option<&'a [u64]>,
    /// Factor of the values.
    scale: Option<u64>,
}

impl LastStep<'_> {
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
                if self.transforms {
                    transform_inner(self.plan, start, slot, [Some(out), values], self.lifted)?;
                }
                match self.down {
                    _ if !self.is_there => out.copy_from_slice(slot),
                    Some((Factor::One, inverse)) => modulus.add_scale_assign(out, slot, inverse)?,
                    Some((Factor::Inverse, inverse)) => {
                        modulus.mul_scalar_assign(out, inverse)?;
                        modulus.add_assign(out, slot)?;
                    }
                    None if self.transforms => modulus.add_assign(out, slot)?,
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
