//! Encryption of tables, and runs of plans on encrypted ones.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::contexts::Codec;
use sunzi_program::results::{Description, ResultsWriter};
use sunzi_program::run::{
    Answer, Cells, DeepKeys, Input as Read, Table, evaluate, evaluate_bootstrapped, evaluate_integers,
};
use sunzi_program::schema::{Kind, Schema};
use sunzi_program::{Column, NodeId, Plan, ProgramError};
use sunzi_rlwe::randomness::from_os;
use sunzi_table::file::{Shape, TableFile, TableWriter};
use sunzi_table::{
    Asked, Chunks, EncryptedTable as _, EncryptedWriter as _, Input, Surveyed, inputs, survey,
};

use super::columns::Columns;
use super::keys::{Evaluation, Held, missing};
use super::schema::TableSchema;
use super::{broken, mismatch};
use crate::compute::{Progress, run};
use crate::error::Failure;

/// Encrypted table, in the bytes of its file.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct TableBytes {
    pub(super) bytes: Arc<Vec<u8>>,
    schema: Arc<Schema>,
    key: String,
}

#[pymethods]
impl TableBytes {
    /// Reads header and schema of an encrypted table.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Vec<u8>) -> PyResult<Self> {
        run(py, move || Self::new(data))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    #[getter]
    fn schema(&self) -> TableSchema {
        TableSchema { schema: Arc::clone(&self.schema) }
    }

    /// Identifier of the secret key that opens the table.
    #[getter]
    fn key(&self) -> &str {
        &self.key
    }
}

impl TableBytes {
    fn new(bytes: Vec<u8>) -> Result<Self, Failure> {
        let table = opened(&bytes)?;
        let (schema, key) = (Arc::new(table.shape().schema().clone()), table.key().to_string());
        Ok(Self { bytes: Arc::new(bytes), schema, key })
    }
}

fn opened(bytes: &[u8]) -> Result<TableFile<Cursor<&[u8]>>, Failure> {
    Ok(TableFile::open(Cursor::new(bytes), bytes.len() as u64)?)
}

/// Encrypts a table whose columns the schema of a plan declares. Its rows stand as the keys' parameters have them, or fill all slots where the plan says so.
pub(super) fn encrypt(keys: &Held, plan: &Plan, columns: Columns) -> Result<TableBytes, Failure> {
    let (key, id) = keys.encrypting()?;
    let (contexts, schema) = (&keys.contexts, plan.program.schema());
    let (expected, got) = (schema.rows, columns.count());
    if expected != got as u64 {
        let message = format!(
            "a table of {got} rows for a schema of {expected}: give one of as many rows, or plan for these"
        );
        return Err(Failure::new("ShapeError", message));
    }
    fits(contexts.parameters(), schema)?;
    let surveyed = surveyed(schema, columns.clone())?;
    let fills = plan.parameters == *contexts.parameters()
        && contexts.filling_layout(schema.rows) == Some(plan.layout);
    let codec = contexts.codec(&if fills { plan.layout } else { contexts.layout(schema.rows) })?;
    let encrypted = |rows: &Table, input: &Input| {
        let column = schema.columns.get(input.column).zip(rows.cells(input.column));
        let (column, cells) = column.ok_or_else(|| broken("a column is missing"))?;
        let chunk = codec.encrypt(column, input.label, cells, key, &mut from_os()?)?;
        Ok::<_, Failure>(contexts.to_bytes(&chunk)?)
    };
    let (all, mut out) = (inputs(schema), Vec::new());
    let span = codec.layout().span;
    let mut chunks = Chunks::new(Box::new(columns), &surveyed, span);
    let mut writer = None;
    while let Some(rows) = chunks.next_chunk()? {
        let made: Vec<Vec<u8>> =
            all.par_iter().map(|input| encrypted(&rows, input)).collect::<Result<_, Failure>>()?;
        if writer.is_none() {
            let len = made.first().map_or(0, |bytes| bytes.len() as u64);
            let digits = contexts.scheme() == SchemeChoice::Integers;
            let shape =
                if digits { Shape::of_digits(schema, span, len) } else { Shape::new(schema, span, len) };
            writer = Some(TableWriter::create(contexts, shape?, id, &mut out)?);
        }
        let Some(writer) = &mut writer else { continue };
        writer.begin_chunk(&rows)?;
        made.iter().try_for_each(|bytes| writer.put_bytes(bytes, id))?;
    }
    writer.map_or(Ok(()), |writer| Box::new(writer).finish())?;
    TableBytes::new(out)
}

/// Checks all cells of a table against its schema, before anything is encrypted.
fn surveyed(schema: &Schema, mut columns: Columns) -> Result<Surveyed, Failure> {
    let asked = Asked { declared: Some(schema.columns.clone()), rows: Some(schema.rows), ..Asked::default() };
    let found = survey(&mut columns, &asked)?;
    if found.schema == *schema {
        Ok(found)
    } else {
        Err(mismatch("columns", "those of the schema", "others"))
    }
}

