//! Loops over slices of equal length, one result a word.

use super::arithmetic::{Arithmetic, V};
use super::lanes::{Integers, Lanes, WIDTH, copy};
use crate::constants::residue_bytes;
use crate::table::Bits;

/// Operation of a loop on each vector. This is a trait and not a closure, since its methods inline always,
/// and so are compiled with the instruction set of the loop they land in.
trait Operation<A: Arithmetic> {
    /// Returns the new value of `x`, whose partners in the other two slices are `y` and `z`.
    fn apply(&self, a: A, x: V<A>, y: V<A>, z: V<A>) -> V<A>;
}

/// Replaces every word of `data`; a partial last vector is padded with zeros.
#[inline(always)]
fn update<A: Arithmetic>(a: A, data: &mut [u64], y: &[u64], z: &[u64], operation: &impl Operation<A>) {
    let l = a.lanes();
    let (vectors, rest) = data.as_chunks_mut::<WIDTH>();
    let ((ys, y_rest), (zs, z_rest)) = (y.as_chunks::<WIDTH>(), z.as_chunks::<WIDTH>());
    for ((words, y), z) in vectors.iter_mut().zip(ys).zip(zs) {
        let v = operation.apply(a, l.load(words), l.load(y), l.load(z));
        l.store(words, v);
    }
    if !rest.is_empty() {
        let mut words = padded(rest);
        let (y, z) = (l.load(&padded(y_rest)), l.load(&padded(z_rest)));
        let v = operation.apply(a, l.load(&words), y, z);
        l.store(&mut words, v);
        copy(rest, &words);
    }
}

/// Pads a partial vector of words with zeros.
#[inline(always)]
pub(super) fn padded(words: &[u64]) -> [u64; WIDTH] {
    let mut out = [0; WIDTH];
    copy(&mut out, words);
    out
}

/// Returns the sum x + y mod q, canonical.
#[inline(always)]
pub(super) fn add<A: Arithmetic>(a: A, x: V<A>, y: V<A>) -> V<A> {
    a.lanes().subtract_once(a.lanes().add(x, y), a.modulus())
}

/// Returns the difference x − y mod q, canonical.
#[inline(always)]
fn sub<A: Arithmetic>(a: A, x: V<A>, y: V<A>) -> V<A> {
    let l = a.lanes();
    let difference = l.sub(x, y);
    l.unless_negative(difference, l.add(difference, a.modulus()))
}

struct Add;
impl<A: Arithmetic> Operation<A> for Add {
    #[inline(always)]
    fn apply(&self, a: A, x: V<A>, y: V<A>, _: V<A>) -> V<A> {
        add(a, x, y)
    }
}

struct Sub;
impl<A: Arithmetic> Operation<A> for Sub {
    #[inline(always)]
    fn apply(&self, a: A, x: V<A>, y: V<A>, _: V<A>) -> V<A> {
        sub(a, x, y)
    }
}

struct Sum;
impl<A: Arithmetic> Operation<A> for Sum {
    #[inline(always)]
    fn apply(&self, a: A, _: V<A>, y: V<A>, z: V<A>) -> V<A> {
        add(a, y, z)
    }
}

struct Difference;
impl<A: Arithmetic> Operation<A> for Difference {
    #[inline(always)]
    fn apply(&self, a: A, _: V<A>, y: V<A>, z: V<A>) -> V<A> {
        sub(a, y, z)
    }
}

/// The loop operation x + w·y for a constant w.
struct AddScaled<T>(T);
impl<A: Arithmetic> Operation<A> for AddScaled<(V<A>, V<A>)> {
    #[inline(always)]
    fn apply(&self, a: A, x: V<A>, y: V<A>, _: V<A>) -> V<A> {
        add(a, x, a.multiply_constant(y, self.0))
    }
}

/// The loop operation w·(x + y) for a constant w.
struct ScaledSum<T>(T);
impl<A: Arithmetic> Operation<A> for ScaledSum<(V<A>, V<A>)> {
    #[inline(always)]
    fn apply(&self, a: A, x: V<A>, y: V<A>, _: V<A>) -> V<A> {
        a.multiply_constant(add(a, x, y), self.0)
    }
}

