use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, LevelRange};
use sunzi_rlwe::{RlweError, SecretDistribution, SecretKey, Security, wire};

use super::eval_mod::{ApproximationForm, EvalModParameters};
use super::*;

/// Returns complex numbers that look random, in the unit disc.
fn numbers(count: usize) -> Vec<Complex64> {
    (0..count).map(|j| Complex64::new((j as f64 * 1.7).sin() * 0.7, (3.1 * j as f64).cos() * 0.7)).collect()
}

struct Bench {
    context: Context,
    secret: SecretKey,
    keys: BootstrapKeys,
    bootstrapper: Bootstrapper,
    rng: ChaCha20Rng,
}

impl Bench {
    fn new(set: &Set, slots: usize) -> Self {
        let context = Context::new(&set.parameters().unwrap()).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let blueprint = Blueprint::new(&context, set, slots).unwrap();
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
        let bootstrapper = Bootstrapper::new(&blueprint, |_, _| {}).unwrap();
        Self { context, secret, keys, bootstrapper, rng }
    }

    fn encrypt(&mut self, values: &[Complex64], level: usize) -> Ciphertext {
        let encoder = Encoder::new(&self.context, values.len()).unwrap();
        let scale = self.context.scale(level).unwrap();
        let plaintext = encoder.encode_at(values, level, scale).unwrap();
        self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng).unwrap()
    }

    fn open(&self, a: &Ciphertext, slots: usize) -> Vec<Complex64> {
        let plaintext = self.context.decrypt(a, &self.secret).unwrap();
        Encoder::new(&self.context, slots).unwrap().decode(&plaintext).unwrap()
    }
}

/// Returns −log2 of the worst and of the mean error of slots.
fn bits(a: &[Complex64], b: &[Complex64]) -> (f64, f64) {
    let errors: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).norm()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    (-worst.log2(), -(errors.iter().sum::<f64>() / errors.len() as f64).log2())
}

#[test]
fn messages_come_back_with_levels() {
    let set = Set::insecure_for_tests(10);
    let mut bench = Bench::new(&set, 512);
    assert_eq!(bench.keys.byte_len(), bench.bootstrapper.blueprint().key_bytes().unwrap());
    assert_eq!(bench.bootstrapper.byte_len(), bench.bootstrapper.blueprint().diagonal_bytes());
    let spike: Vec<Complex64> = (0..512).map(|i| Complex64::from(if i == 77 { 1.0 } else { 0.0 })).collect();
    for (values, level, least) in [
        (numbers(512), 0, 24.0),
        (numbers(512), 1, 24.0),
        (numbers(512), 3, 24.0),
        (vec![Complex64::ONE; 512], 0, 20.0),
        (vec![-Complex64::i(); 512], 2, 20.0),
        (spike, 0, 22.0),
    ] {
        let a = bench.encrypt(&values, level);
        let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
        let (worst, _) = bits(&bench.open(&out, 512), &values);
        let metadata = out.metadata();
        assert!(worst > least, "level {level}: {worst} bits");
        let bound = 8.0 * metadata.precision.deviation();
        assert!(worst > -bound.log2(), "{worst} bits, {bound} stated");
        assert_eq!((metadata.level, metadata.slots), (3, 512));
        assert_eq!(metadata.scale, bench.context.scale(3).unwrap());
    }
}

/// Bootstraps numbers from the lowest level possible and checks the worst slot.
fn check(set: &Set, slots: usize, least: f64) {
    let mut bench = Bench::new(set, slots);
    let values = numbers(slots);
    let level = set.lowest_level();
    let a = bench.encrypt(&values, level);
    let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
    let (worst, _) = bits(&bench.open(&out, slots), &values);
    assert!(worst > least, "{} with {slots} slots: {worst} bits", set.name);
    assert_eq!((out.metadata().level, out.metadata().slots), (set.residual.levels, slots));
    if let ApproximationForm::Cosine { arcsine: 3.., .. } = set.eval_mod.form {
        assert_eq!(out.metadata().scale, bench.context.scale(set.residual.levels).unwrap());
    }
}

