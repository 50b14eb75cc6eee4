//! Times, precision and keys of bootstrapping in a real ring beside the whole ring of equal slots, alternating.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example bootstrap_real_ring -- n16-128-fast 5`
#![expect(clippy::print_stdout, reason = "it reports figures")]

use std::time::Instant;

use sunzi_circuits::bootstrap::{
    Blueprint, BootstrapKeys, Bootstrapper, RealBlueprint, RealBootstrapKeys, RealBootstrapper, Set,
};
use sunzi_ckks::{Ciphertext, Context, Encoder};
use sunzi_rlwe::{SecretKey, randomness};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// −log2 of the mean and of the worst error of slots.
fn bits(got: &[f64], expected: &[f64]) -> [f64; 2] {
    let errors: Vec<f64> = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    [-(errors.iter().sum::<f64>() / errors.len() as f64).log2(), -worst.log2()]
}

/// A context with its secret and its encoder of all slots.
struct Owner {
    context: Context,
    secret: SecretKey,
    encoder: Encoder,
}

impl Owner {
    fn new(context: Context) -> Outcome<Self> {
        let secret = SecretKey::generate(context.rlwe(), &mut randomness::from_os()?)?;
        let encoder = Encoder::new(&context, context.max_slots())?;
        Ok(Self { context, secret, encoder })
    }

    fn encrypt(&self, values: &[f64], level: usize) -> Outcome<Ciphertext> {
        let plaintext = self.encoder.encode_real_at(values, level, self.context.scale(level)?)?;
        Ok(self.context.encrypt_secret(&plaintext, &self.secret, &mut randomness::from_os()?)?)
    }

    fn bits(&self, a: &Ciphertext, values: &[f64]) -> Outcome<[f64; 2]> {
        Ok(bits(&self.encoder.decode_real(&self.context.decrypt(a, &self.secret)?)?, values))
    }
}

fn timed<T>(seconds: &mut Vec<f64>, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let start = Instant::now();
    let done = work()?;
    seconds.push(start.elapsed().as_secs_f64());
    Ok(done)
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "n16-128-fast".to_owned());
    let rounds: usize = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let set = Set::shipped().into_iter().find(|set| set.name == name).ok_or("no set has this name")?;
    let real = Owner::new(Context::new(&set.real_parameters()?)?)?;
    let slots = real.context.max_slots();
    let blueprint = RealBlueprint::new(&real.context, &set, slots)?;
    let mut rng = randomness::from_os()?;
    let keys = RealBootstrapKeys::generate(&blueprint, &real.secret, &mut rng, |_, _| {})?;
    let bootstrapper = RealBootstrapper::new(&blueprint, |_, _| {})?;
    let whole = Owner::new(blueprint.whole().context().clone())?;
    let of_whole = Blueprint::new(&whole.context, &set, slots)?;
    let complex_keys = BootstrapKeys::generate(&of_whole, &whole.secret, &mut rng, |_, _| {})?;
    let complex = Bootstrapper::new(&of_whole, |_, _| {})?;
    println!(
        "{name}: real ring of n = 2^{}, {:.0} bits with special moduli, {slots} slots; keys {:.2} GiB, between both rings {:.1} MB",
        slots.ilog2(),
        real.context.rlwe().log2_key_modulus(),
        keys.byte_len() as f64 / f64::from(1 << 30),
        keys.between().byte_len() as f64 / 1e6,
    );
    let level = set.lowest_level().max(1);
    let [a, b] = [1.7, 0.9].map(|turn| (0..slots).map(|j| (j as f64 * turn).sin()).collect::<Vec<_>>());
    let [real_a, real_b] = [real.encrypt(&a, level)?, real.encrypt(&b, level)?];
    let [whole_a, whole_b] = [whole.encrypt(&a, level)?, whole.encrypt(&b, level)?];
    let mut seconds = [const { Vec::new() }; 4];
    for round in 0..rounds {
        let [alone, of_whole, pair, pair_of_whole] = &mut seconds;
        let out = timed(alone, || Ok(bootstrapper.bootstrap(&real_a, &keys)?))?;
        let expected = timed(of_whole, || Ok(complex.bootstrap(&whole_a, &complex_keys)?))?;
        let both = timed(pair, || Ok(bootstrapper.bootstrap_pair([&real_a, &real_b], &keys)?))?;
        timed(pair_of_whole, || Ok(complex.bootstrap_real_pair([&whole_a, &whole_b], &complex_keys)?))?;
        if round == 0 {
            println!(
                "mean and worst bits: alone {:.1?}, complex {:.1?}",
                real.bits(&out, &a)?,
                whole.bits(&expected, &a)?
            );
            let [first, second] = &both;
            println!("of a pair {:.1?} and {:.1?}", real.bits(first, &a)?, real.bits(second, &b)?);
        }
    }
    let [alone, of_whole, pair, pair_of_whole] = seconds.map(median);
    println!("seconds: alone {alone:.2}, complex {of_whole:.2}, ratio {:.3}", alone / of_whole);
    println!(
        "seconds of a pair: {pair:.2}, in the whole ring {pair_of_whole:.2}, ratio {:.3}",
        pair / pair_of_whole
    );
    Ok(())
}
