//! Polynomials modulo a power of two against the definitions.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};
use sunzi_big::{Binary, BinaryProducts};

use crate::common::*;

const N: usize = 64;

/// Returns test polynomials modulo 2^bits: both ends of the range, and random ones.
fn inputs(bits: u64) -> Vec<Vec<BigInt>> {
    let half = BigInt::one() << (bits - 1);
    let mut rng = rng("binary");
    let random = |_| random_poly(&mut rng, N, (&half * 2_u32).magnitude());
    let mut all: Vec<Vec<BigInt>> = (0..2).map(random).collect();
    all.push(vec![-&half; N]);
    all.push((0..N).map(|i| if i % 3 == 0 { &half - 1 } else { BigInt::from(i) - &half }).collect());
    all.into_iter().map(|a| a.iter().map(|x| centred_bits(x, bits)).collect()).collect()
}

/// Returns an integer modulo 2^bits in the range around zero.
fn centred_bits(x: &BigInt, bits: u64) -> BigInt {
    let half = BigInt::one() << (bits - 1);
    (x + &half).mod_floor(&(&half * 2_u32)) - half
}

fn product(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let mut result = vec![BigInt::zero(); N];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let term = x * y;
            if i + j < N { result[i + j] += term } else { result[i + j - N] -= term }
        }
    }
    result
}

#[test]
fn products_and_sums_of_products_are_exact() {
    for bits in [1_u64, 2, 59, 60, 61, 120, 121, 300, 3700] {
        let products = BinaryProducts::new(2 * N as u64, bits, 2 * bits + 6).unwrap();
        let all = inputs(bits);
        let values: Vec<_> =
            all.iter().map(|a| products.values(&Binary::from_integers(a, bits)).unwrap()).collect();
        for (a, x) in all.iter().zip(&values) {
            for (b, y) in all.iter().zip(&values) {
                let mut sum = x.clone();
                products.multiply(&mut sum, y).unwrap();
                let mut square = y.clone();
                products.multiply(&mut square, y).unwrap();
                products.add(&mut sum, &square).unwrap();
                for to in [1, bits, bits + 1, 2 * bits] {
                    let got = products.integers(sum.clone(), to).unwrap().to_integers();
                    let exact = product(a, b).into_iter().zip(product(b, b));
                    let exact: Vec<BigInt> = exact.map(|(x, y)| centred_bits(&(x + y), to)).collect();
                    assert_eq!(got, exact, "{bits} bits to {to}");
                }
            }
        }
    }
}

#[test]
fn sums_constants_shifts_and_automorphisms_are_exact() {
    for bits in [2_u64, 60, 61, 119, 240] {
        for a in inputs(bits) {
            let x = Binary::from_integers(&a, bits);
            assert_eq!(x.to_integers(), a);
            let reduced = |exact: Vec<BigInt>, bits| -> Vec<BigInt> {
                exact.iter().map(|x| centred_bits(x, bits)).collect()
            };
            let double = a.iter().map(|x| x * 2_u32).collect();
            assert_eq!(x.add(&x).unwrap().to_integers(), reduced(double, bits));
            let negated = a.iter().map(|x| -x).collect();
            assert_eq!(x.negated().to_integers(), reduced(negated, bits));
            let constant = (1_u64 << 60) - 1;
            let times = a.iter().map(|x| x * constant).collect();
            assert_eq!(x.times(constant).to_integers(), reduced(times, bits));
            for count in [0, 1, 59, 60, 61, 100].into_iter().filter(|count| *count < bits) {
                let shifted = x.shift_right(count);
                let half = (BigInt::one() << count) / 2_u32;
                let exact = a.iter().map(|x| (x + &half).div_floor(&(BigInt::one() << count))).collect();
                assert_eq!(shifted.bits(), bits - count);
                assert_eq!(shifted.to_integers(), reduced(exact, bits - count), "{bits} bits by {count}");
            }
            let mut image = vec![BigInt::zero(); N];
            for (i, c) in a.iter().enumerate() {
                let at = 5 * i % (2 * N);
                image[at % N] = if at < N { c.clone() } else { -c };
            }
            assert_eq!(x.automorphism(5).to_integers(), reduced(image, bits));
        }
    }
}

#[test]
fn uniform_polynomials_fill_their_range_and_others_are_refused() {
    let a = Binary::uniform(N, 61, &mut rng("binary"));
    let largest = a.to_integers().into_iter().max().unwrap();
    assert!(largest < BigInt::one() << 60 && largest > BigInt::one() << 57);
    let products = BinaryProducts::new(2 * N as u64, 61, 130).unwrap();
    assert!(products.values(&Binary::uniform(N, 60, &mut rng("binary"))).is_err());
    assert!(products.values(&Binary::uniform(N / 2, 61, &mut rng("binary"))).is_err());
    assert!(a.add(&Binary::uniform(N, 60, &mut rng("binary"))).is_err());
    assert!(BinaryProducts::new(3 * N as u64, 61, 130).is_err());
    let values = products.values(&a).unwrap();
    assert!(products.integers(values, 1000).is_err());
}
