//! Steady state: operations allocate no buffers once others like them have run, since all buffers come back to the store.

use std::error::Error;

use chacha20::ChaCha20Rng;
use num_complex::Complex64;
use rand_core::SeedableRng;
use sunzi_encoding::{BatchEncoder, Encoder as _};
use sunzi_math::primes_with_bits;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, Security};
use sunzi_testing::process::alone;

use crate::MEMORY;

type Tested = Result<(), Box<dyn Error>>;

const LOG_N: u32 = 13;
const SECURITY: Security = Security::InsecureForResearchOnly;
/// Number of bytes of one limb: lists of slices and metadata take far less, any buffer more.
const LIMB: usize = 8 << LOG_N;

/// Returns ciphertext moduli, and a special one.
fn moduli() -> Result<(Vec<u64>, GadgetOptions), Box<dyn Error>> {
    let mut moduli = primes_with_bits(45, 2 << LOG_N, 5)?;
    let special_moduli = moduli.split_off(4);
    Ok((moduli, GadgetOptions { special_moduli, ..GadgetOptions::default() }))
}

/// Runs an operation several times, then measures the largest number of bytes it allocates at once, its result included.
fn allocates_no_buffer<T>(name: &str, mut operation: impl FnMut() -> T) {
    for _ in 0..3 {
        operation();
    }
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = operation();
    let used = MEMORY.peak_usage().saturating_sub(before);
    drop(result);
    assert!(used < LIMB, "{name}: {used} bytes");
}

fn bfv() -> Tested {
    let (moduli, key_switching) = moduli()?;
    let algorithms = sunzi_bfv::Algorithms { key_switching, ..Default::default() };
    let parameters = sunzi_bfv::Parameters::new(LOG_N, moduli, 65_537, SECURITY).with_algorithms(algorithms);
    let context = sunzi_bfv::Context::new(&parameters)?;
    let (rlwe, rng) = (context.rlwe(), &mut ChaCha20Rng::seed_from_u64(1));
    let secret = SecretKey::generate(rlwe, rng)?;
    let public = PublicKey::generate(rlwe, &secret, rng)?;
    let key = RelinearizationKey::generate(rlwe, &secret, rng)?;
    let galois = GaloisKeys::generate(rlwe, &secret, [3], rng)?;
    let plain = BatchEncoder::new(1 << LOG_N, 65_537)?.encode(&[5; 1 << LOG_N])?;
    let a = context.encrypt(&plain, &public, rng)?;
    let evaluator = sunzi_bfv::Evaluator::new(&context);
    let mut b = a.clone();
    allocates_no_buffer("bfv add", || evaluator.add(&a, &a).unwrap());
    allocates_no_buffer("bfv add_assign", || evaluator.add_assign(&mut b, &a).unwrap());
    allocates_no_buffer("bfv multiply", || evaluator.multiply(&a, &a, &key).unwrap());
    allocates_no_buffer("bfv rotate", || evaluator.rotate_rows(&a, 1, &galois).unwrap());
    Ok(())
}

fn bgv() -> Tested {
    let (moduli, key_switching) = moduli()?;
    let parameters = sunzi_bgv::Parameters::new(LOG_N, moduli, 65_537, SECURITY);
    let context = sunzi_bgv::Context::new(&parameters.with_key_switching(key_switching))?;
    let (rlwe, rng) = (context.rlwe(), &mut ChaCha20Rng::seed_from_u64(2));
    let secret = SecretKey::generate(rlwe, rng)?;
    let public = PublicKey::generate(rlwe, &secret, rng)?;
    let key = RelinearizationKey::generate(rlwe, &secret, rng)?;
    let plain = BatchEncoder::new(1 << LOG_N, 65_537)?.encode(&[5; 1 << LOG_N])?;
    let a = context.encrypt(&plain, &public, rng)?;
    let evaluator = sunzi_bgv::Evaluator::new(&context);
    let lower = a.metadata().level() - 1;
    allocates_no_buffer("bgv add", || evaluator.add(&a, &a).unwrap());
    allocates_no_buffer("bgv multiply", || evaluator.multiply(&a, &a, &key).unwrap());
    allocates_no_buffer("bgv switch", || evaluator.mod_switch_to(&a, lower).unwrap());
    Ok(())
}

fn ckks() -> Tested {
    let (moduli, key_switching) = moduli()?;
    let parameters = sunzi_ckks::Parameters::new(LOG_N, moduli, vec![2, 3, 4], 45, SECURITY);
    let context = sunzi_ckks::Context::new(&parameters.with_key_switching(key_switching))?;
    let (rlwe, rng) = (context.rlwe(), &mut ChaCha20Rng::seed_from_u64(3));
    let secret = SecretKey::generate(rlwe, rng)?;
    let public = PublicKey::generate(rlwe, &secret, rng)?;
    let key = RelinearizationKey::generate(rlwe, &secret, rng)?;
    let rotations = sunzi_ckks::rotation::rotation_keys(&context, &secret, [1], false, context.depth(), rng)?;
    let slots = context.max_slots();
    let encoder = sunzi_ckks::Encoder::new(&context, slots)?;
    let plain = encoder.encode(&vec![Complex64::new(0.5, 0.25); slots])?;
    let a = context.encrypt(&plain, &public, rng)?;
    let evaluator = sunzi_ckks::Evaluator::new(&context);
    let mut b = a.clone();
    allocates_no_buffer("ckks add", || evaluator.add(&a, &a).unwrap());
    allocates_no_buffer("ckks add_assign", || evaluator.add_assign(&mut b, &a).unwrap());
    allocates_no_buffer("ckks multiply", || evaluator.multiply(&a, &a, &key).unwrap());
    allocates_no_buffer("ckks rescale", || evaluator.rescale(&a).unwrap());
    allocates_no_buffer("ckks rotate", || evaluator.rotate(&a, 1, &rotations).unwrap());
    Ok(())
}

/// Checks all operations in one test: memory is that of the process.
#[test]
fn operations_that_have_run_before_allocate_no_buffers() {
    alone("steady::operations_that_have_run_before_allocate_no_buffers", || {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        one.install(|| {
            bfv().unwrap();
            bgv().unwrap();
            ckks().unwrap();
        });
    });
}
