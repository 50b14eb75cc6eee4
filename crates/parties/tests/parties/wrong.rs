//! Tests that every wrong message is refused by an error that names its sender.

use chacha20::ChaCha20Rng;
use sunzi_parties::keys::{
    AfterShares, Committing, CommittingShares, Confirming, KeySetup, Revealing, SecondSharing, Sharing,
};
use sunzi_parties::{Fault, MemoryStore, Message, PartiesError, Party, Receipt, Round, Stage, Step};
use sunzi_rlwe::wire::{Fingerprint, Kind, to_bytes};

use crate::common::{copy, exchange, rng, run_with, setup, stores};

type Open<G> = Round<MemoryStore, G>;

fn first(setup: &KeySetup, store: &MemoryStore) -> Open<Committing> {
    setup.begin(setup.roster().party(1).unwrap(), copy(store), &mut rng(99)).unwrap()
}

fn second(setup: &KeySetup, store: &MemoryStore) -> Open<Revealing> {
    first(setup, store).advance(&mut rng(99)).unwrap()
}

fn third(setup: &KeySetup, store: &MemoryStore) -> Open<CommittingShares> {
    second(setup, store).advance(&mut rng(99)).unwrap()
}

fn fourth(setup: &KeySetup, store: &MemoryStore) -> Open<Sharing> {
    third(setup, store).advance(&mut rng(99)).unwrap()
}

fn fifth(setup: &KeySetup, store: &MemoryStore) -> Open<SecondSharing> {
    match fourth(setup, store).advance(&mut rng(99)).unwrap() {
        AfterShares::Second(round) => round,
        AfterShares::Confirm(_) => panic!("the plan has a relinearisation key"),
    }
}

fn sixth(setup: &KeySetup, store: &MemoryStore) -> Open<Confirming> {
    fifth(setup, store).advance(&mut rng(99)).unwrap()
}

/// A session of three, the records of its first party at the beginning of every round, and all messages by round and party.
struct Session {
    setup: KeySetup,
    records: Vec<MemoryStore>,
    messages: Vec<Vec<Vec<u8>>>,
}

fn session(nonce: u8) -> Session {
    let setup = setup(3, nonce);
    let all = stores(3);
    let (_, messages) = run_with(&setup, &all, u64::from(nonce));
    // What the first party had kept when a round began.
    let before = |round: usize| {
        let kept = copy(&all[0]);
        let mut records = MemoryStore::default();
        for name in kept.names() {
            let number = name.split('-').next().and_then(|number| number.parse::<usize>().ok());
            let is_there =
                number.is_none_or(|number| number < round || (number == round && name.ends_with("sent")));
            // The shares that round 3 needs are in the message of round 4 once that was sent.
            if is_there || (round == 3 && name == "4-sent") {
                let bytes = sunzi_parties::Store::get(&kept, &name).unwrap().unwrap();
                sunzi_parties::Store::put(&mut records, &name, &bytes, true).unwrap();
            }
        }
        records
    };
    Session { records: (1..=6).map(before).collect(), setup, messages }
}

fn refused<G: Stage>(round: &mut Open<G>, from: Party, bytes: &[u8], what: &str) -> PartiesError {
    let error = round.accept(from, bytes).err().unwrap_or_else(|| panic!("{what} is taken"));
    let name = round.session().roster().name(from).to_owned();
    assert_eq!(error.sender(), Some(&*name), "{what}: {error}");
    assert!(error.to_string().contains(&name), "{what}: {error}");
    error
}

/// Checks all wrong messages for one round, which `open` opens anew.
fn check<G: Stage>(session: &Session, foreign: &Session, open: impl Fn() -> Open<G>) {
    let (number, bo) = (G::STEP.round() as usize, session.setup.roster().party(2).unwrap());
    check_round((bo, &session.messages[number - 1][1]), &foreign.messages, &open);
    let mut round = open();
    round.accept(bo, &session.messages[number - 1][1]).unwrap();
    for earlier in &session.messages[..number] {
        assert_eq!(round.accept(bo, &earlier[1]).unwrap(), Receipt::Repeated);
    }
}

