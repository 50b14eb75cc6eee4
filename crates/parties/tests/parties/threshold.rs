//! Tests of thresholds: shares are dealt once, any quorum decrypts, and every share counts.

use std::sync::Arc;

use num_bigint::BigInt;
use sunzi_parties::dealing::{Dealing, DealingSetup};
use sunzi_parties::decryption::{Collector, Decryptor, Request, Subject};
use sunzi_parties::keys::{JointKeys, KeySetup};
use sunzi_parties::{Fault, MemoryStore, PartiesError, Party, Receipt, Roster};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::encryption::zero_public;
use sunzi_rlwe::joint::{DecryptionShare, Quorum, ThresholdShare, combined_phase};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{from_bytes, to_bytes};
use sunzi_rlwe::{DeclaredNoise, KeyId, LedgerFile, RlweContext, SharingLedger, SharingPolicy};

use crate::common::{copy, distance, rng, run, setup, stores};

const THRESHOLDS: [(usize, u32); 3] = [(2, 3), (3, 5), (7, 10)];

pub(crate) struct World {
    pub(crate) setup: KeySetup,
    pub(crate) roster: Roster,
    pub(crate) keys: Vec<JointKeys>,
    dealing: DealingSetup,
}

impl World {
    pub(crate) fn new(threshold: usize, parties: u32) -> Self {
        let setup = setup(parties, 1);
        let keys = run(&setup, 1);
        let roster = setup.roster().clone().with_threshold(threshold).unwrap();
        let (context, key) = (setup.context().clone(), keys[0].public.id());
        let dealing = DealingSetup::new(context, roster.clone(), key, [7; 32]).unwrap();
        Self { setup, roster, keys, dealing }
    }

    fn begin(&self, stores: &[MemoryStore], seed: u64) -> Vec<Dealing<MemoryStore>> {
        let begin = |((me, keys), store): ((Party, &JointKeys), &MemoryStore)| {
            self.dealing
                .begin(me, &keys.secret, store.clone(), &mut rng(seed + u64::from(me.number())))
                .unwrap()
        };
        self.roster.parties().zip(&self.keys).zip(stores).map(begin).collect()
    }

    /// Gives every party its messages, and returns the shares.
    pub(crate) fn deal(&self, stores: &[MemoryStore]) -> Vec<ThresholdShare> {
        let mut dealings = self.begin(stores, 3);
        let parties: Vec<Party> = self.roster.parties().collect();
        for (at, &from) in parties.iter().enumerate() {
            for (to, &party) in parties.iter().enumerate().rev().filter(|(to, _)| *to != at) {
                let message = dealings[at].message_for(party).unwrap().to_vec();
                assert_eq!(dealings[to].accept(from, &message).unwrap(), Receipt::Accepted);
                assert_eq!(dealings[to].accept(from, &message).unwrap(), Receipt::Repeated);
            }
            assert!(dealings[at].message_for(from).is_none());
        }
        dealings.into_iter().map(|dealing| dealing.finish().unwrap()).collect()
    }
}

/// A public encryption of zero, and what its noise and the policy ask of those who open it.
pub(crate) struct Zero {
    pub(crate) context: RlweContext,
    key: KeyId,
    parts: [Poly<Evaluation>; 2],
    noise: DeclaredNoise,
    policy: SharingPolicy,
}

impl Zero {
    pub(crate) fn new(world: &World) -> Self {
        let (context, public) = (world.setup.context().clone(), &world.keys[0].public);
        let zero = zero_public(&context, public, &mut rng(9)).unwrap();
        let noise = DeclaredNoise::of_own_run(&zero.noise, context.ring().expansion());
        let policy = SharingPolicy::new(20, 3).unwrap();
        Self { context, key: public.id(), parts: zero.parts, noise, policy }
    }

