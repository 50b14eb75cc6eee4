//! Polynomials that are kept to multiply others, as the diagonals of matrices are: small where their values repeat, and many at
//! a time.

use std::ops::Range;

use rayon::prelude::*;
use zeroize::Zeroize;

use crate::gadget::{PAD, sums_of_turns};
use crate::parallel::{BLOCK, Parallelism, Work};
use crate::scratch::Scratch;
use crate::{
    BigPoly, BigRing, Evaluation, Gadget, MultiPrecisionRing, Poly, PolyRing, Ring, RingError,
    RnsDecomposition, RnsGadget, Shape,
};

/// Words that are stored for a run of equal vectors.
const LANES: usize = 8;
/// The shortest run that is longer than what is stored for it: a block of the evaluation order.
const SHORTEST_RUN: usize = 64;

/// Pairs of sums, one for every list of terms.
pub(crate) type Pairs<R> = Vec<[<R as PolyRing>::Poly<Evaluation>; 2]>;

/// A polynomial of a key.
pub type KeyPart<R> = <<R as PolyRing>::Gadget as Gadget<R>>::KeyPart;

/// A turn of a ciphertext: X → X^k after a key switch.
#[derive(Clone, Copy)]
pub struct Turn<'a, R: PolyRing> {
    /// k.
    pub exponent: u64,
    /// Both halves of the key; none for the identity, whatever the exponent.
    pub key: Option<[&'a [KeyPart<R>]; 2]>,
}

/// Rings that multiply by polynomials kept for that.
pub trait Multipliers: PolyRing {
    /// A polynomial kept to multiply others.
    type Multiplier: Clone + Send + Sync + 'static;

    /// Keeps a polynomial.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for one of another ring.
    fn multiplier(&self, a: Self::Poly<Evaluation>) -> Result<Self::Multiplier, RingError>;
    /// Bytes that a kept polynomial takes.
    fn multiplier_bytes(a: &Self::Multiplier) -> usize;
    /// Bytes that one in X^`gap` will take at most, for a power of two.
    fn expected_bytes(&self, gap: usize) -> usize;
    /// For every list of terms (i, m_i) the pair Σ m_i·a_i, Σ m_i·b_i, for pairs (a_i, b_i).
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for polynomials of another ring; [`RingError::LengthMismatch`] for
    /// an index of no pair.
    fn sums_of_products(
        &self,
        pairs: &[[&Self::Poly<Evaluation>; 2]],
        lists: &[Vec<(usize, &Self::Multiplier)>],
    ) -> Result<Pairs<Self>, RingError>;
    /// The same for turns of one ciphertext (c_0, c_1) of a gadget's level, in its key ring: pair i is
    /// (P·c_0, 0) + ⟨digits of c_1, key_i⟩ at X^k_i, or P·(c_0, c_1).
    ///
    /// # Errors
    /// As [`sums_of_products`](Self::sums_of_products) and [`Gadget::switch_digits_extended`].
    fn sums_of_turns(
        gadget: &Self::Gadget,
        digits: &<Self::Gadget as Gadget<Self>>::Digits,
        [c0, c1]: [&Self::Poly<Evaluation>; 2],
        turns: &[Turn<'_, Self>],
        lists: &[Vec<(usize, &Self::Multiplier)>],
    ) -> Result<Pairs<Self>, RingError> {
        sums_of_whole_turns(gadget, digits, [c0, c1], turns, lists)
    }
}

/// [`Multipliers::sums_of_turns`] with all turned ciphertexts at once.
fn sums_of_whole_turns<R: Multipliers>(
    gadget: &R::Gadget,
    digits: &<R::Gadget as Gadget<R>>::Digits,
    [c0, c1]: [&R::Poly<Evaluation>; 2],
    turns: &[Turn<'_, R>],
    lists: &[Vec<(usize, &R::Multiplier)>],
) -> Result<Pairs<R>, RingError> {
    let ring = gadget.key_ring();
    let turn = |turn: &Turn<'_, R>| match turn.key {
        None => Ok([ring.scale_up(c0)?, ring.scale_up(c1)?]),
        Some(key) => gadget.switch_digits_extended(digits, Some(c0), key, turn.exponent),
    };
    let turned: Vec<_> = turns.iter().map(turn).collect::<Result<_, RingError>>()?;
    let pairs: Vec<_> = turned.iter().map(|pair| pair.each_ref()).collect();
    ring.sums_of_products(&pairs, lists)
}

/// A polynomial in evaluation form that multiplies others.
///
/// The values of a polynomial in X^g repeat: in the evaluation order, from g = 8 on, all vectors of eight of a run of max(64, g)
/// words are equal. One of them is kept.
#[derive(Clone)]
pub struct Multiplier {
    /// Eight words for every run, limb after limb.
    words: Scratch,
    /// Words that eight stand for.
    run: usize,
    shape: Shape,
    tag: u64,
}

impl Multiplier {
    fn new(a: &Poly<Evaluation>) -> Self {
        let (shape, tag) = (a.shape(), a.tag());
        let is_run = |run: &[u64]| run.chunks_exact(LANES).all(|v| Some(v) == run.get(..LANES));
        let repeats = |run: usize| a.words().chunks_exact(run).all(is_run);
        let fits = |&run: &usize| shape.degree.is_multiple_of(run);
        let runs = std::iter::successors(Some(SHORTEST_RUN), |run| Some(2 * run)).take_while(fits);
        let run = runs.take_while(|&run| repeats(run)).last().unwrap_or(LANES);
        if run == LANES {
            return Self { words: Scratch::from_slice(a.words()), run, shape, tag };
        }
        let mut words = Scratch::new(a.words().len() / run * LANES);
        for (kept, run) in words.chunks_exact_mut(LANES).zip(a.words().chunks_exact(run)) {
            kept.copy_from_slice(run.get(..LANES).unwrap_or_default());
        }
        Self { words, run, shape, tag }
    }

