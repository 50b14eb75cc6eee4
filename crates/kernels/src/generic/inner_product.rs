//! Inner products Σ a_i·b_i over vectors, reduced once a group of terms.
#![expect(unsafe_code, reason = "vectors at a stride, whose bounds are checked once for all blocks")]

use super::arithmetic::{Arithmetic, V};
use super::elementwise::add;
use super::lanes::{Integers, Lanes, WIDTH, copy};
use crate::constants::{MATRIX_BLOCK, residue_bytes};

/// Number of vectors that are handled together: their sums do not wait for each other.
const VECTORS: usize = 4;
/// Number of words of a block.
const BLOCK: usize = VECTORS * WIDTH;
/// Distance in bytes from what is read to what is prefetched: operands are dozens of streams, more than the
/// hardware prefetcher follows.
const AHEAD: usize = 1024;
/// Number of bytes that a vector reads.
const READ: usize = size_of::<[u64; WIDTH]>();

/// Storage format of the second factors of an inner product.
trait Kept<A: Arithmetic>: Copy {
    /// Element type of the slices of factors.
    type Unit: Copy + Default;

    /// Number of units of a slice from one vector to the next.
    fn step(self) -> usize;

    /// # Safety
    /// `from` must lead to [`READ`] bytes.
    unsafe fn vector(self, a: A, from: *const Self::Unit) -> V<A>;
}

/// Storage format of factors as whole words.
#[derive(Clone, Copy)]
struct Whole;

impl<A: Arithmetic> Kept<A> for Whole {
    type Unit = u64;

    #[inline(always)]
    fn step(self) -> usize {
        WIDTH
    }
    #[inline(always)]
    unsafe fn vector(self, a: A, from: *const u64) -> V<A> {
        // SAFETY: the caller's.
        a.lanes().load(unsafe { &*from.cast() })
    }
}

/// Storage format of factors as bytes, `width` for every word, with 64 readable from the first of every eight
/// words on.
#[derive(Clone, Copy)]
struct Packed<A: Arithmetic> {
    width: usize,
    pattern: <A::Lanes as Lanes>::Pattern,
}

impl<A: Arithmetic> Packed<A> {
    #[inline(always)]
    fn new(a: A, width: usize) -> Self {
        Self { width, pattern: a.lanes().pattern(width) }
    }
}

impl<A: Arithmetic> Kept<A> for Packed<A> {
    type Unit = u8;

    #[inline(always)]
    fn step(self) -> usize {
        WIDTH * self.width
    }
    #[inline(always)]
    unsafe fn vector(self, a: A, from: *const u8) -> V<A> {
        // SAFETY: the caller's.
        a.lanes().expand(unsafe { &*from.cast() }, self.pattern)
    }
}

/// Computes out = Σ_i x_i·y_i mod q for canonical words.
#[inline(always)]
pub(crate) fn one<A: Arithmetic>(a: A, out: &mut [u64], x: &[&[u64]], y: &[&[u64]]) {
    inner_products(a, Whole, [out], x, [y]);
}

/// Computes out_k = Σ_i x_i·y_ki mod q for two k.
#[inline(always)]
pub(crate) fn pair<A: Arithmetic>(a: A, out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[u64]]; 2]) {
    inner_products(a, Whole, out, x, y);
}

/// Computes out_k = Σ_i x_i·y_ki mod q for two k and second factors in bytes.
#[inline(always)]
pub(crate) fn packed<A: Arithmetic>(a: A, out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[u8]]; 2]) {
    inner_products(a, Packed::new(a, residue_bytes(a.value())), out, x, y);
}

/// Distance in bytes from what is read of a packed matrix to what is prefetched, for each of two streams.
const MATRIX_AHEAD: usize = 1536;
/// Number of vectors of an element of a packed matrix.
const ELEMENT: usize = MATRIX_BLOCK / WIDTH;

