//! Rate of failing decryptions where noise was made to fill the modulus, against the rate from the stated deviation.

use chacha20::ChaCha20Rng;
use rand::RngExt;
use rand_core::SeedableRng;
use statrs::distribution::{ContinuousCDF, Normal};
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator, Parameters, Plaintext};
use sunzi_math::primes_with_bits;
use sunzi_ring::{GadgetOptions, sampling};
use sunzi_rlwe::{PublicKey, SecretKey, Security};
use sunzi_testing::Figure;
use sunzi_testing::statistics::binomial_interval;

const LOG_N: u32 = 10;
const N: usize = 1 << LOG_N;
/// Number of failures to count.
const FAILURES: u64 = 200;

/// Keys of a context with q = 2·3.3·σ·t for the deviation σ of a computation: one coefficient in a thousand fails.
struct Inflated {
    context: Context,
    secret: SecretKey,
    public: PublicKey,
    rng: ChaCha20Rng,
    /// Deviation σ of a fresh ciphertext: roundings e_0 + e_1·s of the switch to q, beside which all else is negligible.
    fresh: f64,
}

impl Inflated {
    fn new(times: f64) -> Self {
        let seed = || ChaCha20Rng::seed_from_u64(6);
        let weight: i64 = sampling::ternary(N, &mut seed()).unwrap().iter().map(|c| c * c).sum();
        let fresh = ((1 + weight) as f64 / 12.0).sqrt();
        let moduli = primes_with_bits(45, 2 * N as u64, 2).unwrap();
        let t = (moduli[0] as f64 / (2.0 * 3.3 * fresh * times)) as u64;
        let key_switching = GadgetOptions { special_moduli: vec![moduli[1]], ..GadgetOptions::default() };
        let algorithms = Algorithms { key_switching, ..Algorithms::default() };
        let security = Security::InsecureForResearchOnly;
        let parameters = Parameters::new(LOG_N, vec![moduli[0]], t, security).with_algorithms(algorithms);
        let context = Context::new(&parameters).unwrap();
        let secret = SecretKey::generate(context.rlwe(), &mut seed()).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        Self { context, secret, public, rng, fresh }
    }

    fn encrypt(&mut self) -> (Ciphertext, Plaintext) {
        let t = self.context.plain_modulus();
        let message = Plaintext::new((0..N).map(|_| self.rng.random_range(0..t)).collect(), t).unwrap();
        (self.context.encrypt(&message, &self.public, &mut self.rng).unwrap(), message)
    }

    /// Returns a message whose coefficients are a function of others.
    fn message(&self, f: impl Fn(usize) -> u64) -> Plaintext {
        let t = self.context.plain_modulus();
        Plaintext::new((0..N).map(|i| f(i) % t).collect(), t).unwrap()
    }

    /// Returns the sum of two independent ciphertexts.
    fn sum(&mut self) -> (Ciphertext, Plaintext) {
        let [(a, x), (b, y)] = [self.encrypt(), self.encrypt()];
        let message = self.message(|i| x.coefficients()[i] + y.coefficients()[i]);
        (Evaluator::new(&self.context).add(&a, &b).unwrap(), message)
    }

    fn multiple(&mut self) -> (Ciphertext, Plaintext) {
        let (a, x) = self.encrypt();
        let message = self.message(|i| 1000 * x.coefficients()[i]);
        (Evaluator::new(&self.context).multiply_scalar(&a, 1000).unwrap(), message)
    }
}

/// Counts failures of noise that is `times` as wide as that of a fresh ciphertext, until there are enough.
fn run(what: &str, times: f64, compute: impl Fn(&mut Inflated) -> (Ciphertext, Plaintext)) {
    let mut party = Inflated::new(times);
    let (mut trials, mut failures, mut stated) = (0, 0, 0.0_f64);
    while failures < FAILURES {
        let (ciphertext, expected) = compute(&mut party);
        stated = ciphertext.noise().deviation.bits();
        let opened = party.context.decrypt_unchecked(&ciphertext, &party.secret).unwrap();
        let pairs = opened.coefficients().iter().zip(expected.coefficients());
        failures += pairs.filter(|(a, b)| a != b).count() as u64;
        trials += N as u64;
        assert!(trials < 1 << 24, "{what}: {failures} failures only");
    }
    let capacity = party.context.rlwe().log2_modulus().exp2() / 2.0 / party.context.plain_modulus() as f64;
    let deviation = times * party.fresh;
    let [low, high] = binomial_interval(trials, 2.0 * Normal::standard().sf(capacity / deviation));
    println!("{what}: {failures} of {trials}, {low} to {high} expected");
    let outside = low.saturating_sub(failures).max(failures.saturating_sub(high));
    let figure =
        |name: &str| Figure::new(6, format!("{name}, {what}")).cases(failures as usize, FAILURES as usize);
    figure("failures outside the 99 % interval").none_wrong(outside as usize);
    // The stated deviation is a bound, and close.
    figure("log2 of stated over true deviation").at_least(stated - deviation.log2(), 0.0);
    figure("log2 of stated over true deviation, from above").at_most(stated - deviation.log2(), 0.5);
}

#[test]
fn decryption_fails_as_often_as_the_deviation_says() {
    run("fresh", 1.0, Inflated::encrypt);
    run("a sum of two", 2_f64.sqrt(), Inflated::sum);
    run("a thousand times one", 1000.0, Inflated::multiple);
}
