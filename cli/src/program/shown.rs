//! Opened results as they are printed: CSV while chunks of columns come, JSON and text once all are there.

use std::collections::{BTreeMap, BTreeSet};

use sunzi::program::run::Estimate;
use sunzi::program::{NodeId, Opened, Program};

use super::agreed::Clear;
use super::print::{Csv, Printed, text};
use crate::error::CliError;
use crate::output;

/// Form in which results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
    Csv,
}

/// Printer of the results of a program, by whichever way they are opened.
pub(crate) struct Shown<'a> {
    program: &'a Program,
    form: Form,
    clear: Clear,
    columns: BTreeMap<NodeId, Vec<Estimate>>,
}

impl<'a> Shown<'a> {
    /// Begins the print of results, of which some were never encrypted.
    pub(crate) fn new(program: &'a Program, clear: &BTreeSet<NodeId>, form: Form) -> Result<Self, CliError> {
        let shown = Self { program, form, clear: Clear::new(program, clear), columns: BTreeMap::new() };
        if form == Form::Csv {
            shown.csv().header()?;
        }
        Ok(shown)
    }

    fn csv(&self) -> Csv<'_> {
        Csv::new(self.program, &self.clear)
    }

    /// Takes a chunk of a column, from row `first` on.
    pub(crate) fn column(&mut self, id: NodeId, first: usize, cells: Vec<Estimate>) -> Result<(), CliError> {
        if self.form == Form::Csv {
            // Columns are written chunk by chunk: a column may be longer than memory.
            return self.csv().rows(id, first, &cells);
        }
        self.columns.entry(id).or_default().extend(cells);
        Ok(())
    }

    /// Prints all that is left once the totals are known.
    pub(crate) fn finish(self, totals: &BTreeMap<NodeId, Estimate>) -> Result<(), CliError> {
        let Self { program, form, clear, columns } = &self;
        let opened: Vec<(&str, Opened)> = program.finish(|id| totals.get(&id).cloned());
        match form {
            Form::Csv => {
                let mut results = opened.iter().enumerate();
                results.try_for_each(|(at, (name, opened))| self.csv().result(at, name, opened))
            }
            Form::Json => output::print_json(&Printed::new(&opened, columns, clear)),
            Form::Text => output::print(&text(&opened, columns, clear)),
        }
    }
}
