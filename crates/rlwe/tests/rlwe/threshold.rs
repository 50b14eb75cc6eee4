//! Tests that any t of n parties act for all, that fewer do not, and that shares handed on have nothing in common with old ones.

use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use rand_core::SeedableRng;
use sunzi_math::primes_below;
use sunzi_ring::Ring;
use sunzi_rlwe::encryption::zero_public;
use sunzi_rlwe::joint::{
    AdditiveSecret, DecryptionShare, PublicKeyShare, Quorum, Reference, ThresholdPiece, ThresholdShare,
    combined_phase,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{
    DeclaredNoise, KeyId, RlweContext, RlweError, SecretDistribution, SecretKey, Security, SharingPolicy,
};

/// Name of the joint secret.
const KEY: KeyId = KeyId::from_bytes([3; 16]);

/// All parties in one process, with their secrets and their shares of the joint one.
struct Parties {
    context: RlweContext,
    secrets: Vec<SecretKey>,
    shares: Vec<ThresholdShare>,
    rng: ChaCha20Rng,
}

/// Returns the shares of all parties from what the dealers deal, in the order of parties.
fn dealt(context: &RlweContext, dealt: Vec<Vec<ThresholdPiece>>, parties: u32) -> Vec<ThresholdShare> {
    let mut dealers: Vec<_> = dealt.into_iter().map(Vec::into_iter).collect();
    let share = |party| {
        let pieces: Vec<_> = dealers.iter_mut().map(|pieces| pieces.next().unwrap()).collect();
        ThresholdShare::combine(context, party, &pieces).unwrap()
    };
    (1..=parties).map(share).collect()
}

impl Parties {
    fn new(threshold: u32, parties: u32, index: u64) -> Self {
        let ring = Ring::new(index, &primes_below(1 << 47, index, 3).unwrap()).unwrap();
        let context = RlweContext::new(ring, Security::InsecureForResearchOnly).unwrap();
        let context = context.with_secrets(SecretDistribution::Joint(parties)).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(threshold));
        let secrets: Vec<_> =
            (0..parties).map(|_| SecretKey::generate_share(&context, &mut rng).unwrap()).collect();
        let deal =
            |secret| ThresholdPiece::deal(&context, KEY, secret, threshold, parties, &mut rng).unwrap();
        let shares = dealt(&context, secrets.iter().map(deal).collect(), parties);
        Self { context, secrets, shares, rng }
    }

    /// The joint secret, as no real party knows it.
    fn joint(&self) -> Vec<BigInt> {
        let ring = self.context.key_ring();
        let mut sum = ring.zero();
        for secret in &self.secrets {
            let own = AdditiveSecret::at_level(secret, &self.context, ring.level()).unwrap();
            ring.add_assign(&mut sum, &own).unwrap();
        }
        ring.to_integers(&ring.to_coefficient(sum).unwrap()).unwrap()
    }
}

/// What shares of parties with these numbers, in a quorum of them, add up to.
fn joined(context: &RlweContext, shares: &[ThresholdShare], quorum: &Quorum) -> Vec<BigInt> {
    let ring = context.key_ring();
    let mut sum = ring.zero();
    for &party in quorum.parties() {
        let share = shares.iter().find(|share| share.party() == party).unwrap();
        let own = share.in_quorum(context, quorum).unwrap().at_level(context, ring.level()).unwrap();
        ring.add_assign(&mut sum, &own).unwrap();
    }
    ring.to_integers(&ring.to_coefficient(sum).unwrap()).unwrap()
}

/// All sets of t numbers from 1 to n.
fn subsets(threshold: u32, parties: u32) -> Vec<Vec<u32>> {
    let chosen = |set: u32| (1..=parties).filter(move |party| set >> (party - 1) & 1 == 1).collect();
    (0_u32..1 << parties).filter(|set| set.count_ones() == threshold).map(chosen).collect()
}

const THRESHOLDS: [(u32, u32); 5] = [(1, 2), (2, 3), (3, 5), (7, 10), (4, 4)];

#[test]
fn every_quorum_has_the_joint_secret() {
    // A power of two and an odd index.
    for index in [128, 45] {
        for (threshold, parties) in THRESHOLDS {
            let p = Parties::new(threshold, parties, index);
            let secret = p.joint();
            assert!(secret.iter().all(|c| *c <= BigInt::from(parties) && *c >= -BigInt::from(parties)));
            for numbers in subsets(threshold, parties) {
                let quorum = Quorum::new(threshold, parties, &numbers).unwrap();
                assert_eq!(
                    joined(&p.context, &p.shares, &quorum),
                    secret,
                    "{threshold} of {parties}: {quorum:?}"
                );
            }
        }
    }
}

/// One share less leaves a uniform value: none of its residues is small.
#[test]
fn fewer_than_the_threshold_have_nothing() {
    for (threshold, parties) in THRESHOLDS.into_iter().filter(|(threshold, _)| *threshold > 1) {
        let p = Parties::new(threshold, parties, 128);
        let fewer: Vec<u32> = (1..threshold).collect();
        let quorum = Quorum::new(threshold - 1, parties, &fewer).unwrap();
        let found = joined(&p.context, &p.shares, &quorum);
        assert_ne!(found, p.joint());
        let bits: Vec<u64> = found.iter().map(|c| c.bits()).collect();
        let full = p.context.key_ring().modulus().bits();
        assert!(bits.iter().filter(|&&bits| bits + 8 < full).count() <= 4, "{bits:?} of {full}");
    }
}

