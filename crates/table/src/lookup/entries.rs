//! Files of entries, written and read one plaintext after the other.

use std::io::{BufRead, Write};

use sunzi_ring::Block;
use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, Header, Kind, Output, Scope, Sink, Source, WireError};

use super::Lookup;
use super::description::DATABASE;

/// Bytes of the first record: the hash of the description.
const FIRST: u64 = 32;

impl Lookup {
    /// The number of bytes of a file of entries.
    #[must_use]
    pub fn entries_len(&self) -> u64 {
        self.entries_body().saturating_add(HEADER_LEN as u64)
    }

    fn entries_body(&self) -> u64 {
        let layout = self.layout();
        let entries = layout.entries().saturating_mul(layout.entry_bytes() as u64);
        let records = layout.entries().div_ceil(layout.together()).saturating_add(1);
        entries.saturating_add(FIRST).saturating_add(records.saturating_mul(CHECKSUM_LEN as u64))
    }
}

/// A writer of the entries of a database, a record for all that share a plaintext.
pub struct EntriesWriter<O: Write> {
    output: Output<Block<O>>,
}

impl<O: Write> EntriesWriter<O> {
    /// Writes the header, and what belongs before the entries; the output is not flushed.
    ///
    /// # Errors
    /// [`WireError::Io`].
    pub fn new(lookup: &Lookup, out: O) -> Result<Self, WireError> {
        let header = Header {
            kind: Kind::LookupEntries as u16,
            parameters: lookup.expected().unwrap_or_default(),
            key: None,
            body_len: lookup.entries_body(),
        };
        let mut block = Block::new(out);
        block.write_all(&header.to_bytes())?;
        let mut output = Output::new(block);
        output.sealed(lookup.id())?;
        Ok(Self { output })
    }

    /// Writes entries that share a plaintext, or one that takes several.
    ///
    /// # Errors
    /// [`WireError::Io`].
    pub fn put(&mut self, entries: &[Vec<u8>]) -> Result<(), WireError> {
        self.output.sealed(&entries.concat())
    }
}

/// A reader of the entries of a database, which come in their order.
pub struct EntriesReader<'a, I: BufRead> {
    lookup: &'a Lookup,
    source: Source<I>,
    /// Number of entries that were read.
    done: u64,
}

impl<'a, I: BufRead> EntriesReader<'a, I> {
    /// Begins to read a file of `len` bytes.
    ///
    /// # Errors
    /// Every error of [`Header::read`]; [`WireError::Kind`]; [`WireError::Parameters`] for entries of another description; [`WireError::Length`].
    pub fn open(lookup: &'a Lookup, mut input: I, len: u64) -> Result<Self, WireError> {
        let header = Header::read(&mut input)?;
        if header.kind != Kind::LookupEntries as u16 {
            return Err(WireError::Kind { expected: Kind::LookupEntries, got: header.kind });
        }
        if let Some(expected) = lookup.expected() {
            expected.check(&header.parameters)?;
        }
        header.without_key()?;
        let behind = len.saturating_sub(HEADER_LEN as u64);
        match behind.checked_sub(header.body_len) {
            Some(0) => {}
            Some(extra) => return Err(WireError::Trailing { extra }),
            None => return Err(WireError::Truncated),
        }
        let mut source = Source::new(input, header.body_len);
        let id = source.sealed("the name of the database", FIRST as usize)?;
        if id[..] != lookup.id()[..] {
            return Err(WireError::Parameters { what: DATABASE });
        }
        if header.body_len != lookup.entries_body() {
            return Err(WireError::Length { expected: lookup.entries_body(), got: header.body_len });
        }
        Ok(Self { lookup, source, done: 0 })
    }

    /// Returns the next entries that share a plaintext; `None` behind the last.
    ///
    /// # Errors
    /// [`WireError::Checksum`]; [`WireError::Truncated`]; [`WireError::Io`].
    pub fn next_together(&mut self) -> Result<Option<Vec<Vec<u8>>>, WireError> {
        let layout = self.lookup.layout();
        let count = layout.together().min(layout.entries() - self.done);
        if count == 0 {
            return Ok(None);
        }
        let record = self.source.sealed("entries", count as usize * layout.entry_bytes())?;
        self.done += count;
        Ok(Some(record.chunks(layout.entry_bytes()).map(<[u8]>::to_vec).collect()))
    }
}
