//! Run of a plan on an encrypted table in memory.

use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};

use sunzi_program::contexts::Codec;
use sunzi_program::results::{Description, ResultsWriter};
use sunzi_program::run::{
    Answer, Cells, DeepKeys, Input as Read, Table, evaluate, evaluate_bootstrapped, evaluate_integers,
};
use sunzi_program::{NodeId, Plan, ProgramError};
use sunzi_rlwe::wire::WireError;

use super::{Evaluation, Keys};
use crate::file::TableFile;
use crate::{EncryptedTable as _, Input, TableError};

impl Keys {
    /// Runs a plan on an encrypted table, in the bytes of its file, and returns those of the results; `progress` is told how many steps are done, and of how many.
    ///
    /// # Errors
    /// [`TableError::MissingKey`] without evaluation keys; [`TableError::Mismatch`] for a table of other rows or columns than those of the plan; [`WireError`] for one
    /// of other keys or parameters, and for bytes that are none; [`ProgramError::Memory`]; every error of [`evaluate`].
    pub fn compute(
        &self,
        plan: &Plan,
        bytes: &[u8],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Vec<u8>, TableError> {
        self.check_plan(plan)?;
        let missing = TableError::MissingKey { what: "to compute with: take the evaluation keys" };
        let evaluation = self.evaluation.as_ref().ok_or(missing)?;
        let contexts = &self.contexts;
        let table = TableFile::open(Cursor::new(bytes), bytes.len() as u64)?;
        table.belongs_to(contexts)?;
        table.check_whole()?;
        check_table(plan, &table)?;
        if let Some(own) = evaluation.ids().into_iter().find(|own| *own != table.key()) {
            return Err(WireError::Key { expected: Some(own), got: Some(table.key()) }.into());
        }
        plan.check_memory()?;
        let codec = contexts.codec(&plan.layout)?;
        let (key, mut out) = (table.key(), Vec::new());
        let mut writer = ResultsWriter::new(contexts, key, Description::of(plan)?, &mut out)?;
        let (steps, done) = (steps(plan), AtomicUsize::new(0));
        let step = || progress((done.fetch_add(1, Ordering::Relaxed) + 1).min(steps), steps);
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
                let keys = DeepKeys { bootstrapping, rotations };
                evaluate_bootstrapped(plan, &codec, keys, &step, input, column)
            }
        };
        totals?.values().try_for_each(|answer| writer.put(answer))?;
        Ok(out)
    }
}

/// Checks that a table has the columns and rows that a plan is for.
fn check_table(plan: &Plan, table: &TableFile<Cursor<&[u8]>>) -> Result<(), TableError> {
    if table.form().is_some() {
        let expected = "one with columns apart";
        return Err(TableError::mismatch("the table", expected, "one that was packed for a program"));
    }
    let (expected, got) = (plan.program.schema(), table.shape().schema());
    if expected.rows != got.rows {
        return Err(TableError::mismatch("rows of the table", expected.rows, got.rows));
    }
    if expected.columns != got.columns {
        let what = "columns of the table (make the program for the schema of the table)";
        return Err(TableError::mismatch(what, "those of the plan", "others"));
    }
    Ok(())
}

/// Number of steps of a run: its look-ups or bootstraps, or the inputs that it reads.
fn steps(plan: &Plan) -> usize {
    let moduli = plan.parameters.plain_moduli().len().max(1);
    let slow = plan.look_ups.map(|own| own.count).or(plan.bootstraps.map(|own| own.count));
    slow.map_or(plan.inputs / moduli, |count| usize::try_from(count).unwrap_or(usize::MAX))
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
