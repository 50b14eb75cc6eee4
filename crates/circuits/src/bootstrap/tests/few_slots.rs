//! Sets for few slots: names, choices by cost, and precision beside that of the sets from which they come.

use super::*;
use crate::bootstrap::dft::{Dft, Packing};
use crate::bootstrap::set::few_slots::diagonals;

#[test]
fn names_have_levels_and_slots() {
    for base in [Set::n15_128(), Set::fast_128(), Set::fast_128().with_key_switch_back()] {
        let set = base.clone().for_slots(16);
        assert_eq!(set.to_string(), format!("{}-s16", base.name));
        assert_eq!(Set::named(&set.to_string()), Some(set.clone()));
        let fewer = base.clone().with_levels_left(5).for_slots(16);
        assert_eq!(fewer.to_string(), format!("{}-5-s16", base.name));
        assert_eq!(Set::named(&fewer.to_string()), Some(fewer.clone()));
        // Variants are those of the whole set, in any order.
        assert_eq!(set.clone().with_levels_left(5), fewer);
        assert_eq!(fewer.clone().with_levels_left(base.levels_left()), set);
        assert_eq!(set.clone().for_slots(64), base.clone().for_slots(64));
        assert_eq!(fewer.clone().for_slots(1 << 20), base.clone().with_levels_left(5));
        let [forth, back] = [Set::with_key_switch_back, Set::with_first_matrix_back];
        assert_eq!(forth(set.clone()), forth(base.clone()).for_slots(16));
        assert_eq!(back(forth(fewer.clone())), back(forth(base)).with_levels_left(5).for_slots(16));
    }
    for (name, slots) in [("n15-128-s1", 4), ("n15-128-s9", 16), ("n15-128-s16", 16)] {
        assert_eq!(Set::named(name), Some(Set::n15_128().for_slots(slots)));
    }
    assert_eq!(Set::named(&format!("n15-128-s{}", usize::MAX)), Some(Set::n15_128()));
    for name in ["n15-128-s", "n15-128-s-1", "n15-128-s16-1", "n15-128-s16-s16", "s16", "-s16", "n15-s16"] {
        assert_eq!(Set::named(name), None, "{name}");
    }
}

/// Checks that levels left, security and EvalMod stay, and that keys become smaller.
#[test]
fn few_slots_take_fewer_levels_and_smaller_keys() {
    for (base, share) in [(Set::n15_128(), 0.72), (Set::fast_128(), 1.0), (Set::default_128(), 0.65)] {
        let context = Context::new(&base.parameters().unwrap()).unwrap();
        let whole = Blueprint::new(&context, &base, 16).unwrap();
        let set = base.clone().for_slots(16);
        let few = Summary::new(&set).unwrap();
        assert_eq!((few.slots, few.levels_left), (16, base.levels_left()));
        assert_eq!((set.eval_mod, set.security), (base.eval_mod, base.security));
        assert!(few.log2_failure <= whole.log2_failure(), "{few}");
        assert!((few.key_bytes as f64) < share * whole.key_bytes().unwrap() as f64, "{few}");
        assert!(set.levels().unwrap().coeffs_to_slots < base.levels().unwrap().coeffs_to_slots);
        assert!(few.to_string().contains(&format!("n         {}, 16 slots", 1 << base.log2_degree)), "{few}");
    }
    // More levels than full slots have room for.
    let more = Set::n15_128().with_levels_left(5);
    assert!(more.parameters().is_err());
    assert_eq!(more.for_slots(16).parameters().unwrap().security(), Security::Bits128);
    let none = Set::n15_128().with_levels_left(12).for_slots(16);
    assert!(
        none.parameters().err().unwrap().to_string().contains("868"),
        "security has no room for any choice"
    );
}

/// Checks that statements come from the set for all slots where few were measured, without what was not.
#[test]
fn few_slots_state_what_was_measured() {
    let base = Statement::of(&Set::n15_128());
    let few = base.map(|base| Statement { fifty: None, ..base });
    assert!(base.is_some_and(|base| base.fifty.is_some()));
    for (name, stated) in
        [("n15-128-s16", few), ("n15-128-1-s16", few), ("n15-128-3-s16", None), ("n15-128-s32", None)]
    {
        let set = Set::named(name).unwrap();
        assert_eq!(Statement::of(&set), stated, "{name}");
        assert_eq!(Statement::of(&Set { digits: set.digits + 1, ..set }), None, "{name}");
    }
}

