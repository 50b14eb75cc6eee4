//! Negacyclic products of big-integer polynomials.

use num_bigint::BigUint;

/// a·b mod (X^n + 1, q) by Kronecker substitution: X becomes a power of 256 above n·q², so one
/// product of two long integers holds all 2n − 1 coefficients side by side.
pub(super) fn negacyclic(a: &[BigUint], b: &[BigUint], q: &BigUint) -> Vec<BigUint> {
    let n = a.len();
    let bits = 2 * q.bits() + u64::from(usize::BITS - n.leading_zeros());
    let width = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    let product = (pack(a, width) * pack(b, width)).to_bytes_le();
    let mut chunks = product.chunks(width).map(BigUint::from_bytes_le);
    let low: Vec<BigUint> = (0..n).map(|_| chunks.next().unwrap_or_default()).collect();
    // X^n = −1: the upper half is subtracted.
    low.into_iter()
        .map(|low| {
            let high = chunks.next().unwrap_or_default() % q;
            (low + q - high) % q
        })
        .collect()
}

fn pack(a: &[BigUint], width: usize) -> BigUint {
    let mut bytes = Vec::with_capacity(a.len() * width);
    for coefficient in a {
        let start = bytes.len();
        bytes.extend_from_slice(&coefficient.to_bytes_le());
        bytes.resize(start + width, 0);
    }
    BigUint::from_bytes_le(&bytes)
}

#[cfg(test)]
mod tests {
    use num_traits::{One, Zero};

    use super::*;

    /// By the definition.
    fn schoolbook(a: &[BigUint], b: &[BigUint], q: &BigUint) -> Vec<BigUint> {
        let n = a.len();
        let mut c = vec![BigUint::zero(); n];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let term = x * y % q;
                let at = &mut c[(i + j) % n];
                *at = if i + j < n { &*at + term } else { &*at + q - term } % q;
            }
        }
        c
    }

    #[test]
    fn agrees_with_the_definition() {
        for q in [BigUint::from(2_u32), BigUint::from(257_u32), (BigUint::one() << 200_u32) - 1_u32] {
            for n in [2, 8, 64] {
                let top = vec![&q - 1_u32; n];
                let mut x = BigUint::from(12345_u32);
                let mut next = || {
                    x = (&x * &x + 7_u32) % (BigUint::one() << 256_u32);
                    &x % &q
                };
                let a: Vec<_> = (0..n).map(|_| next()).collect();
                let b: Vec<_> = (0..n).map(|_| next()).collect();
                let zero = vec![BigUint::zero(); n];
                for (a, b) in [(&a, &b), (&top, &top), (&a, &top), (&zero, &b)] {
                    assert_eq!(negacyclic(a, b, &q), schoolbook(a, b, &q));
                }
            }
        }
    }
}