#[test]
fn keys_from_files_do_the_same() {
    for special in [SpecialModuli::Shared, SpecialModuli::EachStep] {
        keys_from_a_file(&Set { special, ..Set::insecure_for_tests(8) });
    }
}

fn keys_from_a_file(set: &Set) {
    let mut bench = Bench::new(set, 16);
    let rlwe = bench.context.rlwe();
    let bytes = wire::to_bytes(rlwe, &bench.keys).unwrap();
    assert!((bytes.len() as f64) < 0.51 * bench.keys.byte_len() as f64, "uniform halves are seeds");
    let keys: BootstrapKeys = wire::from_bytes(rlwe, &bytes).unwrap();
    let a = bench.encrypt(&numbers(16), 0);
    let [ours, theirs] = [&bench.keys, &keys].map(|keys| bench.bootstrapper.bootstrap(&a, keys).unwrap());
    for (ours, theirs) in ours.parts().iter().zip(theirs.parts()) {
        assert_eq!(ours.words(), theirs.words());
    }
}

#[test]
fn sparse_slots_and_both_orders() {
    let set = Set {
        coeffs_to_slots: LevelRange { levels: 3, scale_bits: 47 },
        slots_to_coeffs: LevelRange { levels: 2, scale_bits: 40 },
        ..Set::insecure_for_tests(9)
    };
    for slots in [4, 32, 128] {
        check(
            &Set {
                slots_to_coeffs: LevelRange { levels: 1, scale_bits: 40 },
                coeffs_to_slots: LevelRange { levels: 2, scale_bits: 47 },
                ..set.clone()
            },
            slots,
            22.0,
        );
    }
    for slots in [16, 256] {
        check(&Set { order: Order::First, ..set.clone() }, slots, 22.0);
    }
    for order in [Order::First, Order::Last] {
        check(&Set { order, chain: Chain::Sets, ..set.clone() }, 32, 22.0);
    }
}

#[test]
fn the_first_matrix_is_applied_while_the_modulus_is_raised() {
    let switched = Set {
        coeffs_to_slots: LevelRange { levels: 3, scale_bits: 47 },
        slots_to_coeffs: LevelRange { levels: 2, scale_bits: 40 },
        ..Set::insecure_for_tests(9)
    };
    let base = switched.clone().with_first_matrix_back();
    assert_eq!(base.clone().with_first_matrix_back(), base);
    assert_eq!([base.clone(), switched.clone()].map(Set::with_key_switch_back), [switched.clone(), switched]);
    let dense = Set { encapsulation: None, ..base.clone() };
    assert_eq!(dense.clone().with_first_matrix_back(), dense);
    assert_eq!(base.matrices_to_slots(), 3);
    for (slots, order, chain) in [
        (256, Order::Last, Chain::Prefixes),
        (256, Order::First, Chain::Sets),
        (32, Order::Last, Chain::Sets),
        (16, Order::First, Chain::Prefixes),
    ] {
        check(&Set { order, chain, ..base.clone() }, slots, 22.0);
    }
    let in_two = base.encapsulation.map(|capsule| Encapsulation { rank: 2, ..capsule });
    check(&Set { encapsulation: in_two, ..base.clone() }, 256, 22.0);
    let one_level = Set { coeffs_to_slots: LevelRange { levels: 1, scale_bits: 47 }, ..base };
    check(&one_level, 4, 22.0);
    check(&one_level, 256, 22.0);
}

#[test]
fn the_first_matrix_keeps_the_precision_of_a_key_switch() {
    let shipped = [Set::default_128(), Set::fast_128(), Set::n15_128()];
    for set in shipped {
        let security = Security::InsecureForResearchOnly;
        let small =
            Set { log2_degree: 9, security, residual: LevelRange { levels: 4, ..set.residual }, ..set };
        let values = numbers(256);
        let kept = [small.clone(), small.with_key_switch_back()].map(|set| {
            let mut bench = Bench::new(&set, 256);
            let a = bench.encrypt(&values, set.lowest_level());
            let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
            bits(&bench.open(&out, 256), &values).1
        });
        assert!(kept[0] > kept[1] - 0.3, "{}: {kept:?}", set.name);
    }
}

