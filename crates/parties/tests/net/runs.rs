//! Tests of whole protocols over folders and over TLS, with parties that are killed and that come late.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use sunzi_parties::dealing::DealingSetup;
use sunzi_parties::decryption::{self, Collector, Decryptor, Request, Subject};
use sunzi_parties::driver::{Driver, Transport};
use sunzi_parties::keys::{JointKeys, KeySetup};
use sunzi_parties::{FolderStore, MemoryStore, PartiesError, Roster};
use sunzi_rlwe::encryption::zero_public;
use sunzi_rlwe::joint::{ThresholdShare, combined_phase};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::to_bytes;
use sunzi_rlwe::{DeclaredNoise, LedgerFile, SharingLedger, SharingPolicy};

use crate::common::{distance, rng, setup, stores};
use crate::places::{LONG, Place, World, go_on, make_keys};

const FINISH: Duration = Duration::from_secs(60);

fn in_both_places(test: impl Fn(&World)) {
    let folder = tempfile::tempdir().unwrap();
    test(&World::new(Place::Folder(folder.path().to_owned())));
    test(&World::new(Place::Tls));
}

/// Runs one party of three in a thread each, and returns what they return.
fn together<T: Send>(party: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let party = &party;
        let running: Vec<_> = (0..3).map(|at| scope.spawn(move || party(at))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn keys_of(world: &World, setup: &KeySetup) -> Vec<JointKeys> {
    let kept = stores(3);
    together(|at| {
        let mut link = world.link(at, setup.session().id(), setup.longest_message().unwrap());
        let keys = make_keys(setup, at, &mut link, kept[at].clone(), LONG, go_on).unwrap();
        assert_eq!(link.finish(FINISH).unwrap(), []);
        keys
    })
}

fn shares_of(world: &World, setup: &KeySetup, keys: &[JointKeys], roster: &Roster) -> Vec<ThresholdShare> {
    let context = setup.context().clone();
    let dealing = DealingSetup::new(context, roster.clone(), keys[0].public.id(), [7; 32]).unwrap();
    together(|at| {
        let mut link = world.link(at, dealing.session().id(), dealing.longest_message().unwrap());
        let me = roster.party(at as u64 + 1).unwrap();
        let begun = dealing.begin(me, &keys[at].secret, MemoryStore::default(), &mut rng(at as u64));
        let mut progress = go_on;
        let share = Driver::new(&mut link, LONG, &mut progress).deal(begun.unwrap()).unwrap();
        assert_eq!(link.finish(FINISH).unwrap(), []);
        share
    })
}

/// Has the first and the third party decrypt what the first asks for, over their links.
fn decrypted_by_a_quorum(world: &World) {
    let setup = setup(3, 1);
    let keys = keys_of(world, &setup);
    assert!(keys.iter().all(|other| other.transcript == keys[0].transcript));
    let roster = Arc::new(world.contacts.roster().clone().with_threshold(2).unwrap());
    let shares = shares_of(world, &setup, &keys, &roster);
    let (context, public) = (setup.context().clone(), &keys[0].public);
    let policy = SharingPolicy::new(20, 3).unwrap();
    let zero = zero_public(&context, public, &mut rng(9)).unwrap();
    let noise = DeclaredNoise::of_own_run(&zero.noise, context.ring().expansion());
    let subject = Subject { bytes: b"file", linear: &zero.parts[1], key: public.id() };
    let quorum = [1, 3].map(|number| roster.party(number).unwrap());
    let request = Request::new(&context, subject, noise.bits(), quorum, [0; 32], "a mean").unwrap();
    let channel = decryption::channel(public.id());
    let longest = decryption::longest_message(&context).unwrap();
    let shares: Vec<_> = shares.into_iter().map(|share| std::sync::Mutex::new(Some(share))).collect();
    let opened = together(|at| {
        let me = roster.party(at as u64 + 1).unwrap();
        let ledger = SharingLedger::new(context.fingerprint(), public.id(), policy);
        let (ledger, store) = (LedgerFile::in_memory(ledger), MemoryStore::default());
        let share = shares[at].lock().unwrap().take().unwrap();
        let mut own = Decryptor::new(context.clone(), Arc::clone(&roster), me, share, ledger, store).unwrap();
        let mut link = world.link(at, &channel, longest);
        let mut progress = go_on;
        let mut refused = Vec::new();
        let mut tell = |error: &PartiesError| refused.push(error.to_string());
        if at == 0 {
            let mut collector = Collector::new(context.clone(), &roster, &request).unwrap();
            let reviewed = own.review(&request, subject, noise).unwrap();
            collector.accept(me, &own.answer(reviewed, &mut rng(1)).unwrap()).unwrap();
            let bytes = to_bytes(&context, &request).unwrap();
            let shares = Driver::new(&mut link, LONG, &mut progress).ask(&bytes, collector).unwrap();
            link.finish(FINISH).unwrap();
            return Some(shares);
        }
        let wait = if at == 1 { Duration::from_secs(5) } else { LONG };
        let asker = Driver::new(&mut link, wait, &mut progress).telling(&mut tell).answer(
            &mut own,
            |own, from, request: &Request| {
                assert_eq!((from.number(), request.description()), (1, "a mean"));
                let reviewed = own.review(request, subject, noise)?;
                own.answer(reviewed, &mut rng(at as u64)).map(Some)
            },
        );
        assert_eq!(asker.unwrap().map(|asker| asker.number()), (at == 2).then_some(1));
        // The second party is not asked, and says so to itself alone.
        assert_eq!(refused.iter().filter(|text| text.contains("the request is refused")).count(), 2 - at);
        link.finish(FINISH).unwrap();
        None
    });
    let shares: Vec<_> = opened.into_iter().flatten().flatten().collect();
    let quorum = request.quorum(&roster).unwrap();
    let phase = combined_phase(&context, &zero.parts[0], quorum.as_ref(), &shares).unwrap();
    let phase = context.ring().to_integers(&phase).unwrap();
    let error = distance(&phase, &vec![num_bigint::BigInt::ZERO; phase.len()], context.ring().modulus());
    let flooding = Flooding::new(policy, noise, context.ring().degree()).unwrap();
    assert!(error <= flooding.bound_of(2).bits() + 1.0, "{error}");
}

#[test]
fn a_quorum_decrypts_with_keys_and_shares_made_through_a_folder_and_over_tls() {
    in_both_places(decrypted_by_a_quorum);
}

/// Kills the second party in each round, after it received so many messages, and begins it again with its records and a new link.
fn killed_in_each_round(world: &World, records: &Path, received: usize) {
    let setup = setup(3, received as u8);
    let (channel, longest) = (*setup.session().id(), setup.longest_message().unwrap());
    let kept = stores(3);
    let keys = together(|at| {
        if at != 1 {
            let mut link = world.link(at, &channel, longest);
            let keys = make_keys(&setup, at, &mut link, kept[at].clone(), LONG, go_on).unwrap();
            assert_eq!(link.finish(FINISH).unwrap(), []);
            return keys;
        }
        for round in 1..=6_u64 {
            let stop = |progress: sunzi_parties::driver::Progress| {
                let here = progress.step.round() == round && progress.received >= received;
                if here { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let store = FolderStore::open(records).unwrap();
            let mut link = world.link(at, &channel, longest);
            let ended = make_keys(&setup, at, &mut link, store, LONG, stop);
            assert!(matches!(ended, Err(PartiesError::Stopped)), "round {round}");
        }
        let store = FolderStore::open(records).unwrap();
        let mut link = world.link(at, &channel, longest);
        let keys = make_keys(&setup, at, &mut link, store, LONG, go_on).unwrap();
        assert_eq!(link.finish(FINISH).unwrap(), []);
        keys
    });
    assert!(keys.iter().all(|other| other.transcript == keys[0].transcript));
}

#[test]
fn a_party_killed_in_each_round_ends_with_the_same_keys() {
    for received in [1, 2] {
        in_both_places(|world| {
            let records = tempfile::tempdir().unwrap();
            killed_in_each_round(world, &records.path().join("records"), received);
        });
    }
}

/// A folder does not grow when parties begin again: the same messages are the same files.
#[test]
fn a_run_from_records_alone_writes_no_file_twice() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(Place::Folder(folder.path().to_owned()));
    let setup = setup(3, 1);
    let (channel, longest) = (*setup.session().id(), setup.longest_message().unwrap());
    let kept = stores(3);
    let names = || {
        let mut names: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let run = || {
        together(|at| {
            let mut link = world.link(at, &channel, longest);
            make_keys(&setup, at, &mut link, kept[at].clone(), LONG, go_on).unwrap().transcript
        })
    };
    let first = run();
    let written = names();
    assert_eq!(written.len(), 3 * 6);
    assert_eq!((run(), names()), (first, written));
}

/// The third party comes late: the others end and name it, and go on when it is there.
fn late(world: &World) {
    let setup = setup(3, 9);
    let (channel, longest) = (*setup.session().id(), setup.longest_message().unwrap());
    let (kept, barrier) = (stores(3), Barrier::new(3));
    let keys = together(|at| {
        if at < 2 {
            let mut link = world.link(at, &channel, longest);
            let short = Duration::from_secs(1);
            let ended = make_keys(&setup, at, &mut link, kept[at].clone(), short, go_on);
            let text = ended.err().unwrap().to_string();
            assert!(text.contains("nothing came from") && text.contains("Cy"), "{text}");
        }
        barrier.wait();
        let mut link = world.link(at, &channel, longest);
        let keys = make_keys(&setup, at, &mut link, kept[at].clone(), LONG, go_on).unwrap();
        assert_eq!(link.finish(FINISH).unwrap(), []);
        keys.transcript
    });
    assert!(keys.iter().all(|other| *other == keys[0]));
}

#[test]
fn others_name_a_late_party_and_go_on_when_it_comes() {
    in_both_places(late);
}
