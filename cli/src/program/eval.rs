//! `sunzi eval`: runs a program on an encrypted table, with evaluation keys alone.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use sunzi::circuits::EvaluationKeys;
use sunzi::circuits::bootstrap::BootstrapKeys;
use sunzi::program::analysis::SchemeChoice;
use sunzi::program::contexts::PARAMETERS;
use sunzi::program::results::{Description, ResultsWriter};
use sunzi::program::run::{
    Answer, Cells, DeepKeys, Input as Read, evaluate, evaluate_bootstrapped, evaluate_integers,
};
use sunzi::program::{Contexts, NodeId, Plan, ProgramError, packed};
use sunzi::rlwe::wire::WireError;
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{GaloisKeys, KeyId, RlweError, rotation};
use sunzi::table::{EncryptedTable, Input, TableError};

use super::plan::check_precision;
use super::{parse, refuse, refuse_in};
use crate::args::{EvalArgs, PRECISION};
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::target::{Content, Target};
use crate::files::{self, named, stored};
use crate::progress::Progress;

/// Name of the folder with what `sunzi eval` needs.
const PARTY: &str = "eval";

/// Report of `sunzi eval`: the file of results that it wrote.
#[derive(Debug, Serialize)]
struct Made {
    file: String,
    results: usize,
    bytes: u64,
    chunks: usize,
    seconds: f64,
}

/// Runs a program on an encrypted table, and prints the report.
pub(crate) fn run(args: &EvalArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let target = Target::new(&args.output, &args.force, Content::Binary, args.json)?;
    let contexts = files::contexts(args.accept.parameters(), &args.keys.join(PARAMETERS))
        .map_err(|error| files::refuse_keys(&args.keys, PARTY, error))?;
    check_precision(args.precision, Some(contexts.scheme()))?;
    let input = InputFile::open(&args.table)?;
    let table = stored::table(input.path(), &args.table)?;
    table.belongs_to(&contexts).map_err(|error| files::refuse_table(&args.table, error))?;
    let program = parse(&args.program, table.schema())?;
    // Chunks need not be full: the table may be cut by a category, and an engine may have left some out.
    let plan = match table.form() {
        Some(form) => Plan::for_packed(&program, contexts.parameters(), form),
        None => Plan::for_layout(
            &program,
            contexts.parameters(),
            table.layout(),
            args.precision.unwrap_or(PRECISION),
        ),
    };
    let plan = plan.map_err(refuse)?;
    if let Some(most) = args.memory.filter(|&most| most < plan.memory_bytes) {
        let (needed, most) = (bytes(plan.memory_bytes), bytes(most));
        return Err(CliError::input(format!(
            "this takes about {needed} of memory, --memory allows {most}: compute fewer results at once"
        )));
    }
    plan.check_memory().map_err(refuse)?;
    let keys = Keys::load(&contexts, &plan, &args.keys, table.key())?;
    let progress = Progress::new(!args.json && !args.quiet);
    let run = Run { contexts: &contexts, plan: &plan, keys: &keys, args, progress: &progress };
    let len = run.write(&target, table)?;
    drop(progress);
    let made = Made {
        file: target.name(),
        results: program.outputs().len(),
        bytes: len,
        chunks: plan.layout.chunks,
        seconds: start.elapsed().as_secs_f64(),
    };
    target.report(args.json, &made, Made::text)
}

/// Keys of whoever computes.
enum Keys {
    /// Keys of products and rotations.
    Evaluation(Box<EvaluationKeys>),
    /// Keys of look-ups.
    LookUps(Box<BootstrapKeys>),
    /// Keys of bootstraps and of rotations.
    Bootstraps(Box<(BootstrapKeys, GaloisKeys)>),
}

