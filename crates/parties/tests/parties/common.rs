//! What tests of protocols share: parties in one process, who know the sum of their secrets as no real parties do.

use chacha20::ChaCha20Rng;
use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sha2::{Digest, Sha256};
use sunzi_math::primes_below;
use sunzi_parties::keys::{AfterShares, JointKeys, KeyPlan, KeySetup};
use sunzi_parties::{MemoryStore, Roster, Round, Stage, Store};
use sunzi_ring::{Evaluation, GadgetOptions, Poly, Ring};
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::{RlweContext, SecretDistribution, SecretKey, Security};

pub(crate) const INDEX: u64 = 256;

/// Names of parties.
const NAMES: [&str; 10] = ["Ada", "Bo", "Cy", "Di", "Ed", "Fay", "Gus", "Hal", "Ida", "Jo"];

/// Ways to switch keys: hybrid with digits of one modulus, and of two.
pub(crate) fn gadgets() -> Vec<GadgetOptions> {
    let special = primes_below(1 << 50, INDEX, 2).unwrap();
    let hybrid = |digits, special: &[u64]| GadgetOptions {
        digits,
        special_moduli: special.to_vec(),
        ..GadgetOptions::default()
    };
    vec![hybrid(None, &special[..1]), hybrid(Some(2), &special)]
}

pub(crate) fn context(parties: u32, options: &GadgetOptions) -> RlweContext {
    let ring = Ring::new(INDEX, &primes_below(1 << 47, INDEX, 4).unwrap()).unwrap();
    let context = RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, options).unwrap();
    context.with_secrets(SecretDistribution::Joint(parties)).unwrap()
}

pub(crate) fn roster(parties: u32) -> Roster {
    Roster::new(NAMES.into_iter().take(parties as usize)).unwrap()
}

/// Returns the setup of keys of all kinds.
pub(crate) fn setup(parties: u32, nonce: u8) -> KeySetup {
    setup_with(context(parties, &gadgets()[0]), parties, Some(4), nonce)
}

pub(crate) fn setup_with(
    context: RlweContext,
    parties: u32,
    relinearization: Option<usize>,
    nonce: u8,
) -> KeySetup {
    let plan = KeyPlan::new(&context, relinearization, [(3, context.level()), (255, 2), (1, 1)]).unwrap();
    KeySetup::new(context, roster(parties), plan, [nonce; 32]).unwrap()
}

pub(crate) fn stores(parties: u32) -> Vec<MemoryStore> {
    (0..parties).map(|_| MemoryStore::default()).collect()
}

/// Returns records that are no longer shared with those they are copied from.
pub(crate) fn copy(store: &MemoryStore) -> MemoryStore {
    let mut copy = MemoryStore::default();
    for name in store.names() {
        copy.put(&name, &store.get(&name).unwrap().unwrap(), true).unwrap();
    }
    copy
}

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Gives the message of each party to all others, in an order that differs among them.
pub(crate) fn exchange<S: Store, G: Stage>(rounds: &mut [Round<S, G>]) -> Vec<Vec<u8>> {
    let messages: Vec<_> = rounds.iter().map(|round| (round.me(), round.message().to_vec())).collect();
    let count = messages.len();
    for (at, round) in rounds.iter_mut().enumerate() {
        assert_eq!(round.missing().len(), count - 1);
        for by in 1..count {
            let (from, message) = &messages[(at * 7 + by * (count - 1) + at + 1) % count];
            round.accept(*from, message).unwrap();
        }
        for (from, message) in &messages {
            round.accept(*from, message).unwrap();
        }
        assert!(round.missing().is_empty());
    }
    messages.into_iter().map(|(_, message)| message).collect()
}

/// Runs a session from its first to its last round, and returns the keys of each party, and all messages by round and party.
pub(crate) fn run_with(
    setup: &KeySetup,
    stores: &[MemoryStore],
    seed: u64,
) -> (Vec<JointKeys>, Vec<Vec<Vec<u8>>>) {
    let mut rng = rng(seed);
    let mut messages = Vec::new();
    let begun =
        setup.roster().parties().zip(stores).map(|(me, store)| setup.begin(me, store.clone(), &mut rng));
    let mut rounds: Vec<_> = begun.map(Result::unwrap).collect();
    messages.push(exchange(&mut rounds));
    let mut rounds: Vec<_> = rounds.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    messages.push(exchange(&mut rounds));
    let mut rounds: Vec<_> = rounds.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    messages.push(exchange(&mut rounds));
    let mut rounds: Vec<_> = rounds.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    messages.push(exchange(&mut rounds));
    let (mut second, mut last) = (Vec::new(), Vec::new());
    for round in rounds {
        match round.advance(&mut rng).unwrap() {
            AfterShares::Second(round) => second.push(round),
            AfterShares::Confirm(round) => last.push(round),
        }
    }
    if !second.is_empty() {
        messages.push(exchange(&mut second));
        last = second.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    }
    messages.push(exchange(&mut last));
    (last.into_iter().map(|round| round.advance().unwrap()).collect(), messages)
}

pub(crate) fn run(setup: &KeySetup, seed: u64) -> Vec<JointKeys> {
    run_with(setup, &stores(setup.roster().len() as u32), seed).0
}

/// Returns Σ a·s_i for all secrets, in evaluation form.
fn product(context: &RlweContext, secrets: &[&SecretKey], poly: &Poly<Evaluation>) -> Poly<Evaluation> {
    let level = context.ring().level_of(poly).unwrap();
    let ring = context.ring_at(level).unwrap();
    let mut sum = ring.zero();
    for secret in secrets {
        let product = phase(context, &[ring.zero(), poly.clone()], secret).unwrap();
        ring.add_assign(&mut sum, &ring.to_evaluation((*product).clone()).unwrap()).unwrap();
    }
    sum
}

/// Returns the phase of a ciphertext under the sum of secrets.
pub(crate) fn joint_phase(
    context: &RlweContext,
    secrets: &[&SecretKey],
    parts: &[Poly<Evaluation>],
) -> Vec<BigInt> {
    let level = context.ring().level_of(&parts[0]).unwrap();
    let ring = context.ring_at(level).unwrap();
    let mut value = parts[parts.len() - 1].clone();
    for part in parts.iter().rev().skip(1) {
        value = product(context, secrets, &value);
        ring.add_assign(&mut value, part).unwrap();
    }
    ring.to_integers(&ring.to_coefficient(value).unwrap()).unwrap()
}

/// Returns log2 of the largest difference modulo q of two vectors of coefficients.
pub(crate) fn distance(a: &[BigInt], b: &[BigInt], q: &BigUint) -> f64 {
    let q = BigInt::from(q.clone());
    let largest = a.iter().zip(b).map(|(x, y)| {
        let d: BigInt = (((x - y) % &q) + &q) % &q;
        if &d * 2 > q { (&q - d).abs() } else { d }
    });
    largest.max().unwrap().to_f64().unwrap().log2()
}

/// Returns the hash of parts, the first of which is its domain.
pub(crate) fn hash(parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().to_vec()
}
