//! Which ways to compute products of matrices this processor has, and their functions.

use super::doubles::PORTABLE;
use super::kernel::MatrixKernel;
use super::layout::{ByteKernel, DoubleKernel};
use crate::error::KernelError;
use crate::isa::Isa;
use crate::select::active_isa;

impl MatrixKernel {
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

    pub(super) fn bytes(self) -> Option<&'static ByteKernel> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx => Some(&crate::x86_64::amx::KERNEL),
            #[cfg(target_arch = "x86_64")]
            Self::Vnni => Some(&crate::x86_64::matrix_bytes::KERNEL),
            _ => None,
        }
    }

    pub(super) fn doubles(self) -> &'static DoubleKernel {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => &crate::x86_64::matrix_doubles::AVX512,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => &crate::x86_64::matrix_doubles::AVX2,
            _ => &PORTABLE,
        }
    }
}
