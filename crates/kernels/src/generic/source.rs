//! Where the levels of a group find their twiddles.
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of fixed length")]

use super::arithmetic::{Arithmetic, V};
use super::lanes::{Lanes, WIDTH};
use crate::schedule::TAIL_TWIDDLES;

/// A twiddle and its quotient, in every lane.
pub(super) type Twiddle<A> = (V<A>, V<A>);

/// The twiddle words of one tail block.
pub(super) type TailWords = [u64; TAIL_TWIDDLES];

/// Twiddle `i` of a group, where level R uses those from 2^R − 1.
pub(super) trait Source<A: Arithmetic> {
    fn twiddle(&self, a: A, i: usize) -> Twiddle<A>;
}

/// Twiddles held in registers while a pass runs through a block.
pub(super) struct Held<A: Arithmetic, const SIZE: usize>([Twiddle<A>; SIZE]);

impl<A: Arithmetic, const SIZE: usize> Held<A, SIZE> {
    /// From the words of a block: pairs of twiddle and quotient.
    #[inline(always)]
    pub(super) fn new(a: A, words: &[u64]) -> Self {
        let l = a.lanes();
        let mut w = [(l.splat(0), l.splat(0)); SIZE];
        for (w, pair) in w.iter_mut().zip(words.as_chunks::<2>().0) {
            *w = (l.splat(pair[0]), l.splat(pair[1]));
        }
        Self(w)
    }
}

impl<A: Arithmetic, const SIZE: usize> Source<A> for Held<A, SIZE> {
    #[inline(always)]
    fn twiddle(&self, _: A, i: usize) -> Twiddle<A> {
        self.0[i]
    }
}

/// The natural side of a tail block, where a twiddle is the same in all lanes.
pub(super) struct Natural<'a>(pub(super) &'a TailWords);

impl<A: Arithmetic> Source<A> for Natural<'_> {
    #[inline(always)]
    fn twiddle(&self, a: A, i: usize) -> Twiddle<A> {
        (a.lanes().splat(self.0[2 * i]), a.lanes().splat(self.0[2 * i + 1]))
    }
}

/// The transposed side of a tail block, where every lane has its own.
pub(super) struct Transposed<'a>(pub(super) &'a TailWords);

impl<A: Arithmetic> Source<A> for Transposed<'_> {
    #[inline(always)]
    fn twiddle(&self, a: A, i: usize) -> Twiddle<A> {
        let vectors = self.0.as_chunks::<WIDTH>().0;
        (a.lanes().load(&vectors[2 + 2 * i]), a.lanes().load(&vectors[3 + 2 * i]))
    }
}
