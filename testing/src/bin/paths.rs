//! One operation in a small ring, for `cargo xtask paths`, which records the files that it goes through: `product` or `bootstrap`.
#![forbid(unsafe_code)]

use std::error::Error;

use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys, Bootstrapper, Set};
use sunzi_ckks::Complex64;
use sunzi_encoding::{BatchEncoder, Encoder};
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, randomness};

fn main() -> Result<(), Box<dyn Error>> {
    let operation = match std::env::args().nth(1).as_deref() {
        Some("product") => product,
        Some("bootstrap") => bootstrap,
        other => return Err(format!("expected product or bootstrap, not {other:?}").into()),
    };
    // On a thread of the pool, where what is shared among threads stays below what shares it.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| operation().map_err(|error| error.to_string()))?;
    Ok(())
}

/// Runs a BFV product with relinearisation, to record its calls.
fn product() -> Result<(), Box<dyn Error>> {
    let context =
        sunzi_bfv::Context::new(&sunzi_bfv::Parameters::builder().depth(2).plain_bits(17).build()?)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let plaintext = BatchEncoder::new(context.degree(), context.plain_modulus())?.encode(&[3])?;
    let a = context.encrypt(&plaintext, &public, &mut rng)?;
    sunzi_bfv::Evaluator::new(&context).multiply(&a, &a, &key)?;
    Ok(())
}

/// Runs a CKKS bootstrapping, to record its calls, in a ring that is too small to be secure.
fn bootstrap() -> Result<(), Box<dyn Error>> {
    let set = Set::insecure_for_tests(11);
    let context = sunzi_ckks::Context::new(&set.parameters()?)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let blueprint = Blueprint::new(&context, &set, context.max_slots())?;
    let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
    let bootstrapper = Bootstrapper::new(&blueprint, |_, _| {})?;
    let encoder = sunzi_ckks::Encoder::new(&context, context.max_slots())?;
    let level = set.lowest_level();
    let plaintext = encoder.encode_at(&[Complex64::ONE], level, context.scale(level)?)?;
    let exhausted = context.encrypt_secret(&plaintext, &secret, &mut rng)?;
    bootstrapper.bootstrap(&exhausted, &keys)?;
    Ok(())
}
