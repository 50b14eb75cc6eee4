//! Tests of expansion factors of rings of every index.

use sunzi_ring::Expansion;

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