impl Keys {
    /// Reads the keys that the plan asks for, of the key that the table belongs to.
    fn load(contexts: &Contexts, plan: &Plan, folder: &Path, table: KeyId) -> Result<Self, CliError> {
        if contexts.scheme() != SchemeChoice::Integers && plan.bootstraps.is_none() {
            return evaluation(contexts, plan, folder, table).map(Box::new).map(Self::Evaluation);
        }
        let keys = contexts.load_bootstrapping(folder);
        let keys = keys.map_err(|error| files::refuse_keys(folder, PARTY, error))?;
        let of_table = |own: KeyId| {
            let error = WireError::Key { expected: Some(table), got: Some(own) };
            if own == table { Ok(()) } else { Err(files::refuse(folder, error)) }
        };
        of_table(keys.relinearization().id())?;
        if plan.bootstraps.is_none() {
            return Ok(Self::LookUps(Box::new(keys)));
        }
        let exponents = contexts.exponents_of(&plan.rotations).map_err(CliError::input)?;
        let rotations = contexts.load_rotations(folder, &exponents);
        let rotations = rotations.map_err(|error| refuse_rotations(folder, error))?;
        of_table(rotations.id())?;
        Ok(Self::Bootstraps(Box::new((keys, rotations))))
    }
}

/// Reads the keys of products and rotations that the plan asks for, of the key that the table belongs to.
fn evaluation(
    contexts: &Contexts,
    plan: &Plan,
    folder: &Path,
    table: KeyId,
) -> Result<EvaluationKeys, CliError> {
    let exponents = contexts.exponents_of(&plan.rotations).map_err(CliError::input)?;
    let keys = contexts.load_evaluation(folder, &exponents);
    let keys = keys.map_err(|error| refuse_rotations(folder, error))?;
    match keys.relinearization.as_ref().map(|key| key.id()) {
        Some(own) if own == table => Ok(keys),
        own => Err(files::refuse(folder, WireError::Key { expected: Some(table), got: own })),
    }
}

/// Refuses a folder whose keys cannot be read, or lack a rotation.
fn refuse_rotations(folder: &Path, error: WireError) -> CliError {
    match error {
        WireError::Rlwe(RlweError::MissingGaloisKey { exponent, index, present }) => {
            CliError::impossible(format!(
                "{}: {}; make keys with sunzi keygen --for this program",
                named(folder),
                rotation::missing(exponent, index, &present)
            ))
        }
        other => files::refuse_keys(folder, PARTY, other),
    }
}

/// One run of a program on a table.
struct Run<'a> {
    contexts: &'a Contexts,
    plan: &'a Plan,
    keys: &'a Keys,
    args: &'a EvalArgs,
    progress: &'a Progress,
}

