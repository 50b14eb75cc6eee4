//! Channels among the threads of one process, for tests and demonstrations: the parties trust that process.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::{Incoming, Transport};
use crate::{PartiesError, Party, Roster};

/// The end of one party of channels to all others.
pub struct Link {
    me: Party,
    others: Vec<(Party, Sender<Incoming>)>,
    inbox: Receiver<Incoming>,
}

impl Link {
    /// The party whose end this is.
    #[must_use]
    pub fn me(&self) -> Party {
        self.me
    }
}

/// Makes channels between all parties of a roster, and returns the end of each, by ascending number.
///
/// ```
/// use std::time::Duration;
/// use sunzi_parties::Roster;
/// use sunzi_parties::driver::{Transport, channels};
///
/// let roster = Roster::new(["north", "south"])?;
/// let mut links = channels::links(&roster);
/// let (mut south, mut north) = (links.remove(1), links.remove(0));
/// north.send(b"message")?;
/// assert_eq!(south.receive(Duration::ZERO)?, Some((north.me(), b"message".to_vec().into())));
/// south.send_to(north.me(), b"secret")?;
/// assert_eq!(north.receive(Duration::ZERO)?, Some((south.me(), b"secret".to_vec().into())));
/// assert_eq!(south.receive(Duration::ZERO)?, None);
/// # Ok::<(), sunzi_parties::PartiesError>(())
/// ```
#[must_use]
pub fn links(roster: &Roster) -> Vec<Link> {
    let (senders, inboxes): (Vec<Sender<Incoming>>, Vec<Receiver<Incoming>>) =
        roster.parties().map(|_| channel()).unzip();
    let link = |(me, inbox): (Party, Receiver<Incoming>)| {
        let others = roster.parties().zip(senders.iter().cloned()).filter(|(party, _)| *party != me);
        Link { me, others: others.collect(), inbox }
    };
    roster.parties().zip(inboxes).map(link).collect()
}

impl Transport for Link {
    fn send(&mut self, message: &[u8]) -> Result<(), PartiesError> {
        for (_, other) in &self.others {
            // A party that is gone is missed later.
            drop(other.send((self.me, message.to_vec().into())));
        }
        Ok(())
    }

    fn send_to(&mut self, to: Party, message: &[u8]) -> Result<(), PartiesError> {
        let Some((_, other)) = self.others.iter().find(|(party, _)| *party == to) else {
            return Err(PartiesError::setting(
                "the party that gets a message",
                "another one of the roster",
                to,
            ));
        };
        drop(other.send((self.me, message.to_vec().into())));
        Ok(())
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<Incoming>, PartiesError> {
        match self.inbox.recv_timeout(wait) {
            Ok(sent) => Ok(Some(sent)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }
}
