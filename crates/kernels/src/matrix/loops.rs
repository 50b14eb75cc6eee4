//! Loops of matrix products, written once and compiled for several instruction sets.

use super::layout::{Cut, Line, PANEL};

/// Cuts four rows of residues into signed bytes: the digits of x − q for x above q/2, which is the residue nearest to 0.
#[inline(always)]
pub(crate) fn cut_bytes(words: &[[u64; PANEL]; 4], q: u64, offset: u64, lines: &mut [[Line; 2]]) {
    let mut shifted = [[0; PANEL]; 4];
    for (shifted, words) in shifted.iter_mut().zip(words) {
        for (shifted, &word) in shifted.iter_mut().zip(words) {
            let centered = word.wrapping_sub(if word > q / 2 { q } else { 0 });
            *shifted = centered.wrapping_add(offset);
        }
    }
    let [a, b, c, d] = &shifted;
    for (digit, lines) in lines.iter_mut().enumerate() {
        let byte = |word: u64| (word >> (8 * digit)) as u32 & 0xFF;
        let mut fours = [0_u32; PANEL];
        for ((((four, &a), &b), &c), &d) in fours.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *four = (byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24) ^ 0x8080_8080;
        }
        for (line, fours) in lines.iter_mut().zip(fours.chunks_exact(16)) {
            for (bytes, four) in line.0.chunks_exact_mut(4).zip(fours) {
                bytes.copy_from_slice(&four.to_le_bytes());
            }
        }
    }
}

/// Adds sums·2^shift to wide sums.
#[inline(always)]
pub(crate) fn add(wide: &mut [i64], sums: &[i32], shift: u32) {
    for (wide, &sum) in wide.iter_mut().zip(sums) {
        *wide += i64::from(sum) << shift;
    }
}

/// Cuts one digit out of residues, as a signed number.
#[inline(always)]
pub(crate) fn cut_doubles(words: &[u64; PANEL], cut: &Cut, digit: u32, out: &mut [f64]) {
    let (mask, half) = ((1_u64 << cut.bits) - 1, 1_i64 << (cut.bits - 1));
    for (out, &word) in out.iter_mut().zip(words) {
        let centered = word.wrapping_sub(if word > cut.q / 2 { cut.q } else { 0 });
        let piece = centered.wrapping_add(cut.offset) >> (cut.bits * digit) & mask;
        *out = (piece as i64 - half) as i32 as f64;
    }
}

/// Adds the products of a block of `R` rows with a panel to sums, `C` columns at a time. Sums of products are exact,
/// whether products are rounded before they are added or not.
#[inline(always)]
pub(crate) fn multiply_doubles<const R: usize, const C: usize, const FUSED: bool>(
    entries: &[f64],
    residues: &[f64],
    sums: &mut [i64],
) {
    for start in (0..PANEL).step_by(C) {
        let mut tile = [[0.0; C]; R];
        for (entries, residues) in entries.chunks_exact(R).zip(residues.chunks_exact(PANEL)) {
            let Some(residues) = residues.get(start..start + C) else { continue };
            for (row, &entry) in tile.iter_mut().zip(entries) {
                for (sum, &residue) in row.iter_mut().zip(residues) {
                    *sum = if FUSED { f64::mul_add(entry, residue, *sum) } else { *sum + entry * residue };
                }
            }
        }
        for (sums, row) in sums.chunks_exact_mut(PANEL).zip(&tile) {
            sums.iter_mut().skip(start).zip(row).for_each(|(to, &sum)| *to += sum as i64);
        }
    }
}
