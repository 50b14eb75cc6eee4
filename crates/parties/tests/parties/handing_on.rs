//! Tests of handing a joint secret on: parties join and leave, and old shares become worthless.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sunzi_parties::dealing::{Dealing, HandingOnSetup};
use sunzi_parties::decryption::Decryptor;
use sunzi_parties::driver::Driver;
use sunzi_parties::driver::channels::links;
use sunzi_parties::{Fault, MemoryStore, Message, PartiesError, Party, Receipt, Roster, Store};
use sunzi_rlwe::joint::{Quorum, ThresholdShare};
use sunzi_rlwe::wire::to_bytes;

use crate::common::{copy, exchange, rng, stores};
use crate::threshold::{World, Zero};
use crate::wrong::check_round;

/// Parties by name with their shares, and the roster that they are of.
struct Holders {
    roster: Arc<Roster>,
    shares: Vec<ThresholdShare>,
}

impl Holders {
    fn of(world: &World) -> Self {
        let shares = world.deal(&stores(world.roster.len() as u32));
        Self { roster: Arc::new(world.roster.clone()), shares }
    }

    fn setup(&self, zero: &Zero, dealers: &[&str], names: &[&str], threshold: usize) -> HandingOnSetup {
        let to = Roster::new(names.iter().copied()).unwrap().with_threshold(threshold).unwrap();
        let dealers: Vec<Party> = dealers.iter().map(|name| self.roster.named(name).unwrap()).collect();
        let key = self.shares[0].key();
        HandingOnSetup::new(zero.context.clone(), (&self.roster, &dealers), to, key, [5; 32]).unwrap()
    }

    /// The share of a party of the session that deals.
    fn share(&self, setup: &HandingOnSetup, dealers: &[&str], me: Party) -> Option<&ThresholdShare> {
        let name = setup.session().roster().name(me);
        let found = self.roster.named(name).ok().filter(|_| dealers.contains(&name))?;
        Some(&self.shares[found.number() as usize - 1])
    }

    fn begin(
        &self,
        setup: &HandingOnSetup,
        dealers: &[&str],
        stores: &[MemoryStore],
    ) -> Vec<Dealing<MemoryStore>> {
        let begin = |(me, store): (Party, &MemoryStore)| {
            let seed = 70 + u64::from(me.number());
            setup.begin(me, self.share(setup, dealers, me), store.clone(), &mut rng(seed)).unwrap()
        };
        setup.session().roster().parties().zip(stores).map(begin).collect()
    }

    fn hand_on(&self, setup: &HandingOnSetup, dealers: &[&str], stores: &[MemoryStore]) -> Self {
        let mut dealings = self.begin(setup, dealers, stores);
        dealt(&mut dealings);
        let mut rounds: Vec<_> = dealings.into_iter().map(|one| one.confirm().unwrap()).collect();
        exchange(&mut rounds);
        let shares = rounds.into_iter().filter_map(|round| round.advance().unwrap());
        Self { roster: Arc::clone(setup.roster()), shares: shares.collect() }
    }

    fn decryptors(self, zero: &Zero) -> Vec<Decryptor<MemoryStore>> {
        let Self { roster, shares } = self;
        let made = roster.parties().zip(shares);
        made.map(|held| zero.decryptor(&roster, held, (zero.ledger(), MemoryStore::default()))).collect()
    }
}

#[test]
fn parties_join_and_leave_and_keys_stay() {
    let world = World::new(2, 3);
    let (zero, first) = (Zero::new(&world), Holders::of(&world));
    // Ada deals and leaves, Cy deals and stays, Bo stays, Di and Ed join; three of four decrypt.
    let dealers = ["Cy", "Ada"];
    let setup = first.setup(&zero, &dealers, &["Di", "Cy", "Ed", "Bo"], 3);
    let named: Vec<_> = setup.session().roster().names().map(str::to_owned).collect();
    assert_eq!(named, ["Di", "Cy", "Ed", "Bo", "Ada"]);
    let second = first.hand_on(&setup, &dealers, &stores(5));
    // They hand it on once more, to two who both decrypt.
    let dealers = ["Di", "Ed", "Bo"];
    let again = second.setup(&zero, &dealers, &["Bo", "Fay"], 2);
    let third = second.hand_on(&again, &dealers, &stores(4));
    let mut second = second.decryptors(&zero);
    for numbers in [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]] {
        zero.opens(&mut second, &numbers);
    }
    let mut third = third.decryptors(&zero);
    zero.opens(&mut third, &[1, 2]);
    // A request of the parties of before is none of those who came after them.
    let request = zero.request(first.roster.as_ref(), &[1, 2]);
    let sessions = [&first.roster, second[0].roster(), third[0].roster()];
    let sessions = sessions.map(|roster| *request.session(&zero.context, roster).unwrap().id());
    assert!(sessions[0] != sessions[1] && sessions[1] != sessions[2] && sessions[0] != sessions[2]);
}

