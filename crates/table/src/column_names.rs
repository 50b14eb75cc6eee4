//! Names of columns in descriptions of databases and of private sets.

use std::collections::HashSet;

use sunzi_rlwe::wire::{FieldReader, Fields, WireError};

use crate::lookup::MOST_COLUMNS;

/// Largest number of bytes of the name of a column.
pub(crate) const MOST_NAME: usize = 1 << 12;

/// Writes the names of columns.
pub(crate) fn put(names: &[String], fields: &mut Fields) {
    fields.usize(names.len());
    names.iter().for_each(|name| fields.text(name));
}

/// Reads the names of columns.
pub(crate) fn get(fields: &mut FieldReader<'_>) -> Result<Vec<String>, WireError> {
    let count = fields.usize_in("columns", 0..=MOST_COLUMNS)?;
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(fields.text("the name of a column", MOST_NAME)?.to_owned());
    }
    Ok(names)
}

/// Fails for a name that is empty, and for one that comes twice.
pub(crate) fn check<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), WireError> {
    let mut seen = HashSet::new();
    if names.into_iter().all(|name| !name.is_empty() && seen.insert(name.as_str())) {
        return Ok(());
    }
    Err(WireError::value("the names of columns", "different ones", "one twice, or none"))
}
