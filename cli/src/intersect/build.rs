//! `sunzi intersect build`: a private set of a table.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use sunzi::rlwe::wire::{Accept, WireError, store};
use sunzi::rlwe::words::counted;
use sunzi::rlwe::{memory, randomness};
use sunzi::table::Source;
use sunzi::table::intersection::PrivateSet;
use sunzi::table::lookup::Choice;

use super::SET;
use crate::args::flat;
use crate::args::intersect::BuildArgs;
use crate::error::{CliError, quoted};
use crate::files::folder::{Entry, whole};
use crate::files::input::InputFile;
use crate::files::{refuse, refuse_table};
use crate::lookup::{DESCRIPTION, Written, check_new_database};
use crate::output;
use crate::progress::Progress;

/// Report of `sunzi intersect build`.
#[derive(Serialize)]
struct Made {
    folder: String,
    by: String,
    columns: Vec<String>,
    items: u64,
    /// Items of one query at most.
    query_items: usize,
    /// Ciphertexts of a query, and of its answer.
    query_ciphertexts: usize,
    answer_ciphertexts: usize,
    files: Vec<Written>,
    seconds: f64,
}

/// Makes the folder of a set: all of it, or nothing.
pub(super) fn run(args: &BuildArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let folder = &args.directory;
    check_new_database(folder)?;
    let input = InputFile::open(&args.table)?;
    let progress = Progress::new(!args.json && !args.quiet);
    progress.say("evaluating items");
    let set = read(args, &input)?;
    whole(folder, Entry::OwnerAlone, |inner| write(&set, inner))?;
    drop(progress);
    let (description, layout) = (set.intersection().description(), set.intersection().layout());
    let made = Made {
        folder: folder.display().to_string(),
        by: args.by.clone(),
        columns: description.columns().to_vec(),
        items: description.items(),
        query_items: layout.capacity(),
        query_ciphertexts: layout.sources(),
        answer_ciphertexts: layout.answers(),
        files: vec![Written::of(folder, DESCRIPTION)?, Written::of(folder, SET)?],
        seconds: start.elapsed().as_secs_f64(),
    };
    output::report(args.json, &made, Made::text)
}

/// Reads all rows of the table.
fn read(args: &BuildArgs, input: &InputFile) -> Result<PrivateSet, CliError> {
    let of_table = |error| refuse_table(&args.table, error);
    // All rows are in memory together, with a token of each.
    let len = std::fs::metadata(input.path()).map_err(|error| refuse(&args.table, WireError::Io(error)))?;
    memory::require(len.len().saturating_mul(4)).map_err(CliError::input)?;
    let source = Source::named(input.path(), input.name()).map_err(of_table)?.delimited(args.delimiter);
    let mut rows = source.rows().map_err(of_table)?;
    let columns = Some(flat(&args.columns)).filter(|columns| args.without_columns || !columns.is_empty());
    let choice = Choice { by: Some(args.by.clone()), columns };
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    PrivateSet::new(&mut *rows, &choice, &mut rng).map_err(of_table)
}

fn write(set: &PrivateSet, folder: &Path) -> Result<(), CliError> {
    let [description, items] = [DESCRIPTION, SET].map(|file| folder.join(file));
    store(&Accept::Secure, set.intersection().description(), &description)
        .map_err(|error| refuse(&description, error))?;
    store(&Accept::Secure, set, &items).map_err(|error| refuse(&items, error))
}

impl Made {
    fn text(&self) -> String {
        let mut text = format!(
            "{}: {} by {}, {:.1} s",
            self.folder,
            counted(self.items as usize, "item", "items"),
            quoted(&self.by),
            self.seconds
        );
        let what = ["give it to clients", "keep it from others: it has the items and the key of the server"];
        for (file, what) in self.files.iter().zip(what) {
            text.push_str(&file.line(what));
        }
        text
    }
}
