use super::*;

#[test]
fn order_statistics_and_places() {
    let mut bench = Bench::for_integers();
    for (kind, count) in
        [(IntegerKind::U8, 50), (IntegerKind::I8, 200), (IntegerKind::U16, 9), (IntegerKind::I8, 1)]
    {
        let mut x = bench.values(kind, count);
        // Several least and greatest.
        x[count / 2] = x.iter().copied().max().unwrap();
        x[count / 3] = x.iter().copied().min().unwrap();
        let a = bench.encrypt(kind, &x);
        let e = RowEvaluator::new(bench.evaluator());
        let mut sorted = x.clone();
        sorted.sort_unstable();
        for k in [0, count / 2, count - 1] {
            let found = bench.open(&e.kth(&a, k).unwrap());
            assert_eq!(found, vec![sorted[k]; count], "{kind} {k} of {count}");
        }
        assert_eq!(bench.open(&e.median(&a).unwrap())[0], sorted[(count - 1) / 2]);
        if 2 * count > e.capacity() {
            assert!(matches!(e.argmax(&a), Err(IntegerError::Operand { .. })));
            continue;
        }
        let [value, place] = e.argmax(&a).unwrap();
        assert_eq!(bench.open(&value)[0], sorted[count - 1]);
        let first = x.iter().position(|x| *x == sorted[count - 1]).unwrap();
        assert_eq!(bench.open(&place), vec![first as i128; count]);
        let [_, place] = e.argmin(&a).unwrap();
        assert_eq!(bench.open(&place)[0], x.iter().position(|x| *x == sorted[0]).unwrap() as i128);
    }
}

#[test]
fn sums_over_all_rows() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U16;
    let x: Vec<i128> = (0..200).map(|i| i * 7 % 256).collect();
    let a = bench.encrypt_within(kind, [0, 255], &x);
    let e = RowEvaluator::new(bench.evaluator());
    let sum = e.sum(&a).unwrap();
    assert_eq!(sum.bounds(), [0, 255 * 200]);
    assert_eq!(bench.open(&sum), vec![x.iter().sum::<i128>(); 200]);
    let small = RowEvaluator::new(bench.evaluator())
        .count(&bench.evaluator().less_than_clear(&a, 100).unwrap())
        .unwrap();
    assert_eq!(bench.open(&small)[0], x.iter().filter(|x| **x < 100).count() as i128);
    let wide = bench.encrypt(kind, &x.iter().map(|x| 65535 - x).collect::<Vec<_>>());
    let expected = kind.wrapped(x.iter().map(|x| 65535 - x).sum());
    assert_eq!(bench.open(&RowEvaluator::new(bench.evaluator()).sum(&wide).unwrap())[0], expected);
    let integers = bench.evaluator().with_overflow(Overflow::Refuse);
    let refused = RowEvaluator::new(integers).sum(&wide).err().unwrap();
    assert!(matches!(refused, IntegerError::Overflow { .. }), "{refused}");
}

#[test]
fn sorting_and_ranks() {
    let mut bench = Bench::for_integers();
    // One block of pairs, and several.
    for (kind, count) in [(IntegerKind::U8, 13), (IntegerKind::I8, 30)] {
        let mut x = bench.values(kind, count);
        x[2] = x[7];
        x[0] = x[9];
        let a = bench.encrypt(kind, &x);
        let e = RowEvaluator::new(bench.evaluator());
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&i| x[i]);
        let expected: Vec<i128> = order.iter().map(|&i| x[i]).collect();
        assert_eq!(bench.open(&e.sorted(&a).unwrap()), expected, "{kind} {count}");
        let mut ranks = vec![0; count];
        order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as i128);
        assert_eq!(bench.open(&e.ranks(&a).unwrap()), ranks, "{kind} {count}");
    }
}
