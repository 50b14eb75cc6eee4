//! Matrices cut into bytes: entries into unsigned digits after a shift, residues into signed ones.
//!
//! With D digits the entries are shifted by h = 2^(8D−1), and h·Σ_k x_k is subtracted from every sum: so unsigned bytes
//! meet signed ones, as the instructions have it.

use super::entries::Entries;
use super::layout::{ByteKernel, Factors, Line, PANEL};
use super::product::{Form, part};
use crate::modulus::Modulus;

/// Number of terms that are summed in 32 bits: 8 pairs of digits of 4096 products below 2^15 stay below 2^30.
const DEPTH: usize = 4096;
/// Number of bytes of a row in a line.
const LINE: usize = 64;
/// Number of lines of a panel for 64 terms: one for four terms and 16 columns.
const PANEL_LINES: usize = LINE / 4 * PANEL / 16;
/// Largest number of rows that a kernel multiplies together.
const MOST_ROWS: usize = 32;
/// Number of weights 2^(8w) that share a group of sums of 64 bits.
const WEIGHTS: usize = 4;

/// An integer matrix as bytes: blocks of rows, blocks of [`DEPTH`] terms, digits, 64 terms, rows.
#[derive(Clone)]
pub(super) struct Bytes {
    kernel: &'static ByteKernel,
    columns: usize,
    digits: usize,
    lines: Vec<Line>,
}

/// Digits of a panel: blocks of [`DEPTH`] terms, digits, four terms, halves of the columns.
pub(super) struct Panel {
    lines: Vec<Line>,
    digits: usize,
    /// Minus h·Σ_k x_k of each column modulo q, where sums start.
    starts: [i64; PANEL],
}

/// Returns the number of signed bytes that hold every residue between −q/2 and q/2, and the sum of their offsets.
fn residue_digits(q: u64) -> (usize, u64) {
    let offset = |digits: usize| (u64::MAX / 255 * 128) >> (64 - 8 * digits);
    // The largest number of n bytes is 0x7F…7F, one less than their offset 0x80…80 with every byte.
    let largest = |digits: usize| (u64::MAX / 255 * 127) >> (64 - 8 * digits);
    let digits = (1..8).find(|&digits| q / 2 <= largest(digits)).unwrap_or(8);
    (digits, offset(digits))
}

impl Bytes {
    /// Cuts a matrix into bytes.
    pub(super) fn new(kernel: &'static ByteKernel, entries: &Entries<'_>) -> Self {
        let (rows, columns) = (entries.rows(), entries.columns());
        let digits = (entries.bits() as usize / 8 + 1).min(8);
        let lines_of_columns = columns.div_ceil(LINE);
        let blocks = rows.div_ceil(kernel.rows);
        let mut bytes = Self { kernel, columns, digits, lines: Vec::new() };
        bytes.lines = vec![Line([0; LINE]); blocks * lines_of_columns * digits * kernel.rows];
        let shift = 1_u64 << (8 * digits - 1);
        entries.for_each_run(LINE, |i, k, run| {
            for digit in 0..digits {
                let at = bytes.line_of(i, k / LINE, digit);
                let Some(line) = bytes.lines.get_mut(at) else { continue };
                for (byte, &entry) in line.0.iter_mut().zip(run) {
                    *byte = ((entry as u64).wrapping_add(shift) >> (8 * digit)) as u8;
                }
            }
        });
        bytes
    }

    /// Length of the digits in bytes.
    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.lines.as_slice())
    }

    /// The entry of row i and column k, which must exist.
    pub(super) fn entry(&self, i: usize, k: usize) -> i64 {
        let byte = |digit| {
            let line = self.lines.get(self.line_of(i, k / LINE, digit));
            line.and_then(|line| line.0.get(k % LINE)).copied().unwrap_or_default()
        };
        let shifted: u64 = (0..self.digits).map(|digit| u64::from(byte(digit)) << (8 * digit)).sum();
        shifted.wrapping_sub(1 << (8 * self.digits - 1)) as i64
    }

    /// Number of lines of 64 terms.
    fn lines_of_columns(&self) -> usize {
        self.columns.div_ceil(LINE)
    }

    /// Index of the line with 64 terms j of a digit of row i.
    fn line_of(&self, i: usize, j: usize, digit: usize) -> usize {
        let (block, row) = (i / self.kernel.rows, i % self.kernel.rows);
        let first = j - j % (DEPTH / LINE);
        let depth = (self.lines_of_columns() - first).min(DEPTH / LINE);
        let before = (block * self.lines_of_columns() + first) * self.digits;
        (before + digit * depth + j - first) * self.kernel.rows + row
    }
}

impl Form for Bytes {
    type Panel = Panel;

    fn block_rows(&self) -> usize {
        self.kernel.rows
    }

    fn blocks_together(&self) -> usize {
        1
    }

