//! Noise of bootstrapped ciphertexts against the bounds that they carry: random messages, and the hardest ones.

use std::f64::consts::{PI, TAU};
use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand::RngExt;
use rand_core::SeedableRng;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapError, BootstrapKeys, Bootstrapper, Set};
use sunzi_ckks::{Ciphertext, Complex64, Context, Encoder};
use sunzi_rlwe::wire::Fingerprint;
use sunzi_rlwe::{
    DeclaredNoise, LedgerFile, Log2, NoiseBound, NoiseTerm, SecretKey, Security, SharingLedger, SharingPolicy,
};
use sunzi_testing::Figure;

const ROW: u8 = 24;

/// Returns a set in a ring of degree 2^`log2_degree`, INSECURE.
fn shrunk(set: &Set, log2_degree: u32) -> Set {
    Set { log2_degree, security: Security::InsecureForResearchOnly, ..set.clone() }
}

struct Bench {
    context: Context,
    secret: SecretKey,
    keys: BootstrapKeys,
    bootstrapper: Bootstrapper,
    encoder: Encoder,
    rng: ChaCha20Rng,
}

/// Bits of measured and stated noise.
#[derive(Clone, Copy, Debug)]
struct Measured {
    noise: f64,
    bound: f64,
    /// Error of the worst slot, times the scale: the peak of the noise.
    slot: f64,
    slot_bound: f64,
}

impl Bench {
    fn new(set: &Set, slots: usize) -> Self {
        let context = Context::new(&set.parameters().unwrap()).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(24);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let blueprint = Blueprint::new(&context, set, slots).unwrap();
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
        let bootstrapper = Bootstrapper::new(&blueprint, |_, _| {}).unwrap();
        let encoder = Encoder::new(&context, slots).unwrap();
        Self { context, secret, keys, bootstrapper, encoder, rng }
    }

    fn encrypt(&mut self, values: &[Complex64], level: usize) -> Ciphertext {
        let scale = self.context.scale(level).unwrap();
        let plaintext = self.encoder.encode_at(values, level, scale).unwrap();
        self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng).unwrap()
    }

    /// Bootstraps a message from the lowest level possible.
    fn bootstrapped(&mut self, values: &[Complex64]) -> Ciphertext {
        let set = self.bootstrapper.blueprint().set().clone();
        let a = self.encrypt(values, set.lowest_level());
        self.bootstrapper.bootstrap_refined(&a, set.rounds, &self.keys).unwrap()
    }

    fn measure(&self, a: &Ciphertext, values: &[Complex64]) -> Measured {
        let (level, scale) = (a.metadata().level, a.metadata().scale);
        let message = self.encoder.encode_at(values, level, scale).unwrap();
        let noise = self.context.measure_noise(a, &message, &self.secret).unwrap();
        let opened = self.encoder.decode(&self.context.decrypt(a, &self.secret).unwrap()).unwrap();
        let worst = opened.iter().zip(values).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let of_slots = a.noise().peak.bits() + (self.context.degree() as f64 / 2.0).log2();
        Measured {
            noise,
            bound: a.noise().bound(self.context.ring().expansion()).bits(),
            slot: (worst * scale).log2(),
            slot_bound: of_slots,
        }
    }
}

/// Returns the i-th of messages with slots of at most 1, each kind in its turn: those of few coefficients or few slots, at the ends of the
/// allowed range, beside random ones.
fn message(i: usize, slots: usize, rng: &mut ChaCha20Rng) -> Vec<Complex64> {
    let turn = Complex64::from_polar(1.0, rng.random_range(0.0..TAU));
    let all = |f: &mut dyn FnMut(usize) -> Complex64| (0..slots).map(f).collect::<Vec<_>>();
    let place = rng.random_range(0..slots);
    match i % 10 {
        0 => all(&mut |_| Complex64::ONE),
        1 => all(&mut |_| -Complex64::i()),
        2 => all(&mut |_| turn),
        3 => all(&mut |j| if j % 2 == 0 { turn } else { -turn }),
        4 => all(&mut |j| if j == place { turn } else { Complex64::ZERO }),
        5 => monomial(2 * place + i / 10 % 2, slots),
        6 => all(&mut |j| if j < place { turn } else { -turn }),
        7 => all(&mut |_| Complex64::from_polar(1.0, rng.random_range(0.0..TAU))),
        8 => all(&mut |_| Complex64::from(if rng.random() { 1.0 } else { -1.0 })),
        _ => all(&mut |_| Complex64::from_polar(rng.random(), rng.random_range(0.0..TAU))),
    }
}

