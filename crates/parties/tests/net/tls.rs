//! Tests of what may be at the other end of a connection: other keys, other sessions, and whatever is no party.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sunzi_parties::driver::Transport;
use sunzi_parties::driver::tls::{TlsLink, TlsOptions};
use sunzi_parties::{Card, Contacts, PartiesError};

use crate::places::{Place, World, free_address, identity, next, refusal, refusal_with};

const CHANNEL: [u8; 32] = [1; 32];
const MOST: u64 = 1 << 20;

fn world() -> World {
    World::new(Place::Tls)
}

fn address(world: &World, at: usize) -> String {
    let party = world.contacts.roster().party(at as u64 + 1).unwrap();
    world.contacts.card(party).unwrap().address().unwrap().to_owned()
}

/// Returns contacts in which a party is looked for at another address.
fn moved(world: &World, at: usize, to: &str) -> Contacts {
    let cards = world.contacts.roster().parties().zip(&world.identities).map(|(party, identity)| {
        let own = world.contacts.card(party).unwrap().address();
        let address = if party.number() as usize == at + 1 { Some(to) } else { own };
        identity.card(address).unwrap()
    });
    Contacts::new(cards.collect::<Vec<Card>>()).unwrap()
}

fn link(world: &World, at: usize) -> TlsLink {
    world.tls_link(at, &CHANNEL, TlsOptions::new(MOST))
}

/// Ada and Cy go on whatever happened.
fn go_on(ada: &mut TlsLink, cy: &mut TlsLink) {
    ada.send(b"from Ada").unwrap();
    cy.send(b"from Cy").unwrap();
    assert_eq!(next(cy), (1, b"from Ada".to_vec()));
    assert_eq!(next(ada), (3, b"from Cy".to_vec()));
}

#[test]
fn messages_go_to_all_or_to_one_and_come_again_after_a_restart() {
    let world = world();
    let [mut ada, mut bo, mut cy] = [0, 1, 2].map(|at| link(&world, at));
    let three = world.contacts.roster().party(3).unwrap();
    ada.send(b"first").unwrap();
    ada.send_to(three, b"secret").unwrap();
    ada.send(&vec![7; 300_000]).unwrap();
    assert_eq!(next(&mut cy), (1, b"first".to_vec()));
    assert_eq!(next(&mut cy), (1, b"secret".to_vec()));
    assert_eq!(next(&mut cy), (1, vec![7; 300_000]));
    assert_eq!(next(&mut bo), (1, b"first".to_vec()));
    assert_eq!(next(&mut bo), (1, vec![7; 300_000]));
    // Bo begins again, listens where it did before, and gets all from both again.
    cy.send(b"third").unwrap();
    assert_eq!(next(&mut bo), (3, b"third".to_vec()));
    drop(bo);
    let mut bo = link(&world, 1);
    let mut got = [next(&mut bo), next(&mut bo), next(&mut bo)];
    got.sort();
    assert_eq!(got, [(1, vec![7; 300_000]), (1, b"first".to_vec()), (3, b"third".to_vec())]);
    bo.send(b"fourth").unwrap();
    // Messages of different parties come in either order.
    let mut got = [next(&mut ada), next(&mut ada)];
    got.sort();
    assert_eq!(got, [(2, b"fourth".to_vec()), (3, b"third".to_vec())]);
    let itself = ada.send_to(world.contacts.roster().party(1).unwrap(), b"");
    assert!(matches!(itself, Err(PartiesError::Setting { .. })));
}

#[test]
fn a_connection_of_an_unknown_key_is_refused_and_the_others_go_on() {
    let world = world();
    let [mut ada, mut cy] = [0, 2].map(|at| link(&world, at));
    // Mallory has a card of her own by the name of Cy.
    let mallory = identity("Cy", 66);
    let cards = [(0, 1), (1, 2)]
        .map(|(at, seed)| identity(["Ada", "Bo"][at], seed).card(Some(&address(&world, at))).unwrap());
    let contacts = Contacts::new(cards.into_iter().chain([mallory.card(None).unwrap()])).unwrap();
    let mut her = TlsLink::open(&mallory, &contacts, &CHANNEL, TlsOptions::new(MOST)).unwrap();
    her.send(b"from Cy, really").unwrap();
    let text = refusal(&mut ada);
    assert!(
        text.starts_with("connection from 127.0.0.1: its key ") && text.contains("is on no card"),
        "{text}"
    );
    go_on(&mut ada, &mut cy);
}

