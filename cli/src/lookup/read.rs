//! `sunzi lookup read`: the row in an answer.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use sunzi::rlwe::wire::Reader;
use sunzi::table::lookup::{Answer, Asked, Wanted};
use sunzi_keystore::log::Event;

use super::refuse_lookup;
use crate::args::lookup::ReadArgs;
use crate::audit::{self, Audit};
use crate::error::{CliError, one_line};
use crate::files::input::InputFile;
use crate::files::{mode, refuse};
use crate::output;

/// Report of `sunzi lookup read`.
#[derive(Serialize)]
struct Found {
    /// Whether a row has the keyword.
    found: bool,
    /// Cells of the row by the names of their columns, in the order of the description.
    cells: Option<Cells>,
    /// Keyword that was asked for, or number of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
}

/// Cells with the names of their columns.
struct Cells(Vec<(String, String)>);

impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, cell) in &self.0 {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

/// Opens an answer and prints the row.
pub(super) fn run(args: &ReadArgs) -> Result<(), CliError> {
    let input = InputFile::open(&args.answer)?;
    mode::check(&args.note, &args.mode)?;
    let of_note = |error| refuse(&args.note, error);
    let note = Reader::open(&args.note).map_err(of_note)?;
    let asked: Asked = note.read(&args.accept.parameters()).map_err(of_note)?;
    let lookup = super::described(asked.description(), &args.note)?;
    let secret = super::secret(&lookup, &args.keys, (&args.mode, &args.passphrase))?;
    let of_answer = |error| refuse(&args.answer, error);
    let reader = Reader::open(input.path()).map_err(of_answer)?;
    let (expected, got) = (asked.key(), secret.id());
    if expected != got {
        let message = format!("the note is of a query under key {expected}, and this is {got}");
        return Err(CliError::mismatch(format!("{}: {message}", crate::files::named(&args.keys))));
    }
    let answer: Answer = reader.read(&lookup).map_err(of_answer)?;
    let opening = audit::opening("read a look-up in", &input, None)?;
    Audit::new(&args.log, &args.keys, got).recorded(Event::Open(opening), || {
        let cells = lookup.read(&asked, &answer, &secret);
        print(args.json, &asked, cells.map_err(|error| refuse_lookup(&args.answer, error))?)
    })
}

/// Prints the row that an answer has, or that there is none.
pub(super) fn print(json: bool, asked: &Asked, cells: Option<Vec<String>>) -> Result<(), CliError> {
    let names = asked.description().columns();
    let cells = cells.map(|cells| Cells(names.iter().cloned().zip(cells).collect()));
    let (keyword, row) = match asked.wanted() {
        Wanted::Number(number) => (None, Some(*number)),
        Wanted::Keyword(keyword) => (Some(String::from_utf8_lossy(keyword).into_owned()), None),
    };
    output::report(json, &Found { found: cells.is_some(), cells, keyword, row }, Found::text)
}

impl Found {
    fn text(&self) -> String {
        let Some(Cells(cells)) = &self.cells else {
            return "absent: no row has this keyword".to_owned();
        };
        if cells.is_empty() {
            return "found: a row has this keyword, and no other columns".to_owned();
        }
        let width = cells.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let line =
            |(name, cell): &(String, String)| format!("{:<width$}  {}", one_line(name), one_line(cell));
        cells.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
