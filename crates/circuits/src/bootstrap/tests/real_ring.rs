//! Messages of a real ring, bootstrapped in the whole ring in which it lies.

use sunzi_ckks::Evaluator;
use sunzi_rlwe::RelinearizationKey;

use crate::integers::IntegerParameters;

use super::real::sets;
use super::*;

struct RealBench {
    context: Context,
    secret: SecretKey,
    keys: RealBootstrapKeys,
    bootstrapper: RealBootstrapper,
    rng: ChaCha20Rng,
}

impl RealBench {
    fn new(set: &Set, slots: usize) -> Self {
        let context = Context::new(&set.real_parameters().unwrap()).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let blueprint = RealBlueprint::new(&context, set, slots).unwrap();
        let keys = RealBootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
        assert_eq!(keys.byte_len(), blueprint.key_bytes().unwrap());
        let bootstrapper = RealBootstrapper::new(&blueprint, |_, _| {}).unwrap();
        Self { context, secret, keys, bootstrapper, rng }
    }

    fn encrypt(&mut self, values: &[f64], level: usize) -> Ciphertext {
        let encoder = Encoder::new(&self.context, values.len()).unwrap();
        let plaintext = encoder.encode_real_at(values, level, self.context.scale(level).unwrap()).unwrap();
        self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng).unwrap()
    }

    /// Returns −log2 of the worst and of the mean error of slots, after a check of all that the result states.
    fn check(&self, out: &Ciphertext, values: &[f64], level: usize) -> (f64, f64) {
        let plaintext = self.context.decrypt(out, &self.secret).unwrap();
        let decoded = Encoder::new(&self.context, values.len()).unwrap().decode_real(&plaintext).unwrap();
        let complex = |values: &[f64]| values.iter().map(|&x| Complex64::from(x)).collect::<Vec<_>>();
        let (worst, mean) = bits(&complex(&decoded), &complex(values));
        let metadata = out.metadata();
        assert_eq!((metadata.level, metadata.slots), (level, values.len()));
        assert_eq!(metadata.scale, self.context.scale(level).unwrap());
        assert!(metadata.precision.bits() < mean + 0.5, "{mean} bits, {metadata:?}");
        let bound = out.noise().peak.bits().exp2() * self.context.ring().expansion().weight() as f64 / 2.0;
        assert!(-worst <= (bound / metadata.scale).log2(), "{worst} bits, the bound is {bound}");
        (worst, mean)
    }
}

fn reals(count: usize, turn: f64) -> Vec<f64> {
    (0..count).map(|j| (j as f64 * turn).sin()).collect()
}

/// Checks all kinds of messages at all levels that may be bootstrapped, and that results can be computed with.
#[test]
fn messages_of_a_real_ring_come_back() {
    for set in sets(10) {
        let (slots, left) = (512, set.residual.levels);
        let mut bench = RealBench::new(&set, slots);
        let alternating = (0..slots).map(|j| [1.0, -1.0][j % 2]).collect();
        let spike = (0..slots).map(|j| f64::from(u8::from(j == 5))).collect();
        for (values, level) in [
            (reals(slots, 1.7), set.lowest_level()),
            (vec![1.0; slots], left),
            (alternating, set.lowest_level()),
            (spike, set.lowest_level().max(1)),
            (reals(16, 0.3), left),
        ] {
            let a = bench.encrypt(&values, level);
            let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
            let (worst, _) = bench.check(&out, &values, left);
            assert!(worst > 19.0, "{:?} level {level}: {worst} bits", set.order);
            let evaluator = Evaluator::new(&bench.context);
            let key =
                RelinearizationKey::generate(bench.context.rlwe(), &bench.secret, &mut bench.rng).unwrap();
            let square = evaluator.multiply(&out, &out, &key).unwrap();
            let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
            let (worst, _) = bench.check(&square, &squares, left - 1);
            assert!(worst > 18.0, "{:?} level {level}: {worst} bits of squares", set.order);
        }
    }
}

/// Checks that a pair comes back as precise as one message, but for the bit that is stated.
#[test]
fn pairs_of_a_real_ring_come_back() {
    for set in sets(9) {
        let (slots, left) = (256, set.residual.levels);
        let level = set.lowest_level().max(1);
        let mut bench = RealBench::new(&set, slots);
        let kinds = [reals(slots, 1.7), vec![1.0; slots], reals(slots, 0.9), vec![-0.5; slots]];
        let single: Vec<f64> = kinds
            .iter()
            .map(|values| {
                let a = bench.encrypt(values, level);
                let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
                bench.check(&out, values, left).1
            })
            .collect();
        for i in 0..kinds.len() {
            let at = [i, (i + 1) % kinds.len()];
            let [a, b] = [bench.encrypt(&kinds[at[0]], level), bench.encrypt(&kinds[at[1]], left)];
            let both = bench.bootstrapper.bootstrap_pair([&a, &b], &bench.keys).unwrap();
            let worst = single[at[0]].min(single[at[1]]) - 1.5;
            for (out, kind) in both.iter().zip(at) {
                let (_, mean) = bench.check(out, &kinds[kind], left);
                assert!(mean > worst, "{:?} {i}: {mean} for {worst}", set.order);
            }
        }
    }
}

