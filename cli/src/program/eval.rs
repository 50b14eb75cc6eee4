//! `sunzi eval`: runs a program on an encrypted table, with evaluation keys alone.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use sunzi::circuits::EvaluationKeys;
use sunzi::circuits::bootstrap::AnyBootstrapKeys;
use sunzi::program::analysis::SchemeChoice;
use sunzi::program::contexts::PARAMETERS;
use sunzi::program::results::{Description, ResultsDigest, ResultsWriter};
use sunzi::program::run::{
    Answer, Cells, DeepKeys, Input as Read, evaluate, evaluate_bootstrapped, evaluate_integers,
};
use sunzi::program::{Contexts, NodeId, Plan, Program, ProgramError, Schema, packed};
use sunzi::rlwe::wire::{Accept, WireError};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{GaloisKeys, KeyId, RlweError, rotation};
use sunzi::table::{EncryptedTable, Input, JoinedTable, TableError};

use super::plan::check_precision;
use super::{parse, refuse, refuse_in};
use crate::args::{EvalArgs, PRECISION};
use crate::error::CliError;
use crate::files::input::InputFile;
use crate::files::target::{Content, Stopped, Target};
use crate::files::{self, named, stored};
use crate::keys::properties::Held;
use crate::progress::Progress;

/// Name of the folder with what `sunzi eval` needs.
const PARTY: &str = "eval";
/// Answer to a program on a server that names a file.
#[cfg(feature = "serve")]
const NO_FILES: &str = "a server reads no files for a program: send it with sunzi remote put program --schema, which puts them into it";

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
    let progress = Progress::new(!args.json && !args.quiet);
    let asked = Computation {
        program: Asked::Text(&args.program),
        keys: &args.keys,
        tables: &args.tables,
        precision: args.precision,
        accept: args.accept.parameters(),
        memory: args.memory,
        progress: &progress,
    };
    let (plan, len) = asked.with(|run, table| {
        Held { folder: &args.keys, key: table.key(), secret: None }.remark();
        Ok((run.plan.clone(), run.write(&target, table)?))
    })?;
    drop(progress);
    let made = Made {
        file: target.name(),
        results: plan.program.outputs().len(),
        bytes: len,
        chunks: plan.layout.chunks,
        seconds: start.elapsed().as_secs_f64(),
    };
    target.report(args.json, &made, Made::text)
}

/// The program of a computation.
pub(crate) enum Asked<'a> {
    /// As whoever computes types it.
    Text(&'a str),
    /// As parties agreed on it, or as a key holder sent it.
    #[cfg(any(feature = "net", feature = "serve"))]
    Program(&'a Program),
    /// As a key holder sent its text to a server: a name in it is never that of a file here.
    #[cfg(feature = "serve")]
    Sent(&'a str),
}

impl Asked<'_> {
    /// Returns the program over the columns of a table.
    fn of(&self, schema: &Schema) -> Result<Program, CliError> {
        match self {
            Self::Text(text) => parse(text, schema),
            #[cfg(any(feature = "net", feature = "serve"))]
            Self::Program(program) if program.schema() == schema => Ok((*program).clone()),
            #[cfg(any(feature = "net", feature = "serve"))]
            Self::Program(_) => Err(CliError::mismatch(
                "these tables have other columns, ranges or rows than those that were agreed on: give the tables that the parties encrypted",
            )),
            #[cfg(feature = "serve")]
            Self::Sent(text) => {
                Program::parse_with(text, schema, &|_| Err(NO_FILES.to_owned())).map_err(refuse)
            }
        }
    }
}

/// A computation that is asked for: the program, the folder of keys of those who compute, and the encrypted table, or the parts of it that several parties
/// encrypted.
pub(crate) struct Computation<'a> {
    pub(crate) program: Asked<'a>,
    pub(crate) keys: &'a Path,
    pub(crate) tables: &'a [PathBuf],
    pub(crate) precision: Option<u32>,
    pub(crate) accept: Accept,
    pub(crate) memory: Option<u64>,
    pub(crate) progress: &'a Progress,
}

