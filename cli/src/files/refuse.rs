//! Errors of files as command-line errors, by whose fault they are, and names of files in messages.

use std::io::ErrorKind;
use std::path::Path;

use sunzi::rlwe::wire::{Fault, WireError};
use sunzi::table::TableError;

use crate::error::CliError;

/// The name that stands for standard input and standard output.
pub(super) const STANDARD: &str = "-";

/// Returns the name of a file that is read in reports: its path, or "standard input".
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str() == STANDARD { "standard input".to_owned() } else { path.display().to_string() }
}

/// Returns the name of a path in messages: whole and in quotation marks, or "standard input".
pub(crate) fn named(path: &Path) -> String {
    if path.as_os_str() == STANDARD { shown(path) } else { format!("\"{}\"", path.display()) }
}

/// Returns the command-line error for an error of a file, by whose fault it is.
pub(crate) fn refuse(path: &Path, error: WireError) -> CliError {
    of_fault(error.fault(), format!("{}: {error}", named(path)))
}

/// Returns the command-line error for an error of a table: messages name the file where they have to.
pub(crate) fn refuse_table(path: &Path, error: TableError) -> CliError {
    match error {
        TableError::Wire(error) => refuse(path, error),
        other => of_fault(other.fault(), other.to_string()),
    }
}

/// Returns the command-line error for a message about an error that this side caused.
pub(crate) fn of_fault(fault: Fault, message: String) -> CliError {
    match fault {
        Fault::System => CliError::io(message),
        Fault::Object | Fault::Refused => CliError::input(message),
        Fault::Mismatch => CliError::mismatch(message),
        Fault::Damage => CliError::damaged(message),
    }
}

/// Returns the command-line error for an error in the folder of a party's keys.
pub(crate) fn refuse_keys(folder: &Path, party: &str, error: WireError) -> CliError {
    refuse_keys_of("sunzi keygen", folder, party, error)
}

/// Returns the command-line error for an error in the folder of a party's keys, which a command made.
pub(crate) fn refuse_keys_of(command: &str, folder: &Path, party: &str, error: WireError) -> CliError {
    let missing = matches!(&error, WireError::Io(error) if error.kind() == ErrorKind::NotFound);
    if !missing {
        return refuse(folder, error);
    }
    let (name, whole) = (named(folder), folder.join(party));
    if whole.is_dir() {
        return CliError::input(format!("{name} has the keys of all parties: give {}", named(&whole)));
    }
    CliError::io(if folder.is_dir() {
        format!("{name} is not the folder {party} that {command} made, or a file of it is missing")
    } else {
        format!("{name}: there is no such folder; give the folder {party} that {command} made")
    })
}