/// Checks that a round of refinement makes results more precise, at one level less.
#[test]
fn refined_messages_of_a_real_ring_are_more_precise() {
    for order in [Order::Last, Order::First] {
        let set = Set {
            order,
            first_bits: 59,
            residual: LevelRange { levels: 5, scale_bits: 52 },
            slots_to_coeffs: LevelRange { levels: 2, scale_bits: 52 },
            ..Set::insecure_for_tests(9)
        };
        let (values, left) = (reals(256, 1.7), set.residual.levels);
        let mut bench = RealBench::new(&set, 256);
        let a = bench.encrypt(&values, left);
        let once = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
        let twice = bench.bootstrapper.bootstrap_refined(&a, 2, &bench.keys).unwrap();
        let once = bench.check(&once, &values, left).1;
        let twice = bench.check(&twice, &values, left - 1).1;
        assert!(twice > once + 8.0, "{order:?}: {twice} bits after {once}");
    }
}

/// Checks sets for few slots, which have one EvalMod in either order.
#[test]
fn few_slots_of_a_real_ring_come_back() {
    for set in sets(9) {
        let (set, values) = (set.for_slots(16), reals(16, 1.7));
        let mut bench = RealBench::new(&set, 16);
        let a = bench.encrypt(&values, set.lowest_level().max(1));
        let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
        let (worst, _) = bench.check(&out, &values, set.residual.levels);
        assert!(worst > 18.0, "{:?}: {worst} bits", set.order);
        let both = bench.bootstrapper.bootstrap_pair([&a, &a], &bench.keys).unwrap();
        for out in &both {
            let (worst, _) = bench.check(out, &values, set.residual.levels);
            assert!(worst > 17.0, "{:?}: {worst} bits of a pair", set.order);
        }
    }
}

/// Checks what is refused: other contexts, other secrets, levels too low, and levels without room for keys.
#[test]
fn what_does_not_fit_is_refused() {
    let set = Set { order: Order::First, ..sets(9).swap_remove(0) };
    let mut bench = RealBench::new(&set, 256);
    let values = reals(256, 1.7);
    let low = bench.encrypt(&values, set.lowest_level() - 1);
    let refused = bench.bootstrapper.bootstrap(&low, &bench.keys).err().unwrap();
    assert!(matches!(refused, BootstrapError::LevelTooLow { .. }), "{refused}");
    let own = bench.encrypt(&values, set.lowest_level());
    bench.secret = SecretKey::generate(bench.context.rlwe(), &mut bench.rng).unwrap();
    let other = bench.encrypt(&values, set.lowest_level());
    for pair in [[&other, &own], [&own, &other]] {
        let refused = bench.bootstrapper.bootstrap_pair(pair, &bench.keys).err().unwrap();
        assert!(refused.to_string().contains("another secret key"), "{refused}");
    }
    let whole = Context::new(&set.parameters().unwrap()).unwrap();
    for real in [&whole, &bench.context] {
        let other = Set { residual: LevelRange { levels: 4, scale_bits: 40 }, ..set.clone() };
        let refused = RealBlueprint::new(real, &other, 256).err().unwrap();
        assert!(matches!(refused, BootstrapError::ContextMismatch { .. }), "{refused}");
    }
    // Half of the degree has no room for the special moduli of many levels.
    let many = Set { residual: LevelRange { levels: 20, scale_bits: 43 }, ..Set::fast_128() };
    assert!(many.real_parameters().is_err());
}

/// Checks that keys come back from a file, which names the secret of the real ring, and that they do the same.
#[test]
fn keys_of_a_real_ring_come_back_from_a_file() {
    for set in sets(8) {
        let mut bench = RealBench::new(&set, 16);
        let blueprint = bench.bootstrapper.blueprint();
        let bytes = wire::to_bytes(blueprint, &bench.keys).unwrap();
        assert_eq!(wire::Reader::new(&bytes[..]).unwrap().header().key, Some(bench.secret.id()));
        let keys: RealBootstrapKeys = wire::from_bytes(blueprint, &bytes).unwrap();
        let a = bench.encrypt(&reals(16, 1.7), set.lowest_level());
        let [ours, theirs] = [&bench.keys, &keys].map(|keys| bench.bootstrapper.bootstrap(&a, keys).unwrap());
        assert!(ours.parts().iter().zip(theirs.parts()).all(|(a, b)| a.words() == b.words()));
        let other = Set { residual: LevelRange { levels: 4, scale_bits: 40 }, ..set };
        let context = Context::new(&other.real_parameters().unwrap()).unwrap();
        let other = RealBlueprint::new(&context, &other, 16).unwrap();
        assert!(wire::from_bytes::<RealBootstrapKeys, _>(&other, &bytes).is_err());
    }
}

