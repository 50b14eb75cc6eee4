//! Tables of more than 12 bits, and of two integers.

use super::*;

/// A function without order: entries follow from the integer by a product and a shift.
fn mixed(x: i128) -> i128 {
    (x + 12_345).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37
}

/// Integers between bounds: spread, all equal, by turns, and the ends.
fn inputs([low, high]: [i128; 2], count: usize) -> [Vec<i128>; 4] {
    let middle = i128::midpoint(low, high);
    let of = |f: &dyn Fn(i128) -> i128| (0..count as i128).map(f).collect();
    [
        of(&|i| low + i * 40_503 % (high - low + 1)),
        of(&|_| middle),
        of(&|i| middle + i % 2),
        of(&|i| if i % 2 == 0 { low } else { high }),
    ]
}

#[track_caller]
fn looks_up(bench: &mut Bench, kind: IntegerKind, bounds: [i128; 2], to: IntegerKind, which: usize) {
    let capacity = bench.evaluator().capacity();
    let x = &inputs(bounds, capacity)[which];
    let a = bench.encrypt_within(kind, bounds, x);
    let work = IntegerWork::default();
    let found = bench.evaluator().with_work(&work).table(&a, to, mixed).unwrap();
    let expected: Vec<i128> = x.iter().map(|&x| to.wrapped(mixed(x))).collect();
    assert_eq!(bench.open(&found), expected, "{kind} {bounds:?} {which}");
    assert_eq!(work.look_ups(), 4 + to.digits() as u64, "{kind} {bounds:?}");
}

#[test]
fn tables_of_thirteen_and_fourteen_bits() {
    let mut bench = Bench::for_integers();
    for which in 0..4 {
        looks_up(&mut bench, IntegerKind::U16, [0, (1 << 13) - 1], IntegerKind::U8, which);
        looks_up(&mut bench, IntegerKind::I16, [-(1 << 13), (1 << 13) - 1], IntegerKind::I8, which);
    }
    // A first entry beyond 12 bits, and bounds that end within a leaf.
    looks_up(&mut bench, IntegerKind::U32, [70_000, 74_096], IntegerKind::new(12, true).unwrap(), 3);
    looks_up(&mut bench, IntegerKind::U16, [1, 9_000], IntegerKind::new(4, false).unwrap(), 0);
}

#[test]
fn tables_of_sixteen_bits() {
    let mut bench = Bench::for_integers();
    let to = IntegerKind::new(4, false).unwrap();
    for which in [0, 3] {
        looks_up(&mut bench, IntegerKind::U16, IntegerKind::U16.range(), to, which);
    }
    looks_up(&mut bench, IntegerKind::I16, IntegerKind::I16.range(), IntegerKind::U8, 1);
    let wide = bench.encrypt_within(IntegerKind::U32, [0, 1 << 16], &[1, 2, 3]);
    let refused = bench.evaluator().table(&wide, IntegerKind::U8, |x| x).err().unwrap();
    assert!(matches!(refused, IntegerError::Operand { got: 65537, .. }), "{refused}");
}

/// Digits of results that are always 0 take no product, and equal parts of a table one.
#[test]
fn tables_with_equal_parts_take_less() {
    let mut bench = Bench::for_integers();
    let x = inputs([0, 8191], bench.evaluator().capacity())[0].clone();
    let a = bench.encrypt_within(IntegerKind::U16, [0, 8191], &x);
    let switches = |f: fn(i128) -> i128| {
        let work = IntegerWork::default();
        let found = bench.evaluator().with_work(&work).table(&a, IntegerKind::U32, f).unwrap();
        assert_eq!(bench.open(&found), x.iter().map(|&x| f(x)).collect::<Vec<_>>());
        (work.look_ups(), work.key_switches())
    };
    let [nothing, steps, all] = [switches(|_| 0), switches(|x| x / 4096 + 3), switches(|x| mixed(x) & 15)];
    assert_eq!([nothing.0, steps.0, all.0], [4, 5, 5]);
    assert!(nothing.1 < steps.1 && steps.1 <= all.1, "{nothing:?} {steps:?} {all:?}");
}

/// Sums that wrapped are looked up by their digits modulo 16, without carries first.
#[test]
fn sums_that_wrap_are_looked_up() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U8;
    let [x, y] = [0, 1].map(|_| bench.values(kind, 200));
    let [a, b] = [&x, &y].map(|values| bench.encrypt(kind, values));
    let work = IntegerWork::default();
    let e = bench.evaluator().with_work(&work);
    let found = e.table(&e.add(&a, &b).unwrap(), kind, mixed).unwrap();
    let expected = each(&x, &y, kind, |x, y| mixed(kind.wrapped(x + y)));
    assert_eq!((bench.open(&found), work.look_ups()), (expected, 2));
}

#[test]
fn tables_of_two_integers() {
    let mut bench = Bench::for_integers();
    let to = IntegerKind::I16;
    for (kinds, x_bounds, y_bounds, look_ups) in [
        ([IntegerKind::U8, IntegerKind::I8], [3, 6], [-1, 2], 1),
        ([IntegerKind::I8, IntegerKind::U16], [-7, 9], [1000, 1010], 2),
        ([IntegerKind::U64, IntegerKind::U8], [1 << 40, (1 << 40) + 60], [0, 60], 3 + 4),
        ([IntegerKind::U8, IntegerKind::U8], [0, 255], [0, 20], 4 + 4),
    ] {
        let [x, y] = [x_bounds, y_bounds].map(|[low, high]: [i128; 2]| -> Vec<i128> {
            let ends = [low, high, low, high];
            let others = (0..196).map(|_| low + i128::from(bench.rng.next_u64()) % (high - low + 1));
            ends.into_iter().chain(others).collect()
        });
        let mut y = y;
        y.swap(0, 1);
        let a = bench.encrypt_within(kinds[0], x_bounds, &x);
        let b = bench.encrypt_within(kinds[1], y_bounds, &y);
        let f = |x: i128, y: i128| mixed(x) ^ mixed(3 * y);
        let work = IntegerWork::default();
        let found = bench.evaluator().with_work(&work).table_of_two(&a, &b, to, f).unwrap();
        assert_eq!(bench.open(&found), each(&x, &y, to, f), "{kinds:?}");
        assert_eq!(work.look_ups(), look_ups, "{kinds:?}");
    }
    let [a, b] = [IntegerKind::U8, IntegerKind::U16].map(|kind| bench.encrypt(kind, &[1, 2]));
    let e = bench.evaluator();
    let refused = e.table_of_two(&a, &b, to, |x, _| x).err().unwrap();
    assert!(matches!(refused, IntegerError::Operand { got: 16_777_216, .. }), "{refused}");
    let refused = e.table_of_two(&a, &a.clone().first(1), to, |x, _| x).err().unwrap();
    assert!(matches!(refused, IntegerError::Mismatch { .. }), "{refused}");
}
