//! Descriptions of private sets: all that a client needs to ask and to read answers.

use std::io::BufRead;

use sha2::{Digest, Sha256};
use sunzi_bgv::Parameters;
use sunzi_oprf::PublicKey;
use sunzi_rlwe::wire::{
    Accept, FieldReader, Fields, Fingerprint, Format, Header, Kind, Sink, Source, StoredParameters,
    WireError, to_bytes,
};
use sunzi_rlwe::{KeyId, memory};

use crate::column_names::{self, MOST_NAME};

/// Words of errors for an object that was made for another set.
pub(super) const SET: &str = "items, by another description of a set";
/// Largest number of bytes of a description.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The description of a private set, which is public: parameters, the public key of the server, sizes, and the names of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub(super) parameters: Parameters,
    pub(super) key: PublicKey,
    pub(super) seed: [u8; 32],
    pub(super) items: u64,
    pub(super) label_bytes: usize,
    pub(super) sources: usize,
    pub(super) parts: usize,
    pub(super) by: String,
    pub(super) columns: Vec<String>,
}

impl Description {
    /// The parameters of queries and answers.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The public key of the server, under which it evaluates items.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The number of items of the set.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The name of the column whose cells are the items.
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Names of the columns whose cells a client gets for its items.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The hash of the description as a file, which names the set in queries.
    ///
    /// # Errors
    /// No error is expected.
    pub fn id(&self) -> Result<[u8; 32], WireError> {
        Ok(Sha256::digest(to_bytes(&Accept::Secure, self)?).into())
    }

    pub(super) fn put_fields(&self, fields: &mut Fields) {
        fields.bytes(self.key.as_bytes());
        fields.bytes(&self.seed);
        fields.u64(self.items);
        fields.usize(self.label_bytes);
        fields.usize(self.sources);
        fields.usize(self.parts);
        fields.text(&self.by);
        column_names::put(&self.columns, fields);
        self.parameters.put(fields);
    }

    pub(super) fn get_fields(accept: Accept, record: &[u8]) -> Result<Self, WireError> {
        let mut fields = FieldReader::new(record);
        let key = PublicKey::from_bytes(fields.array()?);
        let key =
            key.map_err(|_| WireError::value("the public key of a set", "an element", "other bytes"))?;
        let (seed, items) = (fields.array()?, fields.u64()?);
        let label_bytes = fields.usize_in("the bytes of a row", 0..=super::Layout::MOST_LABEL)?;
        let sources = fields.usize_in("the powers of a query", 1..=super::Layout::MOST_SOURCES)?;
        let parts = fields.usize_in("the polynomials of a bin", 1..=super::Layout::MOST_PARTS)?;
        let by = fields.text("the column of items", MOST_NAME)?.to_owned();
        let columns = column_names::get(&mut fields)?;
        let parameters = Parameters::get(&mut fields)?;
        fields.finish()?;
        column_names::check(std::iter::once(&by).chain(&columns))?;
        accept.check(&parameters.claim())?;
        memory::require(parameters.table_bytes())?;
        Ok(Self { parameters, key, seed, items, label_bytes, sources, parts, by, columns })
    }
}

impl Format<Description> for Accept {
    const KIND: Kind = Kind::SetDescription;

    fn origin(&self, description: &Description) -> (Fingerprint, Option<KeyId>) {
        (description.parameters.fingerprint(), None)
    }

    fn put(&self, description: &Description, sink: &mut impl Sink) -> Result<(), WireError> {
        let mut fields = Fields::default();
        description.put_fields(&mut fields);
        sink.sealed(fields.as_bytes())
    }

    fn get(&self, header: &Header, source: &mut Source<impl BufRead>) -> Result<Description, WireError> {
        header.without_key()?;
        let record = source.rest("a description", MOST_BYTES)?;
        let description = Description::get_fields(*self, &record)?;
        description.parameters.fingerprint().check(&header.parameters)?;
        Ok(description)
    }
}
