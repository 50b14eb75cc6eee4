//! Laws that every ring must satisfy, run over residues and over big integers.

use num_bigint::BigInt;
use num_traits::Zero;
use rand_core::Rng;
use sunzi_math::Integers;
use sunzi_ring::sampling::SeededRng;
use sunzi_ring::{Coefficient, Domain, Evaluation, GadgetOptions, Poly, Ring, RingError, ScalerOptions};

use crate::common::*;

/// Runs a law over every ring of degree n, its multi-precision form and its big-integer twin.
macro_rules! for_every_ring {
    ($n:expr, $law:ident) => {
        for ring in residue_rings($n).into_iter().chain(general_rings()) {
            $law(&ring);
            $law(&multi_precision(&ring));
            $law(&twin(&ring));
        }
    };
}

#[test]
fn integers_round_trip() {
    fn law(ring: &Ring) {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        for a in samples(&mut rng("round trip"), n, ring.modulus()) {
            let poly = ring.from_integers(&a).unwrap();
            assert_eq!(ring.to_integers(&poly).unwrap(), a);
            assert_eq!(integers(ring, ring.to_evaluation(poly).unwrap()), a);
            let shifted: Vec<BigInt> = a.iter().enumerate().map(|(i, x)| x + &q * (i as i64 - 3)).collect();
            assert_eq!(ring.to_integers(&ring.from_integers(&shifted).unwrap()).unwrap(), a);
        }
        let ends = [0, 1, -1, i64::MAX, i64::MIN, 1 << 40, -(1 << 62)];
        let signed: Vec<i64> = (0..n).map(|i| ends[i % ends.len()]).collect();
        let expected: Vec<BigInt> = signed.iter().map(|&x| center(&x.into(), &q)).collect();
        assert_eq!(ring.to_integers(&ring.from_signed(&signed).unwrap()).unwrap(), expected);
        assert_eq!(ring.to_integers(&ring.zero()).unwrap(), vec![BigInt::zero(); n]);
    }
    for_every_ring!(64, law);
}

/// Checks one ring operation on coefficients against its definition, in both domains.
fn check(
    ring: &Ring,
    a: &[BigInt],
    b: &[BigInt],
    coefficient: impl Fn(&Ring, &mut Poly<Coefficient>, &Poly<Coefficient>) -> Result<(), RingError>,
    evaluation: impl Fn(&Ring, &mut Poly<Evaluation>, &Poly<Evaluation>) -> Result<(), RingError>,
    expected: &[BigInt],
) {
    let (mut x, y) = (ring.from_integers(a).unwrap(), ring.from_integers(b).unwrap());
    coefficient(ring, &mut x, &y).unwrap();
    assert_eq!(ring.to_integers(&x).unwrap(), expected);
    let (mut x, y) = (evaluated(ring, a), evaluated(ring, b));
    evaluation(ring, &mut x, &y).unwrap();
    assert_eq!(integers(ring, x), expected);
}

#[test]
fn sums_agree_with_the_definition() {
    fn law(ring: &Ring) {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        let all = samples(&mut rng("sums"), n, ring.modulus());
        let polys: Vec<_> = all.iter().map(|a| ring.from_integers(a).unwrap()).collect();
        let values: Vec<_> = all.iter().map(|a| evaluated(ring, a)).collect();
        for count in [0, 1, 2, all.len()] {
            let at = |i| all[..count].iter().map(|a| &a[i]).sum::<BigInt>();
            let expected: Vec<BigInt> = (0..n).map(|i| center(&at(i), &q)).collect();
            assert_eq!(ring.to_integers(&ring.sum(&polys[..count]).unwrap()).unwrap(), expected);
            assert_eq!(integers(ring, ring.sum(&values[..count]).unwrap()), expected);
        }
    }
    for_every_ring!(64, law);
    long_rings().iter().for_each(law);
}

#[test]
fn linear_operations_agree_with_the_definition() {
    fn law(ring: &Ring) {
        let q = int(ring.modulus());
        let all = samples(&mut rng("linear"), ring.degree(), ring.modulus());
        let scalars = [0, 1, -1, 2, i64::MAX].map(BigInt::from).into_iter().chain([
            &q - 1_u32,
            &q * 5_u32 + 3_u32,
            q.clone(),
        ]);
        for (a, b) in all.iter().zip(all.iter().skip(1)) {
            let zip = |f: &dyn Fn(&BigInt, &BigInt) -> BigInt| -> Vec<BigInt> {
                a.iter().zip(b).map(|(x, y)| center(&f(x, y), &q)).collect()
            };
            check(
                ring,
                a,
                b,
                |ring, a, b| ring.add_assign(a, b),
                |ring, a, b| ring.add_assign(a, b),
                &zip(&|x, y| x + y),
            );
            check(
                ring,
                a,
                b,
                |ring, a, b| ring.sub_assign(a, b),
                |ring, a, b| ring.sub_assign(a, b),
                &zip(&|x, y| x - y),
            );
            check(
                ring,
                a,
                b,
                |ring, a, _| ring.neg_assign(a),
                |ring, a, _| ring.neg_assign(a),
                &zip(&|x, _| -x),
            );
            for c in scalars.clone() {
                let expected = zip(&|x, _| x * &c);
                let (one, two) = (&c, &c);
                check(
                    ring,
                    a,
                    b,
                    |ring, a, _| ring.mul_integer_assign(a, one),
                    |ring, a, _| ring.mul_integer_assign(a, two),
                    &expected,
                );
            }
        }
    }
    for_every_ring!(64, law);
}

