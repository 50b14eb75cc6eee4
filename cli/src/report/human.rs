//! Report of the demonstration as text for people.

use std::collections::HashMap;
use std::fmt::Write;
use sunzi::rlwe::words::bytes;

use super::Report;
use super::checks::{Check, Value};
use crate::columns::{empty_table, right_align};
use crate::output::verdict;

/// Number of groups shown in full in the text; more are in the JSON.
const MOST_GROUPS: usize = 4;
/// Number of pairs of columns shown.
pub(super) const MOST_PAIRS: usize = 10;

/// Returns the whole report of the demonstration as text.
pub(crate) fn render(report: &Report) -> String {
    let look = Look::new(report);
    let mut text = look.introduction();
    text.push_str(&look.columns("total"));
    for group in report.groups.iter().take(MOST_GROUPS).filter(|_| report.groups.len() > 1) {
        text.push_str(&look.columns(group));
    }
    text.push_str(&look.strongest_pairs());
    text.push_str(&look.loss());
    text.push_str(&look.verdict());
    text
}

/// A report with its checks by name.
pub(super) struct Look<'a> {
    report: &'a Report,
    by_name: HashMap<&'a str, &'a Check>,
}

impl<'a> Look<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let by_name = report.checks.iter().map(|check| (check.name.as_str(), check)).collect();
        Self { report, by_name }
    }

    /// Returns the check of this name.
    pub(super) fn check(&self, name: &str) -> Option<&'a Check> {
        self.by_name.get(name).copied()
    }

    /// Returns correlations over all rows and the names of their columns, the largest first.
    pub(super) fn by_correlation(&self) -> Vec<(f64, &'a str)> {
        let mut pairs: Vec<(f64, &str)> = self.report.checks.iter().filter_map(correlation).collect();
        pairs.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        pairs
    }

    fn introduction(&self) -> String {
        let Report { params, sizes, times, .. } = self.report;
        let limit = params.log2_qp_limit.map_or_else(String::new, |bits| format!(" of {bits} allowed"));
        let reason =
            params.scheme_reason.as_ref().map_or_else(String::new, |why| format!("\nscheme       {why}"));
        let by = self.report.group_by.as_ref().map_or_else(String::new, |by| format!(", by {by}"));
        let lines = [
            format!(
                "{}: {} rows, {} columns{by}",
                self.report.source,
                self.report.rows,
                self.report.columns.len()
            ),
            String::new(),
            format!(
                "parameters   {}, n = {}, log2 qP = {:.1}{limit} ({} + {} moduli), security {}{reason}",
                params.scheme,
                params.degree,
                params.log2_qp,
                params.moduli.len(),
                params.special_moduli.len(),
                params.security
            ),
            format!(
                "plaintexts   {} bits over {} moduli, the largest sum needs {}; {} columns a ciphertext",
                params.plain_bits,
                params.plain_moduli.len(),
                params.needed_bits,
                params.columns_per_ciphertext
            ),
            format!(
                "keys         public {}, relinearisation {}, {} Galois keys {}",
                bytes(sizes.public_key),
                bytes(sizes.relinearization_key),
                sizes.galois_key_count,
                bytes(sizes.galois_keys)
            ),
            format!(
                "ciphertexts  {} each; {} to the server, {}; {} back, {}",
                bytes(sizes.ciphertext),
                sizes.input_ciphertexts,
                bytes(sizes.inputs),
                sizes.result_ciphertexts,
                bytes(sizes.results)
            ),
            format!(
                "seconds      {:.2}: parameters {:.2}, keys {:.2}, encryption {:.2}, server {:.2}, decryption {:.2}",
                self.report.seconds, times.parameters, times.keys, times.encrypt, times.server, times.decrypt
            ),
            format!(
                "machine      {} kernels, {} threads{}",
                self.report.isa,
                self.report.threads,
                self.report
                    .peak_memory_bytes
                    .map_or_else(String::new, |peak| format!(", {} of memory at most", bytes(peak)))
            ),
            format!("noise        {:.1} bits left in the worst result", self.report.bits_left),
        ];
        lines.join("\n") + "\n"
    }

    /// Returns text on mean and variance of every column over one set of rows.
    fn columns(&self, set: &str) -> String {
        let count = self.by_name.get(format!("count/{set}").as_str());
        let mut table =
            empty_table(&["column", "mean, encrypted", "plain", "variance, encrypted", "plain", "equal"]);
        for column in &self.report.columns {
            let mean = self.pair(&format!("mean/{set}/{column}"));
            let variance = self.pair(&format!("variance/{set}/{column}"));
            let equal = mean.2 && variance.2;
            table.add_row(vec![column.clone(), mean.0, mean.1, variance.0, variance.1, yes(equal)]);
        }
        right_align(&mut table, 1..5);
        let count = count.map_or_else(String::new, |check| {
            format!("count {} encrypted, {} plain", show(&check.encrypted), show(&check.plain))
        });
        format!("\n{set}: {count}; sample variance, divisor n − 1\n{table}\n")
    }

    /// Returns text on the pairs of columns with the largest correlations over all rows.
    fn strongest_pairs(&self) -> String {
        let pairs = self.by_correlation();
        if pairs.is_empty() {
            return String::new();
        }
        let headers =
            ["strongest pairs", "correlation, encrypted", "plain", "covariance, encrypted", "plain", "equal"];
        let mut table = empty_table(&headers);
        for (_, columns) in pairs.iter().take(MOST_PAIRS) {
            let correlation = self.pair(&format!("correlation/total/{columns}"));
            let covariance = self.pair(&format!("covariance/total/{columns}"));
            let equal = correlation.2 && covariance.2;
            let names = columns.replace('/', ", ");
            table.add_row(vec![names, correlation.0, correlation.1, covariance.0, covariance.1, yes(equal)]);
        }
        right_align(&mut table, 1..5);
        let count = |statistic: &str| {
            let prefix = format!("{statistic}/total/");
            let all = self.report.checks.iter().filter(|check| check.name.starts_with(&prefix));
            format!("{} of {} {statistic}s", all.clone().filter(|check| check.equal).count(), all.count())
        };
        format!("\ntotal: {} and {} are equal\n{table}\n", count("covariance"), count("correlation"))
    }

    /// Returns text on what fixed point loses against double precision.
    fn loss(&self) -> String {
        let loss = &self.report.loss;
        let exact = loss.iter().filter(|column| column.exact).count();
        let mut text =
            format!("\nfixed point: {exact} of {} columns hold every digit of their cells\n", loss.len());
        for column in loss.iter().filter(|column| !column.exact) {
            let _ = writeln!(
                text,
                "  {}: {} of {} decimals kept, largest error of a cell {}",
                column.column,
                column.decimals,
                column.decimals_written,
                brief(column.max_abs_error)
            );
        }
        let largest = |part: fn(&crate::loss::ColumnLoss) -> Option<f64>| {
            loss.iter().filter_map(part).fold(0.0, f64::max)
        };
        let _ = writeln!(
            text,
            "against double precision: means differ by at most {}, variances by {} (relative)",
            brief(largest(|column| column.mean_relative_difference)),
            brief(largest(|column| column.variance_relative_difference))
        );
        text
    }

    fn verdict(&self) -> String {
        let equal = self.report.checks.iter().filter(|check| check.equal).count();
        let hidden = match self.report.groups.len() {
            groups if groups > MOST_GROUPS => format!("; {} groups and all pairs with --json", groups),
            _ => "; all pairs and exact sums with --json".to_owned(),
        };
        let word = verdict(self.report.ok, if self.report.ok { "all equal" } else { "NOT all equal" });
        format!(
            "\n{equal} of {} encrypted results equal the plain ones: {word}{hidden}\n",
            self.report.checks.len()
        )
    }

    /// Returns both results of a check as text, and whether they are equal.
    pub(super) fn pair(&self, name: &str) -> (String, String, bool) {
        match self.by_name.get(name) {
            Some(check) => (show(&check.encrypted), show(&check.plain), check.equal),
            None => ("–".to_owned(), "–".to_owned(), false),
        }
    }
}