#[test]
fn a_party_at_the_place_of_another_is_refused() {
    let world = world();
    let [mut ada, _bo] = [0, 1].map(|at| link(&world, at));
    let contacts = moved(&world, 0, &address(&world, 1));
    let mut cy = TlsLink::open(&world.identities[2], &contacts, &CHANNEL, TlsOptions::new(MOST)).unwrap();
    ada.send(b"to all").unwrap();
    refusal_with(&mut cy, "Ada: by its key it is Bo, expected Ada: the connection is refused");
}

#[test]
fn parties_of_other_sessions_and_other_cards_are_told_so() {
    let world = world();
    let mut ada = link(&world, 0);
    let mut cy = world.tls_link(2, &[2; 32], TlsOptions::new(MOST));
    for (link, name) in [(&mut ada, "Cy"), (&mut cy, "Ada")] {
        refusal_with(link, &format!("{name}: it belongs to channel 0"));
    }
    drop(cy);
    let cards = [("Ada", 1, Some(address(&world, 0))), ("Bo", 5, Some(free_address())), ("Cy", 3, None)]
        .map(|(name, seed, address)| identity(name, seed).card(address.as_deref()).unwrap());
    let contacts = Contacts::new(cards).unwrap();
    let _cy = TlsLink::open(&world.identities[2], &contacts, &CHANNEL, TlsOptions::new(MOST)).unwrap();
    refusal_with(&mut ada, "Cy: it has other cards");
}

#[test]
fn two_parties_without_addresses_are_refused_by_name() {
    let parties = ["Ada", "Bo"].map(|name| identity(name, name.len() as u64));
    let contacts = Contacts::new(parties.iter().map(|party| party.card(None).unwrap())).unwrap();
    let refused = TlsLink::open(&parties[0], &contacts, &CHANNEL, TlsOptions::new(MOST));
    assert!(refused.err().unwrap().to_string().contains("none for Ada and Bo"));
}

#[test]
fn garbage_and_connections_that_say_nothing_are_refused_in_time() {
    let world = world();
    let mut options = TlsOptions::new(MOST);
    (options.handshake, options.half_open) = (Duration::from_secs(1), 2);
    let mut ada = world.tls_link(0, &CHANNEL, options);
    let mut garbage = TcpStream::connect(address(&world, 0)).unwrap();
    garbage.write_all(b"GET / HTTP/1.1\r\nHost: ada\r\n\r\n").unwrap();
    let text = refusal(&mut ada);
    assert!(text.starts_with("connection from 127.0.0.1: no connection: "), "{text}");
    // The connection is closed.
    garbage.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut rest = Vec::new();
    drop(garbage.read_to_end(&mut rest));
    // Two connections say nothing, or a byte from time to time, and a third is one too many.
    let silent = TcpStream::connect(address(&world, 0)).unwrap();
    let mut slow = TcpStream::connect(address(&world, 0)).unwrap();
    let trickle = thread::spawn(move || {
        let hello = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3];
        for byte in hello.iter().cycle().take(200) {
            if slow.write_all(&[*byte]).is_err() {
                return true;
            }
            thread::sleep(Duration::from_millis(100));
        }
        false
    });
    thread::sleep(Duration::from_millis(200));
    let _third = TcpStream::connect(address(&world, 0)).unwrap();
    let mut texts = vec![refusal(&mut ada)];
    while !texts.iter().any(|text| text.contains("took longer than 1 seconds")) {
        texts.push(refusal(&mut ada));
    }
    assert!(texts.iter().any(|text| text.contains("more than 2 connections")), "{texts:?}");
    assert!(trickle.join().unwrap(), "the slow connection was closed");
    drop(silent);
    go_on(&mut ada, &mut link(&world, 2));
}

#[test]
fn a_message_that_is_too_long_is_refused_by_name() {
    let world = world();
    let mut ada = world.tls_link(0, &CHANNEL, TlsOptions::new(100));
    let [mut bo, mut cy] = [1, 2].map(|at| link(&world, at));
    bo.send_to(world.contacts.roster().party(1).unwrap(), &[1; 101]).unwrap();
    refusal_with(&mut ada, "Bo: a message of 101 bytes: at most 100 are taken");
    go_on(&mut ada, &mut cy);
}