#[test]
fn tensors_are_four_products_times_a_constant() {
    fn law(ring: &Ring) {
        let all = samples(&mut rng("tensor"), ring.degree(), ring.modulus());
        for parts in all.windows(4) {
            let [a0, a1, b0, b1] = [0, 1, 2, 3].map(|i| evaluated(ring, &parts[i]));
            let product = |x: &Poly<_>, y: &Poly<_>| {
                let mut product = x.clone();
                ring.mul_assign(&mut product, y).unwrap();
                product
            };
            let mut middle = product(&a0, &b1);
            ring.add_assign(&mut middle, &product(&a1, &b0)).unwrap();
            let parts = [product(&a0, &b0), middle, product(&a1, &b1)];
            for t in [1, 2, 65_537, u64::MAX] {
                let times = |mut part: Poly<_>| {
                    ring.mul_integer_assign(&mut part, &t.into()).unwrap();
                    integers(ring, part)
                };
                let found = ring.tensor([&a0, &a1], [&b0, &b1], t).unwrap();
                assert_eq!(found.map(|x| integers(ring, x)), parts.clone().map(times), "{t}");
            }
            for level in 1..=ring.level() {
                // Operands have this level and the highest.
                let [low0, low1] = [&a0, &a1].map(|a| ring.restrict(a, level).unwrap());
                let found = ring.tensor_at([&low0, &low1], [&b0, &b1], 3, level).unwrap();
                let whole = ring.tensor([&a0, &a1], [&b0, &b1], 3).unwrap();
                let lowered = whole.map(|part| ring.restrict(&part, level).unwrap());
                let at = ring.at_level(level).unwrap();
                assert_eq!(found.map(|x| integers(&at, x)), lowered.map(|x| integers(&at, x)));
            }
        }
    }
    for_every_ring!(64, law);
}

#[test]
fn linear_combinations_are_sums_of_multiples() {
    fn law(ring: &Ring) {
        let all = samples(&mut rng("combination"), ring.degree(), ring.modulus());
        let factors = [BigInt::from(1), BigInt::from(-1), BigInt::from(3) << 70, BigInt::from(0)];
        for level in 1..=ring.level() {
            let at = ring.at_level(level).unwrap();
            let polys: Vec<_> = all.iter().map(|a| evaluated(ring, a)).collect();
            let terms: Vec<_> = factors.iter().cycle().zip(&polys).collect();
            let q = int(at.modulus());
            let sum = |i: usize| factors.iter().cycle().zip(&all).map(|(c, a)| c * &a[i]).sum::<BigInt>();
            let expected = centered(&(0..ring.degree()).map(sum).collect::<Vec<_>>(), &q);
            let mut found = ring.linear_combination(&terms, level).unwrap();
            assert_eq!(integers(&at, found.clone()), expected);
            ring.add_linear_combination_assign(&mut found, &terms).unwrap();
            let twice: Vec<BigInt> = expected.iter().map(|c| c * 2).collect();
            assert_eq!(integers(&at, found), centered(&twice, &q));
        }
    }
    for_every_ring!(64, law);
}

#[test]
fn products_follow_the_definition() {
    fn law(ring: &Ring) {
        let q = int(ring.modulus());
        let all = samples(&mut rng("product"), ring.degree(), ring.modulus());
        for (i, a) in all.iter().enumerate() {
            for b in &all[i..] {
                let product = product(ring, a, b);
                let (mut x, y) = (evaluated(ring, a), evaluated(ring, b));
                ring.mul_assign(&mut x, &y).unwrap();
                assert_eq!(integers(ring, x.clone()), centered(&product, &q));
                ring.mul_add_assign(&mut x, &evaluated(ring, a), &y).unwrap();
                let twice: Vec<BigInt> = product.iter().map(|c| c * 2_u32).collect();
                assert_eq!(integers(ring, x), centered(&twice, &q));
            }
        }
    }
    for_every_ring!(64, law);
}

