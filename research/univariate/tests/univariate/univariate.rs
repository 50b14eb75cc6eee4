//! Laws of a ring, for rings of any index m with every reduction modulo Φ_m.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use sunzi_math::{cyclotomic_polynomial, primes_with_bits};
use sunzi_ring::{Addends, Evaluation, GadgetOptions, Ring, RingError, ScalerOptions, Storage, SwitchInput};
use sunzi_univariate::{Reduction, UnivariateRing};

use crate::common::*;

const REDUCTIONS: [Reduction; 4] =
    [Reduction::Barrett, Reduction::SparseBarrett, Reduction::Montgomery, Reduction::Mixed];

/// Returns test rings of three moduli, of 30, 48 and 62 bits.
fn rings() -> Vec<Ring> {
    let mut rings = Vec::new();
    for m in [9, 12, 15, 31, 45, 105] {
        let order = UnivariateRing::root_order(m).unwrap();
        for bits in [30, 48, 62] {
            let moduli = primes_with_bits(bits, order, 3).unwrap();
            rings.extend(REDUCTIONS.map(|reduction| {
                stored(Ring::of(UnivariateRing::new(m, &moduli, reduction).unwrap()), Storage::Univariate)
            }));
        }
    }
    rings
}

/// Returns a polynomial a of degree below m, reduced modulo Φ_m.
fn reduced(a: &[BigInt], m: u64) -> Vec<BigInt> {
    let phi: Vec<BigInt> = cyclotomic_polynomial(m).unwrap().into_iter().map(BigInt::from).collect();
    let (mut rest, n) = (a.to_vec(), phi.len() - 1);
    for i in (n..rest.len()).rev() {
        let quotient = rest[i].clone();
        for (j, c) in phi.iter().enumerate() {
            rest[i - n + j] -= &quotient * c;
        }
    }
    rest.resize(n, BigInt::zero());
    rest
}

/// Returns the product a·b of polynomials modulo Φ_m.
fn product(a: &[BigInt], b: &[BigInt], m: u64) -> Vec<BigInt> {
    let mut product = vec![BigInt::zero(); a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] += x * y;
        }
    }
    reduced(&product, m)
}

/// Returns the image a(X^k) of a polynomial under an automorphism.
fn substituted(a: &[BigInt], k: u64, m: u64) -> Vec<BigInt> {
    let mut image = vec![BigInt::zero(); m as usize];
    for (i, x) in a.iter().enumerate() {
        image[i * k as usize % m as usize] += x;
    }
    reduced(&image, m)
}

/// Returns the largest growth of errors of the ring's stored polynomials.
fn growth(ring: &Ring) -> f64 {
    let ring = univariate(ring);
    if ring.reduction() == Reduction::Montgomery { ring.montgomery_factor().unwrap().growth } else { 1.0 }
}

#[test]
fn sums_and_products_are_those_of_polynomials() {
    for ring in rings() {
        let (m, q) = (ring.index(), int(ring.modulus()));
        let all = samples(&mut rng("univariate"), ring.degree(), ring.modulus());
        for (i, a) in all.iter().enumerate() {
            let coefficients = ring.from_integers(a).unwrap();
            assert_eq!(ring.to_integers(&coefficients).unwrap(), *a);
            let b = &all[(i + 1) % all.len()];
            let (x, y) = (evaluated(&ring, a), evaluated(&ring, b));
            assert_eq!(integers(&ring, x.clone()), *a);
            let ab = product(a, b, m);
            let mut xy = x.clone();
            ring.mul_assign(&mut xy, &y).unwrap();
            assert_eq!(integers(&ring, xy.clone()), centered(&ab, &q), "{ring:?}");
            // Unreduced and reduced polynomials in one sum, and products of products.
            let mut sum = x.clone();
            ring.add_assign(&mut sum, &xy).unwrap();
            ring.sub_assign(&mut sum, &y).unwrap();
            ring.mul_add_assign(&mut sum, &xy, &y).unwrap();
            ring.neg_assign(&mut sum).unwrap();
            let abb = product(&ab, b, m);
            let expected: Vec<BigInt> = (0..a.len()).map(|j| -(&a[j] + &ab[j] - &b[j] + &abb[j])).collect();
            assert_eq!(integers(&ring, sum.clone()), centered(&expected, &q), "{ring:?}");
            let mut other = y.clone();
            ring.add_assign(&mut other, &xy).unwrap();
            ring.mul_integer_assign(&mut other, &BigInt::from(-5)).unwrap();
            ring.add_integer_assign(&mut other, &BigInt::from(7)).unwrap();
            let mut expected: Vec<BigInt> = (0..a.len()).map(|j| (&b[j] + &ab[j]) * -5).collect();
            expected[0] += 7;
            assert_eq!(integers(&ring, other), centered(&expected, &q));
            let two: [&Vec<BigInt>; 2] = [a, b];
            let parts = ring.tensor([&x, &xy], [&y, &x], 3).unwrap().map(|part| integers(&ring, part));
            let times = |u: &[BigInt], v: &[BigInt]| product(u, v, m);
            let middle: Vec<BigInt> =
                times(two[0], two[0]).iter().zip(&times(&ab, two[1])).map(|(u, v)| (u + v) * 3).collect();
            let scaled = |u: Vec<BigInt>| u.into_iter().map(|c| c * 3).collect::<Vec<_>>();
            let expected = [scaled(ab.clone()), middle, scaled(times(&ab, a))];
            assert_eq!(parts, expected.map(|part| centered(&part, &q)));
        }
    }
}

