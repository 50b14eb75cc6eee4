//! Sums computed without encryption, with which the encrypted sums are compared.

use rayon::prelude::*;

use crate::job::Job;
use crate::sums::{Sums, TableSums, pairs};

/// Returns all sums of the job. The job's bound keeps every one of them far inside `i128`.
pub(crate) fn sums(job: &Job) -> TableSums<i128> {
    let groups = job.groups.rows.iter().map(|rows| sums_over(job, rows)).collect();
    let all: Vec<usize> = (0..job.rows).collect();
    TableSums { groups, total: sums_over(job, &all) }
}

fn sums_over(job: &Job, rows: &[usize]) -> Sums<i128> {
    let columns: Vec<Vec<i128>> = job
        .columns
        .iter()
        .map(|c| rows.iter().filter_map(|row| c.values.get(*row).copied()).collect())
        .collect();
    let product = |(x, y): (usize, usize)| match (columns.get(x), columns.get(y)) {
        (Some(x), Some(y)) => x.iter().zip(y).map(|(a, b)| a * b).sum(),
        _ => 0,
    };
    let pairs: Vec<(usize, usize)> = pairs(columns.len()).collect();
    Sums {
        count: rows.len() as i128,
        sums: columns.iter().map(|column| column.iter().sum()).collect(),
        products: pairs.into_par_iter().map(product).collect(),
    }
}
