//! Transforms modulo primes below 2^30 level by level, two words at a time.
//!
//! A group of eight streams, as larger registers hold it, would leave the sixteen registers of x86-64; one level
//! is a loop of short independent chains. Blocks that fit the first-level cache still run all their levels at once.

use super::pair::Pair;
use super::short::{Scalar, Short, Twiddle};
use crate::constants::Constants;
use crate::generic::lanes::WIDTH;
use crate::schedule::{Pass, TAIL, TAIL_TWIDDLES};
use crate::table::{Elsewhere, LastFactors, Negacyclic};

/// Loads one constant and its quotient for both words of pairs.
#[inline(always)]
fn splat([w, quotient]: &[u64; 2]) -> Twiddle {
    Twiddle::new(Pair::new([*w; 2]), Pair::new([*quotient; 2]))
}

/// Words of a tail block, by its rows.
type Rows = [[u64; WIDTH]; WIDTH];
/// Twiddle words of a tail block: pairs of words, then pairs of rows.
type TailWords = [[u64; WIDTH]; TAIL_TWIDDLES / WIDTH];

/// The functions of the parts of a transform.
pub(super) const NEGACYCLIC: Negacyclic =
    Negacyclic { enter, forward_pass, forward_tail, inverse_pass, inverse_tail };

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
fn forward_pass(c: &Constants, pass: Pass, input: Option<Elsewhere<'_>>, data: &mut [u64], words: &[u64]) {
    let a = Short::new(c);
    if let Some(input) = input {
        input.write_to(data);
    }
    for (block, words) in data.chunks_exact_mut(pass.block).zip(words.chunks_exact(pass.twiddles())) {
        let mut twiddles = words.as_chunks::<2>().0.iter();
        for r in 0..pass.levels {
            halves(block, pass.block >> r, |x, y| {
                if let Some(w) = twiddles.next() {
                    forward_level(a, x, y, w);
                }
            });
        }
    }
}

#[inline(never)]
fn forward_level(a: Short, x: &mut [[u64; 2]], y: &mut [[u64; 2]], w: &[u64; 2]) {
    let (w, scalar) = (splat(w), Scalar::new(w));
    update_mixed(x, y, |x, y| a.butterfly(x, y, w), |x, y| a.butterfly_words(scalar, x, y));
}

/// Runs the last six forward levels of every block, to canonical evaluations. Prefetches nothing.
fn forward_tail(c: &Constants, data: &mut [u64], words: &[u64], _: [&[u8]; 2]) {
    let a = Short::new(c);
    for (block, words) in blocks(data, words) {
        forward_block(a, block, words);
    }
}

/// Runs the last six forward levels of a block, with the transposition between the third and the fourth.
fn forward_block(a: Short, rows: &mut Rows, words: &TailWords) {
    let mut twiddles = words.as_flattened().as_chunks::<2>().0.iter();
    for r in 0..3 {
        halves(rows.as_flattened_mut(), TAIL >> r, |x, y| {
            if let Some(w) = twiddles.next() {
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
                update_rows(x, y, w, |x, y, w| a.butterfly(x, y, w));
            }
        }
    }
    for ([x, y], w) in turned.as_chunks_mut::<2>().0.iter_mut().zip(twiddles.iter().skip(4)) {
        update_rows(x, y, w, |x, y, w| a.last_butterfly(x, y, w));
    }
    *rows = turned;
}

/// Replaces pairs of words of two rows, each with its own twiddle.
#[inline(always)]
fn update_rows(
    x: &mut [u64; WIDTH],
    y: &mut [u64; WIDTH],
    [w, f]: &[[u64; WIDTH]; 2],
    butterfly: impl Fn(Pair, Pair, Twiddle) -> (Pair, Pair),
) {
    let pairs = x.as_chunks_mut().0.iter_mut().zip(y.as_chunks_mut().0);
    let factors = w.as_chunks().0.iter().zip(f.as_chunks().0);
    for ((x, y), (w, f)) in pairs.zip(factors) {
        let (p, q) = butterfly(Pair::load(x), Pair::load(y), Twiddle::new(Pair::load(w), Pair::load(f)));
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
fn inverse_tail(c: &Constants, data: &mut [u64], words: &[u64], last: &LastFactors) {
    let a = Short::new(c);
    let last = (data.len() == TAIL).then_some(last);
    for (block, words) in blocks(data, words) {
        inverse_block(a, block, words, last);
    }
}

/// Runs the inverse levels of a pass over all blocks in `data`, with the last level of the transform where
/// its factors are given.
fn inverse_pass(c: &Constants, pass: Pass, data: &mut [u64], words: &[u64], last: Option<&LastFactors>) {
    let a = Short::new(c);
    for (block, words) in data.chunks_exact_mut(pass.block).zip(words.chunks_exact(pass.twiddles())) {
        for r in (0..pass.levels).rev() {
            inverse_level(a, block, r, words.as_chunks().0, last.filter(|_| r == 0));
        }
    }
}

/// Runs the inverse level that is `r` below the first of a block.
#[inline(always)]
fn inverse_level(a: Short, block: &mut [u64], r: usize, twiddles: &[[u64; 2]], last: Option<&LastFactors>) {
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

/// Runs one inverse level on the halves of a block.
#[inline(never)]
fn inverse_halves(a: Short, x: &mut [[u64; 2]], y: &mut [[u64; 2]], w: &[u64; 2]) {
    let (w, scalar) = (splat(w), Scalar::new(w));
    let butterfly = |x, y| a.inverse_butterfly(x, y, w);
    update_mixed(x, y, butterfly, |x, y| a.inverse_butterfly_words(scalar, x, y));
}

#[inline(never)]
fn inverse_last(
    a: Short,
    x: &mut [[u64; 2]],
    y: &mut [[u64; 2]],
    [c, c_quotient, w, w_quotient]: &LastFactors,
) {
    let (c, w) = (splat(&[*c, *c_quotient]), splat(&[*w, *w_quotient]));
    update(x, y, |x, y| a.inverse_last_butterfly(x, y, c, w));
}

/// Runs the first six inverse levels of a block, with the transposition between the third and the fourth.
fn inverse_block(a: Short, rows: &mut Rows, words: &TailWords, last: Option<&LastFactors>) {
    let twiddles = words.as_chunks::<2>().0;
    for (r, first) in [(2, 4), (1, 2), (0, 1)] {
        let twiddles = twiddles.iter().skip(first);
        for (rows, w) in rows.chunks_exact_mut(WIDTH >> r).zip(twiddles) {
            let (x, y) = rows.split_at_mut(rows.len() / 2);
            for (x, y) in x.iter_mut().zip(y) {
                update_rows(x, y, w, |x, y, w| a.inverse_butterfly(x, y, w));
            }
        }
    }
    *rows = transposed(rows);
    for r in (0..3).rev() {
        let twiddles = words.as_flattened().as_chunks().0;
        inverse_level(a, rows.as_flattened_mut(), r, twiddles, last.filter(|_| r == 0));
    }
}
