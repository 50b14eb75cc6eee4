//! Letters: messages in files that anybody may have written, signed by their senders and, where they are secret, encrypted for their recipients.
//!
//! A secret letter is encrypted by HPKE [RFC 9180] in its authenticated mode: X25519, HKDF-SHA256, ChaCha20-Poly1305. All randomness follows from sender and message, so that
//! a message that is sent again is the same file.

use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256 as Kem;
use hpke::{Deserializable, Kem as _, OpModeR, OpModeS, Serializable};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire::{FieldReader, Fields, WireError};
use zeroize::Zeroizing;

use crate::digest::{Digest, digest};
use crate::{Card, ChannelFault, Contacts, Identity, Party};

type PublicKey = <Kem as hpke::Kem>::PublicKey;
type Encapsulated = <Kem as hpke::Kem>::EncappedKey;

/// First bytes of a letter.
const MAGIC: [u8; 8] = *b"\x89SZLTR\r\n";
/// Length of what stands before the content.
pub(super) const HEAD_LEN: usize = 8 + 32 + 32 + 8 + 8 + 8 + 64;
/// Bytes that encryption adds to a message.
const SECRET_LEN: usize = 32 + 16;
const SIGNATURE: &str = "sunzi letter";

/// Between whom letters go, and in which channel.
pub(super) struct Post<'a> {
    pub(super) contacts: &'a Contacts,
    pub(super) channel: &'a [u8; 32],
    pub(super) identity: &'a Identity,
    pub(super) me: Party,
}

/// A letter that was read.
pub(super) struct Letter {
    pub(super) from: Party,
    /// Hash of its content, from which the name of its file follows.
    pub(super) mark: Digest,
    pub(super) message: Zeroizing<Vec<u8>>,
}

/// What a letter says before its content.
struct Head {
    channel: Digest,
    contacts: Digest,
    from: u64,
    /// Number of the party that the letter is for, or 0 for all.
    to: u64,
    len: u64,
    signature: [u8; 64],
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut fields = FieldReader::new(bytes);
        let magic: [u8; 8] = fields.array()?;
        if magic != MAGIC {
            return Err(WireError::Truncated);
        }
        let (channel, contacts) = (fields.array()?, fields.array()?);
        let (from, to, len) = (fields.u64()?, fields.u64()?, fields.u64()?);
        Ok(Self { channel, contacts, from, to, len, signature: fields.array()? })
    }
}

/// Returns the largest number of bytes of a letter with a message of the given length.
pub(super) fn longest(message: u64) -> u64 {
    message.saturating_add((HEAD_LEN + SECRET_LEN) as u64)
}

/// Returns the hash that stands for a message in the name of its file. That of a secret one says nothing to others.
pub(super) fn mark(content: &[u8]) -> Digest {
    digest("sunzi content of a letter", [content])
}

