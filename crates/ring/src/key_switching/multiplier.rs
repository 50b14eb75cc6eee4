//! Polynomials packed to multiply many others, as the diagonals of matrices are: small where their values repeat.

use std::ops::Range;

use zeroize::Zeroize;

use super::inner_product::PAD;
use super::{Digits, GadgetBackend, Multiplier, SwitchInput, Turn};
use crate::error::{check_length, check_table, part};
use crate::opaque::Content;
use crate::parallel::{BLOCK, Parallelism, Work};
use crate::scratch::Scratch;
use crate::{Backend, Evaluation, PackedPoly, Poly, RingError, Shape, WordRing};

/// Number of words that are stored for a run of equal vectors.
const LANES: usize = 8;
/// The shortest run that is longer than the words stored for it: a block of the evaluation order.
const SHORTEST_RUN: usize = 64;

/// Pairs of sums, one for every list of terms.
pub type Pairs = Vec<[Poly<Evaluation>; 2]>;

/// A rotated ciphertext: X → X^k after a key switch.
pub struct Rotation<'a> {
    /// Exponent k of the rotation X → X^k.
    pub exponent: u64,
    /// Digits of the ciphertext and both halves of the key; `None` for the identity, whatever the exponent.
    pub switch: Option<(&'a Digits, [&'a [PackedPoly]; 2])>,
}

/// Returns the rotated ciphertexts that [`GadgetBackend::sums_of_rotations`] multiplies.
pub(super) fn whole_rotations<G: GadgetBackend + ?Sized>(
    gadget: &G,
    [c0, c1]: [&Poly<Evaluation>; 2],
    rotations: &[Rotation<'_>],
) -> Result<Pairs, RingError> {
    let ring = gadget.key_ring();
    let rotated = |rotation: &Rotation<'_>| match rotation.switch {
        None => Ok([ring.scale_up(c0)?, ring.scale_up(c1)?]),
        Some((digits, key)) => {
            gadget.switch_extended(SwitchInput::Digits(digits), Some(c0), key, rotation.exponent)
        }
    };
    rotations.iter().map(rotated).collect()
}

