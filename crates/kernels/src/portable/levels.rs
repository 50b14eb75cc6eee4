//! Transforms level by level, two words at a time, for any arithmetic of pairs.
//!
//! A group of eight streams, as larger registers hold it, would leave the sixteen registers of x86-64; one level
//! is a loop of short independent chains. Blocks that fit the first-level cache still run all their levels at once.

use super::pair::Pair;
use crate::constants::Constants;
use crate::generic::lanes::WIDTH;
use crate::schedule::{Entry, Pass, TAIL, TAIL_TWIDDLES};
use crate::table::{Elsewhere, LastFactors, Negacyclic};

/// Arithmetic of two words at a time, modulo the modulus of a transform.
pub(super) trait PairArithmetic: Copy {
    /// Number of levels that words may grow before they are reduced: 3, or 11 for all that there are.
    const PERIOD: usize;
    /// A constant that pairs are multiplied by.
    type Twiddle: Copy;
    /// A constant that single words are multiplied by.
    type Scalar: Copy;

    fn new(c: &Constants) -> Self;
    /// Loads constants and their quotients for pairs.
    fn constants(self, words: Pair, quotients: Pair) -> Self::Twiddle;
    /// Loads a constant and its quotient for single words.
    fn scalar(self, words: &[u64; 2]) -> Self::Scalar;
    /// Prepares an input below 2q for the first levels of a transform.
    fn enter(self, x: Pair) -> Pair;
    /// Reduces what has grown for a period.
    fn reduce(self, x: Pair) -> Pair;
    /// Computes the butterfly (x + w·y, x − w·y), lazily.
    fn butterfly(self, x: Pair, y: Pair, w: Self::Twiddle) -> (Pair, Pair);
    /// Computes the butterfly (x + w·y, x − w·y), with canonical results.
    fn last_butterfly(self, x: Pair, y: Pair, w: Self::Twiddle) -> (Pair, Pair);
    /// Computes the inverse butterfly (x + y, w·(x − y)), lazily.
    fn inverse_butterfly(self, x: Pair, y: Pair, w: Self::Twiddle) -> (Pair, Pair);
    /// Computes the inverse butterfly (x + y, w·(x − y)), both results reduced.
    fn inverse_butterfly_reduced(self, x: Pair, y: Pair, w: Self::Twiddle) -> (Pair, Pair);
    /// Computes the last inverse butterfly (c·(x + y), w·(x − y)), with canonical results.
    fn inverse_last_butterfly(self, x: Pair, y: Pair, c: Self::Twiddle, w: Self::Twiddle) -> (Pair, Pair);
    /// Computes [`butterfly`](Self::butterfly) of single words, in place.
    fn butterfly_words(self, w: Self::Scalar, x: &mut u64, y: &mut u64);
    /// Computes [`inverse_butterfly`](Self::inverse_butterfly) of single words, in place.
    fn inverse_butterfly_words(self, w: Self::Scalar, x: &mut u64, y: &mut u64);
}

/// Loads one constant and its quotient for both words of pairs.
#[inline(always)]
fn splat<A: PairArithmetic>(a: A, [w, quotient]: &[u64; 2]) -> A::Twiddle {
    a.constants(Pair::new([*w; 2]), Pair::new([*quotient; 2]))
}

/// Words of a tail block, by its rows.
type Rows = [[u64; WIDTH]; WIDTH];
/// Twiddle words of a tail block: pairs of words, then pairs of rows.
type TailWords = [[u64; WIDTH]; TAIL_TWIDDLES / WIDTH];

/// Returns the functions of the parts of a transform, in one arithmetic.
pub(super) const fn negacyclic<A: PairArithmetic>() -> Negacyclic {
    Negacyclic {
        enter,
        forward_pass: forward_pass::<A>,
        forward_tail: forward_tail::<A>,
        inverse_pass: inverse_pass::<A>,
        inverse_tail: inverse_tail::<A>,
    }
}

fn enter(input: Elsewhere<'_>, data: &mut [u64]) {
    input.write_to(data);
}

