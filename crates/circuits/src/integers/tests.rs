use chacha20::rand_core::Rng as _;

use super::*;
use crate::bootstrap::Set;
use crate::bootstrap::functional::bench::Bench;

mod combination;
mod dry;
mod edge;
mod equality;
mod network;
mod order;
mod plain;
mod rows;
mod sorting;
mod tables;

impl Bench {
    fn for_integers() -> Self {
        Self::new(&Set::insecure_for_integers(9), 11)
    }

    fn evaluator(&self) -> IntegerEvaluator<'_> {
        IntegerEvaluator::new(&self.bootstrapper, &self.keys).unwrap()
    }

    /// Integers of a kind: the ends, beside them, and random ones.
    fn values(&mut self, kind: IntegerKind, count: usize) -> Vec<i128> {
        let [least, largest] = kind.range();
        let ends = [least, least + 1, largest, largest - 1, kind.wrapped(-1), 0, 1, largest / 2];
        let mut values: Vec<i128> = ends.to_vec();
        values.extend((values.len()..count).map(|_| kind.wrapped(i128::from(self.rng.next_u64()))));
        values.truncate(count);
        // No pairs of ends alone.
        let by = self.rng.next_u64() as usize % count.max(1);
        values.rotate_left(by);
        values
    }

    fn encrypt(&mut self, kind: IntegerKind, values: &[i128]) -> Integers {
        self.encrypt_within(kind, kind.range(), values)
    }

    fn encrypt_within(&mut self, kind: IntegerKind, bounds: [i128; 2], values: &[i128]) -> Integers {
        let evaluator = IntegerEvaluator::new(&self.bootstrapper, &self.keys).unwrap();
        let (context, secret, rng) = (&self.context, &self.secret, &mut self.rng);
        evaluator
            .encrypt(kind, bounds, values, |plaintext| context.encrypt_secret(plaintext, secret, rng))
            .unwrap()
    }

    fn open(&self, a: &Integers) -> Vec<i128> {
        self.check_noise(a);
        let values = self.evaluator().decrypt(a, &self.secret).unwrap();
        let [low, high] = a.bounds();
        assert!(values.iter().all(|value| (low..=high).contains(value)), "{low} {high}");
        values
    }

    /// Checks that no digit is off by more than the bound on its noise.
    fn check_noise(&self, a: &Integers) {
        for digit in &a.digits {
            let slots = self.open_slots(&digit.ciphertext);
            let off = |number: f64| (8.0 * number - (8.0 * number).round()).abs() / 8.0;
            let parts = slots.iter().map(|slot| slot.re).chain(slots.iter().map(|slot| slot.im));
            let worst = parts.take(a.count).map(off).fold(0.0, f64::max);
            let bound = self.evaluator().noise(digit);
            assert!(worst <= bound, "off by 2^{:.1}, bound 2^{:.1}", worst.log2(), bound.log2());
        }
    }

    fn open_conditions(&self, a: &Conditions) -> Vec<bool> {
        self.evaluator().decrypt_conditions(a, &self.secret).unwrap()
    }
}

fn each(a: &[i128], b: &[i128], kind: IntegerKind, f: impl Fn(i128, i128) -> i128) -> Vec<i128> {
    a.iter().zip(b).map(|(&a, &b)| kind.wrapped(f(a, b))).collect()
}

#[test]
fn sums_and_products_wrap() {
    let mut bench = Bench::for_integers();
    let capacity = bench.evaluator().capacity();
    for kind in [IntegerKind::U8, IntegerKind::I16] {
        let [x, y] = [0, 1].map(|_| bench.values(kind, capacity));
        let [a, b] = [&x, &y].map(|values| bench.encrypt(kind, values));
        let e = bench.evaluator();
        let sum = e.add(&a, &b).unwrap();
        assert_eq!(bench.open(&sum), each(&x, &y, kind, |x, y| x + y));
        assert_eq!(bench.open(&e.carried(&sum).unwrap()), each(&x, &y, kind, |x, y| x + y));
        assert_eq!(bench.open(&e.sub(&a, &b).unwrap()), each(&x, &y, kind, |x, y| x - y));
        let product = e.multiply(&sum, &b).unwrap();
        assert_eq!(bench.open(&product), each(&x, &y, kind, |x, y| (x + y) * y));
        for digit in &product.digits {
            println!("{kind}: noise of a digit of a product 2^{:.1}", e.noise(digit).log2());
        }
        // Products go into products.
        let again = e.multiply(&product, &product).unwrap();
        let expected = each(&x, &y, kind, |x, y| (x + y) * y * kind.wrapped((x + y) * y));
        assert_eq!(bench.open(&again), expected);
    }
}

