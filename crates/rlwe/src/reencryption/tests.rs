//! Tests of the key switch of a re-encryption against the secrets, without flooding noise, and of the noise that is derived for hops.

use std::collections::BTreeSet;

use chacha20::ChaCha20Rng;
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_math::primes_below;
use sunzi_ring::{Evaluation, GadgetOptions, Poly, Ring};

use super::key::added_noise_at;
use super::{Hop, MOST_HOPS, ReencryptionKey, ReencryptionPublicKey, Reencryptions};
use crate::encryption::phase;
use crate::wire::{self, WireError};
use crate::{
    DeclaredNoise, NoiseBound, NoiseTerm, RlweContext, RlweError, SecretDistribution, SecretKey, Security,
    SharingPolicy,
};

/// Two owners, and the key from one to the other.
struct Owners {
    context: RlweContext,
    secrets: [SecretKey; 2],
    public: ReencryptionPublicKey,
    rng: ChaCha20Rng,
}

impl Owners {
    fn new(context: RlweContext, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secrets = [(); 2].map(|()| SecretKey::generate(&context, &mut rng).unwrap());
        let public = ReencryptionPublicKey::generate(&context, &secrets[1], &mut rng).unwrap();
        Self { context, secrets, public, rng }
    }

    fn key(&mut self, level: usize) -> ReencryptionKey {
        let Self { context, secrets, public, rng } = self;
        ReencryptionKey::generate_at_level(context, &secrets[0], public, level, rng).unwrap()
    }

    /// Returns log2 of the largest coefficient of what a switch changes in the phase of random parts of a level.
    fn error(&mut self, key: &ReencryptionKey, level: usize) -> f64 {
        let Self { context, secrets, rng, .. } = self;
        let ring = context.ring_at(level).unwrap();
        let before: Vec<Poly<Evaluation>> = (0..2).map(|_| ring.uniform(rng)).collect();
        key.check(context, secrets[0].id(), level).unwrap();
        let after = key.switch(context, level, [&before[0], &before[1]], rng).unwrap();
        let mut difference = phase(context, &after, &secrets[1]).unwrap();
        ring.sub_assign(&mut difference, &*phase(context, &before, &secrets[0]).unwrap()).unwrap();
        let size = |c: &num_bigint::BigInt| c.abs();
        ring.to_integers(&difference).unwrap().iter().map(size).max().unwrap().to_f64().unwrap().log2()
    }
}

fn primes(bits: u32, index: u64, count: usize) -> Vec<u64> {
    primes_below(1 << bits, Ring::root_order(index).unwrap(), count).unwrap()
}

/// Ways to switch keys: digits of one modulus, radix digits, keys without some limbs, one and several digits of several moduli.
fn gadgets(index: u64, dropping: bool) -> Vec<GadgetOptions> {
    let special = primes(50, index, 4);
    let hybrid = |digits, count: usize| GadgetOptions {
        digits,
        special_moduli: special[..count].to_vec(),
        ..GadgetOptions::default()
    };
    let mut all = vec![hybrid(None, 1), hybrid(Some(2), 2), hybrid(Some(1), 4)];
    all.push(GadgetOptions::default());
    all.push(GadgetOptions { radix_bits: Some(20), ..GadgetOptions::default() });
    if dropping {
        all.push(GadgetOptions { dropped_limbs: 1, ..GadgetOptions::default() });
    }
    all
}

/// Contexts of powers of two, of other rings, of levels that are sets of moduli, and of the secrets of several parties.
fn contexts() -> Vec<RlweContext> {
    let context = |ring, options: &GadgetOptions| {
        RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, options).unwrap()
    };
    let mut all = Vec::new();
    for index in [256, 105, 180] {
        let moduli = primes(47, index, 4);
        for options in gadgets(index, true) {
            all.push(context(Ring::new(index, &moduli).unwrap(), &options));
        }
        let rungs = [vec![0], vec![1, 2], vec![0, 1, 2], vec![0, 1, 2, 3]];
        for options in gadgets(index, false) {
            all.push(context(Ring::with_rungs(index, &moduli, &rungs).unwrap(), &options));
        }
    }
    let moduli = primes(47, 256, 4);
    let joint = context(Ring::new(256, &moduli).unwrap(), &gadgets(256, false)[1]);
    all.push(joint.with_secrets(SecretDistribution::FixedWeight(64)).unwrap());
    all
}

