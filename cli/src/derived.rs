//! Statistics that the key holder derives from exact sums: mean, variance, covariance, correlation.
//!
//! Every result is the double-precision number nearest to the exact rational one, so two sides
//! with equal sums have equal results.

use num_bigint::BigInt;
use num_traits::{One, Signed};
use sunzi::program::nearest;

use crate::sums::{Sums, pairs};

/// Statistics of one set of rows; none where they are not defined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Derived {
    /// Number of rows of the set.
    pub(crate) count: i128,
    /// Mean Σx/n of each column.
    pub(crate) means: Vec<Option<f64>>,
    /// Sample covariances (divisor n − 1) of each pair x ≤ y; variances where x = y.
    pub(crate) covariances: Vec<Option<f64>>,
    /// Pearson correlations of each pair x ≤ y.
    pub(crate) correlations: Vec<Option<f64>>,
}

/// Derives all statistics from sums of integers that stand for v/10^decimals.
pub(crate) fn derive(sums: &Sums<i128>, decimals: &[u32]) -> Derived {
    let n = BigInt::from(sums.count);
    let scale = |column: usize| BigInt::from(10).pow(decimals.get(column).copied().unwrap_or(0));
    let means = sums.sums.iter().enumerate().map(|(x, sum)| nearest(&BigInt::from(*sum), &(&n * scale(x))));
    let spreads: Vec<BigInt> = pairs(sums.sums.len()).map(|(x, y)| spread(sums, x, y)).collect();
    let variance = |x: usize| spreads.get(crate::sums::pair_index(x, x));
    let freedom = &n * (&n - BigInt::one());
    let covariance =
        |((x, y), spread): ((usize, usize), &BigInt)| nearest(spread, &(&freedom * scale(x) * scale(y)));
    let correlation = |((x, y), spread): ((usize, usize), &BigInt)| {
        let squared = nearest(&(spread * spread), &(variance(x)? * variance(y)?))?;
        Some(if spread.is_negative() { -squared.sqrt() } else { squared.sqrt() })
    };
    Derived {
        count: sums.count,
        means: means.collect(),
        covariances: pairs(sums.sums.len()).zip(&spreads).map(covariance).collect(),
        correlations: pairs(sums.sums.len()).zip(&spreads).map(correlation).collect(),
    }
}

/// Returns the spread n·Σxy − Σx·Σy of a pair of columns.
fn spread(sums: &Sums<i128>, x: usize, y: usize) -> BigInt {
    let sum = |column: usize| BigInt::from(sums.sums.get(column).copied().unwrap_or(0));
    let product = BigInt::from(sums.product(x, y).copied().unwrap_or(0));
    BigInt::from(sums.count) * product - sum(x) * sum(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_points_on_a_line_are_fully_correlated() {
        // x = 1, 2, 3 and y = −2, −4, −6 with one decimal each: 10·x, 10·y.
        let sums = Sums { count: 3, sums: vec![60, -120], products: vec![1400, -2800, 5600] };
        let derived = derive(&sums, &[1, 1]);
        assert_eq!(derived.means, [Some(2.0), Some(-4.0)]);
        assert_eq!(derived.covariances, [Some(1.0), Some(-2.0), Some(4.0)]);
        assert_eq!(derived.correlations, [Some(1.0), Some(-1.0), Some(1.0)]);
    }

    #[test]
    fn what_is_not_defined_is_none() {
        let one = derive(&Sums { count: 1, sums: vec![5], products: vec![25] }, &[0]);
        assert_eq!((one.means[0], one.covariances[0], one.correlations[0]), (Some(5.0), None, None));
        let none = derive(&Sums { count: 0, sums: vec![0], products: vec![0] }, &[0]);
        assert_eq!((none.means[0], none.covariances[0]), (None, None));
        let constant = derive(&Sums { count: 2, sums: vec![6], products: vec![18] }, &[0]);
        assert_eq!((constant.covariances[0], constant.correlations[0]), (Some(0.0), None));
    }
}