#[test]
fn comparisons_are_exact_at_the_ends() {
    let mut bench = Bench::for_integers();
    for kind in [IntegerKind::U8, IntegerKind::I8, IntegerKind::new(12, true).unwrap()] {
        let [x, y] = [0, 1].map(|_| bench.values(kind, 300));
        // Equal ones, and neighbours.
        let y: Vec<i128> = x
            .iter()
            .zip(&y)
            .enumerate()
            .map(|(i, (&x, &y))| match i % 4 {
                0 => x,
                1 => kind.wrapped(x + 1),
                2 => kind.wrapped(x - 1),
                _ => y,
            })
            .collect();
        let [a, b] = [&x, &y].map(|values| bench.encrypt(kind, values));
        let e = bench.evaluator();
        let pairs = || x.iter().zip(&y);
        let less = e.less(&a, &b).unwrap();
        assert_eq!(bench.open_conditions(&less), pairs().map(|(x, y)| x < y).collect::<Vec<_>>());
        let equal = e.equal(&a, &b).unwrap();
        assert_eq!(bench.open_conditions(&equal), pairs().map(|(x, y)| x == y).collect::<Vec<_>>());
        assert_eq!(bench.open(&e.min(&a, &b).unwrap()), each(&x, &y, kind, i128::min));
        let max = e.max(&a, &b).unwrap();
        assert_eq!(bench.open(&max), each(&x, &y, kind, i128::max));
        // What was selected is compared again.
        let again = e.less(&a, &max).unwrap();
        assert_eq!(bench.open_conditions(&again), pairs().map(|(x, y)| x < y).collect::<Vec<_>>());
        for c in [kind.range()[0], 0, 5, kind.range()[1], kind.range()[1] + 1] {
            let less = e.less_than_clear(&a, c).unwrap();
            assert_eq!(bench.open_conditions(&less), x.iter().map(|&x| x < c).collect::<Vec<_>>(), "{c}");
            let equal = e.equal_to_clear(&a, c).unwrap();
            assert_eq!(bench.open_conditions(&equal), x.iter().map(|&x| x == c).collect::<Vec<_>>(), "{c}");
        }
        // A sum that wraps is compared after it wrapped.
        let wrapped = e.less(&e.add(&a, &b).unwrap(), &b).unwrap();
        let expected: Vec<bool> = pairs().map(|(x, y)| kind.wrapped(x + y) < *y).collect();
        assert_eq!(bench.open_conditions(&wrapped), expected);
    }
}

#[test]
fn quotients_round_down() {
    let mut bench = Bench::for_integers();
    for kind in [IntegerKind::U8, IntegerKind::I8, IntegerKind::U16, IntegerKind::I16] {
        let x = bench.values(kind, 200);
        let a = bench.encrypt(kind, &x);
        let e = bench.evaluator();
        for k in [0, 1, 3, 4, 6, kind.bits() - 1] {
            let shifted = e.shift_right(&a, k).unwrap();
            assert_eq!(bench.open(&shifted), x.iter().map(|x| x >> k).collect::<Vec<_>>(), "{kind} {k}");
            let left = e.shift_left(&a, k).unwrap();
            assert_eq!(bench.open(&left), x.iter().map(|x| kind.wrapped(x << k)).collect::<Vec<_>>());
        }
        for d in [1, 3, 10, 16, 17, 100, kind.range()[1] - 1, kind.range()[1]] {
            let [quotient, remainder] = e.divide_clear(&a, d).unwrap();
            assert_eq!(
                bench.open(&quotient),
                x.iter().map(|x| x.div_euclid(d)).collect::<Vec<_>>(),
                "{kind} {d}"
            );
            assert_eq!(
                bench.open(&remainder),
                x.iter().map(|x| x.rem_euclid(d)).collect::<Vec<_>>(),
                "{kind} {d}"
            );
        }
        for d in [0, -3, kind.range()[1] + 1] {
            assert!(matches!(e.divide_clear(&a, d), Err(IntegerError::Operand { .. })));
        }
    }
}

