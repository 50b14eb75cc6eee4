//! Loss of fixed-point columns against double precision.

use serde::Serialize;

use crate::derived::Derived;
use crate::job::Job;
use crate::sums::pair_index;

/// Loss of one column of the job against double precision.
#[derive(Debug, Serialize)]
pub(crate) struct ColumnLoss {
    /// Name of the column of the job.
    pub(crate) column: String,
    /// Number of decimals that the column keeps.
    pub(crate) decimals: u32,
    /// Number of decimals that the column's cells have.
    pub(crate) decimals_written: u32,
    /// Whether every cell of the column was encoded without rounding.
    pub(crate) exact: bool,
    /// Largest difference between a cell of the column and its encoding.
    pub(crate) max_abs_error: f64,
    /// Relative difference |mean − mean by double precision|.
    pub(crate) mean_relative_difference: Option<f64>,
    /// Relative difference |variance − variance by double precision|.
    pub(crate) variance_relative_difference: Option<f64>,
}

/// Returns the loss of each column, over all rows, against the usual two-pass formulas in double precision.
pub(crate) fn of(job: &Job, total: &Derived) -> Vec<ColumnLoss> {
    let one = |(x, (column, doubles)): (usize, (&crate::table::fixed_point::FixedColumn, &Vec<f64>))| {
        let (mean, variance) = two_pass(doubles);
        ColumnLoss {
            column: column.name.clone(),
            decimals: column.decimals,
            decimals_written: column.written,
            exact: column.decimals >= column.written,
            max_abs_error: column.max_error,
            mean_relative_difference: relative(total.means.get(x).copied().flatten(), mean),
            variance_relative_difference: relative(
                total.covariances.get(pair_index(x, x)).copied().flatten(),
                variance,
            ),
        }
    };
    job.columns.iter().zip(&job.doubles).enumerate().map(one).collect()
}

fn two_pass(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, squares / (n - 1.0))
}

fn relative(ours: Option<f64>, double: f64) -> Option<f64> {
    let difference = (ours? - double).abs();
    let relative = if difference == 0.0 { 0.0 } else { difference / double.abs() };
    relative.is_finite().then_some(relative)
}
