//! Times, precision and keys of bootstrapping sets for few slots, alternating with each other. Times are those of processors on Linux, which other
//! work changes less.
//!
//! Arguments are slots, rounds, messages of every kind, and names of sets, to the first of which times are compared:
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example few_slots -- 16 11 20 n15-128 n15-128-s16`
#![expect(clippy::print_stdout, reason = "it reports figures")]

mod clock;

use std::time::Instant;

use num_complex::Complex64;
use rand_core::CryptoRng;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys, Bootstrapper, Set};
use sunzi_ckks::{Ciphertext, Context, Encoder};
use sunzi_rlwe::{SecretKey, randomness};

use clock::timed;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

struct Side {
    context: Context,
    secret: SecretKey,
    encoder: Encoder,
    keys: BootstrapKeys,
    bootstrapper: Bootstrapper,
    seconds: Vec<f64>,
}

impl Side {
    fn new(name: &str, slots: usize) -> Outcome<Self> {
        let start = Instant::now();
        let set = Set::named(name).ok_or("no set has this name")?;
        let chosen = start.elapsed().as_secs_f64();
        let context = Context::new(&set.parameters()?)?;
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let blueprint = Blueprint::new(&context, &set, slots)?;
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
        let bootstrapper = Bootstrapper::new(&blueprint, |_, _| {})?;
        println!(
            "{set}, chosen in {chosen:.2} s: {} + {} matrices, {} digits, log2 QP {:.0}, {} levels left and {} taken; keys {:.2} GiB, matrices {:.2} GiB",
            set.matrices_to_slots(),
            set.slots_to_coeffs.levels,
            set.digits,
            blueprint.log2_key_modulus(),
            set.levels_left(),
            set.lowest_level(),
            keys.byte_len() as f64 / f64::from(1 << 30),
            bootstrapper.byte_len() as f64 / f64::from(1 << 30),
        );
        let encoder = Encoder::new(&context, slots)?;
        Ok(Self { context, secret, encoder, keys, bootstrapper, seconds: Vec::new() })
    }

    fn encrypt(&self, values: &[Complex64]) -> Outcome<Ciphertext> {
        let level = self.bootstrapper.blueprint().set().lowest_level();
        let plaintext = self.encoder.encode_at(values, level, self.context.scale(level)?)?;
        Ok(self.context.encrypt_secret(&plaintext, &self.secret, &mut randomness::from_os()?)?)
    }

    /// Returns the errors of all slots.
    fn errors(&self, values: &[Complex64]) -> Outcome<Vec<f64>> {
        let out = self.bootstrapper.bootstrap(&self.encrypt(values)?, &self.keys)?;
        let opened = self.encoder.decode(&self.context.decrypt(&out, &self.secret)?)?;
        Ok(opened.iter().zip(values).map(|(a, b)| (a - b).norm()).collect())
    }

    /// Prints the bits of the mean and of the worst error of some messages.
    fn report(&self, what: &str, messages: &[Vec<Complex64>]) -> Outcome<()> {
        let errors: Vec<Vec<f64>> =
            messages.iter().map(|message| self.errors(message)).collect::<Outcome<_>>()?;
        let all: Vec<f64> = errors.concat();
        let mean = |errors: &[f64]| -(errors.iter().sum::<f64>() / errors.len() as f64).log2();
        let least = errors.iter().map(|errors| mean(errors)).fold(f64::INFINITY, f64::min);
        let worst = -all.iter().copied().fold(0.0, f64::max).log2();
        println!(
            "  {what}: {:.1} bits in the mean, {least:.1} of one message, {worst:.1} in the worst slot",
            mean(&all)
        );
        Ok(())
    }
}

fn unit(rng: &mut dyn CryptoRng) -> f64 {
    rng.next_u32() as f64 / f64::from(u32::MAX)
}

/// Returns slots in the unit disc.
fn random(slots: usize, rng: &mut dyn CryptoRng) -> Vec<Complex64> {
    let slot = |_| Complex64::from_polar(unit(rng).sqrt(), std::f64::consts::TAU * unit(rng));
    (0..slots).map(slot).collect()
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = || -> Outcome<usize> { Ok(arguments.next().ok_or("a number is missing")?.parse()?) };
    let (slots, rounds, messages) = (number()?, number()?, number()?);
    let names: Vec<String> = arguments.collect();
    let mut sides: Vec<Side> = names.iter().map(|name| Side::new(name, slots)).collect::<Outcome<_>>()?;
    let mut rng = randomness::from_os()?;
    let many: Vec<_> = (0..messages).map(|_| random(slots, &mut rng)).collect();
    let turn = Complex64::from_polar(1.0, 0.8);
    let hard = |f: &dyn Fn(usize) -> Complex64| -> Vec<_> {
        (0..messages).map(|_| (0..slots).map(f).collect()).collect()
    };
    for (side, name) in sides.iter().zip(&names).filter(|_| messages > 0) {
        println!("{name}");
        side.report("random", &many)?;
        side.report("all equal", &hard(&|_| turn))?;
        side.report("alternating", &hard(&|j| if j % 2 == 0 { turn } else { -turn }))?;
        side.report("a spike", &hard(&|j| if j == slots / 3 { turn } else { Complex64::ZERO }))?;
    }
    let message = random(slots, &mut rng);
    for _ in 0..rounds {
        for side in &mut sides {
            let a = side.encrypt(&message)?;
            let (_, time) = timed(|| side.bootstrapper.bootstrap(&a, &side.keys))?;
            side.seconds.push(time);
        }
    }
    let Some(first) = sides.first() else { return Ok(()) };
    for (side, name) in sides.iter().zip(&names).filter(|_| rounds > 0) {
        let ratios: Vec<f64> = side.seconds.iter().zip(&first.seconds).map(|(a, b)| a / b).collect();
        println!("{name}: {:.3} s, ratio {:.3}", median(&side.seconds), median(&ratios));
    }
    Ok(())
}
