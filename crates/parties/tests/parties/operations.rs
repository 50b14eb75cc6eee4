//! Tests of operations by shares: made once, kept, counted, and only for what was asked.

use std::sync::Arc;

use num_bigint::BigInt;
use sunzi_parties::decryption::{Decryptor, Request};
use sunzi_parties::operations::{
    Additive, Given, JointSwitch, Made, Making, Operation, OperationCollector, OperationRequest, Refresh,
    Switch,
};
use sunzi_parties::{MemoryStore, Message, PartiesError, Receipt, Step};
use sunzi_ring::Poly;
use sunzi_rlwe::joint::{
    DecryptionShare, EncryptionShare, KeySwitchShare, PublicKeySwitchShare, RefreshShare, combined_phase,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{from_bytes, to_bytes};
use sunzi_rlwe::{
    DeclaredNoise, KeyId, LedgerFile, PublicKey, RlweContext, RlweError, SecretKey, SharingLedger,
    SharingPolicy,
};

use crate::common::{distance, joint_phase, rng, run, setup};
use crate::decryption::{Encrypted, POLICY, World, world};

/// An operation whose shares this test can make without a scheme.
trait Makes: Operation {
    fn target_of(world: &World) -> Self::Target;
    fn make(
        context: &RlweContext,
        encrypted: &Encrypted,
        target: &Self::Target,
        making: &Making<'_>,
        seed: u64,
    ) -> Result<Made<Self::Share>, PartiesError>;
}

fn flooding(context: &RlweContext, making: &Making<'_>) -> Flooding {
    Flooding::new(making.policy, making.declared, context.ring().degree()).unwrap()
}

impl Makes for Refresh {
    fn target_of(_: &World) -> Self::Target {}

    /// Masks uniform modulo Q hide all.
    fn make(
        context: &RlweContext,
        encrypted: &Encrypted,
        (): &(),
        making: &Making<'_>,
        seed: u64,
    ) -> Result<Made<RefreshShare>, PartiesError> {
        let mut rng = rng(seed);
        let mask: Poly<_> = context.ring().uniform(&mut rng);
        let opening = DecryptionShare::masked_by(context, &encrypted.parts[1], &making.secret, &mask)?;
        let masks = EncryptionShare::new(context, &making.secret, &making.seed, &mask, &mut rng)?;
        Ok(RefreshShare { opening, masks }.into())
    }
}

impl Makes for Switch {
    /// The public key of somebody else.
    fn target_of(world: &World) -> PublicKey {
        run(&setup(world.roster.len() as u32, 7), 7)[0].public.clone()
    }

    fn make(
        context: &RlweContext,
        encrypted: &Encrypted,
        target: &PublicKey,
        making: &Making<'_>,
        seed: u64,
    ) -> Result<Made<PublicKeySwitchShare>, PartiesError> {
        let (linear, flooding) = (&encrypted.parts[1], flooding(context, making));
        let secret = &making.secret;
        Ok(PublicKeySwitchShare::new(context, linear, secret, target, &flooding, &mut rng(seed))?.into())
    }
}

impl Makes for Additive {
    fn target_of(_: &World) -> Self::Target {}

    fn make(
        context: &RlweContext,
        encrypted: &Encrypted,
        (): &(),
        making: &Making<'_>,
        seed: u64,
    ) -> Result<Made<DecryptionShare>, PartiesError> {
        let (linear, flooding) = (&encrypted.parts[1], flooding(context, making));
        let share = DecryptionShare::new(context, linear, &making.secret, &flooding, &mut rng(seed))?;
        Ok(Made { share, own: seed.to_le_bytes().to_vec().into() })
    }
}

impl Makes for JointSwitch {
    /// The name of another joint secret.
    fn target_of(_: &World) -> KeyId {
        KeyId::from_bytes([9; 16])
    }

    fn make(
        context: &RlweContext,
        encrypted: &Encrypted,
        _: &KeyId,
        making: &Making<'_>,
        seed: u64,
    ) -> Result<Made<KeySwitchShare>, PartiesError> {
        let (linear, flooding) = (&encrypted.parts[1], flooding(context, making));
        let other = SecretKey::generate_share(context, &mut rng(seed))?;
        Ok(KeySwitchShare::new(context, linear, &making.secret, &other, &flooding, &mut rng(seed))?.into())
    }
}

fn asked<O: Makes>(world: &World, encrypted: &Encrypted) -> OperationRequest<O> {
    let request = world.request(encrypted);
    OperationRequest::new(world.context(), request, &O::target_of(world)).unwrap()
}

fn answer<O: Makes>(
    world: &mut World,
    at: usize,
    request: &OperationRequest<O>,
    encrypted: &Encrypted,
    seed: u64,
) -> Result<Given, PartiesError> {
    let target = O::target_of(world);
    let context = world.context().clone();
    let party = &mut world.parties[at];
    let declared = DeclaredNoise::from_bits(encrypted.noise);
    let reviewed = party.review_operation(request, encrypted.subject(), declared, &target)?;
    party.answer_operation(reviewed, |making| O::make(&context, encrypted, &target, making, seed))
}

fn used(world: &World, at: usize) -> u64 {
    world.parties[at].ledger().ledger().used()
}

/// Begins a party again with its records.
fn again(world: &World, at: usize) -> Decryptor<MemoryStore> {
    let keys = run(&world.setup, 1).remove(at);
    let policy = SharingPolicy::new(POLICY.0, POLICY.1).unwrap();
    let ledger = SharingLedger::new(world.context().fingerprint(), world.public.id(), policy);
    let (roster, me) = (Arc::clone(&world.roster), world.parties[at].me());
    let store = world.stores[at].clone();
    let ledger = LedgerFile::in_memory(ledger);
    Decryptor::new(world.context().clone(), roster, me, keys.secret, ledger, store).unwrap()
}

fn kept_and_counted<O: Makes>() {
    let mut world = world(2);
    let [first, other] = [5, 6].map(|seed| world.encrypt(seed));
    let request = asked::<O>(&world, &first);
    let given = answer(&mut world, 0, &request, &first, 1).unwrap();
    assert_eq!(used(&world, 0), 1);
    // Asked again, the share and what is kept are the same, also after a restart.
    let repeated = answer(&mut world, 0, &request, &first, 2).unwrap();
    assert!(repeated.message == given.message && repeated.own == given.own);
    assert_eq!(used(&world, 0), 1);
    world.parties[0] = again(&world, 0);
    let repeated = answer(&mut world, 0, &request, &first, 3).unwrap();
    assert!(repeated.message == given.message && repeated.own == given.own);
    assert_eq!(used(&world, 0), 0, "the ledger of this test is new");
    // Another request for the same part is refused, and counts nothing.
    let parties = world.roster.parties();
    let words = Request::new(world.context(), first.subject(), 1.0, parties, [0; 32], "another").unwrap();
    let target = O::target_of(&world);
    let second = OperationRequest::<O>::new(world.context(), words, &target).unwrap();
    let error = answer(&mut world, 0, &second, &first, 4).err().unwrap();
    assert!(error.to_string().contains("for which a share was given before"), "{error}");
    assert_eq!(used(&world, 0), 0);
    // What the scheme refuses counts nothing, and leaves nothing.
    let request = asked::<O>(&world, &other);
    let party = &mut world.parties[0];
    let declared = DeclaredNoise::from_bits(other.noise);
    let reviewed = party.review_operation(&request, other.subject(), declared, &target).unwrap();
    let refused = party.answer_operation(reviewed, |_| Err::<Made<O::Share>, _>(PartiesError::Stopped));
    assert!(matches!(refused.err(), Some(PartiesError::Stopped)));
    assert_eq!(used(&world, 0), 0);
    for count in 1..=POLICY.1 {
        let next = world.encrypt(10 + count);
        let request = asked::<O>(&world, &next);
        answer(&mut world, 0, &request, &next, 1).unwrap();
        assert_eq!(used(&world, 0), count);
    }
    let spent = answer(&mut world, 0, &request, &other, 1).err().unwrap();
    assert!(matches!(spent, PartiesError::Rlwe(RlweError::SharingSpent { .. })), "{spent}");
}

#[test]
fn shares_are_made_once_kept_and_counted() {
    kept_and_counted::<JointSwitch>();
    kept_and_counted::<Refresh>();
    kept_and_counted::<Switch>();
    kept_and_counted::<Additive>();
}

fn refused<O: Makes>(other_kinds: [u16; 3]) {
    let mut world = world(3);
    let [first, second] = [5, 6].map(|seed| world.encrypt(seed));
    let requests = [&first, &second].map(|encrypted| asked::<O>(&world, encrypted));
    let context = world.context().clone();
    let read: OperationRequest<O> = from_bytes(&context, &to_bytes(&context, &requests[0]).unwrap()).unwrap();
    assert_eq!(
        read.session(&context, &world.roster).unwrap().id(),
        requests[0].session(&context, &world.roster).unwrap().id()
    );
    assert_ne!(
        read.seed(&context, &world.roster).unwrap(),
        requests[1].seed(&context, &world.roster).unwrap()
    );
    let good = answer(&mut world, 1, &requests[0], &first, 1).unwrap().message;
    let other = answer(&mut world, 1, &requests[1], &second, 1).unwrap().message;
    let collector = || OperationCollector::new(context.clone(), &world.roster, &requests[0]).unwrap();
    let [bo, cy] = [2, 3].map(|number| world.roster.party(number).unwrap());
    let refuse = |from, bytes: &[u8], fault: &str| {
        let error = collector().accept(from, bytes).unwrap_err();
        assert_eq!(error.sender(), Some(world.roster.name(from)), "{error}");
        assert!(format!("{:?}", error.fault().unwrap()).starts_with(fault), "{error}: {fault}");
    };
    refuse(cy, &good, "OtherSender");
    refuse(bo, &other, "Session");
    refuse(bo, &to_bytes(&context, &requests[0]).unwrap(), "Kind");
    let message = Message::read(&good).unwrap();
    let forged = |message: Message| message.to_bytes();
    for kind in other_kinds.into_iter().chain([Step::Answer.kind() as u16, 0x0E11, 0x0901, 0xFFFF]) {
        refuse(bo, &forged(Message { kind, ..message.clone() }), "Kind");
    }
    refuse(bo, &forged(Message { round: 2, ..message.clone() }), "Kind");
    refuse(bo, &forged(Message { previous: [0; 32], ..message.clone() }), "Diverged");
    refuse(bo, &forged(Message { sender: 9, ..message.clone() }), "UnknownSender");
    refuse(bo, &forged(Message { content: vec![0; 40], ..message.clone() }), "Content");
    refuse(bo, &forged(Message { content: vec![0; good.len() + 200_000], ..message.clone() }), "Length");
    for at in (0..good.len()).step_by(97) {
        let mut mutant = good.clone();
        mutant[at] ^= 0x10;
        assert_eq!(collector().accept(bo, &mutant).unwrap_err().sender(), Some("Bo"), "byte {at}");
        assert!(collector().accept(bo, &good[..at]).is_err());
    }
    let mut collector = collector();
    assert!(good.len() as u64 <= collector.longest_message());
    assert_eq!(collector.accept(bo, &good).unwrap(), Receipt::Accepted);
    assert_eq!(collector.accept(bo, &good).unwrap(), Receipt::Repeated);
    let error = collector.finish().err().unwrap().to_string();
    assert!(error.contains("Ada, Cy"), "{error}");
}

#[test]
fn wrong_answers_of_operations_are_refused_by_name() {
    let [refresh, switch, additive, joint] =
        [Step::Refresh, Step::Switch, Step::Additive, Step::JointSwitch].map(|step| step.kind() as u16);
    refused::<Refresh>([switch, additive, joint]);
    refused::<Switch>([refresh, additive, joint]);
    refused::<Additive>([refresh, switch, joint]);
    refused::<JointSwitch>([refresh, switch, additive]);
}

#[test]
fn requests_for_other_targets_and_ciphertexts_are_refused_by_name() {
    let mut world = world(2);
    let [first, other] = [5, 6].map(|seed| world.encrypt(seed));
    let request = asked::<Switch>(&world, &first);
    let declared = DeclaredNoise::from_bits(first.noise);
    let (party, own) = (&world.parties[0], world.public.clone());
    let refused = |error: Option<PartiesError>, words: &str| {
        let error = error.unwrap();
        assert!(
            matches!(error, PartiesError::Refused { .. }) && error.to_string().contains(words),
            "{error}"
        );
    };
    refused(
        party.review_operation(&request, first.subject(), declared, &own).err(),
        "whom the result is for",
    );
    let target = Switch::target_of(&world);
    let low = DeclaredNoise::from_bits(first.noise - 1.0);
    refused(party.review_operation(&request, first.subject(), low, &target).err(), "the noise");
    refused(party.review_operation(&request, other.subject(), declared, &target).err(), "the ciphertext");
    // A request of one operation is none of another.
    let bytes = to_bytes(world.context(), &request).unwrap();
    assert!(from_bytes::<OperationRequest<Refresh>, _>(world.context(), &bytes).is_err());
    assert!(from_bytes::<Request, _>(world.context(), &bytes).is_err());
    assert!(answer(&mut world, 0, &request, &first, 1).is_ok());
}

/// The seed of the session is that of the encryption: opening and encryption together are the message again.
#[test]
fn shares_of_a_refresh_of_all_parties_give_the_message_again() {
    let mut world = world(3);
    let encrypted = world.encrypt(5);
    let request = asked::<Refresh>(&world, &encrypted);
    let context = world.context().clone();
    let mut collector = OperationCollector::new(context.clone(), &world.roster, &request).unwrap();
    for at in 0..3 {
        let given = answer(&mut world, at, &request, &encrypted, at as u64).unwrap();
        collector.accept(world.parties[at].me(), &given.message).unwrap();
    }
    let seed = *collector.seed();
    let shares = collector.finish().unwrap();
    let ring = context.ring();
    let openings = shares.iter().map(|share| &share.opening);
    let opened = combined_phase(&context, &encrypted.parts[0], None, openings).unwrap();
    let masks = shares.iter().map(|share| &share.masks);
    let masks = EncryptionShare::combine(&context, context.level(), &seed, None, masks).unwrap();
    let keys = run(&world.setup, 1);
    let secrets: Vec<_> = keys.iter().map(|keys| &keys.secret).collect();
    let masks = joint_phase(&context, &secrets, &masks.parts);
    let sum: Vec<BigInt> =
        ring.to_integers(&opened).unwrap().iter().zip(&masks).map(|(a, b)| a + b).collect();
    let error = distance(&sum, &vec![BigInt::ZERO; sum.len()], ring.modulus());
    assert!(error < encrypted.noise + 8.0, "{error} of {}", encrypted.noise);
}