/// Computes out_jk = Σ_i x_ji·m_ik mod q for two vectors x_j and every column of a packed matrix, whose elements are blocks of words. Two columns share the loads
/// of both vectors, and are each one stream.
#[inline(always)]
pub(crate) fn packed_matrix<A: Arithmetic>(a: A, out: [&mut [u64]; 2], x: [&[u64]; 2], m: &[u8]) {
    let kept = Packed::new(a, residue_bytes(a.value()));
    let x = x.map(|x| x.as_chunks::<MATRIX_BLOCK>().0);
    let rows = x.first().map_or(0, |x| x.len());
    let stride = ELEMENT * kept.width * WIDTH;
    let [first, second] = out.map(|out| out.chunks_mut(2 * MATRIX_BLOCK));
    for (pair, (first, second)) in first.zip(second).enumerate() {
        let columns = [2 * pair, 2 * pair + usize::from(first.len() > MATRIX_BLOCK)];
        let starts = columns.map(|column| column * rows * stride);
        let least = starts.into_iter().max().unwrap_or(0) + rows * stride - WIDTH * kept.width + READ;
        let Some(m) = m.get(..least) else { return };
        let mut totals = [[[a.lanes().splat(0); ELEMENT]; 2]; 2];
        for start in (0..rows).step_by(A::MAX_TERMS) {
            let terms = x.map(|x| x.get(start..rows.min(start + A::MAX_TERMS)).unwrap_or_default());
            let from = starts.map(|column| m.as_ptr().wrapping_add(column + start * stride));
            // SAFETY: `m` holds both columns, and the bytes that the last vector reads beyond its own.
            let sums = unsafe { matrix_sums(a, kept, terms, from) };
            for (total, sum) in totals.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                for (total, sum) in total.iter_mut().zip(sum) {
                    *total = add(a, *total, *sum);
                }
            }
        }
        for (out, totals) in [first, second].into_iter().zip(totals) {
            for (out, totals) in out.chunks_mut(MATRIX_BLOCK).zip(totals) {
                for (words, total) in out.as_chunks_mut().0.iter_mut().zip(totals) {
                    a.lanes().store(words, total);
                }
            }
        }
    }
}

/// Computes the sums of two vectors with two columns, for at most `MAX_TERMS` rows.
///
/// # Safety
/// `from` must lead to as many elements as the vectors have, and [`READ`] bytes more.
#[inline(always)]
unsafe fn matrix_sums<A: Arithmetic>(
    a: A,
    kept: Packed<A>,
    x: [&[[u64; MATRIX_BLOCK]]; 2],
    from: [*const u8; 2],
) -> [[[V<A>; ELEMENT]; 2]; 2] {
    let mut sums = [[[a.sum_start(); ELEMENT]; 2]; 2];
    let step = WIDTH * kept.width;
    let [first, second] = x;
    for (row, x) in first.iter().zip(second).enumerate() {
        let mut xs = [[a.lanes().splat(0); ELEMENT]; 2];
        for (xs, x) in xs.iter_mut().zip([x.0, x.1]) {
            for (vector, words) in xs.iter_mut().zip(x.as_chunks().0) {
                *vector = a.lanes().load(words);
            }
        }
        for (k, from) in from.into_iter().enumerate() {
            let from = from.wrapping_add(row * ELEMENT * step);
            for i in 0..ELEMENT {
                a.lanes().prefetch(from.wrapping_byte_add(MATRIX_AHEAD + i * step).cast());
                // SAFETY: the caller's.
                let y = unsafe { kept.vector(a, from.wrapping_add(i * step)) };
                for (sums, xs) in sums.iter_mut().zip(xs) {
                    let sum = sums.get_mut(k).and_then(|sums| sums.get_mut(i));
                    let (Some(sum), Some(x)) = (sum, xs.get(i)) else { continue };
                    *sum = a.sum_add(*sum, *x, y);
                }
            }
        }
    }
    let mut totals = [[[a.lanes().splat(0); ELEMENT]; 2]; 2];
    for (totals, sums) in totals.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total = a.sum_reduce(*sum);
        }
    }
    totals
}

/// Computes out_k = Σ_i x_i·y_ki mod q for canonical words and one or more k, which share the loads of x; all
/// slices of equally many words.
#[inline(always)]
fn inner_products<A: Arithmetic, K: Kept<A>, const OUTPUTS: usize>(
    a: A,
    kept: K,
    out: [&mut [u64]; OUTPUTS],
    x: &[&[u64]],
    y: [&[&[K::Unit]]; OUTPUTS],
) {
    let len = out.first().map_or(0, |out| out.len());
    let within = len - len % BLOCK;
    let mut whole = all_hold::<A, _>(Whole, x, within);
    for list in y {
        whole &= all_hold::<A, _>(kept, list, within);
    }
    let mut out = out.map(|out| out.chunks_mut(BLOCK));
    for at in (0..len).step_by(BLOCK) {
        let totals = if whole && at < within {
            // SAFETY: every slice holds all blocks below `within`.
            unsafe { totals_at::<A, K, OUTPUTS, true>(a, kept, at, x, y) }
        } else {
            // SAFETY: padded blocks need no bounds.
            unsafe { totals_at::<A, K, OUTPUTS, false>(a, kept, at, x, y) }
        };
        for (blocks, totals) in out.iter_mut().zip(totals) {
            store(a, blocks.next().unwrap_or_default(), totals);
        }
    }
}