/// Checks all wrong messages that may come in place of one of Bo, in a session of Ada, Bo and Cy in which messages of Ada are there. `foreign` has messages of another session by round and party.
pub(crate) fn check_round<G: Stage>(
    (bo, bytes): (Party, &[u8]),
    foreign: &[Vec<Vec<u8>>],
    open: &impl Fn() -> Open<G>,
) {
    let good = Message::read(bytes).unwrap();
    let mut round = open();
    assert_eq!(round.missing().iter().map(|party| party.number()).collect::<Vec<_>>(), [2, 3]);
    check_kinds(&good, bo, open);
    check_envelopes(&good, bo, foreign, &mut round);
    check_histories(&good, bo, open);
    // After all of that the right messages are taken, each once.
    assert_eq!(round.accept(bo, bytes).unwrap(), Receipt::Accepted);
    assert_eq!(round.accept(bo, bytes).unwrap(), Receipt::Repeated);
    assert!(
        matches!(round.check_complete(), Err(PartiesError::Missing { parties, .. }) if parties == ["Cy"])
    );
}

fn what<G: Stage>(words: &str) -> String {
    format!("{}, {words}", G::STEP)
}

/// Kinds: those of other objects, and those of other rounds with and without their number.
fn check_kinds<G: Stage>(good: &Message, bo: Party, open: &impl Fn() -> Open<G>) {
    let (mut round, number) = (open(), G::STEP.round());
    for &kind in Kind::ALL.iter().filter(|kind| **kind != G::STEP.kind()) {
        let other = Message { kind: kind as u16, ..good.clone() };
        let error = refused(&mut round, bo, &other.to_bytes(), &what::<G>(&kind.to_string()));
        assert!(matches!(error.fault(), Some(Fault::Kind { .. })), "{error}");
    }
    for step in Step::ALL {
        for other in 0..8 {
            let forged = Message { kind: step.kind() as u16, round: other, ..good.clone() };
            let refused = |words| refused(&mut open(), bo, &forged.to_bytes(), &what::<G>(words));
            // Kinds of key generation and of dealings have numbers of their own.
            let protocols = [0x0E11..=0x0E16, 0x0E17..=0x0E18];
            let own = protocols.iter().find(|kinds| kinds.contains(&(G::STEP.kind() as u16)));
            let is_of_protocol = own.is_some_and(|kinds| kinds.contains(&(step.kind() as u16)));
            if step == G::STEP && other == number {
                assert_eq!(forged, *good);
            } else if step.round() != other || !is_of_protocol {
                let error = refused("kind and round");
                assert!(matches!(error.fault(), Some(Fault::Kind { .. })), "{error}");
            } else if other < number {
                let error = refused("late");
                assert!(matches!(error.fault(), Some(Fault::Conflict { .. })), "{error}");
            } else if other > number + 1 {
                let error = refused("early");
                assert!(matches!(error.fault(), Some(Fault::Early { .. })), "{error}");
            }
        }
    }
}

/// Senders, sessions, parameters, lengths: the round goes on.
fn check_envelopes<G: Stage>(good: &Message, bo: Party, foreign: &[Vec<Vec<u8>>], round: &mut Open<G>) {
    for sender in [0, 1, 3, 4, u64::MAX] {
        let error = refused(round, bo, &Message { sender, ..good.clone() }.to_bytes(), &what::<G>("sender"));
        match error.fault() {
            Some(Fault::OtherSender { claimed }) => assert!(["Ada", "Cy"].contains(&&**claimed)),
            Some(Fault::UnknownSender { got }) => assert_eq!(*got, sender),
            _ => panic!("{error}"),
        }
    }
    for other in foreign {
        let error = refused(round, bo, &other[1], &what::<G>("another session"));
        assert!(matches!(error.fault(), Some(Fault::Session { .. })), "{error}");
    }
    for parameters in [Fingerprint::default(), Fingerprint { scheme: [1; 8], ..good.parameters }] {
        let other = Message { parameters, ..good.clone() };
        let error = refused(round, bo, &other.to_bytes(), &what::<G>("parameters"));
        assert!(matches!(error.fault(), Some(Fault::Parameters(_))), "{error}");
    }
    let bytes = good.to_bytes();
    let longer = [&bytes[..], &[0]].concat();
    let cuts = [0, 8, 63, 64, 100, bytes.len() - 1].map(|cut| &bytes[..cut]);
    for damaged in cuts.into_iter().chain([&longer[..]]) {
        let error = refused(round, bo, damaged, &what::<G>("damaged"));
        assert!(matches!(error.fault(), Some(Fault::Malformed(_))), "{error}");
    }
    let long = Message { content: vec![7; 1 << 20], ..good.clone() };
    let error = refused(round, bo, &long.to_bytes(), &what::<G>("long"));
    assert!(matches!(error.fault(), Some(Fault::Length { .. })), "{error}");
}