/// Checks that every set of 128 bits has real parameters of 128 bits in half of the degree.
#[test]
fn shipped_sets_have_real_parameters() {
    for set in Set::shipped().into_iter().filter(|set| set.security == Security::Bits128) {
        let real = set.real_parameters().unwrap();
        assert_eq!((real.depth(), real.security()), (set.residual.levels, Security::Bits128));
        assert_eq!(real.max_slots(), 1 << (set.log2_degree - 1));
    }
}

/// Checks that the bound on what a bootstrapping adds holds in every slot, noise of both ways and a round of refinement included.
#[test]
fn bounds_of_a_real_ring_hold() {
    let refined = Set {
        order: Order::First,
        first_bits: 59,
        residual: LevelRange { levels: 5, scale_bits: 52 },
        slots_to_coeffs: LevelRange { levels: 2, scale_bits: 52 },
        rounds: 2,
        ..Set::insecure_for_tests(9)
    };
    for set in [Set::insecure_fast(9), refined] {
        let (slots, left) = (256, set.levels_left());
        let mut bench = RealBench::new(&set, slots);
        for (values, level) in [(reals(slots, 1.7), set.lowest_level().max(1)), (vec![1.0; slots], left)] {
            let a = bench.encrypt(&values, level);
            let plaintext = bench.context.decrypt(&a, &bench.secret).unwrap();
            let encoder = Encoder::new(&bench.context, slots).unwrap();
            let before = encoder.decode_real(&plaintext).unwrap();
            let out = bench.bootstrapper.bootstrap_bounded(&a, 2f64.powi(-10), &bench.keys).unwrap();
            let metadata = out.ciphertext.metadata();
            assert_eq!((metadata.level, metadata.scale), (left, bench.context.scale(left).unwrap()));
            let plaintext = bench.context.decrypt(&out.ciphertext, &bench.secret).unwrap();
            let after = encoder.decode_real(&plaintext).unwrap();
            let worst = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst <= out.added, "{worst:e} beyond {:e}", out.added);
            assert!(out.added < 2f64.powi(-8), "{:e} says nothing", out.added);
            let peak = out.ciphertext.noise().peak.bits().exp2();
            let bound = peak * bench.context.ring().expansion().weight() as f64 / 2.0 / metadata.scale;
            let error = values.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error <= bound, "{error:e} beyond the noise of {bound:e}");
        }
    }
}

/// Checks that parameters keep their real ring under their name, and that keys of the other kind of ring are refused.
#[test]
fn parameters_of_a_real_ring_have_a_name() {
    let whole = BootstrapParameters::insecure(9).unwrap();
    let real = whole.with_real_slots().unwrap();
    assert_eq!((real.name(), real.with_real_slots().unwrap()), ("insecure-fast-9-real", real.clone()));
    assert_eq!(BootstrapParameters::named(real.name()), Some(real.clone()));
    assert_eq!(real.ckks(), &real.set().real_parameters().unwrap());
    assert_eq!((real.whole(), real.is_real(), whole.is_real()), (whole.ckks(), true, false));
    let lower = real.with_levels_left(9).unwrap();
    assert_eq!(lower.name(), "insecure-fast-9-9-real");
    assert_eq!(BootstrapParameters::named(lower.name()), Some(lower));
    for unknown in ["-real", "n16-128-fast-real-real", "n16-128-fast-real-8", "insecure-fast-8-real"] {
        assert_eq!(BootstrapParameters::named(unknown), None, "{unknown}");
    }
    // Integers are messages of complex slots.
    let integers = IntegerParameters::insecure(9).unwrap();
    assert_eq!(IntegerParameters::named(&format!("{}-real", integers.name())), None);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut made = [&whole, &real].map(|parameters| {
        let context = Context::new(parameters.ckks()).unwrap();
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let blueprint = AnyBlueprint::of_all_slots(&context, parameters.set()).unwrap();
        let keys = AnyBootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
        assert_eq!(keys.id(), secret.id());
        let level = parameters.set().lowest_level();
        let encoder = Encoder::new(&context, 16).unwrap();
        let plaintext = encoder.encode_real_at(&[0.5; 16], level, context.scale(level).unwrap()).unwrap();
        let a = context.encrypt_secret(&plaintext, &secret, &mut rng).unwrap();
        (AnyBootstrapper::new(&blueprint, |_, _| {}).unwrap(), keys, a)
    });
    let [(_, first, _), (_, second, _)] = &mut made;
    std::mem::swap(first, second);
    for (bootstrapper, keys, a) in &made {
        let refused = bootstrapper.bootstrap_bounded(a, 0.01, keys).err().unwrap();
        assert!(matches!(refused, BootstrapError::MissingKey { .. }), "{refused}");
    }
}
