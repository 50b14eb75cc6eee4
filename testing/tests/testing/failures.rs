//! Rate of failing decryptions where noise was made to fill the modulus, against the rate from the stated deviation: of one key holder, and of three
//! parties who open by shares.

use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rand::RngExt;
use rand_core::SeedableRng;
use statrs::distribution::{ContinuousCDF, Normal};
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator, Parameters, Plaintext};
use sunzi_math::primes_with_bits;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::joint::{AdditiveSecret, JointDecryption};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, PublicKey, SecretDistribution, SecretKey, Security, SharingPolicy};
use sunzi_testing::statistics::{above_sum_of_uniforms, binomial_interval};
use sunzi_testing::{Figure, JointKeys};

const LOG_N: u32 = 10;
const N: usize = 1 << LOG_N;
/// Number of failures to count.
const FAILURES: u64 = 200;

/// Capacity of noise in deviations: one coefficient in a thousand fails.
const DEVIATIONS: f64 = 3.3;

/// Keys of a context with q = 2·3.3·σ·t for the deviation σ of a computation.
struct Inflated {
    context: Context,
    /// Secrets of all parties, or the one of a key holder.
    secrets: Vec<SecretKey>,
    /// Sum of the secrets.
    secret: SecretKey,
    public: PublicKey,
    rng: ChaCha20Rng,
    /// Deviation σ of the computation.
    deviation: f64,
}

impl Inflated {
    /// Makes keys of a number of parties for a computation whose noise is `times` as wide as that of a fresh ciphertext.
    fn new(parties: u32, times: f64) -> Self {
        // Roundings e_0 + e_1·s of the switch to q, beside which all else is negligible. Secrets depend on the seed alone, not on t.
        let Self { context, secret, .. } = Self::for_noise(parties, 1.0);
        let rlwe = context.rlwe();
        let ring = rlwe.ring_at(rlwe.level()).unwrap();
        let secret = AdditiveSecret::at_level(&secret, rlwe, rlwe.level()).unwrap();
        let secret = ring.to_coefficient((*secret).clone()).unwrap();
        let norm: BigInt = ring.to_integers(&secret).unwrap().iter().map(|c| c * c).sum();
        Self::for_noise(parties, times * ((1.0 + norm.to_f64().unwrap()) / 12.0).sqrt())
    }

