//! Errors of protocols of several parties.

use sunzi_ring::RingError;
use sunzi_rlwe::RlweError;
use sunzi_rlwe::wire::{Kind, WireError};

use crate::digest::short;

/// An error of a protocol of several parties: what was expected, what came, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartiesError {
    /// A setting of a session is not possible.
    #[error("{what}: expected {expected}, got {got}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// Values that the setting may have, in words.
        expected: String,
        /// Value that the setting has.
        got: String,
    },
    /// A party sent a message that is refused.
    #[error("message of party {sender}: {fault}")]
    Message {
        /// Name of the party that sent the message, as the channel told it.
        sender: String,
        /// Fault of the message.
        fault: Box<Fault>,
    },
    /// Messages of a round did not come.
    #[error(
        "{step}: nothing came from {}; ask them to send again, or give the session up and begin another",
        parties.join(", ")
    )]
    Missing {
        /// Name of the round.
        step: String,
        /// Names of the parties whose messages are missing.
        parties: Vec<String>,
    },
    /// The session was given up, and is never gone on with: its reference must not be used again.
    #[error("this session was given up ({reason}): begin another one, with new secrets")]
    Aborted {
        /// Why the session was given up.
        reason: String,
    },
    /// A request of a decryption is refused.
    #[error("the request is refused: {what}: expected {expected}, got {got}")]
    Refused {
        /// Name of what is refused.
        what: &'static str,
        /// Values that would be accepted, in words.
        expected: String,
        /// Value that came.
        got: String,
    },
    /// A record that a party kept for a restart cannot be used.
    #[error("record {record} of this party: {reason}; give the session up and begin another")]
    Journal {
        /// Name of the record.
        record: String,
        /// Why the record cannot be used.
        reason: String,
    },
    /// The caller stopped the protocol. It can be gone on with.
    #[error("stopped as asked: begin again with the same records to go on")]
    Stopped,
    /// Something that came over a channel is refused before it is a message. The channel goes on.
    #[error("{peer}: {fault}")]
    Peer {
        /// Name of the party or file from which it came, or the address of a connection whose party is not known.
        peer: String,
        /// Why it is refused.
        fault: Box<ChannelFault>,
    },
    /// The channel to other parties failed.
    #[error("the channel to other parties: {0}")]
    Channel(#[source] std::io::Error),
    /// Reading or writing an object failed.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The RLWE layer refused an operation.
    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

/// What is wrong with a message of a party.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes are no message, or damaged.
    #[error("it cannot be read: {0}")]
    Malformed(#[source] WireError),
    /// The message is of another kind than its round has.
    #[error("expected {expected}, got {}", Kind::describe(*got))]
    Kind {
        /// Kind of message that the round has.
        expected: Kind,
        /// Number of the kind of the message.
        got: u16,
    },
    /// The message was made for other parameters.
    #[error("{0}")]
    Parameters(#[source] WireError),
    /// The message belongs to another session.
    #[error(
        "it belongs to session {}, this is {}: the terms differ (parameters, roster, plan or number), or it is of another run",
        short(got),
        short(expected)
    )]
    Session {
        /// Hash of the session that takes the message.
        expected: [u8; 32],
        /// Hash of the session to which the message belongs.
        got: [u8; 32],
    },
    /// The message names a sender that is not on the roster, or none that this session asks.
    #[error("it names party number {got} as its sender, who has no part in this session")]
    UnknownSender {
        /// Number of the party that the message names.
        got: u64,
    },
    /// The message names another sender than the channel.
    #[error("it names {claimed} as its sender: the channel says otherwise")]
    OtherSender {
        /// Name of the party that the message names.
        claimed: String,
    },
    /// The message is of a round that is over, in which none of the sender's was the same.
    #[error("it is of round {got}, and that is over: this is round {expected}")]
    Late {
        /// Number of the round of the session.
        expected: u64,
        /// Number of the round of the message.
        got: u64,
    },
    /// The message is of a round to which its sender cannot have come.
    #[error("it is of round {got}, which cannot begin yet: this is round {expected}")]
    Early {
        /// Number of the round of the session.
        expected: u64,
        /// Number of the round of the message.
        got: u64,
    },
    /// The sender sent another message for the same round before.
    #[error(
        "it is another one than the party sent before for round {round} ({} for {}): one of them was not sent to all",
        short(got),
        short(first)
    )]
    Conflict {
        /// Number of the round.
        round: u64,
        /// Hash of the message that came first.
        first: [u8; 32],
        /// Hash of the message that came now.
        got: [u8; 32],
    },
    /// The sender saw other messages than this party in the rounds before.
    #[error(
        "the party saw other messages before round {round} than this party did ({} for {}): somebody sent different messages to different parties, \
         or this party does not tell the truth",
        short(got),
        short(expected)
    )]
    Diverged {
        /// Number of the round of the message.
        round: u64,
        /// Hash of all messages before the round, as this party saw them.
        expected: [u8; 32],
        /// Hash of all messages before the round, as the sender saw them.
        got: [u8; 32],
    },
    /// The message is longer than any of its round.
    #[error("it has {got} bytes of content, the round takes at most {most}")]
    Length {
        /// Largest number of bytes of content of messages of the round.
        most: u64,
        /// Number of bytes of content of the message.
        got: u64,
    },
    /// The content is not what the sender committed itself to.
    #[error("it is not what the party committed itself to")]
    Commitment,
    /// The content cannot be read, or does not belong to this session.
    #[error("its content: {0}")]
    Content(#[source] WireError),
    /// The sender made other keys of the same messages.
    #[error(
        "the party made other keys ({} for {}): keys of this session must not be used",
        short(got),
        short(expected)
    )]
    Keys {
        /// Hash of the keys that this party made.
        expected: [u8; 32],
        /// Hash of the keys that the sender made.
        got: [u8; 32],
    },
}