/// Returns slots of ±X^(k·n/2s): all of the message in one coefficient.
fn monomial(k: usize, slots: usize) -> Vec<Complex64> {
    let index = 4 * slots;
    let mut exponent = 1;
    let value = |_| {
        let angle = 2.0 * PI * (exponent * k % index) as f64 / index as f64;
        exponent = exponent * 5 % index;
        Complex64::from_polar(1.0, angle)
    };
    (0..slots).map(value).collect()
}

/// Largest distance of a bound above the worst measurement, in bits.
const MOST_GAP: f64 = 12.0;

/// Checks `count` messages through a set: no noise and no slot above its bound, and a bound close to the worst of them.
fn law(set: &Set, slots: usize, count: usize, what: &str) {
    law_while(&mut Bench::new(set, slots), |done| done < count, what);
}

/// Checks messages while `more` returns true.
fn law_while(bench: &mut Bench, more: impl Fn(usize) -> bool, what: &str) {
    let (mut above, mut worst, mut gap) = (0, f64::NEG_INFINITY, f64::INFINITY);
    let (name, slots) = (bench.bootstrapper.blueprint().set().name, bench.bootstrapper.blueprint().slots());
    let mut count = 0;
    while more(count) {
        let values = message(count, slots, &mut bench.rng);
        let out = bench.bootstrapped(&values);
        let Measured { noise, bound, slot, slot_bound } = bench.measure(&out, &values);
        above += usize::from(noise > bound || slot > slot_bound);
        (worst, gap) = (worst.max(noise - bound), gap.min(bound - noise));
        count += 1;
    }
    Figure::new(ROW, format!("noise above its bound after bootstrapping, {name}, {what}"))
        .cases(count, count)
        .none_wrong(above);
    Figure::new(ROW, format!("log2 of the worst noise over its bound, {name}, {what}"))
        .cases(count, count)
        .at_most(worst, 0.0);
    Figure::new(ROW, format!("bits from the worst noise to its bound, {name}, {what}"))
        .cases(count, count)
        .at_most(gap, MOST_GAP);
}

#[test]
fn no_noise_is_above_its_bound_in_small_rings() {
    for set in Set::shipped() {
        law(&shrunk(&set, 10), 512, 10, "n = 2^10");
    }
}

/// Checks few slots: where vectors repeat, noise does not, and a round of refinement takes the mean over the repetitions.
#[test]
fn bounds_hold_for_few_slots() {
    for set in Set::shipped() {
        law(&shrunk(&set, 10), 32, 10, "n = 2^10, 32 slots");
        law(&shrunk(&set, 10).for_slots(32), 32, 10, "n = 2^10, set for 32 slots");
    }
}

/// Checks messages of real slots, alone and in pairs: each carries a bound above its noise, that of the other part included.
#[test]
fn bounds_hold_for_real_messages() {
    for set in Set::shipped() {
        let mut bench = Bench::new(&shrunk(&set, 10), 512);
        let evaluator = bench.bootstrapper.evaluator().clone();
        let level = set.lowest_level().max(1);
        let mut worst = f64::NEG_INFINITY;
        for i in 0..10 {
            let real = |i, rng: &mut ChaCha20Rng| -> Vec<Complex64> {
                message(i, 512, rng).iter().map(|value| Complex64::from(value.re)).collect()
            };
            let values = [real(i, &mut bench.rng), real(i * 7 + 3, &mut bench.rng)];
            let [a, mut b] = [0, 1].map(|part| bench.encrypt(&values[part], level));
            if i % 2 == 1 {
                // Noise of the one comes back in the other.
                let zero = bench.encrypt(&[Complex64::ZERO; 512], level);
                let zero = evaluator.with_magnitude(&zero, 1e-9).unwrap();
                let noise = evaluator.multiply_integer(&zero, 1 << 12).unwrap();
                b = evaluator.with_magnitude(&evaluator.add(&b, &noise).unwrap(), 1.0).unwrap();
            }
            let [first, second] = bench.bootstrapper.bootstrap_real_pair([&a, &b], &bench.keys).unwrap();
            let alone = bench.bootstrapper.bootstrap_real(&b, &bench.keys).unwrap();
            for (out, values) in [(first, &values[0]), (second, &values[1]), (alone, &values[1])] {
                let measured = bench.measure(&out, values);
                assert!(measured.noise <= measured.bound, "{} {i}: {measured:?}", set.name);
                assert!(measured.slot <= measured.slot_bound, "{} {i}: {measured:?}", set.name);
                worst = worst.max(measured.noise - measured.bound);
            }
        }
        assert!(worst > -MOST_GAP, "{}: {worst}", set.name);
    }
}

