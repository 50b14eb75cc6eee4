//! Channels over TCP with TLS 1.3, in which both ends show that they have the key on their card.
//!
//! * **Who is at the other end** is told by its key alone, which must be on a card: names and dates of certificates, and authorities, say nothing. Connections of other keys are refused.
//! * **Every two parties have one connection.** Of two parties, the one whose card has no address makes it; where both have one, the one with the higher number does.
//! * **A connection that ends is made again**, and then each end sends all that it has sent so far: a party that begins again gets what it lacks, and what it has counts as repeated.
//! * **Nothing waits for ever.** Handshake, silence and slow messages have limits, messages are bounded before room is taken for them, and so are connections that do not say whose they
//!   are, and messages that wait.
//!
//! Each connection has two threads of blocking reads and writes. A few parties exchange a few large messages: an asynchronous runtime would be a large dependency without gain.

mod certificate;
mod connection;
mod frame;
mod shared;

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{Incoming, Transport, check_length};
use crate::{ChannelFault, Contacts, Identity, PartiesError, Party};
use certificate::Credentials;
use connection::{greet, run};
use shared::{HalfOpen, Living, Shared};

/// Time between two looks for new connections.
const ACCEPT_PAUSE: Duration = Duration::from_millis(25);
/// Shortest and longest time between two attempts to make a connection.
const RETRY: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// Longest time of an attempt to reach an address.
const REACH: Duration = Duration::from_secs(3);
/// Longest time for which a link that is dropped waits for its threads.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How a link listens, and what it bears.
#[derive(Debug)]
#[non_exhaustive]
pub struct TlsOptions {
    /// Largest number of bytes of a message. Longer ones end the connection.
    pub longest_message: u64,
    /// Where to listen, in place of the address of the own card.
    pub listener: Option<TcpListener>,
    /// Time limit for a handshake, from the first byte to the last.
    pub handshake: Duration,
    /// Time without any sign of life after which a connection ends. Parties that compute give signs of life.
    pub idle: Duration,
    /// Largest number of connections at once that do not say yet whose they are.
    pub half_open: usize,
}

impl TlsOptions {
    /// Makes options for messages of at most so many bytes: handshakes of 10 seconds, 60 seconds of silence, 16 connections that do not say whose they are.
    #[must_use]
    pub fn new(longest_message: u64) -> Self {
        let (handshake, idle) = (Duration::from_secs(10), Duration::from_secs(60));
        Self { longest_message, listener: None, handshake, idle, half_open: 16 }
    }
}

/// Limits of connections.
#[derive(Clone, Copy)]
struct Limits {
    longest_message: u64,
    handshake: Duration,
    idle: Duration,
    half_open: usize,
}

/// What all threads of a party know.
struct Side {
    credentials: Credentials,
    contacts: Arc<Contacts>,
    channel: [u8; 32],
    me: Party,
    limits: Limits,
}

/// The end of one party of channels over TLS. Dropping it sends what is left to connected parties, and ends its threads.
pub struct TlsLink {
    side: Arc<Side>,
    shared: Arc<Shared>,
}

impl TlsLink {
    /// Listens for connections, and begins to make those that this party makes, for one channel: the number of a session, or
    /// [`decryption::channel`](crate::decryption::channel).
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for an identity that is on no card, and for two parties neither of which has an address; [`PartiesError::Channel`] where this party cannot listen.
    pub fn open(
        identity: &Identity,
        contacts: &Contacts,
        channel: &[u8; 32],
        options: TlsOptions,
    ) -> Result<Self, PartiesError> {
        let me = contacts.me(identity)?;
        let TlsOptions { longest_message, listener, handshake, idle, half_open } = options;
        let limits = Limits { longest_message, handshake, idle, half_open };
        let contacts = Arc::new(contacts.clone());
        let credentials = Credentials::new(identity.duplicate(), Arc::clone(&contacts), me)?;
        let others: Vec<Party> = contacts.roster().parties().filter(|party| *party != me).collect();
        let mut dialled = Vec::new();
        for &other in &others {
            if dials(&contacts, me, other)? {
                dialled.push(other);
            }
        }
        let listener =
            if dialled.len() == others.len() { None } else { Some(listen(&contacts, me, listener)?) };
        let side = Arc::new(Side { credentials, contacts, channel: *channel, me, limits });
        let link = Self { side, shared: Shared::new(others) };
        if let Some(listener) = listener {
            link.spawn("sunzi-listener", move |side, shared| accept(side, shared, &listener))?;
        }
        for other in dialled {
            link.spawn("sunzi-dialler", move |side, shared| dial(side, shared, other))?;
        }
        Ok(link)
    }

    /// This party.
    #[must_use]
    pub fn me(&self) -> Party {
        self.side.me
    }

    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce(&Arc<Side>, &Arc<Shared>) + Send + 'static,
    ) -> Result<(), PartiesError> {
        spawn(name, &self.side, &self.shared, work).map_err(PartiesError::Channel)
    }
}

