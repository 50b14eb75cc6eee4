//! Rows of a table that a regression trains on, and those held out.

use sunzi::circuits::regression::{Model, Scaling, accuracy};

use crate::error::CliError;
use crate::job::Job;

/// Number of rows of which one is held out.
const HELD_OUT: usize = 5;

/// Rows of a table and whether each is in the class.
#[derive(Debug, Default)]
pub(crate) struct Labelled {
    /// Features of every row, unscaled.
    pub(crate) rows: Vec<Vec<f64>>,
    /// Labels of the rows: whether each is in the class.
    pub(crate) labels: Vec<bool>,
}

/// A table in two parts: rows to train on and rows held out.
#[derive(Debug)]
pub(crate) struct Split {
    /// Name of the class that the regression tells apart.
    pub(crate) class: String,
    /// Rows to train on: four of five rows of the table.
    pub(crate) training: Labelled,
    /// Rows held out: every fifth row, which training never sees.
    pub(crate) held_out: Labelled,
    /// Scaling of features, found from the rows to train on.
    pub(crate) scaling: Scaling,
}

impl Labelled {
    /// Returns the share of rows that a model puts where their labels say.
    pub(crate) fn accuracy(&self, model: &Model) -> f64 {
        accuracy(model, &self.rows, &self.labels)
    }
}

impl Split {
    /// Splits a table with two groups; the class is the second of their names.
    pub(crate) fn of(job: &Job) -> Result<Self, CliError> {
        let (class, members) = job.outcome()?;
        let (mut training, mut held_out) = (Labelled::default(), Labelled::default());
        for row in 0..job.rows {
            let part = if row % HELD_OUT == HELD_OUT - 1 { &mut held_out } else { &mut training };
            part.rows.extend(job.rows_of([row]));
            part.labels.push(members.contains(&row));
        }
        let scaling = Scaling::of(&training.rows).map_err(CliError::input)?;
        Ok(Self { class: class.to_owned(), training, held_out, scaling })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::groups::Groups;

    fn job(groups: &[&[usize]], rows: usize) -> Job {
        let names = (0..groups.len()).map(|group| format!("group {group}")).collect();
        Job {
            source: String::new(),
            group_by: None,
            columns: Vec::new(),
            doubles: vec![(0..rows).map(|row| row as f64).collect(), vec![1.0; rows]],
            groups: Groups { names, rows: groups.iter().map(|rows| rows.to_vec()).collect() },
            rows,
        }
    }

    #[test]
    fn every_fifth_row_is_held_out() {
        let split = Split::of(&job(&[&[0, 2, 4, 6], &[1, 3, 5, 7, 8, 9]], 10)).unwrap();
        assert_eq!(split.class, "group 1");
        assert_eq!(split.held_out.rows, [[4.0, 1.0], [9.0, 1.0]]);
        assert_eq!(split.held_out.labels, [false, true]);
        assert_eq!(split.training.rows.len(), 8);
        assert_eq!(split.training.labels, [false, true, false, true, true, false, true, true]);
    }

    #[test]
    fn two_groups_are_needed() {
        for groups in [&[&[0, 1][..]][..], &[&[0], &[1], &[2]]] {
            assert!(matches!(Split::of(&job(groups, 3)), Err(CliError::Input(_))));
        }
    }
}
