//! Operands of kernels of matrix products: lines of bytes and panels of columns; and the functions of a kernel.

/// Number of columns of residues that are multiplied together; strips of a multiple of this width waste nothing.
pub const STRIP: usize = 64;
/// Number of columns of residues that are cut into digits together: a panel.
pub(crate) const PANEL: usize = 32;

/// Largest length in bits of the digits of both factors together, in doubles.
pub(super) const BITS_OF_BOTH: u32 = 44;
/// Largest length in bits of a digit of a residue, which is a signed word of 32 bits on its way to a double.
const MOST_BITS: u32 = 31;

/// A cache line of bytes, aligned to it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u8; 64]);

/// Lines of both factors of a pair of digits: of a block of rows, and of a panel.
pub(crate) type Factors<'a> = (&'a [Line], &'a [Line]);

/// Function of (four rows of residues, modulus, sum of the offsets, lines of each digit) that cuts residues.
type CutBytes = unsafe fn(&[[u64; PANEL]; 4], u64, u64, &mut [[Line; 2]]);

/// Functions that multiply bytes.
///
/// # Safety
/// They may be called only where the instructions of their way are available.
pub(crate) struct ByteKernel {
    /// Number of rows that are multiplied together.
    pub(crate) rows: usize,
    /// Function of (pairs of factors, sums) that computes the sums of all products of all pairs. Lines of a block of rows
    /// hold 64 terms of a row, row after row; lines of a panel four terms of 16 columns, column after column.
    pub(crate) run: unsafe fn(&[Factors<'_>], &mut [i32]),
    /// Function of (wide sums, sums, shift) that adds sums·2^shift.
    pub(crate) add: unsafe fn(&mut [i64], &[i32], u32),
    pub(crate) cut: CutBytes,
}

/// Functions that multiply doubles.
///
/// # Safety
/// They may be called only where the instructions of their way are available.
pub(crate) struct DoubleKernel {
    /// Number of rows that are multiplied together.
    pub(crate) rows: usize,
    /// Function of (entries, residues, sums) that adds the products of a block of rows and a panel to sums: entries one
    /// of each row, term after term; residues [`PANEL`] for each term.
    pub(crate) run: unsafe fn(&[f64], &[f64], &mut [i64]),
    /// Function of (words, modulus, offset, shift and mask, digits) that cuts one digit out of residues.
    pub(crate) cut: unsafe fn(&[u64; PANEL], &Cut, u32, &mut [f64]),
}

/// How residues are cut into doubles.
pub(crate) struct Cut {
    pub(super) q: u64,
    pub(super) digits: usize,
    pub(super) bits: u32,
    pub(super) offset: u64,
}

impl Cut {
    /// Number of digits of a residue for entries of a matrix with digits of this length.
    pub(super) fn count(q: u64, entry_bits: u32) -> u32 {
        signed_bits(q).div_ceil(BITS_OF_BOTH.saturating_sub(entry_bits).clamp(1, MOST_BITS))
    }

    /// Cuts residues for entries of a matrix with digits of this length.
    pub(super) fn new(q: u64, entry_bits: u32) -> Self {
        let (length, digits) = (signed_bits(q), Self::count(q, entry_bits));
        let bits = length.div_ceil(digits);
        let offset = (0..digits).map(|digit| 1 << (bits * (digit + 1) - 1)).sum();
        Self { q, digits: digits as usize, bits, offset }
    }
}

/// Length in bits of the digits of signed residues modulo q together, one bit beyond that of q.
pub(super) fn signed_bits(q: u64) -> u32 {
    65 - q.leading_zeros()
}
