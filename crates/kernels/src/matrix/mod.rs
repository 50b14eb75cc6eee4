//! Products of a matrix of integers, or of residues, with matrices of residues: what a plain or an encrypted matrix times
//! encrypted rows comes to.
//!
//! Both factors are cut into digits so short that sums of products of digits are exact in the accumulators of the
//! processor: bytes where it multiplies bytes into 32-bit sums (AMX, AVX-512 VNNI), and at most 44 bits of both factors in
//! doubles everywhere else. Sums of digits are put together modulo q at the end, once for each entry of the result.

mod bytes;
mod doubles;
mod entries;
pub(crate) mod kernel;
pub(crate) mod layout;
pub(crate) mod loops;
mod product;
mod select;

use std::fmt;

pub use kernel::MatrixKernel;
pub use layout::STRIP;

use entries::Entries;

use crate::error::{KernelError, check_count};
use crate::modulus::Modulus;

/// Largest number of columns of an integer matrix, for which sums are proved to fit.
pub const MAX_MATRIX_COLUMNS: usize = 1 << 19;

/// Digits of an integer matrix, in the order in which a kernel reads them.
#[derive(Clone)]
enum Digits {
    Bytes(bytes::Bytes),
    Doubles(doubles::Doubles),
}

/// A plain matrix of signed integers, cut into digits once for any number of products with residues.
///
/// It takes as many bytes as its entries have, rounded up to whole digits: 2 for each entry of at most 16 bits where
/// the processor multiplies bytes, 8 elsewhere.
///
/// ```
/// use sunzi_kernels::{IntegerMatrix, Modulus};
///
/// let matrix = IntegerMatrix::new(2, 3, &[1, 2, 3, -4, 5, -6])?;
/// let q = Modulus::new(97)?;
/// let (mut first, mut second) = ([0; 2], [0; 2]);
/// matrix.multiply(&q, &mut [&mut first, &mut second], &[&[1, 10], &[2, 20], &[3, 30]])?;
/// assert_eq!((first, second), ([14, 43], [97 - 12, 97 - 23]));
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone)]
pub struct IntegerMatrix {
    rows: usize,
    columns: usize,
    kernel: MatrixKernel,
    digits: Digits,
}

impl IntegerMatrix {
    /// Prepares a matrix of `rows` times `columns` entries, row after row, for the [active](MatrixKernel::active) kernel.
    ///
    /// # Errors
    /// [`KernelError::MatrixShape`] for no rows, no columns or more than [`MAX_MATRIX_COLUMNS`];
    /// [`KernelError::LengthMismatch`] for another number of entries; every error of [`active_isa`](crate::active_isa).
    pub fn new(rows: usize, columns: usize, entries: &[i64]) -> Result<Self, KernelError> {
        Self::with_kernel(rows, columns, entries, MatrixKernel::active()?)
    }

    /// Prepares a matrix for a given kernel.
    ///
    /// # Errors
    /// [`KernelError::UnavailableMatrixKernel`]; every error of [`new`](Self::new).
    pub fn with_kernel(
        rows: usize,
        columns: usize,
        entries: &[i64],
        kernel: MatrixKernel,
    ) -> Result<Self, KernelError> {
        let count = check_shape(rows, columns, kernel)?;
        if entries.len() != count {
            return Err(KernelError::LengthMismatch { expected: count, got: entries.len() });
        }
        Ok(Self::cut(&Entries::Integers { columns, entries }, kernel))
    }

    /// Prepares a matrix of residues modulo q for products modulo q, from its columns: entry (i, k) is residue i of column k,
    /// canonical. It is cut for this modulus and serves no other.
    ///
    /// Digits are chosen so that products of both factors are fewest: 36 of bytes for a modulus of 48 bits, 4 of doubles up to 43
    /// bits and 6 up to 51.
    ///
    /// ```
    /// use sunzi_kernels::{IntegerMatrix, Modulus};
    ///
    /// let q = Modulus::new(97)?;
    /// // Two rows, three columns.
    /// let matrix = IntegerMatrix::of_residues(&q, &[&[1, 93], &[2, 5], &[3, 91]])?;
    /// assert_eq!(matrix.row(1), Some(vec![-4, 5, -6]));
    /// # Ok::<(), sunzi_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// Every error of [`new`](Self::new), [`KernelError::LengthMismatch`] for columns of different lengths too.
    pub fn of_residues(modulus: &Modulus, columns: &[&[u64]]) -> Result<Self, KernelError> {
        Self::of_residues_with_kernel(modulus, columns, MatrixKernel::active()?)
    }