/// Fails for columns of a table that the scheme cannot hold.
fn fits(parameters: &Parameters, schema: &Schema) -> Result<(), Failure> {
    let range = parameters.plain_moduli().iter().fold(1_u128, |range, &t| range.saturating_mul(t.into()));
    let is_exact = parameters.scheme() != SchemeChoice::Ckks;
    let encrypted = || schema.columns.iter().filter(|column| column.encrypted);
    if encrypted().next().is_none() {
        let message = "no column would be encrypted: leave some with encrypted=True in the schema";
        return Err(Failure::new("Empty", message));
    }
    let refused = |column: &Column, problem: String| {
        Err(Failure::new("Column", format!("column {:?} {problem}", column.name)))
    };
    for column in encrypted().filter(|_| is_exact) {
        if matches!(column.kind, Kind::Real { .. }) {
            let scheme = parameters.name();
            return refused(
                column,
                format!(
                    "has real numbers, {scheme} has integers and decimals: declare its decimals, or plan with scheme=\"ckks\""
                ),
            );
        }
        let largest = column.largest_unit();
        if parameters.scheme() != SchemeChoice::Integers && range <= 2 * u128::from(largest) {
            return refused(
                column,
                format!(
                    "reaches {largest} units of its last decimal, these parameters hold numbers below {}: leave it out, or plan for it",
                    range / 2
                ),
            );
        }
    }
    Ok(())
}

/// Runs a plan on an encrypted table, and returns the bytes of its results.
pub(super) fn compute(
    keys: &Held,
    plan: &Plan,
    bytes: &[u8],
    progress: &Progress,
) -> Result<Vec<u8>, Failure> {
    keys.check_plan(plan)?;
    let evaluation =
        keys.evaluation.as_ref().ok_or_else(|| missing("to compute with: load the folder eval"))?;
    let (contexts, table) = (&keys.contexts, opened(bytes)?);
    table.belongs_to(contexts)?;
    table.check_whole()?;
    check_table(plan, &table)?;
    if let Some(own) = evaluation.ids().into_iter().find(|own| *own != table.key()) {
        let message =
            format!("a table of the secret key {} for keys of {own}: take both of one", table.key());
        return Err(Failure::new("Key", message));
    }
    plan.check_memory()?;
    let codec = contexts.codec(&plan.layout)?;
    let (key, mut out) = (table.key(), Vec::new());
    let mut writer = ResultsWriter::new(contexts, key, Description::of(plan)?, &mut out)?;
    let (steps, done) = (steps(plan), AtomicUsize::new(0));
    let step = || progress.tell((done.fetch_add(1, Ordering::Relaxed) + 1).min(steps), steps);
    let mut columns = Reader { table, codec: &codec, plan, chunk: None };
    let counts_inputs = plan.look_ups.is_none() && plan.bootstraps.is_none();
    let input = |id, chunk| {
        if counts_inputs {
            step();
        }
        columns.read(id, chunk)
    };
    let column = |_, _, answer: Answer| writer.put(&answer).map_err(ProgramError::scheme);
    let totals = match &**evaluation {
        Evaluation::Keys(keys) => evaluate(plan, &codec, keys, input, column),
        Evaluation::LookUps(keys) => evaluate_integers(plan, &codec, keys.whole(), &step, input, column),
        Evaluation::Bootstraps(bootstrapping, rotations) => {
            evaluate_bootstrapped(plan, &codec, DeepKeys { bootstrapping, rotations }, &step, input, column)
        }
    };
    totals?.values().try_for_each(|answer| writer.put(answer))?;
    Ok(out)
}

/// Checks that a table has the columns and rows that a plan is for.
fn check_table(plan: &Plan, table: &TableFile<Cursor<&[u8]>>) -> Result<(), Failure> {
    if table.form().is_some() {
        return Err(mismatch("the table", "one with columns apart", "one that was packed for a program"));
    }
    let (expected, got) = (plan.program.schema(), table.shape().schema());
    if expected.rows != got.rows {
        return Err(mismatch("rows of the table", expected.rows, got.rows));
    }
    if expected.columns != got.columns {
        let what = "columns of the table (Program(text, table.schema) is for these)";
        return Err(mismatch(what, "those of the plan", "others"));
    }
    Ok(())
}

/// Number of steps of a run: its look-ups or bootstraps, or the inputs that it reads.
fn steps(plan: &Plan) -> usize {
    let moduli = plan.parameters.plain_moduli().len().max(1);
    let slow = plan.look_ups.map(|own| own.count).or(plan.bootstraps.map(|own| own.count));
    slow.map_or(plan.inputs / moduli, |count| count as usize)
}

/// Columns of an encrypted table, with the clear cells of one chunk at hand.
struct Reader<'a> {
    table: TableFile<Cursor<&'a [u8]>>,
    codec: &'a Codec,
    plan: &'a Plan,
    chunk: Option<(usize, Table)>,
}

impl Reader<'_> {
    fn read(&mut self, id: NodeId, chunk: usize) -> Result<Read, ProgramError> {
        let none = || ProgramError::Invalid("a node reads no column".to_owned());
        let (program, contexts) = (&self.plan.program, self.codec.contexts());
        let input = program.graph().node(id).and_then(Input::of).ok_or_else(none)?;
        let column = program.schema().columns.get(input.column).ok_or_else(none)?;
        if column.encrypted {
            let found = self.table.encrypted(contexts, chunk, &input).map_err(ProgramError::scheme)?;
            return Ok(Read::Encrypted(found));
        }
        if self.chunk.as_ref().is_none_or(|(at, _)| *at != chunk) {
            self.chunk = Some((chunk, self.table.clear(chunk).map_err(ProgramError::scheme)?));
        }
        let cells: Option<Cells> =
            self.chunk.as_ref().and_then(|(_, rows)| rows.cells(input.column).cloned());
        Ok(Read::Clear(cells.ok_or_else(none)?))
    }
}
