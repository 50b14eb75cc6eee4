//! Fourier transforms of three and of five registers, with the renormalisations that keep lazy words in bounds.
//!
//! A level adds or subtracts a word below FRESH·q. Radix three counts for two levels, radix five for four: between levels words are
//! renormalised where `PERIOD` is shorter.
#![expect(clippy::indexing_slicing, reason = "constant indices into arrays of registers")]

use super::arithmetic::{Butterflies, Register};
use crate::cyclotomic::rows::Prepare;

/// Number of levels of a transform that never renormalises: any longer period is endless.
const LONGEST: usize = 17;

/// Prepares the first operand of a first radix level, to which the level adds.
#[inline(always)]
pub(super) fn prepared<A: Butterflies>(a: A, x: Register<A>, prepare: Prepare) -> Register<A> {
    if prepare == Prepare::Words { a.renormalise(x) } else { a.enter(x) }
}

/// Reduces an operand that a radix level adds without a product.
#[inline(always)]
pub(super) fn reduced<A: Butterflies>(a: A, y: Register<A>, prepare: Prepare) -> Register<A> {
    if prepare == Prepare::Words { a.reduce_lazy(y) } else { y }
}

/// Prepares a word after `R` levels for another level.
#[inline(always)]
pub(super) fn settled<A: Butterflies, const R: usize>(a: A, x: Register<A>) -> Register<A> {
    let due = R > 0 && A::PERIOD < LONGEST && R.is_multiple_of(A::PERIOD);
    if due { a.renormalise(x) } else { x }
}

/// Computes a butterfly whose twiddle is 1, after `R` levels.
#[inline(always)]
pub(super) fn unit<A: Butterflies>(
    a: A,
    x: Register<A>,
    y: Register<A>,
    prepare: Prepare,
) -> (Register<A>, Register<A>) {
    a.sum_difference(x, reduced(a, y, prepare))
}

/// Computes x + y and x − y of lazy words after `R` levels.
#[inline(always)]
fn step<A: Butterflies, const R: usize>(a: A, x: Register<A>, y: Register<A>) -> (Register<A>, Register<A>) {
    a.sum_difference(settled::<A, R>(a, x), y)
}

/// Computes the radix-three sums Σ x_j·w_j·ρ^(ij) for i = 0, 1, 2 and ρ of order three, where w_j = 1 without
/// factors.
#[inline(always)]
pub(super) fn three<A: Butterflies>(
    a: A,
    x: [Register<A>; 3],
    factors: Option<[A::Constant; 2]>,
    root: A::Constant,
    prepare: Prepare,
) -> [Register<A>; 3] {
    let x0 = prepared(a, x[0], prepare);
    let (x1, x2) = match factors {
        Some([w1, w2]) => (a.product(x[1], w1), a.product(x[2], w2)),
        None => (reduced(a, x[1], prepare), reduced(a, x[2], prepare)),
    };
    // ρ^2 = −1 − ρ.
    let t = a.product(a.sum_difference(a.enter(x1), x2).1, root);
    let (sum, without1) = a.sum_difference(x0, x1);
    let without2 = a.sum_difference(x0, x2).1;
    [step::<A, 1>(a, sum, x2).0, step::<A, 1>(a, without2, t).0, step::<A, 1>(a, without1, t).1]
}

/// Computes the radix-five sums Σ x_j·w_j·ρ^(ij) for ρ of order five, in place: factors are the powers of a
/// twiddle, then −1/4, a cosine and three of sines.
///
/// With sums and differences of x_j and x_(5−j): cosines take products with −1/4 and with half the difference of both, sines three
/// [Karatsuba].
#[inline(always)]
pub(super) fn five<A: Butterflies, const SIZE: usize, const WORDS: usize, const ONE: bool>(
    a: A,
    x: &mut [Register<A>; SIZE],
    words: &[u64; WORDS],
    prepare: Prepare,
) {
    let x0 = prepared(a, x[0], prepare);
    let mut t = [x0; 4];
    for k in 0..4 {
        t[k] = if ONE { a.reduce_lazy(x[k + 1]) } else { a.product(x[k + 1], twiddle(a, words, k)) };
    }
    let [t1, t2, t3, t4] = t;
    let (entered1, entered2) = (a.enter(t1), a.enter(t2));
    // x_1 + x_4 + x_2 + x_3, and x_1 + x_4 − x_2 − x_3
    let all = step::<A, 2>(a, step::<A, 1>(a, a.sum_difference(t1, t4).0, t2).0, t3).0;
    let (both, difference) = a.sum_difference(entered1, t4);
    let cross = step::<A, 2>(a, step::<A, 1>(a, both, t2).1, t3).1;
    let other = a.sum_difference(entered2, t3).1;
    let differences = step::<A, 2>(a, step::<A, 1>(a, difference, t2).0, t3).1;
    let quarter = a.product(all, twiddle(a, words, 4));
    let cosines = a.product(cross, twiddle(a, words, 5));
    let sines = a.product(differences, twiddle(a, words, 6));
    let (sine1, sine2) =
        (a.product(difference, twiddle(a, words, 7)), a.product(other, twiddle(a, words, 8)));
    // Where four levels fit, the sum of all was not renormalised, nor is it biased.
    let all = if A::PERIOD >= 4 { all } else { a.reduce_lazy(all) };
    let (plus, minus) = step::<A, 1>(a, a.sum_difference(x0, quarter).0, cosines);
    let (plus1, plus4) = step::<A, 2>(a, plus, sines);
    let (minus2, minus3) = step::<A, 2>(a, minus, sines);
    x[0] = a.sum_difference(x0, all).0;
    x[1] = step::<A, 3>(a, plus1, sine1).0;
    x[4] = step::<A, 3>(a, plus4, sine1).1;
    x[2] = step::<A, 3>(a, minus2, sine2).1;
    x[3] = step::<A, 3>(a, minus3, sine2).0;
}

/// Loads the `i`-th constant of a table of twiddles.
#[inline(always)]
pub(super) fn twiddle<A: Butterflies>(a: A, words: &[u64], i: usize) -> A::Constant {
    match words.get(i * A::CONSTANT..(i + 1) * A::CONSTANT) {
        Some(&[w, first, second]) => a.constant([w, first, second]),
        Some(&[w, quotient]) => a.constant([w, quotient, 0]),
        _ => a.constant([0; 3]),
    }
}
