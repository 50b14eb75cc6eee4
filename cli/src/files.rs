//! Files with objects of Sunzi: `sunzi keygen`, `sunzi encrypt`, `sunzi inspect` and `sunzi check`.

pub(crate) mod check;
pub(crate) mod encrypt;
pub(crate) mod inspect;
pub(crate) mod keygen;
pub(crate) mod stored;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use sunzi::bfv::explain::bytes;
use sunzi::program::Contexts;
use sunzi::program::analysis::Parameters;
use sunzi::rlwe::wire::{Accept, Fault, WireError};
use sunzi::table::{Asked, TableError};

use crate::error::{CliError, quoted};
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

/// Reads the text of a regular file of at most `most` bytes, of which no more is read; `expected` names what the file holds.
pub(crate) fn read_text(path: &Path, expected: &str, most: u64) -> io::Result<String> {
    let refused = |got: &str| {
        let most = bytes(most);
        let message =
            format!("expected {expected} of at most {most}, got {got}: give the name of such a file");
        io::Error::other(message)
    };
    // A pipe is not opened: that may wait for ever.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(refused(if metadata.is_dir() { "a folder" } else { "a pipe or device" }));
    }
    if metadata.len() > most {
        return Err(refused(&bytes(metadata.len())));
    }
    let mut text = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut text)?;
    // A file may grow while it is read, and files of the system do not say how long they are.
    if text.len() as u64 > most {
        return Err(refused("more"));
    }
    String::from_utf8(text).map_err(|_| refused("bytes that are not UTF-8"))
}

/// Returns the command-line error for an error of a file, by whose fault it is.
pub(crate) fn refuse(path: &Path, error: WireError) -> CliError {
    of_fault(error.fault(), format!("{}: {error}", quoted(&path.display().to_string())))
}

/// Returns the command-line error for an error of a table: messages name the file where they have to.
pub(crate) fn refuse_table(path: &Path, error: TableError) -> CliError {
    match error {
        TableError::Wire(error) => refuse(path, error),
        other => of_fault(other.fault(), other.to_string()),
    }
}

fn of_fault(fault: Fault, message: String) -> CliError {
    match fault {
        Fault::System | Fault::Object | Fault::Refused => CliError::input(message),
        Fault::Mismatch => CliError::mismatch(message),
        Fault::Damage => CliError::damaged(message),
    }
}

/// Returns the command-line error for an error in the folder of a party's keys.
pub(crate) fn refuse_keys(folder: &Path, party: &str, error: WireError) -> CliError {
    let missing = matches!(&error, WireError::Io(error) if error.kind() == ErrorKind::NotFound);
    if !missing {
        return refuse(folder, error);
    }
    let (name, whole) = (quoted(&folder.display().to_string()), folder.join(party));
    CliError::input(if !folder.is_dir() {
        format!("{name}: there is no such folder; give the folder {party} that sunzi keygen made")
    } else if whole.is_dir() {
        format!("{name} has the keys of all parties: give {}", quoted(&whole.display().to_string()))
    } else {
        format!("{name} is not the folder {party} that sunzi keygen made, or a file of it is missing")
    })
}

/// Reads a file that should be a schema.
pub(crate) fn read_schema(path: &Path) -> Result<Asked, CliError> {
    let json = read_text(path, "a schema as sunzi schema writes it", LONGEST_JSON);
    let json = json.map_err(|error| refuse(path, WireError::Io(error)))?;
    sunzi::table::read_schema(&json).map_err(|error| refuse_schema(path, error))
}

/// Returns the command-line error for a file that should be a schema.
fn refuse_schema(path: &Path, error: TableError) -> CliError {
    let name = quoted(&path.display().to_string());
    CliError::input(format!("{name} is no schema as sunzi schema writes it: {error}"))
}

/// Fails where no file can be written at this path, before any work is done for it.
pub(crate) fn check_target(path: &Path) -> Result<(), CliError> {
    let name = quoted(&path.display().to_string());
    if path.is_dir() {
        return Err(CliError::input(format!("{name} is a folder: give the name of a file")));
    }
    check_parent(path)
}

/// Fails unless there is a folder for what is to be written.
pub(crate) fn check_parent(path: &Path) -> Result<(), CliError> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => {
            let folder = quoted(&folder.display().to_string());
            Err(CliError::input(format!(
                "there is no folder {folder}: make it first, or choose another place"
            )))
        }
        None => Ok(()),
    }
}
