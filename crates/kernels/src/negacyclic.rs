//! Order in which passes and tails of a negacyclic transform run, for every table of kernels.
//!
//! A transform is a list of passes of one to three levels, then a tail of six levels over blocks of 64 words. Passes over blocks that
//! outgrow the first-level cache run one after the other over all words; the other passes and the tail run chunk by chunk.

use crate::schedule::{Pass, TAIL, TAIL_TWIDDLES};
use crate::table::{Elsewhere, LastFactors};
use crate::twiddles::Twiddles;

/// Functions that run passes and tails: see [`Negacyclic`](crate::table::Negacyclic).
pub(crate) trait Passes: Copy {
    fn enter(self, input: Elsewhere<'_>, data: &mut [u64]);
    fn forward_pass(self, pass: Pass, input: Option<Elsewhere<'_>>, data: &mut [u64], twiddles: &[u64]);
    fn forward_tail(self, data: &mut [u64], twiddles: &[u64], later: [&[u8]; 2]);
    fn inverse_pass(self, pass: Pass, data: &mut [u64], twiddles: &[u64], last: Option<&LastFactors>);
    fn inverse_tail(self, data: &mut [u64], twiddles: &[u64], last: &LastFactors);
}

/// Returns the twiddles of an inner pass over chunk `c`.
fn of_chunk<'a>(twiddles: &Twiddles, pass: Pass, words: &'a [u64], c: usize) -> &'a [u64] {
    let per_chunk = twiddles.schedule.chunk / pass.block * pass.twiddles();
    words.get(c * per_chunk..(c + 1) * per_chunk).unwrap_or_default()
}

/// Yields the twiddles of the tail, chunk after chunk.
fn tails(twiddles: &Twiddles) -> std::slice::ChunksExact<'_, u64> {
    twiddles.tail.chunks_exact(twiddles.schedule.chunk / TAIL * TAIL_TWIDDLES)
}

/// Runs the forward passes over all words, which are below 2q, from `data` or from `input`.
pub(crate) fn outer(p: impl Passes, twiddles: &Twiddles, input: Option<Elsewhere<'_>>, data: &mut [u64]) {
    let mut input = input;
    for (pass, words) in twiddles.schedule.outer().iter().zip(&twiddles.passes) {
        p.forward_pass(*pass, input.take(), data, words);
    }
    if let Some(input) = input {
        p.enter(input, data);
    }
}

/// Runs the forward levels after the outer passes on whole chunks from the `first` one on, to canonical evaluations. Prefetches meanwhile
/// the bytes of `later`.
pub(crate) fn inner(p: impl Passes, twiddles: &Twiddles, first: usize, data: &mut [u64], later: [&[u8]; 2]) {
    let schedule = &twiddles.schedule;
    let inner = twiddles.passes.get(schedule.outer().len()..).unwrap_or_default();
    let chunks = (data.len() / schedule.chunk).max(1);
    let mut shares = later.map(|bytes| bytes.chunks(bytes.len().div_ceil(chunks).max(1)));
    let tails = tails(twiddles).skip(first);
    for (c, (chunk, tail)) in (first..).zip(data.chunks_exact_mut(schedule.chunk).zip(tails)) {
        for (pass, words) in schedule.inner().iter().zip(inner) {
            p.forward_pass(*pass, None, chunk, of_chunk(twiddles, *pass, words, c));
        }
        p.forward_tail(chunk, tail, shares.each_mut().map(|shares| shares.next().unwrap_or_default()));
    }
}

/// Runs the inverse transform of canonical evaluations, from `data` or from `input`, into canonical words.
pub(crate) fn inverse(
    p: impl Passes,
    twiddles: &Twiddles,
    last: &LastFactors,
    input: Option<&[u64]>,
    data: &mut [u64],
) {
    let schedule = &twiddles.schedule;
    let (outer, inner) = twiddles.passes.split_at(schedule.outer().len().min(twiddles.passes.len()));
    let last_of = |pass: &Pass| (pass.block == twiddles.n).then_some(last);
    let mut input = input.map(|input| input.chunks_exact(schedule.chunk));
    for (c, (chunk, tail)) in data.chunks_exact_mut(schedule.chunk).zip(tails(twiddles)).enumerate() {
        if let Some(input) = input.as_mut().and_then(Iterator::next) {
            // A chunk stays in the first-level cache.
            chunk.copy_from_slice(input);
        }
        p.inverse_tail(chunk, tail, last);
        for (pass, words) in schedule.inner().iter().zip(inner).rev() {
            p.inverse_pass(*pass, chunk, of_chunk(twiddles, *pass, words, c), last_of(pass));
        }
    }
    for (pass, words) in schedule.outer().iter().zip(outer).rev() {
        p.inverse_pass(*pass, data, words, last_of(pass));
    }
}
