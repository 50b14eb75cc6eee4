//! Products of big-integer polynomials modulo Φ_m.

use num_bigint::BigUint;
use num_traits::Zero;
use sunzi_math::{Additive, RingIndex};

use crate::RingError;

/// Integers in [0, q).
pub(super) struct Residues<'a>(pub(super) &'a BigUint);

impl Additive for Residues<'_> {
    type Element = BigUint;

    fn zero(&self) -> BigUint {
        BigUint::zero()
    }
    fn add_assign(&self, a: &mut BigUint, b: &BigUint) {
        *a += b;
        if &*a >= self.0 {
            *a -= self.0;
        }
    }
    fn sub_assign(&self, a: &mut BigUint, b: &BigUint) {
        if &*a < b {
            *a += self.0;
        }
        *a -= b;
    }
}

/// a·b mod (Φ_m, q) in the powerful basis: the product of polynomials in X, and its remainder by Φ_m.
pub(super) fn cyclotomic(
    index: &RingIndex,
    a: &[BigUint],
    b: &[BigUint],
    q: &BigUint,
) -> Result<Vec<BigUint>, RingError> {
    let residues = Residues(q);
    let [a, b] = [a, b].map(|x| index.power_from_powerful(&residues, x));
    let product = multiply(&a?, &b?, q);
    Ok(index.powerful_from_power(&residues, &index.remainder(&residues, product)))
}

/// The 2n − 1 coefficients of a·b modulo q by Kronecker substitution: X becomes a power of 256 above n·q², so one
/// product of two long integers holds all of them side by side.
fn multiply(a: &[BigUint], b: &[BigUint], q: &BigUint) -> Vec<BigUint> {
    let n = a.len();
    let bits = 2 * q.bits() + u64::from(usize::BITS - n.leading_zeros());
    let width = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    let product = (pack(a, width) * pack(b, width)).to_bytes_le();
    let mut coefficients: Vec<_> =
        product.chunks(width).map(|chunk| BigUint::from_bytes_le(chunk) % q).collect();
    coefficients.resize(2 * n - 1, BigUint::zero());
    coefficients
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
    use num_traits::One;
    use sunzi_math::cyclotomic_polynomial;

    use super::*;

    const INDICES: [u64; 44] = [
        3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 20, 21, 24, 25, 27, 28, 31, 32, 33, 35, 36, 39, 40, 45,
        48, 49, 51, 60, 63, 64, 75, 77, 81, 84, 91, 99, 105, 128, 165, 180, 385,
    ];

    /// By the definition: schoolbook product, long division by Φ_m, all in the power basis.
    fn schoolbook(a: &[BigUint], b: &[BigUint], q: &BigUint, phi: &[i64]) -> Vec<BigUint> {
        let n = a.len();
        let mut c = vec![BigUint::zero(); 2 * n - 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                c[i + j] = (&c[i + j] + x * y) % q;
            }
        }
        for i in (n..c.len()).rev() {
            let top = std::mem::take(&mut c[i]);
            for (j, &f) in phi.iter().take(n).enumerate() {
                let term = &top * f.unsigned_abs() % q;
                let at = &mut c[i - n + j];
                *at = if f > 0 { &*at + q - term } else { &*at + term } % q;
            }
        }
        c.truncate(n);
        c
    }

    #[test]
    fn agrees_with_long_division_by_the_cyclotomic_polynomial() {
        for q in [BigUint::from(2_u32), BigUint::from(257_u32), (BigUint::one() << 200_u32) - 1_u32] {
            let residues = Residues(&q);
            for m in INDICES {
                let (index, phi) = (RingIndex::new(m).unwrap(), cyclotomic_polynomial(m).unwrap());
                let top = vec![&q - 1_u32; index.degree()];
                let mut x = BigUint::from(12345_u32);
                let mut next = || {
                    x = (&x * &x + 7_u32) % (BigUint::one() << 256_u32);
                    &x % &q
                };
                let a: Vec<_> = (0..index.degree()).map(|_| next()).collect();
                for (a, b) in [(&a, &top), (&top, &top), (&a, &a)] {
                    let power = |x: &Vec<_>| index.power_from_powerful(&residues, x).unwrap();
                    let expected = schoolbook(&power(a), &power(b), &q, &phi);
                    assert_eq!(power(&cyclotomic(&index, a, b, &q).unwrap()), expected, "{m}");
                }
            }
        }
    }
}
