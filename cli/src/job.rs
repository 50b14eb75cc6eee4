//! The job of `sunzi demo` as integers: columns, groups, and the range its sums need, known before any computing.

use crate::args::{DemoArgs, flat};
use crate::error::{CliError, listed};
use crate::files;
use crate::table::fixed_point::{self, Decimals, FixedColumn};
use crate::table::groups::Groups;
use crate::table::{Table, csv, embedded, select};

/// Input of `sunzi demo`: columns and groups of its table.
#[derive(Debug)]
pub(crate) struct Job {
    /// Name of the table's source: a file, or the embedded table.
    pub(crate) source: String,
    /// Name of the column that groups rows.
    pub(crate) group_by: Option<String>,
    /// Columns of the table, as integers.
    pub(crate) columns: Vec<FixedColumn>,
    /// Columns of the table as double-precision numbers, to report the loss against them.
    pub(crate) doubles: Vec<Vec<f64>>,
    /// Rows of each group of the table.
    pub(crate) groups: Groups,
    /// Number of rows of the table.
    pub(crate) rows: usize,
}

impl Job {
    /// Reads and checks the table that the options of `sunzi demo` ask for.
    pub(crate) fn prepare(args: &DemoArgs) -> Result<Self, CliError> {
        Self::prepare_of(args, &[])
    }

    /// Reads and checks the table, of whose columns these are used where the embedded table is and the options name none; without any, all.
    pub(crate) fn prepare_of(args: &DemoArgs, usual: &[&str]) -> Result<Self, CliError> {
        let (table, source) = match &args.input {
            Some(path) => (csv::read(path)?, files::shown(path)),
            None => (embedded::read()?, embedded::NAME.to_owned()),
        };
        let group_by = args.group_by.clone().or_else(|| match args.input {
            Some(_) => None,
            None => Some(embedded::GROUP_COLUMN.to_owned()),
        });
        let mut columns = flat(&args.columns);
        if columns.is_empty() && args.input.is_none() {
            columns.extend(usual.iter().map(|&name| name.to_owned()));
        }
        Self::from_table(&table, source, (&columns, args.decimals), group_by)
    }

    /// Encodes columns of a table, all columns of numbers unless some are named, and groups its rows.
    pub(crate) fn from_table(
        table: &Table,
        source: String,
        (names, decimals): (&[String], Decimals),
        group_by: Option<String>,
    ) -> Result<Self, CliError> {
        let group_index =
            group_by.as_deref().map(|name| select::position(table, name, "--group-by")).transpose()?;
        let numbers = if names.is_empty() {
            select::numeric(table, group_index)?
        } else {
            select::named(table, names)?
        };
        let groups = match (group_index, &group_by) {
            (Some(index), Some(name)) => Groups::by_column(table, index, name)?,
            _ => Groups::whole(table.rows.len()),
        };
        let columns =
            numbers.iter().map(|column| fixed_point::encode(column, decimals)).collect::<Result<_, _>>()?;
        let doubles = numbers.into_iter().map(|column| column.doubles).collect();
        Ok(Self { source, group_by, columns, doubles, groups, rows: table.rows.len() })
    }

    /// Largest magnitude that any count, sum or sum of products reaches, over all rows or any group: |Σxy| ≤
    /// max(Σx², Σy²), and |Σx| ≤ Σx² for integers.
    pub(crate) fn bound(&self) -> u128 {
        let squares = self.columns.iter().map(|column| column.sum_of_squares);
        squares.max().unwrap_or(0).max(self.rows as u128)
    }

    /// The two outcomes that a regression tells apart: the class, which is the second group by name, and its rows.
    pub(crate) fn outcome(&self) -> Result<(&str, &[usize]), CliError> {
        match (self.groups.names.as_slice(), self.groups.rows.as_slice()) {
            ([_, class], [_, members]) => Ok((class, members)),
            (names, _) => Err(CliError::input(format!(
                "a regression tells two groups apart, there are {} ({}): give a column of two values with --group-by",
                names.len(),
                listed(names, 3)
            ))),
        }
    }

    /// Some rows of the table as double-precision numbers.
    pub(crate) fn rows_of(&self, rows: impl IntoIterator<Item = usize>) -> Vec<Vec<f64>> {
        let row = |row: usize| self.doubles.iter().filter_map(|column| column.get(row).copied()).collect();
        rows.into_iter().map(row).collect()
    }

    /// Decimals of each column of the job.
    pub(crate) fn decimals(&self) -> Vec<u32> {
        self.columns.iter().map(|column| column.decimals).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str, decimals: Decimals) -> Job {
        let table = csv::parse(text.as_bytes(), "t.csv").unwrap();
        Job::from_table(&table, "t.csv".to_owned(), (&[], decimals), None).unwrap()
    }

    #[test]
    fn no_sum_exceeds_the_bound() {
        for text in ["x,y\n-3,5\n4,-6\n", "x\n0\n0\n0\n", "x,y,z\n1.5,-2,0.001\n-2.5,7,12\n"] {
            let job = job(text, Decimals::Auto);
            let sums = crate::statistics_clear::sums(&job).total;
            let largest =
                sums.sums.iter().chain(&sums.products).chain([&sums.count]).map(|v| v.unsigned_abs()).max();
            assert_eq!(largest, Some(job.bound()), "{text}: the bound is reached");
        }
    }

    #[test]
    fn decimals_are_those_of_each_column() {
        let text = "x,y\n1.25,3\n2.5,4.5\n";
        assert_eq!(job(text, Decimals::Auto).decimals(), [2, 1]);
        assert_eq!(job(text, Decimals::Fixed(1)).decimals(), [1, 1]);
    }
}
