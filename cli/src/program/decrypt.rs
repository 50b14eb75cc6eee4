//! `sunzi decrypt`: opens results for the key holder, or for sharing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;

use sunzi::program::analysis::SchemeChoice;
use sunzi::program::contexts::{PARAMETERS, SECRET};
use sunzi::program::results::ResultsReader;
use sunzi::program::run::Estimate;
use sunzi::program::{Contexts, NodeId, Opened, ProgramError, Sharing};
use sunzi::rlwe::KeyId;
use sunzi::rlwe::wire::{WireError, open_regular};

use super::agreed::{self, Clear};
use super::plan::check_precision;
use super::print::{Csv, Printed, text};
use super::{refuse_in, share};
use crate::args::DecryptArgs;
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::{self, mode};
use crate::output;

/// Reason why decryption of results stopped.
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

impl Stopped {
    fn of(self, args: &DecryptArgs) -> CliError {
        match self {
            Self::Wire(error) => files::refuse(&args.file, error),
            Self::Program(error) => refuse_in(&args.file, error),
            Self::Said(error) => error,
        }
    }
}

/// Decrypts results and prints them.
pub(crate) fn run(args: &DecryptArgs) -> Result<(), CliError> {
    let of_keys = |error| files::refuse_keys(&args.keys, "secret", error);
    let input = InputFile::open(&args.file)?;
    let policy = share::policy(&args.sharing)?;
    let contexts = files::contexts(args.accept.parameters(), &args.keys.join(PARAMETERS)).map_err(of_keys)?;
    check_precision(args.sharing.precision, Some(contexts.scheme()))?;
    mode::check(&args.keys.join(SECRET), &args.mode)?;
    let secret = contexts.load_secret(&args.keys).map_err(of_keys)?;
    let reader = || reader(&input, args, &contexts, secret.id());
    let mut results = reader()?;
    let description = results.description().clone();
    let codec = contexts.codec(&description.layout).map_err(|error| refuse_in(&args.file, error))?;
    let plans = agreed::plans(&args.sharing, &contexts, &description)?;
    let mut sharing = match policy {
        Some(policy) => {
            let noise = share::declared(&contexts, plans.as_ref())?;
            // The file is read to its end first: what is damaged or does not fit neither makes a ledger nor is
            // counted.
            let whole = reader()?;
            let count = whole.check_shareable(policy, &noise).map_err(|stopped: Stopped| stopped.of(args))?;
            Some(share::sharing(policy, noise, count, (secret.id(), &args.keys))?)
        }
        None => None,
    };
    let mut columns: BTreeMap<NodeId, Vec<Estimate>> = BTreeMap::new();
    let clear = Clear::new(&description.program, &results.clear());
    let csv = Csv::new(&description.program, &clear);
    if args.csv {
        csv.header()?;
    }
    let column = |id, first: usize, cells: Vec<Estimate>| {
        if args.csv {
            // Columns are written chunk by chunk: a column may be longer than memory.
            return csv.rows(id, first, &cells).map_err(Stopped::Said);
        }
        columns.entry(id).or_default().extend(cells);
        Ok(())
    };
    let totals = match &mut sharing {
        Some(sharing) => results.decrypt_for_sharing(&codec, &secret, sharing, column),
        None => results.decrypt(&codec, &secret, column),
    };
    let totals = totals.map_err(|stopped| stopped.of(args))?;
    let opened: Vec<(&str, Opened)> = description.program.finish(|id| totals.get(&id).cloned());
    if args.csv {
        opened.iter().enumerate().try_for_each(|(at, (name, opened))| csv.result(at, name, opened))?;
    } else if args.json {
        output::print_json(&Printed::new(&opened, &columns, &clear))?;
    } else {
        output::print(&text(&opened, &columns, &clear))?;
    }
    if !args.quiet {
        if plans.is_none() {
            output::remark(&agreed::trusted(&description.program));
        }
        remark(&contexts, sharing.as_ref());
    }
    Ok(())
}

/// Opens a reader of the results, which must belong to this key.
fn reader<'a>(
    input: &InputFile,
    args: &DecryptArgs,
    contexts: &'a Contexts,
    key: KeyId,
) -> Result<ResultsReader<'a, BufReader<File>>, CliError> {
    let of_file = |error| files::refuse(&args.file, error);
    let file = open_regular(input.path()).map_err(of_file)?;
    let reader = ResultsReader::open(contexts, BufReader::with_capacity(1 << 20, file)).map_err(of_file)?;
    if reader.key() == key {
        Ok(reader)
    } else {
        Err(of_file(WireError::Key { expected: Some(key), got: Some(reader.key()) }))
    }
}

/// Prints who may see the results that were printed.
fn remark(contexts: &Contexts, sharing: Option<&Sharing>) {
    match sharing {
        Some(sharing) => {
            let ledger = sharing.ledger();
            let (used, queries) = (ledger.used(), ledger.policy().queries());
            output::remark(&format!(
                "{used} of the {queries} decryptions that may be shared under this key are used"
            ));
        }
        None if contexts.scheme() == SchemeChoice::Ckks => output::remark(
            "the errors of these numbers depend on the secret key: give them to nobody who made or chose the ciphertexts, or use --share",
        ),
        None => {}
    }
}