impl Computation<'_> {
    /// Computes and writes nothing: returns the hash of the results, which is that of a file of them exactly if it was computed by this program from these tables.
    #[cfg_attr(not(feature = "net"), expect(dead_code, reason = "several parties compare it"))]
    pub(crate) fn digest(&self) -> Result<[u8; 32], CliError> {
        self.with(|run, table| run.digest(table))
    }

    /// Computes and writes the results; returns the number of their bytes.
    #[cfg(feature = "serve")]
    pub(crate) fn write(&self, target: &Target<'_>) -> Result<u64, CliError> {
        self.with(|run, table| run.write(target, table))
    }

    /// Reads tables and keys, and calls `compute` with the run of the plan and the table.
    fn with<T>(
        &self,
        compute: impl FnOnce(&Run<'_>, Box<dyn EncryptedTable>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let contexts = files::contexts(self.accept, &self.keys.join(PARAMETERS))
            .map_err(|error| files::refuse_keys(self.keys, PARTY, error))?;
        check_precision(self.precision, Some(contexts.scheme()))?;
        let inputs = self.tables.iter().map(|table| InputFile::open(table)).collect::<Result<Vec<_>, _>>()?;
        let place = self.place();
        let table = self.table(&contexts, &inputs, &place)?;
        let program = self.program.of(table.schema())?;
        // Chunks need not be full: the table may be cut by a category, and an engine may have left some out.
        let plan = match table.form() {
            Some(form) => Plan::for_packed(&program, contexts.parameters(), form),
            None => {
                let precision = self.precision.unwrap_or(PRECISION);
                Plan::for_layout(&program, contexts.parameters(), table.layout(), precision)
            }
        };
        let plan = plan.map_err(refuse)?;
        if let Some(most) = self.memory.filter(|&most| most < plan.memory_bytes) {
            let (needed, most) = (bytes(plan.memory_bytes), bytes(most));
            return Err(CliError::input(format!(
                "this takes about {needed} of memory, --memory allows {most}: compute fewer results at once"
            )));
        }
        plan.check_memory().map_err(refuse)?;
        let keys = Keys::load(&contexts, &plan, self.keys, table.key())?;
        let progress = self.progress;
        compute(&Run { contexts: &contexts, plan: &plan, keys: &keys, place: &place, progress }, table)
    }

    /// Opens the table, or joins those of several parties.
    fn table(
        &self,
        contexts: &Contexts,
        inputs: &[InputFile],
        place: &Path,
    ) -> Result<Box<dyn EncryptedTable>, CliError> {
        let mut parts: Vec<(String, Box<dyn EncryptedTable>)> = Vec::new();
        for (input, path) in inputs.iter().zip(self.tables) {
            let table = stored::table(input.path(), path)?;
            table.belongs_to(contexts).map_err(|error| files::refuse_table(path, error))?;
            let expected = parts.first().map(|(_, first)| first.key());
            if expected.is_some_and(|expected| expected != table.key()) {
                return Err(files::refuse(path, WireError::Key { expected, got: Some(table.key()) }));
            }
            parts.push((named(path), table));
        }
        if let [(_, only)] = &parts[..]
            && only.check_whole().is_ok()
            && let Some((_, only)) = parts.pop()
        {
            return Ok(only);
        }
        let joined = JoinedTable::new(contexts, parts).map_err(|error| files::refuse_table(place, error))?;
        Ok(Box::new(joined))
    }

    /// Name of the tables in messages.
    fn place(&self) -> PathBuf {
        let names: Vec<String> = self.tables.iter().map(|table| table.display().to_string()).collect();
        names.join(", ").into()
    }
}

/// Keys of whoever computes.
enum Keys {
    /// Keys of products and rotations.
    Evaluation(Box<EvaluationKeys>),
    /// Keys of look-ups.
    LookUps(AnyBootstrapKeys),
    /// Keys of bootstraps and of rotations.
    Bootstraps(Box<(AnyBootstrapKeys, GaloisKeys)>),
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
        of_table(keys.id())?;
        if plan.bootstraps.is_none() {
            return Ok(Self::LookUps(keys));
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
    /// Name of the tables in messages.
    place: &'a Path,
    progress: &'a Progress,
}

/// Where answers go.
enum Output<'a, W: Write> {
    File(ResultsWriter<'a, W>),
    Hash(ResultsDigest<'a>),
}

impl<W: Write> Output<'_, W> {
    fn put(&mut self, answer: &Answer) -> Result<(), WireError> {
        match self {
            Self::File(writer) => writer.put(answer),
            Self::Hash(digest) => digest.put(answer),
        }
    }
}

impl Run<'_> {
    /// Writes the results of a table, and returns the number of their bytes.
    fn write(&self, target: &Target<'_>, table: Box<dyn EncryptedTable>) -> Result<u64, CliError> {
        let written = target.write(|file| {
            let mut out = BufWriter::with_capacity(1 << 20, file);
            let description = self.description(&*table)?;
            let writer = ResultsWriter::new(self.contexts, table.key(), description, &mut out)?;
            self.compute(table, &mut Output::File(writer))?;
            Ok(out.flush().map_err(WireError::Io)?)
        });
        written.map_err(|stopped| target.stopped(stopped))
    }

