//! What goes over a connection: a hello of each end, and frames.

use std::time::{Duration, Instant};

use sunzi_rlwe::wire::{FieldReader, Fields};
use zeroize::Zeroizing;

use crate::{ChannelFault, Contacts, Party};

/// First bytes of a hello.
const MAGIC: [u8; 8] = *b"\x89SZTLS\r\n";
/// Length of a hello.
pub(super) const HELLO_LEN: usize = 8 + 32 + 32 + 8 + 8;
/// Length of what stands before the bytes of a frame: its kind, and its length.
const HEAD_LEN: usize = 9;
/// A frame must come at this pace at least, in bytes a second.
const PACE: u64 = 16 * 1024;

/// Kinds of frames.
const ALIVE: u8 = 0;
const MESSAGE: u8 = 1;
const DONE: u8 = 2;

/// Returns the hello of a party to another one.
pub(super) fn hello(channel: &[u8; 32], contacts: &Contacts, me: Party, to: Party) -> Vec<u8> {
    let mut fields = Fields::default();
    fields.bytes(&MAGIC);
    fields.bytes(channel);
    fields.bytes(&contacts.digest());
    [me, to].into_iter().for_each(|party| fields.u64(party.number().into()));
    fields.into_bytes()
}

/// Checks the hello of a party to this one.
///
/// # Errors
/// [`ChannelFault::Channel`], [`ChannelFault::Cards`] for other terms and cards; [`ChannelFault::Foreign`].
pub(super) fn check_hello(
    bytes: &[u8],
    channel: &[u8; 32],
    contacts: &Contacts,
    from: Party,
    me: Party,
) -> Result<(), ChannelFault> {
    let foreign = ChannelFault::Foreign { expected: "the hello of a party" };
    let mut fields = FieldReader::new(bytes);
    let (Ok(magic), Ok(got), Ok(cards)) = (fields.array::<8>(), fields.array(), fields.array::<32>()) else {
        return Err(foreign);
    };
    if magic != MAGIC {
        return Err(foreign);
    }
    if cards != contacts.digest() {
        return Err(ChannelFault::Cards);
    }
    if got != *channel {
        return Err(ChannelFault::Channel { expected: *channel, got });
    }
    // With equal cards, numbers differ for a party that does not tell the truth alone.
    let numbers = [fields.u64().ok(), fields.u64().ok()];
    if numbers == [from, me].map(|party| Some(party.number().into())) { Ok(()) } else { Err(foreign) }
}

/// A frame that came.
pub(super) enum Frame {
    /// A sign of life.
    Alive,
    /// A message.
    Message(Zeroizing<Vec<u8>>),
    /// The party is at its end, and lacks nothing.
    Done,
}

/// Returns what stands before the bytes of a message.
pub(super) fn message_head(len: usize) -> [u8; HEAD_LEN] {
    head(MESSAGE, len as u64)
}

/// Returns a sign of life.
pub(super) fn alive() -> [u8; HEAD_LEN] {
    head(ALIVE, 0)
}

/// Returns the frame that says that this party is at its end.
pub(super) fn done() -> [u8; HEAD_LEN] {
    head(DONE, 0)
}

fn head(kind: u8, len: u64) -> [u8; HEAD_LEN] {
    let mut head = [kind; HEAD_LEN];
    for (to, byte) in head.iter_mut().skip(1).zip(len.to_le_bytes()) {
        *to = byte;
    }
    head
}

/// Puts frames together from the bytes that come.
pub(super) struct Assembler {
    most: u64,
    head: Vec<u8>,
    /// Length of the message that is on its way, and what came of it.
    body: Option<(u64, Zeroizing<Vec<u8>>)>,
    began: Instant,
}

impl Assembler {
    /// Takes messages of at most so many bytes.
    pub(super) fn new(most: u64) -> Self {
        Self { most, head: Vec::with_capacity(HEAD_LEN), body: None, began: Instant::now() }
    }

