//! Names of the ways to compute products of matrices.

use std::fmt;

/// Ways to compute products of matrices. Results never depend on it.
///
/// ```
/// use sunzi_kernels::MatrixKernel;
///
/// assert!(MatrixKernel::Portable.is_available());
/// assert!(MatrixKernel::active()?.is_available());
/// # Ok::<(), sunzi_kernels::KernelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatrixKernel {
    /// Doubles in plain Rust, on whatever vectors the compiler finds.
    Portable,
    /// Doubles in 256-bit vectors with fused multiply-add.
    Avx2,
    /// Doubles in 512-bit vectors with fused multiply-add.
    Avx512,
    /// Bytes in 512-bit vectors: four products and their sum in one lane (AVX-512 VNNI).
    Vnni,
    /// Bytes in tiles of 16 rows (AMX), on Linux.
    Amx,
}

impl MatrixKernel {
    /// All ways to compute products of matrices, the fastest first.
    pub const ALL: [Self; 5] = [Self::Amx, Self::Vnni, Self::Avx512, Self::Avx2, Self::Portable];
}

impl fmt::Display for MatrixKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Vnni => "vnni",
            Self::Amx => "amx",
        })
    }
}
