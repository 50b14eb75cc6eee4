//! An attack on re-encrypted ciphertexts: the receiver, who knows its own secret and the message, tells ciphertexts of two noises apart by what it is handed.
//!
//! The noises are as different as the declared bound allows, B and 0 in every coefficient, and the test is the best one: the sum of the phase under the receiver's
//! secret, over τ re-encryptions. For flooding noise of deviation σ its advantage is 2·Φ(√(nτ)·B/2σ) − 1. As derived, σ is B·√(nτ)·2^(s−1) or more, since
//! the noise of the key switch and of the encryption of zero is hidden too; narrower flooding noise gives the noise away.

use chacha20::ChaCha20Rng;
use num_traits::ToPrimitive;
use rand_core::SeedableRng;
use sunzi_encoding::Plaintext;
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::reencryption::{
    Hop, ReencryptionContext, ReencryptionKey, ReencryptionPublicKey, added_noise_at,
};
use sunzi_rlwe::{
    DeclaredNoise, Exact as _, LedgerFile, NoiseBound, SecretKey, Security, SharingLedger, SharingPolicy,
};
use sunzi_testing::scheme::Encrypted;
use sunzi_testing::{Figure, Scheme};

use crate::joint_attack::normal;

const SECURITY: Security = Security::InsecureForResearchOnly;
const LOG_N: u32 = 6;
const N: usize = 1 << LOG_N;
const QUERIES: u64 = 2;
/// Largest noise that is declared, far above that of the encryptions.
const BOUND: f64 = 1e6;

/// An owner with a ciphertext of zero, and a receiver with a key that leads there.
struct Target<S: Scheme> {
    context: S,
    secrets: [SecretKey; 2],
    key: ReencryptionKey,
    /// Ciphertexts without and with noise of the bound, which say nothing of it.
    worlds: [Encrypted<S>; 2],
    rng: ChaCha20Rng,
}

impl<S: Scheme + ReencryptionContext<Scheme = <S as Scheme>::Own>> Target<S> {
    fn new(context: S, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let rlwe = context.rlwe();
        let secrets = [(); 2].map(|()| SecretKey::generate(rlwe, &mut rng).unwrap());
        let public = ReencryptionPublicKey::generate(rlwe, &secrets[1], &mut rng).unwrap();
        let key = ReencryptionKey::generate(rlwe, &secrets[0], &public, &mut rng).unwrap();
        let zero = Plaintext::new(vec![0; N], S::Own::plain_modulus(&context)).unwrap();
        let mut quiet = context.encrypt_secret(&zero, &secrets[0], &mut rng).unwrap();
        quiet.set_noise(NoiseBound::none());
        let mut noisy = quiet.clone();
        let shift = rlwe.ring().to_evaluation(rlwe.ring().from_signed(&[BOUND as i64; N]).unwrap()).unwrap();
        rlwe.ring().add_assign(&mut noisy.parts_mut()[0], &shift).unwrap();
        Self { secrets, key, worlds: [quiet, noisy], context, rng }
    }

    /// Returns the sum of the coefficients of the phase of a ciphertext.
    fn sum(&self, a: &Encrypted<S>, secret: &SecretKey) -> f64 {
        let (rlwe, ring) = (self.context.rlwe(), self.context.rlwe().ring());
        let phase = phase(rlwe, a.parts(), secret).unwrap();
        ring.to_integers(&phase).unwrap().iter().map(|c| c.to_f64().unwrap()).sum()
    }

    /// What the receiver sees of the noise of a ciphertext in all re-encryptions that a policy allows, summed over coefficients.
    fn seen(&mut self, world: usize, policy: SharingPolicy, noise: DeclaredNoise) -> f64 {
        let (rlwe, id) = (self.context.rlwe(), self.secrets[0].id());
        let mut ledger = LedgerFile::in_memory(SharingLedger::new(rlwe.fingerprint(), id, policy));
        let mut sum = 0.0;
        for _ in 0..QUERIES {
            let Self { context, key, worlds, rng, .. } = self;
            let handed_on = context.reencrypt(&worlds[world], key, noise, &mut ledger, rng).unwrap();
            sum += self.sum(&handed_on, &self.secrets[1]);
        }
        sum
    }

    /// Returns the measured advantage against flooding noise of this policy that was made for noise of `declared`, and what is derived for its deviation.
    fn advantage(&mut self, bits: u32, declared: f64, trials: usize) -> (f64, f64) {
        let policy = SharingPolicy::new(bits, QUERIES).unwrap();
        let noise = DeclaredNoise::from_bits(declared.log2());
        let rlwe = self.context.rlwe();
        let added = added_noise_at(rlwe, rlwe.level()).unwrap();
        let hop = Hop::new(policy, noise, added, rlwe.ring().expansion()).unwrap();
        // The receiver knows the noise of the ciphertext but for the shift.
        let base = self.sum(&self.worlds[0], &self.secrets[0]);
        let middle = QUERIES as f64 * (base + N as f64 * BOUND / 2.0);
        let mut right = 0;
        for world in [0, 1] {
            for _ in 0..trials {
                right += usize::from((self.seen(world, policy, noise) > middle) == (world == 1));
            }
        }
        let advantage = right as f64 / trials as f64 - 1.0;
        let deviation = hop.flooding().log2_deviation().exp2();
        let x = (N as f64 * QUERIES as f64).sqrt() * BOUND / (2.0 * deviation);
        (advantage, 2.0 * normal(x) - 1.0)
    }

