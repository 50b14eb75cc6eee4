//! Matrices cut into doubles: entries into digits of 16 bits, residues into digits of at most 26, so that sums of 1024
//! products are integers below 2^51 and exact.

use super::layout::{Cut, DoubleKernel, PANEL};
use super::loops::{cut_doubles, multiply_doubles};
use super::product::{Form, part};
use crate::modulus::Modulus;

/// Number of terms that are summed in doubles: 2^15·2^25·2^10 is 2^50.
const DEPTH: usize = 1024;
/// Number of rows that share a reading of a panel: their sums stay in the cache.
const TOGETHER: usize = 96;
/// Length in bits of a digit of an entry.
const ENTRY_BITS: u32 = 16;
/// Doubles without instructions of their own.
pub(crate) static PORTABLE: DoubleKernel =
    DoubleKernel { rows: 4, run: multiply_doubles::<4, 8, false>, cut: cut_doubles };

/// An integer matrix as doubles: blocks of rows, blocks of [`DEPTH`] terms, digits, terms, rows.
#[derive(Clone)]
pub(super) struct Doubles {
    kernel: &'static DoubleKernel,
    columns: usize,
    digits: usize,
    entries: Vec<f64>,
}

/// Digits of a panel: blocks of [`DEPTH`] terms, digits, terms, columns.
pub(super) struct Panel {
    cut: Cut,
    residues: Vec<f64>,
}

/// Splits the lowest digit off an integer; returns it, between −2^15 and 2^15, and what is left of the integer.
fn split(entry: i64) -> (i64, i64) {
    let digit = i64::from(entry as i16);
    // Both halves of (entry − digit)/2^16 apart: the difference itself may exceed a word.
    (digit, (entry >> ENTRY_BITS) + i64::from(digit < 0))
}

/// Returns the number of digits of an integer.
fn digits_of(mut entry: i64) -> usize {
    let mut digits = 1;
    while i64::from(entry as i16) != entry {
        entry = split(entry).1;
        digits += 1;
    }
    digits
}

impl Doubles {
    /// Cuts a matrix into doubles.
    pub(super) fn new(kernel: &'static DoubleKernel, columns: usize, entries: &[i64]) -> Self {
        let digits = entries.iter().map(|&entry| digits_of(entry)).max().unwrap_or(1);
        let rows = kernel.rows;
        let blocks = (entries.len() / columns.max(1)).div_ceil(rows);
        let mut doubles =
            Self { kernel, columns, digits, entries: vec![0.0; blocks * columns * digits * rows] };
        for (i, row) in entries.chunks_exact(columns.max(1)).enumerate() {
            for (k, &entry) in row.iter().enumerate() {
                let mut rest = entry;
                for digit in 0..digits {
                    let (low, high) = split(rest);
                    let at = doubles.index_of(i, k, digit);
                    doubles.entries.iter_mut().skip(at).take(1).for_each(|to| *to = low as f64);
                    rest = high;
                }
            }
        }
        doubles
    }

    /// Index of a digit of the entry of row i and column k.
    fn index_of(&self, i: usize, k: usize, digit: usize) -> usize {
        let first = k - k % DEPTH;
        let depth = (self.columns - first).min(DEPTH);
        let before = (i / self.kernel.rows * self.columns + first) * self.digits;
        (before + digit * depth + k - first) * self.kernel.rows + i % self.kernel.rows
    }

    /// The entry of row i and column k, which must exist.
    pub(super) fn entry(&self, i: usize, k: usize) -> i64 {
        let digit = |digit| self.entries.get(self.index_of(i, k, digit)).copied().unwrap_or_default() as i64;
        // Sums of digits of the largest integers exceed a word on the way; the fifth digit is beyond it.
        (0..self.digits.min(4))
            .fold(0, |sum: i64, at| sum.wrapping_add(digit(at) << (ENTRY_BITS as usize * at)))
    }

    /// Length of the digits in bytes.
    pub(super) fn byte_len(&self) -> usize {
        size_of_val(self.entries.as_slice())
    }
}

impl Form for Doubles {
    type Panel = Panel;

    fn block_rows(&self) -> usize {
        self.kernel.rows
    }

    fn blocks_together(&self) -> usize {
        TOGETHER / self.kernel.rows
    }

    fn exponents(&self, modulus: &Modulus) -> Vec<u32> {
        let cut = Cut::new(modulus.value());
        let digits = 0..self.digits as u32;
        digits.flat_map(|a| (0..cut.digits as u32).map(move |b| ENTRY_BITS * a + cut.bits * b)).collect()
    }

    fn panel(&self, modulus: &Modulus) -> Panel {
        let cut = Cut::new(modulus.value());
        Panel { residues: vec![0.0; self.columns * PANEL * cut.digits], cut }
    }

    fn cut(&self, _: &Modulus, input: &[&[u64]], start: usize, Panel { cut, residues }: &mut Panel) {
        let blocks = input.chunks(DEPTH).zip(residues.chunks_mut(DEPTH * PANEL * cut.digits));
        for (rows, residues) in blocks {
            for (digit, residues) in residues.chunks_mut(rows.len() * PANEL).enumerate() {
                for (row, residues) in rows.iter().zip(residues.chunks_exact_mut(PANEL)) {
                    let mut words = [0; PANEL];
                    words.iter_mut().zip(part(row, start)).for_each(|(to, &from)| *to = from);
                    // SAFETY: the kernel was chosen where its instructions are available.
                    #[expect(unsafe_code, reason = "a function of the kernel that was chosen")]
                    unsafe {
                        (self.kernel.cut)(&words, cut, digit as u32, residues);
                    }
                }
            }
        }
    }

    fn sums(&self, first: usize, Panel { cut, residues }: &Panel, sums: &mut [i64], length: usize) {
        let rows = self.kernel.rows;
        sums.fill(0);
        let blocks = self.entries.chunks(self.columns * self.digits * rows).skip(first);
        for (i, residues) in residues.chunks(DEPTH * PANEL * cut.digits).enumerate() {
            for (block, sums) in blocks.clone().zip(sums.chunks_exact_mut(length)) {
                let entries = block.chunks(DEPTH * self.digits * rows).nth(i).unwrap_or_default();
                let mut groups = sums.chunks_exact_mut(rows * PANEL);
                for entries in entries.chunks((entries.len() / self.digits).max(1)) {
                    for (residues, sums) in residues.chunks(residues.len() / cut.digits).zip(&mut groups) {
                        // SAFETY: the kernel was chosen where its instructions are available.
                        #[expect(unsafe_code, reason = "a function of the kernel that was chosen")]
                        unsafe {
                            (self.kernel.run)(entries, residues, sums);
                        }
                    }
                }
            }
        }
    }
}
