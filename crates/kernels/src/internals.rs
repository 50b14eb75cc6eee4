//! Private items for the tests in `tests/kernels`. Nothing else may use this module: its contents change without notice.

use crate::error::KernelError;
#[cfg(target_arch = "x86_64")]
use crate::generic::conversion52;
use crate::generic::inner_product;
#[cfg(target_arch = "x86_64")]
use crate::table::Column;
use crate::twiddles::Twiddles;
use crate::{automorphism, isa, negacyclic, packing, plan, rejection};

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
pub use crate::portable::{Portable, loose, short};
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

/// Runs the forward transform of a plan on 52-bit words of a period with the given lanes.
pub fn forward52<L: Lanes52, const PERIOD: usize>(lanes: L, plan: &plan::NttPlan, data: &mut [u64]) {
    let (n, modulus) = (plan.n(), plan.modulus());
    let twiddles = Twiddles::new(&modulus.constants, n, plan.psi(), false, Word52::<L, PERIOD>::factor);
    let arithmetic = Word52::<L, PERIOD>::new(lanes, &modulus.constants);
    negacyclic::outer(arithmetic, &twiddles, None, data);
    negacyclic::inner(arithmetic, &twiddles, 0, data, [&[]; 2]);
}

/// Runs the inverse transform of a plan on 52-bit words of a period with the given lanes, without the division by n: times n.
pub fn inverse52<L: Lanes52, const PERIOD: usize>(lanes: L, plan: &plan::NttPlan, data: &mut [u64]) {
    let (n, modulus) = (plan.n(), plan.modulus());
    let inverse = modulus.inv(plan.psi()).unwrap_or_default();
    let twiddles = Twiddles::new(&modulus.constants, n, inverse, false, Word52::<L, PERIOD>::factor);
    let last =
        [1, modulus.pow(inverse, n as u64 / 2)].map(|w| Word52::<L, PERIOD>::factor(w, modulus.value()));
    let last = [last[0][0], last[0][1], last[1][0], last[1][1]];
    negacyclic::inverse(Word52::<L, PERIOD>::new(lanes, &modulus.constants), &twiddles, &last, None, data);
}

/// Computes two inner products with second factors in bytes by an arithmetic.
pub fn packed_products<A: Arithmetic>(a: A, out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[u8]]; 2]) {
    inner_product::packed(a, out, x, y);
}

/// Converts residues to all targets together on 52-bit lanes; `None` for source moduli that these do not take.
#[cfg(target_arch = "x86_64")]
pub fn convert52<L: Lanes52>(
    lanes: L,
    from: &[u64],
    to: &[u64],
    matrix: impl Fn(usize, usize) -> u64,
    input: &[&[u64]],
    out: &mut [&mut [u64]],
) -> Option<()> {
    let column = |(output, &q): (usize, &u64)| Column {
        output,
        to: Constants::new(q),
        matrix: (0..from.len()).map(|i| matrix(i, output) % q).collect(),
    };
    let columns: Vec<Column> = to.iter().enumerate().map(column).collect();
    conversion52::convert(lanes, &conversion52::Columns::new(from, &columns)?, input, out);
    Some(())
}
