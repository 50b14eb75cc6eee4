//! Base conversion with half the multiplications, for 52-bit lanes.
//!
//! Winograd's inner product [Winograd68] takes terms in pairs:
//! y_1·M_1 + y_2·M_2 = (y_1 + M_2)(y_2 + M_1) − y_1·y_2 − M_1·M_2. The products of words serve all targets
//! and those of matrix entries are constants, so a pair costs a target one multiplication. Sums of
//! products are kept as two lanes of 52-bit halves; the subtractions are exact, with a signed carry.
//! One Montgomery step reduces each result: the matrix carries the factor 2^52.

use super::lanes::{Integers, Lanes52, WIDTH, copy};
use crate::table::Column;

/// Number of vectors that are handled together: matrix entries are loaded once for all of them.
const VECTORS: usize = 2;
const CHUNK: usize = VECTORS * WIDTH;
/// Number of chunks between the one that is read and the one that is prefetched.
const AHEAD: usize = 8;
/// Number of words of the shortest rows that are prefetched: shorter rows of several digits stay in the
/// third-level cache.
const SHORTEST_ASKED: usize = 1 << 15;
/// Number of targets that are handled together: words are loaded once for all of them.
const TARGETS: usize = 4;
/// Number of terms for which no lane overflows: half as many pairs of halves below 2^52, and the subtrahend.
const MAX_TERMS: usize = 512;

/// Bound that source moduli are below.
const NARROW: u64 = 1 << 49;
/// Bound that factors of unreduced sums are below: with a word added they still fit the multiplier.
const FACTOR: u64 = 1 << 51;

/// One target modulus and its matrix entries times 2^52.
struct Scaled {
    output: usize,
    modulus: u64,
    /// Inverse modulus^-1 mod 2^52 of the target.
    inverse: u64,
    matrix: Vec<u64>,
}

impl Scaled {
    fn new(column: &Column) -> Self {
        let to = &column.to;
        let matrix = column.matrix.iter().map(|word| to.mul(*word, to.word52.wrap.0)).collect();
        Self { output: column.output, modulus: to.q, inverse: to.word52.inverse, matrix }
    }

    /// Returns matrix entries i and i + 1 of the target, zero past the end.
    fn pair(&self, i: usize) -> [u64; 2] {
        [i, i + 1].map(|i| self.matrix.get(i).copied().unwrap_or(0))
    }
}

/// All targets of a conversion that share the products of their inputs.
#[derive(Clone)]
pub(crate) struct Columns {
    groups: Vec<Group>,
    /// Number of final halving steps: results are below 2^steps times their modulus before the last subtractions.
    steps: u32,
}

/// A group of up to [`TARGETS`] targets.
#[derive(Clone)]
struct Group {
    targets: Vec<Target>,
    /// Factors (M_1, M_2) of every target for the first pair of terms, then for the next; an odd last term
    /// stands alone as (M, 0).
    factors: Vec<[u64; 2]>,
}

#[derive(Clone, Copy)]
struct Target {
    output: usize,
    modulus: u64,
    inverse: u64,
    /// Initial values of the high and the low sum: modulus − Σ M_1·M_2 in halves.
    start: (u64, u64),
}

impl Columns {
    /// Makes columns of a conversion from 1 to [`MAX_TERMS`] inputs whose moduli are all below 2^49; `None`
    /// for others.
    pub(crate) fn new(from: &[u64], columns: &[Column]) -> Option<Self> {
        if from.iter().any(|&from| from >= NARROW) || !(1..=MAX_TERMS).contains(&from.len()) {
            return None;
        }
        // A result is below modulus·(1 + sum / 2^52).
        let sum: u64 = from.iter().sum();
        let multiple = 1 + sum.div_ceil(1 << 52);
        let columns: Vec<Scaled> = columns.iter().map(Scaled::new).collect();
        let groups = columns.chunks(TARGETS).map(Group::new).collect();
        Some(Self { groups, steps: multiple.next_power_of_two().ilog2() })
    }

    /// Makes columns for [`sum`], of factors below 2^51; `None` for others.
    pub(crate) fn unreduced(from: &[u64], columns: &[Vec<u64>]) -> Option<Self> {
        let wide = columns.iter().flatten().any(|&factor| factor >= FACTOR);
        if wide || from.iter().any(|&from| from >= NARROW) || !(1..=MAX_TERMS).contains(&from.len()) {
            return None;
        }
        let unscaled = |(j, matrix): (usize, &Vec<u64>)| Scaled {
            output: 2 * j,
            modulus: 0,
            inverse: 0,
            matrix: matrix.clone(),
        };
        let columns: Vec<Scaled> = columns.iter().enumerate().map(unscaled).collect();
        Some(Self { groups: columns.chunks(TARGETS).map(Group::new).collect(), steps: 0 })
    }
}

