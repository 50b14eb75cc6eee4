//! Tests of decryption by shares: counted, kept, and only for what was asked.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use num_bigint::BigInt;
use sunzi_parties::decryption::{Collector, Decryptor, Request, Subject};
use sunzi_parties::driver::channels::links;
use sunzi_parties::driver::{Driver, Transport};
use sunzi_parties::keys::KeySetup;
use sunzi_parties::{Fault, MemoryStore, Message, PartiesError, Receipt, Roster, Store};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::encryption::zero_public;
use sunzi_rlwe::joint::combined_phase;
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{from_bytes, to_bytes};
use sunzi_rlwe::{DeclaredNoise, KeyId, LedgerFile, RlweContext, RlweError, SharingLedger, SharingPolicy};

use crate::common::{distance, rng, run, setup};

/// A ciphertext of zero under a joint key, as parties know it.
pub(crate) struct Encrypted {
    pub(crate) parts: [Poly<Evaluation>; 2],
    pub(crate) bytes: Vec<u8>,
    key: KeyId,
    pub(crate) noise: f64,
}

impl Encrypted {
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { bytes: &self.bytes, linear: &self.parts[1], key: self.key }
    }
}

/// Parties with keys, ready to decrypt.
pub(crate) struct World {
    pub(crate) setup: KeySetup,
    pub(crate) roster: Arc<Roster>,
    pub(crate) public: sunzi_rlwe::PublicKey,
    pub(crate) stores: Vec<MemoryStore>,
    pub(crate) parties: Vec<Decryptor<MemoryStore>>,
}

pub(crate) const POLICY: (u32, u64) = (20, 3);

pub(crate) fn world(parties: u32) -> World {
    let setup = setup(parties, 1);
    let keys = run(&setup, 1);
    let roster = Arc::new(setup.roster().clone());
    let public = keys[0].public.clone();
    let stores = crate::common::stores(parties);
    let policy = SharingPolicy::new(POLICY.0, POLICY.1).unwrap();
    let decryptor = |((me, keys), store): ((_, sunzi_parties::keys::JointKeys), &MemoryStore)| {
        let ledger = SharingLedger::new(setup.context().fingerprint(), public.id(), policy);
        let ledger = LedgerFile::in_memory(ledger);
        let context = setup.context().clone();
        Decryptor::new(context, Arc::clone(&roster), me, keys.secret, ledger, store.clone()).unwrap()
    };
    let parties = roster.parties().zip(keys).zip(&stores).map(decryptor).collect();
    World { roster: Arc::clone(&roster), public, stores, parties, setup }
}

impl World {
    pub(crate) fn context(&self) -> &RlweContext {
        self.setup.context()
    }

    pub(crate) fn encrypt(&self, seed: u64) -> Encrypted {
        let zero = zero_public(self.context(), &self.public, &mut rng(seed)).unwrap();
        let noise = zero.noise.bound(self.context().ring().expansion()).bits();
        let bytes = seed.to_le_bytes().to_vec();
        Encrypted { parts: zero.parts, bytes, key: self.public.id(), noise }
    }

    pub(crate) fn request(&self, encrypted: &Encrypted) -> Request {
        let parties = self.roster.parties();
        let subject = encrypted.subject();
        Request::new(self.context(), subject, encrypted.noise, parties, [9; 32], "the mean of a column")
            .unwrap()
    }

    fn answer(
        &mut self,
        at: usize,
        request: &Request,
        encrypted: &Encrypted,
        seed: u64,
    ) -> Result<Vec<u8>, PartiesError> {
        let party = &mut self.parties[at];
        let declared = DeclaredNoise::from_bits(encrypted.noise);
        let reviewed = party.review(request, encrypted.subject(), declared)?;
        assert_eq!((reviewed.request(), reviewed.request().description()), (request, "the mean of a column"));
        party.answer(reviewed, &mut rng(seed))
    }
}

