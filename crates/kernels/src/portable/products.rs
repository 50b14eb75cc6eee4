//! Products word by word: scalars, since no vector of this table multiplies whole words.

use crate::constants::{Constants, high_product, shoup_quotient};

/// x·y by Barrett's method on the top 64 bits of the product: the quotient is at most 2 short.
#[inline(always)]
fn multiply(c: &Constants, x: u64, y: u64) -> u64 {
    // Shifted factors in place of a shifted double word, which is slow by a count that is not constant.
    let top = high_product(x << (64 - c.bits), y << 2);
    let quotient = high_product(top, c.word64.barrett);
    let r = x.wrapping_mul(y).wrapping_sub(quotient.wrapping_mul(c.q));
    let r = r.min(r.wrapping_sub(2 * c.q));
    r.min(r.wrapping_sub(c.q))
}

/// data = data·other
pub(super) fn mul_assign(c: &Constants, data: &mut [u64], other: &[u64]) {
    for (x, y) in data.iter_mut().zip(other) {
        *x = multiply(c, *x, *y);
    }
}

/// data += x·y
pub(super) fn mul_add_assign(c: &Constants, data: &mut [u64], x: &[u64], y: &[u64]) {
    for ((data, x), y) in data.iter_mut().zip(x).zip(y) {
        let sum = data.wrapping_add(multiply(c, *x, *y));
        *data = sum.min(sum.wrapping_sub(c.q));
    }
}

/// data = data·scalar for a scalar below q.
pub(super) fn mul_scalar_assign(c: &Constants, data: &mut [u64], scalar: u64) {
    let quotient = shoup_quotient(scalar, c.q, 64);
    for x in data {
        let multiple = high_product(*x, quotient).wrapping_mul(c.q);
        let r = x.wrapping_mul(scalar).wrapping_sub(multiple);
        *x = r.min(r.wrapping_sub(c.q));
    }
}