impl Transport for TlsLink {
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError> {
        check_length(message, self.side.limits.longest_message)?;
        self.shared.send(None, message);
        Ok(())
    }

    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError> {
        if to == self.side.me || self.side.contacts.card(to).is_none() {
            return Err(PartiesError::setting(
                "the party that gets a message",
                "another one of the roster",
                to,
            ));
        }
        check_length(message, self.side.limits.longest_message)?;
        self.shared.send(Some(to), message);
        Ok(())
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<Incoming>, PartiesError> {
        Ok(self.shared.receive(wait))
    }

    fn refusals(&mut self) -> Vec<PartiesError> {
        self.shared.refusals()
    }

    fn finish(&mut self, wait: Duration) -> Result<Vec<Party>, PartiesError> {
        Ok(self.shared.finish(wait))
    }
}

impl Drop for TlsLink {
    fn drop(&mut self) {
        self.shared.stop(LAST_WAIT);
    }
}

/// Whether this party makes the connection to another one.
fn dials(contacts: &Contacts, me: Party, other: Party) -> Result<bool, PartiesError> {
    let [own, others] = [me, other].map(|party| contacts.card(party).and_then(|card| card.address()));
    match (own, others) {
        (None, None) => {
            let names = [me, other].map(|party| contacts.roster().name(party)).join(" and ");
            Err(PartiesError::setting(
                "addresses of cards",
                "at least one of every two parties",
                format!("none for {names}"),
            ))
        }
        (None, Some(_)) => Ok(true),
        (Some(_), None) => Ok(false),
        (Some(_), Some(_)) => Ok(me > other),
    }
}

/// Listens where others expect this party, or where the caller listens already.
fn listen(contacts: &Contacts, me: Party, given: Option<TcpListener>) -> Result<TcpListener, PartiesError> {
    let address = contacts.card(me).and_then(|card| card.address()).unwrap_or_default();
    let listener = given.map_or_else(|| TcpListener::bind(address), Ok);
    let listener = listener.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"));
    listener.map_err(|error| PartiesError::Channel(named(error)))
}

fn spawn(
    name: &str,
    side: &Arc<Side>,
    shared: &Arc<Shared>,
    work: impl FnOnce(&Arc<Side>, &Arc<Shared>) + Send + 'static,
) -> io::Result<()> {
    let (side, shared) = (Arc::clone(side), Arc::clone(shared));
    let living: Living = shared.living();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        work(&side, &shared);
        drop(living);
    })?;
    Ok(())
}

/// Takes connections until the link is dropped.
fn accept(side: &Arc<Side>, shared: &Arc<Shared>, listener: &TcpListener) {
    while shared.stopped().is_none() {
        let Ok((socket, address)) = listener.accept() else {
            shared.pause(ACCEPT_PAUSE);
            continue;
        };
        let peer = format!("connection from {}", address.ip());
        let most = side.limits.half_open;
        let Some(half_open) = shared.half_open(most) else {
            shared.refuse(&peer, ChannelFault::Busy { most });
            continue;
        };
        let failed = peer.clone();
        let work = move |side: &Arc<Side>, shared: &Arc<Shared>| {
            if let Err((peer, fault)) = serve(side, shared, &socket, half_open, peer) {
                shared.refuse(&peer, fault);
            }
        };
        if let Err(error) = spawn("sunzi-reader", side, shared, work) {
            shared.refuse(&failed, ChannelFault::Connection { reason: error.to_string() });
        }
    }
}

/// Finds out whose a connection is, and runs it. An error has the name of the party as soon as that is known.
fn serve(
    side: &Arc<Side>,
    shared: &Arc<Shared>,
    socket: &TcpStream,
    half_open: HalfOpen,
    peer: String,
) -> Result<(), (String, ChannelFault)> {
    let broken = |reason: String| (peer.clone(), ChannelFault::Connection { reason });
    // What is accepted may be like the listener, on some systems.
    let prepared = socket.set_nonblocking(false).and_then(|()| socket.set_nodelay(true));
    prepared.map_err(|error| broken(error.to_string()))?;
    let (mut tls, pinned) = side.credentials.accept().map_err(|error| broken(error.to_string()))?;
    let greeted = greet(side, socket, &mut tls, &pinned);
    drop(half_open);
    let name = |party| side.contacts.roster().name(party).to_owned();
    // Before the handshake is over anybody can show the certificate of a party.
    let known = pinned.found().and_then(Result::ok).filter(|_| !tls.is_handshaking()).map(name);
    let party = greeted.map_err(|fault| (known.unwrap_or(peer), fault))?;
    shared.forgive(&name(party));
    run(side, shared, socket, tls, party).map_err(|fault| (name(party), fault))
}

/// Makes connections to a party, one after the other, until the link is dropped.
fn dial(side: &Arc<Side>, shared: &Arc<Shared>, party: Party) {
    let name = side.contacts.roster().name(party);
    let [mut pause, longest] = RETRY;
    loop {
        match reach(side, shared, party) {
            Ok(()) => [pause, _] = RETRY,
            Err(fault) => shared.refuse(name, fault),
        }
        if shared.is_over(party) || !shared.pause(pause) {
            return;
        }
        pause = longest.min(pause * 2);
    }
}

/// Makes one connection to a party, and runs it to its end.
fn reach(side: &Arc<Side>, shared: &Arc<Shared>, party: Party) -> Result<(), ChannelFault> {
    let broken = |error: &dyn std::fmt::Display| ChannelFault::Connection { reason: error.to_string() };
    let address = side.contacts.card(party).and_then(|card| card.address()).unwrap_or_default();
    let named = |error: io::Error| ChannelFault::Connection { reason: format!("{address}: {error}") };
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut reached = None;
    for place in address.to_socket_addrs().map_err(named)? {
        match TcpStream::connect_timeout(&place, REACH.min(side.limits.handshake)) {
            Ok(socket) => {
                reached = Some(socket);
                break;
            }
            Err(error) => last = error,
        }
    }
    let socket = reached.ok_or_else(|| named(last))?;
    socket.set_nodelay(true).map_err(|error| broken(&error))?;
    let (mut tls, pinned) = side.credentials.dial(party).map_err(|error| broken(&error))?;
    greet(side, &socket, &mut tls, &pinned)?;
    shared.forgive(side.contacts.roster().name(party));
    run(side, shared, &socket, tls, party)
}
