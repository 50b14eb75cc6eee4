//! Base conversion in double precision: sums of products that stay exact.
//!
//! Inputs and matrix entries are centred, |y| ≤ from/2 and |m| ≤ to/2. A sum is kept as high + low, high a
//! multiple of 2^s near 1.5·2^(s + 52): the fused sum fl(y·m + high) rounds to a multiple of 2^s again, and the rest
//! of the product is exact and at most 2^(s − 1), so that a term costs four instructions and no carry. After a
//! group of terms one quotient of the high part and one of what is left bring the sum back into
//! [−to/2, to/2], where the low part of the next group starts. [`Target::new`] chooses s and the length of groups.

use super::doubles::Doubles;
use super::lanes::WIDTH;
use super::lanes::{Registers, copy};
use crate::table::Column;

/// Largest source and target moduli of a conversion in double precision.
pub(crate) const WIDEST: u64 = 1 << 50;
/// Number of words of a row that are handled together.
const CHUNK: usize = 4 * WIDTH;
/// Number of targets that are handled together: words are loaded once for both.
const TARGETS: usize = 2;
/// Largest number of terms that are added in a group before a reduction.
const LONGEST: usize = 16;
/// Constant 2^52: adding it to a small integer shows the integer in the low bits.
const SHIFT: f64 = (1_u64 << 52) as f64;
/// Constant whose addition rounds to an integer.
const ROUND: f64 = 1.5 * SHIFT;
/// Constant whose addition rounds to a multiple of four, since quotients may have 53 bits.
const ROUND_4: f64 = 4.0 * ROUND;

