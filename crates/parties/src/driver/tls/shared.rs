//! What the threads of a link share: messages to be sent, messages that came, and what was refused.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::driver::Incoming;
use crate::{ChannelFault, PartiesError, Party};

/// Largest number of messages of a party that wait to be taken. More stay where they are, at the sender.
const MOST_WAITING: usize = 8;
/// Largest number of refusals that wait to be told, and of peers whose last one is remembered.
const MOST_REFUSALS: usize = 256;
/// Time in which a link that is dropped sends what it has to send.
pub(super) const LINGER: Duration = Duration::from_secs(2);

/// A message to all parties or to one.
pub(super) struct Outgoing {
    to: Option<Party>,
    pub(super) bytes: Zeroizing<Vec<u8>>,
}

#[derive(Default)]
struct Peer {
    waiting: VecDeque<Zeroizing<Vec<u8>>>,
    /// Number and socket of the connection, if there is one.
    connection: Option<(u64, TcpStream)>,
    /// Whether the party said that it lacks nothing.
    is_done: bool,
    /// Whether the party was told that this one lacks nothing.
    knows: bool,
}

#[derive(Default)]
struct State {
    sent: Vec<Arc<Outgoing>>,
    peers: BTreeMap<Party, Peer>,
    last: Option<Party>,
    refusals: Vec<PartiesError>,
    told: BTreeMap<String, ChannelFault>,
    connections: u64,
    half_open: usize,
    threads: usize,
    finishing: bool,
    stopped: Option<Instant>,
}

/// What the threads of a link share.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// What a connection sends next.
pub(super) enum Next {
    Message(Arc<Outgoing>),
    Done,
    Alive,
    Close,
}

/// Counts a thread as long as it lives.
pub(super) struct Living(Arc<Shared>);

/// Counts a connection whose party is not known, as long as it is not.
pub(super) struct HalfOpen(Arc<Shared>);

