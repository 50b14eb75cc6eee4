//! `sunzi lookup build`: a database of a public table.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use sunzi::rlwe::memory;
use sunzi::rlwe::wire::{Accept, WireError, create, store};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::table::Source;
use sunzi::table::lookup::{Built, Choice};

use super::{DESCRIPTION, ENTRIES, Written, check_new_database};
use crate::args::flat;
use crate::args::lookup::BuildArgs;
use crate::error::{CliError, quoted};
use crate::files::folder::{Entry, whole};
use crate::files::input::InputFile;
use crate::files::{refuse, refuse_table};
use crate::output;
use crate::progress::Progress;

/// Bytes of entries for each byte of a row from which on whoever builds is told.
const WASTE: u64 = 8;

/// Report of `sunzi lookup build`.
#[derive(Serialize)]
struct Made {
    folder: String,
    /// Name of the column of keywords; rows are asked by their numbers without one.
    by: Option<String>,
    columns: Vec<String>,
    rows: u64,
    /// Bytes of an entry, which all are as long as the longest row takes.
    entry_bytes: usize,
    entries: u64,
    /// Bytes of memory that an answer takes at least, beside keys and tables.
    answer_bytes: u64,
    files: Vec<Written>,
    seconds: f64,
}

/// Makes the folder of a database: all of it, or nothing.
pub(super) fn run(args: &BuildArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let folder = &args.directory;
    check_new_database(folder)?;
    let input = InputFile::open(&args.table)?;
    let progress = Progress::new(!args.json && !args.quiet);
    progress.say("reading the table");
    let built = read(args, &input)?;
    let (lookup, layout) = (built.lookup(), built.lookup().layout());
    progress.begin(layout.entries().div_ceil(layout.together()) as usize);
    progress.say("writing entries");
    whole(folder, Entry::Usual, |inner| write(&built, inner, &progress))?;
    drop(progress);
    let description = lookup.description();
    let by = args.by.clone();
    let rows = built.row_bytes();
    let len = layout.entries().saturating_mul(layout.entry_bytes() as u64);
    if len / WASTE > rows.max(1 << 20) {
        output::remark(&format!(
            "all entries are as long as the longest row takes, {}: {} for {} of rows; leave long columns away with --columns",
            bytes(layout.entry_bytes() as u64),
            bytes(len),
            bytes(rows)
        ));
    }
    let made = Made {
        folder: folder.display().to_string(),
        by,
        columns: description.columns().to_vec(),
        rows: description.rows(),
        entry_bytes: layout.entry_bytes(),
        entries: layout.entries(),
        answer_bytes: lookup.answer_bytes(),
        files: vec![Written::of(folder, DESCRIPTION)?, Written::of(folder, ENTRIES)?],
        seconds: start.elapsed().as_secs_f64(),
    };
    output::report(args.json, &made, Made::text)
}

/// Reads all rows of the table.
fn read(args: &BuildArgs, input: &InputFile) -> Result<Built, CliError> {
    let of_table = |error| refuse_table(&args.table, error);
    // All rows are in memory together.
    let len = std::fs::metadata(input.path()).map_err(|error| refuse(&args.table, WireError::Io(error)))?;
    memory::require(len.len().saturating_mul(2)).map_err(CliError::input)?;
    let source = Source::named(input.path(), input.name()).map_err(of_table)?.delimited(args.delimiter);
    let columns = Some(flat(&args.columns)).filter(|columns| !columns.is_empty());
    let choice = Choice { by: args.by.clone(), columns };
    Built::new(&mut *source.rows().map_err(of_table)?, &choice).map_err(of_table)
}

fn write(built: &Built, folder: &Path, progress: &Progress) -> Result<(), CliError> {
    let [description, entries] = [DESCRIPTION, ENTRIES].map(|file| folder.join(file));
    store(&Accept::Secure, built.lookup().description(), &description)
        .map_err(|error| refuse(&description, error))?;
    let written = create(&entries, false, |file: &mut File| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        built.write_entries(&mut out, &mut || progress.step())?;
        out.flush().map_err(WireError::Io)
    });
    written.map_err(|error| refuse(&entries, error))
}

impl Made {
    fn text(&self) -> String {
        let rows = counted(self.rows as usize, "row", "rows");
        let by = self.by.as_ref().map_or_else(|| "number".to_owned(), |column| quoted(column));
        let mut text = format!(
            "{}: {rows} by {by}, {} of {} each, {:.1} s",
            self.folder,
            counted(self.entries as usize, "entry", "entries"),
            bytes(self.entry_bytes as u64),
            self.seconds
        );
        for (file, what) in self.files.iter().zip(["give it to clients", "for the server"]) {
            text.push_str(&file.line(what));
        }
        text
    }
}