/// Reason why a run of a program stopped.
enum Stopped {
    Wire(WireError),
    Said(CliError),
}

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl Run<'_> {
    /// Writes the results of a table, and returns the number of their bytes.
    fn write(&self, target: &Target<'_>, table: Box<dyn EncryptedTable>) -> Result<u64, CliError> {
        let written = target.write(|file| self.compute(table, file));
        written.map_err(|stopped| match stopped {
            Stopped::Wire(error) => target.refuse(error),
            Stopped::Said(error) => error,
        })
    }

    fn compute(&self, table: Box<dyn EncryptedTable>, file: &mut File) -> Result<(), Stopped> {
        let Self { contexts, plan, keys, args, progress } = self;
        let said = |error: ProgramError| Stopped::Said(refuse_in(&args.table, error));
        let codec = contexts.codec(&plan.layout).map_err(said)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        if let Some(packed) = plan.packed() {
            progress.begin(packed.steps(&plan.parameters));
            return self.sums(table, out);
        }
        let filled = (0..plan.layout.chunks).map(|chunk| table.rows_of(chunk)).collect();
        let description = Description::of(plan).and_then(|text| text.with_filled(filled)).map_err(said)?;
        let mut writer = ResultsWriter::new(contexts, table.key(), description, &mut out)?;
        progress.begin(self.steps());
        progress.say("computing");
        let mut columns = Columns { table, chunk: None };
        let counts_inputs = plan.look_ups.is_none() && plan.bootstraps.is_none();
        let input = |id, chunk| {
            if counts_inputs {
                progress.step();
            }
            columns.read(contexts, plan, id, chunk).map_err(ProgramError::scheme)
        };
        let column = |_, _, answer: Answer| writer.put(&answer).map_err(ProgramError::scheme);
        let totals = match keys {
            Keys::Evaluation(keys) => evaluate(plan, &codec, keys, input, column),
            Keys::LookUps(keys) => evaluate_integers(plan, &codec, keys, &|| progress.step(), input, column),
            Keys::Bootstraps(keys) => {
                let (bootstrapping, rotations) = &**keys;
                let keys = DeepKeys { bootstrapping, rotations };
                evaluate_bootstrapped(plan, &codec, keys, &|| progress.step(), input, column)
            }
        };
        let totals = totals.map_err(|error| self.stopped(error))?;
        totals.values().try_for_each(|answer| writer.put(answer))?;
        Ok(out.flush().map_err(WireError::Io)?)
    }

    /// Number of steps of a run: its look-ups or bootstraps, or the inputs that it reads.
    fn steps(&self) -> usize {
        let moduli = self.plan.parameters.plain_moduli().len().max(1);
        let look_ups = self.plan.look_ups.map(|look_ups| look_ups.count);
        let slow = look_ups.or(self.plan.bootstraps.map(|bootstraps| bootstraps.count));
        slow.map_or(self.plan.inputs / moduli, |count| count as usize)
    }

    /// Computes the sums of a packed table.
    fn sums(&self, mut table: Box<dyn EncryptedTable>, mut out: impl Write) -> Result<(), Stopped> {
        let Self { contexts, plan, keys, args, progress } = self;
        let description = Description::of(plan);
        let description = description.map_err(|error| Stopped::Said(refuse_in(&args.table, error)))?;
        let mut writer = ResultsWriter::new(contexts, table.key(), description, &mut out)?;
        progress.say("computing");
        let input = |chunk| table.packed(contexts, chunk).map_err(ProgramError::scheme);
        let Keys::Evaluation(keys) = keys else {
            return Err(Stopped::Said(CliError::failure("keys of look-ups for a packed table")));
        };
        let sums = packed::evaluate(plan, contexts, keys, input, &|| progress.step());
        let sums = sums.map_err(|error| self.stopped(error))?;
        sums.results.into_iter().try_for_each(|sum| writer.put(&Answer::Encrypted(sum)))?;
        Ok(out.flush().map_err(WireError::Io)?)
    }

    /// The reason why a run stopped: errors of files pass through the program as they are.
    fn stopped(&self, error: ProgramError) -> Stopped {
        let ProgramError::Scheme(inner) = error else {
            return Stopped::Said(refuse_in(&self.args.table, error));
        };
        match inner.downcast::<TableError>() {
            Ok(error) => Stopped::Said(files::refuse_table(&self.args.table, *error)),
            Err(inner) => match inner.downcast::<WireError>() {
                Ok(error) => Stopped::Wire(*error),
                Err(inner) => Stopped::Said(refuse_in(&self.args.table, ProgramError::Scheme(inner))),
            },
        }
    }
}

/// Columns of a table, with the clear cells of one chunk at hand.
struct Columns {
    table: Box<dyn EncryptedTable>,
    chunk: Option<(usize, Vec<Option<Cells>>)>,
}

impl Columns {
    fn read(
        &mut self,
        contexts: &Contexts,
        plan: &Plan,
        id: NodeId,
        chunk: usize,
    ) -> Result<Read, TableError> {
        let missing = || ProgramError::Invalid("a node reads no column".to_owned());
        let node = plan.program.graph().node(id).ok_or_else(missing)?;
        let input = Input::of(node).ok_or_else(missing)?;
        let column = plan.program.schema().columns.get(input.column).ok_or_else(missing)?;
        if column.encrypted {
            return Ok(Read::Encrypted(self.table.encrypted(contexts, chunk, &input)?));
        }
        if self.chunk.as_ref().is_none_or(|(at, _)| *at != chunk) {
            let rows = self.table.clear(chunk)?;
            let cells = (0..plan.program.schema().columns.len()).map(|at| rows.cells(at).cloned());
            self.chunk = Some((chunk, cells.collect()));
        }
        let cells = self.chunk.as_ref().and_then(|(_, cells)| cells.get(input.column)?.clone());
        Ok(Read::Clear(cells.ok_or_else(missing)?))
    }
}

impl Made {
    fn text(&self) -> String {
        let Self { file, results, bytes: size, chunks, seconds } = self;
        let (results, chunks) = (counted(*results, "result", "results"), counted(*chunks, "chunk", "chunks"));
        format!("{file}: {results} of {chunks}, {}, {seconds:.1} s", bytes(*size))
    }
}