impl Shared {
    pub(super) fn new(others: impl IntoIterator<Item = Party>) -> Arc<Self> {
        let peers = others.into_iter().map(|party| (party, Peer::default())).collect();
        Arc::new(Self { state: Mutex::new(State { peers, ..State::default() }), changed: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, at most for a time.
    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Puts a message among those that every connection of its recipients sends.
    pub(super) fn send(&self, to: Option<Party>, message: &[u8]) {
        let bytes = Zeroizing::new(message.to_vec());
        self.state().sent.push(Arc::new(Outgoing { to, bytes }));
        self.changed.notify_all();
    }

    /// Returns the next message that came, of each party in turn.
    pub(super) fn receive(&self, wait: Duration) -> Option<Incoming> {
        let end = Instant::now().checked_add(wait);
        let mut state = self.state();
        loop {
            let last = state.last;
            let is_full = |(party, peer): (&Party, &Peer)| (!peer.waiting.is_empty()).then_some(*party);
            let mut full = state.peers.iter().filter_map(is_full);
            let first = full.next();
            let next =
                first.filter(|party| Some(*party) > last).or_else(|| full.find(|party| Some(*party) > last));
            if let Some(party) = next.or(first)
                && let Some(message) = state.peers.get_mut(&party).and_then(|peer| peer.waiting.pop_front())
            {
                state.last = Some(party);
                self.changed.notify_all();
                return Some((party, message));
            }
            let left = end.map_or(wait, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return None;
            }
            state = self.wait(state, left);
        }
    }

    /// Puts a message of a party among those that wait, as soon as there is room. What comes over a connection that another one has replaced comes again over that.
    pub(super) fn deliver(&self, from: Party, id: u64, message: Zeroizing<Vec<u8>>) {
        let mut state = self.state();
        while state.stopped.is_none() {
            let Some(peer) = state.peers.get_mut(&from) else { return };
            if peer.connection.as_ref().is_none_or(|(current, _)| *current != id) {
                return;
            }
            if peer.waiting.len() < MOST_WAITING {
                peer.waiting.push_back(message);
                self.changed.notify_all();
                return;
            }
            state = self.wait(state, Duration::from_secs(1));
        }
    }

    /// Notes that a party lacks nothing.
    pub(super) fn done(&self, party: Party) {
        if let Some(peer) = self.state().peers.get_mut(&party) {
            peer.is_done = true;
        }
        self.changed.notify_all();
    }

    /// Notes that a party was told that this one lacks nothing.
    pub(super) fn knows(&self, party: Party) {
        if let Some(peer) = self.state().peers.get_mut(&party) {
            peer.knows = true;
        }
        self.changed.notify_all();
    }

    /// Whether neither of the two parties lacks anything.
    pub(super) fn is_over(&self, party: Party) -> bool {
        self.state().peers.get(&party).is_some_and(|peer| peer.is_done && peer.knows)
    }

    /// Says to all others that this party lacks nothing, waits until they say so too, and returns those that did not.
    pub(super) fn finish(&self, wait: Duration) -> Vec<Party> {
        let end = Instant::now().checked_add(wait);
        let mut state = self.state();
        state.finishing = true;
        self.changed.notify_all();
        loop {
            let lacking = state.peers.iter().filter(|(_, peer)| !(peer.is_done && peer.knows));
            let lacking: Vec<Party> = lacking.map(|(party, _)| *party).collect();
            let left = end.map_or(wait, |end| end.saturating_duration_since(Instant::now()));
            if lacking.is_empty() || left.is_zero() {
                return lacking;
            }
            state = self.wait(state, left);
        }
    }

    /// Waits for what a connection sends next, of which it has sent `at` messages already and `told` that this party is done.
    pub(super) fn next(&self, party: Party, id: u64, at: &mut usize, told: bool, pause: Duration) -> Next {
        let end = Instant::now() + pause;
        let mut state = self.state();
        loop {
            let current = state.peers.get(&party).and_then(|peer| peer.connection.as_ref());
            let late = state.stopped.is_some_and(|since| since.elapsed() > LINGER);
            if late || current.is_none_or(|(current, _)| *current != id) {
                return Next::Close;
            }
            while let Some(outgoing) = state.sent.get(*at) {
                *at += 1;
                if outgoing.to.is_none_or(|to| to == party) {
                    return Next::Message(Arc::clone(outgoing));
                }
            }
            if state.finishing && !told {
                return Next::Done;
            }
            if state.stopped.is_some() {
                return Next::Close;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Next::Alive;
            }
            state = self.wait(state, left);
        }
    }

    /// Notes a connection to a party, in place of an older one, and returns its number.
    pub(super) fn connect(&self, party: Party, socket: TcpStream) -> u64 {
        let mut state = self.state();
        state.connections += 1;
        let id = state.connections;
        if let Some(peer) = state.peers.get_mut(&party)
            && let Some((_, old)) = peer.connection.replace((id, socket))
        {
            // The party began again: what is left of the old connection is sent over the new one.
            drop(old.shutdown(Shutdown::Both));
        }
        self.changed.notify_all();
        id
    }

    /// Forgets a connection that ended, and ends it for the other thread too.
    pub(super) fn disconnect(&self, party: Party, id: u64) {
        if let Some(peer) = self.state().peers.get_mut(&party)
            && let Some((_, old)) = peer.connection.take_if(|(current, _)| *current == id)
        {
            drop(old.shutdown(Shutdown::Both));
        }
        self.changed.notify_all();
    }

    /// Notes what was refused, unless the same was told of the same peer last.
    pub(super) fn refuse(&self, peer: &str, fault: ChannelFault) {
        let mut state = self.state();
        if state.stopped.is_some() || state.told.get(peer) == Some(&fault) {
            return;
        }
        if state.told.len() >= MOST_REFUSALS {
            state.told.clear();
        }
        state.told.insert(peer.to_owned(), fault.clone());
        if state.refusals.len() < MOST_REFUSALS {
            state.refusals.push(fault.of(peer));
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Forgets what was told of a peer that is connected now.
    pub(super) fn forgive(&self, peer: &str) {
        self.state().told.remove(peer);
    }

    pub(super) fn refusals(&self) -> Vec<PartiesError> {
        std::mem::take(&mut self.state().refusals)
    }

    /// Counts a connection whose party is not known; `None` where there are as many as there may be.
    pub(super) fn half_open(self: &Arc<Self>, most: usize) -> Option<HalfOpen> {
        let mut state = self.state();
        if state.half_open >= most {
            return None;
        }
        state.half_open += 1;
        Some(HalfOpen(Arc::clone(self)))
    }

    /// Counts a thread.
    pub(super) fn living(self: &Arc<Self>) -> Living {
        self.state().threads += 1;
        Living(Arc::clone(self))
    }

    /// When the link was dropped, if it was.
    pub(super) fn stopped(&self) -> Option<Instant> {
        self.state().stopped
    }

    /// Waits for a time, or until the link is dropped; whether it still runs.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut state = self.state();
        while state.stopped.is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self.wait(state, left);
        }
        false
    }

    /// Ends all threads, and waits for them at most for a time.
    pub(super) fn stop(&self, wait: Duration) {
        let end = Instant::now() + wait;
        let mut state = self.state();
        state.stopped.get_or_insert_with(Instant::now);
        self.changed.notify_all();
        while state.threads > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.wait(state, left);
        }
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        self.0.state().threads -= 1;
        self.0.changed.notify_all();
    }
}

impl Drop for HalfOpen {
    fn drop(&mut self) {
        self.0.state().half_open -= 1;
    }
}