#[test]
fn answers_of_all_parties_decrypt_and_hide_the_noise() {
    for parties in [2, 3, 5, 10] {
        let mut world = world(parties);
        let encrypted = world.encrypt(5);
        let request = world.request(&encrypted);
        let mut collector = Collector::new(world.context().clone(), &world.roster, &request).unwrap();
        for at in (0..parties as usize).rev() {
            let answer = world.answer(at, &request, &encrypted, at as u64).unwrap();
            assert!(answer.len() as u64 <= collector.longest_message());
            let from = world.parties[at].me();
            assert_eq!(collector.missing().len(), at + 1);
            assert_eq!(collector.accept(from, &answer).unwrap(), Receipt::Accepted);
            assert_eq!(collector.accept(from, &answer).unwrap(), Receipt::Repeated);
        }
        let shares = collector.finish().unwrap();
        let ring = world.context().ring();
        let phase = combined_phase(world.context(), &encrypted.parts[0], None, &shares).unwrap();
        let phase = ring.to_integers(&phase).unwrap();
        let error = distance(&phase, &vec![BigInt::ZERO; phase.len()], ring.modulus());
        let policy = SharingPolicy::new(POLICY.0, POLICY.1).unwrap();
        let declared = DeclaredNoise::from_bits(encrypted.noise);
        let flooding = Flooding::new(policy, declared, ring.degree()).unwrap();
        let log2 = f64::from(parties).log2();
        assert!(error <= flooding.bound_of(1).bits() + log2 + 0.1);
        assert!(error >= flooding.log2_deviation() + log2 / 2.0, "{error}");
    }
}

#[test]
fn a_repeated_request_gets_the_same_bytes_and_counts_once() {
    let mut world = world(2);
    let used = |world: &World| world.parties[0].ledger().ledger().used();
    let first = world.encrypt(5);
    let request = world.request(&first);
    let answer = world.answer(0, &request, &first, 1).unwrap();
    assert_eq!(used(&world), 1);
    assert_eq!(world.answer(0, &request, &first, 2).unwrap(), answer);
    // Another c_0 and another description: the part c_1 is the same, so the share is.
    let other = Encrypted { parts: first.parts.clone(), bytes: vec![1], ..first };
    let again = Request::new(
        world.context(),
        other.subject(),
        1.0,
        world.roster.parties(),
        [0; 32],
        "the mean of a column",
    );
    let again = world.answer(0, &again.unwrap(), &other, 3).unwrap();
    assert_ne!(again, answer);
    assert_eq!(Message::read(&again).unwrap().content, Message::read(&answer).unwrap().content);
    assert_eq!(used(&world), 1);
    // Other ciphertexts count.
    for (seed, count) in [(6, 2), (7, 3)] {
        let next = world.encrypt(seed);
        let request = world.request(&next);
        assert_ne!(
            Message::read(&world.answer(0, &request, &next, 1).unwrap()).unwrap().content,
            Message::read(&answer).unwrap().content
        );
        assert_eq!(used(&world), count);
    }
    let spent = world.encrypt(8);
    let last = world.request(&spent);
    let error = world.answer(0, &last, &spent, 1).unwrap_err();
    assert!(matches!(error, PartiesError::Rlwe(RlweError::SharingSpent { queries: 3 })), "{error}");
    // What was shared is given again also then.
    let first = world.encrypt(5);
    assert_eq!(world.answer(0, &request, &first, 9).unwrap(), answer);
    assert_eq!(used(&world), 3);
}

/// A share that cannot be kept does not leave, and a kept one that was damaged is not drawn again.
#[test]
fn damaged_records_are_not_drawn_again() {
    let mut world = world(2);
    let encrypted = world.encrypt(5);
    let request = world.request(&encrypted);
    world.answer(0, &request, &encrypted, 1).unwrap();
    let name = world.stores[0].names().remove(0);
    let mut bytes = world.stores[0].get(&name).unwrap().unwrap().to_vec();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    world.stores[0].remove(&name).unwrap();
    world.stores[0].put(&name, &bytes, true).unwrap();
    let error = world.answer(0, &request, &encrypted, 1).unwrap_err();
    assert!(matches!(&error, PartiesError::Journal { record, .. } if *record == name), "{error}");
    assert_eq!(world.parties[0].ledger().ledger().used(), 1);
}

