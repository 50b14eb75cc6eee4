//! Wire format of Galois keys, with a directory by which one of many keys is read.

use std::collections::BTreeMap;
use std::io::{BufRead, Seek, SeekFrom};

use sunzi_math::RingIndex;

use super::header::HEADER_LEN;
use super::keys::{Bodies, get_switch, put_switch};
use super::sink::{CHECKSUM_LEN, Length};
use super::{FieldReader, Fields, Format, Header, Kind, Reader, Sink, Source, WireError};
use crate::{GaloisKeys, KeyId, KeySwitchKey, RlweContext};

/// Length of an entry of a directory, in bytes: exponent, offset and length.
const ENTRY_LEN: usize = 3 * 8;

/// An entry of a directory of Galois keys: the position of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    exponent: u64,
    /// Offset of the key from the first byte of the body.
    offset: u64,
    len: u64,
}

/// Writes a directory of Galois keys: the number of keys, then their entries by ascending exponent, as two records.
fn put_directory(entries: &[Entry], sink: &mut impl Sink) -> Result<(), WireError> {
    sink.sealed(&(entries.len() as u64).to_le_bytes())?;
    let mut fields = Fields::default();
    for entry in entries {
        fields.u64(entry.exponent);
        fields.u64(entry.offset);
        fields.u64(entry.len);
    }
    sink.sealed(fields.as_bytes())
}

/// Returns the length of both records of a directory of `count` Galois keys, in bytes.
pub(super) fn directory_len(count: usize) -> u64 {
    (8 + count * ENTRY_LEN + 2 * CHECKSUM_LEN) as u64
}

/// Reads a directory of Galois keys, which follow it without gaps, and where they end.
fn get_directory(
    ring: &RingIndex,
    source: &mut Source<impl BufRead>,
) -> Result<(Vec<Entry>, u64), WireError> {
    let body = source.left();
    let record = source.sealed("the count of Galois keys", 8)?;
    let count = FieldReader::new(&record).usize_in("Galois keys", 0..=ring.degree())?;
    let record = source.sealed("the directory of Galois keys", count * ENTRY_LEN)?;
    let mut fields = FieldReader::new(&record);
    let (mut entries, mut least, mut next) = (Vec::new(), 2, directory_len(count));
    for _ in 0..count {
        let entry = Entry { exponent: fields.u64()?, offset: fields.u64()?, len: fields.u64()? };
        if entry.exponent < least || !ring.is_automorphism(entry.exponent) {
            let expected = format!("ascending exponents of automorphisms, below {}", ring.value());
            return Err(WireError::value("exponents of Galois keys", expected, entry.exponent));
        }
        if entry.offset != next {
            return Err(WireError::value("offset of a Galois key", next, entry.offset));
        }
        next = next.saturating_add(entry.len);
        least = entry.exponent + 1;
        entries.push(entry);
    }
    if next <= body { Ok((entries, next)) } else { Err(WireError::Length { expected: next, got: body }) }
}

/// Reads one Galois key, of just the bytes that its entry says.
fn get_entry(context: &RlweContext, entry: &Entry, input: impl BufRead) -> Result<KeySwitchKey, WireError> {
    let mut source = Source::new(input, entry.len);
    let key = get_switch(context, Bodies::Stored, &mut source)?;
    source.finish()?;
    Ok(key)
}

impl Format<GaloisKeys> for RlweContext {
    const KIND: Kind = Kind::GaloisKeys;

    fn key(&self, keys: &GaloisKeys) -> Option<KeyId> {
        Some(keys.id())
    }

