use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Rows of integers within bounds: the ends, equal ones, and random ones.
fn rows(bench: &mut Bench, [low, high]: [i128; 2], count: usize) -> Vec<i128> {
    let mut x: Vec<i128> =
        (0..count).map(|_| low + i128::from(bench.rng.next_u64()) % (high - low + 1)).collect();
    for (i, value) in [(count / 3, high), (count / 2, low), (count - 1, high), (count / 5, low)] {
        x[i] = value;
    }
    x
}

/// Sorts by one way, and checks the integers, the bounds and the number of look-ups.
fn check(bench: &mut Bench, method: SortMethod, kind: IntegerKind, bounds: [i128; 2], x: &[i128]) {
    let a = bench.encrypt_within(kind, bounds, x);
    let look_ups = AtomicUsize::new(0);
    let count = || {
        look_ups.fetch_add(1, Ordering::Relaxed);
    };
    let e = RowEvaluator::new(bench.evaluator().with_progress(&count));
    let sorted = e.sorted_by(&a, method).unwrap();
    let case = format!("{method:?} {kind} {bounds:?} {}", x.len());
    let mut expected = x.to_vec();
    expected.sort_unstable();
    assert_eq!(bench.open(&sorted), expected, "{case}");
    assert_eq!(sorted.bounds(), bounds, "{case}");
    assert_eq!(Some(look_ups.load(Ordering::Relaxed)), e.sort_look_ups(&a, method), "{case}");
    // Results go on.
    let again = bench.evaluator().carried(&bench.evaluator().add(&sorted, &sorted).unwrap()).unwrap();
    let twice: Vec<i128> = expected.iter().map(|x| kind.wrapped(2 * x)).collect();
    assert_eq!(bench.open(&again), twice, "{case}");
}

#[test]
fn counted_rows_are_in_order() {
    let mut bench = Bench::for_integers();
    let wide = IntegerKind::new(12, false).unwrap();
    for (kind, bounds, count) in [
        (IntegerKind::U8, [0, 63], 100),
        (IntegerKind::U8, [0, 63], 128),
        (IntegerKind::U8, [0, 63], 20),
        (IntegerKind::I8, [-20, 12], 77),
        (IntegerKind::I8, [-128, -126], 65),
        (wide, [1000, 1040], 9),
        (IntegerKind::I16, [-3, 12], 50),
        (IntegerKind::U8, [7, 8], 2),
        (IntegerKind::new(4, true).unwrap(), [-8, 7], 127),
    ] {
        let x = rows(&mut bench, bounds, count);
        check(&mut bench, SortMethod::Counting, kind, bounds, &x);
    }
    for end in [3, 19] {
        check(&mut bench, SortMethod::Counting, IntegerKind::U8, [3, 19], &[end; 33]);
    }
}

#[test]
fn the_network_puts_rows_in_order() {
    let mut bench = Bench::for_integers();
    for (kind, bounds, count) in [
        (IntegerKind::U8, [0, 255], 100),
        (IntegerKind::I8, [-128, 127], 2),
        (IntegerKind::U16, [40000, 40100], 13),
        (IntegerKind::I8, [-20, 12], 33),
        (IntegerKind::I16, IntegerKind::I16.range(), 5),
        (IntegerKind::U8, [3, 255], 256),
    ] {
        let x = rows(&mut bench, bounds, count);
        check(&mut bench, SortMethod::Network, kind, bounds, &x);
    }
    for end in [3, 200] {
        check(&mut bench, SortMethod::Network, IntegerKind::U8, [3, 200], &[end; 11]);
    }
}

#[test]
fn all_pairs_put_rows_in_order() {
    let mut bench = Bench::for_integers();
    for (kind, bounds, count) in
        [(IntegerKind::U8, [0, 255], 12), (IntegerKind::I8, [-20, 12], 17), (IntegerKind::I8, [-1, 0], 2)]
    {
        let x = rows(&mut bench, bounds, count);
        check(&mut bench, SortMethod::Pairs, kind, bounds, &x);
    }
}

#[test]
fn one_row_and_one_integer_are_in_order() {
    let mut bench = Bench::for_integers();
    for method in SortMethod::ALL {
        check(&mut bench, method, IntegerKind::I8, [-128, 127], &[-5]);
        check(&mut bench, method, IntegerKind::U16, [700, 700], &[700; 20]);
    }
}

#[test]
fn the_way_with_the_fewest_look_ups_sorts() {
    let mut bench = Bench::for_integers();
    for (kind, bounds, count, method) in [
        (IntegerKind::U8, [0, 63], 10, SortMethod::Pairs),
        (IntegerKind::U8, [0, 63], 100, SortMethod::Counting),
        // Too many rows to be counted, and too many different integers.
        (IntegerKind::U8, [0, 63], 200, SortMethod::Network),
        (IntegerKind::U8, [0, 255], 100, SortMethod::Network),
    ] {
        let x = rows(&mut bench, bounds, count);
        let a = bench.encrypt_within(kind, bounds, &x);
        let e = RowEvaluator::new(bench.evaluator());
        assert_eq!(e.sort_method(&a), method, "{kind} {bounds:?} {count}");
        let least = SortMethod::ALL.iter().filter_map(|method| e.sort_look_ups(&a, *method)).min();
        assert_eq!(e.sort_look_ups(&a, method), least);
        if method != SortMethod::Counting {
            continue;
        }
        let mut expected = x.clone();
        expected.sort_unstable();
        assert_eq!(bench.open(&e.sorted(&a).unwrap()), expected);
    }
    let a = bench.encrypt(IntegerKind::U8, &[5, 3, 9]);
    let refused = RowEvaluator::new(bench.evaluator()).sorted_by(&a, SortMethod::Counting).err().unwrap();
    assert!(matches!(refused, IntegerError::Operand { got: 256, .. }), "{refused}");
}
