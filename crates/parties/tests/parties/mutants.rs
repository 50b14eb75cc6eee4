//! Random changes to the bytes of every kind of this crate: typed errors or objects that are written as they were read.

#[path = "../../../../testing/src/wire/layout.rs"]
mod layout;
#[expect(unreachable_pub, reason = "shared with other tests")]
#[path = "../../../../testing/src/wire/mutation.rs"]
mod mutation;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sunzi_parties::dealing::{DealingSetup, HandingOnSetup};
use sunzi_parties::decryption::{Collector, Decryptor, Request, Subject};
use sunzi_parties::operations::{Additive, JointSwitch, Operation, OperationRequest, Refresh, Switch};
use sunzi_parties::{MemoryStore, Message, Roster, Step, Store};
use sunzi_rlwe::joint::{
    DecryptionShare, EncryptionShare, EphemeralSecret, GaloisShares, KeySwitchShare, PublicKeyShare,
    PublicKeySwitchShare, Reference, RefreshShare, RelinearizationShare, RelinearizationSum, RoundTwoShare,
    ThresholdPiece, ThresholdShare,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{CHECKSUM_LEN, Format, HEADER_LEN, Kind, Reader, WireError, from_bytes, to_bytes};
use sunzi_rlwe::{DeclaredNoise, KeyId, LedgerFile, RlweContext, SecretKey, SharingLedger, SharingPolicy};

use crate::common::{context, gadgets, rng, run_with, setup, stores};
use crate::threshold::World;

type Read = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, String>>;

/// An object of a kind as bytes.
pub(crate) struct Specimen {
    name: String,
    /// Kind of the object.
    pub kind: Kind,
    /// Bytes of the object.
    pub bytes: Vec<u8>,
    /// Ranges of its records, without their checksums.
    pub records: Vec<Range<usize>>,
    read: Read,
}

fn object<T: 'static>(name: &str, context: &RlweContext, object: &T) -> Specimen
where
    RlweContext: Format<T>,
{
    let bytes = to_bytes(context, object).unwrap();
    let records = layout::records(context, object).unwrap();
    assert_eq!(records.last().map(|last| last.end + CHECKSUM_LEN), Some(bytes.len()), "{name}");
    let context = context.clone();
    let read = move |bytes: &[u8]| {
        let read: T = from_bytes(&context, bytes).map_err(|error| error.to_string())?;
        to_bytes(&context, &read).map_err(|error| error.to_string())
    };
    let kind = <RlweContext as Format<T>>::KIND;
    Specimen { name: name.to_owned(), kind, bytes, records, read: Box::new(read) }
}

fn message(name: &str, bytes: Vec<u8>) -> Specimen {
    let kind = Kind::of(Reader::new(&bytes[..]).unwrap().header().kind).unwrap();
    let envelope = HEADER_LEN..HEADER_LEN + 88;
    let records = vec![envelope.clone(), envelope.end + 8..bytes.len() - 8];
    let read = |bytes: &[u8]| Ok(Message::read(bytes).map_err(|error| error.to_string())?.to_bytes());
    Specimen { name: name.to_owned(), kind, bytes, records, read: Box::new(read) }
}

/// Makes shares of one party of two.
fn shares() -> Vec<Specimen> {
    let context = context(2, &gadgets()[0]);
    let (mut rng, reference) = (rng(1), Reference::new([3; 32]));
    let mut share = || {
        let secret = SecretKey::generate_share(&context, &mut rng).unwrap();
        let first = RelinearizationShare::new(&context, &secret, &reference, 3, &mut rng).unwrap();
        (secret, first)
    };
    let [(secret, (first, ephemeral)), (_, (other, _))] = [share(), share()];
    let sum = RelinearizationSum::of(&context, [&first, &other]).unwrap();
    let public = PublicKeyShare::new(&context, &secret, &reference, &mut rng).unwrap();
    let galois = GaloisShares::new(&context, &secret, &reference, [(3, 4), (5, 1)], &mut rng).unwrap();
    let bytes = to_bytes(&context, &ephemeral).unwrap();
    let again: EphemeralSecret = from_bytes(&context, &bytes).unwrap();
    let second = again.second_round(&context, &secret, &reference, &sum, &mut rng).unwrap();
    let policy = SharingPolicy::new(20, 4).unwrap();
    let flooding = Flooding::new(policy, DeclaredNoise::from_bits(10.0), 128).unwrap();
    let linear = context.ring_at(2).unwrap().uniform(&mut rng);
    let decryption = DecryptionShare::new(&context, &linear, &secret, &flooding, &mut rng).unwrap();
    let key = reference.key_id();
    let mut deal = || ThresholdPiece::deal(&context, key, &secret, 2, 2, &mut rng).unwrap().remove(1);
    let piece = deal();
    let share = ThresholdShare::combine(&context, 2, &[deal()]).unwrap();
    let subject = Subject { bytes: b"ciphertext", linear: &linear, key };
    let zero = context.ring().uniform(&mut rng);
    let refresh = RefreshShare {
        opening: decryption.clone(),
        masks: EncryptionShare::new(&context, &secret, &[1; 32], &zero, &mut rng).unwrap(),
    };
    let target = PublicKeyShare::combine(&context, &reference, [&public, &public]).unwrap();
    let switch = PublicKeySwitchShare::new(&context, &linear, &secret, &target, &flooding, &mut rng).unwrap();
    let joint = KeySwitchShare::new(&context, &linear, &secret, &secret, &flooding, &mut rng).unwrap();
    let parties = crate::common::roster(2);
    let request = Request::new(&context, subject, 10.0, parties.parties(), [1; 32], "the mean").unwrap();
    vec![
        object::<PublicKeyShare>("public-key-share", &context, &public),
        object::<GaloisShares>("galois-shares", &context, &galois),
        object::<RelinearizationShare>("relinearization-share", &context, &first),
        object::<RoundTwoShare>("round-two-share", &context, &second),
        object::<DecryptionShare>("decryption-share", &context, &decryption),
        object::<EphemeralSecret>("ephemeral-secret", &context, &ephemeral),
        object::<ThresholdPiece>("threshold-piece", &context, &piece),
        object::<ThresholdShare>("threshold-share", &context, &share),
        object::<Request>("decryption-request", &context, &request),
        object::<RefreshShare>("refresh-share", &context, &refresh),
        object::<PublicKeySwitchShare>("switch-share", &context, &switch),
        object::<KeySwitchShare>("joint-switch-share", &context, &joint),
        object("refresh-request", &context, &asked::<Refresh>(&context, &request, &())),
        object("switch-request", &context, &asked::<Switch>(&context, &request, &target)),
        object("additive-request", &context, &asked::<Additive>(&context, &request, &())),
        object("joint-switch-request", &context, &asked::<JointSwitch>(&context, &request, &key)),
    ]
}

fn asked<O: Operation>(context: &RlweContext, request: &Request, target: &O::Target) -> OperationRequest<O> {
    OperationRequest::new(context, request.clone(), target).unwrap()
}

/// Makes an answer of each operation. What it contains is read by collections alone.
fn operations() -> Vec<Specimen> {
    let names = ["refresh-answer", "switch-answer", "additive-answer", "joint-switch-answer"];
    let steps = [Step::Refresh, Step::Switch, Step::Additive, Step::JointSwitch];
    names
        .into_iter()
        .zip(steps)
        .map(|(name, step)| {
            let (kind, round, content) = (step.kind() as u16, 1, vec![5; 300]);
            let parameters = context(2, &gadgets()[0]).fingerprint();
            let (session, previous) = ([1; 32], [1; 32]);
            let answer = Message { kind, parameters, session, round, sender: 1, previous, content };
            message(name, answer.to_bytes())
        })
        .collect()
}

/// Makes the message of one party of three with a piece for another.
fn dealt() -> Vec<u8> {
    let setup = setup(3, 1);
    let (keys, _) = run_with(&setup, &stores(3), 1);
    let (context, key) = (setup.context().clone(), keys[0].public.id());
    let roster = setup.roster().clone().with_threshold(2).unwrap();
    let [first, second] = [1, 2].map(|number| roster.party(number).unwrap());
    let dealing = DealingSetup::new(context, roster, key, [4; 32]).unwrap();
    let dealing = dealing.begin(first, &keys[0].secret, MemoryStore::default(), &mut rng(5)).unwrap();
    dealing.message_for(second).unwrap().to_vec()
}

/// Makes the confirmation of a party that deals to two others and leaves.
fn confirmed() -> Vec<u8> {
    let world = World::new(2, 3);
    let share = world.deal(&stores(3)).remove(0);
    let [ada, bo] = [1, 2].map(|number| world.roster.party(number).unwrap());
    let (context, to) = (world.setup.context().clone(), Roster::new(["Bo", "Di"]).unwrap());
    let setup = HandingOnSetup::new(context, (&world.roster, &[ada, bo]), to, share.key(), [4; 32]).unwrap();
    let me = setup.session().roster().named("Ada").unwrap();
    let dealing = setup.begin(me, Some(&share), MemoryStore::default(), &mut rng(5)).unwrap();
    dealing.confirm().unwrap().message().to_vec()
}

/// Makes messages of every kind, and the state of a party.
fn messages() -> Vec<Specimen> {
    let setup = setup(2, 1);
    let kept = stores(2);
    let (mut keys, rounds) = run_with(&setup, &kept, 1);
    let names = [
        "reference-commitment",
        "reference-contribution",
        "key-commitment",
        "key-shares",
        "second-shares",
        "key-confirmation",
    ];
    let mut all: Vec<Specimen> =
        names.into_iter().zip(rounds).map(|(name, mut round)| message(name, round.remove(1))).collect();
    let key = keys[0].public.id();
    let ring = setup.context().ring();
    let linear = ring.uniform(&mut rng(2));
    let subject = Subject { bytes: b"ciphertext", linear: &linear, key };
    let request = Request::new(setup.context(), subject, 9.0, setup.roster().parties(), [0; 32], "").unwrap();
    let ledger = SharingLedger::new(setup.context().fingerprint(), key, SharingPolicy::new(20, 4).unwrap());
    let (roster, me) = (Arc::new(setup.roster().clone()), setup.roster().party(1).unwrap());
    let (context, secret) = (setup.context().clone(), keys.remove(0).secret);
    let mut party =
        Decryptor::new(context, roster, me, secret, LedgerFile::in_memory(ledger), MemoryStore::default())
            .unwrap();
    let reviewed = party.review(&request, subject, DeclaredNoise::from_bits(10.0)).unwrap();
    let answer = party.answer(reviewed, &mut rng(3)).unwrap();
    all.push(message("decryption-answer", answer));
    all.push(message("dealt-piece", dealt()));
    all.push(message("share-confirmation", confirmed()));
    let state = kept[0].get("secret").unwrap().unwrap().to_vec();
    let (first, end) = (HEADER_LEN..HEADER_LEN + 8, state.len() - 8);
    let records = vec![first.clone(), first.end + 8..end];
    let (given, bytes) = (setup.clone(), state.clone());
    let read = move |mutant: &[u8]| {
        // The record takes the place of the one that the party kept.
        let mut store = crate::common::copy(&kept[0]);
        store.remove("secret").unwrap();
        store.put("secret", mutant, true).unwrap();
        let mut rng = rng(4);
        let round = given.begin(given.roster().party(1).unwrap(), store, &mut rng);
        let round = round.and_then(|round| round.advance(&mut rng)).map_err(|error| error.to_string())?;
        round.advance(&mut rng).map_err(|error| error.to_string())?;
        Ok(bytes.clone())
    };
    let (name, kind) = ("party-state".to_owned(), Kind::PartyState);
    all.push(Specimen { name, kind, bytes: state, records, read: Box::new(read) });
    all
}

fn specimens() -> Vec<Specimen> {
    let mut all = shares();
    all.extend(messages());
    all.extend(operations());
    all
}

#[test]
fn every_kind_of_several_parties_comes_back() {
    let all = specimens();
    let kinds: Vec<Kind> = all.iter().map(|specimen| specimen.kind).collect();
    for kind in Kind::ALL.iter().filter(|kind| kind.is_of_parties()) {
        assert!(kinds.contains(kind), "{kind}");
    }
    assert_eq!(kinds.len(), Kind::ALL.iter().filter(|kind| kind.is_of_parties()).count());
    for specimen in all {
        assert_eq!((specimen.read)(&specimen.bytes).unwrap(), specimen.bytes, "{}", specimen.name);
        for cut in [0, 20, 64, specimen.bytes.len() - 1] {
            assert!((specimen.read)(&specimen.bytes[..cut]).is_err(), "{} of {cut}", specimen.name);
        }
    }
}

/// Shares of other parameters, of other keys and of other kinds are refused by name.
#[test]
fn shares_of_other_parameters_and_kinds_are_refused_by_name() {
    let own = context(2, &gadgets()[0]);
    let others = [context(3, &gadgets()[0]), context(2, &gadgets()[1])];
    for specimen in shares() {
        let refused = |context: &RlweContext| {
            let bytes = &specimen.bytes[..];
            let texts = [
                from_bytes::<PublicKeyShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<GaloisShares, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<RelinearizationShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<RoundTwoShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<DecryptionShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<EphemeralSecret, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<ThresholdPiece, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<ThresholdShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<Request, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<RefreshShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<PublicKeySwitchShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<KeySwitchShare, _>(context, bytes).err().map(|error| error.to_string()),
                from_bytes::<OperationRequest<JointSwitch>, _>(context, bytes)
                    .err()
                    .map(|error| error.to_string()),
                from_bytes::<OperationRequest<Refresh>, _>(context, bytes)
                    .err()
                    .map(|error| error.to_string()),
                from_bytes::<OperationRequest<Switch>, _>(context, bytes)
                    .err()
                    .map(|error| error.to_string()),
                from_bytes::<OperationRequest<Additive>, _>(context, bytes)
                    .err()
                    .map(|error| error.to_string()),
            ];
            texts.into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(refused(&own).len(), 15, "{}", specimen.name);
        assert!(refused(&own).iter().all(|text| text.contains("expected a file with")));
        for other in &others {
            let texts = refused(other);
            assert_eq!(texts.len(), 16, "{}", specimen.name);
            assert!(texts.iter().any(|text| text.contains("made for other ring")), "{texts:?}");
        }
        let reader = Reader::new(&specimen.bytes[..]).unwrap();
        let other = reader.for_key(KeyId::from_bytes([1; 16]));
        assert!(matches!(other, Err(WireError::Key { .. })), "{}", specimen.name);
    }
}

fn mutate(count: usize, seed: u64) {
    let mut rng = rng(seed);
    let (mut refused, mut accepted) = (0, 0);
    for specimen in specimens() {
        // Reading the state of a party runs rounds.
        let count = if specimen.kind == Kind::PartyState { count / 50 } else { count };
        for _ in 0..count {
            let bytes = mutation::mutant(&specimen, &mut rng);
            match (specimen.read)(&bytes) {
                Err(_) => refused += 1,
                Ok(again) => {
                    accepted += 1;
                    assert!(specimen.kind == Kind::PartyState || again == bytes, "{}", specimen.name);
                }
            }
        }
    }
    assert!(refused > accepted && accepted > 0, "{refused} refused, {accepted} accepted");
}

#[test]
fn mutants_are_refused_or_come_back() {
    mutate(300, 1);
}

#[test]
#[ignore = "long: 10^6 mutants of every kind, half an hour"]
fn a_million_mutants_of_every_kind_are_refused_or_come_back() {
    mutate(1_000_000, 2);
}

/// Messages that were changed are refused by rounds and collections in which they could count, or are those of their sender.
#[test]
fn mutants_of_answers_never_panic_in_a_collection() {
    let (setup, mut rng) = (setup(2, 1), rng(6));
    let kept = stores(2);
    run_with(&setup, &kept, 1);
    let answer = messages().into_iter().find(|specimen| specimen.kind == Kind::DecryptionAnswer).unwrap();
    let roster = Arc::new(setup.roster().clone());
    let linear = setup.context().ring().uniform(&mut rng);
    let subject = Subject { bytes: b"ciphertext", linear: &linear, key: KeyId::from_bytes([2; 16]) };
    let request = Request::new(setup.context(), subject, 9.0, roster.parties(), [0; 32], "").unwrap();
    let mut collector = Collector::new(setup.context().clone(), &roster, &request).unwrap();
    let mut good = Message::read(&answer.bytes).unwrap();
    good.session = *collector.session().id();
    good.previous = good.session;
    let specimen = Specimen { bytes: good.to_bytes(), ..answer };
    let first = roster.party(1).unwrap();
    for _ in 0..2_000 {
        let bytes = mutation::mutant(&specimen, &mut rng);
        if let Err(error) = collector.accept(first, &bytes) {
            assert_eq!(error.sender(), Some("Ada"));
        }
    }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/golden/v1")
}

/// Checks files of version 1, which are never written again. `SUNZI_GOLDEN=write` adds those that are missing.
#[test]
fn files_of_version_1_are_read_for_ever() {
    // A state is read within its session alone.
    for specimen in specimens().into_iter().filter(|specimen| specimen.kind != Kind::PartyState) {
        let path = golden().join(format!("parties-{}.sz", specimen.name));
        if !path.exists() && std::env::var_os("SUNZI_GOLDEN").is_some() {
            fs::write(&path, &specimen.bytes).unwrap();
        }
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!((specimen.read)(&bytes).unwrap(), bytes, "{}", specimen.name);
    }
}
