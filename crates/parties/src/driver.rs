//! Drivers: they run a protocol over a transport, with a time limit for every round.

pub mod channels;
#[cfg(feature = "net")]
pub mod folder;
mod gathering;
#[cfg(feature = "net")]
mod letter;
#[cfg(feature = "net")]
pub mod tls;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rand_core::CryptoRng;
use sunzi_rlwe::RlweContext;
use sunzi_rlwe::joint::{DecryptionShare, ThresholdShare};
use sunzi_rlwe::wire::{self, Format};
use zeroize::Zeroizing;

use crate::dealing::Dealing;
#[cfg(doc)]
use crate::decryption::Request;
use crate::decryption::{Collector, Decryptor};
use crate::keys::{AfterShares, Committing, JointKeys};
use crate::operations::{Operation, OperationCollector};
use crate::{Fault, PartiesError, Party, Receipt, Round, Stage, Step, Store};
use gathering::Gathering;

/// Longest time without a report of progress, so that a caller can break off a round in which nothing comes.
const LONGEST_SILENCE: Duration = Duration::from_millis(250);

/// A message of a party, with its sender.
pub type Incoming = (Party, Zeroizing<Vec<u8>>);

/// A way for messages to and from other parties, which tells who sent them.
pub trait Transport {
    /// Sends a message to all other parties. Those that are gone are no error: they are missed later.
    ///
    /// # Errors
    /// [`PartiesError::Channel`].
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError>;
    /// Sends a secret message to one other party. Nobody else may be able to read it, whoever carries or keeps it.
    ///
    /// # Errors
    /// [`PartiesError::Channel`]; [`PartiesError::Setting`] for a party that is not another one of the roster.
    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError>;
    /// Waits for the next message of any party, and returns it with its sender; `None` if none came in the time given.
    ///
    /// # Errors
    /// [`PartiesError::Channel`].
    fn receive(&mut self, wait: Duration) -> Result<Option<Incoming>, PartiesError>;
    /// Returns what was refused since this was asked last, before it was a message: [`PartiesError::Peer`]. None of it ends a protocol.
    fn refusals(&mut self) -> Vec<PartiesError> {
        Vec::new()
    }
    /// Waits until the other parties have all that was sent to them, at most for the time given, and returns those that may lack something. Whoever is at the end of a
    /// protocol calls it, for parties that begin again late.
    ///
    /// # Errors
    /// [`PartiesError::Channel`].
    fn finish(&mut self, _: Duration) -> Result<Vec<Party>, PartiesError> {
        Ok(Vec::new())
    }
}

/// A transport that is chosen when a program runs.
impl<T: Transport + ?Sized> Transport for Box<T> {
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError> {
        (**self).send(message)
    }

    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError> {
        (**self).send_to(to, message)
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<Incoming>, PartiesError> {
        (**self).receive(wait)
    }

    fn refusals(&mut self) -> Vec<PartiesError> {
        (**self).refusals()
    }

    fn finish(&mut self, wait: Duration) -> Result<Vec<Party>, PartiesError> {
        (**self).finish(wait)
    }
}

/// How far a round is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Step of the round.
    pub step: Step,
    /// Number of messages that count, the own one included.
    pub received: usize,
    /// Number of messages that the round takes.
    pub of: usize,
}

/// Runs protocols over a transport. What is refused without harm to the session is told, and the protocol goes on.
pub struct Driver<'a, T: Transport> {
    transport: &'a mut T,
    timeout: Duration,
    progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    refused: Option<&'a mut dyn FnMut(&PartiesError)>,
    /// Messages of rounds to come, from parties that this one has to catch up with.
    held: Vec<Incoming>,
}

