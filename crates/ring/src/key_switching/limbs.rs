//! Limbs of key switches, block by block: inner products, what is added to them and the permutation, while a block is in
//! the cache.

use std::ops::Range;

use super::inner_product::{InnerProducts, PAD, TargetDigits};
use crate::RingError;
use crate::error::check_table;
use crate::parallel::{ENDED, GroupOutputs, Parallelism, Work, with_scratch};
use crate::scratch::Scratch;
use crate::transform::Plan;
use crate::words::automorphism::ValueSources;
use crate::words::division::{Factor, Lifted, transform_inner, transform_outer};

/// Degrees up to which a limb is computed whole: the keys of a switch stay in the third-level cache from one to the
/// next, and blocks of them gain nothing.
const LONGEST_WHOLE: usize = 1 << 14;

/// Steps of a limb of both halves beside its inner products.
pub(super) struct Step<'a> {
    pub(super) plan: &'a Plan,
    /// Place of the limb's modulus among the targets of inner products, if it is one.
    pub(super) target: Option<usize>,
    /// Rows from which the transforms of remainders start; without them these stand in slots.
    pub(super) lifted: [Option<Lifted<'a>>; 2],
    /// Factor of the remainders and inverse of the divisor, where there is a division.
    pub(super) down: Option<(Factor, u64)>,
    /// Values that are added to both halves, times a factor if there is one.
    pub(super) added: [Option<(&'a [u64], Option<u64>)>; 2],
}

/// Computes the limbs of a group at the positions of an automorphism, if there is one. `slots` hold remainders of both
/// halves in coefficient form, where there are any; `scratch` is for digits.
pub(super) fn compute(
    products: &InnerProducts<'_>,
    group: GroupOutputs<'_>,
    steps: &[Step<'_>],
    slots: Vec<[&mut [u64]; 2]>,
    scratch: &mut [u64],
    sources: Option<&ValueSources>,
) -> Result<(), RingError> {
    let GroupOutputs { limbs, outs, inside } = group;
    check_table("step of a limb", outs.len(), steps.len())?;
    if let Some(g) = limbs.group {
        products.begin_group(g, scratch, inside)?;
    }
    let mut slots = slots.into_iter();
    for (step, outs) in steps.iter().zip(outs) {
        let target = limbs.group.zip(step.target);
        let digits = target.map(|(g, target)| products.begin(g, target, scratch)).transpose()?;
        Limb { products, step, sources, digits, slots: slots.next() }.compute(inside, outs)?;
    }
    Ok(())
}

/// A limb of both halves of a result.
struct Limb<'a> {
    products: &'a InnerProducts<'a>,
    step: &'a Step<'a>,
    sources: Option<&'a ValueSources>,
    digits: Option<TargetDigits<'a>>,
    slots: Option<[&'a mut [u64]; 2]>,
}

impl Limb<'_> {
    fn compute(mut self, inside: Parallelism, [first, second]: [&mut [u64]; 2]) -> Result<(), RingError> {
        let (n, plan) = (first.len(), self.step.plan);
        for (slot, lifted) in self.slots.iter_mut().flatten().zip(self.step.lifted) {
            transform_outer(plan, slot, lifted)?;
        }
        let shares = inside.shares_coefficients(Work::Conversion, 2 * n);
        // In rings of other indices automorphisms do not map blocks to blocks.
        let moves = matches!(self.sources, Some(ValueSources::Listed(_)));
        let len = if !moves && (shares || n > LONGEST_WHOLE) { plan.block(ENDED) } else { n };
        let blocks = first.chunks_mut(len).zip(second.chunks_mut(len)).map(|(a, b)| [a, b]);
        let blocks: Vec<_> = (0..n).step_by(len.max(1)).zip(blocks).collect();
        let words = if self.sources.is_some() { 2 * (len + PAD) } else { 0 };
        if shares {
            self.end(&(0..n))?;
            let limb = &self;
            return with_scratch(true, blocks, words, |scratch, (start, outs)| {
                limb.block(start, &limb.source(start, len, n), outs, scratch)
            });
        }
        let mut scratch = Scratch::new(words);
        blocks.into_iter().try_for_each(|(start, outs)| {
            let range = self.source(start, len, n);
            self.end(&range)?;
            self.block(start, &range, outs, &mut scratch)
        })
    }

    /// The block from which the block of the result from `start` on comes.
    fn source(&self, start: usize, len: usize, n: usize) -> Range<usize> {
        let start = self.sources.map_or(start, |sources| sources.source(start) / len * len);
        start..n.min(start + len)
    }

    /// Ends the transforms of digits and remainders in a range of whole chunks. Data that is read after them is prefetched
    /// meanwhile.
    fn end(&mut self, range: &Range<usize>) -> Result<(), RingError> {
        if let Some((target, digits)) = self.step.target.zip(self.digits.as_mut()) {
            self.products.end(target, digits, range)?;
        }
        let halves = self.slots.iter_mut().flatten().zip(self.step.lifted).zip(self.step.added);
        for ((slot, lifted), added) in halves {
            let later = added.and_then(|(values, _)| values.get(range.clone()));
            let slot = slot.get_mut(range.clone()).unwrap_or_default();
            transform_inner(self.step.plan, range.start, slot, [later, None], lifted)?;
        }
        Ok(())
    }

    /// Computes a block of the result from `start` on, which comes from this range.
    fn block(
        &self,
        start: usize,
        range: &Range<usize>,
        outs: [&mut [u64]; 2],
        scratch: &mut [u64],
    ) -> Result<(), RingError> {
        let Some(sources) = self.sources else { return self.sums(range, outs) };
        let [first, second] = halves(scratch, range.len());
        self.sums(range, [&mut *first, &mut *second])?;
        for (out, half) in outs.into_iter().zip([first, second]) {
            sources.apply(out, start, half, range.start)?;
        }
        Ok(())
    }

    /// Computes a range of the sums before the permutation.
    fn sums(&self, range: &Range<usize>, [first, second]: [&mut [u64]; 2]) -> Result<(), RingError> {
        let (step, modulus) = (self.step, self.step.plan.modulus());
        if let Some((target, digits)) = step.target.zip(self.digits.as_ref()) {
            self.products.sum(target, digits, range, [&mut *first, &mut *second])?;
        }
        for (half, out) in [first, second].into_iter().enumerate() {
            let slot = self.slots.as_ref().and_then(|slots| slots.get(half)?.get(range.clone()));
            match (slot, step.down) {
                (Some(slot), _) if self.digits.is_none() => out.copy_from_slice(slot),
                (Some(slot), Some((Factor::One, inverse))) => modulus.add_scale_assign(out, slot, inverse)?,
                (Some(slot), Some((Factor::Inverse, inverse))) => {
                    modulus.mul_scalar_assign(out, inverse)?;
                    modulus.add_assign(out, slot)?;
                }
                (Some(slot), None) => modulus.add_assign(out, slot)?,
                (None, _) => {}
            }
            let added = step.added.get(half).copied().flatten();
            let added = added.and_then(|(values, factor)| Some((values.get(range.clone())?, factor)));
            match added {
                Some((values, Some(factor))) => modulus.add_scaled_assign(out, values, factor)?,
                Some((values, None)) => modulus.add_assign(out, values)?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Splits scratch memory into two blocks with a gap: neighbours at a distance of a power of two would compete for the
/// same cache lines.
pub(super) fn halves(pair: &mut [u64], len: usize) -> [&mut [u64]; 2] {
    let (first, second) = pair.split_at_mut(pair.len() / 2);
    [first, second].map(|half| half.get_mut(..len).unwrap_or_default())
}