impl Group {
    fn new(columns: &[Scaled]) -> Self {
        let terms = columns.first().map_or(0, |column| column.matrix.len());
        let pairs = (0..terms).step_by(2);
        let factors = pairs.clone().flat_map(|i| columns.iter().map(move |column| column.pair(i))).collect();
        let target = |column: &Scaled| {
            let halves = pairs.clone().map(|i| {
                let [first, second] = column.pair(i).map(u128::from);
                (((first * second) >> 52) as u64, (first * second) as u64 & ((1 << 52) - 1))
            });
            Target {
                output: column.output,
                modulus: column.modulus,
                inverse: column.inverse,
                start: halves.fold((column.modulus, 0_u64), |sum, half| {
                    (sum.0.wrapping_sub(half.0), sum.1.wrapping_sub(half.1))
                }),
            }
        };
        Self { targets: columns.iter().map(target).collect(), factors }
    }
}

/// High and low halves of the sums of products of a group of targets.
type Sums<L> = [(<L as Integers>::V, <L as Integers>::V); VECTORS];
/// One chunk of words of one source vector.
type Words = [u64; CHUNK];

/// Computes out_j = Σ_i x_i·M_ij for every column of the matrix; other outputs stay as they are.
#[inline(always)]
pub(crate) fn convert<L: Lanes52>(l: L, columns: &Columns, input: &[&[u64]], out: &mut [&mut [u64]]) {
    convert_as::<L, true>(l, columns, input, out);
}

/// Computes out_2j + 2^64·out_(2j+1) = Σ_i x_i·M_ij, not reduced, for columns made by [`Columns::unreduced`].
#[inline(always)]
pub(crate) fn sum<L: Lanes52>(l: L, columns: &Columns, input: &[&[u64]], out: &mut [&mut [u64]]) {
    convert_as::<L, false>(l, columns, input, out);
}

#[inline(always)]
fn convert_as<L: Lanes52, const REDUCED: bool>(
    l: L,
    columns: &Columns,
    input: &[&[u64]],
    out: &mut [&mut [u64]],
) {
    let len = input.first().map_or(0, |row| row.len());
    let rows: Vec<&[Words]> = input.iter().map(|row| row.as_chunks().0).collect();
    let mut outs: Vec<&mut [Words]> = out.iter_mut().map(|out| out.as_chunks_mut().0).collect();
    for chunk in 0..len / CHUNK {
        if len >= SHORTEST_ASKED {
            ask(l, &rows, chunk + AHEAD);
        }
        convert_chunk::<L, REDUCED>(l, columns, &mut outs, &rows, chunk);
    }
    let done = len / CHUNK * CHUNK;
    if done < len {
        let rest: Vec<[Words; 1]> = input.iter().map(|row| [pad(row.get(done..).unwrap_or(&[]))]).collect();
        let rows: Vec<&[Words]> = rest.iter().map(<[Words; 1]>::as_slice).collect();
        let mut last: Vec<[Words; 1]> = out.iter().map(|out| [pad(out.get(done..).unwrap_or(&[]))]).collect();
        let mut outs: Vec<&mut [Words]> = last.iter_mut().map(<[Words; 1]>::as_mut_slice).collect();
        convert_chunk::<L, REDUCED>(l, columns, &mut outs, &rows, 0);
        for (out, [words]) in out.iter_mut().zip(&last) {
            copy(out.get_mut(done..).unwrap_or_default(), words);
        }
    }
}

/// Prefetches a chunk of every source row: the rows are more streams than the hardware prefetcher follows.
#[inline(always)]
fn ask<L: Lanes52>(l: L, rows: &[&[Words]], chunk: usize) {
    for row in rows {
        for vector in 0..VECTORS {
            l.prefetch(row.as_ptr().wrapping_add(chunk).cast::<u64>().wrapping_add(vector * WIDTH));
        }
    }
}

fn pad(words: &[u64]) -> Words {
    let mut chunk = [0; CHUNK];
    copy(&mut chunk, words);
    chunk
}

#[inline(always)]
fn convert_chunk<L: Lanes52, const REDUCED: bool>(
    l: L,
    columns: &Columns,
    outs: &mut [&mut [Words]],
    rows: &[&[Words]],
    chunk: usize,
) {
    let shared = shared_products(l, rows, chunk);
    for group in &columns.groups {
        match group.targets.len() {
            1 => convert_group::<L, REDUCED, 1>(l, group, columns.steps, outs, rows, chunk, shared),
            2 => convert_group::<L, REDUCED, 2>(l, group, columns.steps, outs, rows, chunk, shared),
            3 => convert_group::<L, REDUCED, 3>(l, group, columns.steps, outs, rows, chunk, shared),
            _ => convert_group::<L, REDUCED, TARGETS>(l, group, columns.steps, outs, rows, chunk, shared),
        }
    }
}

#[inline(always)]
fn load<L: Lanes52>(l: L, row: &[Words], chunk: usize) -> [L::V; VECTORS] {
    let words = row.get(chunk).unwrap_or(&[0; CHUNK]);
    let mut vectors = [l.splat(0); VECTORS];
    for (vector, words) in vectors.iter_mut().zip(words.as_chunks().0) {
        *vector = l.load(words);
    }
    vectors
}