/// Checks the diagonals that are counted against those of the matrices.
#[test]
fn counted_diagonals_are_those_of_the_matrices() {
    for order in [Order::Last, Order::First] {
        for (steps, forth, back) in [(2, 1, 1), (4, 1, 1), (4, 2, 2), (5, 1, 3), (6, 3, 2), (7, 3, 1)] {
            let set = Set {
                order,
                coeffs_to_slots: LevelRange { levels: forth, scale_bits: 47 },
                slots_to_coeffs: LevelRange { levels: back, scale_bits: 40 },
                ..Set::insecure_for_tests(10)
            };
            let slots = 1 << steps;
            let degree = if order == Order::First { 2 * slots } else { 1 << 10 };
            let forth = Dft::coeffs_to_slots(degree, slots, forth, 1.0).unwrap();
            let back = Dft::slots_to_coeffs(degree, slots, back, 1.0).unwrap();
            assert_eq!(forth.packing(), if order == Order::First { Packing::Full } else { Packing::Sparse });
            for (dft, counted) in [forth, back].iter().zip(set.matrices(steps)) {
                let counts: Vec<usize> = dft.factors().iter().map(|factor| factor.count()).collect();
                let counted: Vec<usize> =
                    counted.iter().map(|&(steps, wraps)| diagonals(steps, wraps).1.len()).collect();
                assert_eq!(counts, counted, "{order:?}, {slots} slots, {:?}", dft.direction());
            }
        }
    }
}

/// Checks the precision beside that of the set for all slots, over messages of every kind.
#[test]
fn few_slots_keep_the_precision() {
    for set in [Set::default_128(), Set::fast_128(), Set::n15_128()] {
        let residual = LevelRange { levels: 4, ..set.residual };
        let small = Set { log2_degree: 9, security: Security::InsecureForResearchOnly, residual, ..set };
        for slots in [4, 16, 64] {
            let few = small.clone().for_slots(slots);
            let kept = [small.clone(), few].map(|set| {
                let mut bench = Bench::new(&set, slots);
                let kinds = estimates::messages(slots);
                let errors = kinds.iter().cycle().take(32).map(|values| {
                    let a = bench.encrypt(values, set.lowest_level());
                    let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
                    assert_eq!((out.metadata().level, out.metadata().slots), (4, slots));
                    let opened = bench.open(&out, slots);
                    opened.iter().zip(values).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>() / slots as f64
                });
                -(errors.sum::<f64>() / 32.0).sqrt().log2()
            });
            println!("{} {slots}: {kept:?}", small.name);
            assert!(kept[1] > kept[0] - 0.5, "{} with {slots} slots: {kept:?}", small.name);
        }
    }
}

/// Checks messages of fewer slots than the matrices have steps for, in every order.
#[test]
fn the_fewest_slots_are_bootstrapped_as_more() {
    for order in [Order::Last, Order::First] {
        let base = Set { order, ..Set::insecure_for_tests(8) };
        for set in [base.clone(), base.clone().for_slots(1), base.for_slots(16).with_first_matrix_back()] {
            for slots in [1, 2] {
                let mut bench = Bench::new(&set, slots);
                let made = bench.bootstrapper.blueprint().slots();
                assert_eq!(made, set.fewest_slots(), "{made} slots");
                let values = numbers(slots);
                let a = bench.encrypt(&values, set.lowest_level());
                let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
                assert_eq!(out.metadata().slots, slots);
                let (worst, _) = bits(&bench.open(&out, slots), &values);
                assert!(worst > 20.0, "{order:?}, {slots} slots: {worst} bits");
                assert!(
                    bits(&bench.open(&out, 2), &values.repeat(2 / slots)).0 > 20.0,
                    "the message repeats"
                );
            }
        }
    }
}

/// Checks the number of slots where the first matrix is applied while the modulus is raised and the other one is twice as large.
#[test]
fn more_slots_than_the_bootstrapping_has_are_refused() {
    for order in [Order::Last, Order::First] {
        let set = Set { order, ..Set::insecure_for_tests(8) }.with_first_matrix_back().for_slots(16);
        let mut bench = Bench::new(&set, 16);
        for slots in [32, 128] {
            let a = bench.encrypt(&numbers(slots), 3);
            let error = bench.bootstrapper.bootstrap(&a, &bench.keys).err().unwrap();
            assert!(
                matches!(error, BootstrapError::TooManySlots { slots: 16, got } if got == slots),
                "{error}"
            );
            assert!(error.to_string().contains("make the Blueprint for as many slots"), "{error}");
        }
    }
}

fn small(log2_degree: u32, slots: usize) -> Vec<Set> {
    let sets = real::sets(log2_degree).into_iter().filter(|set| set.order == Order::First);
    sets.map(|set| set.for_slots(slots)).collect()
}

