//! The job as integers: columns, groups, and the range its sums need, known before any computing.

use crate::args::DemoArgs;
use crate::error::CliError;
use crate::table::fixed_point::{self, FixedColumn};
use crate::table::groups::Groups;
use crate::table::{Table, csv, embedded, select};

/// What is to be computed.
#[derive(Debug)]
pub(crate) struct Job {
    /// Where the table came from.
    pub(crate) source: String,
    /// The column that groups rows.
    pub(crate) group_by: Option<String>,
    /// The columns, as integers.
    pub(crate) columns: Vec<FixedColumn>,
    /// The same, as double-precision numbers, to report the loss against them.
    pub(crate) doubles: Vec<Vec<f64>>,
    /// The rows of each group.
    pub(crate) groups: Groups,
    /// Rows in all.
    pub(crate) rows: usize,
}

impl Job {
    /// Reads and checks everything that the options ask for.
    pub(crate) fn prepare(args: &DemoArgs) -> Result<Self, CliError> {
        let (table, source) = match &args.input {
            Some(path) => (csv::read(path)?, path.display().to_string()),
            None => (embedded::read()?, embedded::NAME.to_owned()),
        };
        let group_by = args.group_by.clone().or_else(|| match args.input {
            Some(_) => None,
            None => Some(embedded::GROUP_COLUMN.to_owned()),
        });
        Self::from_table(&table, source, args, group_by)
    }

    fn from_table(
        table: &Table,
        source: String,
        args: &DemoArgs,
        group_by: Option<String>,
    ) -> Result<Self, CliError> {
        let group_index =
            group_by.as_deref().map(|name| select::position(table, name, "--group-by")).transpose()?;
        let numbers = if args.columns.is_empty() {
            select::numeric(table, group_index)?
        } else {
            select::named(table, &args.columns)?
        };
        let groups = match (group_index, &group_by) {
            (Some(index), Some(name)) => Groups::by_column(table, index, name)?,
            _ => Groups::whole(table.rows.len()),
        };
        let columns = numbers
            .iter()
            .map(|column| fixed_point::encode(column, args.decimals))
            .collect::<Result<_, _>>()?;
        let doubles = numbers.into_iter().map(|column| column.doubles).collect();
        Ok(Self { source, group_by, columns, doubles, groups, rows: table.rows.len() })
    }

    /// The largest magnitude that any count, sum or sum of products reaches, over all rows or any
    /// group: |Σxy| ≤ max(Σx², Σy²), and |Σx| ≤ Σx² for integers.
    pub(crate) fn bound(&self) -> u128 {
        let squares = self.columns.iter().map(|column| column.sum_of_squares);
        squares.max().unwrap_or(0).max(self.rows as u128)
    }

    /// Decimals of each column.
    pub(crate) fn decimals(&self) -> Vec<u32> {
        self.columns.iter().map(|column| column.decimals).collect()
    }
}
