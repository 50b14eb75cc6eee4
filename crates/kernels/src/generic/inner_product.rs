//! Σ a_i·b_i over vectors, reduced once a group of terms.
#![expect(unsafe_code, reason = "packed words at a stride, whose bounds are checked once a block")]

use super::arithmetic::{Arithmetic, V};
use super::elementwise::{add, copy};
use super::lanes::{Lanes, WIDTH};

/// Vectors handled together: their sums do not wait for each other.
const VECTORS: usize = 4;
/// Bytes from what is read to what is asked for: operands are dozens of streams, more than the processor foresees by itself.
const AHEAD: usize = 1024;

type Block = [u64; VECTORS * WIDTH];
/// What holds the bytes of a vector.
type Bytes = [u8; 8 * WIDTH];

/// How second factors are kept.
pub(crate) trait Kept<A: Arithmetic>: Copy {
    /// What holds those of one term.
    type Slice: ?Sized;

    /// The block that starts at word `at`, zeros past the end; asks for a later one.
    fn load_at(self, a: A, slice: Option<&&Self::Slice>, at: usize) -> [V<A>; VECTORS];
}

/// Asks for as many bytes, [`AHEAD`] of these.
#[inline(always)]
fn ask<A: Arithmetic>(a: A, here: *const u64, bytes: usize) {
    for line in (0..bytes).step_by(size_of::<Bytes>()) {
        a.lanes().prefetch(here.wrapping_byte_add(AHEAD + line));
    }
}

/// As words.
#[derive(Clone, Copy)]
pub(crate) struct Whole;

impl<A: Arithmetic> Kept<A> for Whole {
    type Slice = [u64];

    #[inline(always)]
    fn load_at(self, a: A, slice: Option<&&[u64]>, at: usize) -> [V<A>; VECTORS] {
        load_at(a, slice.copied().unwrap_or(&[]), at)
    }
}

/// As bytes, `width` for every word, and 64 from the first of every eight words on.
#[derive(Clone, Copy)]
pub(crate) struct Packed<A: Arithmetic> {
    width: usize,
    pattern: <A::Lanes as Lanes>::Pattern,
}

impl<A: Arithmetic> Packed<A> {
    #[inline(always)]
    pub(crate) fn new(a: A, width: usize) -> Self {
        Self { width, pattern: a.lanes().pattern(width) }
    }
}

impl<A: Arithmetic> Kept<A> for Packed<A> {
    type Slice = [u8];

    #[inline(always)]
    fn load_at(self, a: A, slice: Option<&&[u8]>, at: usize) -> [V<A>; VECTORS] {
        let bytes = slice.and_then(|slice| slice.get(at * self.width..)).unwrap_or(&[]);
        ask(a, bytes.as_ptr().cast(), VECTORS * WIDTH * self.width);
        if bytes.len() >= (VECTORS - 1) * WIDTH * self.width + size_of::<Bytes>() {
            self.expand_all(a, bytes)
        } else {
            self.expand_all(a, &padded_bytes(bytes))
        }
    }
}

impl<A: Arithmetic> Packed<A> {
    /// The words of a block, whose last vector has 64 bytes from its first on.
    #[inline(always)]
    fn expand_all(self, a: A, bytes: &[u8]) -> [V<A>; VECTORS] {
        let (l, step) = (a.lanes(), WIDTH * self.width);
        debug_assert!(bytes.len() >= (VECTORS - 1) * step + size_of::<Bytes>());
        let mut vectors = [l.splat(0); VECTORS];
        for (i, vector) in vectors.iter_mut().enumerate() {
            // SAFETY: both callers have 64 bytes from vector i on, the last at most.
            let group = unsafe { &*bytes.as_ptr().add(i * step).cast::<Bytes>() };
            *vector = l.expand(group, self.pattern);
        }
        vectors
    }
}

/// out_k = Σ_i x_i·y_ki for canonical words and one or more k, which share the loads of x; all slices
/// of equally many words.
#[inline(always)]
pub(crate) fn inner_products<A: Arithmetic, K: Kept<A>, const OUTPUTS: usize>(
    a: A,
    kept: K,
    out: [&mut [u64]; OUTPUTS],
    x: &[&[u64]],
    y: [&[&K::Slice]; OUTPUTS],
) {
    let len = out.first().map_or(0, |out| out.len());
    let mut out = out.map(|out| out.chunks_mut(VECTORS * WIDTH));
    for at in (0..len).step_by(VECTORS * WIDTH) {
        let totals = totals_at(a, kept, at, x, y);
        for (blocks, totals) in out.iter_mut().zip(totals) {
            store(a, blocks.next().unwrap_or_default(), totals);
        }
    }
}