/// Another history, another content, and content of no sense: all of them end the session.
fn check_histories<G: Stage>(good: &Message, bo: Party, open: &impl Fn() -> Open<G>) {
    let mut flipped = good.content.clone();
    flipped[0] ^= 1;
    let mut forged = vec![
        Message { previous: [5; 32], ..good.clone() },
        Message { content: good.content[1..].to_vec(), ..good.clone() },
    ];
    // A commitment to something else is a commitment.
    if ![Step::Commit, Step::CommitShares].contains(&G::STEP) {
        forged.push(Message { content: flipped, ..good.clone() });
    }
    for other in forged {
        let mut round = open();
        let error = refused(&mut round, bo, &other.to_bytes(), &what::<G>("content"));
        assert!(error.is_fatal(), "{error}");
        assert!(matches!(round.accept(bo, &good.to_bytes()), Err(PartiesError::Aborted { .. })));
    }
}

#[test]
fn every_wrong_message_of_every_round_is_refused_by_name() {
    let (session, foreign) = (session(1), session(2));
    let (setup, records) = (&session.setup, &session.records);
    check(&session, &foreign, || first(setup, &records[0]));
    check(&session, &foreign, || second(setup, &records[1]));
    check(&session, &foreign, || third(setup, &records[2]));
    check(&session, &foreign, || fourth(setup, &records[3]));
    check(&session, &foreign, || fifth(setup, &records[4]));
    check(&session, &foreign, || sixth(setup, &records[5]));
}

#[test]
fn messages_of_the_next_round_are_kept_until_it_begins() {
    let session = session(1);
    let [bo, cy] = [2, 3].map(|number| session.setup.roster().party(number).unwrap());
    let mut round = third(&session.setup, &session.records[2]);
    assert_eq!(round.accept(bo, &session.messages[2][1]).unwrap(), Receipt::Accepted);
    assert_eq!(round.accept(bo, &session.messages[3][1]).unwrap(), Receipt::Kept);
    assert_eq!(round.accept(bo, &session.messages[3][1]).unwrap(), Receipt::Repeated);
    assert_eq!(round.accept(cy, &session.messages[2][2]).unwrap(), Receipt::Accepted);
    let round = round.advance(&mut rng(1)).unwrap();
    assert_eq!(round.missing(), [cy]);
    let sent = round.messages_so_far().unwrap();
    assert!(sent.iter().map(|message| &**message).eq(session.messages[..4].iter().map(|round| &round[0])));
}

#[test]
fn a_party_that_tells_two_things_is_found_out() {
    let setup = setup(3, 1);
    let mut rng = rng(5);
    let ids: Vec<Party> = setup.roster().parties().collect();
    let begin = |party, rng: &mut ChaCha20Rng| setup.begin(party, MemoryStore::default(), rng).unwrap();
    let mut ada = begin(ids[0], &mut rng);
    let mut cy = begin(ids[2], &mut rng);
    // Bo has two records, and tells each to another party.
    let (one, two) = (begin(ids[1], &mut rng), begin(ids[1], &mut rng));
    ada.accept(ids[1], one.message()).unwrap();
    let error = refused(&mut begin(ids[0], &mut rng), ids[1], &one.message()[1..], "damaged");
    assert!(!error.is_fatal());
    cy.accept(ids[1], two.message()).unwrap();
    let (a, c) = (ada.message().to_vec(), cy.message().to_vec());
    ada.accept(ids[2], &c).unwrap();
    cy.accept(ids[0], &a).unwrap();
    // Whoever gets both sees it at once.
    let mut both = begin(ids[0], &mut rng);
    both.accept(ids[1], one.message()).unwrap();
    let error = refused(&mut both, ids[1], two.message(), "the other one");
    assert!(matches!(error.fault(), Some(Fault::Conflict { .. })), "{error}");
    // The others see it in the next round.
    let mut ada = ada.advance(&mut rng).unwrap();
    let cy = cy.advance(&mut rng).unwrap();
    let error = refused(&mut ada, ids[2], cy.message(), "of another history");
    assert!(matches!(error.fault(), Some(Fault::Diverged { .. })), "{error}");
    assert!(error.is_fatal());
}

