//! BFV and BGV, unchanged, over rings of any index with every reduction of Bajard et al.: answers are right and noise stays below its bounds.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sunzi_bfv::Plaintext;
use sunzi_math::{cyclotomic_polynomial, mul_mod, primes_with_bits};
use sunzi_ring::{GadgetOptions, Ring, Storage};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, Security};
use sunzi_testing::storage::stored;
use sunzi_univariate::{Reduction, UnivariateRing};

const REDUCTIONS: [Reduction; 4] =
    [Reduction::Barrett, Reduction::SparseBarrett, Reduction::Montgomery, Reduction::Mixed];
const SECURITY: Security = Security::InsecureForResearchOnly;

fn ring(m: u64, bits: u32, count: usize, reduction: Reduction) -> Ring {
    let order = UnivariateRing::root_order(m).unwrap();
    stored(
        Ring::of(UnivariateRing::new(m, &primes_with_bits(bits, order, count).unwrap(), reduction).unwrap()),
        Storage::Univariate,
    )
}

fn reduced(mut a: Vec<u64>, m: u64, t: u64) -> Vec<u64> {
    let phi = cyclotomic_polynomial(m).unwrap();
    let n = phi.len() - 1;
    for i in (n..a.len()).rev() {
        let quotient = a[i];
        for (j, c) in phi.iter().enumerate() {
            let c = c.rem_euclid(t as i64) as u64;
            a[i - n + j] = (a[i - n + j] + t - mul_mod(quotient, c, t)) % t;
        }
    }
    a.resize(n, 0);
    a
}

fn product(a: &[u64], b: &[u64], m: u64, t: u64) -> Vec<u64> {
    let mut product = vec![0; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            product[i + j] = (product[i + j] + mul_mod(x, y, t)) % t;
        }
    }
    reduced(product, m, t)
}

fn substituted(a: &[u64], k: u64, m: u64, t: u64) -> Vec<u64> {
    let mut image = vec![0; m as usize];
    for (i, &x) in a.iter().enumerate() {
        let at = i * k as usize % m as usize;
        image[at] = (image[at] + x) % t;
    }
    reduced(image, m, t)
}

fn random(rng: &mut ChaCha20Rng, n: usize, t: u64) -> Vec<u64> {
    (0..n).map(|_| rng.next_u64() % t).collect()
}

#[test]
fn bfv_multiplies_and_turns() {
    for (m, t) in [(15, 2), (105, 257), (45, 65_537), (36, 5)] {
        for reduction in REDUCTIONS {
            let context = sunzi_bfv::Context::with_ring(ring(m, 60, 6, reduction), t, SECURITY).unwrap();
            let (n, rlwe) = (context.degree(), context.rlwe());
            let mut rng = ChaCha20Rng::seed_from_u64(m);
            let secret = SecretKey::generate(rlwe, &mut rng).unwrap();
            let public = PublicKey::generate(rlwe, &secret, &mut rng).unwrap();
            let key = RelinearizationKey::generate(rlwe, &secret, &mut rng).unwrap();
            let galois = GaloisKeys::generate(rlwe, &secret, [11, m - 1], &mut rng).unwrap();
            let evaluator = sunzi_bfv::Evaluator::new(&context);
            let plain = |message: &[u64]| Plaintext::new(message.to_vec(), t).unwrap();
            let judge = |name: &str, ciphertext: &sunzi_bfv::Ciphertext, message: &[u64]| {
                let found = context.decrypt(ciphertext, &secret).unwrap();
                assert_eq!(found, plain(message), "{name} {m} {reduction:?}");
                let measured = context.measure_noise(ciphertext, &plain(message), &secret).unwrap();
                let bound = ciphertext.noise();
                assert!(measured <= bound.worst.bits(), "{name} {m} {reduction:?}: {measured} {bound:?}");
            };
            let mut a = random(&mut rng, n, t);
            let mut x = context.encrypt(&plain(&a), &public, &mut rng).unwrap();
            judge("fresh", &x, &a);
            for depth in 0..2 {
                let b = random(&mut rng, n, t);
                let y = context.encrypt_secret(&plain(&b), &secret, &mut rng).unwrap();
                x = evaluator.add(&evaluator.multiply(&x, &y, &key).unwrap(), &y).unwrap();
                a = product(&a, &b, m, t).iter().zip(&b).map(|(u, v)| (u + v) % t).collect();
                judge(&format!("product {depth}"), &x, &a);
                for k in [11, m - 1] {
                    let turned = evaluator.automorphism(&x, k, &galois).unwrap();
                    judge("turned", &turned, &substituted(&a, k, m, t));
                }
            }
        }
    }
}

#[test]
fn bgv_goes_down_its_levels() {
    for (m, t) in [(15, 2), (105, 257), (45, 17)] {
        for reduction in REDUCTIONS {
            for special in [0, 2] {
                let order = UnivariateRing::root_order(m).unwrap();
                let key_switching = GadgetOptions {
                    special_moduli: primes_with_bits(61, order, special).unwrap(),
                    ..GadgetOptions::default()
                };
                let settings = sunzi_bgv::Settings {
                    plain_modulus: t,
                    levels: vec![2, 3, 4],
                    shares: Vec::new(),
                    key_switching,
                    budget: sunzi_bgv::Budget::UNLIMITED,
                    security: SECURITY,
                    secrets: sunzi_rlwe::SecretDistribution::Ternary,
                };
                let context = sunzi_bgv::Context::with_ring(ring(m, 60, 5, reduction), &settings).unwrap();
                let (n, rlwe) = (context.ring().degree(), context.rlwe());
                let mut rng = ChaCha20Rng::seed_from_u64(m + 1);
                let secret = SecretKey::generate(rlwe, &mut rng).unwrap();
                let public = PublicKey::generate(rlwe, &secret, &mut rng).unwrap();
                let key = RelinearizationKey::generate(rlwe, &secret, &mut rng).unwrap();
                let evaluator = sunzi_bgv::Evaluator::new(&context);
                let plain = |message: &[u64]| Plaintext::new(message.to_vec(), t).unwrap();
                let mut a = random(&mut rng, n, t);
                let mut x = context.encrypt(&plain(&a), &public, &mut rng).unwrap();
                for depth in 0..2 {
                    let b = random(&mut rng, n, t);
                    let y = context.encrypt(&plain(&b), &public, &mut rng).unwrap();
                    x = evaluator.multiply(&x, &y, &key).unwrap();
                    a = product(&a, &b, m, t);
                    let found = context.decrypt(&x, &secret).unwrap();
                    assert_eq!(found, plain(&a), "{m} {reduction:?} {special} {depth}");
                }
            }
        }
    }
}
