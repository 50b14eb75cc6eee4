//! Tests of expansion factors of rings of every index.

use sunzi_math::{RingIndex, primes_below};
use sunzi_ring::sampling::{SeededRng, ternary};
use sunzi_ring::{Expansion, Ring};

#[test]
fn powers_of_two_have_nothing_redundant() {
    for log2 in 2..=18 {
        let n = 1_usize << (log2 - 1);
        assert_eq!(Expansion::new(1 << log2).unwrap(), Expansion::from(n));
        assert_eq!(Expansion::from(n).spherical_variance(10.5), 10.5);
    }
    for m in [0, 1, 2, 30, 1 << 24, u64::MAX] {
        assert!(Expansion::new(m).is_err(), "{m}");
    }
}

#[test]
fn every_odd_prime_doubles_once() {
    for (m, degree, redundant, fold) in [
        (3, 2, 3, 2.0),
        (12, 4, 6, 2.0),
        (9, 6, 9, 2.0),
        (15, 8, 15, 4.0),
        (60, 16, 30, 4.0),
        (65535, 32768, 65535, 16.0),
    ] {
        let ring = Expansion::new(m).unwrap();
        assert_eq!((ring.degree(), ring.redundant_degree()), (degree, redundant), "{m}");
        assert_eq!((ring.norm_gain(), ring.deviation_gain().powi(2).round()), (fold, fold));
        assert!(ring.value_gain() < fold);
        assert_eq!(ring.factor(), fold * degree as f64);
    }
}

#[test]
fn real_rings_count_their_basis_twice() {
    for n in [64_usize, 1 << 13] {
        let ring = Expansion::new(RingIndex::real(n).unwrap()).unwrap();
        assert_eq!((ring.degree(), ring.weight(), ring.redundant_degree()), (n, 2 * n, 2 * n));
        assert_eq!((ring.factor(), ring.norm_gain(), ring.value_gain()), (2.0 * n as f64, 1.0, 1.0));
        assert_eq!((ring.spherical_variance(10.5), ring.spherical_norm(21.0)), (10.5, 42.0));
        assert!(ring.is_real() && ring != Expansion::from(2 * n));
        let whole = Expansion::from(n);
        assert_eq!((whole.weight(), whole.spherical_norm(21.0), whole.is_real()), (n, 21.0, false));
    }
}

/// Attacks the factors of a real ring: products of the largest elements reach the expansion factor but for one
/// term, no product exceeds it, and coefficients of products of random elements deviate as the values say, the first one by √2 more.
#[test]
fn factors_of_real_rings_are_reached() {
    let n = 64;
    let index = RingIndex::real(n).unwrap();
    let ring = Ring::new(&index, &primes_below(1 << 40, 256, 1).unwrap()).unwrap();
    let expansion = ring.expansion();
    let times = |a: &[i64], b: &[i64]| {
        let [mut a, b] = [a, b].map(|a| ring.to_evaluation(ring.from_signed(a).unwrap()).unwrap());
        ring.mul_assign(&mut a, &b).unwrap();
        ring.to_floats(&ring.to_coefficient(a).unwrap()).unwrap()
    };
    let most = |a: &[f64]| a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    // The coefficient of 1 is a_0·b_0 + 2·Σ a_j·b_j.
    assert_eq!(times(&vec![1; n], &vec![1; n])[0], 2.0 * n as f64 - 1.0);
    let mut rng = SeededRng::derive(&[7; 32], "real products", 0);
    let (rounds, variance) = (4000, 2.0 / 3.0);
    let (mut squares, mut largest) = (vec![0.0; n], 0.0_f64);
    for _ in 0..rounds {
        let [a, b] = [(); 2].map(|()| ternary(n, &mut rng).unwrap());
        let product = times(&a, &b);
        largest = largest.max(most(&product));
        squares.iter_mut().zip(&product).for_each(|(sum, x)| *sum += x * x / f64::from(rounds));
    }
    assert!(largest <= expansion.factor());
    // Values have the variance w·s², so products of values its square, and the product the deviation √w·s².
    let expected = expansion.weight() as f64 * variance * variance;
    let gain = expansion.deviation_gain().powi(2);
    // The tolerance is six deviations of a mean of squares, 6·√(2/4000) = 0.134, and a part for fourth moments and the missing term.
    let tolerance = 0.17;
    assert!((squares[0] / expected / gain - 1.0).abs() < tolerance, "{} {expected}", squares[0]);
    let rest = &squares[1..];
    assert!(rest.iter().all(|x| (x / expected - 1.0).abs() < tolerance), "{rest:?} {expected}");
}

/// Checks that a single value adds (2/m̂)·|v(ζ)| to a coefficient, and no more.
#[test]
fn one_value_of_a_real_element_reaches_every_coefficient() {
    let n = 64;
    let angle = |e: usize, j: usize| (e * j) as f64 * std::f64::consts::TAU / (4 * n) as f64;
    for e in (1..4 * n).step_by(4) {
        // The coefficients of the element with the value 1 at ζ^e: a_0 = 1/n, a_j = cos(2π·e·j/4n)/n.
        let a: Vec<f64> = (0..n).map(|j| angle(e, j).cos() / n as f64).collect();
        for other in (1..4 * n).step_by(4) {
            let value = a[0] + (1..n).map(|j| 2.0 * a[j] * angle(other, j).cos()).sum::<f64>();
            assert!((value - f64::from(u8::from(e == other))).abs() < 1e-12, "{e} {other}");
        }
        assert!(a.iter().all(|x| x.abs() <= 2.0 / (2 * n) as f64));
    }
}