    /// The words of a limb from `start` on, into `out` unless they stand there already.
    fn block<'a>(&'a self, limb: usize, start: usize, out: &'a mut [u64]) -> &'a [u64] {
        let kept = self.words.len() / self.shape.limbs.max(1);
        let limb = self.words.chunks_exact(kept.max(1)).nth(limb).unwrap_or_default();
        if self.run == LANES {
            return limb.get(start..start + out.len()).unwrap_or_default();
        }
        // Runs are powers of two that divide n, and so are blocks but for a last one: one of them is a multiple of the other.
        let step = self.run.min(out.len());
        for (i, part) in out.chunks_mut(step).enumerate() {
            let at = (start + i * step) / self.run * LANES;
            let Some(vector) = limb.get(at..).and_then(|words| words.first_chunk::<LANES>()) else {
                continue;
            };
            part.as_chunks_mut::<LANES>().0.iter_mut().for_each(|words| *words = *vector);
        }
        out
    }
}

impl Zeroize for Multiplier {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}

impl Multipliers for Ring {
    type Multiplier = Multiplier;

    fn multiplier(&self, a: Poly<Evaluation>) -> Result<Multiplier, RingError> {
        self.check(&a)?;
        Ok(Multiplier::new(&a))
    }

    fn multiplier_bytes(a: &Multiplier) -> usize {
        a.words.len() * size_of::<u64>()
    }

    fn expected_bytes(&self, gap: usize) -> usize {
        let n = self.degree();
        let run = if gap < LANES { LANES } else { gap.clamp(SHORTEST_RUN, n) };
        self.basis().len() * (n / run * LANES) * size_of::<u64>()
    }