/// Why something that came over a channel is no message of a party.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelFault {
    /// The key of the other end is on no card.
    #[error("its key {key} is on no card of these parties: the connection is refused")]
    UnknownKey {
        /// First digits of the key.
        key: String,
    },
    /// The key of the other end is that of another party.
    #[error("by its key it is {got}, expected {expected}: the connection is refused")]
    OtherParty {
        /// Name of the party that was expected.
        expected: String,
        /// Name of the party that has the key.
        got: String,
    },
    /// The connection was not made.
    #[error("no connection: {reason}")]
    Connection {
        /// Why it was not made, or ended.
        reason: String,
    },
    /// There are too many connections that did not say yet whose they are.
    #[error("more than {most} connections at once that do not say whose they are: this one is refused")]
    Busy {
        /// Largest number of such connections.
        most: usize,
    },
    /// Nothing, or too little, came in time.
    #[error("{what} took longer than {seconds} seconds")]
    Slow {
        /// Name of what took too long.
        what: &'static str,
        /// Time limit in seconds.
        seconds: u64,
    },
    /// The message is longer than any of the session.
    #[error("a message of {got} bytes: at most {most} are taken")]
    Length {
        /// Largest number of bytes of a message.
        most: u64,
        /// Number of bytes of the message.
        got: u64,
    },
    /// The message ended before all of it was there.
    #[error("it ends in the middle: {got} bytes of {expected}")]
    Truncated {
        /// Number of bytes that the message says it has.
        expected: u64,
        /// Number of bytes that came.
        got: u64,
    },
    /// The bytes are nothing that these channels carry.
    #[error("expected {expected}: it is ignored")]
    Foreign {
        /// What was expected, in words.
        expected: &'static str,
    },
    /// The other end is in another session.
    #[error(
        "it belongs to channel {}, this is {}: the terms differ (parameters, roster, plan or number), or it is of another run",
        short(got),
        short(expected)
    )]
    Channel {
        /// Name of this channel.
        expected: [u8; 32],
        /// Name of the channel of the other end.
        got: [u8; 32],
    },
    /// The other end has other cards.
    #[error("it has other cards of the parties: compare the fingerprints of all cards, and their order")]
    Cards,
    /// The signature is not that of the party that is named as sender.
    #[error("the signature is not that of {claimed}, whom it names as its sender")]
    Signature {
        /// Name of the party that it names.
        claimed: String,
    },
    /// The secret message cannot be read with this party's key.
    #[error("it is not encrypted for this party by the party that it names")]
    Secret,
}

impl ChannelFault {
    /// Makes the error of what came from a peer.
    #[cfg_attr(not(feature = "net"), expect(dead_code, reason = "channels among threads refuse nothing"))]
    pub(crate) fn of(self, peer: impl Into<String>) -> PartiesError {
        PartiesError::Peer { peer: peer.into(), fault: Box::new(self) }
    }
}

impl Fault {
    /// Whether a session must be given up: no honest party sends such a message, or parties no longer see the same session.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::Conflict { .. }
                | Self::Diverged { .. }
                | Self::Commitment
                | Self::Content(_)
                | Self::Keys { .. }
        )
    }

    /// Makes the error of a message with this fault.
    pub(crate) fn of(self, sender: &str) -> PartiesError {
        PartiesError::Message { sender: sender.to_owned(), fault: Box::new(self) }
    }
}

impl PartiesError {
    /// The name of the party that sent the message that is refused.
    #[must_use]
    pub fn sender(&self) -> Option<&str> {
        if let Self::Message { sender, .. } = self { Some(sender) } else { None }
    }

    /// What is wrong with what came over a channel and is refused.
    #[must_use]
    pub fn channel_fault(&self) -> Option<&ChannelFault> {
        if let Self::Peer { fault, .. } = self { Some(fault) } else { None }
    }

    /// What is wrong with the message that is refused.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        if let Self::Message { fault, .. } = self { Some(fault) } else { None }
    }

    /// Whether the session must be given up.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        self.fault().is_some_and(Fault::is_fatal)
    }

    pub(crate) fn setting(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self::Setting { what, expected: expected.to_string(), got: got.to_string() }
    }

    pub(crate) fn refused(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self::Refused { what, expected: expected.to_string(), got: got.to_string() }
    }

    pub(crate) fn journal(record: &str, reason: impl ToString) -> Self {
        Self::Journal { record: record.to_owned(), reason: reason.to_string() }
    }
}

impl From<RingError> for PartiesError {
    fn from(error: RingError) -> Self {
        Self::Rlwe(error.into())
    }
}