/// An old share beside new ones opens nothing, nor does a new one beside old ones: as many as the threshold of one kind are needed.
#[test]
fn old_shares_become_worthless() {
    let world = World::new(2, 3);
    let (zero, old) = (Zero::new(&world), Holders::of(&world));
    let dealers = ["Ada", "Bo"];
    // The same parties with the same numbers: Cy has the most to gain from a share that it kept.
    let setup = old.setup(&zero, &dealers, &["Ada", "Bo", "Cy"], 2);
    let new = old.hand_on(&setup, &dealers, &stores(3));
    let quorum = Quorum::new(2, 3, &[1, 3]).unwrap();
    let error = |ada: &ThresholdShare, cy: &ThresholdShare| {
        zero.error(Some(&quorum), &[zero.share(ada, &quorum), zero.share(cy, &quorum)])
    };
    let modulus = zero.context.log2_modulus();
    assert!(error(&new.shares[0], &old.shares[2]) > modulus - 3.0);
    assert!(error(&old.shares[0], &new.shares[2]) > modulus - 3.0);
    assert!(error(&new.shares[0], &new.shares[2]) < modulus - 40.0);
    // What is left of the old ones, if two did not erase theirs.
    assert!(error(&old.shares[0], &old.shares[2]) < modulus - 40.0);
}

/// Shares that were given before are kept under the parties of before: beside new ones they would open nothing.
#[test]
fn shares_of_before_are_not_given_again() {
    let world = World::new(2, 3);
    let (zero, old) = (Zero::new(&world), Holders::of(&world));
    let setup = old.setup(&zero, &["Ada", "Bo"], &["Ada", "Bo", "Cy"], 2);
    let new = old.hand_on(&setup, &["Ada", "Bo"], &stores(3));
    let kept = stores(3);
    let with = |holders: Holders| {
        let Holders { roster, shares } = holders;
        let made = roster.parties().zip(shares).zip(&kept);
        let mut decryptors: Vec<_> =
            made.map(|(held, store)| zero.decryptor(&roster, held, (zero.ledger(), store.clone()))).collect();
        zero.opens(&mut decryptors, &[1, 2]);
        zero.opens(&mut decryptors, &[1, 2]);
        decryptors[0].ledger().ledger().used()
    };
    // Each counts its own share, once.
    assert_eq!(with(old), 1);
    assert_eq!(with(new), 1);
}

#[test]
fn a_dealer_begins_again_without_its_share() {
    let world = World::new(2, 3);
    let (zero, first) = (Zero::new(&world), Holders::of(&world));
    let dealers = ["Ada", "Bo"];
    let setup = first.setup(&zero, &dealers, &["Di", "Bo", "Cy"], 2);
    let kept = stores(4);
    let shares = first.hand_on(&setup, &dealers, &kept).shares;
    // All begin again from what they kept, none with a share of before.
    for ((me, store), share) in setup.session().roster().parties().zip(&kept).zip(&shares) {
        let again = setup.begin(me, None, copy(store), &mut rng(99)).unwrap().finish().unwrap();
        assert_eq!(to_bytes(&zero.context, &again).unwrap(), to_bytes(&zero.context, share).unwrap());
    }
    let leaver = setup.session().roster().named("Ada").unwrap();
    let again = setup.begin(leaver, None, copy(&kept[3]), &mut rng(99)).unwrap();
    assert!(!again.gets_share() && again.missing().is_empty() && again.messages().count() == 0);
    let error = again.finish().err().unwrap().to_string();
    assert!(error.contains("Di, Bo, Cy") && error.contains("Ada"), "{error}");
    // With its share of before it draws no other pieces either: those that the others have are the first ones.
    let bo = setup.session().roster().named("Bo").unwrap();
    let store = copy(&kept[1]);
    let again = setup.begin(bo, Some(&first.shares[1]), store.clone(), &mut rng(99)).unwrap();
    assert!(again.messages().count() == 0 && store.get("pieces").unwrap().is_none());
    let again = again.finish().unwrap();
    assert_eq!(to_bytes(&zero.context, &again).unwrap(), to_bytes(&zero.context, &shares[1]).unwrap());
    // What the shares of before follow from is gone from all records.
    assert!(kept.iter().all(|store| store.get("pieces").unwrap().is_none()));
}