    fn attack(&mut self, name: &str, trials: usize) {
        let tolerance = 4.0 / (2.0 * trials as f64).sqrt();
        for bits in 1..=5 {
            let (measured, derived) = self.advantage(bits, BOUND, trials);
            println!("{name}: 2^-{bits}, noise as declared: advantage {measured:.3}, derived {derived:.3}");
            let promised = (-f64::from(bits)).exp2();
            assert!(derived <= promised, "{derived} above 2^-{bits}");
            assert!(derived >= promised / 2.0, "{derived} far below 2^-{bits}");
            assert!(measured <= promised + tolerance, "{name}: {measured} at 2^-{bits}");
            assert!((measured - derived).abs() <= tolerance, "{name}: {measured} for {derived}");
        }
        // Flooding noise that is too narrow gives the noise away, and the threshold is where it was derived.
        for narrower in [2.0, 4.0, 8.0, 16.0, 32.0] {
            let (measured, derived) = self.advantage(2, BOUND / narrower, trials);
            println!(
                "{name}: 2^-2, noise {narrower} times as large as declared: advantage {measured:.3}, derived {derived:.3}"
            );
            assert!((measured - derived).abs() <= tolerance, "{name}: {measured} for {derived}");
            assert!(narrower < 16.0 || measured > 0.9, "{name}: {measured}");
        }
    }

    /// Two re-encryptions of one ciphertext have no part in common: what the key alone would make of c_1 is hidden by an encryption of zero of each.
    fn hides_what_the_key_makes(&mut self) {
        let policy = SharingPolicy::new(5, QUERIES).unwrap();
        let (rlwe, id) = (self.context.rlwe(), self.secrets[0].id());
        let mut ledger = LedgerFile::in_memory(SharingLedger::new(rlwe.fingerprint(), id, policy));
        let noise = DeclaredNoise::from_bits(20.0);
        let Self { context, key, worlds, rng, .. } = self;
        let made = [(); 2].map(|()| context.reencrypt(&worlds[0], key, noise, &mut ledger, rng).unwrap());
        let ring = context.rlwe().ring();
        let mut difference = made[0].parts()[1].clone();
        ring.sub_assign(&mut difference, &made[1].parts()[1]).unwrap();
        let largest = ring.to_integers(&ring.to_coefficient(difference).unwrap()).unwrap();
        let bits = largest.iter().map(num_bigint::BigInt::bits).max().unwrap();
        assert!(bits + 6 > ring.modulus().bits(), "{bits} bits: not what a uniform difference has");
    }
}

fn bfv() -> Target<sunzi_bfv::Context> {
    let primes = sunzi_math::primes_with_bits(45, 2 * N as u64, 3).unwrap();
    let (moduli, special) = primes.split_at(2);
    let key_switching = sunzi_ring::GadgetOptions {
        special_moduli: special.to_vec(),
        ..sunzi_ring::GadgetOptions::default()
    };
    let algorithms = sunzi_bfv::Algorithms { key_switching, ..sunzi_bfv::Algorithms::default() };
    let parameters = sunzi_bfv::Parameters::new(LOG_N, moduli.to_vec(), 257, SECURITY);
    Target::new(sunzi_bfv::Context::new(&parameters.with_algorithms(algorithms)).unwrap(), 1)
}

fn bgv() -> Target<sunzi_bgv::Context> {
    let primes = sunzi_math::primes_with_bits(45, 2 * N as u64, 4).unwrap();
    let (moduli, special) = primes.split_at(3);
    let key_switching = sunzi_ring::GadgetOptions {
        special_moduli: special.to_vec(),
        ..sunzi_ring::GadgetOptions::default()
    };
    let parameters = sunzi_bgv::Parameters::new(LOG_N, moduli.to_vec(), 257, SECURITY);
    Target::new(sunzi_bgv::Context::new(&parameters.with_key_switching(key_switching)).unwrap(), 2)
}

#[test]
fn re_encrypted_ciphertexts_hide_noise_as_far_as_derived() {
    let trials = 400;
    bfv().attack("BFV", trials);
    bgv().attack("BGV", trials);
    let figure =
        Figure::new(19, "statistical attacks on re-encrypted ciphertexts above the derived advantage");
    figure.cases(2 * 10 * 2 * trials, 2 * 10 * 2 * trials).none_wrong(0);
}

#[test]
fn no_two_re_encryptions_of_a_ciphertext_have_a_part_in_common() {
    bfv().hides_what_the_key_makes();
    bgv().hides_what_the_key_makes();
}