    fn subject(&self) -> Subject<'_> {
        Subject { bytes: b"file", linear: &self.parts[1], key: self.key }
    }

    fn flooding(&self) -> Flooding {
        Flooding::new(self.policy, self.noise, self.context.ring().degree()).unwrap()
    }

    pub(crate) fn decryptor(
        &self,
        roster: &Arc<Roster>,
        (me, share): (Party, ThresholdShare),
        (ledger, store): (SharingLedger, MemoryStore),
    ) -> Decryptor<MemoryStore> {
        let (context, roster) = (self.context.clone(), Arc::clone(roster));
        Decryptor::new(context, roster, me, share, LedgerFile::in_memory(ledger), store).unwrap()
    }

    pub(crate) fn ledger(&self) -> SharingLedger {
        SharingLedger::new(self.context.fingerprint(), self.key, self.policy)
    }

    pub(crate) fn request(&self, roster: &Roster, numbers: &[u32]) -> Request {
        let members = numbers.iter().map(|&number| roster.party(number.into()).unwrap());
        Request::new(&self.context, self.subject(), self.noise.bits(), members, [0; 32], "").unwrap()
    }

    /// Fails unless the shares of these parties open zero, with no more than their flooding noise.
    pub(crate) fn opens(&self, decryptors: &mut [Decryptor<MemoryStore>], numbers: &[u32]) {
        let roster = Arc::clone(decryptors[0].roster());
        let request = self.request(&roster, numbers);
        let quorum = request.quorum(&roster).unwrap();
        let mut collector = Collector::new(self.context.clone(), &roster, &request).unwrap();
        for &number in numbers {
            let party = &mut decryptors[number as usize - 1];
            let reviewed = party.review(&request, self.subject(), self.noise).unwrap();
            let answer = party.answer(reviewed, &mut rng(number.into())).unwrap();
            collector.accept(party.me(), &answer).unwrap();
        }
        let error = self.error(quorum.as_ref(), &collector.finish().unwrap());
        assert!(error <= self.flooding().bound_of(numbers.len() as u32).bits() + 1.0, "{error}");
        assert!(error >= self.flooding().log2_deviation() - 1.0, "{error}");
    }

    /// Returns log2 of how far from zero shares open.
    pub(crate) fn error(&self, quorum: Option<&Quorum>, shares: &[DecryptionShare]) -> f64 {
        let phase = combined_phase(&self.context, &self.parts[0], quorum, shares).unwrap();
        let phase = self.context.ring().to_integers(&phase).unwrap();
        distance(&phase, &vec![BigInt::ZERO; phase.len()], self.context.ring().modulus())
    }

    /// The share of the decryption by what somebody holds in a quorum.
    pub(crate) fn share(&self, held: &ThresholdShare, quorum: &Quorum) -> DecryptionShare {
        let secret = held.in_quorum(&self.context, quorum).unwrap();
        DecryptionShare::new(&self.context, &self.parts[1], &secret, &self.flooding(), &mut rng(5)).unwrap()
    }
}

#[test]
fn any_quorum_decrypts_what_was_dealt() {
    for (threshold, parties) in THRESHOLDS {
        let world = World::new(threshold, parties);
        let (context, zero) = (world.setup.context().clone(), Zero::new(&world));
        let roster = Arc::new(world.roster.clone());
        let shares = roster.parties().zip(world.deal(&stores(parties)));
        let decryptors = shares.map(|(me, share)| {
            // A share is kept in a file between the two.
            let share: ThresholdShare = from_bytes(&context, &to_bytes(&context, &share).unwrap()).unwrap();
            zero.decryptor(&roster, (me, share), (zero.ledger(), MemoryStore::default()))
        });
        let mut decryptors: Vec<_> = decryptors.collect();
        let first: Vec<u32> = (1..=threshold as u32).collect();
        let last: Vec<u32> = (parties - threshold as u32 + 1..=parties).collect();
        for numbers in [&first, &last, &first] {
            zero.opens(&mut decryptors, numbers);
        }
        // Asked again, the first quorum gave the same shares; another quorum counts on its own.
        let used: Vec<u64> = decryptors.iter().map(|party| party.ledger().ledger().used()).collect();
        let expected = |number: u32| u64::from(first.contains(&number)) + u64::from(last.contains(&number));
        assert_eq!(used, (1..=parties).map(expected).collect::<Vec<_>>());
        // Fewer than the threshold, more, and who was not asked are refused.
        let all: Vec<u32> = (1..=parties).collect();
        for numbers in [&first[1..], &all] {
            let request = zero.request(&roster, numbers);
            assert!(matches!(request.members(&roster), Err(PartiesError::Refused { .. })));
            assert!(decryptors[1].review(&request, zero.subject(), zero.noise).is_err());
            assert!(Collector::new(context.clone(), &roster, &request).is_err());
        }
        let without = zero.request(&roster, &last);
        assert!(decryptors[0].review(&without, zero.subject(), zero.noise).is_err());
    }
}