#[test]
fn automorphisms_substitute_powers() {
    for ring in rings() {
        let (m, q) = (ring.index(), int(ring.modulus()));
        let all = samples(&mut rng("substitution"), ring.degree(), ring.modulus());
        for a in all.iter().skip(2) {
            for k in (1..m).filter(|k| sunzi_math::gcd(*k, m) == 1).step_by(3) {
                let expected = centered(&substituted(a, k, m), &q);
                let image = ring.automorphism(&ring.from_integers(a).unwrap(), k).unwrap();
                assert_eq!(ring.to_integers(&image).unwrap(), expected);
                let image = ring.automorphism(&evaluated(&ring, a), k).unwrap();
                assert_eq!(integers(&ring, image), expected, "{ring:?} {k}");
            }
        }
        for k in [0, 3, m, m + 1] {
            let failed =
                ring.automorphism(&ring.zero::<Evaluation>(), if k == 3 && m % 3 != 0 { m } else { k });
            assert!(matches!(failed.err(), Some(RingError::NotAnAutomorphism { .. })));
        }
    }
}

#[test]
fn moduli_are_switched_up_to_the_factor() {
    for ring in rings() {
        let q = int(ring.modulus());
        let all = samples(&mut rng("switch"), ring.degree(), ring.modulus());
        for (a, b) in all.iter().zip(all.iter().skip(1)) {
            let mut x = evaluated(&ring, a);
            let mut whole = a.clone();
            for unreduced in [false, true] {
                if unreduced {
                    ring.mul_assign(&mut x, &evaluated(&ring, b)).unwrap();
                    whole = product(a, b, ring.index());
                }
                for level in 1..=2 {
                    let lower = ring.at_level(level).unwrap();
                    let target = int(lower.modulus());
                    let switched = integers(&lower, ring.mod_switch(&x, level).unwrap());
                    let limit = growth(&ring) * (0.5 + 1e-9);
                    for (y, x) in switched.iter().zip(&centered(&whole, &q)) {
                        assert!(distance(y, x, &(&q / &target), &target) <= limit, "{ring:?}");
                    }
                    let raised = integers(&ring, ring.scale_up(&lower.zero()).unwrap());
                    assert!(raised.iter().all(Zero::is_zero));
                    assert_eq!(
                        integers(&lower, ring.restrict(&x, level).unwrap()),
                        centered(&whole, &target)
                    );
                    let mut restricted = ring.restrict(&x, level).unwrap();
                    ring.mul_restricted_assign(&mut restricted, &evaluated(&ring, b)).unwrap();
                    let expected = centered(&product(&whole, b, ring.index()), &target);
                    assert_eq!(integers(&lower, restricted), expected);
                }
            }
        }
        let own = univariate(&ring);
        let foreign =
            Ring::of(UnivariateRing::new(ring.index(), own.basis().values(), Reduction::Montgomery).unwrap());
        if own.reduction() != Reduction::Montgomery {
            // Equal words would represent another polynomial.
            let failed = ring.add_assign(&mut ring.zero::<Evaluation>(), &foreign.zero());
            assert!(matches!(failed, Err(RingError::OtherModulus { .. })));
        }
    }
}