/// The loop operation that adds some bits of y and a constant, modulo q: bits are reduced before the sum
/// where that may reach 2q.
struct Lift<T, const REDUCES: bool> {
    shift: u32,
    mask: T,
    offset: T,
}
impl<A: Arithmetic, const REDUCES: bool> Operation<A> for Lift<V<A>, REDUCES> {
    #[inline(always)]
    fn apply(&self, a: A, _: V<A>, y: V<A>, _: V<A>) -> V<A> {
        let l = a.lanes();
        let bits = l.and(l.shift_right(y, self.shift), self.mask);
        a.lanes().subtract_once(l.add(if REDUCES { a.reduce(bits) } else { bits }, self.offset), a.modulus())
    }
}

struct Mul;
impl<A: Arithmetic> Operation<A> for Mul {
    #[inline(always)]
    fn apply(&self, a: A, x: V<A>, y: V<A>, _: V<A>) -> V<A> {
        a.multiply(x, y)
    }
}

struct MulAdd;
impl<A: Arithmetic> Operation<A> for MulAdd {
    #[inline(always)]
    fn apply(&self, a: A, x: V<A>, y: V<A>, z: V<A>) -> V<A> {
        add(a, x, a.multiply(y, z))
    }
}

struct Reduce;
impl<A: Arithmetic> Operation<A> for Reduce {
    #[inline(always)]
    fn apply(&self, a: A, _: V<A>, y: V<A>, _: V<A>) -> V<A> {
        a.reduce(y)
    }
}

#[inline(always)]
pub(crate) fn add_assign<A: Arithmetic>(a: A, data: &mut [u64], other: &[u64]) {
    update(a, data, other, other, &Add);
}

#[inline(always)]
pub(crate) fn sub_assign<A: Arithmetic>(a: A, data: &mut [u64], other: &[u64]) {
    update(a, data, other, other, &Sub);
}

/// Computes out = x + y mod q, word by word.
#[inline(always)]
pub(crate) fn sum_into<A: Arithmetic>(a: A, out: &mut [u64], x: &[u64], y: &[u64]) {
    update(a, out, x, y, &Sum);
}

/// Computes out = x − y mod q, word by word.
#[inline(always)]
pub(crate) fn difference_into<A: Arithmetic>(a: A, out: &mut [u64], x: &[u64], y: &[u64]) {
    update(a, out, x, y, &Difference);
}

/// Computes data = (data + half) mod q + rest, word by word.
#[inline(always)]
pub(crate) fn shift_assign<A: Arithmetic>(a: A, data: &mut [u64], half: u64, rest: u64) {
    let l = a.lanes();
    let (half, rest) = (l.splat(half), l.splat(rest));
    let (vectors, partial) = data.as_chunks_mut::<WIDTH>();
    let mut last = padded(partial);
    for words in vectors.iter_mut().chain([&mut last]) {
        let v = l.add(add(a, l.load(words), half), rest);
        l.store(words, v);
    }
    copy(partial, &last);
}

/// Computes data += scalar·other mod q, word by word.
#[inline(always)]
pub(crate) fn add_scaled_assign<A: Arithmetic>(a: A, data: &mut [u64], other: &[u64], scalar: u64) {
    let [w, quotient] = A::factor(scalar, a.value()).map(|word| a.lanes().splat(word));
    update(a, data, other, other, &AddScaled((w, quotient)));
}

/// Computes data = scalar·(data + other) mod q, word by word.
#[inline(always)]
pub(crate) fn add_scale_assign<A: Arithmetic>(a: A, data: &mut [u64], other: &[u64], scalar: u64) {
    let [w, quotient] = A::factor(scalar, a.value()).map(|word| a.lanes().splat(word));
    update(a, data, other, other, &ScaledSum((w, quotient)));
}