/// All targets of one conversion in double precision.
pub(crate) struct Columns {
    /// Numbers 2^52 + ⌊from/2⌋ for every source, which turn a word into a centred double.
    shifts: Vec<f64>,
    /// Number of terms that are added in a group before a reduction.
    group: usize,
    targets: Vec<Target>,
    /// Centred matrix entries, one source's for [`TARGETS`] targets next to each other; the last block of
    /// targets may be short.
    matrix: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Target {
    output: usize,
    modulus: f64,
    /// Rounded inverse fl(1/modulus) of the target.
    inverse: f64,
    /// Initial value 1.5·2^(s + 52) of the high sums of the target.
    base: f64,
    /// Sum Σ ⌊from/2⌋·m of the target, which centring took away.
    start: f64,
}

impl Target {
    /// Makes a target modulus and its longest group. Write f and t for the halves of the widest source and of
    /// the target and g for the length. The high part needs g·f·t + g·2^(s − 1) ≤ 2^(s + 51); quotients g·f ≤
    /// 2^53. What is left of the high part is at most 3·to, and with the low part, t + g·2^(s − 1), it must
    /// stay a double: 2^53.
    fn new(output: usize, to: u64, widest: u64, terms: usize, start: f64) -> (Self, usize) {
        let (f, t) = (u128::from(widest / 2 + 1), u128::from(to / 2 + 1));
        let fits = |g: u128, s: u32| {
            let low = g << s >> 1;
            g * f * t + low <= 1 << (s + 51) && g * f <= 1 << 53 && 8 * t + low <= 1 << 53
        };
        let longest = terms.clamp(1, LONGEST);
        let choice = (1..=longest).rev().find_map(|g| (0..52).find(|&s| fits(g as u128, s)).map(|s| (g, s)));
        // One term of any modulus up to 2^50 fits with s = 47.
        let (group, s) = choice.unwrap_or((1, 47));
        let base = ROUND * (1_u64 << s) as f64;
        (Self { output, modulus: to as f64, inverse: 1.0 / to as f64, base, start }, group)
    }
}

/// Returns the representative of a residue nearest zero.
fn centred(residue: u64, modulus: u64) -> f64 {
    if residue > modulus / 2 { -((modulus - residue) as f64) } else { residue as f64 }
}

impl Columns {
    /// Makes the conversion from these moduli; `None` where one is above [`WIDEST`].
    pub(crate) fn new(from: &[u64], columns: &[Column]) -> Option<Self> {
        let widest = *from.iter().max()?;
        if widest > WIDEST || columns.iter().any(|column| column.to.q > WIDEST) {
            return None;
        }
        let shifts = from.iter().map(|from| SHIFT + (from / 2) as f64).collect();
        let (mut targets, mut group) = (Vec::new(), from.len());
        for column in columns {
            let to = &column.to;
            let halves = from.iter().zip(&column.matrix);
            let start = halves.fold(0, |sum, (from, m)| to.add(sum, to.mul(to.reduce(from / 2), *m)));
            let start = centred(start, to.q);
            let (target, longest) = Target::new(column.output, to.q, widest, from.len(), start);
            targets.push(target);
            group = group.min(longest);
        }
        // Groups of equal length, but for the last.
        let group = from.len().div_ceil(from.len().div_ceil(group));
        let entry =
            |column: &Column, i: usize| centred(column.matrix.get(i).copied().unwrap_or(0), column.to.q);
        let block = |block: &[Column]| -> Vec<f64> {
            (0..from.len()).flat_map(|i| block.iter().map(move |column| entry(column, i))).collect()
        };
        let matrix = columns.chunks(TARGETS).flat_map(block).collect();
        Some(Self { shifts, group, targets, matrix })
    }
}

/// Pair of registers handled together: matrix entries are loaded once for both.
type Pair<D> = [<D as Registers>::R; 2];
/// A chunk of words of every source, as doubles.
type Words = [u64; CHUNK];

/// Computes out_j = Σ_i x_i·M_ij for every column of the matrix; other outputs stay as they are.
#[inline(always)]
pub(crate) fn convert<D: Doubles>(d: D, columns: &Columns, input: &[&[u64]], out: &mut [&mut [u64]]) {
    let len = input.first().map_or(0, |row| row.len());
    let mut words = vec![[0; CHUNK]; input.len()];
    for at in (0..len).step_by(CHUNK) {
        for ((words, row), shift) in words.iter_mut().zip(input).zip(&columns.shifts) {
            match row.get(at..).and_then(<[u64]>::first_chunk) {
                Some(chunk) => centre(d, words, chunk, *shift),
                None => centre(d, words, &pad(row.get(at..).unwrap_or(&[])), *shift),
            }
        }
        let blocks = columns.matrix.chunks(TARGETS * words.len());
        for (targets, matrix) in columns.targets.chunks(TARGETS).zip(blocks) {
            match targets {
                [a, b] => convert_block(d, &[*a, *b], columns.group, matrix, &words, out, at),
                [a] => convert_block(d, &[*a], columns.group, matrix, &words, out, at),
                _ => (),
            }
        }
    }
}

/// Pads a partial chunk of words with zeros.
#[cold]
fn pad(words: &[u64]) -> Words {
    let mut chunk = [0; CHUNK];
    copy(&mut chunk, words);
    chunk
}

/// Computes the centred words x − ⌊from/2⌋ as doubles.
#[inline(always)]
fn centre<D: Doubles>(d: D, out: &mut Words, words: &Words, shift: f64) {
    let (bits, shift) = (d.splat(SHIFT.to_bits()), d.splat(shift.to_bits()));
    for (out, words) in out.chunks_exact_mut(D::WORDS).zip(words.chunks_exact(D::WORDS)) {
        d.store(out, d.sub(d.or(d.load(words), bits), shift));
    }
}

/// Computes the outputs of `J` targets, two registers at a time.
#[inline(always)]
fn convert_block<D: Doubles, const J: usize>(
    d: D,
    targets: &[Target; J],
    group: usize,
    matrix: &[f64],
    words: &[Words],
    out: &mut [&mut [u64]],
    at: usize,
) {
    let matrix = matrix.as_chunks().0;
    for part in (0..CHUNK).step_by(2 * D::WORDS) {
        let mut low = [[d.splat(0); 2]; J];
        for (low, target) in low.iter_mut().zip(targets) {
            *low = [d.splat(target.start.to_bits()); 2];
        }
        for (words, entries) in words.chunks(group).zip(matrix.chunks(group)) {
            low = add_group(d, targets, low, words, entries, part);
        }
        for (low, target) in low.into_iter().zip(targets) {
            let out = out.get_mut(target.output).and_then(|out| out.get_mut(at + part..));
            store(d, target, out.unwrap_or_default(), low);
        }
    }
}

/// Stores the canonical words of two registers of results, as many as `out` holds.
#[inline(always)]
fn store<D: Doubles>(d: D, target: &Target, out: &mut [u64], [first, second]: Pair<D>) {
    // No closure: it would be compiled without the instructions of this function.
    let words = [canonical(d, target, first), canonical(d, target, second)];
    if let Some(out) = out.get_mut(..2 * D::WORDS) {
        let (first, second) = out.split_at_mut(D::WORDS);
        d.store(first, words[0]);
        d.store(second, words[1]);
    } else {
        let mut last = [0; CHUNK];
        let (first, second) = last.split_at_mut(D::WORDS);
        d.store(first, words[0]);
        d.store(second, words[1]);
        copy(out, &last);
    }
}

/// Adds a group of terms to the low parts of sums and reduces the sums.
#[inline(always)]
fn add_group<D: Doubles, const J: usize>(
    d: D,
    targets: &[Target; J],
    mut low: [Pair<D>; J],
    words: &[Words],
    entries: &[[f64; J]],
    part: usize,
) -> [Pair<D>; J] {
    let mut high = low;
    for (high, target) in high.iter_mut().zip(targets) {
        *high = [d.splat(target.base.to_bits()); 2];
    }
    for (words, entries) in words.iter().zip(entries) {
        let words = words.get(part..).unwrap_or(&[]);
        let y = [d.load(words), d.load(words.get(D::WORDS..).unwrap_or(&[]))];
        for ((high, low), m) in high.iter_mut().zip(&mut low).zip(entries) {
            let m = d.splat(m.to_bits());
            for ((high, low), y) in high.iter_mut().zip(low).zip(y) {
                let next = d.multiply_add(y, m, *high);
                let rest = d.multiply_subtract(y, m, d.sub(next, *high));
                *low = d.add(*low, rest);
                *high = next;
            }
        }
    }
    for ((high, low), target) in high.into_iter().zip(&mut low).zip(targets) {
        *low = reduce(d, target, high, *low);
    }
    low
}

/// Reduces the sum high − base + low modulo the target, to [−to/2, to/2].
#[inline(always)]
fn reduce<D: Doubles>(d: D, target: &Target, high: Pair<D>, mut low: Pair<D>) -> Pair<D> {
    let splat = |x: f64| d.splat(x.to_bits());
    let (q, inverse, base) = (splat(target.modulus), splat(target.inverse), splat(target.base));
    let (round, round_4) = (splat(ROUND), splat(ROUND_4));
    for (low, high) in low.iter_mut().zip(high) {
        let high = d.sub(high, base);
        let c = d.sub(d.multiply_add(high, inverse, round_4), round_4);
        let rest = d.add(d.subtract_product(c, q, high), *low);
        let c = d.sub(d.multiply_add(rest, inverse, round), round);
        *low = d.subtract_product(c, q, rest);
    }
    low
}

/// Converts an integer in (−modulus, modulus) to its canonical residue.
#[inline(always)]
fn canonical<D: Doubles>(d: D, target: &Target, x: D::R) -> D::R {
    let round = d.splat(ROUND.to_bits());
    let lifted = d.add(x, d.splat((ROUND + target.modulus).to_bits()));
    d.unless_negative(d.sub_words(d.add(x, round), round), d.sub_words(lifted, round))
}
