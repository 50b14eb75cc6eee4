use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Finds places of rows, and checks every row of the integers, the bounds and the number of look-ups.
fn check(bench: &mut Bench, kind: IntegerKind, bounds: [i128; 2], x: &[i128], ks: &[usize]) -> usize {
    let a = bench.encrypt_within(kind, bounds, x);
    let look_ups = AtomicUsize::new(0);
    let count = || {
        look_ups.fetch_add(1, Ordering::Relaxed);
    };
    let e = RowEvaluator::new(bench.evaluator().with_progress(&count));
    let found = e.kth_many(&a, ks).unwrap();
    let mut sorted = x.to_vec();
    sorted.sort_unstable();
    assert_eq!(found.len(), ks.len());
    for (found, &k) in found.iter().zip(ks) {
        let case = format!("{kind} {bounds:?}, place {k} of {}", x.len());
        assert_eq!((found.kind(), found.bounds()), (kind, bounds), "{case}");
        assert_eq!(bench.open(found), vec![sorted[k]; x.len()], "{case}");
        // Results go on.
        let twice = bench.evaluator().carried(&bench.evaluator().add(found, found).unwrap()).unwrap();
        assert_eq!(bench.open(&twice)[0], kind.wrapped(2 * sorted[k]), "{case}");
    }
    look_ups.into_inner()
}

fn within(bench: &mut Bench, [low, high]: [i128; 2], count: usize) -> Vec<i128> {
    (0..count).map(|_| low + i128::from(bench.rng.next_u64()) % (high - low + 1)).collect()
}

#[test]
fn places_are_found_together() {
    let mut bench = Bench::for_integers();
    let (u12, i4) = (IntegerKind::new(12, false).unwrap(), IntegerKind::new(4, true).unwrap());
    for (kind, bounds, count, ks) in [
        // One block, blocks side by side, groups of blocks, and several searches.
        (IntegerKind::U16, [0, 65535], 200, vec![117]),
        (IntegerKind::I16, [-32768, 32767], 60, vec![59, 0, 30]),
        (IntegerKind::I8, [-128, 127], 100, vec![99, 98, 97, 50]),
        (IntegerKind::U8, [0, 255], 256, vec![0, 255]),
        (IntegerKind::U8, [0, 255], 9, vec![8, 7, 6, 5, 4, 3, 3, 8]),
        // Bounds that leave digits known, and digits with few values.
        (IntegerKind::U16, [40000, 40100], 70, vec![69, 1]),
        (IntegerKind::I8, [-20, 12], 33, vec![31, 32]),
        (u12, [250, 260], 20, vec![0, 10, 19]),
        (i4, [-8, 7], 120, vec![0, 60, 119]),
        (IntegerKind::I16, [-3, -3], 5, vec![4, 0]),
        (IntegerKind::I8, [-128, 127], 1, vec![0]),
        (IntegerKind::U8, [0, 1], 2, vec![1, 0]),
    ] {
        let x = within(&mut bench, bounds, count);
        check(&mut bench, kind, bounds, &x, &ks);
    }
}

#[test]
fn places_of_equal_integers_and_of_ends_are_found() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U8;
    for ends in [[0, 0], [255, 255], [0, 255], [15, 16], [127, 128]] {
        let x: Vec<i128> = (0..37).map(|i| ends[usize::from(i % 3 == 0)]).collect();
        check(&mut bench, kind, kind.range(), &x, &[0, 12, 13, 23, 24, 36]);
    }
}

/// Tests random rows, places and bounds.
#[test]
fn random_places_are_those_of_sorted_rows() {
    let mut bench = Bench::for_integers();
    for _ in 0..12 {
        let mut draw = |n: usize| bench.rng.next_u64() as usize % n;
        let (kind, count) = ([IntegerKind::U8, IntegerKind::I8, IntegerKind::I16][draw(3)], 1 + draw(256));
        let ks: Vec<usize> = (0..1 + draw(6)).map(|_| draw(count)).collect();
        // Often few different integers.
        let low = kind.range()[0] / (1 + draw(3) as i128);
        let width = 1 << [3, 5, 8][draw(3)];
        let high = (low + draw(width) as i128).min(kind.range()[1]);
        let x = within(&mut bench, [low, high], count);
        check(&mut bench, kind, kind.range(), &x, &ks);
        check(&mut bench, kind, [low, high], &x, &ks);
    }
}

/// Tests that a digit takes a table of the rows and one of equal rows for each group of ranks, and one comparison for all of them.
#[test]
fn one_search_for_all_places_takes_few_look_ups() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U16;
    let x = within(&mut bench, kind.range(), 60);
    // Counts up to 60 and b from −60: one digit and its carry.
    assert_eq!(check(&mut bench, kind, kind.range(), &x, &[59]), 4 * (2 + 2) - 1);
    assert_eq!(check(&mut bench, kind, kind.range(), &x, &[59, 58, 57, 56]), 4 * (2 + 2) - 1);
    // Eight places: groups of two blocks need 128 slots of the rows, so that four are searched for at a time.
    let of_eight = check(&mut bench, kind, kind.range(), &x, &[59, 58, 57, 56, 55, 54, 53, 52]);
    assert_eq!(of_eight, 2 * (4 * (2 + 2) - 1));
    // Two groups of two blocks each, for 128 rows.
    let x = within(&mut bench, kind.range(), 128);
    let of_four = check(&mut bench, kind, kind.range(), &x, &[0, 1, 2, 3]);
    assert_eq!(of_four, (1 + 2 + 2) + 2 * (2 + 2 + 2) + (2 + 2));
}

