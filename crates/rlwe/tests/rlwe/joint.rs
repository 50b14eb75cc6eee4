//! Tests that keys made of the shares of several parties act as those of the sum of their secrets, within the stated noise.

use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use rand_core::SeedableRng;
use sunzi_math::primes_below;
use sunzi_ring::{Evaluation, GadgetOptions, Poly, Ring};
use sunzi_rlwe::encryption::{phase, zero_public};
use sunzi_rlwe::joint::{
    DecryptionShare, GaloisShares, PublicKeyShare, Reference, RelinearizationShare, RelinearizationSum,
    RoundTwoShare, combined_phase,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{
    Ciphertext, DeclaredNoise, GaloisKeys, NoiseBound, RelinearizationKey, RlweContext, RlweError,
    SecretDistribution, SecretKey, Security, SharingPolicy, galois, relinearization,
};

use crate::common::{Bare, distance};

/// Several parties in one process, who know their sum as no real parties do.
struct Parties {
    context: RlweContext,
    reference: Reference,
    secrets: Vec<SecretKey>,
    rng: ChaCha20Rng,
}

/// Ways to switch keys: by digits of one modulus without special ones, hybrid, and by digits of two moduli.
fn gadgets(index: u64) -> Vec<GadgetOptions> {
    let special = primes_below(1 << 50, index, 2).unwrap();
    let hybrid = |digits, special: &[u64]| GadgetOptions {
        digits,
        special_moduli: special.to_vec(),
        ..GadgetOptions::default()
    };
    vec![hybrid(None, &special[..1]), hybrid(Some(2), &special)]
}

impl Parties {
    fn new(parties: u32, options: &GadgetOptions, seed: u64) -> Self {
        let index = 256;
        let ring = Ring::new(index, &primes_below(1 << 47, index, 4).unwrap()).unwrap();
        let context = RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, options).unwrap();
        let context = context.with_secrets(SecretDistribution::Joint(parties)).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secrets = (0..parties).map(|_| SecretKey::generate_share(&context, &mut rng).unwrap()).collect();
        Self { context, reference: Reference::new([seed as u8; 32]), secrets, rng }
    }

    fn all() -> impl Iterator<Item = Self> {
        let each = |parties: u32| {
            gadgets(256).into_iter().map(move |options| Self::new(parties, &options, u64::from(parties)))
        };
        [2, 3, 5, 10].into_iter().flat_map(each)
    }

    fn public(&mut self) -> sunzi_rlwe::PublicKey {
        let Self { context, reference, secrets, rng } = self;
        let shares: Vec<_> =
            secrets.iter().map(|s| PublicKeyShare::new(context, s, reference, rng).unwrap()).collect();
        PublicKeyShare::combine(context, reference, &shares).unwrap()
    }

    fn galois(&mut self, exponents: &[(u64, usize)]) -> GaloisKeys {
        let Self { context, reference, secrets, rng } = self;
        let share = |s| GaloisShares::new(context, s, reference, exponents.to_vec(), rng).unwrap();
        let shares: Vec<_> = secrets.iter().map(share).collect();
        GaloisShares::combine(context, reference, &shares).unwrap()
    }

    fn relinearization(&mut self, level: usize) -> RelinearizationKey {
        let Self { context, reference, secrets, rng } = self;
        let share = |s| RelinearizationShare::new(context, s, reference, level, rng).unwrap();
        let (first, ephemeral): (Vec<_>, Vec<_>) = secrets.iter().map(share).unzip();
        let sum = RelinearizationSum::of(context, &first).unwrap();
        let second_reference = reference.after([1; 32]);
        let second = ephemeral.into_iter().zip(secrets.iter());
        let second = second.map(|(u, s)| u.second_round(context, s, &second_reference, &sum, rng).unwrap());
        RoundTwoShare::combine(context, &second_reference, &second.collect::<Vec<_>>()).unwrap()
    }

    /// Returns Σ c_1·s_i for all parties, in evaluation form.
    fn product(&self, poly: &Poly<Evaluation>) -> Poly<Evaluation> {
        let level = self.context.ring().level_of(poly).unwrap();
        let ring = self.context.ring_at(level).unwrap();
        let mut sum = ring.zero();
        for secret in &self.secrets {
            let product = phase(&self.context, &[ring.zero(), poly.clone()], secret).unwrap();
            ring.add_assign(&mut sum, &ring.to_evaluation((*product).clone()).unwrap()).unwrap();
        }
        sum
    }

    /// Returns the phase of a ciphertext under the sum of the secrets.
    fn phase(&self, parts: &[Poly<Evaluation>]) -> Vec<BigInt> {
        let level = self.context.ring().level_of(&parts[0]).unwrap();
        let ring = self.context.ring_at(level).unwrap();
        let mut value = parts[parts.len() - 1].clone();
        for part in parts.iter().rev().skip(1) {
            value = self.product(&value);
            ring.add_assign(&mut value, part).unwrap();
        }
        ring.to_integers(&ring.to_coefficient(value).unwrap()).unwrap()
    }

    fn random(&mut self, parts: usize, level: usize) -> Ciphertext<Bare> {
        let ring = self.context.ring_at(level).unwrap();
        let parts = (0..parts).map(|_| ring.uniform(&mut self.rng)).collect();
        Ciphertext::from_parts(parts, (), NoiseBound::none(), self.reference.key_id()).unwrap()
    }
}