impl Post<'_> {
    /// Returns the bytes of a letter to a party, which alone can read it, or to all.
    ///
    /// # Errors
    /// [`ChannelFault::Secret`] for a party without a key to encrypt to.
    pub(super) fn write(&self, to: Option<Party>, message: &[u8]) -> Result<Vec<u8>, ChannelFault> {
        let [from, to_number] = [Some(self.me), to].map(number);
        let sealed = to.map(|to| self.seal(to, message)).transpose()?;
        let content = sealed.as_deref().unwrap_or(message);
        let contacts = self.contacts.digest();
        let mut fields = Fields::default();
        fields.bytes(&MAGIC);
        fields.bytes(self.channel);
        fields.bytes(&contacts);
        [from, to_number, content.len() as u64].into_iter().for_each(|word| fields.u64(word));
        let numbers = [from, to_number].map(u64::to_le_bytes).concat();
        let hash = mark(content);
        fields.bytes(&self.identity.sign(SIGNATURE, &[self.channel, &contacts, &numbers, &hash]));
        let mut bytes = fields.into_bytes();
        bytes.extend_from_slice(content);
        Ok(bytes)
    }

    /// Reads a letter, and returns its sender and message. `None` for a letter to somebody else.
    ///
    /// # Errors
    /// Any [`ChannelFault`].
    pub(super) fn read(&self, bytes: &[u8]) -> Result<Option<Letter>, ChannelFault> {
        let foreign = |_| ChannelFault::Foreign { expected: "a letter of Sunzi" };
        let (head, content) = bytes.split_at(HEAD_LEN.min(bytes.len()));
        let head = Head::read(head).map_err(foreign)?;
        let got = content.len() as u64;
        if got < head.len {
            return Err(ChannelFault::Truncated { expected: head.len, got });
        }
        if got > head.len {
            return Err(ChannelFault::Length { most: head.len, got });
        }
        if head.channel != *self.channel {
            return Err(ChannelFault::Channel { expected: *self.channel, got: head.channel });
        }
        if head.contacts != self.contacts.digest() {
            return Err(ChannelFault::Cards);
        }
        let roster = self.contacts.roster();
        let unknown = ChannelFault::Foreign { expected: "the number of a party" };
        let Ok(from) = roster.party(head.from) else { return Err(unknown) };
        let Some(card) = self.contacts.card(from) else { return Err(unknown) };
        let numbers = [head.from, head.to].map(u64::to_le_bytes).concat();
        let hash = mark(content);
        let parts: [&[u8]; 4] = [self.channel, &head.contacts, &numbers, &hash];
        if !card.signed(SIGNATURE, &parts, &head.signature) {
            return Err(ChannelFault::Signature { claimed: card.name().to_owned() });
        }
        let message = match head.to {
            0 => Zeroizing::new(content.to_vec()),
            to if to == u64::from(self.me.number()) => self.open(from, card, content)?,
            _ => return Ok(None),
        };
        Ok(Some(Letter { from, mark: hash, message }))
    }

    /// Binds a secret to its channel, its sender and its recipient.
    fn info(&self, from: Party, to: Party) -> Digest {
        let numbers = [from, to].map(|party| party.number().to_le_bytes()).concat();
        digest("sunzi secret letter", [&self.channel[..], &self.contacts.digest(), &numbers])
    }

    fn seal(&self, to: Party, message: &[u8]) -> Result<Vec<u8>, ChannelFault> {
        let lacks = |_| ChannelFault::Secret;
        let card = self.contacts.card(to).ok_or(ChannelFault::Secret)?;
        let key = PublicKey::from_bytes(card.sealing()).map_err(lacks)?;
        let info = self.info(self.me, to);
        let seed = self.identity.keyed("sunzi randomness of a letter", &[&info, message]);
        let own = self.identity.sealing().clone();
        let public = Kem::sk_to_pk(&own);
        let mode = OpModeS::<Kem>::Auth((own, public));
        let (encapsulated, sealed) = hpke::single_shot_seal_with_rng::<ChaCha20Poly1305, HkdfSha256, Kem>(
            &mode,
            &key,
            &info,
            message,
            &[],
            &mut SeededRng::from_key(&seed),
        )
        .map_err(lacks)?;
        Ok([&encapsulated.to_bytes()[..], &sealed].concat())
    }

    fn open(&self, from: Party, card: &Card, content: &[u8]) -> Result<Zeroizing<Vec<u8>>, ChannelFault> {
        let lacks = |_| ChannelFault::Secret;
        let (encapsulated, sealed) = content.split_at_checked(32).ok_or(ChannelFault::Secret)?;
        let encapsulated = Encapsulated::from_bytes(encapsulated).map_err(lacks)?;
        let mode = OpModeR::<Kem>::Auth(PublicKey::from_bytes(card.sealing()).map_err(lacks)?);
        let opened = hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, Kem>(
            &mode,
            self.identity.sealing(),
            &encapsulated,
            &self.info(from, self.me),
            sealed,
            &[],
        );
        Ok(Zeroizing::new(opened.map_err(lacks)?))
    }
}

/// The number of a party, or 0 for all.
fn number(party: Option<Party>) -> u64 {
    party.map_or(0, |party| party.number().into())
}
