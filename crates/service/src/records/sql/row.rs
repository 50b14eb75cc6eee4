//! Rows that statements give.

use std::io::{Error, ErrorKind};

use crate::refusal::Result;

/// Value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::records) enum Cell {
    /// Nothing.
    Null,
    /// Whole number.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Row of a result, whose columns are read by their places.
#[derive(Clone, Debug)]
pub(in crate::records) struct Row(pub(in crate::records) Vec<Cell>);

impl Row {
    fn cell(&self, at: usize) -> &Cell {
        self.0.get(at).unwrap_or(&Cell::Null)
    }

    /// Reads a whole number.
    pub(in crate::records) fn integer(&self, at: usize) -> Result<i64> {
        self.optional_integer(at)?.ok_or_else(|| unexpected(at))
    }

    /// Reads a whole number, if there is one.
    pub(super) fn optional_integer(&self, at: usize) -> Result<Option<i64>> {
        match self.cell(at) {
            Cell::Integer(value) => Ok(Some(*value)),
            Cell::Null => Ok(None),
            _ => Err(unexpected(at)),
        }
    }

    /// Reads a count.
    pub(super) fn count(&self, at: usize) -> Result<u64> {
        u64::try_from(self.integer(at)?).map_err(|_| unexpected(at))
    }

    /// Reads a count, if there is one.
    pub(super) fn optional_count(&self, at: usize) -> Result<Option<u64>> {
        let count = self.optional_integer(at)?;
        count.map(|count| u64::try_from(count).map_err(|_| unexpected(at))).transpose()
    }

    /// Reads a text.
    pub(super) fn text(&self, at: usize) -> Result<String> {
        self.optional_text(at)?.ok_or_else(|| unexpected(at))
    }

    /// Reads a text, if there is one.
    pub(super) fn optional_text(&self, at: usize) -> Result<Option<String>> {
        match self.cell(at) {
            Cell::Text(text) => Ok(Some(text.clone())),
            Cell::Null => Ok(None),
            _ => Err(unexpected(at)),
        }
    }

    /// Reads a text that stands for something, such as the name of bytes.
    pub(super) fn parsed<T>(&self, at: usize, parse: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        parse(&self.text(at)?).ok_or_else(|| unexpected(at))
    }

    /// Reads so many bytes.
    pub(super) fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        match self.cell(at) {
            Cell::Bytes(bytes) => bytes.as_slice().try_into().map_err(|_| unexpected(at)),
            _ => Err(unexpected(at)),
        }
    }
}

/// Makes the error of a column that holds what the server does not write.
fn unexpected(at: usize) -> crate::ServiceError {
    let message = format!("column {at} of the state holds what this release does not write");
    Error::new(ErrorKind::InvalidData, message).into()
}