fn correlation(check: &Check) -> Option<(f64, &str)> {
    let columns = check.name.strip_prefix("correlation/total/")?;
    match check.encrypted {
        Value::Derived(Some(value)) => Some((value, columns)),
        _ => None,
    }
}

fn yes(equal: bool) -> String {
    if equal { "yes" } else { "NO" }.to_owned()
}

/// Returns a result as text.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Count(count) => count.to_string(),
        Value::Exact(text) => text.clone(),
        Value::Derived(Some(value)) => number(*value),
        Value::Derived(None) => "–".to_owned(),
    }
}

/// Returns a number as text with ten significant digits.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-6..1e12).contains(&magnitude) {
        return format!("{value:.9e}");
    }
    let whole_digits = magnitude.log10().floor() as i32 + 1;
    let decimals = usize::try_from(10 - whole_digits).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// Returns a number as text with two significant digits.
pub(super) fn brief(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ten_significant_digits() {
        for (value, text) in [
            (14.127_291_739_894_552, "14.12729174"),
            (-0.001_234_567_890_123, "-0.001234567890"),
            (123_456_789_012.3, "123456789012"),
            (1.0, "1.000000000"),
            (0.0, "0"),
            (1e-17, "1.000000000e-17"),
            (1.5e20, "1.500000000e20"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
