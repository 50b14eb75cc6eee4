//! Products of the big-integer ring, the oracle of all others, against long division by Φ_m.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Zero};
use sunzi_big::BigRing;
use sunzi_math::{Integers, cyclotomic_polynomial};
use sunzi_ring::Storage;

use crate::common::*;

const INDICES: [u64; 44] = [
    3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 20, 21, 24, 25, 27, 28, 31, 32, 33, 35, 36, 39, 40, 45, 48,
    49, 51, 60, 63, 64, 75, 77, 81, 84, 91, 99, 105, 128, 165, 180, 385,
];

/// Multiplies big-integer polynomials by the definition: schoolbook product, long division by Φ_m, all in the
/// power basis.
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
        for m in INDICES {
            let (ring, phi) =
                (stored(BigRing::new(m, &q).unwrap(), Storage::Big), cyclotomic_polynomial(m).unwrap());
            let top = vec![int(&q) - 1_u32; ring.degree()];
            let mut x = BigUint::from(12345_u32);
            let mut next = || {
                x = (&x * &x + 7_u32) % (BigUint::one() << 256_u32);
                int(&(&x % &q))
            };
            let a: Vec<_> = (0..ring.degree()).map(|_| next()).collect();
            for (a, b) in [(&a, &top), (&top, &top), (&a, &a)] {
                let power = |x: &[BigInt]| -> Vec<BigUint> {
                    let power = ring.ring_index().power_from_powerful(&Integers::new(), x).unwrap();
                    power.iter().map(|c| c.mod_floor(&int(&q)).to_biguint().unwrap()).collect()
                };
                let expected = schoolbook(&power(a), &power(b), &q, &phi);
                let mut c = evaluated(&ring, a);
                ring.mul_assign(&mut c, &evaluated(&ring, b)).unwrap();
                assert_eq!(power(&integers(&ring, c)), expected, "{m}");
            }
        }
    }
}
