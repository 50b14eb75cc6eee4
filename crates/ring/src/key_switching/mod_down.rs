//! Key switches: inner products and their division by P, one group of target moduli after the other.

use super::inner_product::{InnerProducts, PAD};
use super::limbs::{Step, compute};
use super::{Addends, RnsGadget};
use crate::error::check_table;
use crate::parallel::{GroupOutputs, LimbGroup, Parallelism, Work, for_each_group, group_outputs, longest};
use crate::scratch::Scratch;
use crate::words::automorphism::ValueSources;
use crate::words::division::{Division, Factor, Lifted};
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
    let target = &tables.ring.at_level(level)?;
    let division = if level < tables.key_ring.level() { Some(tables.division(level)?) } else { None };
    let remainders = match division {
        Some(division) => Some(remainders(gadget, products, added, division)?),
        None => None,
    };
    let division = division.zip(remainders.as_ref());
    let down = ModDown { gadget, added, division, target, lower: level < own };
    let sources = sources(target, exponent)?;
    let mut halves: [Poly<Evaluation>; 2] = [target.arbitrary(), target.arbitrary()];
    let places = tables.key_ring.ladder().places(level, tables.key_ring.level());
    let outs = halves.each_mut().map(|half| half.words_mut());
    let groups = group_outputs(tables.shared(), &tables.groups, &places, outs)?;
    let lifts = products.scratch_words();
    let words = lifts + 2 * longest(&tables.groups) * (n + PAD);
    for_each_group(tables.ring.parallelism(), groups, words, |scratch, group| {
        let (lifts, slots) = scratch.split_at_mut_checked(lifts).unwrap_or_default();
        down.finish(products, group, lifts, slots, sources.as_ref())
    })?;
    Ok(halves)
}

/// Returns the remainders of both halves by the divisor, as rows from which a division starts.
fn remainders(
    gadget: &RnsGadget,
    products: &InnerProducts<'_>,
    added: Addends<'_>,
    division: &Division,
) -> Result<[Scratch; 2], RingError> {
    let (tables, n) = (&*gadget.tables, gadget.tables.ring.degree());
    let places: Vec<Option<usize>> = division.path().divisor().iter().copied().map(Some).collect();
    // The buffer has one more row, for the quotients.
    let mut remainders = [(); 2].map(|()| Scratch::new((places.len() + 1) * n));
    let outs = remainders.each_mut().map(|half| &mut **half);
    let groups = group_outputs(tables.shared(), &tables.groups, &places, outs)?;
    let parallelism = tables.ring.parallelism();
    for_each_group(parallelism, groups, products.scratch_words(), |scratch, group| {
        let steps = products_and(gadget, added, &group.limbs)?;
        compute(products, group, &steps, Vec::new(), scratch, None)
    })?;
    let (words, halves) = (2 * places.len() * n, remainders.iter_mut().collect());
    let fill = |half: &mut Scratch| division.fill_rows(half, None, &[]);
    parallelism.for_each(Work::Transform, words, halves, fill)?;
    Ok(remainders)
}

/// Returns (P·added, 0) + ⟨digits, key⟩ in the key ring at X^k.
pub(super) fn switch_extended(
    gadget: &RnsGadget,
    products: &InnerProducts<'_>,
    added: Option<&Poly<Evaluation>>,
    exponent: u64,
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let (tables, ring) = (&*gadget.tables, &gadget.tables.key_ring);
    let sources = sources(ring, exponent)?;
    // The added polynomial belongs to the ring or to the key ring.
    let of_ring = added.filter(|added| tables.ring.check(added).is_ok());
    let whole = if of_ring.is_some() { None } else { added };
    whole.map_or(Ok(()), |added| ring.check(added))?;
    let mut halves = [ring.arbitrary::<Evaluation>(), ring.arbitrary::<Evaluation>()];
    let outs = halves.each_mut().map(|half| half.words_mut());
    let groups = group_outputs(tables.shared(), &tables.groups, &tables.all_places(), outs)?;
    let lifts = products.scratch_words();
    for_each_group(ring.parallelism(), groups, lifts, |scratch, group| {
        let mut steps = products_and(gadget, Addends::Values([of_ring, None]), &group.limbs)?;
        for (step, at) in steps.iter_mut().zip(group.limbs.outs.clone()) {
            if let Some(values) = own_limb(Some(at), whole)? {
                step.added = [Some((values, None)), None];
            }
        }
        compute(products, group, &steps, Vec::new(), scratch, sources.as_ref())
    })?;
    Ok(halves)
}

/// The positions of values at X^k; `None` for the identity.
fn sources(ring: &WordRing, exponent: u64) -> Result<Option<ValueSources>, RingError> {
    if exponent == 1 { Ok(None) } else { ring.value_sources(exponent).map(Some) }
}

/// Returns the steps that add the product P·added to the inner products of a group in the key ring.
fn products_and<'a>(
    gadget: &'a RnsGadget,
    added: Addends<'a>,
    limbs: &LimbGroup,
) -> Result<Vec<Step<'a>>, RingError> {
    let step = |&target: &usize| {
        let plan = gadget.tables.key_ring.plan(target)?;
        // P is zero modulo the special moduli, which come last.
        let own = Some(target).filter(|&target| target < gadget.tables.ring.basis().len());
        let special = gadget.tables.special_mod(&plan.modulus());
        let added = values(added, own)?.map(|values| values.map(|values| (values, Some(special))));
        Ok(Step { plan, target: Some(target), lifted: [None; 2], down: None, added })
    };
    limbs.targets.iter().map(step).collect()
}

