//! Radix decomposition, D and P of [BEHZ16, eq. (7)].

use num_bigint::{BigInt, BigUint};
use num_traits::One;

/// log2 ω: the digits of c in [−q/2, q/2) lie in [−2^31, 2^31].
pub(super) const RADIX_BITS: u32 = 32;

/// ℓ_{ω,q} = ⌈log_ω q⌉ digits.
pub(super) fn digit_count(q: &BigUint) -> usize {
    usize::try_from(q.bits().div_ceil(u64::from(RADIX_BITS))).unwrap_or(usize::MAX)
}

/// Digit i of `digits` of every centred coefficient: that of c + (ω/2)·(1 + ω + ω² + …), less ω/2.
pub(super) fn digit(coefficients: &[BigInt], i: usize, digits: usize) -> Vec<BigInt> {
    let half = BigInt::one() << (RADIX_BITS - 1);
    let offset = (0..digits).map(|i| &half << (i * RADIX_BITS as usize)).sum::<BigInt>();
    let mask = (BigInt::one() << RADIX_BITS) - 1_u32;
    let digit = |c: &BigInt| {
        let shifted = (c + &offset) >> (i * RADIX_BITS as usize);
        // The last digit keeps what the rounding of the others carries into it.
        (if i + 1 == digits { shifted } else { shifted & &mask }) - &half
    };
    coefficients.iter().map(digit).collect()
}

/// g_i = ω^i.
pub(super) fn power(i: usize) -> BigUint {
    BigUint::one() << (i * RADIX_BITS as usize)
}
