//! `sunzi reencrypt run`: a proxy hands results on.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use sunzi::program::Contexts;
use sunzi::program::contexts::{LEDGER, PARAMETERS, Proxy};
use sunzi::program::results::ResultsReader;
use sunzi::rlwe::wire::{Kind, WireError, open_regular};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{LedgerFile, ReencryptionKey};

use super::KEY;
use crate::args::reencrypt::RunArgs;
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::target::{Content, Target};
use crate::files::{named, refuse, stored};
use crate::passphrase::opened;
use crate::program::stopped::Stopped;
use crate::progress::Progress;
use crate::{files, program};

/// Report of `sunzi reencrypt run`: the file of results that it wrote.
#[derive(Serialize)]
struct Made {
    file: String,
    /// Name of the key that the results are under now.
    key: String,
    ciphertexts: u64,
    /// Ciphertexts that this proxy has handed on, and how many it may.
    used: u64,
    queries: u64,
    bytes: u64,
    seconds: f64,
}

/// Hands results on, and prints the report. Everything is checked before anything is counted.
pub(super) fn run(args: &RunArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let target = Target::new(&args.output, &args.force, Content::Binary, args.json)?;
    let input = InputFile::open(&args.file)?;
    let Opened { contexts, key, mut ledger } = open(args)?;
    let proxy = Proxy::new(&key, &mut ledger, args.further);
    let mut proxy = proxy.map_err(|error| program::refuse_in(&args.keys, error))?;
    check_kind(&input, &args.file)?;
    let reader = || reader(&contexts, &input, &args.file);
    let progress = Progress::new(!args.json && !args.quiet);
    progress.say("looking at the results");
    let count = reader()?.check_reencryptable(&proxy).map_err(|stopped: Stopped| stopped.of(&args.file))?;
    check_left(&proxy, count)?;
    let moduli = contexts.parameters().plain_moduli().len().max(1) as u64;
    progress.begin((count / moduli) as usize);
    progress.say("handing on");
    let mut results = reader()?;
    let written = target.write(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        results.reencrypt::<Stopped>(&mut proxy, &mut out, &|| progress.step())?;
        Ok(out.flush().map_err(WireError::Io)?)
    });
    let len = written.map_err(|stopped| match stopped {
        Stopped::Wire(error) => target.refuse(error),
        other => other.of(&args.file),
    })?;
    drop(progress);
    let ledger = proxy.ledger();
    let made = Made {
        file: target.name(),
        key: proxy.key().target().to_string(),
        ciphertexts: count,
        used: ledger.used(),
        queries: ledger.policy().queries(),
        bytes: len,
        seconds: start.elapsed().as_secs_f64(),
    };
    target.report(args.json, &made, Made::text)
}

/// Content of the folder of a proxy.
struct Opened {
    contexts: Contexts,
    key: ReencryptionKey,
    ledger: LedgerFile,
}

/// Reads what the folder of a proxy has.
fn open(args: &RunArgs) -> Result<Opened, CliError> {
    let folder = &args.keys;
    let of_folder = |error| refuse_folder(folder, error);
    let contexts = files::contexts(args.accept.parameters(), &folder.join(PARAMETERS)).map_err(of_folder)?;
    contexts.check_reencryption().map_err(|error| program::refuse_in(folder, error))?;
    let (file, count) = (folder.join(KEY), folder.join(LEDGER));
    let options = (&args.mode, &args.passphrase);
    let key: ReencryptionKey = opened::secret_in(contexts.rlwe(), &file, options, of_folder)?;
    let ledger = LedgerFile::open(&count).map_err(|error| match error {
        WireError::Io(error) if error.kind() == ErrorKind::NotFound => CliError::io(format!(
            "{} is missing, and without it nobody knows how many results were handed on: put it back, or ask the owner to make another key with \
             sunzi reencrypt key",
            named(&count)
        )),
        other => refuse(&count, other),
    })?;
    Ok(Opened { contexts, key, ledger })
}

fn refuse_folder(folder: &Path, error: WireError) -> CliError {
    match error {
        WireError::Io(error) if error.kind() == ErrorKind::NotFound => CliError::io(format!(
            "{} is not the folder of a proxy, or a file of it is missing: give the folder that sunzi reencrypt key made",
            named(folder)
        )),
        other => refuse(folder, other),
    }
}

/// Refuses encrypted tables by name: results are handed on, not what they are computed from.
fn check_kind(input: &InputFile, asked: &Path) -> Result<(), CliError> {
    let (header, _) = stored::header(input.path()).map_err(|error| refuse(asked, error))?;
    match Kind::of(header.kind) {
        Some(kind) if kind.is_table() => Err(CliError::mismatch(format!(
            "{} is {kind}, and results are handed on: compute some with sunzi eval first",
            named(asked)
        ))),
        _ => Ok(()),
    }
}

fn reader<'a>(
    contexts: &'a Contexts,
    input: &InputFile,
    asked: &Path,
) -> Result<ResultsReader<'a, BufReader<File>>, CliError> {
    let of_file = |error| refuse(asked, error);
    let file = open_regular(input.path()).map_err(of_file)?;
    ResultsReader::open(contexts, BufReader::with_capacity(1 << 20, file)).map_err(of_file)
}

/// Refuses results that take more than the ledger has left, before any of them is counted.
fn check_left(proxy: &Proxy<'_>, count: u64) -> Result<(), CliError> {
    let (queries, used) = (proxy.ledger().policy().queries(), proxy.ledger().used());
    let left = queries.saturating_sub(used);
    if count <= left {
        return Ok(());
    }
    Err(CliError::impossible(format!(
        "these results are {}, and this proxy may hand on {left} more of {queries}: compute fewer results, or the owner makes another key, \
         and a table is encrypted under it",
        counted(count as usize, "ciphertext", "ciphertexts")
    )))
}

impl Made {
    fn text(&self) -> String {
        let Self { file, key, ciphertexts, used, queries, bytes: size, seconds } = self;
        let ciphertexts = counted(*ciphertexts as usize, "ciphertext", "ciphertexts");
        format!(
            "{file}: {ciphertexts} for key {key}, {}, {seconds:.1} s\n\
             {used} of the {queries} ciphertexts that this proxy may hand on are used",
            bytes(*size)
        )
    }
}
