//! Private items for the tests in `tests/kernels`. Nothing else may use this module: its contents change without notice.

use crate::error::KernelError;
use crate::{automorphism, isa, packing, rejection};

#[cfg(target_arch = "aarch64")]
pub use crate::aarch64::neon::Neon;
pub use crate::constants::{Constants, inverse_of_odd, shoup_quotient};
pub use crate::generic::arithmetic::{Arithmetic, Butterflies};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use crate::generic::double::{Double, ENDLESS};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use crate::generic::doubles::Doubles;
pub use crate::generic::lanes::Registers;
pub use crate::generic::lanes::{Integers, Lanes, Lanes52, WIDTH, expanded};
pub use crate::generic::word52::Word52;
pub use crate::portable::{Portable, narrow, short};
pub use crate::schedule::{CHUNK, MAX_LEVELS, Schedule, TAIL};
pub use crate::select::choose_isa;
#[cfg(target_arch = "x86_64")]
pub use crate::x86_64::{avx2::Avx2, avx512_ifma::Avx512Ifma};

/// Returns the instruction set given, or the portable one where this processor lacks it.
fn available(isa: isa::Isa) -> isa::Isa {
    if isa.is_available() { isa } else { isa::Isa::Portable }
}

/// Runs [`Automorphism::apply`](crate::Automorphism::apply) on an available instruction set.
///
/// # Errors
/// Every error of [`Automorphism::apply`](crate::Automorphism::apply).
pub fn apply_on(
    automorphism: &automorphism::Automorphism,
    isa: isa::Isa,
    out: &mut [u64],
    from: usize,
    input: &[u64],
    start: usize,
) -> Result<(), KernelError> {
    automorphism.apply_on(available(isa), out, from, input, start)
}

/// Runs [`pack`](crate::pack) on an available instruction set.
///
/// # Errors
/// Every error of [`pack`](crate::pack).
pub fn pack_on(isa: isa::Isa, out: &mut [u8], words: &[u64], bits: u32) -> Result<(), KernelError> {
    packing::pack_on(available(isa), out, words, bits)
}

/// Runs [`unpack`](crate::unpack) on an available instruction set.
///
/// # Errors
/// Every error of [`unpack`](crate::unpack).
pub fn unpack_on(isa: isa::Isa, out: &mut [u64], bytes: &[u8], bits: u32) -> Result<u64, KernelError> {
    packing::unpack_on(available(isa), out, bytes, bits)
}

/// Runs [`keep_below`](crate::keep_below) on an available instruction set.
pub fn keep_below_on(isa: isa::Isa, out: &mut [u64], bytes: &[u8], q: u64) -> usize {
    rejection::keep_below_on(available(isa), out, bytes, q)
}
