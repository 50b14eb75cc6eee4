//! Metadata that Arrow carries beside the cells.

use std::sync::Arc;

use arrow_schema::{DataType, Field, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use serde::{Deserialize, Serialize};
use sunzi_program::schema::Kind;
use sunzi_program::{Column, Contexts, Schema};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Fingerprint, Kind as Object, WireError};

use super::cells::item;
use crate::file::kind;
use crate::{Input, TableError, inputs};

/// Name of the extension type of encrypted columns; its storage is binary.
pub const CIPHERTEXT: &str = "sunzi.ciphertext";
/// Key of the Arrow schema's metadata: `Table` as JSON.
pub const TABLE: &str = "sunzi.table";
/// Label of the indicator of the cells of a column of numbers that may have missing cells.
const VALID: &str = "valid";
/// Name of the column with the number of rows of each chunk.
pub const ROWS: &str = "sunzi.rows";
/// Key under which Arrow has the name of an extension type; the next constant is the key of the type's
/// metadata.
const EXTENSION_NAME: &str = "ARROW:extension:name";
const EXTENSION_METADATA: &str = "ARROW:extension:metadata";
/// Largest number of bytes of metadata of a Parquet file.
const MOST: usize = 1 << 22;

/// Properties of an encrypted table that all its columns share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    version: u32,
    /// Kind of the table in the wire format.
    kind: u16,
    ring: String,
    scheme: String,
    key: String,
    /// Number of rows of a full chunk.
    pub(super) span: usize,
    /// Column by which chunks are partitioned.
    pub(super) partition: Option<String>,
    /// Schema of the table, with the number of rows that were encrypted.
    pub(super) schema: Schema,
}

/// Metadata of an encrypted column: enough to tell its key and parameters.
#[derive(Serialize)]
struct Extension<'a> {
    version: u32,
    ring: &'a str,
    scheme: &'a str,
    key: &'a str,
    column: &'a str,
    label: Option<&'a str>,
}

impl Table {
    pub(super) fn new(contexts: &Contexts, schema: &Schema, key: KeyId, partition: Option<&Column>) -> Self {
        let Fingerprint { ring, scheme } = contexts.fingerprint();
        Self {
            version: 1,
            kind: kind(contexts.scheme(), false) as u16,
            ring: hex(&ring),
            scheme: hex(&scheme),
            key: hex(key.as_bytes()),
            span: contexts.layout(schema.rows).span,
            partition: partition.map(|column| column.name.clone()),
            schema: schema.clone(),
        }
    }

    /// Reads the properties of an encrypted table from the metadata of a file, where an engine leaves them:
    /// with those of Parquet, or in the Arrow schema among them.
    pub(super) fn of(file: &ArrowReaderMetadata, name: &str) -> Result<Self, TableError> {
        let missing =
            "has no encrypted table of Sunzi: whatever wrote it has to keep the metadata of the schema";
        let own = file.schema().metadata().get(TABLE).cloned();
        let in_arrow = || {
            let options = ArrowReaderOptions::default();
            let file = ArrowReaderMetadata::try_new(Arc::clone(file.metadata()), options).ok()?;
            file.schema().metadata().get(TABLE).cloned()
        };
        let json = own.or_else(in_arrow).ok_or_else(|| TableError::form(name, missing))?;
        if json.len() > MOST {
            return Err(
                WireError::value("bytes of the metadata", format!("at most {MOST}"), json.len()).into()
            );
        }
        let table: Self = serde_json::from_str(&json)?;
        table.schema.check()?;
        if table.version != 1 {
            return Err(WireError::Version { got: u16::try_from(table.version).unwrap_or(u16::MAX) }.into());
        }
        if !table.span.is_power_of_two() || table.span > 1 << 20 {
            return Err(WireError::value("rows of a chunk", "a power of two up to 2^20", table.span).into());
        }
        table.key()?;
        Ok(table)
    }