    fn exponents(&self, modulus: &Modulus) -> Vec<u32> {
        let weights = self.digits + residue_digits(modulus.value()).0 - 1;
        (0..weights as u32).step_by(WEIGHTS).map(|weight| 8 * weight).collect()
    }

    fn panel(&self, modulus: &Modulus) -> Panel {
        let (digits, _) = residue_digits(modulus.value());
        let lines = vec![Line([0; LINE]); self.lines_of_columns() * PANEL_LINES * digits];
        Panel { lines, digits, starts: [0; PANEL] }
    }

    fn cut(&self, modulus: &Modulus, input: &[&[u64]], start: usize, panel: &mut Panel) {
        let q = modulus.value();
        let (digits, offset) = residue_digits(q);
        let mut totals = [[0_u64; PANEL]; 2];
        let mut cut = [[Line([0; LINE]); 2]; 8];
        let block_lines = DEPTH / LINE * PANEL_LINES * digits;
        let blocks = input.chunks(DEPTH).zip(panel.lines.chunks_mut(block_lines));
        for (rows, lines) in blocks {
            let depth = lines.len() / digits;
            for (k, rows) in rows.chunks(4).enumerate() {
                let mut words = [[0; PANEL]; 4];
                for (words, row) in words.iter_mut().zip(rows) {
                    words.iter_mut().zip(part(row, start)).for_each(|(to, &from)| *to = from);
                }
                // SAFETY: the kernel was chosen where its instructions are available.
                #[expect(unsafe_code, reason = "a function of the kernel that was chosen")]
                unsafe {
                    (self.kernel.cut)(&words, q, offset, cut.get_mut(..digits).unwrap_or_default());
                }
                for (lines, cut) in lines.chunks_mut(depth).zip(&cut) {
                    lines.iter_mut().skip(2 * k).zip(cut).for_each(|(to, from)| *to = *from);
                }
                let [low, high] = &mut totals;
                for words in &words {
                    for ((low, high), word) in low.iter_mut().zip(high.iter_mut()).zip(words) {
                        *low += word & u64::from(u32::MAX);
                        *high += word >> 32;
                    }
                }
            }
        }
        let shift = modulus.pow(2 % q, 8 * self.digits as u64 - 1);
        let [low, high] = &totals;
        for ((start, &low), &high) in panel.starts.iter_mut().zip(low).zip(high) {
            let total = modulus.reduce_u128(u128::from(low) + (u128::from(high) << 32));
            *start = -(modulus.mul(shift, total) as i64);
        }
    }

    fn sums(&self, first: usize, panel: &Panel, sums: &mut [i64], length: usize) {
        let rows = self.kernel.rows;
        let blocks = self.lines.chunks(self.lines_of_columns() * self.digits * rows).skip(first);
        for (block, sums) in blocks.zip(sums.chunks_exact_mut(length)) {
            sums.fill(0);
            let first = sums.chunks_exact_mut(PANEL).take(rows);
            first.for_each(|row| row.copy_from_slice(&panel.starts));
            let ours = block.chunks(DEPTH / LINE * rows * self.digits);
            let theirs = panel.lines.chunks(DEPTH / LINE * PANEL_LINES * panel.digits);
            for (ours, theirs) in ours.zip(theirs) {
                self.add_block([ours, theirs], panel.digits, sums);
            }
        }
    }
}

impl Bytes {
    /// Adds the products of a block of terms to the groups of sums, weight by weight.
    fn add_block(&self, [ours, theirs]: [&[Line]; 2], digits: usize, sums: &mut [i64]) {
        let size = self.kernel.rows * PANEL;
        let mut short = [0; MOST_ROWS * PANEL];
        let short = short.get_mut(..size).unwrap_or_default();
        let (a, b) = (ours.len() / self.digits, theirs.len() / digits);
        for weight in 0..self.digits + digits - 1 {
            let mut pairs: [Factors<'_>; 8] = [(&[], &[]); 8];
            let meets = |digit: &usize| *digit <= weight && weight - digit < digits;
            let mut count = 0;
            for (pair, digit) in pairs.iter_mut().zip((0..self.digits).filter(meets)) {
                let theirs_at = b * (weight - digit);
                let (ours, theirs) =
                    (ours.get(a * digit..a * (digit + 1)), theirs.get(theirs_at..theirs_at + b));
                *pair = (ours.unwrap_or_default(), theirs.unwrap_or_default());
                count += 1;
            }
            let group = sums.chunks_exact_mut(size).nth(weight / WEIGHTS).unwrap_or_default();
            // SAFETY: the kernel was chosen where its instructions are available.
            #[expect(unsafe_code, reason = "functions of the kernel that was chosen")]
            unsafe {
                (self.kernel.run)(pairs.get(..count).unwrap_or_default(), short);
                (self.kernel.add)(group, short, 8 * (weight % WEIGHTS) as u32);
            }
        }
    }
}