/// Checks declarations: declared small, messages have smaller errors; incoming noise counts; a scale of their own changes nothing.
#[test]
fn bounds_follow_what_is_declared() {
    for set in Set::shipped() {
        let mut bench = Bench::new(&shrunk(&set, 10), 512);
        let evaluator = bench.bootstrapper.evaluator().clone();
        let values: Vec<Complex64> = vec![Complex64::from(1.0 / 64.0); 512];
        let a = bench.encrypt(&values, set.lowest_level());
        let small = evaluator.with_magnitude(&a, 1.0 / 64.0).unwrap();
        let [large, small] = [&a, &small].map(|a| {
            let out = bench.bootstrapper.bootstrap_refined(a, set.rounds, &bench.keys).unwrap();
            let measured = bench.measure(&out, &values);
            assert!(measured.noise <= measured.bound, "{}: {measured:?}", set.name);
            measured
        });
        // Where an error is corrected, the rounding of a smaller message counts for more.
        if set.rounds == 1 {
            assert!(small.bound < large.bound, "{}: {small:?} {large:?}", set.name);
        }
        // Far below the error of bootstrapping, and no message at all.
        for size in [1e-9, 1e-30] {
            let tiny = vec![Complex64::from(size); 512];
            let a = bench.encrypt(&tiny, set.lowest_level());
            let a = evaluator.with_magnitude(&a, size).unwrap();
            let out = bench.bootstrapper.bootstrap_refined(&a, set.rounds, &bench.keys).unwrap();
            let measured = bench.measure(&out, &tiny);
            assert!(measured.noise <= measured.bound, "{}, {size}: {measured:?}", set.name);
        }
        // A multiple of an encryption of 0 is noise.
        let zero = bench.encrypt(&[Complex64::ZERO; 512], set.lowest_level());
        let zero = evaluator.with_magnitude(&zero, 1e-9).unwrap();
        let noise = evaluator.multiply_integer(&zero, 1 << 20).unwrap();
        let noisy = evaluator.with_magnitude(&evaluator.add(&a, &noise).unwrap(), 1.0).unwrap();
        let out = bench.bootstrapper.bootstrap_refined(&noisy, set.rounds, &bench.keys).unwrap();
        let measured = bench.measure(&out, &values);
        assert!(measured.noise <= measured.bound, "{}: {measured:?}", set.name);
        assert!(measured.bound > 24.0 && measured.bound < large.bound.max(28.0) + 6.0, "{measured:?}");
    }
}

/// Checks that noise passes a bootstrapping once: after ten in a row the bound is a few bits above that of the first.
#[test]
fn bounds_add_up_in_a_row() {
    for set in Set::shipped() {
        let mut bench = Bench::new(&shrunk(&set, 10), 512);
        let values = message(9, 512, &mut bench.rng);
        let mut a = bench.bootstrapped(&values);
        let first = bench.measure(&a, &values).bound;
        for _ in 1..10 {
            let evaluator = bench.bootstrapper.evaluator();
            let lowered = evaluator.level_to(&a, set.lowest_level()).unwrap();
            a = bench.bootstrapper.bootstrap_refined(&lowered, set.rounds, &bench.keys).unwrap();
        }
        let Measured { noise, bound, .. } = bench.measure(&a, &values);
        assert!(noise <= bound && bound < first + 5.0, "{}: {noise}, 2^{first} to 2^{bound}", set.name);
    }
}

/// Checks whatever a file may say of a ciphertext: no panic and no small bound; noise that leaves no message gives an infinite one.
#[test]
fn noise_beyond_everything_stays_within_the_modulus() {
    for set in Set::shipped() {
        let mut bench = Bench::new(&shrunk(&set, 9), 256);
        let mut a = bench.encrypt(&[Complex64::ONE; 256], set.lowest_level());
        for bits in [60.0, 1e6, f64::INFINITY] {
            let size = Log2::from_bits(bits);
            let term = NoiseTerm { worst: size, deviation: size, peak: size };
            a.set_noise(NoiseBound::dependent(term, 0));
            let out = bench.bootstrapper.bootstrap_refined(&a, set.rounds, &bench.keys).unwrap();
            let bound = out.noise().bound(bench.context.ring().expansion()).bits();
            let modulus = bench.context.log2_modulus_at(out.metadata().level).unwrap();
            assert!(
                bound <= modulus + 8.0 && bound >= modulus - 1.0,
                "{}: 2^{bound} of 2^{modulus}",
                set.name
            );
        }
    }
}

