//! `sunzi lookup`: a row of a public table, by a keyword or its number that the server does not learn.

mod answer;
mod ask;
mod build;
mod keygen;
#[cfg(feature = "serve")]
mod query;
mod read;
#[cfg(feature = "serve")]
pub(crate) mod serve;
#[cfg(feature = "serve")]
pub(crate) mod server;
mod update;
mod wanted;

use std::fs;
use std::path::Path;

use serde::Serialize;
use sunzi::program::contexts::{SECRET, SecretKey};
use sunzi::rlwe::memory;
use sunzi::rlwe::wire::{Accept, StoredParameters, WireError, load};
use sunzi::rlwe::words::bytes;
use sunzi::table::TableError;
use sunzi::table::lookup::{Description, Lookup};

use self::wanted::wanted;
use crate::args::lookup::{LookupArgs, LookupCommand};
use crate::args::passphrase::PassphraseArgs;
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::mode::ModeArgs;
use crate::files::{check_parent, named, refuse, refuse_keys_of, refuse_table};
use crate::passphrase::opened::secret_in;

/// File name of the description in the folder of a database.
pub(crate) const DESCRIPTION: &str = "description.sz";
/// File name of the entries in the folder of a database.
const ENTRIES: &str = "entries.sz";

/// Runs a command of lookups.
pub(crate) fn run(args: &LookupArgs) -> Result<(), CliError> {
    match &args.command {
        LookupCommand::Build(args) => build::run(args),
        LookupCommand::Update(args) => update::run(args),
        LookupCommand::Keygen(args) => keygen::run(args),
        LookupCommand::Ask(args) => ask::run(args),
        LookupCommand::Answer(args) => answer::run(args),
        LookupCommand::Read(args) => read::run(args),
        #[cfg(feature = "serve")]
        LookupCommand::Serve(args) => serve::run(args),
        #[cfg(feature = "serve")]
        LookupCommand::Query(args) => query::run(args),
    }
}

/// One file that a command wrote.
#[derive(Debug, Serialize)]
pub(crate) struct Written {
    file: String,
    bytes: u64,
}

impl Written {
    /// Looks at a file of a folder that a command made.
    pub(crate) fn of(folder: &Path, file: &str) -> Result<Self, CliError> {
        let path = folder.join(file);
        let metadata = fs::metadata(&path).map_err(|error| refuse(&path, WireError::Io(error)))?;
        Ok(Self { file: file.to_owned(), bytes: metadata.len() })
    }

    pub(crate) fn line(&self, what: &str) -> String {
        format!("\n  {:<26} {}  {what}", self.file, bytes(self.bytes))
    }
}

/// Fails for the folder of a database that is there already, or that has no place to be.
pub(crate) fn check_new_database(folder: &Path) -> Result<(), CliError> {
    if folder.exists() {
        let message = "is there already: choose another folder, since clients ask by the description in it";
        return Err(CliError::input(format!("{} {message}", named(folder))));
    }
    check_parent(folder)
}

/// Reads a description and makes its tables; messages call the file `asked`.
fn opened(accept: Accept, path: &Path, asked: &Path) -> Result<Lookup, CliError> {
    let description = load(&accept, path).map_err(|error| refuse(asked, error))?;
    described(&description, asked)
}

/// Makes the tables of a description that came in a file.
fn described(description: &Description, file: &Path) -> Result<Lookup, CliError> {
    memory::require(description.parameters().table_bytes()).map_err(CliError::input)?;
    Lookup::new(description).map_err(|error| match refuse_table(file, error) {
        CliError::Input(message) => {
            CliError::damaged(format!("{} describes no database: {message}", named(file)))
        }
        other => other,
    })
}

/// Reads a description that may come from standard input.
fn given(accept: Accept, path: &Path) -> Result<Lookup, CliError> {
    let input = InputFile::open(path)?;
    opened(accept, input.path(), path)
}

/// Reads the secret key of a client.
fn secret(
    lookup: &Lookup,
    keys: &Path,
    options: (&ModeArgs, &PassphraseArgs),
) -> Result<SecretKey, CliError> {
    let refused = |error| refuse_keys(keys, "secret", error);
    secret_in(lookup.context().rlwe(), &keys.join(SECRET), options, refused)
}

/// Returns the command-line error for an error in a folder of keys.
fn refuse_keys(folder: &Path, party: &str, error: WireError) -> CliError {
    refuse_keys_of("sunzi lookup keygen", folder, party, error)
}

/// Returns the command-line error for an error of a lookup in a file.
fn refuse_lookup(file: &Path, error: TableError) -> CliError {
    match refuse_table(file, error) {
        CliError::Damaged(message) if !message.starts_with('"') => {
            CliError::damaged(format!("{}: {message}", named(file)))
        }
        CliError::Input(message) if !message.starts_with('"') => {
            CliError::mismatch(format!("{}: {message}", named(file)))
        }
        other => other,
    }
}