#[test]
fn keys_of_the_first_matrix_are_counted_and_stored() {
    let set = Set::insecure_for_tests(8).with_first_matrix_back();
    let mut bench = Bench::new(&set, 128);
    assert_eq!(bench.keys.byte_len(), bench.bootstrapper.blueprint().key_bytes().unwrap());
    assert_eq!(bench.bootstrapper.byte_len(), bench.bootstrapper.blueprint().diagonal_bytes());
    let bytes = wire::to_bytes(bench.context.rlwe(), &bench.keys).unwrap();
    assert!((bytes.len() as f64) < 0.51 * bench.keys.byte_len() as f64, "uniform halves are seeds");
    let keys: BootstrapKeys = wire::from_bytes(bench.context.rlwe(), &bytes).unwrap();
    let compact = keys.clone().compact();
    let a = bench.encrypt(&numbers(128), 0);
    let all = [&bench.keys, &keys, &compact].map(|keys| bench.bootstrapper.bootstrap(&a, keys).unwrap());
    for other in &all[1..] {
        assert!(other.parts().iter().zip(all[0].parts()).all(|(a, b)| a.words() == b.words()));
    }
    assert!(compact.byte_len() as f64 <= 0.51 * bench.keys.byte_len() as f64);

    // Keys of the other way back do not serve, nor those of another matrix.
    let other =
        Set { coeffs_to_slots: LevelRange { levels: 3, scale_bits: 47 }, ..Set::insecure_for_tests(8) };
    let blueprint = Blueprint::new(&bench.context, &other, 128).unwrap();
    let keys = BootstrapKeys::generate(&blueprint, &bench.secret, &mut bench.rng, |_, _| {}).unwrap();
    let error = bench.bootstrapper.bootstrap(&a, &keys).err().unwrap();
    assert!(error.to_string().contains("the key to the sparse secret is missing"), "{error}");
    let wider = Set { eval_mod: EvalModParameters { range: 20, ..set.eval_mod }, ..set };
    let blueprint = Blueprint::new(&bench.context, &wider, 128).unwrap();
    let keys = BootstrapKeys::generate(&blueprint, &bench.secret, &mut bench.rng, |_, _| {}).unwrap();
    let error = bench.bootstrapper.bootstrap(&a, &keys).err().unwrap();
    assert!(matches!(error, BootstrapError::Rlwe(RlweError::MapMismatch)), "{error}");
}

#[test]
fn without_encapsulation_and_by_the_exponential() {
    let range = failure::least_range(SecretDistribution::Ternary, 256, 256, 0.02, -128.0);
    let base = Set::insecure_for_tests(8);
    let eval_mod = EvalModParameters { range, doublings: 6, weight: 171, ..base.eval_mod };
    check(&Set { name: "dense", encapsulation: None, eval_mod, ..base.clone() }, 128, 18.0);
    let exponential = EvalModParameters {
        form: ApproximationForm::Exponential { degree: 7 },
        doublings: 8,
        ..base.eval_mod
    };
    check(&Set { name: "exponential", eval_mod: exponential, ..base.clone() }, 128, 8.0);
    let paper = Set {
        residual: LevelRange { levels: 1, scale_bits: 55 },
        log2_degree: 8,
        ..Set::akimoto_sakuma_insecure()
    };
    check(&paper, 128, 8.0);
}

