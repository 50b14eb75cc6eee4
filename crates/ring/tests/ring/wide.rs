//! Tests of ring operations for approximate arithmetic: wide integers in, floats out, monomials, and moduli raised.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use sunzi_ring::{Ring, RingError};

use crate::common::*;

/// Runs a law over every ring of degree n, its multi-precision form and its big-integer twin.
macro_rules! for_every_ring {
    ($n:expr, $law:ident) => {
        for ring in residue_rings($n) {
            $law(&ring);
            $law(&multi_precision(&ring));
            $law(&twin(&ring));
        }
    };
}

#[test]
fn wide_integers_are_reduced() {
    fn law(ring: &Ring) {
        let ends = [0, 1, -1, i128::MAX, i128::MIN, 1 << 64, -(1 << 64), (1 << 64) - 1, 1 << 120, -(1 << 63)];
        let wide: Vec<i128> =
            (0..ring.degree()).map(|i| ends[i % ends.len()].wrapping_sub(i as i128 / 10)).collect();
        let integers: Vec<BigInt> = wide.iter().map(|&x| x.into()).collect();
        let poly = ring.from_signed_wide(&wide).unwrap();
        assert_eq!(ring.to_integers(&poly).unwrap(), centered(&integers, &int(ring.modulus())));
        assert!(matches!(ring.from_signed_wide(&wide[1..]), Err(RingError::LengthMismatch { .. })));
    }
    for_every_ring!(64, law);
    for_every_ring!(2048, law);
}

/// Whether no neighbour of a float is closer to x than the float.
fn is_nearest(x: &BigInt, float: f64) -> bool {
    let distance = |f: f64| (BigInt::from_f64(f) - (x << 1200_u32)).abs();
    let own = distance(float);
    // The slack is 2^-40 of a unit in the last place, which is at least a 2^53rd of x.
    let slack = (x.abs() << 1200_u32) >> 92_u32;
    [float.next_up(), float.next_down()].iter().all(|&f| own <= distance(f) + &slack)
}

trait FromFloat {
    /// Returns the integer f·2^1200 for a float f, exactly.
    fn from_f64(f: f64) -> BigInt;
}

impl FromFloat for BigInt {
    fn from_f64(f: f64) -> BigInt {
        let exponent = ((f.to_bits() >> 52) & 0x7FF) as i64;
        let mantissa = (f.to_bits() & ((1 << 52) - 1)) | if exponent > 0 { 1 << 52 } else { 0 };
        let magnitude = BigInt::from(mantissa) << (exponent.max(1) - 1075 + 1200) as u64;
        if f < 0.0 { -magnitude } else { magnitude }
    }
}

#[test]
fn floats_are_the_nearest_of_every_size() {
    fn law(ring: &Ring) {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        let bits = ring.modulus().bits();
        // The numbers have every length, and lie around powers of two, halves between floats and the ends of the
        // range.
        let small: Vec<BigInt> = (0..n as u64)
            .map(|i| {
                let power = BigInt::from(1) << (i * 7 % bits);
                let tie = (BigInt::from(1_u64 << 53) + 1_u32 + i) << (i % bits.saturating_sub(60).max(1));
                let x = if i % 3 == 0 { tie } else { power + (i % 5) - 2_u32 };
                center(&if i % 2 == 0 { x } else { -x }, &q)
            })
            .collect();
        for a in samples(&mut rng("floats"), n, ring.modulus()).into_iter().chain([small]) {
            let floats = ring.to_floats(&ring.from_integers(&a).unwrap()).unwrap();
            assert_eq!(floats.len(), n);
            for (x, &float) in a.iter().zip(&floats) {
                assert!(is_nearest(x, float), "{x}: {float}");
                if x.bits() <= 53 {
                    assert_eq!(Some(float), x.to_f64());
                }
            }
        }
    }
    for_every_ring!(64, law);
    let m = 4096;
    let long =
        Ring::new(m, &sunzi_math::primes_below(sunzi_math::DEFAULT_PRIME_BOUND, m, 19).unwrap()).unwrap();
    law(&long);
    law(&twin(&long));
}