/// Computes first[i] += scalar·last[len − 1 − i] and last[len − 1 − i] += scalar·first[i] mod q: words below 2q stay so, canonical ones become
/// canonical ones.
#[inline(always)]
pub(crate) fn add_mirrored_assign<A: Arithmetic>(a: A, first: &mut [u64], last: &mut [u64], scalar: u64) {
    let [w, quotient] = A::factor(scalar, a.value()).map(|word| a.lanes().splat(word));
    let (vectors, partial) = first.as_chunks_mut::<WIDTH>();
    let (partial_last, vectors_last) = last.as_rchunks_mut::<WIDTH>();
    for (x, y) in vectors.iter_mut().zip(vectors_last.iter_mut().rev()) {
        mirrored(a, x, y, (w, quotient));
    }
    // The words left over are in the middle.
    partial_last.reverse();
    let [mut x, mut y] = [padded(partial), padded(partial_last)];
    y.reverse();
    mirrored(a, &mut x, &mut y, (w, quotient));
    y.reverse();
    copy(partial, &x);
    copy(partial_last, &y);
    partial_last.reverse();
}

/// Adds to each of two vectors the constant times the mirror image of the other.
#[inline(always)]
fn mirrored<A: Arithmetic>(a: A, x: &mut [u64; WIDTH], y: &mut [u64; WIDTH], w: (V<A>, V<A>)) {
    let l = a.lanes();
    let (of_x, of_y) = (l.load(x), l.reversed(l.load(y)));
    l.store(x, add(a, of_x, a.multiply_constant(of_y, w)));
    l.store(y, l.reversed(add(a, of_y, a.multiply_constant(of_x, w))));
}

/// Computes out = (((words >> shift) & mask) + offset) mod q; the bits are reduced before the addition if
/// `bits` says so.
#[inline(always)]
pub(crate) fn lift_into<A: Arithmetic>(a: A, out: &mut [u64], words: &[u64], bits: &Bits) {
    let l = a.lanes();
    let &Bits { shift, mask, reduces, offset } = bits;
    let (mask, offset) = (l.splat(mask), l.splat(offset));
    if reduces {
        update(a, out, words, words, &Lift::<_, true> { shift, mask, offset });
    } else {
        update(a, out, words, words, &Lift::<_, false> { shift, mask, offset });
    }
}

/// Computes the tensor product (w·x_0·y_0, w·(x_0·y_1 + x_1·y_0), w·x_1·y_1) for a constant w, or without
/// one.
#[inline(always)]
pub(crate) fn tensor<A: Arithmetic>(
    a: A,
    out: [&mut [u64]; 3],
    x: [&[u64]; 2],
    y: [&[u64]; 2],
    scalar: Option<u64>,
) {
    let factor = scalar.map(|scalar| A::factor(scalar, a.value()));
    let [w, quotient] = factor.unwrap_or_default().map(|word| a.lanes().splat(word));
    if factor.is_some() {
        tensors::<A, true>(a, out, x, y, (w, quotient));
    } else {
        tensors::<A, false>(a, out, x, y, (w, quotient));
    }
}

#[inline(always)]
fn tensors<A: Arithmetic, const SCALES: bool>(
    a: A,
    [c0, c1, c2]: [&mut [u64]; 3],
    [x0, x1]: [&[u64]; 2],
    [y0, y1]: [&[u64]; 2],
    w: (V<A>, V<A>),
) {
    let l = a.lanes();
    let ((c0, c0_rest), (c1, c1_rest)) = (c0.as_chunks_mut::<WIDTH>(), c1.as_chunks_mut::<WIDTH>());
    let (c2, c2_rest) = c2.as_chunks_mut::<WIDTH>();
    let ((x0, x0_rest), (x1, x1_rest)) = (x0.as_chunks::<WIDTH>(), x1.as_chunks::<WIDTH>());
    let ((y0, y0_rest), (y1, y1_rest)) = (y0.as_chunks::<WIDTH>(), y1.as_chunks::<WIDTH>());
    let outs = c0.iter_mut().zip(c1).zip(c2);
    for (((c0, c1), c2), ((x0, x1), (y0, y1))) in outs.zip(x0.iter().zip(x1).zip(y0.iter().zip(y1))) {
        let x = [l.load(x0), l.load(x1)];
        let [v0, v1, v2] = tensor_at::<A, SCALES>(a, x, [l.load(y0), l.load(y1)], w);
        l.store(c0, v0);
        l.store(c1, v1);
        l.store(c2, v2);
    }
    if !c0_rest.is_empty() {
        let x = [l.load(&padded(x0_rest)), l.load(&padded(x1_rest))];
        let y = [l.load(&padded(y0_rest)), l.load(&padded(y1_rest))];
        let v = tensor_at::<A, SCALES>(a, x, y, w);
        for (rest, v) in [c0_rest, c1_rest, c2_rest].into_iter().zip(v) {
            let mut words = [0; WIDTH];
            l.store(&mut words, v);
            copy(rest, &words);
        }
    }
}