/// Whether the vectors of all blocks below `words` lie within every slice.
#[inline(always)]
fn all_hold<A: Arithmetic, K: Kept<A>>(kept: K, slices: &[&[K::Unit]], words: usize) -> bool {
    let least = (words / WIDTH).saturating_sub(1) * kept.step() + READ / size_of::<K::Unit>();
    let mut all = true;
    for slice in slices {
        all &= slice.len() >= least;
    }
    all
}

/// Computes the inner products for the block that starts at word `at`, and prefetches later blocks.
///
/// # Safety
/// If `WITHIN` is set, slices must [hold](all_hold) the block.
#[inline(always)]
unsafe fn totals_at<A: Arithmetic, K: Kept<A>, const OUTPUTS: usize, const WITHIN: bool>(
    a: A,
    kept: K,
    at: usize,
    x: &[&[u64]],
    y: [&[&[K::Unit]]; OUTPUTS],
) -> [[V<A>; VECTORS]; OUTPUTS] {
    // Padded blocks come once in a call: they take the longer code alone.
    if WITHIN && x.len() <= A::MAX_TERMS {
        // SAFETY: the caller's.
        return unsafe { sums_at::<A, K, OUTPUTS, WITHIN>(a, kept, at, x, y) };
    }
    let mut totals = [[a.lanes().splat(0); VECTORS]; OUTPUTS];
    for (group, xs) in x.chunks(A::MAX_TERMS).enumerate() {
        let ys = y.map(|y| y.get(group * A::MAX_TERMS..).unwrap_or(&[]));
        // SAFETY: the caller's.
        let sums = unsafe { sums_at::<A, K, OUTPUTS, WITHIN>(a, kept, at, xs, ys) };
        for (totals, sums) in totals.iter_mut().zip(sums) {
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total = add(a, *total, sum);
            }
        }
    }
    totals
}

/// Computes [`totals_at`] for at most `MAX_TERMS` terms, which need no more registers than their sums.
///
/// # Safety
/// Requires what [`totals_at`] requires of the slices.
#[inline(always)]
unsafe fn sums_at<A: Arithmetic, K: Kept<A>, const OUTPUTS: usize, const WITHIN: bool>(
    a: A,
    kept: K,
    at: usize,
    x: &[&[u64]],
    y: [&[&[K::Unit]]; OUTPUTS],
) -> [[V<A>; VECTORS]; OUTPUTS] {
    let mut sums = [[a.sum_start(); VECTORS]; OUTPUTS];
    let mut y = y.map(<[_]>::iter);
    for x in x {
        // SAFETY: the caller's.
        let x = unsafe { load_at::<A, Whole, WITHIN>(a, Whole, x, at) };
        for (sums, y) in sums.iter_mut().zip(&mut y) {
            let Some(y) = y.next() else { continue };
            // SAFETY: the caller's.
            let y = unsafe { load_at::<A, K, WITHIN>(a, kept, y, at) };
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

/// Loads the block of a slice that starts at word `at`, padded with zeros past the end; prefetches a later
/// block.
///
/// # Safety
/// If `WITHIN` is set, the slice must [hold](all_hold) the block.
#[inline(always)]
unsafe fn load_at<A: Arithmetic, K: Kept<A>, const WITHIN: bool>(
    a: A,
    kept: K,
    slice: &[K::Unit],
    at: usize,
) -> [V<A>; VECTORS] {
    let start = at / WIDTH * kept.step();
    let padded = if WITHIN { None } else { Some(padded(slice.get(start..).unwrap_or_default())) };
    let from = padded.as_ref().map_or(slice.as_ptr().wrapping_add(start), |padded| padded.as_ptr());
    let mut vectors = [a.lanes().splat(0); VECTORS];
    for (i, vector) in vectors.iter_mut().enumerate() {
        let from = from.wrapping_add(i * kept.step());
        a.lanes().prefetch(from.wrapping_byte_add(AHEAD).cast());
        // SAFETY: within the slice by the caller, and a padded block has room for vectors at any step.
        *vector = unsafe { kept.vector(a, from) };
    }
    vectors
}

/// Stores a block of results, or as much of it as `out` holds.
#[inline(always)]
fn store<A: Arithmetic>(a: A, out: &mut [u64], vectors: [V<A>; VECTORS]) {
    let l = a.lanes();
    if let Some(block) = out.first_chunk_mut::<BLOCK>() {
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

/// Returns as many units of a slice as a block may take, zeros past the end.
#[cold]
fn padded<U: Copy + Default>(slice: &[U]) -> [U; VECTORS * READ] {
    let mut block = [U::default(); VECTORS * READ];
    block.iter_mut().zip(slice).for_each(|(to, from)| *to = *from);
    block
}