    pub(super) fn key(&self) -> Result<KeyId, TableError> {
        Ok(KeyId::from_bytes(
            unhex(&self.key)
                .ok_or_else(|| WireError::value("the name of the key", "32 digits", &self.key))?,
        ))
    }

    /// Leaves out the columns of the schema that the file lacks, wholly or in some labels: an engine may have
    /// kept some columns only.
    pub(super) fn keep(&mut self, is_there: impl Fn(&str) -> bool) {
        let whole = |at: usize| {
            let own = inputs(&self.schema).into_iter().filter(|input| input.column == at);
            own.map(|input| self.name(&input).0).all(|name| is_there(&name))
        };
        let columns = self.schema.columns.iter().enumerate();
        let kept =
            columns.filter(|(at, column)| if column.encrypted { whole(*at) } else { is_there(&column.name) });
        self.schema.columns = kept.map(|(_, column)| column.clone()).collect();
    }

    /// Checks that the table was encrypted under these parameters.
    pub(super) fn belongs_to(&self, contexts: &Contexts) -> Result<(), TableError> {
        let expected = kind(contexts.scheme(), false);
        if self.kind != expected as u16 {
            return Err(WireError::Kind { expected, got: self.kind }.into());
        }
        Ok(contexts.fingerprint().check(&self.parameters()?)?)
    }

    /// Fingerprint of the table's parameters.
    pub(super) fn parameters(&self) -> Result<Fingerprint, TableError> {
        let wrong = || WireError::value("fingerprints", "16 digits each", &self.ring);
        Ok(Fingerprint {
            ring: unhex(&self.ring).ok_or_else(wrong)?,
            scheme: unhex(&self.scheme).ok_or_else(wrong)?,
        })
    }

    /// Kind of the encrypted table in the wire format.
    pub(super) fn kind(&self) -> Option<Object> {
        Object::of(self.kind)
    }

    /// Returns the Arrow schema of the Parquet file.
    pub(super) fn arrow_schema(&self) -> Result<SchemaRef, TableError> {
        let mut fields = vec![Field::new(ROWS, DataType::UInt32, false)];
        for column in self.schema.columns.iter().filter(|column| !column.encrypted) {
            let cell = item(column);
            fields.push(if self.partition.as_ref() == Some(&column.name) {
                Field::new(&column.name, cell.data_type().clone(), false)
            } else {
                Field::new(&column.name, DataType::List(Arc::new(cell)), false)
            });
        }
        for input in inputs(&self.schema) {
            let (name, label) = self.name(&input);
            let column = self.schema.columns.get(input.column).map_or("", |column| column.name.as_str());
            let (ring, scheme, key) = (&self.ring, &self.scheme, &self.key);
            let extension = Extension { version: 1, ring, scheme, key, column, label };
            let metadata = [
                (EXTENSION_NAME.to_owned(), CIPHERTEXT.to_owned()),
                (EXTENSION_METADATA.to_owned(), serde_json::to_string(&extension)?),
            ];
            fields.push(Field::new(name, DataType::Binary, false).with_metadata(metadata));
        }
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        crate::csv::check_names(&names, &vec![true; names.len()], "the columns of the file")?;
        let metadata = [(TABLE.to_owned(), serde_json::to_string(self)?)];
        Ok(Arc::new(arrow_schema::Schema::new_with_metadata(fields, metadata)))
    }

    /// Returns the name of the column that holds an input, "region=north" or "age=valid", and its label.
    pub(super) fn name(&self, input: &Input) -> (String, Option<&str>) {
        let Some(column) = self.schema.columns.get(input.column) else { return (String::new(), None) };
        match (&column.kind, input.label) {
            (Kind::Category { labels }, Some(at)) => {
                let label = labels.get(at).map_or("", String::as_str);
                (format!("{}={label}", column.name), Some(label))
            }
            (_, Some(_)) => (format!("{}={VALID}", column.name), Some(VALID)),
            _ => (column.name.clone(), None),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(bytes)
}