    /// Returns the hash of the results of a table.
    fn digest(&self, table: Box<dyn EncryptedTable>) -> Result<[u8; 32], CliError> {
        let computed = || {
            let digest = ResultsDigest::new(self.contexts, table.key(), &self.description(&*table)?);
            let digest = digest.map_err(|error| Stopped::Said(refuse_in(self.place, error)))?;
            let mut output = Output::<std::io::Sink>::Hash(digest);
            self.compute(table, &mut output)?;
            Ok(output)
        };
        match computed() {
            Ok(Output::Hash(digest)) => Ok(digest.finish()),
            Ok(Output::File(_)) => Err(CliError::failure("results were written, not hashed")),
            Err(Stopped::Wire(error)) => Err(files::refuse(self.place, error)),
            Err(Stopped::Said(error)) => Err(error),
        }
    }

    /// Returns the description of the results of a table.
    fn description(&self, table: &dyn EncryptedTable) -> Result<Description, Stopped> {
        let filled = || (0..self.plan.layout.chunks).map(|chunk| table.rows_of(chunk)).collect();
        let described = Description::of(self.plan).and_then(|text| match self.plan.packed() {
            Some(_) => Ok(text),
            None => text.with_filled(filled()),
        });
        described.map_err(|error| Stopped::Said(refuse_in(self.place, error)))
    }

    fn compute(
        &self,
        table: Box<dyn EncryptedTable>,
        writer: &mut Output<'_, impl Write>,
    ) -> Result<(), Stopped> {
        let Self { contexts, plan, keys, place, progress } = self;
        let said = |error: ProgramError| Stopped::Said(refuse_in(place, error));
        let codec = contexts.codec(&plan.layout).map_err(said)?;
        if let Some(packed) = plan.packed() {
            progress.begin(packed.steps(&plan.parameters));
            return self.sums(table, writer);
        }
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
            Keys::LookUps(keys) => {
                evaluate_integers(plan, &codec, keys.whole(), &|| progress.step(), input, column)
            }
            Keys::Bootstraps(keys) => {
                let (bootstrapping, rotations) = &**keys;
                let keys = DeepKeys { bootstrapping, rotations };
                evaluate_bootstrapped(plan, &codec, keys, &|| progress.step(), input, column)
            }
        };
        let totals = totals.map_err(|error| self.stopped(error))?;
        Ok(totals.values().try_for_each(|answer| writer.put(answer))?)
    }

    /// Number of steps of a run: its look-ups or bootstraps, or the inputs that it reads.
    fn steps(&self) -> usize {
        let moduli = self.plan.parameters.plain_moduli().len().max(1);
        let look_ups = self.plan.look_ups.map(|look_ups| look_ups.count);
        let slow = look_ups.or(self.plan.bootstraps.map(|bootstraps| bootstraps.count));
        slow.map_or(self.plan.inputs / moduli, |count| count as usize)
    }

    /// Computes the sums of a packed table.
    fn sums(
        &self,
        mut table: Box<dyn EncryptedTable>,
        writer: &mut Output<'_, impl Write>,
    ) -> Result<(), Stopped> {
        let Self { contexts, plan, keys, progress, .. } = self;
        progress.say("computing");
        let input = |chunk| table.packed(contexts, chunk).map_err(ProgramError::scheme);
        let Keys::Evaluation(keys) = keys else {
            return Err(Stopped::Said(CliError::failure("keys of look-ups for a packed table")));
        };
        let sums = packed::evaluate(plan, contexts, keys, input, &|| progress.step());
        let sums = sums.map_err(|error| self.stopped(error))?;
        Ok(sums.results.into_iter().try_for_each(|sum| writer.put(&Answer::Encrypted(sum)))?)
    }

    /// The reason why a run stopped: errors of files pass through the program as they are.
    fn stopped(&self, error: ProgramError) -> Stopped {
        let ProgramError::Scheme(inner) = error else {
            return Stopped::Said(refuse_in(self.place, error));
        };
        match inner.downcast::<TableError>() {
            Ok(error) => Stopped::Said(files::refuse_table(self.place, *error)),
            Err(inner) => match inner.downcast::<WireError>() {
                Ok(error) => Stopped::Wire(*error),
                Err(inner) => Stopped::Said(refuse_in(self.place, ProgramError::Scheme(inner))),
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