#[test]
fn automorphisms_substitute_powers() {
    fn law(ring: &Ring) {
        let (n, m, q) = (ring.degree(), ring.index(), int(ring.modulus()));
        let index = ring.ring_index();
        for a in samples(&mut rng("automorphism"), n, ring.modulus()) {
            let units = (1..m).filter(|&k| index.is_automorphism(k));
            for k in units.filter(|k| k % 14 == 1 || *k < 6 || m - k < 4) {
                let mut powers = vec![BigInt::zero(); m as usize];
                for (i, x) in a.iter().enumerate() {
                    powers[(index.exponent(i) * k % m) as usize] += x;
                }
                let expected = index.powerful_from_power(&Integers::new(), &powers);
                let expected = centered(&expected, &q);
                let coefficient = ring.automorphism(&ring.from_integers(&a).unwrap(), k).unwrap();
                assert_eq!(ring.to_integers(&coefficient).unwrap(), expected, "k {k}");
                let evaluation = ring.automorphism(&evaluated(ring, &a), k).unwrap();
                assert_eq!(integers(ring, evaluation), expected, "k {k}");
            }
        }
        let others = [0, index.axes()[0].prime(), m, m + 1, u64::MAX];
        for k in others.into_iter().chain(index.is_real().then_some(m - 1)) {
            let error = ring.automorphism(&ring.zero::<Evaluation>(), k).err().unwrap();
            assert_eq!(error, RingError::NotAnAutomorphism { exponent: k, index: m });
        }
    }
    for_every_ring!(64, law);
}

#[test]
fn plaintexts_are_scaled_and_rounded() {
    fn law(ring: &Ring) {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        let mut rng = rng("plaintext");
        // Plaintext moduli: 257 divides the moduli of some rings, 2^20 is even, the last is the top of the range.
        for t in [2_u64, 3, 257, 65_537, 1 << 20, 641 * 257, (1 << 59) + 55, (1 << 62) - 1] {
            let message: Vec<u64> = (0..n)
                .map(|i| match i % 6 {
                    0 => 0,
                    1 => 1,
                    2 => t - 1,
                    3 => t / 2,
                    4 => t.div_ceil(2),
                    _ => rng.next_u64() % t,
                })
                .collect();
            let expected: Vec<BigInt> =
                message.iter().map(|&m| center(&round(&(&q * m), &t.into()), &q)).collect();
            let scaled = ring.scale_plaintext(&message, t).unwrap();
            assert_eq!(ring.to_integers(&scaled).unwrap(), expected, "t {t}");
        }
        let zeros = vec![0; n];
        assert!(matches!(ring.scale_plaintext(&zeros, 1), Err(RingError::OutOfRange { .. })));
        assert!(matches!(ring.scale_plaintext(&zeros, 1 << 62), Err(RingError::OutOfRange { .. })));
        assert!(matches!(ring.scale_plaintext(&vec![5; n], 5), Err(RingError::OutOfRange { .. })));
        assert!(matches!(ring.scale_plaintext(&zeros[1..], 5), Err(RingError::LengthMismatch { .. })));
    }
    for_every_ring!(64, law);
}

#[test]
fn uniform_polynomials_follow_the_generator() {
    fn law(ring: &Ring) {
        let mut rng = rng("uniform");
        let a = integers(ring, ring.uniform(&mut rng));
        let b = integers(ring, ring.uniform(&mut rng));
        let again = integers(ring, ring.uniform(&mut crate::common::rng("uniform")));
        assert_eq!(a, again);
        assert_ne!(a, b);
        // The draws meet both halves of the range.
        let q = int(ring.modulus());
        assert!(norm(&a) * 10_u32 > &q * 4_u32 && norm(&a) * 2_u32 <= q);
    }
    for ring in residue_rings(64) {
        law(&ring);
        law(&multi_precision(&ring));
        law(&twin(&ring));
    }
}