    fn for_noise(parties: u32, deviation: f64) -> Self {
        let moduli = primes_with_bits(45, 2 * N as u64, 2).unwrap();
        let t = (moduli[0] as f64 / (2.0 * DEVIATIONS * deviation)) as u64;
        let key_switching = GadgetOptions { special_moduli: vec![moduli[1]], ..GadgetOptions::default() };
        let algorithms = Algorithms { key_switching, ..Algorithms::default() };
        let security = Security::InsecureForResearchOnly;
        let parameters = Parameters::new(LOG_N, vec![moduli[0]], t, security)
            .with_algorithms(algorithms)
            .with_secrets(SecretDistribution::of_parties(parties));
        let context = Context::new(&parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let (secrets, secret, public) = if parties == 1 {
            let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
            let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
            (vec![secret.duplicate()], secret, public)
        } else {
            let JointKeys { secrets, secret, public, .. } = JointKeys::new(context.rlwe(), 7, &[]).unwrap();
            (secrets, secret, public)
        };
        Self { context, secrets, secret, public, rng, deviation }
    }

    /// Returns log2 of the stated deviation of a ciphertext, and what it decrypts to.
    fn open(&mut self, ciphertext: &Ciphertext) -> (f64, Plaintext) {
        let opened = self.context.decrypt_unchecked(ciphertext, &self.secret).unwrap();
        (ciphertext.noise().deviation.bits(), opened)
    }

    /// Returns log2 of the stated deviation of flooding noise of all parties, and what their shares open, whatever the room is.
    fn open_by_shares(&mut self, ciphertext: &Ciphertext, flooding: Flooding) -> (f64, Plaintext) {
        let rlwe = self.context.rlwe();
        let decryption = JointDecryption::new(rlwe, ciphertext.parts(), rlwe.level(), flooding).unwrap();
        let shares: Vec<_> = self
            .secrets
            .iter()
            .map(|secret| decryption.share(rlwe, secret, &mut self.rng).unwrap())
            .collect();
        let ring = rlwe.ring_at(rlwe.level()).unwrap();
        let phase = ring.to_integers(&decryption.combine(rlwe, None, &shares).unwrap()).unwrap();
        let (q, t) = (BigInt::from(ring.modulus().clone()), self.context.plain_modulus());
        // The nearest multiple of q/t, by integers from 0 to q − 1.
        let nearest = |c: &BigInt| -> BigInt { ((c + &q) % &q * t * 2 + &q) / (&q * 2) % t };
        let message = phase.iter().map(|c| nearest(c).to_u64().unwrap()).collect();
        let noise = flooding.noise_of(self.secrets.len() as u32, rlwe.ring().expansion());
        (noise.deviation.bits(), Plaintext::new(message, t).unwrap())
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

/// Returns the probability that a normal variable is further from 0 than the capacity.
fn normal() -> f64 {
    2.0 * Normal::standard().sf(DEVIATIONS)
}

/// Counts failures of a computation whose noise has the deviation that was planned for, until there are enough.
fn run(
    what: &str,
    mut party: Inflated,
    probability: f64,
    compute: impl Fn(&mut Inflated) -> ((f64, Plaintext), Plaintext),
) {
    let (mut trials, mut failures, mut stated) = (0, 0, 0.0_f64);
    while failures < FAILURES {
        let ((deviation, opened), expected) = compute(&mut party);
        stated = deviation;
        let pairs = opened.coefficients().iter().zip(expected.coefficients());
        failures += pairs.filter(|(a, b)| a != b).count() as u64;
        trials += N as u64;
        assert!(trials < 1 << 24, "{what}: {failures} failures only");
    }
    let [low, high] = binomial_interval(trials, probability);
    println!("{what}: {failures} of {trials}, {low} to {high} expected");
    let outside = low.saturating_sub(failures).max(failures.saturating_sub(high));
    let figure =
        |name: &str| Figure::new(6, format!("{name}, {what}")).cases(failures as usize, FAILURES as usize);
    figure("failures outside the 99 % interval").none_wrong(outside as usize);
    // The stated deviation is that over all secrets: the norm of this sum of several ones is within four of its own deviations, 2.2 % each.
    let above = stated - party.deviation.log2();
    let least = if party.secrets.len() > 1 { -0.125 } else { 0.0 };
    figure("log2 of stated over true deviation").at_least(above, least);
    figure("log2 of stated over true deviation, from above").at_most(above, 0.5);
}

#[test]
fn decryption_fails_as_often_as_the_deviation_says() {
    for parties in [1, 3] {
        let run = |what: &str, times: f64, compute: fn(&mut Inflated) -> (Ciphertext, Plaintext)| {
            let what = if parties == 1 { what.to_owned() } else { format!("{what}, {parties} parties") };
            run(&what, Inflated::new(parties, times), normal(), |party| {
                let (ciphertext, expected) = compute(party);
                (party.open(&ciphertext), expected)
            });
        };
        run("fresh", 1.0, Inflated::encrypt);
        run("a sum of two", 2_f64.sqrt(), Inflated::sum);
        run("a thousand times one", 1000.0, Inflated::multiple);
    }
}

/// Flooding noise of all parties is the noise of what they open: three uniform integers each.
#[test]
fn shares_open_wrong_results_as_often_as_their_noise_says() {
    let policy = SharingPolicy::new(8, 16).unwrap();
    for parties in [2_u32, 3, 10] {
        let flooding = Flooding::new(policy, DeclaredNoise::from_bits(8.0), N).unwrap();
        let deviation = flooding.log2_deviation().exp2() * f64::from(parties).sqrt();
        // Deviations of a sum of uniform numbers from 0 to 1, around its middle.
        let (terms, party) = (3 * parties, Inflated::for_noise(parties, deviation));
        let probability = 2.0 * above_sum_of_uniforms(terms, DEVIATIONS * (f64::from(terms) / 12.0).sqrt());
        run(&format!("opened by {parties} shares"), party, probability, |party| {
            let (ciphertext, expected) = party.encrypt();
            (party.open_by_shares(&ciphertext, flooding), expected)
        });
    }
}