    /// Prepares a matrix of residues as [`of_residues`](Self::of_residues) does, for a given kernel.
    ///
    /// # Errors
    /// [`KernelError::UnavailableMatrixKernel`]; every error of [`of_residues`](Self::of_residues).
    pub fn of_residues_with_kernel(
        modulus: &Modulus,
        columns: &[&[u64]],
        kernel: MatrixKernel,
    ) -> Result<Self, KernelError> {
        let rows = columns.first().map_or(0, |column| column.len());
        check_shape(rows, columns.len(), kernel)?;
        if let Some(column) = columns.iter().find(|column| column.len() != rows) {
            return Err(KernelError::LengthMismatch { expected: rows, got: column.len() });
        }
        Ok(Self::cut(&Entries::Residues { q: modulus.value(), columns }, kernel))
    }

    fn cut(entries: &Entries<'_>, kernel: MatrixKernel) -> Self {
        let digits = match kernel.bytes() {
            Some(kernel) => Digits::Bytes(bytes::Bytes::new(kernel, entries)),
            None => Digits::Doubles(doubles::Doubles::new(kernel.doubles(), entries)),
        };
        Self { rows: entries.rows(), columns: entries.columns(), kernel, digits }
    }

    /// Number of rows of the matrix.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns of the matrix, which is that of the rows of residues it multiplies.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The kernel that computes products with this matrix.
    #[must_use]
    pub fn kernel(&self) -> MatrixKernel {
        self.kernel
    }

    /// Length of the prepared digits in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        match &self.digits {
            Digits::Bytes(bytes) => bytes.byte_len(),
            Digits::Doubles(doubles) => doubles.byte_len(),
        }
    }

    /// Entries of row i of the matrix, put together from their digits; `None` where there is no row i.
    #[must_use]
    pub fn row(&self, i: usize) -> Option<Vec<i64>> {
        let entry = |k| match &self.digits {
            Digits::Bytes(bytes) => bytes.entry(i, k),
            Digits::Doubles(doubles) => doubles.entry(i, k),
        };
        (i < self.rows).then(|| (0..self.columns).map(entry).collect())
    }

    /// Computes out_i = Σ_k m_ik·x_k mod q, column by column, for the rows x_k of a matrix of canonical residues.
    ///
    /// Takes about 12·rows·columns·width products of bytes for 16-bit entries and a 48-bit modulus.
    ///
    /// # Errors
    /// [`KernelError::CountMismatch`] unless there is an output for each row of the matrix and an input for each of its
    /// columns; [`KernelError::LengthMismatch`] unless all of them are equally long.
    pub fn multiply(
        &self,
        modulus: &Modulus,
        out: &mut [&mut [u64]],
        input: &[&[u64]],
    ) -> Result<(), KernelError> {
        check_count(self.rows, out.len())?;
        check_count(self.columns, input.len())?;
        let width = input.first().map_or(0, |row| row.len());
        let lengths = input.iter().map(|row| row.len()).chain(out.iter().map(|row| row.len()));
        if let Some(got) = lengths.into_iter().find(|&length| length != width) {
            return Err(KernelError::LengthMismatch { expected: width, got });
        }
        match &self.digits {
            Digits::Bytes(bytes) => product::multiply(bytes, modulus, out, input),
            Digits::Doubles(doubles) => product::multiply(doubles, modulus, out, input),
        }
    }
}

/// Checks that a kernel is available and takes a matrix of this shape; returns the number of its entries.
fn check_shape(rows: usize, columns: usize, kernel: MatrixKernel) -> Result<usize, KernelError> {
    if !kernel.is_available() {
        return Err(KernelError::UnavailableMatrixKernel { kernel });
    }
    let most = MAX_MATRIX_COLUMNS;
    let count = rows.checked_mul(columns).filter(|&count| count > 0 && columns <= most);
    count.ok_or(KernelError::MatrixShape { rows, columns, most })
}

impl fmt::Debug for IntegerMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntegerMatrix({} x {}, {})", self.rows, self.columns, self.kernel)
    }
}