#[test]
fn selections_and_clear_ends() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::I8;
    let [x, y] = [0, 1].map(|_| bench.values(kind, 120));
    let [a, b] = [&x, &y].map(|values| bench.encrypt(kind, values));
    let e = bench.evaluator();
    let one = |f: &dyn Fn(i128) -> i128| x.iter().map(|&x| kind.wrapped(f(x))).collect::<Vec<_>>();
    assert_eq!(bench.open(&e.relu(&a).unwrap()), one(&|x| x.max(0)));
    assert_eq!(bench.open(&e.abs(&a).unwrap()), one(&i128::abs));
    assert_eq!(bench.open(&e.min_clear(&a, -20).unwrap()), one(&|x| x.min(-20)));
    assert_eq!(bench.open(&e.max_clear(&a, 127).unwrap()), one(&|x| x.max(127)));
    assert_eq!(bench.open(&e.negate(&a).unwrap()), one(&|x| -x));
    assert_eq!(bench.open(&e.add_clear(&a, -128).unwrap()), one(&|x| x - 128));
    assert_eq!(bench.open(&e.multiply_clear(&a, 255).unwrap()), one(&|x| x * 255));
    assert_eq!(bench.open(&e.add_clear_batch(&a, &y).unwrap()), each(&x, &y, kind, |x, y| x + y));
    let [less, equal] = [e.less(&a, &b).unwrap(), e.equal_to_clear(&a, 0).unwrap()];
    let [p, q]: [Vec<bool>; 2] =
        [x.iter().zip(&y).map(|(x, y)| x < y).collect(), x.iter().map(|&x| x == 0).collect()];
    let pairs =
        |f: &dyn Fn(bool, bool) -> bool| p.iter().zip(&q).map(|(&p, &q)| f(p, q)).collect::<Vec<bool>>();
    assert_eq!(bench.open_conditions(&e.and(&less, &equal).unwrap()), pairs(&|p, q| p && q));
    assert_eq!(bench.open_conditions(&e.or(&less, &equal).unwrap()), pairs(&|p, q| p || q));
    assert_eq!(bench.open_conditions(&e.xor(&less, &equal).unwrap()), pairs(&|p, q| p != q));
    assert_eq!(bench.open_conditions(&e.not(&less).unwrap()), pairs(&|p, _| !p));
    let ones = e.integers_of(&less, IntegerKind::U8).unwrap();
    assert_eq!(bench.open(&ones), p.iter().map(|&p| i128::from(p)).collect::<Vec<_>>());
}

#[test]
fn several_batches_in_order() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U8;
    let x: Vec<Vec<i128>> = (0..5).map(|_| bench.values(kind, 64)).collect();
    let batches: Vec<Integers> = x.iter().map(|values| bench.encrypt(kind, values)).collect();
    let e = bench.evaluator();
    let column = |i: usize| x.iter().map(|values| values[i]).collect::<Vec<_>>();
    let [value, place] = e.argmax_of(&batches).unwrap();
    let [value, place] = [bench.open(&value), bench.open(&place)];
    let sorted = e.sorted_of(&batches).unwrap();
    let sorted: Vec<Vec<i128>> = sorted.iter().map(|batch| bench.open(batch)).collect();
    let median = bench.open(&e.kth_of(&batches, 2).unwrap());
    for i in 0..64 {
        let mut own = column(i);
        let first = own.iter().position(|x| x == own.iter().max().unwrap()).unwrap();
        assert_eq!((value[i], place[i]), (own[first], first as i128));
        own.sort_unstable();
        assert_eq!(sorted.iter().map(|batch| batch[i]).collect::<Vec<_>>(), own);
        assert_eq!(median[i], own[2]);
    }
    assert!(matches!(e.argmax_of(&[]), Err(IntegerError::Operand { .. })));
    assert!(matches!(e.kth_of(&batches, 5), Err(IntegerError::Operand { .. })));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U8;
    let x: Vec<i128> = (0..20).collect();
    let a = bench.encrypt_within(kind, [0, 19], &x);
    let wide = bench.encrypt(IntegerKind::U16, &x);
    let e = bench.evaluator().with_overflow(Overflow::Refuse);
    // Bounds follow what is computed, and refuse before any work.
    let sum = e.add(&a, &a).unwrap();
    assert_eq!(sum.bounds(), [0, 38]);
    let square = e.multiply(&a, &e.min_clear(&a, 12).unwrap()).unwrap();
    assert_eq!(square.bounds(), [0, 19 * 12]);
    assert_eq!(bench.open(&square), x.iter().map(|x| x * x.min(&12)).collect::<Vec<_>>());
    for refused in [e.add(&square, &sum), e.sub(&a, &sum), e.multiply(&a, &sum), e.shift_left(&a, 4)] {
        let error = refused.err().unwrap();
        assert!(matches!(error, IntegerError::Overflow { .. }), "{error}");
    }
    assert!(matches!(e.add(&a, &wide), Err(IntegerError::Mismatch { .. })));
    assert!(matches!(e.shift_right(&a, 8), Err(IntegerError::Operand { .. })));
    assert!(matches!(e.encode(kind, [0, 19], &[3, 20]), Err(IntegerError::Value { place: 1, got: 20, .. })));
    assert!(matches!(e.encode(kind, [0, 256], &[3]), Err(IntegerError::Operand { .. })));
    assert!(matches!(e.encode(kind, [5, 4], &[]), Err(IntegerError::Operand { .. })));
    assert!(matches!(e.encode(kind, [0, 4], &vec![0; e.capacity() + 1]), Err(IntegerError::Operand { .. })));
    // A set with a level fewer has no room for carries.
    let small = Bench::new(&Set::insecure_for_tables(9, 5), 11);
    let refused = IntegerEvaluator::new(&small.bootstrapper, &small.keys).err().unwrap();
    assert!(matches!(refused, IntegerError::Operand { what: "residual levels", .. }), "{refused}");
}