/// Does [`GadgetBackend::sums_of_rotations`] rotation by rotation and term by term.
pub(super) fn sums_of_whole_rotations<G: GadgetBackend + ?Sized>(
    gadget: &G,
    ciphertext: [&Poly<Evaluation>; 2],
    rotations: &[Rotation<'_>],
    lists: &[Vec<(usize, &Multiplier)>],
) -> Result<Pairs, RingError> {
    let (ring, pairs) = (gadget.key_ring(), whole_rotations(gadget, ciphertext, rotations)?);
    let sum = |list: &Vec<(usize, &Multiplier)>| {
        let mut sum = [ring.zero(), ring.zero()];
        for &(i, multiplier) in list {
            let pair = pairs.get(i).ok_or_else(|| no_such_pair(i, pairs.len()))?;
            let multiplier = gadget.multiplied(multiplier)?;
            for (sum, factor) in sum.iter_mut().zip(pair) {
                ring.mul_add_assign(sum, factor, &multiplier)?;
            }
        }
        Ok(sum)
    };
    lists.iter().map(sum).collect()
}

/// Does [`GadgetBackend::sum_of_turns`] term by term.
pub(super) fn sum_of_whole_turns<G: GadgetBackend + ?Sized>(
    gadget: &G,
    turns: &[Turn<'_>],
    key: [&[PackedPoly]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let ring = gadget.key_ring();
    check_turns(turns, key)?;
    let mut sums = [ring.zero(), ring.zero()];
    for (i, turn) in turns.iter().enumerate() {
        ring.check(turn.of)?;
        let turned =
            if turn.exponent == 1 { turn.of.clone() } else { ring.automorphism(turn.of, turn.exponent)? };
        for (sum, half) in sums.iter_mut().zip(key) {
            let factor = half.get(i).map(|part| gadget.unpack_part(part, 0)).transpose()?;
            factor.map_or(Ok(()), |factor| ring.mul_add_assign(sum, &turned, &factor))?;
        }
    }
    Ok(sums)
}

/// Checks that a key has a polynomial for every turn.
pub(super) fn check_turns(turns: &[Turn<'_>], key: [&[PackedPoly]; 2]) -> Result<(), RingError> {
    key.iter().try_for_each(|half| check_length("polynomials of a key", turns.len(), half.len()))
}

/// Returns the error for an index that names no pair.
fn no_such_pair(i: usize, pairs: usize) -> RingError {
    RingError::LengthMismatch { what: "pairs", expected: i + 1, got: pairs }
}

/// A polynomial in evaluation form, packed to multiply others.
///
/// The values of a polynomial in X^g repeat: in the evaluation order, from g = 8 on, all vectors of eight of a run of max(64, g)
/// words are equal. One of them is stored.
#[derive(Clone)]
pub struct RnsMultiplier {
    /// Stored words of the multiplier, eight for every run, limb after limb.
    words: Scratch,
    /// Length of a run of the multiplier: the number of words that eight stored ones represent.
    run: usize,
    shape: Shape,
    tag: u64,
}

impl RnsMultiplier {
    pub(crate) fn new(a: &Poly<Evaluation>) -> Self {
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
        for (stored, run) in words.chunks_exact_mut(LANES).zip(a.words().chunks_exact(run)) {
            stored.copy_from_slice(run.get(..LANES).unwrap_or_default());
        }
        Self { words, run, shape, tag }
    }

    /// The tag of the basis of the polynomial.
    pub(crate) fn tag(&self) -> u64 {
        self.tag
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// The number of bytes that a polynomial in X^`gap` of this shape takes at most.
    pub(crate) fn expected_bytes(Shape { degree, limbs }: Shape, gap: usize) -> usize {
        let run = if gap < LANES { LANES } else { gap.clamp(SHORTEST_RUN, degree) };
        limbs * (degree / run * LANES) * size_of::<u64>()
    }

    /// Unpacks the polynomial of the multiplier.
    pub(crate) fn poly(&self) -> Poly<Evaluation> {
        let Shape { degree, limbs } = self.shape;
        let mut words = Scratch::new(degree * limbs);
        for (i, limb) in words.chunks_exact_mut(degree.max(1)).enumerate() {
            if self.run == LANES {
                limb.copy_from_slice(self.words.get(i * degree..(i + 1) * degree).unwrap_or_default());
            } else {
                self.expand(self.limb(i), 0, limb);
            }
        }
        Poly::new(words, degree, self.tag)
    }

    /// Returns the words of a limb of the multiplier from `start` on, in `out` unless they are stored in
    /// full.
    pub(crate) fn block<'a>(
        &'a self,
        limb: usize,
        start: usize,
        out: &'a mut [u64],
    ) -> Result<&'a [u64], RingError> {
        if limb >= self.shape.limbs {
            return Err(RingError::MissingTable { table: "limb of a multiplier", limb });
        }
        let words = self.limb(limb);
        if self.run == LANES {
            return part("block of a multiplier", words, start..start + out.len(), limb);
        }
        self.expand(words, start, out);
        Ok(out)
    }

    /// The words of the multiplier stored for a limb; empty for a limb that does not exist.
    fn limb(&self, limb: usize) -> &[u64] {
        let stored = self.words.len() / self.shape.limbs.max(1);
        self.words.chunks_exact(stored.max(1)).nth(limb).unwrap_or_default()
    }

    /// Expands the words stored for a limb into its words from `start` on.
    fn expand(&self, limb: &[u64], start: usize, out: &mut [u64]) {
        // Runs are powers of two that divide n, and so are blocks but for a last one: either length is a multiple of
        // the other.
        let step = self.run.min(out.len());
        for (i, part) in out.chunks_mut(step).enumerate() {
            let at = (start + i * step) / self.run * LANES;
            let Some(vector) = limb.get(at..).and_then(|words| words.first_chunk::<LANES>()) else {
                continue;
            };
            part.as_chunks_mut::<LANES>().0.iter_mut().for_each(|words| *words = *vector);
        }
    }
}

impl Content for RnsMultiplier {
    fn byte_len(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }
}

impl Zeroize for RnsMultiplier {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}

/// Pairs of polynomials that are computed block by block.
pub(crate) trait PairsByBlock: Sync {
    fn count(&self) -> usize;
    /// The number of scratch words that [`block`](Self::block) needs for a pair.
    fn scratch_words(&self) -> usize;
    /// Returns a block of limb `i` of every pair, stored already or computed in scratch memory.
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
        self.iter().map(|[a, b]| Ok([a.part(i, range.clone())?, b.part(i, range.clone())?])).collect()
    }
}

impl WordRing {
    /// Computes all sums of products, one block of one limb after the other, so that every operand is read
    /// once. Limb i of the ring is limb `limbs[i]` of the multipliers.
    pub(crate) fn sums_by_blocks(
        &self,
        pairs: &impl PairsByBlock,
        lists: &[Vec<(usize, &RnsMultiplier)>],
        limbs: &[usize],
    ) -> Result<Pairs, RingError> {
        if let Some(&(i, _)) = lists.iter().flatten().find(|(i, _)| *i >= pairs.count()) {
            return Err(no_such_pair(i, pairs.count()));
        }
        let (n, count) = (self.degree(), self.basis().len());
        if lists.iter().any(|list| !list.is_empty()) {
            check_table("place in a multiplier", count, limbs.len())?;
        }
        let mut sums: Pairs = lists.iter().map(|_| [self.arbitrary(), self.arbitrary()]).collect();
        let mut outs: Vec<Vec<&mut [u64]>> = (0..count).map(|_| Vec::new()).collect();
        for sum in sums.iter_mut().flatten() {
            outs.iter_mut().zip(sum.words_mut().chunks_exact_mut(n)).for_each(|(list, limb)| list.push(limb));
        }
        let inside = self.parallelism();
        let run = |(i, outs): (usize, Vec<&mut [u64]>)| {
            // Lists without multipliers have no limbs to look up.
            let of_multiplier = limbs.get(i).copied().unwrap_or(usize::MAX);
            self.limb_of_sums([i, of_multiplier], pairs, lists, outs, inside)
        };
        let work = 2 * (lists.len() + pairs.count()) * count * n;
        self.parallelism().for_each(Work::Elementwise, work, outs.into_iter().enumerate().collect(), run)?;
        Ok(sums)
    }

    /// Computes limb `i` of all sums, both of the first list first, by limb `own` of the multipliers.
    fn limb_of_sums(
        &self,
        [i, own]: [usize; 2],
        pairs: &impl PairsByBlock,
        lists: &[Vec<(usize, &RnsMultiplier)>],
        outs: Vec<&mut [u64]>,
        inside: Parallelism,
    ) -> Result<(), RingError> {
        let modulus = self.basis().own(i)?;
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        inside.for_each_block_of(outs, self.degree(), |range, outs| {
            let mut scratch = Scratch::new(pairs.scratch_words() + longest * (BLOCK + PAD));
            let (space, expanded) = scratch.split_at_mut_checked(pairs.scratch_words()).unwrap_or_default();
            let (count, pairs) = (pairs.count(), pairs.block(i, &range, space)?);
            check_table("block of a pair", count, pairs.len())?;
            for (list, outs) in lists.iter().zip(outs.chunks_exact_mut(2)) {
                let [first, second] = outs else { continue };
                if list.is_empty() {
                    first.fill(0);
                    second.fill(0);
                    continue;
                }
                let spaces = expanded.chunks_mut(BLOCK + PAD);
                let spaces = spaces.map(|space| space.get_mut(..first.len()).unwrap_or_default());
                let factors = list.iter().zip(spaces);
                let factors = factors.map(|((_, m), space)| m.block(own, range.start, space));
                let factors: Vec<&[u64]> = factors.collect::<Result<_, _>>()?;
                let mut halves = [(); 2].map(|()| Vec::with_capacity(list.len()));
                for &(index, _) in list {
                    let pair = pairs.get(index).ok_or_else(|| no_such_pair(index, pairs.len()))?;
                    halves.iter_mut().zip(pair).for_each(|(half, block)| half.push(*block));
                }
                let [a, b] = &halves;
                modulus.inner_product_pair([first, second], &factors, [a, b])?;
            }
            Ok(())
        })
    }
}