impl<'a, T: Transport> Driver<'a, T> {
    /// Makes a driver that waits at most `timeout` for each round, and tells `progress` how far it is, also while nothing comes: that may break off, and the protocol be gone
    /// on with later.
    pub fn new(
        transport: &'a mut T,
        timeout: Duration,
        progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Self {
        Self { transport, timeout, progress, refused: None, held: Vec::new() }
    }

    /// Tells `refused` of everything that is refused while the protocol goes on: messages, and what the transport says.
    #[must_use]
    pub fn telling(mut self, refused: &'a mut dyn FnMut(&PartiesError)) -> Self {
        self.refused = Some(refused);
        self
    }

    /// Generates keys from the first round on. A party that begins again with the records it kept sends all its messages again, and gets the same keys.
    ///
    /// # Errors
    /// [`PartiesError::Missing`] where a round took longer than the time limit: it names the parties whose messages did not come; [`PartiesError::Stopped`]; every error of the rounds
    /// that gives the session up or is this party's own.
    pub fn generate_keys<S: Store>(
        &mut self,
        round: Round<S, Committing>,
        rng: &mut dyn CryptoRng,
    ) -> Result<JointKeys, PartiesError> {
        let round = self.complete(round)?.advance(rng)?;
        let round = self.complete(round)?.advance(rng)?;
        let round = self.complete(round)?.advance(rng)?;
        let round = match self.complete(round)?.advance(rng)? {
            AfterShares::Second(round) => self.complete(round)?.advance(rng)?,
            AfterShares::Confirm(round) => round,
        };
        self.complete(round)?.advance()
    }

    /// Sends the message of a round, and takes those of all others.
    ///
    /// # Errors
    /// Every error of [`generate_keys`](Self::generate_keys).
    pub fn complete<S: Store, G: Stage>(
        &mut self,
        mut round: Round<S, G>,
    ) -> Result<Round<S, G>, PartiesError> {
        self.transport.send(round.message())?;
        self.gather(&mut round)?;
        Ok(round)
    }

    /// Sends every other party its piece, takes theirs, and returns the share of this party. A party that begins again sends the same pieces.
    ///
    /// # Errors
    /// Every error of [`generate_keys`](Self::generate_keys) and of [`Dealing::finish`].
    pub fn deal<S: Store>(&mut self, dealing: Dealing<S>) -> Result<ThresholdShare, PartiesError> {
        self.exchange(dealing)?.finish()
    }

    /// Hands a joint secret on, as [`deal`](Self::deal) deals one, and waits until all parties confirmed that they have their shares. Returns no share for a party that leaves.
    ///
    /// # Errors
    /// Every error of [`generate_keys`](Self::generate_keys).
    pub fn hand_on<S: Store>(&mut self, dealing: Dealing<S>) -> Result<Option<ThresholdShare>, PartiesError> {
        let round = self.exchange(dealing)?.confirm()?;
        self.complete(round)?.advance()
    }

    fn exchange<S: Store>(&mut self, mut dealing: Dealing<S>) -> Result<Dealing<S>, PartiesError> {
        for (party, message) in dealing.messages() {
            self.transport.send_to(party, message)?;
        }
        self.gather(&mut dealing)?;
        Ok(dealing)
    }

    /// Sends a request to all other parties, as the bytes of its file, and takes the answers. The own one, where it is asked for, is among those that were taken before.
    ///
    /// # Errors
    /// Every error of [`generate_keys`](Self::generate_keys).
    pub fn ask(
        &mut self,
        request: &[u8],
        collector: Collector,
    ) -> Result<Vec<DecryptionShare>, PartiesError> {
        self.transport.send(request)?;
        self.collect(collector)
    }

    /// Takes the answers to a request, of which the own may be among those that were taken before.
    ///
    /// # Errors
    /// Every error of [`generate_keys`](Self::generate_keys).
    pub fn collect(&mut self, mut collector: Collector) -> Result<Vec<DecryptionShare>, PartiesError> {
        self.gather(&mut collector)?;
        collector.finish()
    }

    /// Sends a request of an operation to all other parties, as the bytes of its file, and takes the answers. The own one, where it is asked for, is among those that were taken before.
    ///
    /// # Errors
    /// Every error of [`generate_keys`](Self::generate_keys).
    pub fn ask_operation<O: Operation>(
        &mut self,
        request: &[u8],
        mut collector: OperationCollector<O>,
    ) -> Result<Vec<O::Share>, PartiesError> {
        self.transport.send(request)?;
        self.gather(&mut *collector)?;
        collector.finish()
    }

    /// Waits for a request that `respond` answers, sends the answer to whoever asks, for it alone, and returns who that is; `None` if no such request came in the time limit.
    /// `respond` gets the party that asks and its request, and returns an answer ([`Decryptor::answer`], [`Decryptor::answer_operation`]), or `None` for a request that is not for it.
    /// Requests are those of decryptions, [`Request`], or of one [operation](crate::operations).
    ///
    /// # Errors
    /// [`PartiesError::Stopped`]; errors of `respond` other than [`PartiesError::Refused`], which is told as other refusals are.
    pub fn answer<S, R, F>(
        &mut self,
        decryptor: &mut Decryptor<S>,
        mut respond: F,
    ) -> Result<Option<Party>, PartiesError>
    where
        S: Store,
        RlweContext: Format<R>,
        F: FnMut(&mut Decryptor<S>, Party, &R) -> Result<Option<Vec<u8>>, PartiesError>,
    {
        let end = Instant::now().checked_add(self.timeout);
        let waiting = Progress { step: Step::Answer, received: 0, of: 1 };
        self.report(waiting)?;
        while let Some((from, bytes)) = self.receive_until(end, waiting)? {
            let request: R = match wire::from_bytes(decryptor.context(), &bytes) {
                Ok(request) => request,
                Err(error) => {
                    let name = decryptor.roster().name(from).to_owned();
                    self.tell(&Fault::Malformed(error).of(&name));
                    continue;
                }
            };
            match respond(decryptor, from, &request) {
                Ok(Some(answer)) => {
                    self.transport.send_to(from, &answer)?;
                    self.report(Progress { received: 1, ..waiting })?;
                    return Ok(Some(from));
                }
                Ok(None) => {}
                Err(error @ PartiesError::Refused { .. }) => self.tell(&error),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Takes messages until none is missing, or the time limit is over.
    fn gather<G: Gathering>(&mut self, gathering: &mut G) -> Result<(), PartiesError> {
        let end = Instant::now().checked_add(self.timeout);
        self.report(gathering.progress())?;
        for (from, bytes) in std::mem::take(&mut self.held) {
            self.take(gathering, from, bytes)?;
        }
        while !gathering.is_complete() {
            let Some((from, bytes)) = self.receive_until(end, gathering.progress())? else {
                return gathering.check_complete();
            };
            self.take(gathering, from, bytes)?;
        }
        Ok(())
    }

    /// Takes one message. What is refused and does no harm is told.
    fn take<G: Gathering>(
        &mut self,
        gathering: &mut G,
        from: Party,
        bytes: Zeroizing<Vec<u8>>,
    ) -> Result<(), PartiesError> {
        match gathering.take(from, &bytes) {
            Ok(Receipt::Accepted) => self.report(gathering.progress())?,
            Ok(_) => {}
            Err(error) if error.sender().is_none() || error.is_fatal() => return Err(error),
            Err(error) if G::passes(&error) => {}
            // A transport keeps no order, or a party began again and the others are ahead.
            Err(error) if matches!(error.fault(), Some(Fault::Early { .. })) && self.has_room(from) => {
                self.held.push((from, bytes));
            }
            Err(error) => self.tell(&error),
        }
        Ok(())
    }

    /// Whether no more messages of a party are held than there are rounds.
    fn has_room(&self, from: Party) -> bool {
        self.held.iter().filter(|(party, _)| *party == from).count() < Step::ALL.len()
    }

    /// Waits for a message until a moment, which is none where it is too far away to be told. Reports what is there from time to time.
    fn receive_until(
        &mut self,
        end: Option<Instant>,
        progress: Progress,
    ) -> Result<Option<Incoming>, PartiesError> {
        loop {
            let left = end.map_or(self.timeout, |end| end.saturating_duration_since(Instant::now()));
            let received = self.transport.receive(left.min(LONGEST_SILENCE))?;
            for refusal in self.transport.refusals() {
                self.tell(&refusal);
            }
            if received.is_some() || left <= LONGEST_SILENCE {
                return Ok(received);
            }
            self.report(progress)?;
        }
    }

    fn tell(&mut self, error: &PartiesError) {
        if let Some(refused) = &mut self.refused {
            refused(error);
        }
    }

    fn report(&mut self, progress: Progress) -> Result<(), PartiesError> {
        match (self.progress)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(PartiesError::Stopped),
        }
    }
}

/// Fails for a message that no other party would take.
#[cfg(feature = "net")]
fn check_length(message: &[u8], most: u64) -> Result<(), PartiesError> {
    if message.len() as u64 <= most {
        return Ok(());
    }
    let expected = format!("at most {most} bytes, as the options of the channel say");
    Err(PartiesError::setting("a message", expected, message.len()))
}
