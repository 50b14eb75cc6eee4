//! `sunzi lookup update`: a database with other cells in some of its rows.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use sunzi::rlwe::wire::{Accept, WireError, create, open_regular, store};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::table::Source;
use sunzi::table::lookup::{Changes, Lookup};

use super::{DESCRIPTION, ENTRIES, Written};
use crate::args::lookup::UpdateArgs;
use crate::error::CliError;
use crate::files::folder::{Entry, whole};
use crate::files::input::InputFile;
use crate::files::target::Stopped;
use crate::files::{check_parent, named, refuse, refuse_table};
use crate::output;
use crate::progress::Progress;

/// Report of `sunzi lookup update`.
#[derive(Serialize)]
struct Made {
    folder: String,
    /// Rows with other cells.
    changed: usize,
    files: Vec<Written>,
}

/// Makes the folder of the new database: all of it, or nothing.
pub(super) fn run(args: &UpdateArgs) -> Result<(), CliError> {
    let folder = &args.directory;
    if folder.exists() {
        let message =
            "is there already: choose another folder, which takes the place of the old one when it is whole";
        return Err(CliError::input(format!("{} {message}", named(folder))));
    }
    check_parent(folder)?;
    let description = args.database.join(DESCRIPTION);
    let lookup = super::opened(args.accept.parameters(), &description, &description)?;
    let input = InputFile::open(&args.changes)?;
    let of_table = |error| refuse_table(&args.changes, error);
    let source = Source::named(input.path(), input.name()).map_err(of_table)?.delimited(args.delimiter);
    let changes = Changes::new(&lookup, &mut *source.rows().map_err(of_table)?).map_err(of_table)?;
    let progress = Progress::new(!args.json && !args.quiet);
    let layout = lookup.layout();
    progress.begin(layout.entries().div_ceil(layout.together()) as usize);
    progress.say("writing entries");
    whole(folder, Entry::Usual, |inner| write(args, (&lookup, &changes), inner, &progress))?;
    drop(progress);
    let made = Made {
        folder: folder.display().to_string(),
        changed: changes.rows(),
        files: vec![Written::of(folder, DESCRIPTION)?, Written::of(folder, ENTRIES)?],
    };
    output::report(args.json, &made, |Made { folder, changed, files }| {
        let size: u64 = files.iter().map(|file| file.bytes).sum();
        let changed = counted(*changed, "row", "rows");
        format!(
            "{folder}: {changed} changed, {}; {DESCRIPTION} is as it was, clients need nothing new",
            bytes(size)
        )
    })
}

fn write(
    args: &UpdateArgs,
    (lookup, changes): (&Lookup, &Changes<'_>),
    folder: &Path,
    progress: &Progress,
) -> Result<(), CliError> {
    let [description, entries] = [DESCRIPTION, ENTRIES].map(|file| folder.join(file));
    store(&Accept::Secure, lookup.description(), &description)
        .map_err(|error| refuse(&description, error))?;
    let old = args.database.join(ENTRIES);
    let file = open_regular(&old).map_err(|error| refuse(&old, error))?;
    let len = file.metadata().map_err(|error| refuse(&old, WireError::Io(error)))?.len();
    let from = BufReader::with_capacity(1 << 20, file);
    let written = create(&entries, false, |file: &mut File| -> Result<(), Stopped> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        changes
            .write(from, len, &mut out, &mut || progress.step())
            .map_err(|error| refuse_table(&old, error))?;
        Ok(out.flush().map_err(WireError::Io)?)
    });
    written.map_err(|stopped| match stopped {
        Stopped::Wire(error) => refuse(&entries, error),
        Stopped::Said(error) => error,
    })
}