#[test]
fn what_does_not_belong_to_a_party_is_refused() {
    let world = World::new(2, 3);
    let (context, key) = (world.setup.context().clone(), world.keys[0].public.id());
    let shares = world.deal(&stores(3));
    let parties: Vec<Party> = world.roster.parties().collect();
    let ledger = || {
        let policy = SharingPolicy::new(20, 3).unwrap();
        LedgerFile::in_memory(SharingLedger::new(context.fingerprint(), key, policy))
    };
    let [first, ..] = <[ThresholdShare; 3]>::try_from(shares).ok().unwrap();
    let thresholds = Arc::new(world.roster.clone());
    let refused = Decryptor::new(
        context.clone(),
        thresholds.clone(),
        parties[1],
        first,
        ledger(),
        MemoryStore::default(),
    );
    assert!(refused.err().unwrap().to_string().contains("the share of party 2"));
    // An own secret serves where all decrypt, a share where some do.
    let own = || world.keys[1].secret.duplicate();
    let refused =
        Decryptor::new(context.clone(), thresholds, parties[1], own(), ledger(), MemoryStore::default());
    assert!(refused.err().unwrap().to_string().contains("expected a share of a threshold"));
    let all = Arc::new(world.setup.roster().clone());
    Decryptor::new(context.clone(), all, parties[1], own(), ledger(), MemoryStore::default()).unwrap();
    // Nobody deals the secret of another, and none deals where all decrypt.
    let refused = world.dealing.begin(parties[0], &world.keys[1].secret, MemoryStore::default(), &mut rng(1));
    assert!(matches!(refused.err(), Some(PartiesError::Setting { .. })));
    assert!(DealingSetup::new(context, world.setup.roster().clone(), key, [0; 32]).is_err());
}

#[test]
fn a_piece_reaches_its_party_alone() {
    let world = World::new(2, 3);
    let parties: Vec<Party> = world.roster.parties().collect();
    let mut dealings = world.begin(&stores(3), 3);
    let for_third = dealings[0].message_for(parties[2]).unwrap().to_vec();
    let fault = |result: Result<Receipt, PartiesError>| match result.unwrap_err() {
        PartiesError::Message { sender, fault } => (sender, fault),
        other => panic!("{other}"),
    };
    // The piece of another party ends the session: it cannot be mended by asking again.
    let (sender, refused) = fault(dealings[1].accept(parties[0], &for_third));
    assert_eq!(sender, "Ada");
    assert!(matches!(*refused, Fault::Content(_)), "{refused}");
    let for_second = dealings[0].message_for(parties[1]).unwrap().to_vec();
    assert!(matches!(dealings[1].accept(parties[0], &for_second), Err(PartiesError::Aborted { .. })));
    // Another sender than the channel says, another session, and another piece for the same party.
    let (_, refused) = fault(dealings[2].accept(parties[1], &for_third));
    assert!(matches!(*refused, Fault::OtherSender { .. }), "{refused}");
    let context = world.setup.context().clone();
    let key = world.keys[0].public.id();
    let other = DealingSetup::new(context, world.roster.clone(), key, [8; 32]).unwrap();
    let stranger =
        other.begin(parties[0], &world.keys[0].secret, MemoryStore::default(), &mut rng(1)).unwrap();
    let message = stranger.message_for(parties[2]).unwrap().to_vec();
    let (_, refused) = fault(dealings[2].accept(parties[0], &message));
    assert!(matches!(*refused, Fault::Session { .. }), "{refused}");
    dealings[2].accept(parties[0], &for_third).unwrap();
    let again = world.begin(&stores(3), 50);
    let message = again[0].message_for(parties[2]).unwrap().to_vec();
    let (_, refused) = fault(dealings[2].accept(parties[0], &message));
    assert!(matches!(*refused, Fault::Conflict { .. }), "{refused}");
}

#[test]
fn a_restart_deals_the_same_pieces() {
    let world = World::new(3, 5);
    let kept = stores(5);
    let shares = world.deal(&kept);
    // What was kept is enough to end alone, with the same share.
    let again: Vec<MemoryStore> = kept.iter().map(copy).collect();
    let begun = world.begin(&again, 99);
    let context = world.setup.context();
    for (dealing, share) in begun.into_iter().zip(&shares) {
        assert!(dealing.missing().is_empty());
        let found = dealing.finish().unwrap();
        assert_eq!(to_bytes(context, &found).unwrap(), to_bytes(context, share).unwrap());
    }
    // A party that has nothing yet says who is missing.
    let mut fresh = world.begin(&stores(5), 3);
    let first = fresh.remove(0);
    assert_eq!(first.missing().len(), 4);
    let error = first.finish().err().unwrap().to_string();
    assert!(error.contains("Bo, Cy, Di, Ed"), "{error}");
}
