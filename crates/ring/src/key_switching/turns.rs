//! Sums of products of rotated polynomials with keys, without digits: for polynomials whose coefficients are small
//! beside the modulus, each of which is one digit.

use std::ops::Range;

use super::inner_product::{PAD, Terms};
use super::multiplier::check_turns;
use super::{KeyPoly, RnsGadget, Turn};
use crate::error::part;
use crate::parallel::{BLOCK, Parallelism, Work};
use crate::scratch::Scratch;
use crate::words::automorphism::ValueSources;
use crate::{Backend, Evaluation, PackedPoly, Poly, RingError, WordRing};

/// A polynomial with its positions after an automorphism, and its factors in both halves of a key.
struct Term<'a> {
    of: &'a Poly<Evaluation>,
    sources: Option<ValueSources>,
    keys: [&'a KeyPoly; 2],
}

/// Does [`GadgetBackend::sum_of_turns`](super::GadgetBackend::sum_of_turns) block by block, so that no rotated polynomial is ever held.
pub(super) fn sum_of_turns(
    gadget: &RnsGadget,
    turns: &[Turn<'_>],
    key: [&[PackedPoly]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let ring = &gadget.tables.key_ring;
    check_turns(turns, key)?;
    let [first, second] = key;
    let own = |part: &'_ PackedPoly| -> Result<(), RingError> {
        let key = part.0.get::<KeyPoly>()?;
        ring.check_basis(key.shape(), key.tag())
    };
    first.iter().chain(second).try_for_each(own)?;
    let mut terms = Vec::with_capacity(turns.len());
    for ((turn, first), second) in turns.iter().zip(first).zip(second) {
        ring.check(turn.of)?;
        let sources = if turn.exponent == 1 { None } else { Some(ring.value_sources(turn.exponent)?) };
        terms.push(Term { of: turn.of, sources, keys: [first.0.get()?, second.0.get()?] });
    }
    let n = ring.degree();
    let mut sums: [Poly<Evaluation>; 2] = [ring.arbitrary(), ring.arbitrary()];
    let [first, second] = sums.each_mut().map(|sum| sum.words_mut().chunks_exact_mut(n));
    let outs: Vec<_> = first.zip(second).map(|(first, second)| vec![first, second]).enumerate().collect();
    let (inside, work) = (ring.parallelism(), 2 * terms.len() * ring.basis().len() * n);
    let run = |(limb, outs): (usize, Vec<&mut [u64]>)| limb_of_sum(ring, &terms, limb, outs, inside);
    ring.parallelism().for_each(Work::Elementwise, work, outs, run)?;
    Ok(sums)
}

/// Computes a limb of both sums.
fn limb_of_sum(
    ring: &WordRing,
    terms: &[Term<'_>],
    limb: usize,
    outs: Vec<&mut [u64]>,
    inside: Parallelism,
) -> Result<(), RingError> {
    let modulus = ring.basis().own(limb)?;
    inside.for_each_block_of(outs, ring.degree(), |range, outs| {
        let [first, second] = outs else { return Ok(()) };
        let mut scratch = Scratch::new(terms.len() * (BLOCK + PAD));
        let slots = scratch.chunks_exact_mut(BLOCK + PAD);
        let turned: Result<Vec<&[u64]>, RingError> =
            terms.iter().zip(slots).map(|(term, slot)| term.block(ring, limb, &range, slot)).collect();
        let mut sum = Terms::default();
        for (term, block) in terms.iter().zip(turned?) {
            let keys = term.keys.map(|key| key.from(limb, range.start, &modulus));
            let [Some(one), Some(other)] = keys else {
                return Err(RingError::MissingTable { table: "limb of a key", limb });
            };
            sum.push(block, [one, other]);
        }
        sum.sum(&modulus, [&mut **first, &mut **second])
    })
}

impl<'a> Term<'a> {
    /// Returns a block of a limb of the rotated polynomial, in the scratch memory unless nothing is rotated.
    fn block<'s>(
        &self,
        ring: &WordRing,
        limb: usize,
        range: &Range<usize>,
        slot: &'s mut [u64],
    ) -> Result<&'s [u64], RingError>
    where
        'a: 's,
    {
        let own: &'a [u64] = self.of.own_limb(limb)?;
        let Some(sources) = &self.sources else {
            return part("block of a polynomial", own, range.clone(), limb);
        };
        let slot = slot.get_mut(..range.len()).unwrap_or_default();
        // In rings of other indices automorphisms do not map blocks to blocks.
        let (input, start) = if ring.ring_index().is_power_of_two() {
            let start = sources.source(range.start) / BLOCK * BLOCK;
            (part("block of a polynomial", own, start..start + range.len(), limb)?, start)
        } else {
            (own, 0)
        };
        sources.apply(slot, range.start, input, start)?;
        Ok(slot)
    }
}
