//! Radix decomposition, D and P of [BEHZ16, eq. (7)] with unsigned digits.

use num_bigint::BigUint;
use num_traits::One;

/// log2 ω: the digits of c in [0, q) lie in [0, 2^32).
pub(super) const RADIX_BITS: u32 = 32;

/// ℓ_{ω,q} = ⌈log_ω q⌉ digits.
pub(super) fn digit_count(q: &BigUint) -> usize {
    usize::try_from(q.bits().div_ceil(u64::from(RADIX_BITS))).unwrap_or(usize::MAX)
}

/// Digit i of every coefficient.
pub(super) fn digit(coefficients: &[BigUint], i: usize) -> Vec<BigUint> {
    let mask = (BigUint::one() << RADIX_BITS) - 1_u32;
    coefficients.iter().map(|c| (c >> (i * RADIX_BITS as usize)) & &mask).collect()
}

/// g_i = ω^i.
pub(super) fn power(i: usize) -> BigUint {
    BigUint::one() << (i * RADIX_BITS as usize)
}