#[inline(always)]
fn tensor_at<A: Arithmetic, const SCALES: bool>(
    a: A,
    [mut x0, mut x1]: [V<A>; 2],
    [y0, y1]: [V<A>; 2],
    w: (V<A>, V<A>),
) -> [V<A>; 3] {
    if SCALES {
        (x0, x1) = (a.multiply_constant(x0, w), a.multiply_constant(x1, w));
    }
    let crossed = a.sum_add(a.sum_add(a.sum_start(), x0, y1), x1, y0);
    [a.multiply(x0, y0), a.sum_reduce(crossed), a.multiply(x1, y1)]
}

#[inline(always)]
pub(crate) fn mul_assign<A: Arithmetic>(a: A, data: &mut [u64], other: &[u64]) {
    update(a, data, other, other, &Mul);
}

/// Computes data += x·y mod q, word by word.
#[inline(always)]
pub(crate) fn mul_add_assign<A: Arithmetic>(a: A, data: &mut [u64], x: &[u64], y: &[u64]) {
    update(a, data, x, y, &MulAdd);
}

/// Computes (x, y) = (x + y, x − y) mod q, word by word.
#[inline(always)]
pub(crate) fn sum_difference_assign<A: Arithmetic>(a: A, x: &mut [u64], y: &mut [u64]) {
    let l = a.lanes();
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks_mut::<WIDTH>(), y.as_chunks_mut::<WIDTH>());
    let (mut x_last, mut y_last) = (padded(x_rest), padded(y_rest));
    for (x, y) in xs.iter_mut().zip(ys).chain([(&mut x_last, &mut y_last)]) {
        let (u, v) = (l.load(x), l.load(y));
        l.store(x, add(a, u, v));
        l.store(y, sub(a, u, v));
    }
    copy(x_rest, &x_last);
    copy(y_rest, &y_last);
}

/// Writes the canonical residues of any words of a slice.
#[inline(always)]
pub(crate) fn reduce_into<A: Arithmetic>(a: A, out: &mut [u64], words: &[u64]) {
    update(a, out, words, words, &Reduce);
}

/// Number of vectors of a packed term that are added before those of the next: terms are streams of memory, which is slow to go back and forth.
const TURN: usize = 4;
/// Distance in bytes from what is read of a packed term to what is prefetched.
const TERM_AHEAD: usize = 1024;

/// Writes the canonical residues of sums of packed residues: every term is read once, and unpacked in registers.
#[inline(always)]
pub(crate) fn sum_packed_into<A: Arithmetic>(a: A, out: &mut [u64], terms: &[&[u8]]) {
    let bytes = TURN * WIDTH * residue_bytes(a.value());
    let (turns, rest) = out.as_chunks_mut::<{ TURN * WIDTH }>();
    let mut last = [0; TURN * WIDTH];
    for (i, words) in turns.iter_mut().chain([&mut last]).enumerate() {
        sum_turn(a, words, terms, i * bytes);
    }
    copy(rest, &last);
}