#[test]
fn polynomials_of_other_rings_are_refused() {
    fn law<D: Domain>(ring: &Ring, alien: &Poly<D>) {
        fn refused<T>(result: Result<T, RingError>) {
            let error = result.err().unwrap();
            assert!(matches!(error, RingError::ShapeMismatch { .. } | RingError::OtherModulus { .. }));
        }
        let mut own = ring.zero::<D>();
        refused(ring.add_assign(&mut own, alien));
        refused(ring.sub_assign(&mut alien.clone(), &own));
        refused(ring.neg_assign(&mut alien.clone()));
        refused(ring.mul_integer_assign(&mut alien.clone(), &1.into()));
        refused(ring.automorphism(alien, 3));
        assert!(matches!(ring.from_signed(&[0]), Err(RingError::LengthMismatch { .. })));
        assert!(matches!(ring.from_integers(&[]), Err(RingError::LengthMismatch { .. })));
    }
    fn multiplicative(ring: &Ring, alien: &Ring) {
        let (coefficient, evaluation) = (alien.zero::<Coefficient>(), alien.zero::<Evaluation>());
        law::<Coefficient>(ring, &coefficient);
        law::<Evaluation>(ring, &evaluation);
        let own = ring.zero();
        assert!(ring.mul_assign(&mut own.clone(), &evaluation).is_err());
        assert!(ring.mul_add_assign(&mut own.clone(), &own, &evaluation).is_err());
        assert!(ring.mul_add_assign(&mut own.clone(), &evaluation, &own).is_err());
        assert!(ring.to_integers(&coefficient).is_err());
        assert!(ring.to_evaluation(coefficient).is_err());
        assert!(ring.to_coefficient(evaluation).is_err());
    }
    let (small, large) = (residue_rings(64), residue_rings(128));
    multiplicative(&small[1], &small[0]);
    multiplicative(&small[1], &large[1]);
    multiplicative(&twin(&small[1]), &twin(&small[0]));
    multiplicative(&twin(&small[1]), &twin(&large[1]));
    // Rings of equal shape and other moduli are refused: words above a modulus would be taken for residues.
    let [first, second, third] = sunzi_math::primes_below(1 << 40, 128, 3).unwrap()[..] else { panic!() };
    let ring = |moduli: &[u64]| Ring::new(128, moduli).unwrap();
    let (one, other, swapped) = (ring(&[first, second]), ring(&[first, third]), ring(&[second, first]));
    assert_eq!(one.words().unwrap().shape(), other.words().unwrap().shape());
    multiplicative(&one, &other);
    multiplicative(&one, &swapped);
    multiplicative(&twin(&one), &twin(&other));
    let alien = other.zero::<Coefficient>();
    let shape = one.words().unwrap().shape();
    assert_eq!(one.to_integers(&alien).unwrap_err(), RingError::OtherModulus { shape });
    let key = vec![other.zero(); 2];
    let gadget = one.gadget(&GadgetOptions::default()).unwrap();
    assert!(switched(&one, &gadget, &one.zero(), [&key, &key]).is_err());
    let scaler = one.scaler(3, &ScalerOptions::default()).unwrap();
    assert!(scaler.decrypt(&alien).is_err() && scaler.lift(&other.zero()).is_err());
    assert!(scaler.scale_top(other.scaler(3, &ScalerOptions::default()).unwrap().wide_top().zero()).is_err());
    // Two rings built from the same moduli accept each other's polynomials.
    let again = ring(&[first, second]);
    assert!(again.add_assign(&mut one.zero::<Evaluation>(), &again.zero()).is_ok());
}

#[test]
fn random_circuits_agree_over_residues_and_integers() {
    let mut rng = rng("circuits");
    for ring in residue_rings(64) {
        let big = twin(&ring);
        for _ in 0..20 {
            let inputs: Vec<_> = (0..4).map(|_| random_poly(&mut rng, 64, ring.modulus())).collect();
            let seed = rng.next_u64();
            assert_eq!(circuit(&ring, &inputs, seed), circuit(&big, &inputs, seed), "seed {seed}");
        }
    }
}

/// Runs thirty ring operations on four registers, chosen by the seed.
fn circuit(ring: &Ring, inputs: &[Vec<BigInt>], seed: u64) -> Vec<Vec<BigInt>> {
    let mut registers: Vec<_> = inputs.iter().map(|a| evaluated(ring, a)).collect();
    let mut rng = SeededRng::derive(&[0; 32], "circuit", seed);
    for _ in 0..30 {
        let word = rng.next_u64() as usize;
        let [target, a, b] = [word >> 8 & 3, word >> 10 & 3, word >> 12 & 3];
        let (left, right) = (registers[a].clone(), registers[b].clone());
        let register = &mut registers[target];
        match word % 8 {
            0 => ring.add_assign(register, &left),
            1 => ring.sub_assign(register, &left),
            2 => ring.neg_assign(register),
            3 => ring.mul_assign(register, &left),
            4 => ring.mul_add_assign(register, &left, &right),
            5 => ring.mul_integer_assign(register, &BigInt::from(word)),
            6 => ring.automorphism(&left, (word >> 16 & 127 | 1) as u64).map(|image| *register = image),
            _ => {
                let image = ring.to_coefficient(left).and_then(|a| ring.automorphism(&a, 5));
                image.and_then(|a| ring.to_evaluation(a)).map(|a| *register = a)
            }
        }
        .unwrap();
    }
    registers.into_iter().map(|a| integers(ring, a)).collect()
}