    /// Takes bytes up to the end of a frame, and returns it with the number of bytes that it took; no frame where it needs more than there are.
    ///
    /// # Errors
    /// [`ChannelFault::Length`] for a message that is too long, before room is taken for it; [`ChannelFault::Foreign`] for no frame.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(usize, Option<Frame>), ChannelFault> {
        if self.is_empty() {
            self.began = Instant::now();
        }
        let Some((len, body)) = &mut self.body else {
            let (taken, _) = bytes.split_at(bytes.len().min(HEAD_LEN - self.head.len()));
            self.head.extend_from_slice(taken);
            if self.head.len() < HEAD_LEN {
                return Ok((taken.len(), None));
            }
            return Ok((taken.len(), self.begin()?));
        };
        let left = usize::try_from(*len - body.len() as u64).unwrap_or(usize::MAX);
        let (taken, _) = bytes.split_at(bytes.len().min(left));
        body.extend_from_slice(taken);
        if (body.len() as u64) < *len {
            return Ok((taken.len(), None));
        }
        let body = self.body.take().map(|(_, body)| body).unwrap_or_default();
        Ok((taken.len(), Some(Frame::Message(body))))
    }

    /// Reads the head of a frame.
    fn begin(&mut self) -> Result<Option<Frame>, ChannelFault> {
        let foreign = ChannelFault::Foreign { expected: "a frame of a party" };
        let Some((&kind, len)) = self.head.split_first() else { return Err(foreign) };
        let len = len.first_chunk().map_or(u64::MAX, |len| u64::from_le_bytes(*len));
        self.head.clear();
        match (kind, len) {
            (ALIVE, 0) => Ok(Some(Frame::Alive)),
            (DONE, 0) => Ok(Some(Frame::Done)),
            (MESSAGE, 0) => Err(foreign),
            (MESSAGE, len) if len > self.most => Err(ChannelFault::Length { most: self.most, got: len }),
            (MESSAGE, len) => {
                // All room is there from the start: a buffer that grows leaves copies of secrets.
                let room = usize::try_from(len).unwrap_or(0);
                self.body = Some((len, Zeroizing::new(Vec::with_capacity(room))));
                Ok(None)
            }
            _ => Err(foreign),
        }
    }

    /// Whether no frame is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty() && self.body.is_none()
    }

    /// Fails where the frame on its way takes too long.
    ///
    /// # Errors
    /// [`ChannelFault::Slow`].
    pub(super) fn check_pace(&self, idle: Duration) -> Result<(), ChannelFault> {
        let len = self.body.as_ref().map_or(0, |(len, _)| *len);
        let limit = idle.saturating_add(Duration::from_secs(len / PACE));
        if self.is_empty() || self.began.elapsed() <= limit {
            return Ok(());
        }
        Err(ChannelFault::Slow { what: "a message", seconds: limit.as_secs() })
    }

    /// Returns the fault of a connection that ended here, if it ended within a frame.
    pub(super) fn ended(&self) -> Result<(), ChannelFault> {
        if self.is_empty() {
            return Ok(());
        }
        let (expected, got) = self
            .body
            .as_ref()
            .map_or((HEAD_LEN as u64, self.head.len() as u64), |(len, body)| (*len, body.len() as u64));
        Err(ChannelFault::Truncated { expected, got })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(mut bytes: &[u8], most: u64) -> Result<Vec<Vec<u8>>, ChannelFault> {
        let mut assembler = Assembler::new(most);
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let (taken, frame) = assembler.push(&bytes[..bytes.len().min(5)])?;
            bytes = &bytes[taken..];
            match frame {
                Some(Frame::Message(message)) => found.push(message.to_vec()),
                Some(Frame::Alive) => found.push(b"alive".to_vec()),
                Some(Frame::Done) => found.push(b"done".to_vec()),
                None => {}
            }
        }
        assembler.ended()?;
        Ok(found)
    }

    #[test]
    fn frames_come_back_and_others_are_refused() {
        let mut bytes = message_head(12).to_vec();
        bytes.extend_from_slice(b"twelve bytes");
        bytes.extend_from_slice(&alive());
        bytes.extend_from_slice(&done());
        assert_eq!(frames(&bytes, 12).unwrap(), [&b"twelve bytes"[..], b"alive", b"done"]);
        assert_eq!(frames(&bytes, 11), Err(ChannelFault::Length { most: 11, got: 12 }));
        assert_eq!(
            frames(&message_head(usize::MAX), 11).err().unwrap().to_string().split(' ').next(),
            Some("a")
        );
        assert_eq!(frames(&bytes[..15], 12), Err(ChannelFault::Truncated { expected: 12, got: 6 }));
        assert_eq!(frames(&bytes[..7], 12), Err(ChannelFault::Truncated { expected: 9, got: 7 }));
        assert!(matches!(frames(b"GET / HTTP/1.1", 12), Err(ChannelFault::Foreign { .. })));
        assert!(matches!(frames(&message_head(0), 12), Err(ChannelFault::Foreign { .. })));
        assert!(matches!(frames(&head(ALIVE, 1), 12), Err(ChannelFault::Foreign { .. })));
    }
}