/// Returns the limbs at a place of addends in evaluation form.
fn values(added: Addends<'_>, place: Option<usize>) -> Result<[Option<&[u64]>; 2], RingError> {
    let Addends::Values([first, second]) = added else { return Ok([None; 2]) };
    Ok([own_limb(place, first)?, own_limb(place, second)?])
}

/// Returns the limb at a place of a polynomial, if both exist.
fn own_limb<D: Domain>(place: Option<usize>, a: Option<&Poly<D>>) -> Result<Option<&[u64]>, RingError> {
    place.zip(a).map(|(place, a)| a.own_limb(place)).transpose()
}

/// The division that leads from the key ring to a level.
struct ModDown<'a> {
    gadget: &'a RnsGadget,
    added: Addends<'a>,
    /// Division with the remainders of both halves; `None` where keys are modulo the ciphertext modulus.
    division: Option<(&'a Division, &'a [Scratch; 2])>,
    target: &'a WordRing,
    /// Whether the target level of the division is below the gadget's.
    lower: bool,
}

impl ModDown<'_> {
    /// Computes the inner products of a group, divides them and adds the polynomials that are to be added.
    fn finish(
        &self,
        products: &InnerProducts<'_>,
        group: GroupOutputs<'_>,
        lifts: &mut [u64],
        slots: &mut [u64],
        sources: Option<&ValueSources>,
    ) -> Result<(), RingError> {
        let (n, limbs, count) = (self.target.degree(), &group.limbs, group.outs.len());
        check_table("slot of scratch memory", 2 * count, (2 * count).min(slots.len() / (n + PAD)))?;
        let mut slots = slots.chunks_exact_mut(n + PAD).filter_map(|slot| slot.get_mut(..n));
        let mut half = |half: usize| {
            let mut slots: Vec<&mut [u64]> = slots.by_ref().take(count).collect();
            let lifted = self.begin(half, limbs, &mut slots, group.inside)?;
            Ok::<_, RingError>((slots, lifted))
        };
        let ((first, first_lifted), (second, second_lifted)) = (half(0)?, half(1)?);
        let mut steps = Vec::with_capacity(count);
        for (i, at) in limbs.outs.clone().enumerate() {
            // A limb without a place in the key ring has a remainder only.
            let (plan, target) = (self.target.plan(at)?, limbs.targets.get(i).copied());
            let down = match self.division {
                Some((division, _)) => Some((division.factor(), division.inverse(at)?)),
                None => None,
            };
            // Of the divisor, only P multiplies the values.
            let special = || self.gadget.tables.special_mod(&plan.modulus());
            let scale =
                down.filter(|_| self.lower).map(|(_, inverse)| plan.modulus().mul(inverse, special()));
            let added = values(self.added, target)?.map(|values| values.map(|values| (values, scale)));
            let lifted = [&first_lifted, &second_lifted].map(|all| all.as_ref()?.get(i).copied());
            steps.push(Step { plan, target, lifted, down, added });
        }
        let transforms = self.division.is_some() || matches!(self.added, Addends::Coefficients(_));
        let pairs = first.into_iter().zip(second).map(|(first, second)| [first, second]);
        let slots = if transforms { pairs.collect() } else { Vec::new() };
        compute(products, group, &steps, slots, lifts, sources)
    }

    /// Fills the slots of a half with remainders and with the coefficients that are to be added, or returns the rows from
    /// which the transforms of remainders start.
    fn begin(
        &self,
        half: usize,
        limbs: &LimbGroup,
        slots: &mut [&mut [u64]],
        inside: Parallelism,
    ) -> Result<Option<Vec<Lifted<'_>>>, RingError> {
        let division = self.division.and_then(|(division, rows)| Some((division, &**rows.get(half)?)));
        if let (Some((division, rows)), Addends::Values(_)) = (division, self.added)
            && let Some(lifted) = division.lifted(rows, limbs.outs.clone())?
        {
            return Ok(Some(lifted));
        }
        if let Some((division, rows)) = division {
            let outs = slots.iter_mut().map(|slot| &mut **slot).collect();
            division.remainders(rows, limbs.outs.clone(), outs, inside)?;
        }
        // Polynomials in coefficient form are added before the transform.
        let Addends::Coefficients(added) = self.added else { return Ok(None) };
        for (i, (at, slot)) in limbs.outs.clone().zip(slots).enumerate() {
            let (place, modulus) = (limbs.targets.get(i).copied(), self.target.basis().own(at)?);
            let Some(own) = own_limb(place, added.get(half).copied())? else { continue };
            match division.map(|(division, _)| (division, division.factor())) {
                None => slot.copy_from_slice(own),
                Some((_, Factor::Inverse)) => modulus.add_assign(slot, own)?,
                Some((division, Factor::One)) => {
                    let missing = RingError::MissingTable { table: "inverse of a divisor", limb: at };
                    let divisor = modulus.inv(division.inverse(at)?).ok_or(missing)?;
                    modulus.add_scaled_assign(slot, own, divisor)?;
                }
            }
        }
        Ok(None)
    }
}