#[test]
fn requests_for_something_else_are_refused_by_name() {
    let mut world = world(3);
    let encrypted = world.encrypt(5);
    let request = world.request(&encrypted);
    let declared = DeclaredNoise::from_bits(encrypted.noise);
    let refused = |error: Option<PartiesError>, words: &str| {
        let error = error.unwrap();
        assert!(matches!(error, PartiesError::Refused { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    let party = &world.parties[0];
    // The ciphertext that the party has is another.
    let other = world.encrypt(6);
    refused(
        party.review(&request, other.subject(), declared).err(),
        "the ciphertext: expected the one of the request",
    );
    let bytes = Subject { bytes: &other.bytes, ..encrypted.subject() };
    refused(party.review(&request, bytes, declared).err(), "the ciphertext: expected the one of the request");
    let key = KeyId::from_bytes([1; 16]);
    refused(
        party.review(&request, Subject { key, ..encrypted.subject() }, declared).err(),
        "the key of the ciphertext",
    );
    let elsewhere = Subject { key, ..encrypted.subject() };
    let of_other_key =
        Request::new(world.context(), elsewhere, 1.0, world.roster.parties(), [0; 32], "").unwrap();
    refused(party.review(&of_other_key, elsewhere, declared).err(), "the key of the request");
    // The noise that the request says is above what the party declares; less makes nothing smaller.
    for bits in [encrypted.noise - 0.5, f64::NEG_INFINITY, f64::NAN] {
        let low = DeclaredNoise::from_bits(bits);
        refused(party.review(&request, encrypted.subject(), low).err(), "the noise of the ciphertext");
    }
    let small =
        Request::new(world.context(), encrypted.subject(), -100.0, world.roster.parties(), [0; 32], "")
            .unwrap();
    assert!(party.review(&small, encrypted.subject(), declared).is_ok());
    // Parties.
    let some: Vec<_> = world.roster.parties().take(2).collect();
    let few = Request::new(world.context(), encrypted.subject(), 1.0, some, [0; 32], "").unwrap();
    refused(party.review(&few, encrypted.subject(), declared).err(), "parties asked: expected all 3");
    let none = Request::new(world.context(), encrypted.subject(), 1.0, [], [0; 32], "");
    refused(none.err(), "the number of parties");
    for bits in [f64::NAN, f64::INFINITY] {
        let wrong =
            Request::new(world.context(), encrypted.subject(), bits, world.roster.parties(), [0; 32], "");
        refused(wrong.err(), "log2 of the noise");
    }
    // A share given under a smaller noise is not the share for a larger one.
    let party = &mut world.parties[0];
    let reviewed = party.review(&small, encrypted.subject(), DeclaredNoise::from_bits(-50.0)).unwrap();
    assert!(!party.is_answered(&reviewed).unwrap());
    party.answer(reviewed, &mut rng(1)).unwrap();
    let reviewed = party.review(&request, encrypted.subject(), declared).unwrap();
    assert!(party.is_answered(&reviewed).unwrap(), "a share was given, under smaller noise");
    refused(party.answer(reviewed, &mut rng(1)).err(), "for which a share was given before");
}

#[test]
fn the_secret_of_another_party_is_refused() {
    let world = world(3);
    let key = KeyId::from_bytes([1; 16]);
    let ledger = LedgerFile::in_memory(SharingLedger::new(
        world.context().fingerprint(),
        key,
        SharingPolicy::new(20, 3).unwrap(),
    ));
    let keys = run(&world.setup, 3).remove(0);
    let (context, me) = (world.context().clone(), world.roster.party(1).unwrap());
    let wrong =
        Decryptor::new(context, Arc::clone(&world.roster), me, keys.secret, ledger, MemoryStore::default());
    assert!(wrong.err().unwrap().to_string().contains("what this party decrypts with"));
}

#[test]
fn wrong_answers_are_refused_by_name() {
    let mut world = world(3);
    let [first, second] = [5, 6].map(|seed| world.encrypt(seed));
    let requests = [&first, &second].map(|encrypted| world.request(encrypted));
    let answer = world.answer(1, &requests[0], &first, 1).unwrap();
    let other = world.answer(1, &requests[1], &second, 1).unwrap();
    let lower = {
        // A share of a lower level.
        let ring = world.context().ring_at(2).unwrap();
        let linear = ring.uniform(&mut rng(4));
        let party = &mut world.parties[1];
        let subject = Subject { bytes: b"lower", linear: &linear, key: first.key };
        let parties = world.roster.parties();
        let request = Request::new(world.setup.context(), subject, 1.0, parties, [0; 32], "").unwrap();
        let reviewed = party.review(&request, subject, DeclaredNoise::from_bits(1.0)).unwrap();
        Message::read(&party.answer(reviewed, &mut rng(1)).unwrap()).unwrap().content
    };
    let collector = || Collector::new(world.context().clone(), &world.roster, &requests[0]).unwrap();
    let [bo, cy] = [2, 3].map(|number| world.roster.party(number).unwrap());
    let refuse = |from, bytes: &[u8]| {
        let error = collector().accept(from, bytes).unwrap_err();
        assert_eq!(error.sender(), Some(world.roster.name(from)), "{error}");
        error
    };
    let fault = |error: PartiesError| format!("{:?}", error.fault().unwrap());
    assert!(fault(refuse(cy, &answer)).starts_with("OtherSender"));
    assert!(fault(refuse(bo, &other)).starts_with("Session"));
    assert!(fault(refuse(bo, &to_bytes(world.context(), &requests[0]).unwrap())).starts_with("Kind"));
    let good = Message::read(&answer).unwrap();
    let forge = |forged: Message| forged.to_bytes();
    assert!(fault(refuse(bo, &forge(Message { round: 2, ..good.clone() }))).starts_with("Kind"));
    assert!(fault(refuse(bo, &forge(Message { previous: [0; 32], ..good.clone() }))).starts_with("Diverged"));
    assert!(fault(refuse(bo, &forge(Message { content: lower, ..good.clone() }))).starts_with("Content"));
    let mut long = good.clone();
    long.content.push(0);
    assert!(fault(refuse(bo, &forge(long))).starts_with("Length"));
    for kind in [0x0E11, 0x0E16, 0x0901, 0xFFFF] {
        assert!(fault(refuse(bo, &forge(Message { kind, ..good.clone() }))).starts_with("Kind"), "{kind}");
    }
    let mut collector = collector();
    collector.accept(bo, &answer).unwrap();
    let conflict = forge(Message { content: Message::read(&other).unwrap().content, ..good });
    let error = collector.accept(bo, &conflict).unwrap_err();
    assert!(matches!(error.fault(), Some(Fault::Conflict { .. })), "{error}");
    let error = collector.finish().err().unwrap().to_string();
    assert!(error.contains("Ada, Cy"), "{error}");
}

#[test]
fn requests_come_back_from_their_bytes() {
    let world = world(2);
    let request = world.request(&world.encrypt(5));
    let bytes = to_bytes(world.context(), &request).unwrap();
    assert_eq!(from_bytes::<Request, _>(world.context(), &bytes).unwrap(), request);
    assert_eq!((request.key(), request.level(), *request.program()), (world.public.id(), 4, [9; 32]));
}

#[test]
fn answers_go_through_channels() {
    let mut world = world(3);
    let encrypted = world.encrypt(5);
    let request = world.request(&encrypted);
    let mut links = links(&world.roster);
    for at in [1, 2] {
        let answer = world.answer(at, &request, &encrypted, 1).unwrap();
        links[at].send(&answer).unwrap();
    }
    let mut collector = Collector::new(world.context().clone(), &world.roster, &request).unwrap();
    let own = world.answer(0, &request, &encrypted, 1).unwrap();
    collector.accept(world.roster.party(1).unwrap(), &own).unwrap();
    let mut last = 0;
    let mut progress = |progress: sunzi_parties::driver::Progress| {
        last = progress.received;
        ControlFlow::Continue(())
    };
    let mut driver = Driver::new(&mut links[0], Duration::from_secs(60), &mut progress);
    assert_eq!(driver.collect(collector).unwrap().len(), 3);
    assert_eq!(last, 3);
    let collector = Collector::new(world.context().clone(), &world.roster, &request).unwrap();
    let mut progress = |_| ControlFlow::Continue(());
    let missing = Driver::new(&mut links[0], Duration::from_millis(1), &mut progress).collect(collector);
    assert!(missing.err().unwrap().to_string().contains("Ada, Bo, Cy"));
}