#[test]
fn digits_go_out_and_come_back() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::I16;
    let x = bench.values(kind, 100);
    let a = bench.encrypt(kind, &x);
    let e = bench.evaluator();
    let sum = e.add(&a, &a).unwrap();
    let digits = e.to_digits(&sum).unwrap();
    assert!(e.from_digits(kind, 100, kind.range(), digits[1..].to_vec()).is_err());
    let back = e.from_digits(kind, 100, kind.range(), digits).unwrap();
    assert_eq!(bench.open(&back), x.iter().map(|&x| kind.wrapped(2 * x)).collect::<Vec<_>>());
    let less = e.less_than_clear(&back, 0).unwrap();
    let again = e.conditions(100, less.ciphertext().clone()).unwrap();
    assert_eq!(bench.open_conditions(&again), bench.open_conditions(&less));
}

/// Tests sums until digits have grown too far or carry too much noise: carries are taken by themselves, and no sum is wrong.
#[test]
fn long_sums_carry_by_themselves() {
    let mut bench = Bench::for_integers();
    let kind = IntegerKind::U16;
    let x = bench.values(kind, 80);
    let a = bench.encrypt(kind, &x);
    let e = bench.evaluator();
    let mut sum = a.clone();
    for _ in 0..14 {
        sum = e.add(&sum, &sum).unwrap();
        sum = e.sub(&sum, &a).unwrap();
    }
    // 2s − a, from s = a.
    assert_eq!(bench.open(&sum), x);
    let many = e.sum(std::iter::repeat_n(&a, 300)).unwrap();
    assert_eq!(bench.open(&many), x.iter().map(|x| kind.wrapped(300 * x)).collect::<Vec<_>>());
}

#[test]
fn tables_of_any_function() {
    let mut bench = Bench::for_integers();
    for (kind, bounds, to) in [
        (IntegerKind::I8, [-3, 12], IntegerKind::U8),
        (IntegerKind::U8, [0, 255], IntegerKind::I8),
        (IntegerKind::I16, [-100, 90], IntegerKind::U16),
        (IntegerKind::new(12, false).unwrap(), [0, 4095], IntegerKind::U8),
    ] {
        let count = bench.evaluator().capacity();
        let size = bounds[1] - bounds[0] + 1;
        let x: Vec<i128> = (0..count as i128).map(|i| bounds[0] + 37 * i % size).collect();
        let a = bench.encrypt_within(kind, bounds, &x);
        let f = |x: i128| (x * x * 7 + 11 * x) ^ 0x2d5;
        let e = bench.evaluator();
        let out = e.table(&a, to, f).unwrap();
        assert_eq!(bench.open(&out), x.iter().map(|&x| to.wrapped(f(x))).collect::<Vec<_>>(), "{kind}");
        // Results go on.
        let next = e.add(&e.carried(&out).unwrap(), &out).unwrap();
        assert_eq!(
            bench.open(&next),
            x.iter().map(|&x| to.wrapped(2 * to.wrapped(f(x)))).collect::<Vec<_>>()
        );
    }
}