/// Returns the sum Σ y_1·y_2 over the pairs of terms.
#[inline(always)]
fn shared_products<L: Lanes52>(l: L, rows: &[&[Words]], chunk: usize) -> Sums<L> {
    let mut sums = [(l.splat(0), l.splat(0)); VECTORS];
    for [first, second] in rows.as_chunks().0 {
        let pair = load(l, first, chunk).into_iter().zip(load(l, second, chunk));
        for (sum, (y1, y2)) in sums.iter_mut().zip(pair) {
            *sum = (l.multiply_add_high(sum.0, y1, y2), l.multiply_add_low(sum.1, y1, y2));
        }
    }
    sums
}

#[inline(always)]
fn convert_group<L: Lanes52, const REDUCED: bool, const J: usize>(
    l: L,
    group: &Group,
    steps: u32,
    outs: &mut [&mut [Words]],
    rows: &[&[Words]],
    chunk: usize,
    shared: Sums<L>,
) {
    let mut sums = [shared; J];
    for (sums, target) in sums.iter_mut().zip(&group.targets) {
        let start = (l.splat(target.start.0), l.splat(target.start.1));
        for sum in sums {
            *sum = (l.sub(start.0, sum.0), l.sub(start.1, sum.1));
        }
    }
    let (pairs, odd) = rows.as_chunks::<2>();
    let factors = group.factors.as_chunks::<J>().0;
    for ([first, second], factors) in pairs.iter().zip(factors) {
        let (y1, y2) = (load(l, first, chunk), load(l, second, chunk));
        for (sums, [m1, m2]) in sums.iter_mut().zip(factors) {
            let (m1, m2) = (l.splat(*m1), l.splat(*m2));
            for ((sum, y1), y2) in sums.iter_mut().zip(y1).zip(y2) {
                let (a, b) = (l.add(y1, m2), l.add(y2, m1));
                *sum = (l.multiply_add_high(sum.0, a, b), l.multiply_add_low(sum.1, a, b));
            }
        }
    }
    if let ([row], Some(factors)) = (odd, factors.last()) {
        let y = load(l, row, chunk);
        for (sums, [m, _]) in sums.iter_mut().zip(factors) {
            let m = l.splat(*m);
            for (sum, y) in sums.iter_mut().zip(y) {
                *sum = (l.multiply_add_high(sum.0, y, m), l.multiply_add_low(sum.1, y, m));
            }
        }
    }
    // Written out, since a loop over targets would push all sums through memory.
    macro_rules! finish {
        ($($j:literal)*) => { $(
            if let (Some(sums), Some(target)) = (sums.get($j), group.targets.get($j)) {
                if REDUCED {
                    finish_target(l, target, steps, sums, outs, chunk);
                } else {
                    finish_sum(l, target, sums, outs, chunk);
                }
            }
        )* };
    }
    finish!(0 1 2 3);
}

#[inline(always)]
fn finish_target<L: Lanes52>(
    l: L,
    target: &Target,
    steps: u32,
    sums: &Sums<L>,
    outs: &mut [&mut [Words]],
    chunk: usize,
) {
    let mut results = [l.splat(0); VECTORS];
    for (result, sum) in results.iter_mut().zip(sums) {
        *result = reduce(l, target, steps, *sum);
    }
    if let Some(words) = outs.get_mut(target.output).and_then(|out| out.get_mut(chunk)) {
        for (words, result) in words.as_chunks_mut().0.iter_mut().zip(results) {
            l.store(words, result);
        }
    }
}

/// Stores both words of the unreduced sum of a target.
#[inline(always)]
fn finish_sum<L: Lanes52>(l: L, target: &Target, sums: &Sums<L>, outs: &mut [&mut [Words]], chunk: usize) {
    let mut words = [[l.splat(0); VECTORS]; 2];
    let [lows, highs] = &mut words;
    for ((low, high), sum) in lows.iter_mut().zip(highs).zip(sums) {
        // In two's complement: the carry of the low half goes to the high half first.
        let above = l.add(sum.0, l.carry(sum.1));
        let rest = l.and(sum.1, l.splat((1 << 52) - 1));
        (*low, *high) = (l.add(rest, l.shift_left(above, 52)), l.shift_right(above, 12));
    }
    let own = outs.get_mut(target.output..).unwrap_or_default();
    for (out, vectors) in own.iter_mut().zip(words) {
        if let Some(words) = out.get_mut(chunk) {
            for (words, vector) in words.as_chunks_mut().0.iter_mut().zip(vectors) {
                l.store(words, vector);
            }
        }
    }
}

/// Returns the sum of a target times 2^-52, canonical.
#[inline(always)]
fn reduce<L: Lanes52>(l: L, target: &Target, steps: u32, (high, low): (L::V, L::V)) -> L::V {
    let modulus = l.splat(target.modulus);
    // Montgomery [Montgomery85]: m·modulus agrees with the low half, so only the high halves remain.
    let m = l.multiply_add_low(l.splat(0), low, l.splat(target.inverse));
    let mut x = l.sub(l.add(high, l.carry(low)), l.multiply_add_high(l.splat(0), m, modulus));
    for step in (1..steps).rev() {
        x = l.unless_negative(l.sub(x, l.shift_left(modulus, step)), x);
    }
    l.unless_negative(l.sub(x, modulus), x)
}
