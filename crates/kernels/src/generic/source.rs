//! Sources of the twiddles of a group's levels.
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of fixed length")]

use super::arithmetic::{Butterflies, Factor};
use super::lanes::Registers;
use super::lanes::WIDTH;
use crate::schedule::TAIL_TWIDDLES;

/// Twiddle words of one tail block.
pub(super) type TailWords = [u64; TAIL_TWIDDLES];

/// Number of words between the twiddles of a tail block and those prefetched meanwhile: eight blocks, for
/// they come from memory where a ring has more moduli than the third-level cache has room for.
const AHEAD: usize = 8 * TAIL_TWIDDLES;

/// Prefetches half of a tail block's twiddles that stand [`AHEAD`] words later. Spread over the work of a
/// block this costs nothing; all at once it costs more than it saves.
#[inline(always)]
pub(super) fn ask_twiddles<A: Butterflies>(a: A, words: &TailWords, half: usize) {
    for line in (0..TAIL_TWIDDLES / 2).step_by(WIDTH) {
        a.registers().prefetch(words.as_ptr().wrapping_add(AHEAD + half * TAIL_TWIDDLES / 2 + line));
    }
}

/// Source of twiddle `i` of a group, where level R uses those from 2^R − 1.
pub(super) trait Source<A: Butterflies> {
    fn twiddle(&self, a: A, i: usize) -> Factor<A>;
}

/// Twiddles held in registers while a pass runs through a block.
pub(super) struct Held<A: Butterflies, const SIZE: usize>([Factor<A>; SIZE]);

impl<A: Butterflies, const SIZE: usize> Held<A, SIZE> {
    /// Loads the twiddles of a block: pairs of twiddle and quotient.
    #[inline(always)]
    pub(super) fn new(a: A, words: &[u64]) -> Self {
        let r = a.registers();
        let mut w = [(r.splat(0), r.splat(0)); SIZE];
        for (w, pair) in w.iter_mut().zip(words.as_chunks::<2>().0) {
            *w = (r.splat(pair[0]), r.splat(pair[1]));
        }
        Self(w)
    }
}

impl<A: Butterflies, const SIZE: usize> Source<A> for Held<A, SIZE> {
    #[inline(always)]
    fn twiddle(&self, _: A, i: usize) -> Factor<A> {
        self.0[i]
    }
}

/// Twiddles of the natural side of a tail block, each twiddle equal in all lanes.
pub(super) struct Natural<'a>(pub(super) &'a TailWords);

impl<A: Butterflies> Source<A> for Natural<'_> {
    #[inline(always)]
    fn twiddle(&self, a: A, i: usize) -> Factor<A> {
        (a.registers().splat(self.0[2 * i]), a.registers().splat(self.0[2 * i + 1]))
    }
}

/// Twiddles of the transposed side of a tail block, one for each lane; the second field is the word of a
/// vector at which registers start.
pub(super) struct Transposed<'a>(pub(super) &'a TailWords, pub(super) usize);

impl<A: Butterflies> Source<A> for Transposed<'_> {
    #[inline(always)]
    fn twiddle(&self, a: A, i: usize) -> Factor<A> {
        let words = |vector: usize| a.registers().load(&self.0[vector * WIDTH + self.1..]);
        (words(2 + 2 * i), words(3 + 2 * i))
    }
}
