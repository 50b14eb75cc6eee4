use super::*;

#[test]
fn combinations_of_other_kinds_are_exact_or_wrap() {
    let mut bench = Bench::for_integers();
    let kinds = [IntegerKind::U8, IntegerKind::I16, IntegerKind::new(4, false).unwrap()];
    let values = kinds.map(|kind| bench.values(kind, 40));
    let [a, b, c] = [0, 1, 2].map(|i| bench.encrypt(kinds[i], &values[i]));
    let at = |row: usize, [p, q, r]: [i128; 3], constant: i128| {
        p * values[0][row] + q * values[1][row] + r * values[2][row] + constant
    };
    let e = bench.evaluator();
    for (factors, constant, bits, signed) in [
        ([1, 0, 0], 0, 8, false),
        ([1, 1, 1], 0, 20, true),
        ([-1, 2, 300], -70_000, 24, true),
        // A multiple with columns above the top, and a constant beyond it.
        ([1_000_003, -77, 5], 1 << 30, 16, false),
        ([0, 0, 1], 3000, 8, false),
    ] {
        let kind = IntegerKind::new(bits, signed).unwrap();
        let terms = [(factors[0], &a), (factors[1], &b), (factors[2], &c)];
        let all: Vec<i128> = (0..40).map(|row| at(row, factors, constant)).collect();
        let [low, high] = kind.range();
        let inside = all.iter().all(|value| (low..=high).contains(value));
        let found = e.linear_combination(&terms, constant, kind, kind.range()).unwrap();
        let expected: Vec<i128> = all.iter().map(|value| kind.wrapped(*value)).collect();
        assert_eq!(bench.open(&found), expected, "{factors:?}");
        assert_eq!(bench.open(&e.carried(&found).unwrap()), expected, "{factors:?}");
        // Comparisons take the integer, and not what it is modulo 2^bits.
        let less = e.less_than_clear(&found, 5).unwrap();
        let expected: Vec<bool> = expected.iter().map(|value| *value < 5).collect();
        assert_eq!(bench.open_conditions(&less), expected, "{factors:?}, {inside}");
    }
    assert!(e.linear_combination(&[], 0, IntegerKind::U8, [0, 1]).is_err());
    assert!(e.linear_combination(&[(1, &a)], 0, IntegerKind::U8, [0, 256]).is_err());
}

#[test]
fn sums_that_were_carried_beyond_their_kind_are_compared_as_they_are() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U8;
    let x: Vec<i128> = (0..20).map(|i| 12 * i).collect();
    let a = bench.encrypt(kind, &x);
    let e = bench.evaluator();
    // 500·a is above 2^8 and carried before 499·a is taken away again.
    let found = e.linear_combination(&[(500, &a), (-499, &a)], 0, kind, kind.range()).unwrap();
    assert_eq!(bench.open(&found), x);
    let less = e.less_than_clear(&found, 100).unwrap();
    assert_eq!(bench.open_conditions(&less), x.iter().map(|x| *x < 100).collect::<Vec<bool>>());
}

#[test]
fn integers_of_0_and_1_are_conditions() {
    let mut bench = Bench::for_integers();
    let bits: Vec<i128> = (0..30).map(|i| i % 3 / 2).collect();
    let a = bench.encrypt_within(IntegerKind::U8, [0, 1], &bits);
    let e = bench.evaluator();
    let expected: Vec<bool> = bits.iter().map(|bit| *bit == 1).collect();
    let conditions = e.conditions_of(&a).unwrap();
    assert_eq!(bench.open_conditions(&conditions), expected);
    // The opposite, as integers.
    let none = e.linear_combination(&[(-1, &a)], 1, IntegerKind::U8, [0, 1]).unwrap();
    let opposite: Vec<bool> = expected.iter().map(|holds| !holds).collect();
    assert_eq!(bench.open_conditions(&e.conditions_of(&none).unwrap()), opposite);
    let wide = bench.encrypt(IntegerKind::U8, &bits);
    assert!(bench.evaluator().conditions_of(&wide).is_err());
    let clear = bench.evaluator().clear_batch(&wide, IntegerKind::I8, &vec![-3; 30]).unwrap();
    assert_eq!(bench.open(&clear), vec![-3; 30]);
}
