//! Messages of real slots, alone and in pairs.

use super::*;

/// Returns real numbers from -1 to 1 that look random.
fn reals(count: usize, turn: f64) -> Vec<Complex64> {
    (0..count).map(|j| Complex64::from((j as f64 * turn).sin())).collect()
}

/// Checks that real rings are refused by name, before anything else.
#[test]
fn real_rings_do_not_bootstrap() {
    let set = Set::insecure_for_tests(9);
    let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
    let ring = sunzi_rlwe::RingShape::RealLog2Degree(9);
    let security = sunzi_rlwe::Security::InsecureForResearchOnly;
    let parameters = sunzi_ckks::Parameters::from_ranges(ring, 50, &ranges, security).unwrap();
    let context = sunzi_ckks::Context::new(&parameters.with_digits(2).unwrap()).unwrap();
    let refused = Blueprint::new(&context, &set, 256).err().unwrap().to_string();
    assert!(refused.contains("bootstrapping") && refused.contains("real"), "{refused}");
}

pub(super) fn sets(log2_degree: u32) -> Vec<Set> {
    let base = Set {
        coeffs_to_slots: LevelRange { levels: 3, scale_bits: 47 },
        slots_to_coeffs: LevelRange { levels: 2, scale_bits: 40 },
        ..Set::insecure_for_tests(log2_degree)
    };
    let matrix = base.clone().with_first_matrix_back();
    let steps = Set { special: SpecialModuli::EachStep, chain: Chain::Sets, ..matrix.clone() };
    let each = [base, matrix, steps].into_iter();
    each.flat_map(|set| [Order::Last, Order::First].map(|order| Set { order, ..set.clone() })).collect()
}

/// Checks every kind of message beside every other: a pair is as precise as one message, but for the bit that is stated.
#[test]
fn pairs_of_real_messages_come_back() {
    for set in sets(9) {
        for slots in [256, 16] {
            let mut bench = Bench::new(&set, slots);
            let level = set.lowest_level().max(1);
            let ones = vec![Complex64::ONE; slots];
            let alternating: Vec<_> = (0..slots).map(|j| Complex64::from([1.0, -1.0][j % 2])).collect();
            let spike: Vec<_> = (0..slots).map(|j| Complex64::from(f64::from(u8::from(j == 5)))).collect();
            let kinds = [reals(slots, 1.7), ones, alternating, spike, reals(slots, 0.9)];
            let single: Vec<f64> = kinds
                .iter()
                .map(|values| {
                    let a = bench.encrypt(values, level);
                    let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
                    bits(&bench.open(&out, slots), values).1
                })
                .collect();
            for i in 0..kinds.len() {
                let at = [i, (i + 1) % kinds.len()];
                // Levels may differ.
                let [a, b] =
                    [bench.encrypt(&kinds[at[0]], level), bench.encrypt(&kinds[at[1]], set.residual.levels)];
                let both = bench.bootstrapper.bootstrap_real_pair([&a, &b], &bench.keys).unwrap();
                let worst = single[at[0]].min(single[at[1]]) - 1.5;
                for (out, kind) in both.iter().zip(at) {
                    let metadata = out.metadata();
                    let (_, mean) = bits(&bench.open(out, slots), &kinds[kind]);
                    let case = format!("{:?} {slots}, {i}: {mean} for {worst}", set.order);
                    assert!(mean > worst, "{case}");
                    assert!(metadata.precision.bits() < mean + 0.5, "{case}, {metadata:?}");
                    assert_eq!((metadata.level, metadata.slots), (set.residual.levels, slots));
                    assert_eq!(metadata.scale, bench.context.scale(set.residual.levels).unwrap());
                    assert!((metadata.precision.magnitude() - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}

/// Checks that both parts have the precision of a whole message where SlotsToCoeffs comes first.
#[test]
fn a_real_message_keeps_its_precision() {
    for set in sets(9) {
        let mut bench = Bench::new(&set, 256);
        let values = reals(256, 1.7);
        let a = bench.encrypt(&values, set.lowest_level());
        let out = bench.bootstrapper.bootstrap_real(&a, &bench.keys).unwrap();
        let whole = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
        let [real, complex] = [&out, &whole].map(|out| bits(&bench.open(out, 256), &values).1);
        assert!(real > complex - 0.3, "{real} for {complex}");
        assert_eq!(out.metadata().level, set.residual.levels);
        let same = out.parts().iter().zip(whole.parts()).all(|(a, b)| a.words() == b.words());
        assert_eq!(same, set.order == Order::Last, "EvalMod of the imaginary part is left out");
        // What is imaginary is gone where only real parts are computed.
        let turned = bench.encrypt(&numbers(256), set.lowest_level());
        let out = bench.bootstrapper.bootstrap_real(&turned, &bench.keys).unwrap();
        let kept = numbers(256);
        let expected: Vec<Complex64> = match set.order {
            Order::Last => kept,
            Order::First => kept.iter().map(|value| Complex64::from(value.re)).collect(),
        };
        assert!(bits(&bench.open(&out, 256), &expected).1 > 20.0);
    }
}

/// Checks messages of few slots beside those of many, and what a pair refuses.
#[test]
fn pairs_are_taken_or_refused() {
    for set in sets(8) {
        let mut bench = Bench::new(&set, 128);
        let level = set.lowest_level().max(1);
        let (few, many) = (reals(16, 0.3), reals(128, 1.1));
        let [a, b] = [bench.encrypt(&few, level), bench.encrypt(&many, level)];
        let [first, second] = bench.bootstrapper.bootstrap_real_pair([&a, &b], &bench.keys).unwrap();
        assert_eq!([first.metadata().slots, second.metadata().slots], [16, 128]);
        assert!(bits(&bench.open(&first, 16), &few).0 > 19.0);
        assert!(bits(&bench.open(&second, 128), &many).0 > 19.0);

        let evaluator = bench.bootstrapper.evaluator().clone();
        let large = evaluator.with_magnitude(&a, 6.0).unwrap();
        let error = bench.bootstrapper.bootstrap_real_pair([&large, &b], &bench.keys).err().unwrap();
        assert!(matches!(error, BootstrapError::MessageTooLarge { .. }), "{error}");
        let lowest = bench.encrypt(&many, level - 1);
        let error = bench.bootstrapper.bootstrap_real_pair([&lowest, &b], &bench.keys).err().unwrap();
        assert!(matches!(error, BootstrapError::LevelTooLow { got, .. } if got == level - 1), "{error}");
        let stranger = SecretKey::generate(bench.context.rlwe(), &mut bench.rng).unwrap();
        let own = std::mem::replace(&mut bench.secret, stranger);
        let other = bench.encrypt(&many, level);
        bench.secret = own;
        let error = bench.bootstrapper.bootstrap_real_pair([&a, &other], &bench.keys).err().unwrap();
        assert!(error.to_string().contains("key"), "{error}");
    }
}