#[test]
fn floats_beyond_their_range_are_infinite() {
    let m = 128;
    let moduli = sunzi_math::primes_with_bits(60, m, 20).unwrap();
    let ring = Ring::new(m, &moduli).unwrap();
    let power = |bits: u32, sign: i32| BigInt::from(sign) << bits;
    let mut a = vec![power(1190, 1); 64];
    let ends =
        [power(1190, -1), power(1022, 1), power(1022, -1), power(1025, -1), power(0, 0), power(80, -1)];
    a[..6].clone_from_slice(&ends);
    for floats in [
        ring.to_floats(&ring.from_integers(&a).unwrap()).unwrap(),
        twin(&ring).to_floats(&twin(&ring).from_integers(&a).unwrap()).unwrap(),
    ] {
        let infinity = f64::INFINITY;
        let expected =
            [-infinity, 1022_f64.exp2(), -1022_f64.exp2(), -infinity, 0.0, -80_f64.exp2(), infinity];
        assert_eq!(floats[..7], expected);
    }
}

#[test]
fn integers_join_the_constant_coefficient() {
    fn law(ring: &Ring) {
        let q = int(ring.modulus());
        for mut a in samples(&mut rng("constants"), ring.degree(), ring.modulus()) {
            for c in [0.into(), 1.into(), BigInt::from(-1), i128::MIN.into(), &q - 1, q.clone(), -&q * 5 - 7]
            {
                let mut sum = evaluated(ring, &a);
                ring.add_integer_assign(&mut sum, &c).unwrap();
                let before = a[0].clone();
                a[0] += &c;
                assert_eq!(integers(ring, sum), centered(&a, &q), "{c}");
                a[0] = before;
            }
        }
        let mut low = ring.at_level(1).unwrap().zero();
        assert_eq!(ring.add_integer_assign(&mut low, &1.into()).is_err(), ring.level() > 1);
    }
    for_every_ring!(64, law);
    for_every_ring!(1024, law);
}

#[test]
fn monomials_turn_and_negate() {
    fn law(ring: &Ring) {
        let n = ring.degree();
        for a in samples(&mut rng("monomials"), n, ring.modulus()).into_iter().skip(5) {
            for k in [0, 1, n / 2, n - 1, n, n + n / 2, 2 * n - 1, 2 * n, 7 * n / 2, 5 * n + 3] {
                let mut product = evaluated(ring, &a);
                ring.mul_monomial_assign(&mut product, k as u64).unwrap();
                let expected: Vec<BigInt> = (0..n)
                    .map(|i| {
                        let from = (i + 2 * n - k % (2 * n)) % (2 * n);
                        if from < n { a[from].clone() } else { -&a[from - n] }
                    })
                    .collect();
                assert_eq!(integers(ring, product), centered(&expected, &int(ring.modulus())), "{k}");
            }
        }
        let last = ring.at_level(1).unwrap().zero();
        if ring.level() > 1 {
            assert!(ring.mul_monomial_assign(&mut last.clone(), n as u64 / 2).is_err());
        }
    }
    for_every_ring!(64, law);
    for_every_ring!(128, law);
}

#[test]
fn raised_polynomials_are_the_same_integers() {
    fn law(ring: &Ring) {
        for level in 1..=ring.level() {
            let low = ring.at_level(level).unwrap();
            let q = int(low.modulus());
            for a in samples(&mut rng("raise"), ring.degree(), low.modulus()) {
                let raised = integers(ring, ring.mod_raise(&evaluated(&low, &a)).unwrap());
                for (x, y) in a.iter().zip(&raised) {
                    // A coefficient next to an end may be lifted to the other one.
                    let other = (y - x).abs() == q && (y.abs() * 2_u32 - &q) << 40_u32 <= q;
                    assert!(y == x || other, "{x} became {y} modulo {q}");
                }
            }
        }
    }
    for_every_ring!(64, law);
    let rings = residue_rings(64);
    assert!(rings[1].mod_raise(&rings[3].zero()).is_err());
    assert!(rings[1].at_level(2).unwrap().mod_raise(&rings[1].zero()).is_err());
}