/// Yields the blocks of a tail with the twiddles of each.
fn blocks<'a>(data: &'a mut [u64], words: &'a [u64]) -> impl Iterator<Item = (&'a mut Rows, &'a TailWords)> {
    let blocks = data.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<WIDTH>().0;
    blocks.iter_mut().zip(words.as_chunks::<WIDTH>().0.as_chunks::<{ TAIL_TWIDDLES / WIDTH }>().0)
}

/// Calls `f` with the halves of every block of `len` words.
#[inline(always)]
fn halves(data: &mut [u64], len: usize, mut f: impl FnMut(&mut [[u64; 2]], &mut [[u64; 2]])) {
    for block in data.chunks_exact_mut(len) {
        let (x, y) = block.split_at_mut(len / 2);
        f(x.as_chunks_mut().0, y.as_chunks_mut().0);
    }
}

/// Replaces pairs of words by a function of the pairs.
#[inline(always)]
fn update(x: &mut [[u64; 2]], y: &mut [[u64; 2]], f: impl Fn(Pair, Pair) -> (Pair, Pair)) {
    for (x, y) in x.iter_mut().zip(y) {
        let (a, b) = f(Pair::load(x), Pair::load(y));
        a.store(x);
        b.store(y);
    }
}

/// Replaces three pairs of words by one function and two words by the other: the scalar multiplier idles
/// otherwise.
#[inline(always)]
fn update_mixed(
    x: &mut [[u64; 2]],
    y: &mut [[u64; 2]],
    pairs: impl Fn(Pair, Pair) -> (Pair, Pair),
    words: impl Fn(&mut u64, &mut u64),
) {
    for ([x, x_pairs @ ..], [y, y_pairs @ ..]) in
        x.as_chunks_mut::<4>().0.iter_mut().zip(y.as_chunks_mut::<4>().0)
    {
        for (x, y) in x.iter_mut().zip(y) {
            words(x, y);
        }
        update(x_pairs, y_pairs, &pairs);
    }
}

/// Runs the levels of a pass over all blocks in `data`, or over words that stand elsewhere.
fn forward_pass<A: PairArithmetic>(
    c: &Constants,
    pass: Pass,
    input: Option<Elsewhere<'_>>,
    data: &mut [u64],
    words: &[u64],
) {
    let a = A::new(c);
    if let Some(input) = input {
        input.write_to(data);
    }
    let enter = pass.entry == Entry::Enter;
    for (block, words) in data.chunks_exact_mut(pass.block).zip(words.chunks_exact(pass.twiddles())) {
        let mut twiddles = words.as_chunks::<2>().0.iter();
        for r in 0..pass.levels {
            halves(block, pass.block >> r, |x, y| {
                let Some(w) = twiddles.next() else { return };
                if enter && r == 0 {
                    forward_enter(a, x, y, w);
                } else if A::PERIOD == 3 && r == 0 {
                    forward_renormalise(a, x, y, w);
                } else {
                    forward_level(a, x, y, w);
                }
            });
        }
    }
}

#[inline(never)]
fn forward_enter<A: PairArithmetic>(a: A, x: &mut [[u64; 2]], y: &mut [[u64; 2]], w: &[u64; 2]) {
    let w = splat(a, w);
    update(x, y, |x, y| a.butterfly(a.enter(x), y, w));
}

#[inline(never)]
fn forward_renormalise<A: PairArithmetic>(a: A, x: &mut [[u64; 2]], y: &mut [[u64; 2]], w: &[u64; 2]) {
    let w = splat(a, w);
    update(x, y, |x, y| a.butterfly(a.reduce(x), y, w));
}

#[inline(never)]
fn forward_level<A: PairArithmetic>(a: A, x: &mut [[u64; 2]], y: &mut [[u64; 2]], w: &[u64; 2]) {
    let (w, scalar) = (splat(a, w), a.scalar(w));
    update_mixed(x, y, |x, y| a.butterfly(x, y, w), |x, y| a.butterfly_words(scalar, x, y));
}

/// Runs the last six forward levels of every block, to canonical evaluations. Prefetches nothing.
fn forward_tail<A: PairArithmetic>(c: &Constants, data: &mut [u64], words: &[u64], _: [&[u8]; 2]) {
    let a = A::new(c);
    let enter = data.len() == TAIL;
    for (block, words) in blocks(data, words) {
        forward_block(a, block, words, enter);
    }
}

