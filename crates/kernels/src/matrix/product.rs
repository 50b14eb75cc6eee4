//! The order of a product: strips of columns, blocks of rows, digits, and the reduction modulo q.

use super::layout::{PANEL, STRIP};
use crate::error::KernelError;
use crate::modulus::Modulus;

/// Digits of an integer matrix that a kernel multiplies with digits of residues.
pub(super) trait Form {
    /// Digits of a panel of residues.
    type Panel;

    /// Number of rows that are multiplied together.
    fn block_rows(&self) -> usize;
    /// Number of blocks of rows that share a reading of a panel, which may be longer than the second-level cache.
    fn blocks_together(&self) -> usize;
    /// Exponents e of the groups of sums: the product is Σ_g 2^(e_g)·sums_g. The first is 0.
    fn exponents(&self, modulus: &Modulus) -> Vec<u32>;
    /// Makes room for the digits of a panel.
    fn panel(&self, modulus: &Modulus) -> Self::Panel;
    /// Cuts at most [`PANEL`] columns, from `start` on, into digits.
    fn cut(&self, modulus: &Modulus, input: &[&[u64]], start: usize, panel: &mut Self::Panel);
    /// Computes all groups of sums of blocks of rows and a panel, of as many blocks as there is room for `length` sums of each: [`PANEL`] sums for each row, row after
    /// row, group after group, and block after block.
    fn sums(&self, first: usize, panel: &Self::Panel, sums: &mut [i64], length: usize);
}

/// Multiplies panel by panel, two of which share a reading of the matrix.
pub(super) fn multiply<F: Form>(
    form: &F,
    modulus: &Modulus,
    out: &mut [&mut [u64]],
    input: &[&[u64]],
) -> Result<(), KernelError> {
    let width = input.first().map_or(0, |row| row.len());
    let exponents = form.exponents(modulus);
    let factors: Vec<u64> = exponents.iter().map(|&e| modulus.pow(2 % modulus.value(), e.into())).collect();
    let size = form.block_rows() * PANEL;
    let length = size * factors.len();
    let together = form.blocks_together().min(out.len().div_ceil(form.block_rows()));
    let mut sums = vec![0; length * together];
    let mut words = [vec![0; size], vec![0; size]];
    let mut panels = [form.panel(modulus), form.panel(modulus)];
    for start in (0..width).step_by(STRIP) {
        let starts = (start..width.min(start + STRIP)).step_by(PANEL);
        for (panel, start) in panels.iter_mut().zip(starts.clone()) {
            form.cut(modulus, input, start, panel);
        }
        for (i, rows) in out.chunks_mut(form.block_rows() * together).enumerate() {
            for (panel, start) in panels.iter().zip(starts.clone()) {
                let count = rows.len().div_ceil(form.block_rows());
                let sums = sums.get_mut(..length * count).unwrap_or_default();
                form.sums(i * together, panel, sums, length);
                for (rows, sums) in rows.chunks_mut(form.block_rows()).zip(sums.chunks_exact(length)) {
                    reduce(modulus, &factors, sums, &mut words)?;
                    write(rows, start, &words);
                }
            }
        }
    }
    Ok(())
}

/// Puts the groups of sums together modulo q, in the first of two lists of words.
fn reduce(
    modulus: &Modulus,
    factors: &[u64],
    sums: &[i64],
    [words, group]: &mut [Vec<u64>; 2],
) -> Result<(), KernelError> {
    for (i, (sums, &factor)) in sums.chunks_exact(words.len()).zip(factors).enumerate() {
        if i == 0 {
            modulus.reduce_signed_into(words, sums)?;
        } else {
            modulus.reduce_signed_into(group, sums)?;
            modulus.add_scaled_assign(words, group, factor)?;
        }
    }
    Ok(())
}

/// Writes a block of reduced words to the rows of the result, from column `start` on.
fn write(rows: &mut [&mut [u64]], start: usize, [words, _]: &[Vec<u64>; 2]) {
    for (row, words) in rows.iter_mut().zip(words.chunks_exact(PANEL)) {
        row.iter_mut().skip(start).zip(words).for_each(|(to, &from)| *to = from);
    }
}

/// Returns the words of a row from column `start` on, at most [`PANEL`].
pub(super) fn part(row: &[u64], start: usize) -> &[u64] {
    row.get(start..row.len().min(start + PANEL)).unwrap_or_default()
}