/// A party that stops before it saw all confirmations has all it takes to go on; until then nobody has a share, and all pieces stay where they were dealt.
#[test]
fn shares_of_before_stay_until_all_confirmed() {
    let world = World::new(2, 3);
    let (zero, first) = (Zero::new(&world), Holders::of(&world));
    let dealers = ["Ada", "Bo"];
    let setup = first.setup(&zero, &dealers, &["Di", "Bo", "Cy"], 2);
    let kept = stores(4);
    let mut dealings = first.begin(&setup, &dealers, &kept);
    let (di, bo, ada) = (0, 1, 3);
    let parties: Vec<Party> = setup.session().roster().parties().collect();
    let piece = |dealings: &[Dealing<MemoryStore>], from: usize, to: usize| {
        dealings[from].message_for(parties[to]).unwrap().to_vec()
    };
    // Di lacks a piece of Bo, whom it names, and confirms nothing.
    let from_ada = piece(&dealings, ada, di);
    dealings[di].accept(parties[ada], &from_ada).unwrap();
    let error = dealings.remove(di).confirm().err().unwrap();
    assert!(
        matches!(&error, PartiesError::Missing { parties, .. } if parties == &["Bo".to_owned()]),
        "{error}"
    );
    // It begins again, gets what it lacks, and a confirmation that comes early is told by its round.
    let mut again = setup.begin(parties[di], None, kept[di].clone(), &mut rng(1)).unwrap();
    let leaving = dealings.pop().unwrap().confirm().unwrap();
    let early = again.accept(parties[ada], leaving.message()).unwrap_err();
    assert!(matches!(early.fault(), Some(Fault::Early { .. })), "{early}");
    let from_bo = dealings[0].message_for(parties[di]).unwrap().to_vec();
    again.accept(parties[bo], &from_bo).unwrap();
    let mut round = again.confirm().unwrap();
    // A piece that comes again is no confirmation, and does no harm; a confirmation of somebody else ends the session.
    assert_eq!(round.accept(parties[bo], &from_bo).unwrap(), Receipt::Repeated);
    assert_eq!(round.accept(parties[ada], leaving.message()).unwrap(), Receipt::Accepted);
    let error = round.check_complete().unwrap_err().to_string();
    assert!(error.contains("Bo, Cy") && error.contains("a confirmation of a share"), "{error}");
    assert!(round.advance().is_err());
    assert!(kept[bo].get("pieces").unwrap().is_some() && kept[ada].get("pieces").unwrap().is_some());
    let dealt = setup.begin(parties[di], None, copy(&kept[di]), &mut rng(1)).unwrap();
    let mut round = dealt.confirm().unwrap();
    let message = Message::read(leaving.message()).unwrap();
    let copied = Message { sender: 2, ..message }.to_bytes();
    let error = round.accept(parties[bo], &copied).unwrap_err();
    assert!(error.is_fatal() && error.to_string().contains("Bo"), "{error}");
    assert!(setup.begin(parties[di], None, kept[di].clone(), &mut rng(1)).is_ok());
}