#[test]
fn a_session_that_was_given_up_is_never_gone_on_with() {
    let setup = setup(3, 1);
    let all = stores(3);
    let mut rng = rng(5);
    let begun =
        setup.roster().parties().zip(&all).map(|(me, store)| setup.begin(me, store.clone(), &mut rng));
    let mut rounds: Vec<_> = begun.map(Result::unwrap).collect();
    exchange(&mut rounds);
    let mut rounds: Vec<_> = rounds.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    exchange(&mut rounds);
    let mut rounds: Vec<_> = rounds.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    assert!(all[0].names().iter().any(|name| name == "secret"));
    let from = rounds[1].me();
    let mut forged = Message::read(rounds[1].message()).unwrap();
    forged.previous = [0; 32];
    assert!(rounds[0].accept(from, &forged.to_bytes()).unwrap_err().is_fatal());
    let kept = all[0].names();
    assert!(
        ["secret", "ephemeral", "shares", "contribution"].iter().all(|name| !kept.iter().any(|n| n == name))
    );
    let again = setup.begin(setup.roster().party(1).unwrap(), all[0].clone(), &mut rng).err().unwrap();
    assert!(matches!(&again, PartiesError::Aborted { reason } if reason.contains("Bo")), "{again}");
    let gone = rounds.remove(0);
    assert!(matches!(gone.advance(&mut rng), Err(PartiesError::Aborted { .. })));
    rounds.remove(0).abort("asked to").unwrap();
    let again = setup.begin(setup.roster().party(2).unwrap(), all[1].clone(), &mut rng).err().unwrap();
    assert!(again.to_string().contains("asked to"), "{again}");
    // Records are those of one session and one party.
    let other = crate::common::setup(3, 2).begin(setup.roster().party(3).unwrap(), all[2].clone(), &mut rng);
    assert!(matches!(other, Err(PartiesError::Journal { .. })));
    let other = setup.begin(setup.roster().party(1).unwrap(), all[2].clone(), &mut rng);
    assert!(matches!(other, Err(PartiesError::Journal { .. })));
}

/// Keys that a party made otherwise are found out by the last round, even where all messages were equal.
#[test]
fn other_keys_are_found_out() {
    let session = session(1);
    let mut round = sixth(&session.setup, &session.records[5]);
    let bo = session.setup.roster().party(2).unwrap();
    let mut forged = Message::read(&session.messages[5][1]).unwrap();
    forged.content[31] ^= 1;
    let error = refused(&mut round, bo, &forged.to_bytes(), "other keys");
    assert!(matches!(error.fault(), Some(Fault::Keys { .. })), "{error}");
    // Nobody can repeat the confirmation of another.
    let mut round = sixth(&session.setup, &session.records[5]);
    let copied = Message::read(&session.messages[5][2]).unwrap().content;
    forged.content = copied;
    assert!(round.accept(bo, &forged.to_bytes()).is_err());
}

/// Shares that were committed to, and are none of this session, are refused too.
#[test]
fn committed_shares_of_another_plan_are_refused() {
    let setup = setup(2, 1);
    let store = stores(2);
    let (keys, _) = run_with(&setup, &store, 4);
    // A party that follows the protocol for the wrong content: it commits to its public key alone.
    let content = to_bytes(setup.context(), &keys[0].public).unwrap();
    assert!(!content.is_empty());
    let mut rng = rng(8);
    let ids: Vec<Party> = setup.roster().parties().collect();
    let begun = ids.iter().map(|me| setup.begin(*me, MemoryStore::default(), &mut rng));
    let mut rounds: Vec<_> = begun.map(Result::unwrap).collect();
    exchange(&mut rounds);
    let mut rounds: Vec<_> = rounds.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    exchange(&mut rounds);
    let mut rounds: Vec<_> = rounds.into_iter().map(|round| round.advance(&mut rng).unwrap()).collect();
    let mut commitment = Message::read(rounds[1].message()).unwrap();
    let parts =
        [&b"sunzi commitment to shares of keys"[..], setup.session().id(), &2_u32.to_le_bytes(), &content];
    commitment.content = crate::common::hash(&parts);
    let (own, mut ada) = (rounds[0].message().to_vec(), rounds.remove(0));
    ada.accept(ids[1], &commitment.to_bytes()).unwrap();
    drop(own);
    let mut ada = ada.advance(&mut rng).unwrap();
    let previous = Message::read(ada.message()).unwrap().previous;
    let message = Message { kind: Step::Shares.kind() as u16, round: 4, previous, content, ..commitment };
    let error = refused(&mut ada, ids[1], &message.to_bytes(), "shares of another plan");
    assert!(matches!(error.fault(), Some(Fault::Content(_))), "{error}");
}