/// Checks that keys without errors lead from c to (c_0, c_1) with c_0 + c_1·s = c·s′, exactly or up to the rounding by P.
#[test]
fn keys_carry_the_factor() {
    for ring in rings() {
        let (m, n, q) = (ring.index(), ring.degree(), int(ring.modulus()));
        let order = UnivariateRing::root_order(m).unwrap();
        let special = primes_with_bits(61, order, 2).unwrap();
        let hybrid = GadgetOptions { special_moduli: special, digits: Some(2), ..GadgetOptions::default() };
        for options in [GadgetOptions::default(), hybrid] {
            let gadget = ring.gadget(&options).unwrap();
            let key_ring = gadget.key_ring().clone();
            let small =
                |step: i64| (0..n as i64).map(|i| BigInt::from((i * step + 1) % 3 - 1)).collect::<Vec<_>>();
            let (s, source) = (small(1), small(5));
            let (secret, other) = (evaluated(&key_ring, &s), evaluated(&key_ring, &source));
            let mut halves = [Vec::new(), Vec::new()];
            for i in 0..gadget.digit_count() {
                let a = key_ring.uniform(&mut rng("key"));
                let mut b = key_ring.zero();
                key_ring.mul_add_assign(&mut b, &a, &secret).unwrap();
                key_ring.neg_assign(&mut b).unwrap();
                let [b, a] = gadget.key_part([b, a], &other, i).unwrap();
                halves[0].push(b);
                halves[1].push(a);
            }
            let key = [kept(&gadget, &halves[0]).unwrap(), kept(&gadget, &halves[1]).unwrap()];
            for level in [1, 3] {
                let (gadget, ring) = (gadget.at_level(level).unwrap(), ring.at_level(level).unwrap());
                let q = int(ring.modulus());
                for c in samples(&mut rng("switched"), n, ring.modulus()) {
                    let rest = evaluated(&ring, &small(7));
                    let [c0, c1] = gadget
                        .switch(
                            SwitchInput::Values(&evaluated(&ring, &c)),
                            Addends::Values([Some(&rest), None]),
                            [&key[0], &key[1]],
                            level,
                            1,
                        )
                        .unwrap();
                    let mut phase = c0;
                    ring.mul_add_assign(&mut phase, &c1, &evaluated(&ring, &s)).unwrap();
                    let mut expected = product(&c, &source, m);
                    expected.iter_mut().zip(small(7)).for_each(|(x, rest)| *x += rest);
                    let errors =
                        integers(&ring, phase).into_iter().zip(expected).map(|(x, y)| center(&(x - y), &q));
                    let largest = errors.map(|x| x.abs()).max().unwrap();
                    let rounded = univariate(&ring).expansion_factor() + 1.0;
                    let limit = if options.digits.is_some() { growth(&ring) * rounded } else { 0.0 };
                    assert!(largest <= BigInt::from(limit as u64), "{ring:?} {options}: {largest} {limit}");
                }
            }
        }
        for refused in [
            GadgetOptions { radix_bits: Some(12), ..GadgetOptions::default() },
            GadgetOptions { dropped_limbs: 1, ..GadgetOptions::default() },
        ] {
            assert!(matches!(ring.gadget(&refused), Err(RingError::OutOfRange { .. })));
        }
        assert!(q > BigInt::one());
    }
}

#[test]
fn products_are_scaled_and_messages_decrypted() {
    for ring in rings() {
        let (m, n, q) = (ring.index(), ring.degree(), int(ring.modulus()));
        for t in [2_u64, 257, 65_537] {
            let scaler = ring.scaler(t, &ScalerOptions::default()).unwrap();
            let wide = scaler.wide(3).unwrap();
            let (bounds, q_wide) = (*scaler.bounds(), int(wide.modulus()));
            for a in samples(&mut rng("scaled"), n, ring.modulus()) {
                let lifted = integers(&wide, scaler.lift(&evaluated(&ring, &a)).unwrap());
                assert_eq!(centered(&lifted, &q), a);
                let limit = scale_down(&q, (1.0 + bounds.overflow) / 2.0 * (1.0 + 1e-9)) + 1;
                assert!(norm(&lifted) <= limit, "{ring:?}");
                let x = scaler.lift(&evaluated(&ring, &a)).unwrap();
                let mut square = x.clone();
                wide.mul_assign(&mut square, &x).unwrap();
                let exact = centered(&product(&lifted, &lifted, m), &q_wide);
                let scaled = ring.to_integers(&scaler.scale_top(square).unwrap()).unwrap();
                for (y, x) in scaled.iter().zip(&exact) {
                    let far = distance(y, &(x * t), &q, &q);
                    assert!(far <= 0.5 + bounds.scale_error + 1e-9, "{ring:?} {t}: {far}");
                }
            }
            let message: Vec<u64> = (0..n as u64).map(|i| i * i % t).collect();
            let scaled = ring.scale_plaintext(&message, t).unwrap();
            let expected: Vec<BigInt> =
                message.iter().map(|&x| center(&round(&(&q * x), &t.into()), &q)).collect();
            assert_eq!(ring.to_integers(&scaled).unwrap(), expected);
            assert_eq!(scaler.decrypt(&scaled).unwrap(), message);
        }
    }
}
