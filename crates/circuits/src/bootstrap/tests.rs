use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, Context, Encoder};
use sunzi_rlwe::SecretKey;

use super::*;

/// Slots that look random, in the unit disc.
fn numbers(count: usize) -> Vec<Complex64> {
    (0..count).map(|j| Complex64::new((j as f64 * 1.7).sin() * 0.7, (3.1 * j as f64).cos() * 0.7)).collect()
}

struct Bench {
    context: Context,
    secret: SecretKey<sunzi_ring::Ring>,
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

/// -log2 of the worst and of the mean error.
fn bits(a: &[Complex64], b: &[Complex64]) -> (f64, f64) {
    let errors: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).norm()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    (-worst.log2(), -(errors.iter().sum::<f64>() / errors.len() as f64).log2())
}

#[test]
fn messages_come_back_with_levels() {
    let set = Set::insecure_for_tests(10);
    let mut bench = Bench::new(&set, 512);
    let values = numbers(512);
    for level in [0, 1, 3] {
        let a = bench.encrypt(&values, level);
        let out = bench.bootstrapper.bootstrap(&a, &bench.keys).unwrap();
        let (worst, mean) = bits(&bench.open(&out, 512), &values);
        println!(
            "level {level}: worst {worst:.1} mean {mean:.1} estimate {:.1}",
            out.metadata().precision.bits()
        );
        assert_eq!(out.metadata().level, 3);
    }
}
