use super::*;

/// Clear integers with these bounds: both ends, and random ones.
fn clear(bench: &mut Bench, [low, high]: [i128; 2], count: usize) -> Vec<i128> {
    let width = (high - low + 1) as u64;
    let mut values: Vec<i128> = vec![low, high];
    values.extend((2..count).map(|_| low + i128::from(bench.rng.next_u64() % width)));
    values
}

/// Evaluates with counts of look-ups, key switches and products with clear digits.
fn counted<T>(bench: &Bench, run: impl FnOnce(&IntegerEvaluator<'_>) -> T) -> (T, [u64; 3]) {
    let work = IntegerWork::default();
    let result = run(&bench.evaluator().with_work(&work));
    (result, [work.look_ups(), work.key_switches(), work.plain_products()])
}

#[test]
fn clear_integers_are_added_without_a_look_up() {
    let mut bench = Bench::for_integers();
    let half = bench.evaluator().capacity() / 2;
    for (count, kind, bounds, to) in [
        (40, IntegerKind::U8, [2000, 2020], IntegerKind::U16),
        (half, IntegerKind::I8, [-300, 41], IntegerKind::I16),
        (2 * half, IntegerKind::U8, [-255, 0], IntegerKind::I16),
        (2 * half, IntegerKind::I16, [7, 7], IntegerKind::I32),
    ] {
        let (x, c) = (bench.values(kind, count), clear(&mut bench, bounds, count));
        let a = bench.encrypt(kind, &x);
        let own = ClearIntegers::new(&c, bounds).unwrap();
        let (sum, counts) = counted(&bench, |e| {
            e.linear_combination_plus(&[(3, &a), (-1, &a)], &own, to, to.range()).unwrap()
        });
        assert_eq!(counts, [0; 3]);
        let expected: Vec<i128> = x.iter().zip(&c).map(|(x, c)| 2 * x + c).collect();
        assert_eq!(bench.open(&sum), expected, "{bounds:?}");
        // Comparisons take the integer, and not what it is modulo 2^bits.
        let less = bench.evaluator().less_than_clear(&sum, 4).unwrap();
        assert_eq!(bench.open_conditions(&less), expected.iter().map(|v| *v < 4).collect::<Vec<_>>());
    }
}

#[test]
fn products_with_clear_integers_are_exact_and_relinearise_nothing() {
    let mut bench = Bench::for_integers();
    let half = bench.evaluator().capacity() / 2;
    for (count, kind, bounds, bits) in [
        (half, IntegerKind::U8, [2000, 2020], 20),
        (40, IntegerKind::I8, [-300, 41], 20),
        (2 * half, IntegerKind::U8, [-15, 15], 16),
        (2 * half, IntegerKind::I16, [0, 1], 16),
        (30, IntegerKind::U8, [0, 0], 8),
    ] {
        let to = IntegerKind::new(bits, kind.is_signed() || bounds[0] < 0).unwrap();
        let (x, c) = (bench.values(kind, count), clear(&mut bench, bounds, count));
        let a = bench.encrypt(kind, &x);
        let own = ClearIntegers::new(&c, bounds).unwrap();
        let (product, [look_ups, switches, plain]) =
            counted(&bench, |e| e.multiply_each(&a, &own, to, to.range()).unwrap());
        let both = 2 * count > bench.evaluator().capacity();
        assert_eq!((look_ups, switches), (0, if both { kind.digits() as u64 } else { 0 }));
        assert!(plain > 0 || bounds == [0, 0]);
        let expected: Vec<i128> = x.iter().zip(&c).map(|(x, c)| x * c).collect();
        assert_eq!(bench.open(&product), expected, "{kind}, {bounds:?}");
        let less = bench.evaluator().less_than_clear(&product, 100).unwrap();
        assert_eq!(bench.open_conditions(&less), expected.iter().map(|v| *v < 100).collect::<Vec<_>>());
        // Products of products: digits have grown, and levels are left for one alone.
        let again = bench.evaluator().multiply_each(&product, &own, to, to.range()).unwrap();
        let expected: Vec<i128> = x.iter().zip(&c).map(|(x, c)| to.wrapped(x * c * c)).collect();
        assert_eq!(bench.open(&again), expected, "{kind}, {bounds:?}");
    }
}

#[test]
fn products_are_taken_modulo_the_kind() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U8;
    let (x, c) = (bench.values(kind, 50), clear(&mut bench, [-4000, 4000], 50));
    let a = bench.encrypt(kind, &x);
    let own = ClearIntegers::new(&c, [-4000, 4000]).unwrap();
    let product = bench.evaluator().multiply_each(&a, &own, kind, kind.range()).unwrap();
    let expected: Vec<i128> = x.iter().zip(&c).map(|(x, c)| kind.wrapped(x * c)).collect();
    assert_eq!(bench.open(&product), expected);
    let less = bench.evaluator().less_than_clear(&product, 77).unwrap();
    assert_eq!(bench.open_conditions(&less), expected.iter().map(|v| *v < 77).collect::<Vec<_>>());
}

#[test]
fn conditions_are_masked_by_clear_ones() {
    let mut bench = Bench::for_integers();
    let capacity = bench.evaluator().capacity();
    for count in [60, capacity] {
        let (x, mask) = (bench.values(IntegerKind::U8, count), clear(&mut bench, [0, 1], count));
        let a = bench.encrypt(IntegerKind::U8, &x);
        let own = ClearIntegers::new(&mask, [0, 1]).unwrap();
        let e = bench.evaluator();
        let less = e.less_than_clear(&a, 100).unwrap();
        let (both, counts) = counted(&bench, |e| e.and_each(&less, &own).unwrap());
        assert_eq!(counts, [0, u64::from(count == capacity), 1]);
        let expected: Vec<bool> = x.iter().zip(&mask).map(|(x, m)| *x < 100 && *m == 1).collect();
        assert_eq!(bench.open_conditions(&both), expected);
        // Again, without a level left.
        let twice = e.and_each(&both, &own).unwrap();
        assert_eq!(bench.open_conditions(&twice), expected);
    }
}

#[test]
fn clear_integers_that_do_not_fit_are_refused() {
    let mut bench = Bench::for_integers();
    let a = bench.encrypt(IntegerKind::U8, &[1, 2, 3]);
    let e = bench.evaluator();
    let short = ClearIntegers::new(&[1, 2], [0, 9]).unwrap();
    let wide = ClearIntegers::new(&[1, 2, 3], [0, 1 << 40]).unwrap();
    let kind = IntegerKind::U8;
    assert!(matches!(e.multiply_each(&a, &short, kind, [0, 9]), Err(IntegerError::Mismatch { .. })));
    assert!(matches!(
        e.linear_combination_plus(&[(1, &a)], &short, kind, [0, 9]),
        Err(IntegerError::Mismatch { .. })
    ));
    assert!(matches!(
        e.linear_combination_plus(&[(1, &a)], &wide, kind, [0, 9]),
        Err(IntegerError::Operand { .. })
    ));
    assert!(matches!(e.multiply_each(&a, &wide, kind, [0, 256]), Err(IntegerError::Operand { .. })));
    let less = e.less_than_clear(&a, 2).unwrap();
    assert!(matches!(e.and_each(&less, &wide), Err(IntegerError::Operand { .. })));
    assert!(matches!(e.and_each(&less, &short), Err(IntegerError::Mismatch { .. })));
}