/// Listens between two parties, and cuts or holds what it passes on: the first connections after so many bytes.
fn between(to: String, cut: usize, connections: usize, hold: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let count = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for from in listener.incoming() {
            let Ok(from) = from else { return };
            let to = TcpStream::connect(&to).unwrap();
            let most = if count.fetch_add(1, Ordering::SeqCst) < connections { cut } else { usize::MAX };
            let back = (to.try_clone().unwrap(), from.try_clone().unwrap());
            thread::spawn(move || pass(back.0, back.1, usize::MAX, false));
            thread::spawn(move || pass(from, to, most, hold));
        }
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream, most: usize, hold: bool) {
    let mut buffer = [0; 4096];
    let mut passed = 0;
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let count = count.min(most - passed);
        passed += count;
        if to.write_all(&buffer[..count]).is_err() || (passed == most && !hold) {
            break;
        }
        if passed == most {
            thread::sleep(Duration::from_secs(60));
        }
    }
    drop(to.shutdown(std::net::Shutdown::Both));
    drop(from.shutdown(std::net::Shutdown::Both));
}

#[test]
fn a_message_that_was_cut_is_named_and_comes_whole_over_the_next_connection() {
    let world = world();
    let mut ada = link(&world, 0);
    let contacts = moved(&world, 0, &between(address(&world, 0), 100_000, 1, false));
    let mut cy = TlsLink::open(&world.identities[2], &contacts, &CHANNEL, TlsOptions::new(MOST)).unwrap();
    cy.send(&vec![3; 500_000]).unwrap();
    assert_eq!(next(&mut ada), (3, vec![3; 500_000]));
    let refusals: Vec<String> = ada.refusals().iter().map(ToString::to_string).collect();
    assert!(refusals.iter().any(|text| text.starts_with("Cy: it ends in the middle: ")), "{refusals:?}");
}

#[test]
fn a_party_that_says_nothing_any_more_is_named_and_connects_again() {
    let world = world();
    let mut options = TlsOptions::new(MOST);
    options.idle = Duration::from_secs(2);
    let mut ada = world.tls_link(0, &CHANNEL, options);
    let contacts = moved(&world, 0, &between(address(&world, 0), 100_000, 1, true));
    let mut cy = TlsLink::open(&world.identities[2], &contacts, &CHANNEL, TlsOptions::new(MOST)).unwrap();
    cy.send(&vec![3; 500_000]).unwrap();
    assert_eq!(next(&mut ada), (3, vec![3; 500_000]));
    let refusals: Vec<String> = ada.refusals().iter().map(ToString::to_string).collect();
    assert!(refusals.iter().any(|text| text.starts_with("Cy: a") && text.contains("longer")), "{refusals:?}");
}

/// A peer that sends more than this party takes waits, and its messages with it: no memory for them here.
#[test]
fn a_flood_waits_at_its_sender_and_holds_up_nobody_else() {
    let world = world();
    let [mut ada, mut bo, mut cy] = [0, 1, 2].map(|at| link(&world, at));
    for number in 0..100_u8 {
        bo.send(&[number; 1000]).unwrap();
    }
    thread::sleep(Duration::from_millis(500));
    cy.send(b"from Cy").unwrap();
    let mut from_bo = 0_u8;
    let before = loop {
        match next(&mut ada) {
            (2, message) => {
                assert_eq!(message, [from_bo; 1000]);
                from_bo += 1;
            }
            (_, message) => break message,
        }
    };
    assert_eq!(before, b"from Cy");
    assert!(from_bo < 100, "Cy had to wait for all of Bo");
    for number in from_bo..100 {
        assert_eq!(next(&mut ada), (2, vec![number; 1000]));
    }
}

#[test]
fn a_dropped_link_sends_what_is_left_and_frees_its_address() {
    let world = world();
    let [ada, mut cy] = [0, 2].map(|at| link(&world, at));
    let mut ada = ada;
    go_on(&mut ada, &mut cy);
    ada.send(&vec![9; 900_000]).unwrap();
    let start = Instant::now();
    drop(ada);
    assert!(start.elapsed() < Duration::from_secs(6));
    assert_eq!(next(&mut cy), (1, vec![9; 900_000]));
    TcpListener::bind(address(&world, 0)).unwrap();
    drop(cy);
    // Nobody is at the other ends.
    let start = Instant::now();
    drop(link(&world, 2));
    assert!(start.elapsed() < Duration::from_secs(6));
}

#[test]
fn finishing_names_those_who_may_lack_something() {
    let world = world();
    let [mut ada, mut cy] = [0, 2].map(|at| link(&world, at));
    go_on(&mut ada, &mut cy);
    let two = world.contacts.roster().party(2).unwrap();
    let other = thread::spawn(move || cy.finish(Duration::from_secs(2)).unwrap());
    assert_eq!(ada.finish(Duration::from_secs(2)).unwrap(), [two]);
    assert_eq!(other.join().unwrap(), [two]);
}
