//! Secrets marked for valgrind's memcheck in samplers, key generation, encryption and decryption: every branch and every index
//! that depends on one is an error of the run. `cargo xtask reliability --long --rows 14` runs it.

use std::convert::Infallible;
use std::hint::black_box;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng, TryCryptoRng, TryRng};
use sunzi_ckks::LevelRange;
use sunzi_kernels::memcheck::{is_watching, mark_public, mark_secret};
use sunzi_math::primes_with_bits;
use sunzi_ring::sampling;
use sunzi_rlwe::{SecretKey, Security, encryption};

const SECURITY: Security = Security::InsecureForResearchOnly;
const LOG_N: u32 = 8;
const N: usize = 1 << LOG_N;
/// Largest length of seeds of public values, which may be read.
const SEED: usize = 32;

/// A generator of secrets.
struct Secrets(ChaCha20Rng);

impl Secrets {
    fn new() -> Self {
        Self(ChaCha20Rng::seed_from_u64(1))
    }
}

impl TryRng for Secrets {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let word = self.0.next_u64();
        mark_secret(std::slice::from_ref(&word));
        Ok(word)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        if bytes.len() > SEED {
            mark_secret(bytes);
        }
        Ok(())
    }
}

impl TryCryptoRng for Secrets {}

#[test]
fn samplers_decide_nothing_by_what_they_draw() {
    let mut rng = Secrets::new();
    black_box(sampling::ternary(N, &mut rng).unwrap());
    black_box(sampling::centered_binomial(N, &mut rng).unwrap());
}

#[test]
fn keys_and_ciphertexts_of_exact_schemes_decide_nothing_by_the_secret() {
    let moduli = primes_with_bits(46, 2 * N as u64, 3).unwrap();
    let context = sunzi_bfv::Context::new(&sunzi_bfv::Parameters::new(LOG_N, moduli, 257, SECURITY)).unwrap();
    let (rlwe, mut rng) = (context.rlwe(), Secrets::new());
    let secret = SecretKey::generate(rlwe, &mut rng).unwrap();
    let message = sunzi_encoding::Plaintext::new((0..N as u64).collect(), 257).unwrap();
    let ciphertext = context.encrypt_secret(&message, &secret, &mut rng).unwrap();
    let phase = encryption::phase(rlwe, ciphertext.parts(), &secret).unwrap();
    let opened = context.scaler().decrypt(&phase).unwrap();
    mark_public(&opened);
    assert_eq!(opened, message.coefficients());
}

#[test]
fn keys_and_ciphertexts_of_ckks_decide_nothing_by_the_secret() {
    let range = LevelRange { levels: 2, scale_bits: 36 };
    let parameters = sunzi_ckks::Parameters::from_ranges(LOG_N, 46, &[range], SECURITY).unwrap();
    let context = sunzi_ckks::Context::new(&parameters).unwrap();
    let mut rng = Secrets::new();
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let encoder = sunzi_ckks::Encoder::new(&context, N / 2).unwrap();
    let message = encoder.encode_real(&[0.5; N / 2]).unwrap();
    let ciphertext = context.encrypt_secret(&message, &secret, &mut rng).unwrap();
    let opened = context.decrypt(&ciphertext, &secret).unwrap();
    mark_public(opened.poly().words());
    let slots = encoder.decode_real(&opened).unwrap();
    assert!(slots.iter().all(|slot| (slot - 0.5).abs() < 1e-4));
}

/// Checks that the run finds a leak: only if requested, since it ends the run with an error.
#[test]
fn a_leak_is_found() {
    if std::env::var_os("SUNZI_LEAK").is_none() {
        return;
    }
    assert!(is_watching(), "run it under valgrind");
    let mut bytes = [0_u8; 64];
    Secrets::new().try_fill_bytes(&mut bytes).unwrap();
    assert!(black_box(bytes.iter().position(|&byte| byte > 250)) != Some(1000));
}
