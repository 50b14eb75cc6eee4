//! Descriptions of databases: all that a client needs to ask and to read answers.

use std::io::BufRead;

use sha2::{Digest, Sha256};
use sunzi_bfv::Parameters;
use sunzi_rlwe::KeyId;
use sunzi_rlwe::memory;
use sunzi_rlwe::wire::{
    Accept, FieldReader, Fields, Fingerprint, Format, Header, Kind, SecurityClaim, Sink, Source,
    StoredParameters, WireError, to_bytes,
};

use crate::column_names::{self, MOST_NAME};

/// Words of errors for an object that was made for another database.
pub(super) const DATABASE: &str = "entries, by another description of a database";
/// Largest number of bytes of a description.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// Key that rows are asked by: their numbers, or a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// By their numbers, from 1 on.
    Number,
    /// By their cells in the column of this name, which differ from row to row.
    Keyword(String),
}

/// The description of a database, which is public: parameters, what rows are asked by, and their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub(super) parameters: Parameters,
    pub(super) by: By,
    /// Seed of the hash of keywords, and of the checksums of entries.
    pub(super) seed: [u8; 32],
    pub(super) rows: u64,
    pub(super) value_bytes: usize,
    pub(super) columns: Vec<String>,
}

impl Description {
    /// The parameters of queries and answers.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The key that rows are asked by.
    #[must_use]
    pub fn by(&self) -> &By {
        &self.by
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of bytes of the longest row; every entry takes as much.
    #[must_use]
    pub fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Names of the columns whose cells are looked up.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The hash of the description as a file, which names the database in queries.
    ///
    /// # Errors
    /// No error is expected.
    pub fn id(&self) -> Result<[u8; 32], WireError> {
        Ok(Sha256::digest(to_bytes(&Accept::Secure, self)?).into())
    }

    pub(super) fn put_fields(&self, fields: &mut Fields) {
        let column = match &self.by {
            By::Number => None,
            By::Keyword(column) => Some(column),
        };
        fields.u64(u64::from(column.is_some()));
        fields.bytes(&self.seed);
        fields.u64(self.rows);
        fields.usize(self.value_bytes);
        fields.text(column.map_or("", String::as_str));
        column_names::put(&self.columns, fields);
        self.parameters.put(fields);
    }

    pub(super) fn get_fields(accept: Accept, record: &[u8]) -> Result<Self, WireError> {
        let mut fields = FieldReader::new(record);
        let by_keyword = fields.flag("whether rows are asked by a keyword")?;
        let (seed, rows) = (fields.array()?, fields.u64()?);
        let value_bytes = fields.usize_in("the bytes of a row", 0..=1 << 24)?;
        let column = fields.text("the column of keywords", MOST_NAME)?;
        let columns = column_names::get(&mut fields)?;
        let parameters = Parameters::get(&mut fields)?;
        fields.finish()?;
        let by = match (by_keyword, column) {
            (false, "") => By::Number,
            (false, _) => return Err(WireError::value("the column of keywords", "none", "one")),
            (true, column) => By::Keyword(column.to_owned()),
        };
        column_names::check(&columns)?;
        accept.check(&parameters.claim())?;
        memory::require(parameters.table_bytes())?;
        Ok(Self { parameters, by, seed, rows, value_bytes, columns })
    }

    /// The security claim of the parameters.
    #[must_use]
    pub fn claim(&self) -> SecurityClaim {
        self.parameters.claim()
    }
}

impl Format<Description> for Accept {
    const KIND: Kind = Kind::LookupDescription;

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
