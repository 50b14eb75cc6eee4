//! Tests of tables that are too short: every operation that needs the missing entry names it.

use sunzi_math::primes_below;
use sunzi_ring::{Ring, RingError};
use sunzi_univariate::internals::without_last_reducer;
use sunzi_univariate::{Reduction, UnivariateRing};

/// Checks that the result is a fault that names this table and this limb.
#[track_caller]
fn names<T>(result: Result<T, RingError>, table: &str, limb: usize) {
    match result.err() {
        Some(RingError::MissingTable { table: named, limb: at }) => assert_eq!((named, at), (table, limb)),
        other => panic!("expected a missing {table} of limb {limb}, got {other:?}"),
    }
}

#[test]
fn missing_reducers_are_named() {
    let moduli = primes_below(1 << 47, UnivariateRing::root_order(15).unwrap(), 3).unwrap();
    let storage = UnivariateRing::new(15, &moduli, Reduction::Barrett).unwrap();
    let (ring, short) = (Ring::of(storage.clone()), Ring::of(without_last_reducer(&storage)));
    let one = ring.from_signed(&[1; 8]).unwrap();
    assert!(ring.to_evaluation(one.clone()).is_ok());
    names(short.to_evaluation(one).map(|_| ()), "reducer", 2);
    names(short.from_signed(&[1; 8]).map(|_| ()), "reducer", 2);
}
