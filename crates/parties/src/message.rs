//! Messages: an envelope of round, session, sender, parameters and a hash of what came before, around the content.

use std::fmt;

use sunzi_rlwe::wire::{
    CHECKSUM_LEN, FieldReader, Fields, Fingerprint, HEADER_LEN, Header, Kind, Source, WireError, checksum,
};

use crate::Session;
use crate::digest::{Digest, digest};

/// Length of the record of an envelope, in bytes.
const ENVELOPE_LEN: usize = 32 + 8 + 8 + 32 + 8;

/// A step of a protocol: what every party sends once. Each has a kind of objects of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Commitments to contributions to the reference.
    Commit,
    /// Contributions to the reference.
    Reveal,
    /// Commitments to shares of keys.
    CommitShares,
    /// Shares of keys.
    Shares,
    /// Second shares of a relinearisation key.
    SecondShares,
    /// Confirmations of keys.
    Confirm,
    /// Pieces of threshold shares, each for one other party.
    Deal,
    /// Confirmations of shares that were handed on.
    ConfirmShare,
    /// Shares of a decryption.
    Answer,
    /// Shares of a refresh.
    Refresh,
    /// Shares of a switch to a public key.
    Switch,
    /// Shares of a decryption of a message less what parties keep of it.
    Additive,
    /// Shares of a switch to another joint secret.
    JointSwitch,
}

/// A protocol, whose rounds follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Generation of keys.
    Keys,
    /// Dealing of threshold shares.
    Dealing,
    /// Decryption by shares.
    Decryption,
    /// Refresh of a ciphertext.
    Refresh,
    /// Switch of a ciphertext to a public key.
    Switch,
    /// Additive shares of a message.
    Additive,
    /// Switch of a ciphertext to another joint secret.
    JointSwitch,
}

impl Step {
    /// All steps.
    pub const ALL: [Self; 13] = [
        Self::Commit,
        Self::Reveal,
        Self::CommitShares,
        Self::Shares,
        Self::SecondShares,
        Self::Confirm,
        Self::Deal,
        Self::ConfirmShare,
        Self::Answer,
        Self::Refresh,
        Self::Switch,
        Self::Additive,
        Self::JointSwitch,
    ];

    /// The kind of the messages of a step.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Commit => Kind::ReferenceCommitment,
            Self::Reveal => Kind::ReferenceContribution,
            Self::CommitShares => Kind::KeyCommitment,
            Self::Shares => Kind::KeyShares,
            Self::SecondShares => Kind::SecondShares,
            Self::Confirm => Kind::KeyConfirmation,
            Self::Deal => Kind::DealtPiece,
            Self::ConfirmShare => Kind::ShareConfirmation,
            Self::Answer => Kind::DecryptionAnswer,
            Self::Refresh => Kind::RefreshAnswer,
            Self::Switch => Kind::SwitchAnswer,
            Self::Additive => Kind::AdditiveAnswer,
            Self::JointSwitch => Kind::JointSwitchAnswer,
        }
    }

    /// The number of the round of a step in its protocol, from 1 on.
    #[must_use]
    pub fn round(self) -> u64 {
        match self {
            Self::Reveal | Self::ConfirmShare => 2,
            Self::CommitShares => 3,
            Self::Shares => 4,
            Self::SecondShares => 5,
            Self::Confirm => 6,
            _ => 1,
        }
    }

    /// The protocol of a step.
    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Self::Deal | Self::ConfirmShare => Protocol::Dealing,
            Self::Answer => Protocol::Decryption,
            Self::Refresh => Protocol::Refresh,
            Self::Switch => Protocol::Switch,
            Self::Additive => Protocol::Additive,
            Self::JointSwitch => Protocol::JointSwitch,
            _ => Protocol::Keys,
        }
    }

    /// Returns the step whose messages have a kind.
    pub(crate) fn of(kind: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.kind() as u16 == kind)
    }
}

/// Formats a step as the number and name of its round.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {} ({})", self.round(), self.kind())
    }
}

/// A message of a party to all others.
///
/// ```
/// use sunzi_parties::{Message, Step};
/// use sunzi_rlwe::wire::Fingerprint;
///
/// let message = Message {
///     kind: Step::Reveal.kind() as u16,
///     parameters: Fingerprint::default(),
///     session: [1; 32],
///     round: Step::Reveal.round(),
///     sender: 2,
///     previous: [3; 32],
///     content: vec![4; 32],
/// };
/// assert_eq!(Message::read(&message.to_bytes())?, message);
/// # Ok::<(), sunzi_rlwe::wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of the kind of the message.
    pub kind: u16,
    /// Fingerprint of the parameters of the session.
    pub parameters: Fingerprint,
    /// Hash that names the session.
    pub session: [u8; 32],
    /// Number of the round.
    pub round: u64,
    /// Number of the party that sends.
    pub sender: u64,
    /// Hash of all messages of the rounds before, as the sender saw them; of the session in the first round.
    pub previous: [u8; 32],
    /// Content of the message, which the step says how to read.
    pub content: Vec<u8>,
}

impl Message {
    /// Makes the message of a party for a step.
    pub(crate) fn new(
        session: &Session,
        step: Step,
        sender: u32,
        previous: Digest,
        content: Vec<u8>,
    ) -> Self {
        Self {
            kind: step.kind() as u16,
            parameters: session.parameters(),
            session: *session.id(),
            round: step.round(),
            sender: sender.into(),
            previous,
            content,
        }
    }

    /// Returns the bytes of the message: a header, the record of the envelope, the record of the content.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let body_len = Self::bytes(self.content.len() as u64) - HEADER_LEN as u64;
        let header = Header { kind: self.kind, parameters: self.parameters, key: None, body_len };
        let mut envelope = Fields::default();
        envelope.bytes(&self.session);
        envelope.u64(self.round);
        envelope.u64(self.sender);
        envelope.bytes(&self.previous);
        envelope.usize(self.content.len());
        let mut bytes = header.to_bytes();
        for record in [envelope.as_bytes(), &self.content] {
            bytes.extend_from_slice(record);
            bytes.extend_from_slice(&checksum(record).to_le_bytes());
        }
        bytes
    }

    /// The number of bytes of a message with a content of the given length.
    #[must_use]
    pub fn bytes(content: u64) -> u64 {
        content.saturating_add((HEADER_LEN + ENVELOPE_LEN + 2 * CHECKSUM_LEN) as u64)
    }

    /// Reads a message from its bytes, with none left over. Takes no more memory than the bytes.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let (mut body, len) = (bytes, bytes.len() as u64);
        let header = Header::read(&mut body)?;
        header.without_key()?;
        match len.saturating_sub(HEADER_LEN as u64).checked_sub(header.body_len) {
            Some(0) => {}
            Some(extra) => return Err(WireError::Trailing { extra }),
            None => return Err(WireError::Truncated),
        }
        let mut source = Source::new(body, header.body_len);
        let record = source.sealed("the envelope", ENVELOPE_LEN)?;
        let mut fields = FieldReader::new(&record);
        let session = fields.array()?;
        let (round, sender) = (fields.u64()?, fields.u64()?);
        let previous = fields.array()?;
        let length = fields.usize_in("bytes of the content", 0..=bytes.len())?;
        let content = std::mem::take(&mut *source.sealed("the content", length)?);
        source.finish()?;
        let Header { kind, parameters, .. } = header;
        Ok(Self { kind, parameters, session, round, sender, previous, content })
    }

    /// Returns the hash of the bytes of a message.
    pub(crate) fn digest(bytes: &[u8]) -> Digest {
        digest("sunzi message", [bytes])
    }
}