fn check(owners: &mut Owners, key: &ReencryptionKey, level: usize, values: usize) {
    let noise = added_noise_at(&owners.context, level).unwrap();
    let bound = NoiseBound::dependent(noise, 0).bound(owners.context.ring().expansion()).bits();
    if bound > owners.context.log2_modulus_at(level).unwrap() - 1.0 {
        // Low levels have no room for digits of a whole word, times a modulus more where limbs are dropped.
        assert!(
            owners.context.options().special_moduli.is_empty() && level < owners.context.level(),
            "{bound}"
        );
        return;
    }
    for _ in 0..values {
        let error = owners.error(key, level);
        assert!(error <= bound, "{error} above {bound}: {:?}", owners.context.options());
        assert!(error >= noise.deviation.bits() - 2.5, "{error} far below {noise:?}");
    }
}

#[test]
fn a_switch_keeps_the_phase_within_its_noise_at_every_level() {
    for (seed, context) in contexts().into_iter().enumerate() {
        let (highest, drops) = (context.level(), context.options().dropped_limbs > 0);
        let mut owners = Owners::new(context, seed as u64);
        let key_levels: BTreeSet<_> = if drops { [highest].into() } else { [highest, 2].into() };
        for key_level in key_levels {
            let key = owners.key(key_level);
            for level in 1..=key_level {
                if owners.context.ring().is_nested(level, key_level) {
                    check(&mut owners, &key, level, 3);
                }
            }
        }
    }
}

#[test]
#[ignore = "long: 10^4 values"]
fn noise_of_switches_stays_below_its_bound() {
    let contexts = contexts();
    let values = 10_000_usize.div_ceil(contexts.len());
    for (seed, context) in contexts.into_iter().enumerate() {
        let level = context.level();
        let mut owners = Owners::new(context, 1000 + seed as u64);
        let key = owners.key(level);
        check(&mut owners, &key, level, values);
    }
}

#[test]
fn keys_of_others_are_refused_by_name() {
    let mut all = contexts().into_iter();
    let (mut owners, other) = (Owners::new(all.next().unwrap(), 1), Owners::new(all.next().unwrap(), 2));
    let (key, low) = (owners.key(4), owners.key(2));
    let Owners { context, secrets: [from, to], public, rng } = &mut owners;
    assert_eq!((key.source(), key.target(), key.level()), (from.id(), to.id(), 4));
    assert!(low.byte_len() < key.byte_len());
    let refused = |error: RlweError, words: &str| assert!(error.to_string().contains(words), "{error}");
    refused(key.check(context, to.id(), 4).unwrap_err(), "the re-encryption key belongs to another secret");
    refused(low.check(context, from.id(), 4).unwrap_err(), "ciphertexts of at most 2 moduli");
    refused(key.check(&other.context, from.id(), 4).unwrap_err(), "make the key in a context of the same");
    let own = ReencryptionPublicKey::generate(context, from, rng).unwrap();
    refused(ReencryptionKey::generate(context, from, &own, rng).err().unwrap(), "the key of somebody else");
    let mixed = ReencryptionKey::generate(context, from, &other.public, rng);
    assert!(matches!(mixed.err(), Some(RlweError::Ring(_))));
    let mixed = ReencryptionKey::generate(context, &other.secrets[0], public, rng);
    assert!(matches!(mixed.err(), Some(RlweError::Ring(_))));
    let missing = ReencryptionKey::generate_at_level(context, from, public, 5, rng);
    assert!(matches!(missing.err(), Some(RlweError::Ring(_))));
}

