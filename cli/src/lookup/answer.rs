//! `sunzi lookup answer`: the server's side, which reads all entries once.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use sunzi::circuits::EvaluationKeys;
use sunzi::program::contexts::{GALOIS, RELINEARIZATION};
use sunzi::rlwe::memory;
use sunzi::rlwe::wire::{Reader, WireError, load, open_regular, write};
use sunzi::rlwe::words::bytes;
use sunzi::table::TableError;
use sunzi::table::lookup::{Answer, Lookup, Query};

use super::{DESCRIPTION, ENTRIES, refuse_keys, refuse_lookup};
use crate::args::lookup::AnswerArgs;
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::target::{Content, Target};
use crate::files::{named, refuse};
use crate::progress::Progress;

/// Report of `sunzi lookup answer`.
#[derive(Serialize)]
struct Made {
    file: String,
    key: Option<String>,
    bytes: u64,
    /// Bytes of memory that the answer took at most, beside keys and tables.
    memory: u64,
    seconds: f64,
}

/// Answers a query.
pub(super) fn run(args: &AnswerArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let target = Target::new(&args.output, &args.force, Content::Binary, args.json)?;
    let input = InputFile::open(&args.query)?;
    let lookup = open(args)?;
    let reader = Reader::open(input.path()).map_err(|error| refuse(&args.query, error))?;
    let query: Query = reader.read(&lookup).map_err(|error| refuse_query(args, error))?;
    let context = lookup.context().rlwe();
    let each = context.switch_key_bytes(context.level()).map_err(CliError::input)?;
    let keys = each.saturating_mul(lookup.layout().exponents().count() as u64 + 1);
    let memory = lookup.answer_bytes();
    memory::require(memory.saturating_add(keys)).map_err(CliError::input)?;
    let keys = keys_of(args, &lookup, &query)?;
    let progress = Progress::new(!args.json && !args.quiet);
    let layout = lookup.layout();
    progress.begin(layout.entries().div_ceil(layout.together()) as usize);
    progress.say("answering");
    let answer = answered(args, (&lookup, &query, &keys), &progress)?;
    drop(progress);
    let write = |file: &mut File| write(&lookup, &answer, file);
    let len = target.write(write).map_err(|error| target.refuse(error))?;
    let key = query.key().map(|key| key.to_string());
    let seconds = start.elapsed().as_secs_f64();
    let made = Made { file: target.name(), key, bytes: len, memory, seconds };
    target.report(args.json, &made, |Made { file, key, bytes: size, seconds, .. }| {
        let key = key.as_deref().unwrap_or("none");
        format!("{file}: answer for key {key}, {}, {seconds:.1} s", bytes(*size))
    })
}

/// Reads the description of the database.
fn open(args: &AnswerArgs) -> Result<Lookup, CliError> {
    let file = args.database.join(DESCRIPTION);
    if !file.exists() {
        return Err(CliError::io(format!(
            "{} is not the folder of a database, or {DESCRIPTION} is missing: give the folder that sunzi lookup build made",
            named(&args.database)
        )));
    }
    super::opened(args.accept.parameters(), &file, &file)
}

fn refuse_query(args: &AnswerArgs, error: WireError) -> CliError {
    match refuse(&args.query, error) {
        CliError::Mismatch(message) if message.contains("description of a database") => {
            CliError::mismatch(format!(
                "{} asks another database than {}: the client asks again by its {DESCRIPTION}",
                named(&args.query),
                named(&args.database)
            ))
        }
        other => other,
    }
}

/// Reads the keys that the client gave, which must be those of the query and have all that the database takes.
fn keys_of(args: &AnswerArgs, lookup: &Lookup, query: &Query) -> Result<EvaluationKeys, CliError> {
    let (folder, context) = (&args.keys, lookup.context().rlwe());
    let of_keys = |error| refuse_keys(folder, "eval", error);
    let keys = EvaluationKeys {
        relinearization: Some(load(context, folder.join(RELINEARIZATION)).map_err(of_keys)?),
        galois: Some(load(context, folder.join(GALOIS)).map_err(of_keys)?),
    };
    let ids = [keys.relinearization.as_ref().map(|key| key.id()), keys.galois.as_ref().map(|keys| keys.id())];
    if let Some(other) = ids.into_iter().find(|id| *id != query.key()) {
        let error = WireError::Key { expected: query.key(), got: other };
        return Err(refuse(folder, error));
    }
    if let Some(exponent) = lookup.layout().exponents().find(|exponent| !keys.has_exponent(*exponent)) {
        return Err(CliError::mismatch(format!(
            "{} has no key for X -> X^{exponent}, since it was made for a smaller database: the client makes keys by this {DESCRIPTION}",
            named(folder)
        )));
    }
    Ok(keys)
}

fn answered(
    args: &AnswerArgs,
    (lookup, query, keys): (&Lookup, &Query, &EvaluationKeys),
    progress: &Progress,
) -> Result<Answer, CliError> {
    let path = args.database.join(ENTRIES);
    let file = open_regular(&path).map_err(|error| refuse_entries(&path, error))?;
    let len = file.metadata().map_err(|error| refuse(&path, WireError::Io(error)))?.len();
    let entries = BufReader::with_capacity(1 << 20, file);
    let answer = lookup.answer(query, keys, entries, len, &mut || progress.step());
    // Entries are read, and the query is computed with.
    answer.map_err(|error| match error {
        TableError::Wire(_) => refuse_lookup(&path, error),
        other => refuse_lookup(&args.query, other),
    })
}

fn refuse_entries(path: &Path, error: WireError) -> CliError {
    match error {
        WireError::Io(error) if error.kind() == ErrorKind::NotFound => CliError::io(format!(
            "{} is missing: give the folder that sunzi lookup build made, with both files",
            named(path)
        )),
        other => refuse(path, other),
    }
}
