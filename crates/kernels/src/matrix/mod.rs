//! Products of a plain matrix of integers with matrices of residues: what a plain matrix times encrypted rows comes to.
//!
//! Both factors are cut into digits so short that sums of products of digits are exact in the accumulators of the
//! processor: bytes where it multiplies bytes into 32-bit sums (AMX, AVX-512 VNNI), and 16 by at most 26 bits in
//! doubles everywhere else. Sums of digits are put together modulo q at the end, once for each entry of the result.

pub(crate) mod bytes;
pub(crate) mod doubles;
mod kernel;
mod line;
mod product;

use std::fmt;

pub(crate) use bytes::{ByteKernel, Factors};
pub(crate) use doubles::DoubleKernel;
pub use kernel::MatrixKernel;
pub(crate) use line::Line;
pub use line::STRIP;
pub(crate) use product::PANEL;

use crate::error::{KernelError, check_count};
use crate::isa::Isa;
use crate::modulus::Modulus;
use crate::select::active_isa;

/// Largest number of columns of an integer matrix, for which sums are proved to fit.
pub const MAX_MATRIX_COLUMNS: usize = 1 << 19;

impl MatrixKernel {
    /// All ways to compute products of matrices, the fastest first.
    pub const ALL: [Self; 5] = [Self::Amx, Self::Vnni, Self::Avx512, Self::Avx2, Self::Portable];

    /// Whether this processor and its operating system have the instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Isa::Avx2.is_available(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Isa::Avx512Dq.is_available(),
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => crate::x86_64::matrix_bytes::has_vnni(),
            #[cfg(target_arch = "x86_64")]
            Self::Amx => Self::Vnni.is_available() && crate::x86_64::amx::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest available way that belongs to the [active](active_isa) instruction set: the environment variable
    /// `SUNZI_ISA` chooses among these too, and `SUNZI_AMX=0` leaves out the tiles.
    ///
    /// # Errors
    /// Every error of [`active_isa`].
    pub fn active() -> Result<Self, KernelError> {
        let isa = active_isa()?;
        let tiles = std::env::var_os("SUNZI_AMX").is_none_or(|value| value != "0");
        let fits = |kernel: &Self| {
            let belongs = match kernel {
                Self::Amx => tiles && isa == Isa::Avx512Ifma,
                Self::Vnni => isa == Isa::Avx512Ifma,
                Self::Avx512 => matches!(isa, Isa::Avx512Ifma | Isa::Avx512Dq),
                Self::Avx2 => matches!(isa, Isa::Avx512Ifma | Isa::Avx512Dq | Isa::Avx2),
                Self::Portable => true,
            };
            belongs && kernel.is_available()
        };
        Ok(Self::ALL.into_iter().find(fits).unwrap_or(Self::Portable))
    }

    fn bytes(self) -> Option<&'static ByteKernel> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx => Some(&crate::x86_64::amx::KERNEL),
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => Some(&crate::x86_64::matrix_bytes::KERNEL),
            _ => None,
        }
    }

    fn doubles(self) -> &'static DoubleKernel {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => &crate::x86_64::matrix_doubles::AVX512,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => &crate::x86_64::matrix_doubles::AVX2,
            _ => &doubles::PORTABLE,
        }
    }
}

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
    /// [`KernelError::LengthMismatch`] for another number of entries; every error of [`active_isa`].
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
        if !kernel.is_available() {
            return Err(KernelError::UnavailableMatrixKernel { kernel });
        }
        let most = MAX_MATRIX_COLUMNS;
        let count = rows.checked_mul(columns).filter(|&count| count > 0 && columns <= most);
        let count = count.ok_or(KernelError::MatrixShape { rows, columns, most })?;
        if entries.len() != count {
            return Err(KernelError::LengthMismatch { expected: count, got: entries.len() });
        }
        let digits = match kernel.bytes() {
            Some(kernel) => Digits::Bytes(bytes::Bytes::new(kernel, columns, entries)),
            None => Digits::Doubles(doubles::Doubles::new(kernel.doubles(), columns, entries)),
        };
        Ok(Self { rows, columns, kernel, digits })
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

impl fmt::Debug for IntegerMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntegerMatrix({} x {}, {})", self.rows, self.columns, self.kernel)
    }
}