#[test]
fn shares_of_a_quorum_open_what_all_encrypted() {
    let reference = Reference::new([5; 32]);
    for (threshold, parties) in THRESHOLDS {
        let Parties { context, secrets, shares, mut rng } = Parties::new(threshold, parties, 256);
        let public: Vec<_> = secrets
            .iter()
            .map(|secret| PublicKeyShare::new(&context, secret, &reference, &mut rng).unwrap())
            .collect();
        let public = PublicKeyShare::combine(&context, &reference, &public).unwrap();
        let zero = zero_public(&context, &public, &mut rng).unwrap();
        let noise = DeclaredNoise::of_own_run(&zero.noise, context.ring().expansion());
        let flooding = Flooding::new(SharingPolicy::new(30, 4).unwrap(), noise, 128).unwrap();
        for numbers in subsets(threshold, parties).into_iter().take(8) {
            let quorum = Quorum::new(threshold, parties, &numbers).unwrap();
            let share = |party: u32| {
                let secret = shares[party as usize - 1].in_quorum(&context, &quorum).unwrap();
                DecryptionShare::new(&context, &zero.parts[1], &secret, &flooding, &mut rng).unwrap()
            };
            let made: Vec<_> = quorum.parties().iter().copied().map(share).collect();
            let phase = combined_phase(&context, &zero.parts[0], Some(&quorum), &made).unwrap();
            let phase = context.ring().to_integers(&phase).unwrap();
            let largest = phase.iter().map(|c| c.bits()).max().unwrap() as f64;
            // The noise of t parties, not of n: errors stand behind the factors.
            let bound = flooding.bound_of(threshold).bits() + 1.0;
            assert!(largest <= bound && largest > flooding.log2_deviation() - 2.0, "{largest}, {bound}");
            let missing = combined_phase(&context, &zero.parts[0], Some(&quorum), &made[1..]);
            assert!(missing.err().unwrap().to_string().contains("the number of shares"));
        }
    }
}

/// A quorum hands the secret on to other parties with another threshold; old and new shares do not mix.
#[test]
fn a_secret_is_handed_on() {
    let p = Parties::new(2, 3, 128);
    let secret = p.joint();
    let Parties { context, shares, mut rng, .. } = p;
    let quorum = Quorum::new(2, 3, &[1, 3]).unwrap();
    let (threshold, parties) = (3, 4);
    let mut deal = |party: u32| {
        let own = shares[party as usize - 1].in_quorum(&context, &quorum).unwrap();
        ThresholdPiece::deal(&context, KEY, &own, threshold, parties, &mut rng).unwrap()
    };
    let fresh = dealt(&context, vec![deal(1), deal(3)], parties);
    for numbers in subsets(threshold, parties) {
        let quorum = Quorum::new(threshold, parties, &numbers).unwrap();
        assert_eq!(joined(&context, &fresh, &quorum), secret);
    }
    // Party 2 left: its old share beside new ones of 1 and 3 is worth nothing.
    let [first, _, third, _] = <[ThresholdShare; 4]>::try_from(fresh).ok().unwrap();
    let [_, leaver, _] = <[ThresholdShare; 3]>::try_from(shares).ok().unwrap();
    let quorum = Quorum::new(threshold, parties, &[1, 2, 3]).unwrap();
    assert_ne!(joined(&context, &[first, leaver, third], &quorum), secret);
}

#[test]
fn what_makes_no_quorum_is_refused_by_name() {
    let refused = |result: Result<(), RlweError>, words: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    let quorum = |threshold, parties, numbers: &[u32]| Quorum::new(threshold, parties, numbers).map(drop);
    refused(quorum(2, 3, &[2]), "the parties of a quorum: expected 2 different ones, got [2]");
    refused(quorum(2, 3, &[2, 2]), "the parties of a quorum");
    refused(quorum(2, 3, &[1, 2, 3]), "the parties of a quorum");
    refused(quorum(2, 3, &[0, 2]), "the number of a party: expected 1 to 3, got 0");
    refused(quorum(2, 3, &[2, 4]), "the number of a party: expected 1 to 3, got 4");
    refused(quorum(4, 3, &[1, 2, 3]), "the threshold: expected 1 to 3, got 4");
    refused(quorum(0, 3, &[]), "the threshold");
    refused(quorum(1, 1025, &[1]), "the number of parties");
    let Parties { context, secrets, shares, mut rng } = Parties::new(2, 3, 128);
    let without = Quorum::new(2, 3, &[2, 3]).unwrap();
    refused(shares[0].in_quorum(&context, &without).map(drop), "party 1");
    let pieces = ThresholdPiece::deal(&context, KEY, &secrets[0], 2, 3, &mut rng).unwrap();
    refused(
        ThresholdShare::combine(&context, 2, &pieces).map(drop),
        "the party of a piece: expected 2, got 1",
    );
    refused(ThresholdShare::combine(&context, 2, &[]).map(drop), "the number of pieces");
    let other = KeyId::from_bytes([4; 16]);
    let [first, ..] = <[ThresholdPiece; 3]>::try_from(pieces).ok().unwrap();
    let [stranger, ..] = <[ThresholdPiece; 3]>::try_from(
        ThresholdPiece::deal(&context, other, &secrets[0], 2, 3, &mut rng).unwrap(),
    )
    .ok()
    .unwrap();
    let mixed = ThresholdShare::combine(&context, 1, &[first, stranger]);
    refused(mixed.map(drop), "the joint secret of a piece");
    refused(ThresholdPiece::deal(&context, KEY, &secrets[0], 4, 3, &mut rng).map(drop), "the threshold");
}