/// Checks that sets of two rounds leave room for sharing; those of one round refuse, and name the bits that are missing.
#[test]
fn sets_with_room_are_shared_with_a_true_declaration() {
    for set in Set::shipped() {
        let shared = shared_or_refused(&mut Bench::new(&shrunk(&set, 10), 512));
        assert_eq!(shared, set.rounds > 1, "{}", set.name);
    }
}

/// Whether a result that keeps 8 bits is shared: with a declaration above its noise, decrypted within the stated error, or else refused with
/// the bits that are missing.
fn shared_or_refused(bench: &mut Bench) -> bool {
    let policy = SharingPolicy::new(10, 16).unwrap();
    let name = bench.bootstrapper.blueprint().set().name;
    let values = message(9, bench.bootstrapper.blueprint().slots(), &mut bench.rng);
    let out = bench.bootstrapped(&values);
    let declared = match bench.bootstrapper.blueprint().declared_noise(&out, policy, 8.0) {
        Ok(declared) => declared,
        Err(error) => {
            let BootstrapError::SharingRoom { left, bits_short, .. } = error else {
                panic!("{name}: {error}")
            };
            assert!(bits_short > 0.0 && (left + bits_short - 8.0).abs() < 1e-9);
            assert!(error.to_string().contains(&format!("{bits_short:.1} fewer than asked for")));
            println!("{name} refuses: {left:.2} bits left, {bits_short:.2} are missing");
            return false;
        }
    };
    let of_key = SharingLedger::new(Fingerprint::default(), bench.secret.id(), policy);
    let mut ledger = LedgerFile::in_memory(of_key);
    let noise = bench.measure(&out, &values).noise;
    assert!(noise <= declared.bits(), "{name}: 2^{noise} above 2^{}", declared.bits());
    let Bench { context, secret, rng, encoder, .. } = bench;
    let opened = context.decrypt_for_sharing(&out, secret, declared, &mut ledger, rng).unwrap();
    // The hiding noise is larger: as large as the precision says, 8 bits at least.
    let precision = opened.metadata().precision;
    let stated = 8.0 * precision.deviation();
    let opened = encoder.decode(&opened).unwrap();
    let worst = opened.iter().zip(&values).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(worst < stated && stated < 8.0 / 256.0, "{name}: {worst}, {stated} stated");
    let bits = [declared.bits(), noise, precision.bits(), -worst.log2()];
    println!("{name} shares: 2^declared of 2^noise, bits stated and in the worst slot: {bits:.2?}");
    let less = DeclaredNoise::from_bits(declared.bits() - 3.0);
    assert!(context.check_shareable(&out, less, policy).is_err(), "{name}");
    true
}

#[test]
#[ignore = "long: 5000 bootstrappings at n = 2^10, five minutes"]
fn no_noise_is_above_its_bound_in_a_thousand_messages() {
    for set in Set::shipped() {
        law(&shrunk(&set, 10), 512, 1000, "n = 2^10");
    }
}

/// Checks messages of every kind, repeated until the time for a set is spent; then one to share.
fn at_its_degree(set: &Set) {
    let mut bench = Bench::new(set, 1 << (set.log2_degree - 1));
    let start = Instant::now();
    let more = |done| done < 10 || (done < 1000 && start.elapsed() < TIME);
    law_while(&mut bench, more, &format!("n = 2^{}", set.log2_degree));
    shared_or_refused(&mut bench);
}

/// Time for messages of one set at its degree.
const TIME: Duration = Duration::from_secs(90);

#[test]
#[ignore = "long: n = 2^16, 11 GiB"]
fn noise_of_the_default_set_at_its_degree() {
    at_its_degree(&Set::default_128());
}

#[test]
#[ignore = "long: n = 2^16, 6 GiB"]
fn noise_of_the_fast_set_at_its_degree() {
    at_its_degree(&Set::fast_128());
}

#[test]
#[ignore = "long: n = 2^15, 7 GiB"]
fn noise_of_the_set_of_the_smaller_ring_at_its_degree() {
    at_its_degree(&Set::n15_128());
}

#[test]
#[ignore = "long: n = 2^16, 5 GiB"]
fn noise_of_the_precise_set_at_its_degree() {
    at_its_degree(&Set::high_precision_128());
}

#[test]
#[ignore = "long: n = 2^16, 14 GiB"]
fn noise_of_the_set_of_the_paper_at_its_degree() {
    at_its_degree(&Set::akimoto_sakuma_insecure());
}
