//! Products word by word, on scalars, since no vector of the portable table multiplies whole words.

use crate::constants::{Constants, high_product, shoup_quotient};

/// A scalar below q with its Shoup quotient.
#[derive(Clone, Copy)]
struct Scalar {
    w: u64,
    quotient: u64,
    q: u64,
}

impl Scalar {
    fn new(c: &Constants, w: u64) -> Self {
        Self { w, quotient: shoup_quotient(w, c.q, 64), q: c.q }
    }

    #[inline(always)]
    fn multiply(self, x: u64) -> u64 {
        let multiple = high_product(x, self.quotient).wrapping_mul(self.q);
        let r = x.wrapping_mul(self.w).wrapping_sub(multiple);
        r.min(r.wrapping_sub(self.q))
    }
}

/// Returns the product x·y mod q by Barrett's method on the top 64 bits of the product: the quotient is at
/// most 2 short.
#[inline(always)]
fn multiply(c: &Constants, x: u64, y: u64) -> u64 {
    // Factors are shifted instead of the double word, which is slow by a count that is not constant.
    let top = high_product(x << (64 - c.bits), y << 2);
    let quotient = high_product(top, c.word64.barrett);
    let r = x.wrapping_mul(y).wrapping_sub(quotient.wrapping_mul(c.q));
    let r = r.min(r.wrapping_sub(2 * c.q));
    r.min(r.wrapping_sub(c.q))
}

/// Computes data = data·other mod q, word by word.
pub(super) fn mul_assign(c: &Constants, data: &mut [u64], other: &[u64]) {
    for (x, y) in data.iter_mut().zip(other) {
        *x = multiply(c, *x, *y);
    }
}

/// Computes data += x·y mod q, word by word.
pub(super) fn mul_add_assign(c: &Constants, data: &mut [u64], x: &[u64], y: &[u64]) {
    for ((data, x), y) in data.iter_mut().zip(x).zip(y) {
        let sum = data.wrapping_add(multiply(c, *x, *y));
        *data = sum.min(sum.wrapping_sub(c.q));
    }
}

/// Computes data = data·scalar mod q for a scalar below q.
pub(super) fn mul_scalar_assign(c: &Constants, data: &mut [u64], scalar: u64) {
    let scalar = Scalar::new(c, scalar);
    for x in data {
        *x = scalar.multiply(*x);
    }
}

/// Computes data += scalar·other mod q, word by word.
pub(super) fn add_scaled_assign(c: &Constants, data: &mut [u64], other: &[u64], scalar: u64) {
    let scalar = Scalar::new(c, scalar);
    for (x, y) in data.iter_mut().zip(other) {
        let sum = x.wrapping_add(scalar.multiply(*y));
        *x = sum.min(sum.wrapping_sub(c.q));
    }
}

/// Computes data = scalar·(data + other) mod q, word by word.
pub(super) fn add_scale_assign(c: &Constants, data: &mut [u64], other: &[u64], scalar: u64) {
    let scalar = Scalar::new(c, scalar);
    for (x, y) in data.iter_mut().zip(other) {
        *x = scalar.multiply(x.wrapping_add(*y));
    }
}

/// Computes first[i] += scalar·last[len − 1 − i] and last[len − 1 − i] += scalar·first[i] mod q, of words below 2q.
pub(super) fn add_mirrored_assign(c: &Constants, first: &mut [u64], last: &mut [u64], scalar: u64) {
    let scalar = Scalar::new(c, scalar);
    for (x, y) in first.iter_mut().zip(last.iter_mut().rev()) {
        let sums = [x.wrapping_add(scalar.multiply(*y)), y.wrapping_add(scalar.multiply(*x))];
        [*x, *y] = sums.map(|sum| sum.min(sum.wrapping_sub(c.q)));
    }
}

/// Computes the tensor product (w·x_0·y_0, w·(x_0·y_1 + x_1·y_0), w·x_1·y_1), without w where it is `None`.
pub(super) fn tensor(
    c: &Constants,
    [c0, c1, c2]: [&mut [u64]; 3],
    [x0, x1]: [&[u64]; 2],
    [y0, y1]: [&[u64]; 2],
    scalar: Option<u64>,
) {
    let scalar = scalar.map(|scalar| Scalar::new(c, scalar));
    let outs = c0.iter_mut().zip(c1).zip(c2);
    for (((c0, c1), c2), ((x0, x1), (y0, y1))) in outs.zip(x0.iter().zip(x1).zip(y0.iter().zip(y1))) {
        let [x0, x1] = [*x0, *x1].map(|x| scalar.map_or(x, |scalar| scalar.multiply(x)));
        *c0 = multiply(c, x0, *y0);
        // 2·(2^62)^2 < 2^128
        *c1 = c.reduce_u128(u128::from(x0) * u128::from(*y1) + u128::from(x1) * u128::from(*y0));
        *c2 = multiply(c, x1, *y1);
    }
}