/// Adds up packed residues of all terms from a byte on.
#[inline(always)]
fn sum_turn<A: Arithmetic>(a: A, out: &mut [u64; TURN * WIDTH], terms: &[&[u8]], at: usize) {
    let (l, width) = (a.lanes(), residue_bytes(a.value()));
    // A word holds the sum of these terms and a residue.
    let room = (u64::MAX / (a.value() - 1).max(1) - 1).clamp(1, 1 << 16) as usize;
    let (pattern, mut totals) = (l.pattern(width), [l.splat(0); TURN]);
    for terms in terms.chunks(room) {
        for term in terms {
            let bytes = term.get(at..).unwrap_or_default();
            for line in 0..(TURN * width).div_ceil(8) {
                l.prefetch(bytes.as_ptr().wrapping_add(TERM_AHEAD + 64 * line).cast());
            }
            for (i, total) in totals.iter_mut().enumerate() {
                let packed = bytes.get(i * WIDTH * width..).unwrap_or_default();
                *total = l.add(*total, l.expand(packed.first_chunk().unwrap_or(&[0; 8 * WIDTH]), pattern));
            }
        }
        for total in &mut totals {
            *total = a.reduce(*total);
        }
    }
    let (vectors, _) = out.as_chunks_mut::<WIDTH>();
    for (words, total) in vectors.iter_mut().zip(totals) {
        l.store(words, total);
    }
}

/// Computes data = −data mod q, word by word.
#[inline(always)]
pub(crate) fn neg_assign<A: Arithmetic>(a: A, data: &mut [u64]) {
    let l = a.lanes();
    let (vectors, rest) = data.as_chunks_mut::<WIDTH>();
    let mut last = padded(rest);
    for words in vectors.iter_mut().chain([&mut last]) {
        let v = sub(a, l.splat(0), l.load(words));
        l.store(words, v);
    }
    copy(rest, &last);
}

/// Multiplies the words of a slice by one scalar below q.
#[inline(always)]
pub(crate) fn mul_scalar_assign<A: Arithmetic>(a: A, data: &mut [u64], scalar: u64) {
    let l = a.lanes();
    let [w, quotient] = A::factor(scalar, a.value()).map(|word| l.splat(word));
    let (vectors, rest) = data.as_chunks_mut::<WIDTH>();
    let mut last = padded(rest);
    for words in vectors.iter_mut().chain([&mut last]) {
        let v = a.multiply_constant(l.load(words), (w, quotient));
        l.store(words, v);
    }
    copy(rest, &last);
}

/// Converts signed words to a vector, as two's complement.
#[inline(always)]
fn signed<L: Lanes>(l: L, words: &[i64; WIDTH]) -> L::V {
    l.load(&words.map(i64::cast_unsigned))
}

/// Pads a partial vector of signed words with zeros.
#[inline(always)]
fn padded_signed(words: &[i64]) -> [i64; WIDTH] {
    let mut out = [0; WIDTH];
    for (to, from) in out.iter_mut().zip(words) {
        *to = *from;
    }
    out
}

/// Writes the canonical residues of the signed words of a slice.
#[inline(always)]
pub(crate) fn reduce_signed_into<A: Arithmetic>(a: A, out: &mut [u64], words: &[i64]) {
    let l = a.lanes();
    // x + 2^63 is non-negative; its residue less that of 2^63 is the result.
    let (half, residue) = (l.splat(1 << 63), l.splat((1 << 63) % a.value()));
    let ((outs, partial), (words, rest)) = (out.as_chunks_mut::<WIDTH>(), words.as_chunks::<WIDTH>());
    let mut last = [0; WIDTH];
    for (to, from) in outs.iter_mut().chain([&mut last]).zip(words.iter().chain([&padded_signed(rest)])) {
        let v = sub(a, a.reduce(l.add(signed(l, from), half)), residue);
        l.store(to, v);
    }
    copy(partial, &last);
}

/// Computes data += words mod q, for signed words between −q and q.
#[inline(always)]
pub(crate) fn add_small_assign<A: Arithmetic>(a: A, data: &mut [u64], words: &[i64]) {
    let l = a.lanes();
    let ((vectors, partial), (words, rest)) = (data.as_chunks_mut::<WIDTH>(), words.as_chunks::<WIDTH>());
    let mut last = padded(partial);
    for (to, from) in vectors.iter_mut().chain([&mut last]).zip(words.iter().chain([&padded_signed(rest)])) {
        let sum = l.add(l.load(to), signed(l, from));
        let v = a.lanes().subtract_once(l.unless_negative(sum, l.add(sum, a.modulus())), a.modulus());
        l.store(to, v);
    }
    copy(partial, &last);
}
