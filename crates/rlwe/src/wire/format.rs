//! Reading and writing of whole objects: header, then body.

use std::io::{BufRead, Write};

use sunzi_ring::{Append, Block};

use super::header::HEADER_LEN;
use super::sink::{Length, Output};
use super::{FieldReader, Fingerprint, Header, Kind, Sink, Source, WireError};
use crate::KeyId;

/// A scope in which objects are written and read: a context, or [`NoContext`](super::NoContext).
pub trait Scope {
    /// The fingerprint that objects must have; `None` for objects that are parameters or name their own.
    fn expected(&self) -> Option<Fingerprint> {
        None
    }
}

/// A scope in which objects of type `T` are written and read.
pub trait Format<T>: Scope {
    /// Kind of the objects, as headers number it.
    const KIND: Kind;

    /// The name of the secret key that an object belongs to, if there is one.
    fn key(&self, _: &T) -> Option<KeyId> {
        None
    }
    /// The fingerprint of the parameters of an object, and the name of its secret key.
    fn origin(&self, object: &T) -> (Fingerprint, Option<KeyId>) {
        (self.expected().unwrap_or_default(), self.key(object))
    }
    /// Writes the body of an object, which follows the header.
    ///
    /// # Errors
    /// [`WireError::Io`]; [`WireError::Rlwe`] and [`WireError::Scheme`] for an object of another context.
    fn put(&self, object: &T, sink: &mut impl Sink) -> Result<(), WireError>;
    /// Reads the body of an object, which follows the header that was checked.
    ///
    /// # Errors
    /// Any [`WireError`] but those of headers.
    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<T, WireError>;
}

/// Writes an object, header first; the output is not flushed.
///
/// # Errors
/// [`WireError::Io`]; [`WireError::Rlwe`] and [`WireError::Scheme`] for an object of another context.
pub fn write<T, C: Format<T>>(context: &C, object: &T, out: impl Write) -> Result<(), WireError> {
    let header = header(context, object)?;
    put(context, object, &header, Block::new(out)).map(drop)
}

/// Returns the bytes of an object, header first.
///
/// # Errors
/// [`WireError::Rlwe`] and [`WireError::Scheme`] for an object of another context.
pub fn to_bytes<T, C: Format<T>>(context: &C, object: &T) -> Result<Vec<u8>, WireError> {
    let header = header(context, object)?;
    let bytes = Vec::with_capacity(HEADER_LEN + header.body_len as usize);
    put(context, object, &header, bytes)
}

fn header<T, C: Format<T>>(context: &C, object: &T) -> Result<Header, WireError> {
    let mut length = Length::default();
    context.put(object, &mut length)?;
    let (parameters, key) = context.origin(object);
    Ok(Header { kind: C::KIND as u16, parameters, key, body_len: length.bytes() })
}

fn put<T, C: Format<T>, O: Append>(
    context: &C,
    object: &T,
    header: &Header,
    mut out: O,
) -> Result<O, WireError> {
    out.write_all(&header.to_bytes())?;
    let mut output = Output::new(out);
    context.put(object, &mut output)?;
    Ok(output.into_inner())
}

/// Reads an object from its bytes, header first, with none left over.
///
/// # Errors
/// Any [`WireError`].
pub fn from_bytes<T, C: Format<T>>(context: &C, bytes: &[u8]) -> Result<T, WireError> {
    Reader::with_len(bytes, bytes.len() as u64)?.read(context)
}

/// A reader of one object, whose header was read.
pub struct Reader<I: BufRead> {
    header: Header,
    input: I,
    /// Number of bytes of the input behind the header, where that is known.
    behind: Option<u64>,
}

impl<I: BufRead> Reader<I> {
    /// Reads the header of the next object of a stream.
    ///
    /// # Errors
    /// Every error of [`Header::read`].
    pub fn new(mut input: I) -> Result<Self, WireError> {
        Ok(Self { header: Header::read(&mut input)?, input, behind: None })
    }

    /// Reads the header of an object that must have `len` bytes, header included: the length is checked once
    /// the object is known to be of the kind that is read.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn with_len(input: I, len: u64) -> Result<Self, WireError> {
        Ok(Self { behind: Some(len.saturating_sub(HEADER_LEN as u64)), ..Self::new(input)? })
    }

    /// Checks that the input has as many bytes as the header says.
    ///
    /// # Errors
    /// [`WireError::Truncated`] for fewer bytes; [`WireError::Trailing`] for more.
    pub fn whole(self) -> Result<Self, WireError> {
        let expected = self.header.body_len;
        match self.behind.unwrap_or(expected).checked_sub(expected) {
            Some(0) => Ok(self),
            Some(extra) => Err(WireError::Trailing { extra }),
            None => Err(WireError::Truncated),
        }
    }

    /// The header of the object to be read.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns how many keys or ciphertexts an object of several has: Galois keys, or an array of ciphertexts. `None` for any other object.
    ///
    /// # Errors
    /// [`WireError::Truncated`]; [`WireError::Trailing`]; [`WireError::Checksum`]; [`WireError::Io`].
    pub fn count(self) -> Result<Option<u64>, WireError> {
        let several = [Kind::GaloisKeys, Kind::BfvCiphertexts, Kind::BgvCiphertexts, Kind::CkksCiphertexts];
        let Some(kind) = Kind::of(self.header.kind).filter(|kind| several.contains(kind)) else {
            return Ok(None);
        };
        let what =
            if kind == Kind::GaloisKeys { "the count of Galois keys" } else { "the count of ciphertexts" };
        let body_len = self.header.body_len;
        let record = Source::new(self.whole()?.input, body_len).sealed(what, 8)?;
        FieldReader::new(&record).u64().map(Some)
    }

    /// Checks that the object belongs to the secret key of this name.
    ///
    /// # Errors
    /// [`WireError::Key`] for an object of another key.
    pub fn for_key(self, key: KeyId) -> Result<Self, WireError> {
        let (expected, got) = (Some(key), self.header.key);
        if got == expected { Ok(self) } else { Err(WireError::Key { expected, got }) }
    }

    /// Reads the object behind the header.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn read<T, C: Format<T>>(self, context: &C) -> Result<T, WireError> {
        Ok(self.read_next(context)?.0)
    }

    /// Reads the object behind the header, and returns it with the input, positioned behind the object.
    ///
    /// # Errors
    /// Any [`WireError`].
    pub fn read_next<T, C: Format<T>>(self, context: &C) -> Result<(T, I), WireError> {
        let (header, mut source) = self.into_source(context)?;
        let object = context.get(&header, &mut source)?;
        Ok((object, source.finish()?))
    }

    /// Returns the header and the source of the body, after a check of kind, parameters and length.
    pub(super) fn into_source<T, C: Format<T>>(self, context: &C) -> Result<(Header, Source<I>), WireError> {
        let header = self.header;
        if header.kind != C::KIND as u16 {
            return Err(WireError::Kind { expected: C::KIND, got: header.kind });
        }
        if let Some(expected) = context.expected() {
            expected.check(&header.parameters)?;
        }
        Ok((header, Source::new(self.whole()?.input, header.body_len)))
    }
}
