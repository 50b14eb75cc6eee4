//! Files with objects of Sunzi: `sunzi keygen`, `sunzi encrypt`, `sunzi inspect` and `sunzi check`.

pub(crate) mod check;
pub(crate) mod encrypt;
pub(crate) mod folder;
pub(crate) mod input;
pub(crate) mod inspect;
pub(crate) mod keygen;
pub(crate) mod mode;
mod refuse;
pub(crate) mod schema;
pub(crate) mod stored;
pub(crate) mod target;

use std::path::Path;

use sunzi::program::Contexts;
use sunzi::program::analysis::Parameters;
use sunzi::rlwe::wire::{Accept, WireError};
use sunzi::rlwe::words::bytes;
use sunzi::table::{Asked, TableError};

pub(crate) use self::refuse::{named, of_fault, refuse, refuse_keys, refuse_keys_of, refuse_table, shown};
use crate::error::CliError;
use crate::output;

/// Number of bytes from which on tables take a second or more to build: whoever waits is told.
const LARGE_TABLES: u64 = 1 << 28;

/// Largest number of bytes of a plan or schema in JSON that is read: the largest program takes less.
pub(crate) const LONGEST_JSON: u64 = 1 << 26;

/// Says on standard error that tables of parameters are being built, where that takes a while.
pub(crate) fn tell_tables(needed: u64) {
    if needed >= LARGE_TABLES {
        output::remark(&format!("making tables of about {} for these parameters", bytes(needed)));
    }
}

/// Makes the contexts of the parameters in a file.
pub(crate) fn contexts(accept: Accept, path: &Path) -> Result<Contexts, WireError> {
    let parameters = Parameters::load_as(accept, path)?;
    tell_tables(parameters.table_bytes());
    Ok(Contexts::new(&parameters)?)
}

/// Reads a file that should be a schema.
pub(crate) fn read_schema(path: &Path) -> Result<Asked, CliError> {
    let json = input::read_text(path, "a schema as sunzi schema writes it", LONGEST_JSON)?;
    sunzi::table::read_schema(&json).map_err(|error| refuse_schema(path, error))
}

/// Returns the command-line error for a file that should be a schema.
fn refuse_schema(path: &Path, error: TableError) -> CliError {
    CliError::input(format!("{} is no schema as sunzi schema writes it: {error}", named(path)))
}

/// Fails unless there is a folder for what is to be written.
pub(crate) fn check_parent(path: &Path) -> Result<(), CliError> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(CliError::io(format!(
            "there is no folder {}: make it first, or choose another place",
            named(folder)
        ))),
        None => Ok(()),
    }
}