    fn sums_of_products(
        &self,
        pairs: &[[&Poly<Evaluation>; 2]],
        lists: &[Vec<(usize, &Multiplier)>],
    ) -> Result<Pairs<Self>, RingError> {
        for poly in pairs.iter().flatten() {
            self.check(poly)?;
        }
        self.sums_by_blocks(&pairs, lists)
    }

    fn sums_of_turns(
        gadget: &RnsGadget,
        digits: &RnsDecomposition,
        ciphertext: [&Poly<Evaluation>; 2],
        turns: &[Turn<'_, Self>],
        lists: &[Vec<(usize, &Multiplier)>],
    ) -> Result<Pairs<Self>, RingError> {
        // In other rings automorphisms do not map blocks to blocks.
        if gadget.key_ring().ring_index().is_power_of_two() {
            sums_of_turns(gadget, digits, ciphertext, turns, lists)
        } else {
            sums_of_whole_turns(gadget, digits, ciphertext, turns, lists)
        }
    }
}

/// Pairs of polynomials that are asked for block by block.
pub(crate) trait PairsByBlock: Sync {
    fn count(&self) -> usize;
    /// Words that [`block`](Self::block) needs.
    fn scratch_words(&self) -> usize;
    /// A block of limb `i` of every pair, there already or made in scratch memory.
    fn block<'s>(
        &'s self,
        i: usize,
        range: &Range<usize>,
        scratch: &'s mut [u64],
    ) -> Result<Vec<[&'s [u64]; 2]>, RingError>;
}

impl PairsByBlock for &[[&Poly<Evaluation>; 2]] {
    fn count(&self) -> usize {
        self.len()
    }

    fn scratch_words(&self) -> usize {
        0
    }

    fn block<'s>(
        &'s self,
        i: usize,
        range: &Range<usize>,
        _: &'s mut [u64],
    ) -> Result<Vec<[&'s [u64]; 2]>, RingError> {
        let part = |poly: &'s Poly<Evaluation>| poly.limb(i)?.get(range.clone());
        Ok(self.iter().map(|pair| pair.map(|poly| part(poly).unwrap_or_default())).collect())
    }
}

impl Ring {
    /// All sums, one block of one limb after the other, so that what is read of it is read once.
    pub(crate) fn sums_by_blocks(
        &self,
        pairs: &impl PairsByBlock,
        lists: &[Vec<(usize, &Multiplier)>],
    ) -> Result<Pairs<Self>, RingError> {
        for &(i, multiplier) in lists.iter().flatten() {
            self.check_basis(multiplier.shape, multiplier.tag)?;
            check_index(i, pairs.count())?;
        }
        let (n, count) = (self.degree(), self.basis().len());
        let mut sums: Pairs<Self> = lists.iter().map(|_| [self.arbitrary(), self.arbitrary()]).collect();
        let mut outs: Vec<Vec<&mut [u64]>> = (0..count).map(|_| Vec::new()).collect();
        for sum in sums.iter_mut().flatten() {
            outs.iter_mut().zip(sum.words_mut().chunks_exact_mut(n)).for_each(|(list, limb)| list.push(limb));
        }
        let inside = self.parallelism();
        let run = |(i, outs): (usize, Vec<&mut [u64]>)| self.limb_of_sums(i, pairs, lists, outs, inside);
        let work = 2 * (lists.len() + pairs.count()) * count * n;
        if self.parallelism().shares_limbs(Work::Elementwise, work) {
            outs.into_par_iter().enumerate().try_for_each(run)?;
        } else {
            outs.into_iter().enumerate().try_for_each(run)?;
        }
        Ok(sums)
    }

