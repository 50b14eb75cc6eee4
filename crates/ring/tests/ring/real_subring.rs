//! Tests of the passage between a real ring and the whole ring in which it lies.

use num_bigint::BigInt;
use sunzi_math::{RingIndex, primes_below};
use sunzi_ring::{Evaluation, HollowRing, Poly, RealSubring, Ring, RingError};

use crate::common::rng;

/// Rings that share all moduli but one each: the real one has the last, the whole one the first.
fn rings(n: usize) -> [Ring; 2] {
    let moduli = primes_below(1 << 44, 4 * n as u64, 4).unwrap();
    let real = Ring::new(RingIndex::real(n).unwrap(), &moduli[1..]).unwrap();
    [real, Ring::new(4 * n as u64, &moduli[..3]).unwrap()]
}

fn coefficients(ring: &Ring, a: Poly<Evaluation>) -> Vec<BigInt> {
    ring.to_integers(&ring.to_coefficient(a).unwrap()).unwrap()
}

/// The rings modulo the moduli that both have, with the place of these in each.
fn common(n: usize) -> [Ring; 2] {
    let moduli = primes_below(1 << 44, 4 * n as u64, 4).unwrap();
    let index = RingIndex::real(n).unwrap();
    [Ring::new(index, &moduli[1..3]).unwrap(), Ring::new(4 * n as u64, &moduli[1..3]).unwrap()]
}

/// Checks that an element keeps its coefficients, a_j at X^j and −a_j at X^(2n−j), and that its halves are itself.
#[test]
fn elements_of_the_real_ring_keep_their_coefficients() {
    for n in [64, 512, 4096] {
        let [real, whole] = common(n);
        let subring = RealSubring::new(&real, &whole).unwrap();
        let a = real.uniform(&mut rng("include"));
        let included = subring.include(&a).unwrap();
        let halves = subring.halves(&included).unwrap();
        assert!(halves.iter().all(|half| half.words() == a.words()));
        let [a, included] = [coefficients(&real, a), coefficients(&whole, included)];
        assert_eq!(included[0], a[0]);
        assert_eq!(included[n], BigInt::ZERO);
        assert!((1..n).all(|j| included[j] == a[j] && included[2 * n - j] == -&a[j]));
    }
}

/// Checks that the sum of halves is the trace, and that halves of a product are products of halves.
#[test]
fn halves_make_the_trace_and_multiply() {
    for n in [64, 1024] {
        let [real, whole] = common(n);
        let subring = RealSubring::new(&real, &whole).unwrap();
        let mut rng = rng("halves");
        let [mut a, b] = [(); 2].map(|()| whole.uniform(&mut rng));
        let [of_a, of_b] = [&a, &b].map(|a| subring.halves(a).unwrap());
        let [mut trace, second] = of_a.clone();
        real.add_assign(&mut trace, &second).unwrap();
        // The trace of Σ c_j·X^j has 2·c_0 and c_j − c_(2n−j).
        let [trace, c] = [coefficients(&real, trace), coefficients(&whole, a.clone())];
        let modulus = BigInt::from(real.modulus().clone());
        let is_equal = |x: &BigInt, y: &BigInt| (x - y) % &modulus == BigInt::ZERO;
        assert!(is_equal(&trace[0], &(2 * &c[0])));
        assert!((1..n).all(|j| is_equal(&trace[j], &(&c[j] - &c[2 * n - j]))));
        whole.mul_assign(&mut a, &b).unwrap();
        for ((mut left, right), product) in of_a.into_iter().zip(&of_b).zip(subring.halves(&a).unwrap()) {
            real.mul_assign(&mut left, right).unwrap();
            assert_eq!(left.words(), product.words());
        }
    }
}

/// Checks that limbs of moduli which the other ring lacks are zero, and that common ones are those of the rings
/// without them.
#[test]
fn moduli_of_one_ring_alone_are_zero_in_the_other() {
    let n = 128;
    let [real, whole] = rings(n);
    let subring = RealSubring::new(&real, &whole).unwrap();
    let a = real.uniform(&mut rng("limbs"));
    let included = subring.include(&a).unwrap();
    assert!(included.own_limb(0).unwrap().iter().all(|&x| x == 0));
    for (of_whole, of_real) in [(1, 0), (2, 1)] {
        assert_eq!(&included.own_limb(of_whole).unwrap()[..n], a.own_limb(of_real).unwrap());
    }
    let [first, last] = subring.halves(&whole.uniform(&mut rng("limbs back"))).unwrap();
    for half in [first, last] {
        assert!(half.own_limb(2).unwrap().iter().all(|&x| x == 0));
        assert!(half.own_limb(0).unwrap().iter().any(|&x| x != 0));
    }
}

/// Checks that other pairs of rings, polynomials and storages are refused by name.
#[test]
fn other_rings_are_refused() {
    let [real, whole] = common(64);
    let [_, larger] = common(128);
    for pair in [[&whole, &real], [&real, &real], [&whole, &whole], [&real, &larger]] {
        let refused = RealSubring::new(pair[0], pair[1]).unwrap_err();
        assert!(matches!(refused, RingError::OutOfRange { what: "pair of rings", .. }), "{refused}");
    }
    let subring = RealSubring::new(&real, &whole).unwrap();
    assert!(matches!(subring.include(&whole.zero()), Err(RingError::ShapeMismatch { .. })));
    assert!(matches!(subring.halves(&real.zero()), Err(RingError::ShapeMismatch { .. })));

    let moduli = primes_below(1 << 44, 256, 2).unwrap();
    let dry = Ring::of(HollowRing::new(RingIndex::real(64).unwrap(), &moduli).unwrap());
    let mixed = RealSubring::new(&dry, &whole).unwrap();
    assert!(matches!(mixed.include(&dry.zero()), Err(RingError::OtherStorage)));
    let dry_whole = Ring::of(HollowRing::new(256, &moduli).unwrap());
    let both = RealSubring::new(&dry, &dry_whole).unwrap();
    assert!(dry_whole.check(&both.include(&dry.zero()).unwrap()).is_ok());
    assert!(both.halves(&dry_whole.zero()).unwrap().iter().all(|half| dry.check(half).is_ok()));
}
