//! `sunzi lookup ask`: the query of a row, and a note of what it asks for.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;
use sunzi::rlwe::randomness;
use sunzi::rlwe::wire::{Accept, WireError, to_bytes};
use sunzi::rlwe::words::bytes;

use crate::args::lookup::AskArgs;
use crate::error::CliError;
use crate::files::refuse_table;
use crate::files::target::{Content, Target};

/// Report of `sunzi lookup ask`.
#[derive(Serialize)]
struct Made {
    query: String,
    note: String,
    key: String,
    bytes: u64,
}

/// Writes the note and the query: both of them, or neither.
pub(super) fn run(args: &AskArgs) -> Result<(), CliError> {
    let target = Target::of_option("--output", &args.output, args.force, Content::Binary, args.json)?;
    let note_path = note(args, target.is_standard())?;
    let note = Target::of_option("--note", &note_path, args.force, Content::Binary, args.json)?;
    if note.is_standard() {
        return Err(CliError::input(
            "the note of what the query asks for is secret: give --note a file of its own",
        ));
    }
    target.check_beside(Some(&note))?;
    let lookup = super::given(args.accept.parameters(), &args.description)?;
    let wanted = super::wanted(&args.wanted, lookup.description(), &args.description)?;
    let secret = super::secret(&lookup, &args.keys, (&args.mode, &args.passphrase))?;
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let asked = lookup.ask(wanted, &secret, &mut rng);
    let (query, asked) = asked.map_err(|error| refuse_table(&args.description, error))?;
    let put = |bytes: Result<Vec<u8>, WireError>, file: &mut fs::File| {
        file.write_all(&bytes?).map_err(WireError::Io)
    };
    // What is written was accepted when the description was read.
    let accept = Accept::InsecureForResearchOnly;
    let kept = note.write_secret(|file| put(to_bytes(&accept, &asked), file));
    kept.map_err(|error| note.refuse(error))?;
    let len = target.write(|file| put(to_bytes(&lookup, &query), file)).map_err(|error| {
        // A note without its query is of no use, and secret.
        let _ = fs::remove_file(&note_path);
        target.refuse(error)
    })?;
    let made = Made { query: target.name(), note: note.name(), key: secret.id().to_string(), bytes: len };
    target.report(args.json, &made, |Made { query, note, key, bytes: size }| {
        format!(
            "{query}: query under key {key}, {}\n{note}: keep it from others, it says what the query asks for; sunzi lookup read takes it",
            bytes(*size)
        )
    })
}

/// Returns the path of the note.
fn note(args: &AskArgs, standard: bool) -> Result<PathBuf, CliError> {
    match &args.note {
        Some(note) => Ok(note.clone()),
        None if standard => {
            Err(CliError::input("the query goes to standard output: give --note a file for the note"))
        }
        None => {
            let mut name = OsString::from(&args.output);
            name.push(".asked");
            Ok(name.into())
        }
    }
}
