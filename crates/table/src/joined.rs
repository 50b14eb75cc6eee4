//! Encrypted tables of several parties, each of its own rows, as the one table that they are together.

use std::ops::Range;
use std::sync::Arc;

use sunzi_program::analysis::Layout;
use sunzi_program::contexts::Encrypted;
use sunzi_program::packed::PackedForm;
use sunzi_program::run::{Cells, Table};
use sunzi_program::{Contexts, Schema};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Fingerprint, Kind};

use crate::{EncryptedTable, Input, TableError};

/// The encrypted table of all rows, from the parts of several parties. Ciphertexts are added as they are asked for, in the order of the rows, whatever
/// order the parts were given in.
pub struct JoinedTable {
    parts: Vec<Box<dyn EncryptedTable>>,
    schema: Arc<Schema>,
    layout: Layout,
    key: KeyId,
}

impl JoinedTable {
    /// Joins parts of a table, each with the name of its file: of one schema, key and parameters, which have every row once. There are at most as many as
    /// parties have the secret, since plans count the noise of so many.
    ///
    /// # Errors
    /// [`TableError::Mismatch`], which names the part that does not fit, the rows that two parts have, or those that none has; every error of
    /// [`EncryptedTable::belongs_to`].
    pub fn new(
        contexts: &Contexts,
        mut parts: Vec<(String, Box<dyn EncryptedTable>)>,
    ) -> Result<Self, TableError> {
        let (most, got) = (contexts.parameters().parties() as usize, parts.len());
        if !(1..=most).contains(&got) {
            let expected = format!("at most {most}, as many as parties have the secret");
            return Err(TableError::mismatch("parts of the table", expected, got));
        }
        parts.sort_by_key(|(_, part)| part.rows().start);
        let Some((first_name, first)) = parts.first() else { return Err(no_part()) };
        for (name, part) in &parts {
            part.belongs_to(contexts)?;
            check_beside((first_name, &**first), (name, &**part))?;
        }
        check_rows(first.schema().rows, &parts)?;
        let (schema, layout, key) = (Arc::new(first.schema().clone()), first.layout(), first.key());
        Ok(Self { parts: parts.into_iter().map(|(_, part)| part).collect(), schema, layout, key })
    }

    fn first(&self) -> Option<&dyn EncryptedTable> {
        self.parts.first().map(|part| &**part)
    }
}

fn no_part() -> TableError {
    TableError::mismatch("parts of the table", "at least one", "none")
}

/// The error of a packed part: results of packed tables have sums of fewer rows beside them, which several parties would see.
fn packed(name: &str) -> TableError {
    TableError::mismatch(
        "parts of the table",
        "columns with ciphertexts of their own",
        format!("packed ones in {name}"),
    )
}

/// Checks that two parts belong to one table.
fn check_beside(
    (first_name, first): (&str, &dyn EncryptedTable),
    (name, part): (&str, &dyn EncryptedTable),
) -> Result<(), TableError> {
    let other = |what, expected: &str| {
        let expected = format!("{expected} {first_name}");
        Err(TableError::mismatch(what, expected, format!("another in {name}")))
    };
    if part.key() != first.key() {
        return other("the key of a part", "that of");
    }
    if part.schema() != first.schema() {
        return other("the schema of a part", "rows and columns as in");
    }
    if part.layout() != first.layout() || part.inputs() != first.inputs() {
        return other("the layout of a part", "that of");
    }
    if part.form().is_some() {
        return Err(packed(name));
    }
    Ok(())
}

/// Checks that parts, by their first rows, have each of a number of rows once.
fn check_rows(all: u64, parts: &[(String, Box<dyn EncryptedTable>)]) -> Result<(), TableError> {
    let (mut next, mut before) = (0, "");
    let expected = || format!("each of the {all} rows in one part");
    for (name, part) in parts {
        let Range { start, end } = part.rows();
        if start < next {
            let got = format!("{start}..{} in {before} and in {name}", next.min(end));
            return Err(TableError::mismatch("rows", expected(), got));
        }
        if start > next {
            return Err(TableError::mismatch("rows", expected(), format!("{next}..{start} in none")));
        }
        (next, before) = (end, name);
    }
    if next == all {
        Ok(())
    } else {
        Err(TableError::mismatch("rows", expected(), format!("{next}..{all} in none")))
    }
}

impl EncryptedTable for JoinedTable {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn rows_of(&self, chunk: usize) -> usize {
        self.first().map_or(0, |part| part.rows_of(chunk))
    }

    fn inputs(&self) -> &[Input] {
        self.first().map_or(&[], |part| part.inputs())
    }

    fn key(&self) -> KeyId {
        self.key
    }

    fn kind(&self) -> Option<Kind> {
        self.first().and_then(EncryptedTable::kind)
    }

    fn parameters(&self) -> Fingerprint {
        self.first().map(EncryptedTable::parameters).unwrap_or_default()
    }

    fn belongs_to(&self, contexts: &Contexts) -> Result<(), TableError> {
        self.parts.iter().try_for_each(|part| part.belongs_to(contexts))
    }

    fn clear(&mut self, chunk: usize) -> Result<Table, TableError> {
        let mut rows = 0;
        let mut all: Vec<Cells> = Vec::new();
        for part in &mut self.parts {
            let own = part.clear(chunk)?;
            rows += own.row_count();
            for at in 0..self.schema.columns.len() {
                let cells = own.cells(at).cloned().unwrap_or(Cells::Unknown);
                match all.get_mut(at) {
                    Some(all) => append(all, cells),
                    None => all.push(cells),
                }
            }
        }
        Ok(Table::chunk_of(Arc::clone(&self.schema), rows, all)?)
    }

    fn encrypted(
        &mut self,
        contexts: &Contexts,
        chunk: usize,
        input: &Input,
    ) -> Result<Encrypted, TableError> {
        let (first, others) = self.parts.split_first_mut().ok_or_else(no_part)?;
        let first = first.encrypted(contexts, chunk, input)?;
        others.iter_mut().try_fold(first, |sum, part| {
            Ok(contexts.add_rows(&sum, &part.encrypted(contexts, chunk, input)?)?)
        })
    }

    fn form(&self) -> Option<&PackedForm> {
        None
    }

    fn packed(&mut self, _: &Contexts, _: usize) -> Result<Vec<Encrypted>, TableError> {
        Err(packed("a part"))
    }
}

/// Appends cells of the same column.
fn append(all: &mut Cells, more: Cells) {
    match (all, more) {
        (Cells::Units(all), Cells::Units(more)) => all.extend(more),
        (Cells::Reals(all), Cells::Reals(more)) => all.extend(more),
        (Cells::Labels(all), Cells::Labels(more)) => all.extend(more),
        // Columns that this party does not have stay unknown: parts have one schema.
        _ => {}
    }
}
