//! Error estimates of ciphertexts after a bootstrapping, beside the measured errors.

use super::*;

/// Returns messages of the four kinds that are measured, with slots of at most 1.
pub(super) fn messages(slots: usize) -> [Vec<Complex64>; 4] {
    let turn = Complex64::from_polar(1.0, 0.8);
    let each = |f: &dyn Fn(usize) -> Complex64| (0..slots).map(f).collect::<Vec<_>>();
    [
        numbers(slots),
        vec![turn; slots],
        each(&|at| if at % 2 == 0 { turn } else { -turn }),
        each(&|at| if at == slots / 3 { turn } else { Complex64::ZERO }),
    ]
}

/// Returns −log2 of the root mean square error of slots.
fn typical(a: &[Complex64], b: &[Complex64]) -> f64 {
    -(a.iter().zip(b).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>() / a.len() as f64).sqrt().log2()
}

/// Checks that no estimate promises more than half a bit above the measurement, and that the least is not far below it. Declared small, messages show the error that
/// does not depend on them.
pub(super) fn law(set: &Set, slots: usize) {
    let mut bench = Bench::new(set, slots);
    let level = set.lowest_level();
    for size in [1.0, 1.0 / 64.0] {
        let mut least = f64::INFINITY;
        // Few slots have few integers, and the error of a rough approximation depends on them: more encryptions have more.
        let repeats = if slots < 32 { 4 } else { 1 };
        for (kind, values) in (0..repeats).flat_map(|_| messages(slots)).enumerate() {
            let values: Vec<Complex64> = values.iter().map(|value| value * size).collect();
            let a = bench.encrypt(&values, level);
            let a = bench.bootstrapper.evaluator().with_magnitude(&a, size).unwrap();
            let out = bench.bootstrapper.bootstrap_refined(&a, set.rounds, &bench.keys).unwrap();
            let measured = typical(&bench.open(&out, slots), &values);
            let estimate = out.metadata().precision.bits();
            let case =
                format!("{} {slots} slots of {size}, kind {kind}: {estimate:.2} for {measured:.2}", set.name);
            println!("{case}");
            assert!(estimate < measured + 0.5, "{case}");
            least = least.min(measured - estimate);
        }
        assert!(least < 5.0, "{} {slots} {size}: {least} bits below", set.name);
    }
}

pub(super) fn small(log2_degree: u32) -> Set {
    Set {
        coeffs_to_slots: LevelRange { levels: 3, scale_bits: 47 },
        slots_to_coeffs: LevelRange { levels: 2, scale_bits: 40 },
        ..Set::insecure_for_tests(log2_degree)
    }
}

#[test]
fn estimates_of_both_orders_hold() {
    for (log2_degree, slots) in [(7, 64), (9, 256), (9, 16)] {
        for order in [Order::Last, Order::First] {
            law(&Set { order, name: "cosine", ..small(log2_degree) }, slots);
        }
    }
    for (log2_degree, slots, order) in [(7, 64, Order::Last), (9, 256, Order::First), (9, 16, Order::Last)] {
        law(&Set { order, name: "first matrix", ..small(log2_degree).with_first_matrix_back() }, slots);
    }
    law(&Set { order: Order::First, eval_mod_bits: 50, name: "rough", ..small(8) }, 128);
    let form = ApproximationForm::Cosine { degree: 30, arcsine: 1 };
    for (first_bits, ratio_bits) in [(49, 8.5), (53, 12.5)] {
        let eval_mod = EvalModParameters { form, ratio_bits, ..small(8).eval_mod };
        law(&Set { order: Order::First, name: "no arcsine", first_bits, eval_mod, ..small(8) }, 128);
    }
}

#[test]
fn estimates_of_all_forms_hold() {
    let base = small(8);
    let forms = [
        ("no arcsine", ApproximationForm::Cosine { degree: 30, arcsine: 1 }, 3),
        ("arcsine of degree 7", ApproximationForm::Cosine { degree: 30, arcsine: 7 }, 3),
        ("exponential", ApproximationForm::Exponential { degree: 7 }, 8),
        ("series of the exponential", ApproximationForm::JacobiAnger { degree: 31 }, 3),
        ("rough exponential", ApproximationForm::Exponential { degree: 7 }, 6),
    ];
    for (name, form, doublings) in forms {
        let eval_mod = EvalModParameters { form, doublings, ..base.eval_mod };
        for slots in [128, 16] {
            law(&Set { name, eval_mod, ..base.clone() }, slots);
        }
    }
    let range = failure::least_range(SecretDistribution::Ternary, 256, 256, 0.02, -128.0);
    let eval_mod = EvalModParameters { range, doublings: 6, weight: 171, ..base.eval_mod };
    law(&Set { name: "dense", encapsulation: None, eval_mod, ..base }, 128);
}

#[test]
fn estimates_of_shipped_sets_hold_in_small_rings() {
    for set in Set::shipped() {
        let levels = set.slots_to_coeffs.levels.min(3);
        let set = Set {
            log2_degree: 8,
            residual: LevelRange { levels: set.lowest_level() + set.rounds, ..set.residual },
            slots_to_coeffs: LevelRange { levels, ..set.slots_to_coeffs },
            security: Security::InsecureForResearchOnly,
            ..set
        };
        law(&set, 128);
    }
}