    /// Limb `i` of all sums, both of the first list first.
    fn limb_of_sums(
        &self,
        i: usize,
        pairs: &impl PairsByBlock,
        lists: &[Vec<(usize, &Multiplier)>],
        outs: Vec<&mut [u64]>,
        inside: Parallelism,
    ) -> Result<(), RingError> {
        let Some(modulus) = self.basis().moduli().get(i) else { return Ok(()) };
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        inside.for_each_block_of(outs, self.degree(), |range, outs| {
            let mut scratch = Scratch::new(pairs.scratch_words() + longest * (BLOCK + PAD));
            let (space, expanded) = scratch.split_at_mut_checked(pairs.scratch_words()).unwrap_or_default();
            let pairs = pairs.block(i, &range, space)?;
            for (list, outs) in lists.iter().zip(outs.chunks_exact_mut(2)) {
                let [first, second] = outs else { continue };
                if list.is_empty() {
                    first.fill(0);
                    second.fill(0);
                    continue;
                }
                let spaces = expanded.chunks_mut(BLOCK + PAD);
                let spaces = spaces.map(|space| space.get_mut(..first.len()).unwrap_or_default());
                let factors: Vec<&[u64]> =
                    list.iter().zip(spaces).map(|((_, m), space)| m.block(i, range.start, space)).collect();
                let half = |half: usize| -> Vec<&[u64]> {
                    let block = |index: usize| pairs.get(index).and_then(|pair| pair.get(half)).copied();
                    list.iter().filter_map(|&(index, _)| block(index)).collect()
                };
                modulus.inner_product_pair([first, second], &factors, [&half(0), &half(1)])?;
            }
            Ok(())
        })
    }
}

fn check_index(i: usize, pairs: usize) -> Result<(), RingError> {
    if i < pairs {
        Ok(())
    } else {
        Err(RingError::LengthMismatch { what: "pairs", expected: i + 1, got: pairs })
    }
}

/// [`Multipliers::sums_of_products`] term by term.
fn sums_by_terms<R: PolyRing>(
    ring: &R,
    pairs: &[[&R::Poly<Evaluation>; 2]],
    lists: &[Vec<(usize, &R::Poly<Evaluation>)>],
) -> Result<Pairs<R>, RingError> {
    let mut sums = Vec::with_capacity(lists.len());
    for list in lists {
        let mut sum = [ring.zero(), ring.zero()];
        for &(i, multiplier) in list {
            check_index(i, pairs.len())?;
            for (sum, factor) in sum.iter_mut().zip(pairs.get(i).into_iter().flatten()) {
                ring.mul_add_assign(sum, factor, multiplier)?;
            }
        }
        sums.push(sum);
    }
    Ok(sums)
}

impl Multipliers for BigRing {
    type Multiplier = BigPoly<Evaluation>;

    fn multiplier(&self, a: BigPoly<Evaluation>) -> Result<BigPoly<Evaluation>, RingError> {
        self.level_of(&a)?;
        Ok(a)
    }

    fn multiplier_bytes(a: &BigPoly<Evaluation>) -> usize {
        Self::byte_len(a)
    }

    fn expected_bytes(&self, _: usize) -> usize {
        Self::byte_len(&self.zero::<Evaluation>())
    }

    fn sums_of_products(
        &self,
        pairs: &[[&BigPoly<Evaluation>; 2]],
        lists: &[Vec<(usize, &BigPoly<Evaluation>)>],
    ) -> Result<Pairs<Self>, RingError> {
        sums_by_terms(self, pairs, lists)
    }
}

impl Multipliers for MultiPrecisionRing {
    type Multiplier = Poly<Evaluation>;

    fn multiplier(&self, a: Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.level_of(&a)?;
        Ok(a)
    }

    fn multiplier_bytes(a: &Poly<Evaluation>) -> usize {
        Self::byte_len(a)
    }

    fn expected_bytes(&self, _: usize) -> usize {
        Self::byte_len(&self.zero::<Evaluation>())
    }

    fn sums_of_products(
        &self,
        pairs: &[[&Poly<Evaluation>; 2]],
        lists: &[Vec<(usize, &Poly<Evaluation>)>],
    ) -> Result<Pairs<Self>, RingError> {
        sums_by_terms(self, pairs, lists)
    }
}

#[cfg(test)]
mod tests;
