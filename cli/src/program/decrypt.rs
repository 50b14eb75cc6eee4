//! `sunzi decrypt`: what the key holder reads of results.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

use sunzi::program::results::ResultsReader;
use sunzi::program::run::Estimate;
use sunzi::program::{Contexts, NodeId, Opened, ProgramError};
use sunzi::rlwe::wire::WireError;

use super::print::{Csv, Printed, text};
use super::refuse_in;
use crate::args::DecryptArgs;
use crate::error::CliError;
use crate::files;
use crate::output;

/// Why it stopped.
enum Stopped {
    Wire(WireError),
    Program(ProgramError),
    Said(CliError),
}

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<ProgramError> for Stopped {
    fn from(error: ProgramError) -> Self {
        Self::Program(error)
    }
}

/// Decrypts results and prints them.
pub(crate) fn run(args: &DecryptArgs) -> Result<(), CliError> {
    let of_keys = |error| files::refuse_keys(&args.keys, "secret", error);
    let of_file = |error| files::refuse(&args.file, error);
    let contexts = Contexts::open(&args.keys).map_err(of_keys)?;
    let secret = contexts.load_secret(&args.keys).map_err(of_keys)?;
    let file = File::open(&args.file).map_err(|error| of_file(WireError::Io(error)))?;
    let mut reader =
        ResultsReader::open(&contexts, BufReader::with_capacity(1 << 20, file)).map_err(of_file)?;
    if reader.key() != secret.id() {
        return Err(of_file(WireError::Key { expected: Some(secret.id()), got: Some(reader.key()) }));
    }
    let description = reader.description().clone();
    let codec = contexts.codec(&description.layout).map_err(|error| refuse_in(&args.file, error))?;
    let mut columns: BTreeMap<NodeId, Vec<Estimate>> = BTreeMap::new();
    let csv = Csv::new(&description.program);
    if args.csv {
        csv.header()?;
    }
    let column = |id, first: usize, cells: Vec<Estimate>| {
        if args.csv {
            // Chunk by chunk: a column may be longer than memory.
            return csv.rows(id, first, &cells).map_err(Stopped::Said);
        }
        columns.entry(id).or_default().extend(cells);
        Ok(())
    };
    let totals = reader.decrypt(&codec, &secret, column).map_err(|stopped| match stopped {
        Stopped::Wire(error) => of_file(error),
        Stopped::Program(error) => refuse_in(&args.file, error),
        Stopped::Said(error) => error,
    })?;
    let opened: Vec<(&str, Opened)> = description.program.finish(|id| totals.get(&id).cloned());
    if args.csv {
        return opened.iter().try_for_each(|(name, opened)| csv.result(name, opened));
    }
    if args.json {
        return output::print_json(&Printed::new(&opened, &columns));
    }
    output::print(&text(&opened, &columns))
}