#[test]
fn encryptions_under_a_joint_public_key_stay_within_their_noise() {
    for mut p in Parties::all() {
        let public = p.public();
        assert_eq!(public.id(), p.reference.key_id());
        for _ in 0..20 {
            let zero = zero_public(&p.context, &public, &mut p.rng).unwrap();
            let phase = p.phase(&zero.parts);
            let error = distance(&phase, &vec![BigInt::ZERO; phase.len()], p.context.ring().modulus());
            assert!(error <= zero.noise.bound(p.context.ring().expansion()).bits());
            assert!(error <= zero.noise.worst.bits() && error >= zero.noise.deviation.bits() - 1.0);
        }
    }
}

#[test]
fn joint_galois_keys_turn_the_phase_within_their_noise() {
    for mut p in Parties::all() {
        let level = p.context.level();
        let keys = p.galois(&[(3, level), (255, 2), (1, level)]);
        assert_eq!(keys.exponents().collect::<Vec<_>>(), [3, 255]);
        for (exponent, level) in [(3, level), (3, 1), (255, 2)] {
            let noise = galois::added_noise_at(&p.context, level).unwrap();
            for _ in 0..10 {
                let before = p.random(2, level);
                let after = galois::automorphism(&p.context, &before, exponent, &keys).unwrap();
                let ring = p.context.ring_at(level).unwrap();
                let clear = ring.from_integers(&p.phase(before.parts())).unwrap();
                let clear = ring.to_integers(&ring.automorphism(&clear, exponent).unwrap()).unwrap();
                let error = distance(&clear, &p.phase(after.parts()), ring.modulus());
                let bound = NoiseBound::none().plus(noise).bound(ring.expansion());
                assert!(error <= noise.worst.bits() && error <= bound.bits(), "{error}, {bound:?}");
                assert!(error >= noise.deviation.bits() - 1.5, "{error}, {noise:?}");
            }
        }
    }
}

#[test]
fn joint_relinearization_keeps_the_phase_within_its_noise() {
    for mut p in Parties::all() {
        for key_level in [p.context.level(), 2] {
            let key = p.relinearization(key_level);
            for level in [key_level, 1] {
                let noise = relinearization::added_noise_at(&p.context, level).unwrap();
                for _ in 0..10 {
                    let before = p.random(3, level);
                    let after = relinearization::relinearize(&p.context, &before, &key).unwrap();
                    let ring = p.context.ring_at(level).unwrap();
                    let error = distance(&p.phase(before.parts()), &p.phase(after.parts()), ring.modulus());
                    let bound = NoiseBound::none().plus(noise).bound(ring.expansion());
                    assert!(error <= noise.worst.bits() && error <= bound.bits(), "{error}, {bound:?}");
                    // Terms are added up as if they were one, which is at most a factor of two.
                    assert!(error >= noise.deviation.bits() - 2.5, "{error}, {noise:?}");
                }
            }
        }
    }
}