    fn put(&self, keys: &GaloisKeys, sink: &mut impl Sink) -> Result<(), WireError> {
        let mut offset = directory_len(keys.exponents().count());
        let (mut entries, mut lengths) = (Vec::new(), BTreeMap::new());
        for (exponent, key) in keys.iter() {
            // The length is computed once a level: keys of one level are equally long.
            let len = match lengths.get(&key.level()) {
                Some(&len) => len,
                None => {
                    let mut length = Length::default();
                    put_switch(self, key, Bodies::Stored, &mut length)?;
                    lengths.insert(key.level(), length.bytes());
                    length.bytes()
                }
            };
            entries.push(Entry { exponent, offset, len });
            offset += len;
        }
        put_directory(&entries, sink)?;
        keys.iter().try_for_each(|(_, key)| put_switch(self, key, Bodies::Stored, sink))
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<GaloisKeys, WireError> {
        let ring = self.ring();
        let (entries, _) = get_directory(ring.ring_index(), source)?;
        let mut keys = BTreeMap::new();
        for entry in &entries {
            let before = source.left();
            keys.insert(entry.exponent, get_switch(self, Bodies::Stored, source)?);
            let got = before - source.left();
            if got != entry.len {
                return Err(WireError::Length { expected: entry.len, got });
            }
        }
        Ok(GaloisKeys::from_keys(header.required_key()?, ring.index(), keys))
    }
}

/// A file of Galois keys, from which single keys are read: a file, or a slice of memory that a file is
/// mapped to.
///
/// ```
/// use std::io::Cursor;
/// use sunzi_ring::Ring;
/// use sunzi_rlwe::{GaloisKeys, RlweContext, SecretKey, Security, randomness, wire};
///
/// let ring = Ring::new(128, &sunzi_math::primes_below(1 << 36, 128, 3)?)?;
/// let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(&context, &mut rng)?;
/// let keys = GaloisKeys::for_rotations(&context, &secret, 1..=8, &mut rng)?;
/// let bytes = wire::to_bytes(&context, &keys)?;
///
/// let mut file = wire::GaloisFile::open(&context, Cursor::new(&bytes[..]))?;
/// assert_eq!(file.exponents().count(), 8);
/// let few = file.read(&[3, 9])?;
/// assert_eq!(few.exponents().collect::<Vec<_>>(), [3, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GaloisFile<'a, I: BufRead + Seek> {
    context: &'a RlweContext,
    id: KeyId,
    entries: Vec<Entry>,
    /// Position in the input at which the body starts.
    start: u64,
    input: I,
}

impl<'a, I: BufRead + Seek> GaloisFile<'a, I> {
    /// Reads the header and the directory of Galois keys from the position of the input.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn open(context: &'a RlweContext, mut input: I) -> Result<Self, WireError> {
        let start = input.stream_position()? + HEADER_LEN as u64;
        let reader = Reader::new(&mut input)?;
        let (header, mut source) = reader.into_source::<GaloisKeys, _>(context)?;
        let ring = context.ring();
        let body = source.left();
        let (entries, expected) = get_directory(ring.ring_index(), &mut source)?;
        if expected != body {
            return Err(WireError::Length { expected, got: body });
        }
        Ok(Self { context, id: header.required_key()?, entries, start, input })
    }

    /// The name of the secret key to which the Galois keys of the file belong.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The exponents k that have Galois keys in the file, ascending.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries.iter().map(|entry| entry.exponent)
    }

    /// Reads the Galois keys of the given exponents; repetitions and the identity cost nothing.
    ///
    /// # Errors
    /// [`RlweError::MissingGaloisKey`](crate::RlweError::MissingGaloisKey); any [`WireError`].
    pub fn read(&mut self, exponents: &[u64]) -> Result<GaloisKeys, WireError> {
        let index = self.context.ring().index();
        let mut keys = BTreeMap::new();
        for &exponent in exponents.iter().filter(|&&exponent| exponent != 1) {
            let Ok(at) = self.entries.binary_search_by_key(&exponent, |entry| entry.exponent) else {
                let present = self.exponents().collect();
                return Err(crate::RlweError::MissingGaloisKey { exponent, index, present }.into());
            };
            if let (Some(entry), false) = (self.entries.get(at), keys.contains_key(&exponent)) {
                self.input.seek(SeekFrom::Start(self.start.saturating_add(entry.offset)))?;
                keys.insert(exponent, get_entry(self.context, entry, &mut self.input)?);
            }
        }
        Ok(GaloisKeys::from_keys(self.id, index, keys))
    }
}
