//! Whose rows are whose: the table of the demonstration, cut into the rows of three hospitals.

use std::ops::Range;

use crate::error::CliError;
use crate::job::Job;

/// Names of the hospitals.
pub(super) const NAMES: [&str; 3] = ["north", "south", "west"];
/// The two hospitals that open results; any two of the three could.
pub(super) const QUORUM: [&str; 2] = ["north", "west"];
/// Columns of the embedded table that are used unless others are named.
pub(super) const COLUMNS: [&str; 5] =
    ["mean_radius", "mean_texture", "mean_smoothness", "mean_concave_points", "mean_symmetry"];
/// Largest number of columns: a row of the regression, with its constant, has 8 slots.
const MOST_COLUMNS: usize = 7;
/// Largest number of bits of sums, sign included: they are residues modulo one prime.
const MOST_BITS: u32 = 59;

/// The rows of each hospital, and whether each row is in the class.
#[derive(Debug)]
pub(super) struct Parts {
    /// Rows of each hospital: half of the table, three tenths, and the rest.
    pub(super) rows: [Range<usize>; 3],
    /// Name of the class that the regression tells apart.
    pub(super) class: String,
    /// Whether each row of the table is in the class.
    pub(super) labels: Vec<bool>,
}

impl Parts {
    /// Cuts the table of a job, whose two groups are the outcomes of the regression; the class is the second of their names.
    pub(super) fn of(job: &Job) -> Result<Self, CliError> {
        let columns = job.columns.len();
        if columns > MOST_COLUMNS {
            return Err(CliError::input(format!(
                "{columns} columns of numbers, at most {MOST_COLUMNS} are possible for --job hospitals: choose some with --columns"
            )));
        }
        let (class, members) = job.outcome()?;
        if job.rows < NAMES.len() {
            return Err(CliError::input(format!(
                "{} rows, expected at least {}: every hospital has one",
                job.rows,
                NAMES.len()
            )));
        }
        let bits = u128::BITS - job.bound().leading_zeros() + 1;
        if bits > MOST_BITS {
            return Err(CliError::input(format!(
                "sums of squares take {bits} bits, at most {MOST_BITS} are possible for --job hospitals: round the columns with --decimals, or leave some out with --columns"
            )));
        }
        let mut labels = vec![false; job.rows];
        for &row in members {
            labels.iter_mut().skip(row).take(1).for_each(|label| *label = true);
        }
        let first = (job.rows / 2).max(1);
        let second = first + (job.rows * 3 / 10).max(1);
        Ok(Self { rows: [0..first, first..second, second..job.rows], class: class.to_owned(), labels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::fixed_point::FixedColumn;
    use crate::table::groups::Groups;

    fn job(rows: usize, columns: usize, largest: u128) -> Job {
        let column = |index: usize| FixedColumn {
            name: format!("c{index}"),
            decimals: 0,
            written: 0,
            values: vec![0; rows],
            sum_of_squares: largest,
            max_error: 0.0,
        };
        let second = (0..rows).filter(|row| row % 2 == 1).collect::<Vec<_>>();
        let first = (0..rows).filter(|row| row % 2 == 0).collect::<Vec<_>>();
        Job {
            source: String::new(),
            group_by: None,
            columns: (0..columns).map(column).collect(),
            doubles: vec![vec![0.0; rows]; columns],
            groups: Groups { names: vec!["no".into(), "yes".into()], rows: vec![first, second] },
            rows,
        }
    }

    #[test]
    fn every_row_has_one_hospital_and_every_hospital_a_row() {
        for rows in 3..40 {
            let parts = Parts::of(&job(rows, 1, 1)).unwrap();
            let [a, b, c] = parts.rows;
            assert_eq!((a.start, a.end, b.end, c.end), (0, b.start, c.start, rows));
            assert!(!a.is_empty() && !b.is_empty() && !c.is_empty(), "{rows}");
            assert_eq!((parts.class.as_str(), parts.labels.len()), ("yes", rows));
            assert!(parts.labels.iter().enumerate().all(|(row, label)| *label == (row % 2 == 1)));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |job: Job| Parts::of(&job).unwrap_err().to_string();
        assert!(refused(job(2, 1, 1)).contains("at least 3"));
        assert!(refused(job(9, 8, 1)).contains("at most 7"));
        assert!(refused(job(9, 1, 1 << 58)).contains("60 bits, at most 59"));
        assert!(Parts::of(&job(9, 7, (1 << 58) - 1)).is_ok());
        let one = Job { groups: Groups::whole(9), ..job(9, 1, 1) };
        assert!(refused(one).contains("two groups"));
    }
}
