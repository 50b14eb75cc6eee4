//! Loops over slices of equal length, one result a word.

use super::arithmetic::{Arithmetic, V};
use super::lanes::{Lanes, WIDTH};

/// What a loop does to each vector. A trait rather than a closure: its methods inline always, and so
/// are compiled with the instruction set of the loop they land in.
trait Operation<A: Arithmetic> {
    /// The new value of `x`, whose partners in the other two slices are `y` and `z`.
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

/// A partial vector followed by zeros.
#[inline(always)]
pub(super) fn padded(words: &[u64]) -> [u64; WIDTH] {
    let mut out = [0; WIDTH];
    copy(&mut out, words);
    out
}

/// Copies as many words as both have.
#[inline(always)]
pub(super) fn copy(out: &mut [u64], words: &[u64]) {
    for (to, from) in out.iter_mut().zip(words) {
        *to = *from;
    }
}

/// x + y, canonical.
#[inline(always)]
pub(super) fn add<A: Arithmetic>(a: A, x: V<A>, y: V<A>) -> V<A> {
    a.subtract_once(a.lanes().add(x, y), a.modulus())
}

/// x − y, canonical.
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

#[inline(always)]
pub(crate) fn mul_assign<A: Arithmetic>(a: A, data: &mut [u64], other: &[u64]) {
    update(a, data, other, other, &Mul);
}

/// data += x·y
#[inline(always)]
pub(crate) fn mul_add_assign<A: Arithmetic>(a: A, data: &mut [u64], x: &[u64], y: &[u64]) {
    update(a, data, x, y, &MulAdd);
}

/// (x, y) = (x + y, x − y)
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

/// Canonical residues of any words.
#[inline(always)]
pub(crate) fn reduce_into<A: Arithmetic>(a: A, out: &mut [u64], words: &[u64]) {
    update(a, out, words, words, &Reduce);
}

/// data = −data
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

/// Multiplies by one scalar below q.
#[inline(always)]
pub(crate) fn mul_scalar_assign<A: Arithmetic>(a: A, data: &mut [u64], scalar: u64, q: u64) {
    let l = a.lanes();
    let [w, quotient] = A::factor(scalar, q).map(|word| l.splat(word));
    let (vectors, rest) = data.as_chunks_mut::<WIDTH>();
    let mut last = padded(rest);
    for words in vectors.iter_mut().chain([&mut last]) {
        let v = a.multiply_constant(l.load(words), (w, quotient));
        l.store(words, v);
    }
    copy(rest, &last);
}

/// Canonical residues of signed words.
#[inline(always)]
pub(crate) fn reduce_signed_into<A: Arithmetic>(a: A, out: &mut [u64], words: &[i64], q: u64) {
    let l = a.lanes();
    // x + 2^63 is non-negative; its residue less that of 2^63 is what we want.
    let (half, residue) = (l.splat(1 << 63), l.splat((1 << 63) % q));
    for (to, from) in out.chunks_mut(WIDTH).zip(words.chunks(WIDTH)) {
        let mut vector = [0; WIDTH];
        for (word, signed) in vector.iter_mut().zip(from) {
            *word = signed.cast_unsigned();
        }
        let v = sub(a, a.reduce(l.add(l.load(&vector), half)), residue);
        l.store(&mut vector, v);
        copy(to, &vector);
    }
}
