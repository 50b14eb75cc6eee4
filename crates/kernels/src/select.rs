//! Selects the instruction set, once for the whole process, and its table for a modulus.

use std::sync::OnceLock;

use crate::constants::Constants;
use crate::error::KernelError;
use crate::isa::Isa;
use crate::portable;
use crate::table::Table;

/// Returns the instruction set that every new [`Modulus`](crate::Modulus) uses: the best available one, unless
/// the environment variable `SUNZI_ISA` (`portable`, `neon`, `avx2`, `avx512dq` or `avx512ifma`) says otherwise.
///
/// The variable is read once, at the first call.
///
/// # Errors
/// [`KernelError::UnknownIsa`] or [`KernelError::UnavailableIsa`] for a value that names no available instruction set.
pub fn active_isa() -> Result<Isa, KernelError> {
    static ACTIVE: OnceLock<Result<Isa, KernelError>> = OnceLock::new();
    ACTIVE.get_or_init(|| choose_isa(std::env::var_os("SUNZI_ISA"))).clone()
}

/// Returns the instruction set that a value of `SUNZI_ISA` names, or the best available one without a value.
///
/// # Errors
/// Every error of [`active_isa`].
pub fn choose_isa(value: Option<std::ffi::OsString>) -> Result<Isa, KernelError> {
    let isa = match value {
        None => Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Portable),
        Some(value) => {
            let named = Isa::ALL.into_iter().find(|isa| value.to_str() == Some(&isa.to_string()));
            named.ok_or_else(|| KernelError::UnknownIsa { value: value.to_string_lossy().into_owned() })?
        }
    };
    if isa.is_available() { Ok(isa) } else { Err(KernelError::UnavailableIsa { isa }) }
}

/// Returns the kernel table for a modulus on an available instruction set.
pub(crate) fn table(isa: Isa, q: u64) -> &'static Table {
    #[cfg(target_arch = "x86_64")]
    use crate::x86_64::{avx2, avx512_dq, avx512_ifma};
    let tables: &[&'static Table] = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Ifma if q % 2 == 1 => &avx512_ifma::TABLES,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Ifma => &[&avx512_ifma::WIDE],
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Dq => &[&avx2::DOUBLE_48, &avx2::DOUBLE_50, &avx512_dq::WIDE],
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => &avx2::TABLES,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => &crate::aarch64::neon::TABLES,
        _ => &portable::TABLES,
    };
    tables.iter().find(|table| q <= table.widest).copied().unwrap_or(&portable::PORTABLE)
}

/// Function of (constants, out, input vectors, matrix column) that computes Σ_i x_i·m_i for any words x_i below 2^62.
pub(crate) type ConvertColumn = unsafe fn(&Constants, &mut [u64], &[&[u64]], &[u64]);

/// Returns the function that converts residues to one target on an available instruction set.
pub(crate) fn convert_column(isa: Isa) -> ConvertColumn {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Ifma => crate::x86_64::avx512_ifma::convert_column,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Dq => crate::x86_64::avx512_dq::convert_column,
        _ => portable::convert_column,
    }
}
