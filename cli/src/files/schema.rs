//! `sunzi schema` finds what is public of a table, or checks a table against a schema of another day.

use std::io::Write;

use sunzi::program::Schema;
use sunzi::rlwe::wire::WireError;
use sunzi::rlwe::words::counted;
use sunzi::table::{Asked, Source, Surveyed, survey, write_schema};

use super::input::InputFile;
use super::refuse_table;
use super::target::{Content, Target};
use crate::args::{SchemaArgs, TableArgs};
use crate::error::CliError;
use crate::output;

/// A table that was read once.
pub(super) struct Looked {
    pub(super) source: Source,
    pub(super) surveyed: Surveyed,
    /// Number of rows that the schema of another table is for.
    pub(super) declared_rows: Option<u64>,
}

/// Finds the schema of a table, and prints or keeps it.
pub(crate) fn run(args: &SchemaArgs) -> Result<(), CliError> {
    let target = |path| Target::new(path, &args.force, Content::Text, false);
    let target = args.output.as_deref().map(target).transpose()?;
    let input = InputFile::open(args.table.path())?;
    let Looked { surveyed: Surveyed { schema, .. }, .. } = look(&input, &args.table, None, None)?;
    let rows = args.rows.unwrap_or(schema.rows);
    if rows < schema.rows {
        let own = counted(schema.rows as usize, "row", "rows");
        return Err(CliError::input(format!(
            "the table has {own}, and --rows declares {rows}: declare at least as many"
        )));
    }
    let json = write_schema(&Schema { rows, ..schema }).map_err(CliError::failure)?;
    let Some(target) = target else { return output::print(&json) };
    let written = target.write(|file| writeln!(file, "{json}").map_err(WireError::Io));
    written.map(drop).map_err(|error| target.refuse(error))
}

/// Reads all of a table once; a column that cuts it is a category in the clear.
pub(super) fn look(
    input: &InputFile,
    args: &TableArgs,
    partition: Option<&String>,
    schema: Option<&Schema>,
) -> Result<Looked, CliError> {
    let refused = |error| refuse_table(args.path(), error);
    let asked = args.asked();
    let asked = match (&args.schema, schema) {
        (_, Some(Schema { rows, columns })) => {
            Asked { rows: Some(*rows), declared: Some(columns.clone()), ..asked }
        }
        (Some(path), None) => {
            let Asked { rows, declared, .. } = super::read_schema(path)?;
            Asked { rows, declared, ..asked }
        }
        (None, None) => {
            let categories = asked.categories.iter().chain(partition).cloned().collect();
            Asked { categories, ..asked }
        }
    };
    let asked = Asked { clear: asked.clear.iter().chain(partition).cloned().collect(), ..asked };
    let source = Source::named(input.path(), input.name()).map_err(refused)?;
    let source = source.delimited(args.reading.delimiter);
    let surveyed = survey(&mut *source.rows().map_err(refused)?, &asked).map_err(refused)?;
    Ok(Looked { source, surveyed, declared_rows: asked.rows })
}

impl Looked {
    /// Says so where the table has more rows than the schema is for, and parameters and keys may therefore not suffice.
    pub(super) fn tell_rows(&self) {
        let rows = self.surveyed.schema.rows;
        if let Some(declared) = self.declared_rows.filter(|&declared| declared < rows) {
            output::remark(&format!(
                "the schema is for {declared} rows and the table has {rows}: parameters and keys for {declared} may not suffice, which sunzi eval tells; \
                 sunzi schema --rows declares room for more"
            ));
        }
    }
}