/// Runs the last six forward levels of a block, with the transposition between the third and the fourth.
fn forward_block<A: PairArithmetic>(a: A, rows: &mut Rows, words: &TailWords, enter: bool) {
    let mut twiddles = words.as_flattened().as_chunks::<2>().0.iter();
    for r in 0..3 {
        halves(rows.as_flattened_mut(), TAIL >> r, |x, y| {
            let Some(w) = twiddles.next() else { return };
            if enter && r == 0 {
                forward_enter(a, x, y, w);
            } else if r == 0 {
                forward_renormalise(a, x, y, w);
            } else {
                forward_level(a, x, y, w);
            }
        });
    }
    let mut turned = transposed(rows);
    let twiddles = words.as_chunks::<2>().0;
    for (r, first) in [(0, 1), (1, 2)] {
        let twiddles = twiddles.iter().skip(first);
        for (rows, w) in turned.chunks_exact_mut(WIDTH >> r).zip(twiddles) {
            let (x, y) = rows.split_at_mut(rows.len() / 2);
            for (x, y) in x.iter_mut().zip(y) {
                if A::PERIOD == 3 && r == 0 {
                    update_rows(a, x, y, w, |x, y, w| a.butterfly(a.reduce(x), y, w));
                } else {
                    update_rows(a, x, y, w, |x, y, w| a.butterfly(x, y, w));
                }
            }
        }
    }
    for ([x, y], w) in turned.as_chunks_mut::<2>().0.iter_mut().zip(twiddles.iter().skip(4)) {
        update_rows(a, x, y, w, |x, y, w| a.last_butterfly(x, y, w));
    }
    *rows = turned;
}

/// Replaces pairs of words of two rows, each with its own twiddle.
#[inline(always)]
fn update_rows<A: PairArithmetic>(
    a: A,
    x: &mut [u64; WIDTH],
    y: &mut [u64; WIDTH],
    [w, f]: &[[u64; WIDTH]; 2],
    butterfly: impl Fn(Pair, Pair, A::Twiddle) -> (Pair, Pair),
) {
    let pairs = x.as_chunks_mut().0.iter_mut().zip(y.as_chunks_mut().0);
    let factors = w.as_chunks().0.iter().zip(f.as_chunks().0);
    for ((x, y), (w, f)) in pairs.zip(factors) {
        let (p, q) = butterfly(Pair::load(x), Pair::load(y), a.constants(Pair::load(w), Pair::load(f)));
        p.store(x);
        q.store(y);
    }
}

/// Returns the rows transposed: word k of row i goes to word i of row k.
#[inline(always)]
fn transposed(rows: &Rows) -> Rows {
    let mut out = [[0; WIDTH]; WIDTH];
    for (i, [a, b]) in rows.as_chunks::<2>().0.iter().enumerate() {
        let columns = a.as_chunks().0.iter().zip(b.as_chunks().0);
        for ((a, b), [first, second]) in columns.zip(out.as_chunks_mut::<2>().0) {
            let (c, d) = Pair::load(a).transpose(Pair::load(b));
            if let (Some(to_c), Some(to_d)) =
                (first.as_chunks_mut().0.get_mut(i), second.as_chunks_mut().0.get_mut(i))
            {
                c.store(to_c);
                d.store(to_d);
            }
        }
    }
    out
}

/// Runs the first six inverse levels on canonical evaluations, block by block.
fn inverse_tail<A: PairArithmetic>(c: &Constants, data: &mut [u64], words: &[u64], last: &LastFactors) {
    let a = A::new(c);
    let last = (data.len() == TAIL).then_some(last);
    for (block, words) in blocks(data, words) {
        inverse_block(a, block, words, last);
    }
}

/// Runs the inverse levels of a pass over all blocks in `data`, with the last level of the transform where
/// its factors are given.
fn inverse_pass<A: PairArithmetic>(
    c: &Constants,
    pass: Pass,
    data: &mut [u64],
    words: &[u64],
    last: Option<&LastFactors>,
) {
    let a = A::new(c);
    for (block, words) in data.chunks_exact_mut(pass.block).zip(words.chunks_exact(pass.twiddles())) {
        for r in (0..pass.levels).rev() {
            inverse_level(a, block, r, words.as_chunks().0, last.filter(|_| r == 0));
        }
    }
}