/// Drivers hand a secret on over channels: each who stays or joins gets its share, and the one that leaves gets none.
#[test]
fn a_secret_is_handed_on_through_channels() {
    let world = World::new(2, 3);
    let (zero, first) = (Zero::new(&world), Holders::of(&world));
    let dealers = ["Ada", "Bo"];
    let setup = first.setup(&zero, &dealers, &["Di", "Bo", "Cy"], 2);
    let dealings = first.begin(&setup, &dealers, &stores(4));
    let shares: Vec<Option<ThresholdShare>> = thread::scope(|scope| {
        let run = |(mut link, dealing)| {
            scope.spawn(move || {
                let mut progress = |_| ControlFlow::Continue(());
                Driver::new(&mut link, Duration::from_secs(60), &mut progress).hand_on(dealing).unwrap()
            })
        };
        let running: Vec<_> = links(setup.session().roster()).into_iter().zip(dealings).map(run).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(shares[3].is_none());
    let shares: Vec<ThresholdShare> = shares.into_iter().flatten().collect();
    let mut decryptors = Holders { roster: Arc::clone(setup.roster()), shares }.decryptors(&zero);
    for numbers in [[1, 2], [1, 3], [2, 3]] {
        zero.opens(&mut decryptors, &numbers);
    }
}

#[test]
fn what_cannot_be_handed_on_is_refused_by_name() {
    let world = World::new(2, 3);
    let (zero, first) = (Zero::new(&world), Holders::of(&world));
    let key = first.shares[0].key();
    let party = |number| first.roster.party(number).unwrap();
    let to = || Roster::new(["Di", "Bo"]).unwrap();
    let refused = |from: &Roster, dealers: &[Party]| {
        let made = HandingOnSetup::new(zero.context.clone(), (from, dealers), to(), key, [5; 32]);
        match made.err() {
            Some(PartiesError::Setting { what, expected, got }) => format!("{what}: {expected}, {got}"),
            other => panic!("{other:?}"),
        }
    };
    let what = "the parties that hand on";
    assert_eq!(refused(&first.roster, &[party(1)]), format!("{what}: 2 of 3, [1]"));
    assert_eq!(refused(&first.roster, &[party(1), party(1)]), format!("{what}: 2 of 3, [1, 1]"));
    assert!(refused(world.setup.roster(), &[party(1), party(2)]).contains("a roster with a threshold"));
    let other = Roster::new(["Ada", "Bo", "Cy", "Di"]).unwrap().with_threshold(2).unwrap();
    assert!(refused(&other, &[party(1), party(2)]).contains("the parties of the parameters"));
    // Parameters have room for the flooding noise of as many parties as made the key.
    let many = Roster::new(["Ada", "Bo", "Cy", "Di"]).unwrap();
    let dealers = [party(1), party(2)];
    let made = HandingOnSetup::new(zero.context.clone(), (&first.roster, &dealers), many, key, [5; 32]);
    let error = made.err().unwrap().to_string();
    assert!(error.contains("at most 3, whose noise the parameters have room for"), "{error}");
    // Shares of others, of parties that deal nothing, and none where one is needed.
    let setup = first.setup(&zero, &["Ada", "Bo"], &["Di", "Bo"], 2);
    let member = |name: &str| setup.session().roster().named(name).unwrap();
    let begin = |name, share| setup.begin(member(name), share, MemoryStore::default(), &mut rng(1)).err();
    let said = |name, share| begin(name, share).unwrap().to_string();
    assert!(said("Bo", Some(&first.shares[0])).contains("that of party 2"));
    assert!(said("Bo", None).contains("records of this session"));
    assert!(said("Di", Some(&first.shares[2])).contains("it is not asked to"));
    assert!(begin("Di", None).is_none());
}

/// A party that is ahead confirms while another one still waits for pieces: also one that deals nothing, of which no piece is awaited.
#[test]
fn confirmations_that_come_before_pieces_are_told_by_their_round() {
    let world = World::new(2, 3);
    let (zero, first) = (Zero::new(&world), Holders::of(&world));
    let dealers = ["Ada", "Bo"];
    let setup = first.setup(&zero, &dealers, &["Di", "Bo", "Cy"], 2);
    let late = first.begin(&setup, &dealers, &stores(4)).remove(0);
    let mut dealings = first.begin(&setup, &dealers, &stores(4));
    dealt(&mut dealings);
    let mut late = late;
    for (from, dealing) in setup.session().roster().parties().zip(dealings).skip(1) {
        let round = dealing.confirm().unwrap();
        let error = late.accept(from, round.message()).unwrap_err();
        assert!(matches!(error.fault(), Some(Fault::Early { expected: 1, got: 2 })), "{error}");
    }
}

#[test]
fn every_wrong_confirmation_is_refused_by_name() {
    let world = World::new(2, 3);
    let (zero, first) = (Zero::new(&world), Holders::of(&world));
    let (dealers, names) = (["Ada", "Bo"], ["Ada", "Bo", "Cy"]);
    let confirmations = |threshold| {
        let setup = first.setup(&zero, &dealers, &names, threshold);
        let mut dealings = first.begin(&setup, &dealers, &stores(3));
        let kept = dealt(&mut dealings);
        let rounds = dealings.into_iter().map(|one| one.confirm().unwrap().message().to_vec());
        (setup, kept, rounds.collect::<Vec<_>>())
    };
    let (setup, kept, own) = confirmations(2);
    let (_, _, foreign) = confirmations(3);
    let parties: Vec<Party> = setup.session().roster().parties().collect();
    let open = || {
        let mut dealing =
            setup.begin(parties[0], Some(&first.shares[0]), MemoryStore::default(), &mut rng(71)).unwrap();
        dealing.accept(parties[1], &kept[1][0]).unwrap();
        dealing.confirm().unwrap()
    };
    check_round((parties[1], &own[1]), &[foreign], &open);
}

/// Gives all pieces to those they are for, and returns them by sender and recipient.
fn dealt(dealings: &mut [Dealing<MemoryStore>]) -> Vec<Vec<Vec<u8>>> {
    let parties: Vec<Party> = dealings[0].session().roster().parties().collect();
    let mut all = vec![vec![Vec::new(); parties.len()]; parties.len()];
    for (from, sent) in all.iter_mut().enumerate() {
        for (to, bytes) in dealings[from].messages() {
            sent[to.number() as usize - 1] = bytes.to_vec();
        }
        for (to, bytes) in sent.iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
            assert_eq!(dealings[to].accept(parties[from], bytes).unwrap(), Receipt::Accepted);
            assert_eq!(dealings[to].accept(parties[from], bytes).unwrap(), Receipt::Repeated);
        }
    }
    all
}
