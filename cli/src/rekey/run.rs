//! `sunzi rekey run`: brings a table or results under the new key, without a secret.

use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use sunzi::program::Contexts;
use sunzi::program::contexts::PARAMETERS;
use sunzi::program::results::ResultsReader;
use sunzi::rlwe::RekeyingKey;
use sunzi::rlwe::wire::{Fault, Kind, WireError, load, open_regular};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::table::file::TableFile;
use sunzi::table::{TableError, is_parquet};

use super::KEY;
use crate::args::rekey::RunArgs;
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::target::{Content, Target};
use crate::files::{self, named, refuse, refuse_table, stored};
use crate::program::stopped::Stopped;
use crate::progress::Progress;

/// Report of `sunzi rekey run`: the file that it wrote.
#[derive(Serialize)]
struct Made {
    file: String,
    /// Name of the key that it is under now.
    key: String,
    ciphertexts: u64,
    bytes: u64,
    seconds: f64,
}

/// Brings a file under the new key, and prints the report.
pub(super) fn run(args: &RunArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let target = Target::new(&args.output, &args.force, Content::Binary, args.json)?;
    let input = InputFile::open(&args.file)?;
    let kind = kind(&input, &args.file)?;
    let of_folder = |error| refuse_folder(&args.keys, error);
    let contexts =
        files::contexts(args.accept.parameters(), &args.keys.join(PARAMETERS)).map_err(of_folder)?;
    let key: RekeyingKey = load(contexts.rlwe(), args.keys.join(KEY)).map_err(of_folder)?;
    let progress = Progress::new(!args.json && !args.quiet);
    progress.say("rekeying");
    let mut count = 0;
    let written = target.write(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let job = Job { contexts: &contexts, key: &key, asked: &args.file, progress: &progress };
        count =
            if kind == Kind::Results { job.results(&input, &mut out) } else { job.table(&input, &mut out) }?;
        Ok(out.flush().map_err(WireError::Io)?)
    });
    let len = written.map_err(|stopped| match stopped {
        Stopped::Wire(error) => target.refuse(error),
        other => other.of(&args.file),
    })?;
    drop(progress);
    let made = Made {
        file: target.name(),
        key: key.target().to_string(),
        ciphertexts: count,
        bytes: len,
        seconds: start.elapsed().as_secs_f64(),
    };
    target.report(args.json, &made, Made::text)
}

/// Work of bringing one file under another key.
struct Job<'a> {
    contexts: &'a Contexts,
    key: &'a RekeyingKey,
    asked: &'a Path,
    progress: &'a Progress,
}

impl Job<'_> {
    fn results(&self, input: &InputFile, out: &mut impl Write) -> Result<u64, Stopped> {
        let said = |error| Stopped::Said(refuse(self.asked, error));
        let file = BufReader::with_capacity(1 << 20, open_regular(input.path()).map_err(said)?);
        let mut results = ResultsReader::open(self.contexts, file).map_err(said)?;
        let rekeyed = results.rekey(self.key, out, &|| self.progress.step());
        rekeyed.map_err(|stopped| match stopped {
            Stopped::Wire(error) => self.stopped(error),
            other => other,
        })
    }

    fn table(&self, input: &InputFile, out: &mut impl Write) -> Result<u64, Stopped> {
        let said = |error| Stopped::Said(refuse_table(self.asked, error));
        let file = open_regular(input.path()).map_err(|error| said(error.into()))?;
        let len = file.metadata().map_err(|error| said(WireError::Io(error).into()))?.len();
        let mut table = TableFile::open(BufReader::with_capacity(1 << 20, file), len).map_err(said)?;
        self.progress.begin(table.shape().layout().chunks * table.shape().input_count());
        let rekeyed = table.rekey(self.contexts, self.key, out, &|| self.progress.step());
        rekeyed.map_err(|error| match error {
            TableError::Wire(error) => self.stopped(error),
            other => said(other),
        })
    }

    /// Returns the reason of an error of the file that is read, or of the one that is written: reading was tried before.
    fn stopped(&self, error: WireError) -> Stopped {
        match error.fault() {
            Fault::System => Stopped::Wire(error),
            _ => Stopped::Said(refuse(self.asked, error)),
        }
    }
}

/// Returns the kind of a file, which must be a table or results.
fn kind(input: &InputFile, asked: &Path) -> Result<Kind, CliError> {
    let name = named(asked);
    if is_parquet(input.path()).map_err(|error| refuse_table(asked, error))? {
        return Err(CliError::mismatch(format!(
            "{name} is a table in Parquet: only tables in files of Sunzi's own are rekeyed; encrypt it again under the new key"
        )));
    }
    let (header, _) = stored::header(input.path()).map_err(|error| refuse(asked, error))?;
    match Kind::of(header.kind) {
        Some(kind) if kind.is_table() || kind == Kind::Results => Ok(kind),
        _ => {
            let object = Kind::describe(header.kind);
            Err(CliError::mismatch(format!(
                "{name} is {object}: only encrypted tables and results are rekeyed"
            )))
        }
    }
}

fn refuse_folder(folder: &Path, error: WireError) -> CliError {
    match error {
        WireError::Io(error) if error.kind() == ErrorKind::NotFound => CliError::io(format!(
            "{} is not the folder of a rekeying key, or a file of it is missing: give the folder that sunzi rekey key made",
            named(folder)
        )),
        other => refuse(folder, other),
    }
}

impl Made {
    fn text(&self) -> String {
        let Self { file, key, ciphertexts, bytes: size, seconds } = self;
        let ciphertexts = counted(*ciphertexts as usize, "ciphertext", "ciphertexts");
        format!("{file}: {ciphertexts} for key {key}, {}, {seconds:.1} s", bytes(*size))
    }
}