/// The results for the block that starts at word `at`, asking for later ones.
#[inline(always)]
fn totals_at<A: Arithmetic, K: Kept<A>, const OUTPUTS: usize>(
    a: A,
    kept: K,
    at: usize,
    x: &[&[u64]],
    y: [&[&K::Slice]; OUTPUTS],
) -> [[V<A>; VECTORS]; OUTPUTS] {
    if x.len() <= A::MAX_TERMS {
        return sums_at(a, kept, at, x, y);
    }
    let mut totals = [[a.lanes().splat(0); VECTORS]; OUTPUTS];
    for (group, xs) in x.chunks(A::MAX_TERMS).enumerate() {
        let ys = y.map(|y| y.get(group * A::MAX_TERMS..).unwrap_or(&[]));
        for (totals, sums) in totals.iter_mut().zip(sums_at(a, kept, at, xs, ys)) {
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total = add(a, *total, sum);
            }
        }
    }
    totals
}

/// The same for at most `MAX_TERMS` terms, which need no more registers than their sums.
#[inline(always)]
fn sums_at<A: Arithmetic, K: Kept<A>, const OUTPUTS: usize>(
    a: A,
    kept: K,
    at: usize,
    x: &[&[u64]],
    y: [&[&K::Slice]; OUTPUTS],
) -> [[V<A>; VECTORS]; OUTPUTS] {
    let mut sums = [[a.sum_start(); VECTORS]; OUTPUTS];
    for (i, x) in x.iter().enumerate() {
        let x = load_at(a, x, at);
        for (sums, y) in sums.iter_mut().zip(y) {
            let y = kept.load_at(a, y.get(i), at);
            for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                *sum = a.sum_add(*sum, x, y);
            }
        }
    }
    let mut totals = [[a.lanes().splat(0); VECTORS]; OUTPUTS];
    for (totals, sums) in totals.iter_mut().zip(sums) {
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total = a.sum_reduce(sum);
        }
    }
    totals
}

/// The block that starts at word `at`, padded with zeros past the end; asks for a later one.
#[inline(always)]
fn load_at<A: Arithmetic>(a: A, words: &[u64], at: usize) -> [V<A>; VECTORS] {
    let words = words.get(at..).unwrap_or(&[]);
    ask(a, words.as_ptr(), size_of::<Block>());
    match words.first_chunk() {
        Some(block) => load(a, block),
        None => load(a, &padded(words)),
    }
}

#[inline(always)]
fn load<A: Arithmetic>(a: A, block: &Block) -> [V<A>; VECTORS] {
    let l = a.lanes();
    let mut vectors = [l.splat(0); VECTORS];
    for (vector, words) in vectors.iter_mut().zip(block.as_chunks().0) {
        *vector = l.load(words);
    }
    vectors
}

/// Stores a block, or as much of it as `out` holds.
#[inline(always)]
fn store<A: Arithmetic>(a: A, out: &mut [u64], vectors: [V<A>; VECTORS]) {
    let l = a.lanes();
    if let Some(block) = out.first_chunk_mut::<{ VECTORS * WIDTH }>() {
        for (words, vector) in block.as_chunks_mut().0.iter_mut().zip(vectors) {
            l.store(words, vector);
        }
    } else {
        for (words, vector) in out.chunks_mut(WIDTH).zip(vectors) {
            let mut block = [0; WIDTH];
            l.store(&mut block, vector);
            copy(words, &block);
        }
    }
}

#[cold]
fn padded(words: &[u64]) -> Block {
    let mut block = [0; VECTORS * WIDTH];
    copy(&mut block, words);
    block
}

/// As many bytes as a block may take, zeros past the end.
#[cold]
fn padded_bytes(bytes: &[u8]) -> [u8; VECTORS * size_of::<Bytes>()] {
    let mut block = [0; VECTORS * size_of::<Bytes>()];
    block.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    block
}