/// Checks one real message, and two, through EvalMod side by side: one loses its imaginary part, two come back as precise as one.
#[test]
fn real_messages_of_few_slots_come_back() {
    for set in small(9, 16) {
        let mut bench = Bench::new(&set, 16);
        let level = set.lowest_level();
        let [one, other]: [Vec<_>; 2] = [1.7, 0.9]
            .map(|turn: f64| (0..16).map(|j| Complex64::from((f64::from(j) * turn).sin())).collect());
        let whole = bench.encrypt(&numbers(16), level);
        let out = bench.bootstrapper.bootstrap(&whole, &bench.keys).unwrap();
        let (_, complex) = bits(&bench.open(&out, 16), &numbers(16));
        let [a, b] = [bench.encrypt(&one, level), bench.encrypt(&other, level)];
        let both = bench.bootstrapper.bootstrap_real_pair([&a, &b], &bench.keys).unwrap();
        let alone = bench.bootstrapper.bootstrap_real(&whole, &bench.keys).unwrap();
        let real = numbers(16).iter().map(|value| Complex64::from(value.re)).collect();
        let [first, second] = &both;
        for (out, values) in [(first, &one), (second, &other), (&alone, &real)] {
            let (_, got) = bits(&bench.open(out, 16), values);
            assert!(got > complex - 1.5 && complex > 22.0, "{got} bits, {complex} of a complex message");
            assert_eq!((out.metadata().level, out.metadata().slots), (set.residual.levels, 16));
            assert_eq!(out.metadata().scale, bench.context.scale(set.residual.levels).unwrap());
        }
    }
}

#[test]
fn estimates_of_few_slots_hold() {
    for slots in [4, 16, 128] {
        for order in [Order::Last, Order::First] {
            estimates::law(&Set { order, name: "few", ..estimates::small(9) }.for_slots(slots), slots);
        }
    }
    for set in [Set::fast_128(), Set::n15_128()] {
        let residual = LevelRange { levels: 4, ..set.residual };
        let small = Set { log2_degree: 9, security: Security::InsecureForResearchOnly, residual, ..set };
        estimates::law(&small.for_slots(16), 16);
    }
}

/// Checks EvalMod with parts side by side for as many slots as it may have, and for more.
#[test]
fn parts_side_by_side_fill_all_slots_at_most() {
    for set in small(8, 16) {
        check(&set, 64, 20.0);
        check(&set, 4, 20.0);
        let context = Context::new(&set.parameters().unwrap()).unwrap();
        let error = Blueprint::new(&context, &set, 128).err().unwrap();
        assert!(error.to_string().contains("slots of 128: it must be at most 64"), "{error}");
    }
}

#[test]
fn rounds_refine_few_slots() {
    let set =
        Set { log2_degree: 8, security: Security::InsecureForResearchOnly, ..Set::high_precision_128() };
    let set = set.for_slots(16);
    let mut bench = Bench::new(&set, 16);
    let values = numbers(16);
    let a = bench.encrypt(&values, set.lowest_level());
    let out = bench.bootstrapper.bootstrap_refined(&a, 2, &bench.keys).unwrap();
    assert!(bits(&bench.open(&out, 16), &values).0 > 32.0);
    assert_eq!(out.metadata().level, set.levels_left());
}

/// Checks a stage of the trace against rotations and additions one after the other: result, scale, precision, and bounds of noise.
#[test]
fn a_stage_of_the_trace_is_a_sum_of_rotations() {
    for set in real::sets(8) {
        let mut bench = Bench::new(&set, 16);
        let (blueprint, keys) = (bench.bootstrapper.blueprint().clone(), bench.keys.rotations().clone());
        let evaluator = bench.bootstrapper.evaluators.coeffs_to_slots.clone();
        for level in [blueprint.levels().coeffs_to_slots, 1] {
            let a = bench.encrypt(&numbers(128), level);
            for steps in blueprint.trace() {
                let mean = trace::mean_of_rotations(evaluator.context(), &a, &steps, &keys).unwrap();
                let mut sum = a.clone();
                for &step in &steps {
                    sum = evaluator.add(&sum, &evaluator.rotate(&a, step, &keys).unwrap()).unwrap();
                }
                let count = steps.len() as f64 + 1.0;
                assert_eq!(mean.metadata().scale, sum.metadata().scale * count);
                let [own, other] = [&mean, &sum].map(|of| of.metadata().precision);
                assert!((own.deviation() * count / other.deviation() - 1.0).abs() < 1e-9);
                assert!((own.magnitude() * count / other.magnitude() - 1.0).abs() < 1e-9);
                assert!((mean.noise().deviation.bits() - sum.noise().deviation.bits()).abs() < 1e-9);
                assert!((mean.noise().worst.bits() - sum.noise().worst.bits()).abs() < 1e-9);
                let values = bench.open(&sum, 128);
                let scaled: Vec<_> = bench.open(&mean, 128).iter().map(|value| value * count).collect();
                assert!(bits(&scaled, &values).0 > 24.0, "{:?}", bits(&scaled, &values));
            }
        }
    }
}
