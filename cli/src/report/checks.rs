//! Comparison of every encrypted result with the plain result.

use serde::Serialize;

use crate::derived::{Derived, derive};
use crate::job::Job;
use crate::loss::{self, ColumnLoss};
use crate::sums::{Sums, TableSums, pairs};

/// One result of the demonstration, computed under encryption and in the clear.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    /// Name of the check by statistic, set of rows and columns: `covariance/total/a/b`.
    pub(crate) name: String,
    /// Result that is computed from decrypted sums.
    pub(crate) encrypted: Value,
    /// Result that is computed from sums in the clear.
    pub(crate) plain: Value,
    /// Whether both results are the same to the last digit.
    pub(crate) equal: bool,
}

/// A result: exact sums as decimal text with every digit, derived statistics as the nearest double.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    /// A number of rows as a result.
    Count(i64),
    /// An exact decimal number as a result.
    Exact(String),
    /// The double nearest to the exact result; none where it is not defined.
    Derived(Option<f64>),
}

/// Compares all sums and everything derived from them; also finds the loss against double precision.
///
/// A derived result counts as equal only if the sums it comes from are: integers are judged, not
/// roundings.
pub(crate) fn compare(
    job: &Job,
    encrypted: &TableSums<i128>,
    plain: &TableSums<i128>,
) -> (Vec<Check>, Vec<ColumnLoss>) {
    let names: Vec<&str> = job.columns.iter().map(|column| column.name.as_str()).collect();
    let decimals = job.decimals();
    let mut checks = Vec::new();
    for ((set, ours), (_, theirs)) in encrypted.named(&job.groups.names).zip(plain.named(&job.groups.names)) {
        let side = Side { set, names: &names, decimals: &decimals };
        side.exact(ours, theirs, &mut checks);
        side.derived(&derive(ours, &decimals), &derive(theirs, &decimals), ours == theirs, &mut checks);
    }
    let loss = loss::of(job, &derive(&encrypted.total, &decimals));
    (checks, loss)
}

/// Names and decimals of one set of rows, for its checks.
struct Side<'a> {
    set: &'a str,
    names: &'a [&'a str],
    decimals: &'a [u32],
}

impl Side<'_> {
    /// Adds the checks of exact results to the report: count, sums, sums of products.
    fn exact(&self, ours: &Sums<i128>, theirs: &Sums<i128>, checks: &mut Vec<Check>) {
        let set = self.set;
        checks.push(Check {
            name: format!("count/{set}"),
            encrypted: Value::Count(i64::try_from(ours.count).unwrap_or(i64::MAX)),
            plain: Value::Count(i64::try_from(theirs.count).unwrap_or(i64::MAX)),
            equal: ours.count == theirs.count,
        });
        for ((x, a), b) in ours.sums.iter().enumerate().zip(&theirs.sums) {
            checks.push(exact(format!("sum/{set}/{}", self.name(x)), *a, *b, self.scale(x)));
        }
        for (((x, y), a), b) in pairs(ours.sums.len()).zip(&ours.products).zip(&theirs.products) {
            let name = if x == y {
                format!("sum_of_squares/{set}/{}", self.name(x))
            } else {
                format!("sum_of_products/{set}/{}/{}", self.name(x), self.name(y))
            };
            checks.push(exact(name, *a, *b, self.scale(x) + self.scale(y)));
        }
    }

    /// Adds the checks of derived results: mean, variance, covariance, correlation.
    fn derived(&self, ours: &Derived, theirs: &Derived, sums_equal: bool, checks: &mut Vec<Check>) {
        let set = self.set;
        let mut push = |name: String, a: Option<f64>, b: Option<f64>| {
            let equal = sums_equal && a == b;
            checks.push(Check { name, encrypted: Value::Derived(a), plain: Value::Derived(b), equal });
        };
        for ((x, a), b) in ours.means.iter().enumerate().zip(&theirs.means) {
            push(format!("mean/{set}/{}", self.name(x)), *a, *b);
        }
        for (((x, y), a), b) in pairs(ours.means.len()).zip(&ours.covariances).zip(&theirs.covariances) {
            let name = if x == y {
                format!("variance/{set}/{}", self.name(x))
            } else {
                format!("covariance/{set}/{}/{}", self.name(x), self.name(y))
            };
            push(name, *a, *b);
        }
        for (((x, y), a), b) in pairs(ours.means.len()).zip(&ours.correlations).zip(&theirs.correlations) {
            if x != y {
                push(format!("correlation/{set}/{}/{}", self.name(x), self.name(y)), *a, *b);
            }
        }
    }

    fn name(&self, column: usize) -> &str {
        self.names.get(column).copied().unwrap_or_default()
    }

    fn scale(&self, column: usize) -> u32 {
        self.decimals.get(column).copied().unwrap_or(0)
    }
}

fn exact(name: String, ours: i128, theirs: i128, decimals: u32) -> Check {
    let text = |value| Value::Exact(decimal_text(value, decimals));
    Check { name, encrypted: text(ours), plain: text(theirs), equal: ours == theirs }
}

/// Returns the number value/10^decimals as text with all its decimals.
fn decimal_text(value: i128, decimals: u32) -> String {
    let width = decimals as usize + 1;
    let digits = format!("{:0>width$}", value.unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len() - decimals as usize);
    let sign = if value < 0 { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics_clear;
    use crate::table::{csv, fixed_point::Decimals};

    fn job() -> Job {
        let table = csv::parse(&b"x,y,g\n1,2,a\n3,5,b\n4,4,b\n"[..], "t.csv").unwrap();
        Job::from_table(&table, "t.csv".to_owned(), (&[], Decimals::Auto), Some("g".to_owned())).unwrap()
    }

    #[test]
    fn one_wrong_integer_is_found_and_named() {
        let job = job();
        let plain = statistics_clear::sums(&job);
        let wrong = |spoil: fn(&mut TableSums<i128>)| {
            let mut encrypted = plain.clone();
            spoil(&mut encrypted);
            let (checks, _) = compare(&job, &encrypted, &plain);
            checks.into_iter().filter(|check| !check.equal).map(|check| check.name).collect::<Vec<_>>()
        };
        assert!(wrong(|_| ()).is_empty());
        let names = wrong(|sums| sums.groups[1].products[1] += 1);
        assert!(names.contains(&"sum_of_products/b/x/y".to_owned()), "{names:?}");
        assert!(names.contains(&"covariance/b/x/y".to_owned()), "{names:?}");
        assert!(names.iter().all(|name| name.contains("/b/")), "{names:?}");
        assert!(wrong(|sums| sums.total.count += 1).contains(&"count/total".to_owned()));
        assert!(wrong(|sums| sums.total.sums[0] -= 1).contains(&"sum/total/x".to_owned()));
        // A difference too small to show in double precision still counts.
        assert!(wrong(|sums| sums.groups[0].products[0] += 1).contains(&"sum_of_squares/a/x".to_owned()));
    }

    #[test]
    fn integers_are_printed_with_every_decimal() {
        for (value, decimals, text) in [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (5, 3, "0.005"),
            (-5, 3, "-0.005"),
            (-12_345, 2, "-123.45"),
            (1000, 3, "1.000"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(decimal_text(value, decimals), text);
        }
    }
}
