//! Encryption of a table in memory.

use rayon::prelude::*;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::run::Table;
use sunzi_program::schema::{Kind, Schema};
use sunzi_program::{Column, Plan, ProgramError};
use sunzi_rlwe::randomness::from_os;

use super::Keys;
use crate::file::{Shape, TableWriter};
use crate::{
    Asked, Chunks, EncryptedWriter as _, Input, Reading, Rows, Surveyed, TableError, inputs, survey,
};

impl Keys {
    /// Encrypts a table whose columns the schema of a plan declares, and returns the bytes of its file. Its rows stand as the parameters of the keys have them, or
    /// fill all slots where the plan says so. `rows` opens the table, twice: all cells are checked before any is encrypted.
    ///
    /// # Errors
    /// [`TableError::MissingKey`] without a key that encrypts; [`TableError::Mismatch`] for a table of other columns or of another number of rows than the schema
    /// has; [`TableError::Column`] for a column that the scheme cannot hold, [`TableError::Empty`] if none would be encrypted; [`TableError::Cell`]; every error of
    /// `rows`.
    pub fn encrypt(
        &self,
        plan: &Plan,
        reading: &Reading,
        rows: &dyn Fn() -> Result<Box<dyn Rows>, TableError>,
    ) -> Result<Vec<u8>, TableError> {
        let ((key, id), contexts, schema) = (self.encrypting()?, &self.contexts, plan.program.schema());
        fits(contexts.parameters(), schema)?;
        let surveyed = surveyed(schema, reading, &mut *rows()?)?;
        let filling =
            (plan.parameters == *contexts.parameters()).then(|| contexts.filling_layout(schema.rows));
        let fills = filling.flatten() == Some(plan.layout);
        let codec = contexts.codec(&if fills { plan.layout } else { contexts.layout(schema.rows) })?;
        let encrypted = |rows: &Table, input: &Input| {
            let column = schema.columns.get(input.column).zip(rows.cells(input.column));
            let missing = || ProgramError::Invalid("a column is missing".to_owned());
            let (column, cells) = column.ok_or_else(missing)?;
            let mut rng = from_os().map_err(ProgramError::scheme)?;
            let chunk = codec.encrypt(column, input.label, cells, key, &mut rng)?;
            Ok::<_, TableError>(contexts.to_bytes(&chunk)?)
        };
        let (all, span, mut out, mut writer) = (inputs(schema), codec.layout().span, Vec::new(), None);
        let mut chunks = Chunks::new(rows()?, &surveyed, span);
        while let Some(rows) = chunks.next_chunk()? {
            let made = all.par_iter().map(|input| encrypted(&rows, input));
            let made: Vec<Vec<u8>> = made.collect::<Result<_, TableError>>()?;
            if writer.is_none() {
                let len = made.first().map_or(0, |bytes| bytes.len() as u64);
                let digits = contexts.scheme() == SchemeChoice::Integers;
                let shape = if digits { Shape::of_digits } else { Shape::new };
                writer = Some(TableWriter::create(contexts, shape(schema, span, len)?, id, &mut out)?);
            }
            let Some(writer) = &mut writer else { continue };
            writer.begin_chunk(&rows)?;
            made.iter().try_for_each(|bytes| writer.put_bytes(bytes, id))?;
        }
        writer.map_or(Ok(()), |writer| Box::new(writer).finish())?;
        Ok(out)
    }
}

/// Checks all cells of a table against its schema.
fn surveyed(schema: &Schema, reading: &Reading, rows: &mut dyn Rows) -> Result<Surveyed, TableError> {
    let declared = Some(schema.columns.clone());
    let asked = Asked { declared, rows: Some(schema.rows), reading: reading.clone(), ..Asked::default() };
    let found = survey(rows, &asked)?;
    let (expected, got) = (schema.rows, found.schema.rows);
    if expected != got {
        return Err(TableError::mismatch("rows of the table", expected, got));
    }
    if found.schema == *schema {
        Ok(found)
    } else {
        Err(TableError::mismatch("columns", "those of the schema", "others"))
    }
}

/// Fails for columns of a table that the scheme cannot hold.
fn fits(parameters: &Parameters, schema: &Schema) -> Result<(), TableError> {
    let range = parameters.plain_moduli().iter().fold(1_u128, |range, &t| range.saturating_mul(t.into()));
    let encrypted = || schema.columns.iter().filter(|column| column.encrypted);
    if encrypted().next().is_none() {
        return Err(TableError::Empty);
    }
    if parameters.scheme() == SchemeChoice::Ckks {
        return Ok(());
    }
    encrypted().try_for_each(|column| fits_exactly(parameters, range, column))
}

/// Fails for a column that no scheme of integers holds, or whose numbers are beyond its range.
fn fits_exactly(parameters: &Parameters, range: u128, column: &Column) -> Result<(), TableError> {
    if matches!(column.kind, Kind::Real { .. }) {
        let problem = format!(
            "has real numbers, {} has integers and decimals: declare its decimals, or plan with the scheme ckks",
            parameters.name()
        );
        return Err(TableError::column(&column.name, problem));
    }
    let largest = column.largest_unit();
    if parameters.scheme() != SchemeChoice::Integers && range <= 2 * u128::from(largest) {
        let problem = format!(
            "reaches {largest} units of its last decimal, these parameters hold numbers below {}: leave it out, or plan for it",
            range / 2
        );
        return Err(TableError::column(&column.name, problem));
    }
    Ok(())
}