#[test]
fn greatest_and_least_integers_are_listed() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::I8;
    let mut x = bench.values(kind, 50);
    x[3] = 127;
    x[40] = 127;
    let a = bench.encrypt(kind, &x);
    x.sort_unstable();
    let e = RowEvaluator::new(bench.evaluator());
    let open = |found: Vec<Integers>| -> Vec<i128> { found.iter().map(|a| bench.open(a)[0]).collect() };
    assert_eq!(open(e.bottom(&a, 3).unwrap()), x[..3]);
    assert_eq!(open(e.top(&a, 4).unwrap()), x.iter().rev().take(4).copied().collect::<Vec<_>>());
    let few = a.clone().first(3);
    assert_eq!(e.top(&few, 3).unwrap().len(), 3);
    for (rows, k) in [(50, 51), (3, 4), (50, 0)] {
        let refused = e.top(&a.clone().first(rows), k).err().unwrap();
        assert!(
            matches!(refused, IntegerError::Operand { what: "the number of integers to list", .. }),
            "{refused}"
        );
        assert!(e.bottom(&a.clone().first(rows), k).is_err());
    }
    let refused = e.kth_many(&a, &[0, 50]).err().unwrap();
    assert!(matches!(refused, IntegerError::Operand { got: 50, .. }), "{refused}");
    assert!(e.kth_many(&a, &[]).unwrap().is_empty());
}

/// Tests rows of several batches, full ones and others, against a sort of all.
#[test]
fn rows_of_several_batches_have_one_order() {
    let mut bench = Bench::for_integers();
    for (kind, bounds, counts, ks) in [
        (IntegerKind::U8, [[0, 255], [0, 255], [0, 255]], [256, 256, 77], vec![0, 300, 588]),
        (IntegerKind::I8, [[-128, 127], [-3, 5], [0, 90]], [5, 256, 100], vec![360, 359, 4, 5]),
        (IntegerKind::I16, [[-3, 1], [2, 40], [-300, -290]], [1, 2, 3], vec![0, 1, 2, 3, 4, 5]),
    ] {
        let rows: Vec<Vec<i128>> =
            bounds.iter().zip(counts).map(|(bounds, count)| within(&mut bench, *bounds, count)).collect();
        let batches: Vec<Integers> =
            rows.iter().zip(bounds).map(|(rows, bounds)| bench.encrypt_within(kind, bounds, rows)).collect();
        let found = RowEvaluator::new(bench.evaluator()).kth_many_of(&batches, &ks).unwrap();
        let mut sorted = rows.concat();
        sorted.sort_unstable();
        for (found, &k) in found.iter().zip(&ks) {
            assert_eq!(bench.open(found), vec![sorted[k]; counts[0]], "{kind} {counts:?} {k}");
        }
    }
    let [a, b] = [IntegerKind::U8, IntegerKind::I8].map(|kind| bench.encrypt(kind, &[1, 2]));
    let e = RowEvaluator::new(bench.evaluator());
    assert!(matches!(e.kth_many_of(&[], &[0]), Err(IntegerError::Operand { got: 0, .. })));
    assert!(matches!(e.kth_many_of(&[a.clone(), b], &[0]), Err(IntegerError::Mismatch { .. })));
    assert!(matches!(e.kth_many_of(&[a.clone(), a], &[4]), Err(IntegerError::Operand { got: 4, .. })));
}

/// Tests counts of more rows than are compared as they are: their digits are looked up first, and no place is another.
#[test]
fn counts_of_many_rows_are_looked_up_before_they_are_compared() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U8;
    // Windows of 256, of 16 and of 3·16 rows.
    for (counts, ks, digits) in
        [(vec![256], vec![0, 100, 255], 3), (vec![60], vec![3, 58, 59], 2), (vec![256, 9, 256], vec![520], 2)]
    {
        let rows: Vec<Vec<i128>> =
            counts.iter().map(|&count| within(&mut bench, kind.range(), count)).collect();
        let mut sorted = rows.concat();
        sorted.sort_unstable();
        let batches: Vec<Integers> = rows.iter().map(|rows| bench.encrypt(kind, rows)).collect();
        let look_ups = [sorted.len(), sorted.len() - 1].map(|counted| {
            let work = IntegerWork::default();
            let e = RowEvaluator::new(bench.evaluator().with_work(&work));
            let (found, _) = e.of_ranks(&batches, &ks, counted, false).unwrap();
            for (digits, &k) in found.into_iter().zip(&ks) {
                let found = Integers { digits, ..batches[0].clone() };
                assert_eq!(bench.open(&found), vec![sorted[k]; counts[0]], "{counts:?} {k}");
            }
            work.look_ups()
        });
        // Those of the windows for each of two digits.
        assert_eq!(look_ups[1], look_ups[0] + 2 * digits, "{counts:?}");
    }
}
