//! Sums of products with rotated ciphertexts: all rotations and all sums of a block of values before the next, so
//! that no rotated ciphertext is ever held.
//!
//! In the evaluation order the first bits of a position are the last bits of an exponent, which X → X^k changes among
//! themselves: it maps aligned blocks of values to blocks.

use std::ops::Range;

use super::inner_product::{InnerProducts, PAD, Terms};
use super::limbs::halves;
use super::multiplier::{PairsByBlock, whole_rotations};
use super::{Multiplier, Pairs, RnsGadget, RnsMultiplier, Rotation, SwitchInput};
use crate::parallel::{BLOCK, Work};
use crate::words::automorphism::ValueSources;
use crate::{Backend, Evaluation, Poly, RingError};

/// All rotations of one ciphertext, computed block by block.
struct Rotations<'a> {
    gadget: &'a RnsGadget,
    /// Multiples P·(c_0, c_1) of the ciphertext's polynomials.
    multiples: [Poly<Evaluation>; 2],
    /// Rotations of the ciphertext in order; `None` for the identity.
    rotations: Vec<Option<KeyedRotation<'a>>>,
}

/// A key switch and the permutation after it.
struct KeyedRotation<'a> {
    products: InnerProducts<'a>,
    sources: ValueSources,
}

/// Does [`GadgetBackend::sums_of_rotations`](super::GadgetBackend::sums_of_rotations) block by block.
pub(super) fn sums_of_rotations<'a>(
    gadget: &'a RnsGadget,
    [c0, c1]: [&Poly<Evaluation>; 2],
    rotations: &[Rotation<'a>],
    lists: &[Vec<(usize, &'a Multiplier)>],
) -> Result<Pairs, RingError> {
    let (tables, ring) = (&*gadget.tables, &gadget.tables.key_ring);
    tables.ring.check(c0)?;
    tables.ring.check(c1)?;
    let own = |list: &Vec<(usize, &'a Multiplier)>| -> Result<Vec<(usize, &'a RnsMultiplier)>, RingError> {
        list.iter().map(|&(i, multiplier)| Ok((i, multiplier.0.get()?))).collect()
    };
    let lists = &*lists.iter().map(own).collect::<Result<Vec<_>, _>>()?;
    let limbs = places(gadget, lists)?;
    // In rings of other indices automorphisms do not map blocks to blocks.
    if !ring.ring_index().is_power_of_two() {
        let rotated = whole_rotations(gadget, [c0, c1], rotations)?;
        let rotated: Vec<_> = rotated.iter().map(|pair| pair.each_ref()).collect();
        return ring.sums_by_blocks(&rotated.as_slice(), lists, &limbs);
    }
    let multiples = [ring.scale_up(c0)?, ring.scale_up(c1)?];
    let prepare = |rotation: &Rotation<'a>| {
        let Some((digits, key)) = rotation.switch else { return Ok(None) };
        let products = InnerProducts::with_key(gadget, SwitchInput::Digits(digits), key)?;
        Ok(Some(KeyedRotation { products, sources: ring.value_sources(rotation.exponent)? }))
    };
    let words = rotations.len() * ring.degree();
    let rotations = ring.parallelism().map(Work::Elementwise, words, rotations, prepare)?;
    ring.sums_by_blocks(&Rotations { gadget, multiples, rotations }, lists, &limbs)
}

/// The places of the key ring's limbs in multipliers, which must all belong to one ring.
fn places(gadget: &RnsGadget, lists: &[Vec<(usize, &RnsMultiplier)>]) -> Result<Vec<usize>, RingError> {
    let mut all = lists.iter().flatten().map(|&(_, multiplier)| multiplier);
    let Some(first) = all.next() else { return Ok(Vec::new()) };
    if all.any(|multiplier| multiplier.tag() != first.tag()) {
        return Err(RingError::OtherModulus { shape: first.shape() });
    }
    let (places, source) = gadget.key_places(first.tag(), first.shape())?;
    source.check_basis(first.shape(), first.tag())?;
    Ok(places)
}

impl PairsByBlock for Rotations<'_> {
    fn count(&self) -> usize {
        self.rotations.len()
    }

    /// Returns the numbers of scratch words for inner products, and for every rotation.
    fn scratch_words(&self) -> usize {
        (self.rotations.len() + 1) * 2 * (BLOCK + PAD)
    }

    fn block<'s>(
        &'s self,
        i: usize,
        range: &Range<usize>,
        scratch: &'s mut [u64],
    ) -> Result<Vec<[&'s [u64]; 2]>, RingError> {
        let tables = &*self.gadget.tables;
        let modulus = tables.key_ring.basis().own(i)?;
        let [first, second] = &self.multiples;
        let own = [first.own_limb(i)?, second.own_limb(i)?];
        let (products, rotated) = scratch.split_at_mut_checked(2 * (BLOCK + PAD)).unwrap_or_default();
        let (mut pairs, mut terms) = (Vec::with_capacity(self.rotations.len()), Terms::default());
        for (rotation, out) in self.rotations.iter().zip(rotated.chunks_exact_mut(2 * (BLOCK + PAD))) {
            let Some(KeyedRotation { products: keys, sources }) = rotation else {
                pairs.push(own.map(|half| half.get(range.clone()).unwrap_or_default()));
                continue;
            };
            let start = sources.source(range.start) / BLOCK * BLOCK;
            let from = start..start + range.len();
            terms.clear();
            keys.add_digit_terms(i, &from, &mut terms)?;
            let [first, second] = halves(products, range.len());
            terms.sum(&modulus, [&mut *first, &mut *second])?;
            // The product P·c_0 is zero modulo the special moduli.
            if i < tables.ring.basis().len() {
                modulus.add_assign(first, own[0].get(from).unwrap_or_default())?;
            }
            let [to_first, to_second] = halves(out, range.len());
            sources.apply(to_first, range.start, first, start)?;
            sources.apply(to_second, range.start, second, start)?;
            pairs.push([&*to_first, &*to_second]);
        }
        Ok(pairs)
    }
}
