//! Equality and comparisons: results against clear integers, and how many look-ups they take.

use super::*;

/// Returns a result and the number of look-ups it took.
fn counted<T>(bench: &Bench, f: impl FnOnce(IntegerEvaluator<'_>) -> Result<T, IntegerError>) -> (T, u64) {
    let work = IntegerWork::default();
    let result = f(bench.evaluator().with_work(&work)).unwrap();
    (result, work.look_ups())
}

#[track_caller]
fn equals(bench: &Bench, [a, b]: [&Integers; 2], [x, y]: [&[i128]; 2], look_ups: u64) {
    let expected: Vec<bool> = x.iter().zip(y).map(|(x, y)| x == y).collect();
    assert!(expected.contains(&true) && expected.contains(&false));
    let (equal, count) = counted(bench, |e| e.equal(a, b));
    assert_eq!(bench.open_conditions(&equal), expected, "{}", a.kind());
    assert_eq!(count, look_ups, "{} {:?} {:?}", a.kind(), a.bounds(), b.bounds());
    // What it chooses is exact, so that the condition has its levels.
    let chosen = bench.evaluator().masked(&equal, a).unwrap();
    let masked = x.iter().zip(y).map(|(x, y)| if x == y { *x } else { 0 });
    assert_eq!(bench.open(&chosen), masked.collect::<Vec<_>>());
}

/// Integers beside `x`: equal, another digit in one place alone, and in all places.
fn beside(kind: IntegerKind, x: &[i128]) -> Vec<i128> {
    let places = kind.digits();
    let other = |(i, &x): (usize, &i128)| {
        let all: i128 = (0..places).map(|k| 1 << (4 * k)).sum();
        match i % (places + 3) {
            0 => x,
            1 => kind.wrapped(x + all),
            2 => kind.wrapped(x ^ (15 * all)),
            place => kind.wrapped(x ^ ((1 + i as i128 % 15) << (4 * (place - 3)))),
        }
    };
    x.iter().enumerate().map(other).collect()
}

#[test]
fn equality_takes_a_look_up_a_digit_and_one_more() {
    let mut bench = Bench::for_integers();
    for (bits, signed, look_ups) in [
        (4, false, 1),
        (4, true, 1),
        (8, false, 3),
        (8, true, 3),
        (12, true, 4),
        (60, false, 16),
        (64, true, 17),
    ] {
        let kind = IntegerKind::new(bits, signed).unwrap();
        let x = bench.values(kind, 200);
        let y = beside(kind, &x);
        let [a, b] = [&x, &y].map(|values| bench.encrypt(kind, values));
        equals(&bench, [&a, &b], [&x, &y], look_ups);
        for c in [x[0], kind.range()[0], kind.range()[1], 0] {
            let (equal, count) = counted(&bench, |e| e.equal_to_clear(&a, c));
            assert_eq!(bench.open_conditions(&equal), x.iter().map(|x| *x == c).collect::<Vec<_>>(), "{c}");
            assert_eq!(count, look_ups);
        }
    }
}

#[test]
fn bounds_take_look_ups_away() {
    let mut bench = Bench::for_integers();
    // Ages, and integers of few values in a wide kind.
    for (kind, low, high, equal, less, clear) in [
        (IntegerKind::U8, 18, 90, 2, 2, [2, 2]),
        (IntegerKind::I16, -7, 8, 1, 2, [1, 1]),
        (IntegerKind::U64, 1 << 40, (1 << 40) + 200, 3, 3, [2, 2]),
    ] {
        let size = high - low + 1;
        let x: Vec<i128> = (0..150).map(|i| low + 31 * i % size).collect();
        let y: Vec<i128> = (0..150).map(|i| low + (31 + i % 3 * 17) * i % size).collect();
        let [a, b] = [&x, &y].map(|values| bench.encrypt_within(kind, [low, high], values));
        equals(&bench, [&a, &b], [&x, &y], equal);
        let (found, count) = counted(&bench, |e| e.less(&a, &b));
        let expected: Vec<bool> = x.iter().zip(&y).map(|(x, y)| x < y).collect();
        assert_eq!((bench.open_conditions(&found), count), (expected, less), "{kind}");
        for c in [low + 1, low + 8, high] {
            let (found, count) = counted(&bench, |e| e.equal_to_clear(&a, c));
            let expected: Vec<bool> = x.iter().map(|x| *x == c).collect();
            assert_eq!((bench.open_conditions(&found), count), (expected, clear[0]), "{kind} {c}");
            let (found, count) = counted(&bench, |e| e.less_than_clear(&a, c));
            let expected: Vec<bool> = x.iter().map(|x| *x < c).collect();
            assert_eq!((bench.open_conditions(&found), count), (expected, clear[1]), "{kind} {c}");
        }
        for c in [low - 1, high + 1] {
            let (found, count) = counted(&bench, |e| e.equal_to_clear(&a, c));
            assert_eq!((bench.open_conditions(&found), count), (vec![false; 150], 0));
        }
        let apart = bench.evaluator().with_overflow(Overflow::Wrap).add_clear(&a, size).unwrap();
        let (found, count) = counted(&bench, |e| Ok([e.equal(&a, &apart)?, e.less(&apart, &a)?]));
        assert!(found.iter().all(|found| bench.open_conditions(found) == vec![false; 150]));
        assert_eq!(count, 0);
    }
}

/// Digits that have grown, of sums that wrap too, take no look-ups of their own.
#[test]
fn sums_are_equal_without_carries_of_their_own() {
    let mut bench = Bench::for_integers();
    for (kind, look_ups) in [(IntegerKind::U8, 3), (IntegerKind::I16, 5), (IntegerKind::U64, 17)] {
        let [x, z] = [0, 1].map(|_| bench.values(kind, 160));
        let sums = each(&x, &z, kind, |x, z| x + z + z);
        let y = beside(kind, &sums);
        let [a, b, c] = [&x, &y, &z].map(|values| bench.encrypt(kind, values));
        let e = bench.evaluator();
        let sum = e.add(&e.add(&a, &c).unwrap(), &c).unwrap();
        let expected: Vec<bool> = sums.iter().zip(&y).map(|(x, y)| x == y).collect();
        let (equal, count) = counted(&bench, |e| e.equal(&sum, &b));
        assert_eq!((bench.open_conditions(&equal), count), (expected, look_ups), "{kind}");
        let (equal, count) = counted(&bench, |e| e.equal_to_clear(&sum, y[0]));
        let expected: Vec<bool> = sums.iter().map(|x| *x == y[0]).collect();
        assert_eq!((bench.open_conditions(&equal), count), (expected, look_ups), "{kind}");
    }
}

/// Differences whose digits are 0 by their ranges, all of them or those between others.
#[test]
fn digits_that_are_zero_by_their_ranges_take_no_look_up() {
    let mut bench = Bench::for_integers();
    let x: Vec<i128> = (0..60).map(|i| i * 7 % 16).collect();
    let a = bench.encrypt(IntegerKind::new(4, false).unwrap(), &x);
    let kind = IntegerKind::U16;
    let e = bench.evaluator();
    let wide = |factor: i128, constant: i128| {
        e.linear_combination(&[(factor, &a)], constant, kind, kind.range()).unwrap()
    };
    let (equal, count) = counted(&bench, |e| e.equal(&wide(0, 77), &wide(0, 77)));
    assert_eq!((bench.open_conditions(&equal), count), (vec![true; 60], 0));
    let (equal, count) = counted(&bench, |e| e.equal(&wide(0x101, 0), &wide(0, 0x505)));
    assert_eq!(bench.open_conditions(&equal), x.iter().map(|x| *x == 5).collect::<Vec<_>>());
    assert!(count <= 5, "{count}");
    let (equal, count) = counted(&bench, |e| e.equal(&wide(1, 30), &wide(0, 33)));
    assert_eq!(bench.open_conditions(&equal), x.iter().map(|x| *x == 3).collect::<Vec<_>>());
    assert!(count <= 5, "{count}");
}