#[test]
fn rounds_refine() {
    let security = Security::InsecureForResearchOnly;
    let first = Set { log2_degree: 8, security, ..Set::high_precision_128() };
    let last = Set {
        order: Order::Last,
        first_bits: 60,
        eval_mod: Set::default_128().eval_mod,
        eval_mod_bits: 60,
        ..first.clone()
    };
    for set in [first, last] {
        let mut bench = Bench::new(&set, 128);
        let values = numbers(128);
        let a = bench.encrypt(&values, set.lowest_level());
        let mut before = 0.0;
        for rounds in [1, 2] {
            let out = bench.bootstrapper.bootstrap_refined(&a, rounds, &bench.keys).unwrap();
            let (worst, _) = bits(&bench.open(&out, 128), &values);
            assert_eq!(out.metadata().level, set.residual.levels + 1 - rounds);
            assert!(worst > before + 6.0);
            before = worst;
        }
        assert!(before > 32.0);
        let error = bench.bootstrapper.bootstrap_refined(&a, 11, &bench.keys).err().unwrap();
        assert!(matches!(error, BootstrapError::TooManyRounds { rounds: 11, .. }), "{error}");
        assert!(error.to_string().contains("take fewer rounds"), "{error}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let set = Set::insecure_for_tests(8);
    let mut bench = Bench::new(&set, 128);
    let evaluator = bench.bootstrapper.evaluator().clone();
    let a = bench.encrypt(&numbers(128), 2);
    let large = evaluator.with_magnitude(&a, 3.0).unwrap();
    let error = bench.bootstrapper.bootstrap(&large, &bench.keys).err().unwrap();
    assert!(matches!(error, BootstrapError::MessageTooLarge { .. }), "{error}");
    assert!(error.to_string().contains("with_magnitude"));

    let other = Set { residual: LevelRange { levels: 2, scale_bits: 40 }, ..set.clone() };
    let error = Blueprint::new(&bench.context, &other, 128).err().unwrap();
    assert!(matches!(error, BootstrapError::ContextMismatch { .. }), "{error}");
    let narrow = Set { first_bits: 44, ..set.clone() };
    let context = Context::new(&narrow.parameters().unwrap()).unwrap();
    let error = Blueprint::new(&context, &narrow, 128).err().unwrap();
    assert!(matches!(error, BootstrapError::Set { what: "bits of q_0", .. }), "{error}");
    let none = Set { slots_to_coeffs: LevelRange { levels: 0, scale_bits: 40 }, ..set.clone() };
    assert!(matches!(none.parameters().err().unwrap(), BootstrapError::Set { .. }));

    let first = Set { order: Order::First, ..set };
    let mut bench = Bench::new(&first, 128);
    let a = bench.encrypt(&numbers(128), 2);
    let error = bench.bootstrapper.bootstrap(&a, &bench.keys).err().unwrap();
    assert!(matches!(error, BootstrapError::LevelTooLow { expected: 3, got: 2, .. }), "{error}");
    assert!(error.to_string().contains("bootstrap it earlier"), "{error}");
    let error = bench.bootstrapper.bootstrap_refined(&a, 2, &bench.keys).err().unwrap();
    assert!(error.to_string().contains("0 residual levels there: take fewer rounds"), "{error}");
}

#[test]
fn keys_that_are_not_there_are_said() {
    let set = Set::insecure_for_tests(8);
    let mut bench = Bench::new(&set, 128);
    let a = bench.encrypt(&numbers(128), 0);
    let others = [
        (Set { encapsulation: None, ..set.clone() }, 128, "the key to the sparse secret"),
        (set.clone(), 32, "the key for a rotation by"),
    ];
    for (other, slots, missing) in others {
        let blueprint = Blueprint::new(&bench.context, &other, slots).unwrap();
        let keys = BootstrapKeys::generate(&blueprint, &bench.secret, &mut bench.rng, |_, _| {}).unwrap();
        let error = bench.bootstrapper.bootstrap(&a, &keys).err().unwrap();
        let text = error.to_string();
        assert!(matches!(error, BootstrapError::MissingKey { .. }), "{text}");
        assert!(
            text.contains(missing) && text.contains("generate BootstrapKeys from the same blueprint"),
            "{text}"
        );
    }
    let stranger = SecretKey::generate(bench.context.rlwe(), &mut bench.rng).unwrap();
    let blueprint = bench.bootstrapper.blueprint();
    let keys = BootstrapKeys::generate(blueprint, &stranger, &mut bench.rng, |_, _| {}).unwrap();
    let error = bench.bootstrapper.bootstrap(&a, &keys).err().unwrap();
    assert!(matches!(error, BootstrapError::Rlwe(RlweError::KeyMismatch { .. })), "{error}");
}

#[test]
fn messages_at_any_scale_are_taken_or_refused() {
    let set = Set::insecure_for_tests(8);
    let mut bench = Bench::new(&set, 128);
    let evaluator = bench.bootstrapper.evaluator().clone();
    let (values, scale) = (numbers(128), bench.context.scale(1).unwrap());
    let a = bench.encrypt(&values, 1);
    let small = evaluator.set_scale(&a, 0, scale / 64.0).unwrap();
    let out = bench.bootstrapper.bootstrap(&small, &bench.keys).unwrap();
    assert!(bits(&bench.open(&out, 128), &values).0 > 20.0);
    assert!(out.metadata().precision.bits() < bits(&bench.open(&out, 128), &values).1 + 0.5);
    // Modulus q_0 has room for the message and not for EvalMod.
    let large = evaluator.set_scale(&a, 0, scale * 4.0).unwrap();
    let error = bench.bootstrapper.bootstrap(&large, &bench.keys).err().unwrap();
    assert!(error.to_string().contains("scale the message down"), "{error}");
    let error = evaluator.add(&small, &large).err().unwrap();
    assert!(matches!(error, CkksError::ScaleMismatch { .. }), "{error}");
    assert!(error.to_string().contains("Evaluator::set_scale"), "{error}");
    let out = evaluator.rescale(&small).err().unwrap();
    assert!(out.to_string().contains("bootstrap before it"), "{out}");
}

#[test]
fn shipped_sets_are_secure_and_do_not_fail() {
    for (set, left) in [
        (Set::default_128(), 440.0),
        (Set::fast_128(), 520.0),
        (Set::n15_128(), 110.0),
        (Set::high_precision_128(), 380.0),
        (Set::default_128().with_key_switch_back(), 440.0),
        (Set::fast_128().with_key_switch_back(), 520.0),
        (Set::n15_128().with_key_switch_back(), 110.0),
        (Set::high_precision_128().with_key_switch_back(), 380.0),
    ] {
        assert_eq!(Set::named(set.name).as_ref(), Some(&set));
        let parameters = set.parameters().unwrap();
        assert_eq!(parameters.security(), Security::Bits128);
        assert!(set.name.starts_with(&format!("n{}-128", set.log2_degree)), "{}", set.name);
        let ratio = (-set.eval_mod.ratio_bits).exp2();
        let degree = 1 << set.log2_degree;
        let range = failure::least_range(set.raised_secret(), degree, degree, ratio, -128.0);
        assert_eq!(set.eval_mod.range, range, "{}", set.name);
        for chain in [Chain::Prefixes, Chain::Sets] {
            let parameters = Set { chain, ..set.clone() }.parameters().unwrap();
            let bits = sunzi_math::log2(&parameters.modulus(set.residual.levels));
            assert!(bits >= left, "{} by {chain:?}: {bits}", set.name);
        }
    }
    let paper = Set::akimoto_sakuma_insecure();
    let parameters = paper.parameters().unwrap();
    assert_eq!((parameters.depth(), paper.residual.levels), (32, 11));
    assert!(paper.log2_failure(1 << 15) <= -128.0);
    assert!(Set { security: Security::Bits128, ..paper }.parameters().is_err());
}

mod estimates;
mod few_slots;
mod real;
mod real_ring;
mod steps;
mod variants;

/// Returns the bits of precision kept after `count` bootstrappings in a row, from the lowest level each time.
fn in_a_row(bench: &mut Bench, values: &[Complex64], count: usize) -> (f64, f64) {
    let mut a = bench.encrypt(values, 0);
    for _ in 0..count {
        let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
        a = bench.bootstrapper.evaluator().level_to(&out, 0).unwrap();
    }
    bits(&bench.open(&a, values.len()), values)
}

#[test]
fn fifty_in_a_row_add_their_errors_only() {
    let mut bench = Bench::new(&Set::insecure_for_tests(7), 64);
    let values = numbers(64);
    let (once, _) = in_a_row(&mut bench, &values, 1);
    let (worst, _) = in_a_row(&mut bench, &values, 50);
    assert!(worst > 20.0 && worst > once - 50_f64.log2(), "{worst} bits after 50, {once} after one");
}

#[test]
fn sets_say_what_they_keep() {
    // The documentation of sets and of the command shows the figures that the long test compares with measurements.
    let source = include_str!("set.rs");
    for set in Set::shipped() {
        let Statement { random, adversarial, fifty } = Statement::of(&set).unwrap();
        for bits in [random, adversarial].into_iter().chain(fifty) {
            assert!(bits.worst <= bits.mean && source.contains(&bits.to_string()), "{}: {bits}", set.name);
        }
        let changed = Set { digits: set.digits + 1, ..set };
        assert_eq!(Statement::of(&changed), None);
    }
    let small = Set { log2_degree: 8, ..Set::insecure_for_tests(8) };
    let text = Summary::new(&small).unwrap().to_string();
    for part in ["failure", "Hamming weight 32", "3 levels", "not measured", "INSECURE"] {
        assert!(text.contains(part), "{text}");
    }
}

/// Bootstraps a message of every kind and compares its precision with the set's statement.
fn hold(set: &Set) {
    let slots = 1 << (set.log2_degree - 1);
    let mut bench = Bench::new(set, slots);
    let Statement { random, adversarial, .. } = Statement::of(set).unwrap();
    for (kind, values) in estimates::messages(slots).iter().enumerate() {
        let a = bench.encrypt(values, set.lowest_level());
        let out = bench.bootstrapper.bootstrap_refined(&a, set.rounds, &bench.keys).unwrap();
        let (worst, mean) = bits(&bench.open(&out, slots), values);
        let stated = if kind == 0 { random } else { adversarial };
        let got = format!("{} kind {kind}: worst {worst}, mean {mean}, stated {stated}", set.name);
        assert!(worst > stated.worst && mean > stated.mean, "{got}");
        assert!(out.metadata().precision.bits() < mean + 0.5, "{got}");
        assert_eq!(out.metadata().level, bench.bootstrapper.blueprint().levels_left());
    }
}

#[test]
#[ignore = "long: n = 2^16, 11 GiB"]
fn the_default_set_holds_its_statement() {
    hold(&Set::default_128());
}

#[test]
#[ignore = "long: n = 2^16, 6 GiB"]
fn the_fast_set_holds_its_statement() {
    hold(&Set::fast_128());
}

#[test]
#[ignore = "long: n = 2^16, 5 GiB"]
fn the_fast_set_with_fewer_levels_holds_its_statement() {
    hold(&Set::fast_128().with_levels_left(6));
}

#[test]
#[ignore = "long: n = 2^15, 7 GiB"]
fn the_set_of_the_smaller_ring_holds_its_statement() {
    hold(&Set::n15_128());
}

#[test]
#[ignore = "long: n = 2^16, 5 GiB"]
fn the_precise_set_holds_its_statement() {
    hold(&Set::high_precision_128());
}

#[test]
#[ignore = "long: n = 2^16, 14 GiB"]
fn the_set_of_the_paper_holds_its_statement() {
    hold(&Set::akimoto_sakuma_insecure());
}

/// Checks that after rounds of refinement only the noise of key switches is outside the subring of few slots: less than the rounds correct.
#[test]
fn a_trace_leaves_nothing_outside_of_the_subring() {
    let set =
        Set { log2_degree: 9, security: Security::InsecureForResearchOnly, ..Set::high_precision_128() };
    let (slots, all) = (16, 256);
    let mut bench = Bench::new(&set, slots);
    let values = numbers(slots);
    let a = bench.encrypt(&values, set.lowest_level());
    let out = bench.bootstrapper.bootstrap_refined(&a, 2, &bench.keys).unwrap();
    let inside = bench.open(&out, slots);
    let whole = bench.open(&out, all);
    let outside =
        whole.iter().enumerate().map(|(i, slot)| (slot - inside[i % slots]).norm()).fold(0.0, f64::max);
    // Without the trace 2^-34.
    assert!(outside.log2() < -40.0, "2^{}", outside.log2());
    assert!(bits(&inside, &values).0 > 36.0, "{:?}", bits(&inside, &values));
}