#[test]
fn shares_of_all_parties_decrypt_and_hide_the_noise() {
    for mut p in Parties::all() {
        let public = p.public();
        let zero = zero_public(&p.context, &public, &mut p.rng).unwrap();
        let ring = p.context.ring().clone();
        let declared = DeclaredNoise::of_own_run(&zero.noise, ring.expansion());
        let flooding = Flooding::new(SharingPolicy::new(20, 16).unwrap(), declared, ring.degree()).unwrap();
        let Parties { context, secrets, rng, .. } = &mut p;
        let share = |s| DecryptionShare::new(context, &zero.parts[1], s, &flooding, rng).unwrap();
        let shares: Vec<_> = secrets.iter().map(share).collect();
        let phase =
            ring.to_integers(&combined_phase(context, &zero.parts[0], None, &shares).unwrap()).unwrap();
        let error = distance(&phase, &vec![BigInt::ZERO; phase.len()], ring.modulus());
        let parties = (shares.len() as f64).log2();
        assert!(error <= flooding.bound_of(1).bits() + parties + 0.1);
        assert!(error >= flooding.log2_deviation() + parties / 2.0, "{error}");
        let missing = combined_phase(context, &zero.parts[0], None, &shares[1..]);
        assert!(matches!(missing, Err(RlweError::Shares { .. })));
    }
}

#[test]
fn shares_that_do_not_belong_together_are_refused_by_name() {
    let mut p = Parties::new(3, &gadgets(256)[0], 9);
    let Parties { context, reference, secrets, rng } = &mut p;
    let mut first = |level| {
        let share = |s| RelinearizationShare::new(context, s, reference, level, rng).unwrap();
        secrets.iter().map(share).unzip::<_, _, Vec<_>, Vec<_>>()
    };
    let ((high, ephemeral), (low, _)) = (first(4), first(2));
    let of = |shares: &[&RelinearizationShare]| RelinearizationSum::of(context, shares.iter().copied());
    let refused = |error: Option<RlweError>, words: &str| {
        let text = error.unwrap().to_string();
        assert!(text.contains(words), "{text}");
    };
    refused(of(&[&high[0], &high[1]]).err(), "the number of shares: expected 3, got 2");
    refused(
        of(&[&high[0], &low[1], &high[2]]).err(),
        "the level of relinearisation shares: expected 4, got 2",
    );
    let sum = of(&[&low[0], &low[1], &low[2]]).unwrap();
    let ephemeral = ephemeral.into_iter().next().unwrap();
    let mixed = ephemeral.second_round(context, &secrets[0], reference, &sum, rng);
    refused(mixed.err(), "the level of relinearisation shares: expected 4, got 2");
    let mut keys = |exponent| {
        let share = |s| GaloisShares::new(context, s, reference, [(exponent, 4)], rng).unwrap();
        secrets.iter().map(share).collect::<Vec<_>>()
    };
    let (three, five) = (keys(3), keys(5));
    let mixed = [three[0].clone(), three[1].clone(), five[2].clone()];
    refused(GaloisShares::combine(context, reference, &mixed).err(), "exponents and levels of Galois keys");
    let other = GaloisShares::combine(context, &Reference::new([8; 32]), &three).err();
    refused(other, "the joint secret of key shares");
    let single = context.clone().with_secrets(SecretDistribution::Ternary).unwrap();
    let refusal = GaloisShares::combine(&single, reference, &three).err();
    refused(refusal, "expected one for joint secrets, got uniform ternary secrets");
    for parties in [0, 1, SecretDistribution::MOST_PARTIES + 1] {
        let refusal = single.clone().with_secrets(SecretDistribution::Joint(parties)).err();
        refused(refusal, "number of parties");
    }
    // The same key ring, but digits of one modulus for two.
    let few = gadgets(256).remove(1);
    let many = GadgetOptions { digits: Some(4), ..few.clone() };
    let (mut few, mut many) = (Parties::new(2, &few, 1), Parties::new(2, &many, 1));
    let share = |p: &mut Parties, i: usize| {
        RelinearizationShare::new(&p.context, &p.secrets[i], &p.reference, 4, &mut p.rng).unwrap().0
    };
    let shares = [share(&mut few, 0), share(&mut many, 1)];
    for context in [&few.context, &many.context] {
        refused(RelinearizationSum::of(context, &shares).err(), "the number of digits of key shares");
    }
    let options = GadgetOptions { dropped_limbs: 1, ..GadgetOptions::default() };
    let dropping = Parties::new(2, &options, 1);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let share =
        RelinearizationShare::new(&dropping.context, &dropping.secrets[0], &dropping.reference, 4, &mut rng);
    refused(share.err(), "limbs that relinearisation keys of several parties drop");
}