#[test]
fn files_of_keys_come_back_and_are_refused_by_other_contexts() {
    for index in [256, 105] {
        for options in gadgets(index, true) {
            let ring = Ring::new(index, &primes(47, index, 3)).unwrap();
            let context =
                RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, &options).unwrap();
            let level = if options.dropped_limbs > 0 { 3 } else { 2 };
            let mut owners = Owners::new(context.clone(), 5);
            let key = owners.key(level);
            let bytes = wire::to_bytes(&context, &key).unwrap();
            let header = wire::Header::read(&mut &bytes[..]).unwrap();
            assert_eq!(header.key, Some(key.source()));
            assert!(wire::Kind::of(header.kind).unwrap().is_secret(), "it is for the proxy alone");
            let read: ReencryptionKey = wire::from_bytes(&context, &bytes).unwrap();
            assert_eq!(wire::to_bytes(&context, &read).unwrap(), bytes);
            check(&mut owners, &read, level, 1);
            let public = wire::to_bytes(&context, &owners.public).unwrap();
            let read: ReencryptionPublicKey = wire::from_bytes(&context, &public).unwrap();
            owners.public = read;
            let key = owners.key(level);
            check(&mut owners, &key, level, 1);
            // Neither is taken for the other, nor for a key of other parameters, and a key leads elsewhere.
            assert!(matches!(
                wire::from_bytes::<ReencryptionKey, _>(&context, &public),
                Err(WireError::Kind { .. })
            ));
            let ring = Ring::new(index, &primes(47, index, 2)).unwrap();
            let other = RlweContext::new(ring, Security::InsecureForResearchOnly).unwrap();
            assert!(wire::from_bytes::<ReencryptionKey, _>(&other, &bytes).is_err());
            let looped = ReencryptionKey { source: key.target(), ..key };
            let bytes = wire::to_bytes(&context, &looped).unwrap();
            let error = wire::from_bytes::<ReencryptionKey, _>(&context, &bytes).err().unwrap();
            assert!(error.to_string().contains("target of a re-encryption key"), "{error}");
        }
    }
}

/// Every hop hides the declared noise and what it adds itself, and what it leaves is what the next one declares.
#[test]
fn hops_hide_what_was_declared_and_declare_what_they_leave() {
    let context = contexts().remove(1);
    let (ring, added) = (context.ring().expansion(), added_noise_at(&context, 4).unwrap());
    let policy = SharingPolicy::new(20, 16).unwrap();
    let mut noise = NoiseBound::dependent(context.noise_model().public_encryption(0.0), 0);
    let fresh = noise;
    let mut declared = DeclaredNoise::of_own_run(&noise, ring);
    for hops in 1..=5 {
        let hop = Hop::new(policy, declared, added, ring).unwrap();
        // σ = B·√(nτ)·2^(s−1), for a bound B that is above the declared one, and at most a quarter more.
        let ratio = (ring.degree() as f64 * 16.0).log2() / 2.0 + 19.0;
        let width = hop.flooding().log2_deviation() - ratio;
        assert!(hop.hidden().bits() >= declared.bits() && width >= hop.hidden().bits(), "{hop:?}");
        assert!(width <= hop.hidden().bits() + 0.4, "{width} for {hop:?}");
        (noise, declared) = (noise.plus(hop.noise()), hop.declared());
        assert!(noise.bound(ring).bits() <= declared.bits() + 1e-9);
        let after = Reencryptions { hops, policy }.after(&fresh, added, ring);
        assert!((after.bound(ring).bits() - noise.bound(ring).bits()).abs() < 1e-9);
    }
    for hops in [0, MOST_HOPS + 1] {
        assert!(Reencryptions { hops, policy }.check().is_err());
    }
    let unbounded = Reencryptions { hops: 1, policy }.after(
        &NoiseBound::dependent(NoiseTerm::unbounded(), 0),
        added,
        ring,
    );
    assert!(unbounded.bound(ring).bits().is_infinite());
}
