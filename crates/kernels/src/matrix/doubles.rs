//! Matrices cut into doubles: digits of both factors have at most 44 bits together, so that sums of 1024 products are
//! integers of at most 2^52 and exact. Integers have digits of 16 bits, residues the fewest products.

use super::entries::Entries;
use super::layout::{BITS_OF_BOTH, Cut, DoubleKernel, PANEL, signed_bits};
use super::loops::{cut_doubles, multiply_doubles};
use super::product::{Form, part};
use crate::modulus::Modulus;

/// Number of terms that are summed in doubles: signed digits of 44 bits together make 2^42·2^10.
const DEPTH: usize = 1024;
/// Number of rows that share a reading of a panel: their sums stay in the cache.
const TOGETHER: usize = 96;
/// Length in bits of a digit of an integer.
const ENTRY_BITS: u32 = 16;
/// Entries of a row that are cut together.
const RUN: usize = 64;
/// Doubles without instructions of their own.
pub(crate) static PORTABLE: DoubleKernel =
    DoubleKernel { rows: 4, run: multiply_doubles::<4, 8, false>, cut: cut_doubles };

/// An integer matrix as doubles: blocks of rows, blocks of [`DEPTH`] terms, digits, terms, rows.
#[derive(Clone)]
pub(super) struct Doubles {
    kernel: &'static DoubleKernel,
    columns: usize,
    digits: usize,
    /// Length of a digit in bits.
    bits: u32,
    entries: Vec<f64>,
}

/// Digits of a panel: blocks of [`DEPTH`] terms, digits, terms, columns.
pub(super) struct Panel {
    cut: Cut,
    residues: Vec<f64>,
}

/// Splits the lowest digit off an integer; returns it, between −2^(bits−1) and 2^(bits−1), and what is left.
fn split(entry: i64, bits: u32) -> (i64, i64) {
    let digit = entry << (64 - bits) >> (64 - bits);
    // Both halves of (entry − digit)/2^bits apart: the difference itself may exceed a word.
    (digit, (entry >> bits) + i64::from(digit < 0))
}

/// Returns the number of digits of an integer.
fn digits_of(mut entry: i64) -> usize {
    let mut digits = 1;
    while i64::from(entry as i16) != entry {
        entry = split(entry, ENTRY_BITS).1;
        digits += 1;
    }
    digits
}

/// Returns the number of digits of the entries of a matrix, and their length.
fn shape_of(entries: &Entries<'_>) -> (usize, u32) {
    match entries {
        Entries::Integers { entries, .. } => {
            (entries.iter().map(|&entry| digits_of(entry)).max().unwrap_or(1), ENTRY_BITS)
        }
        Entries::Residues { q, .. } => {
            let length = signed_bits(*q);
            let shape = |digits: u32| (digits as usize, length.div_ceil(digits));
            let products = |(digits, bits): &(usize, u32)| digits * Cut::count(*q, *bits) as usize;
            // A digit of a residue keeps 8 bits at least.
            let shapes = (1..=4).map(shape).filter(|&(_, bits)| bits + 8 <= BITS_OF_BOTH);
            shapes.min_by_key(products).unwrap_or((1, length))
        }
    }
}

impl Doubles {
    /// Cuts a matrix into doubles.
    pub(super) fn new(kernel: &'static DoubleKernel, entries: &Entries<'_>) -> Self {
        let ((digits, bits), columns) = (shape_of(entries), entries.columns());
        let length = entries.rows().div_ceil(kernel.rows) * columns * digits * kernel.rows;
        let mut doubles = Self { kernel, columns, digits, bits, entries: vec![0.0; length] };
        entries.for_each_run(RUN, |i, k, run| {
            let mut rest = [0; RUN];
            rest.iter_mut().zip(run).for_each(|(rest, &entry)| *rest = entry);
            for digit in 0..digits {
                let at = doubles.index_of(i, k, digit);
                let places = doubles.entries.get_mut(at..).unwrap_or_default().iter_mut();
                for (to, rest) in places.step_by(kernel.rows).zip(rest.iter_mut().take(run.len())) {
                    let (low, high) = split(*rest, bits);
                    (*to, *rest) = (low as f64, high);
                }
            }
        });
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
        let places = (0..self.digits).map(|at| (at, self.bits * at as u32)).filter(|&(_, place)| place < 64);
        places.fold(0, |sum: i64, (at, place)| sum.wrapping_add(digit(at) << place))
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
        let cut = Cut::new(modulus.value(), self.bits);
        let digits = 0..self.digits as u32;
        digits.flat_map(|a| (0..cut.digits as u32).map(move |b| self.bits * a + cut.bits * b)).collect()
    }

    fn panel(&self, modulus: &Modulus) -> Panel {
        let cut = Cut::new(modulus.value(), self.bits);
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
