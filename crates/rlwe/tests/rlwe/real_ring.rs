//! Tests of the passage between a real ring and the whole ring in which it lies: phases against the stated noise.

use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_math::{RingIndex, primes_below};
use sunzi_ring::{GadgetOptions, Ring};
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::{
    Ciphertext, Log2, NoiseBound, NoiseTerm, RealRingKeys, RlweContext, RlweError, SecretKey, Security,
};

use crate::common::Bare;

const N: usize = 256;

struct Fixture {
    real: RlweContext,
    whole: RlweContext,
    secrets: [SecretKey; 2],
    keys: RealRingKeys,
    rng: ChaCha20Rng,
}

impl Fixture {
    /// Rings of four moduli, the lower two of which a low context has, with other special moduli in each.
    fn new(seed: u64) -> Self {
        let primes = primes_below(1 << 45, 4 * N as u64, 9).unwrap();
        let context = |ring: Ring, special: &[u64]| {
            let options = GadgetOptions { special_moduli: special.to_vec(), ..GadgetOptions::default() };
            RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, &options).unwrap()
        };
        let real = context(Ring::new(RingIndex::real(N).unwrap(), &primes[..4]).unwrap(), &primes[4..5]);
        let whole = context(Ring::new(4 * N as u64, &primes[..4]).unwrap(), &primes[5..7]);
        let low = whole.up_to(2, &primes[7..]).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secrets = [&real, &whole].map(|context| SecretKey::generate(context, &mut rng).unwrap());
        let [of_real, of_whole] = &secrets;
        let keys = RealRingKeys::generate((&real, of_real), (&whole, of_whole), &low, &mut rng).unwrap();
        Self { real, whole, secrets, keys, rng }
    }

    fn random(&mut self, of: usize, level: usize) -> Ciphertext<Bare> {
        let context = [&self.real, &self.whole][of];
        let ring = context.ring_at(level).unwrap();
        let parts = vec![ring.uniform(&mut self.rng), ring.uniform(&mut self.rng)];
        Ciphertext::from_parts(parts, (), NoiseBound::none(), self.secrets[of].id()).unwrap()
    }

    fn phase(&self, of: usize, a: &Ciphertext<Bare>, level: usize) -> Vec<BigInt> {
        let context = [&self.real, &self.whole][of];
        let phase = phase(context, a.parts(), &self.secrets[of]).unwrap();
        context.ring_at(level).unwrap().to_integers(&phase).unwrap()
    }

    /// Checks the differences of two phases against the noise of the second ciphertext.
    fn check(&self, expected: &[BigInt], got: &[BigInt], noise: &NoiseBound, level: usize) {
        let q = BigInt::from(self.real.ring_at(level).unwrap().modulus().clone());
        let distances = expected.iter().zip(got).map(|(x, y)| {
            let d: BigInt = (((x - y) % &q) + &q) % &q;
            if &d * 2 > q { (&q - d).abs() } else { d }
        });
        let largest = Log2::of(distances.max().unwrap().to_f64().unwrap());
        let NoiseBound { worst, deviation, .. } = noise;
        assert!(largest.bits() <= worst.bits(), "{largest:?} {worst:?}");
        assert!(largest.bits() <= deviation.bits() + 4.0, "{largest:?} {deviation:?}");
        assert!(largest.bits() > deviation.bits() - 3.0, "too pessimistic: {largest:?} {deviation:?}");
    }
}

/// Checks that a ciphertext of the real ring has in the whole ring the same phase: a_j at X^j, −a_j at X^(2n−j).
#[test]
fn entering_the_whole_ring_keeps_the_phase() {
    let mut f = Fixture::new(1);
    for _ in 0..10 {
        let a = f.random(0, 2);
        let there = f.keys.to_whole(&f.real, &a).unwrap();
        assert_eq!(there.key(), f.secrets[1].id());
        let own = f.phase(0, &a, 2);
        let mirrored = own[1..].iter().rev().map(|x| -x);
        let expected: Vec<BigInt> = own.iter().cloned().chain([BigInt::ZERO]).chain(mirrored).collect();
        f.check(&expected, &f.phase(1, &there, 2), there.noise(), 2);
    }
}

/// Checks that a ciphertext comes back with the trace of its phase, at every level.
#[test]
fn leaving_the_whole_ring_takes_the_trace() {
    let mut f = Fixture::new(2);
    for level in (1..=4).cycle().take(20) {
        let a = f.random(1, level);
        let back = f.keys.trace_to_real([&f.real, &f.whole], &a).unwrap();
        assert_eq!(
            (back.key(), f.real.ring().level_of(&back.parts()[0]).unwrap()),
            (f.secrets[0].id(), level)
        );
        let own = f.phase(1, &a, level);
        let trace = |j: usize| if j == 0 { 2 * &own[0] } else { &own[j] - &own[2 * N - j] };
        let expected: Vec<BigInt> = (0..N).map(trace).collect();
        f.check(&expected, &f.phase(0, &back, level), back.noise(), level);
    }
    // What comes in with noise may leave with twice as much.
    let mut noisy = f.random(1, 3);
    noisy.set_noise(NoiseBound::dependent(
        NoiseTerm { worst: Log2::of(1e9), deviation: Log2::of(1e8), peak: Log2::of(1e8) },
        0,
    ));
    let back = f.keys.trace_to_real([&f.real, &f.whole], &noisy).unwrap();
    assert!(back.noise().worst.bits() >= 2e9_f64.log2());
}

/// Checks that other keys, levels and rings are refused by name.
#[test]
fn what_does_not_fit_is_refused() {
    let mut f = Fixture::new(3);
    let [own, whole] = [f.random(0, 2), f.random(1, 2)];
    let refused = f.keys.to_whole(&f.real, &whole).err().unwrap();
    assert!(matches!(refused, RlweError::KeyMismatch { .. }), "{refused}");
    let refused = f.keys.trace_to_real([&f.real, &f.whole], &own).err().unwrap();
    assert!(matches!(refused, RlweError::KeyMismatch { .. }), "{refused}");
    for level in [1, 3] {
        let a = f.random(0, level);
        assert!(matches!(f.keys.to_whole(&f.real, &a), Err(RlweError::Ring(_))));
    }
    let low = f.keys.low().clone();
    let [of_real, of_whole] = [&f.secrets[0], &f.secrets[1]];
    let (real, whole) = ((&f.real, of_real), (&f.whole, of_whole));
    let mixed = RealRingKeys::generate(whole, real, &low, &mut f.rng).err().unwrap();
    assert!(matches!(mixed, RlweError::Ring(_)), "{mixed}");
    // A modulus that no level of the real ring has.
    let primes = primes_below(1 << 44, 4 * N as u64, 3).unwrap();
    let other = Ring::new(4 * N as u64, &primes[..2]).unwrap();
    let other = RlweContext::new(other, Security::InsecureForResearchOnly).unwrap();
    let refused = RealRingKeys::generate(real, whole, &other, &mut f.rng).err().unwrap();
    assert!(refused.to_string().contains("modulus of a ciphertext between two rings"), "{refused}");
}