/// Runs the inverse level that is `r` below the first of a block.
#[inline(always)]
fn inverse_level<A: PairArithmetic>(
    a: A,
    block: &mut [u64],
    r: usize,
    twiddles: &[[u64; 2]],
    last: Option<&LastFactors>,
) {
    let len = block.len() >> r;
    if let Some(last) = last {
        return halves(block, len, |x, y| inverse_last(a, x, y, last));
    }
    let mut twiddles = twiddles.iter().skip((1 << r) - 1);
    halves(block, len, |x, y| {
        if let Some(w) = twiddles.next() {
            inverse_halves(a, x, y, w);
        }
    });
}

/// Returns the number of inverse levels after which a sum of sums has to be reduced.
const fn run(period: usize) -> u32 {
    if period == 11 { 3 } else { 2 }
}

/// Runs one inverse level on the halves of a block.
///
/// A word that was x in all of the last `run` levels is reduced, any other may grow. Among the sums these are ranges:
/// the upper half was y one level ago, half of the rest two levels ago, and so on.
#[inline(never)]
fn inverse_halves<A: PairArithmetic>(a: A, x: &mut [[u64; 2]], y: &mut [[u64; 2]], w: &[u64; 2]) {
    let (w, scalar) = (splat(a, w), a.scalar(w));
    let run = run(A::PERIOD);
    let (mut x, mut y) = (x, y);
    let mut level = (x.len() / (WIDTH / 2)).trailing_zeros();
    // The words beyond `at` were y within the last levels.
    let mut age = 0;
    loop {
        let bottom = level == 0;
        let at = if bottom { 0 } else { x.len() / 2 };
        let (x_rest, x_range) = x.split_at_mut(at);
        let (y_rest, y_range) = y.split_at_mut(at);
        age += 1;
        // The lowest eight words left the tail as sums, once reduced late.
        let grown = age % run == if bottom { run - 1 } else { 0 };
        if grown {
            update(x_range, y_range, |x, y| a.inverse_butterfly_reduced(x, y, w));
        } else {
            let butterfly = |x, y| a.inverse_butterfly(x, y, w);
            update_mixed(x_range, y_range, butterfly, |x, y| a.inverse_butterfly_words(scalar, x, y));
        }
        if bottom {
            break;
        }
        (x, y) = (x_rest, y_rest);
        level -= 1;
    }
}

#[inline(never)]
fn inverse_last<A: PairArithmetic>(
    a: A,
    x: &mut [[u64; 2]],
    y: &mut [[u64; 2]],
    [c, c_quotient, w, w_quotient]: &LastFactors,
) {
    let (c, w) = (splat(a, &[*c, *c_quotient]), splat(a, &[*w, *w_quotient]));
    update(x, y, |x, y| a.inverse_last_butterfly(x, y, c, w));
}

/// Runs the first six inverse levels of a block, with the transposition between the third and the fourth.
fn inverse_block<A: PairArithmetic>(a: A, rows: &mut Rows, words: &TailWords, last: Option<&LastFactors>) {
    let twiddles = words.as_chunks::<2>().0;
    for (r, first) in [(2, 4), (1, 2), (0, 1)] {
        let twiddles = twiddles.iter().skip(first);
        for (rows, w) in rows.chunks_exact_mut(WIDTH >> r).zip(twiddles) {
            let (x, y) = rows.split_at_mut(rows.len() / 2);
            for (k, (x, y)) in x.iter_mut().zip(y).enumerate() {
                // Rows that would be sums of more than `run` levels are reduced; all others are below 2q.
                let reduce =
                    if A::PERIOD == 11 { r == 0 && k < 2 } else { (r == 1 && k == 0) || (r == 0 && k == 1) };
                if reduce {
                    update_rows(a, x, y, w, |x, y, w| a.inverse_butterfly_reduced(x, y, w));
                } else {
                    update_rows(a, x, y, w, |x, y, w| a.inverse_butterfly(x, y, w));
                }
            }
        }
    }
    *rows = transposed(rows);
    for r in (0..3).rev() {
        let twiddles = words.as_flattened().as_chunks().0;
        inverse_level(a, rows.as_flattened_mut(), r, twiddles, last.filter(|_| r == 0));
    }
}
