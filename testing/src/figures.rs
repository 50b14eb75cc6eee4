//! Figures that tests measure, for the table of reliability: `cargo xtask reliability` runs the tests and
//! collects their records.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};

/// Environment variable of the file that figures are appended to, one JSON object a line. Without it nothing is written.
pub const FILE: &str = "SUNZI_FIGURES";

/// A measured figure of one row of the table of reliability.
#[must_use = "a figure is recorded by its bar"]
#[derive(Clone, Debug)]
pub struct Figure {
    row: u8,
    what: String,
    cases: u64,
    of: u64,
}

impl Figure {
    /// Makes a figure of a row of the table of reliability; `what` names it.
    pub fn new(row: u8, what: impl Into<String>) -> Self {
        Self { row, what: what.into(), cases: 1, of: 1 }
    }

    /// Sets the figure's number of cases, and the number that the table requires.
    pub fn cases(mut self, cases: usize, of: usize) -> Self {
        (self.cases, self.of) = (cases as u64, of as u64);
        self
    }

    /// Records a figure whose value must not exceed the bar.
    ///
    /// # Panics
    /// Panics if the figure's value is larger than the bar, or NaN: a test that breaks a bar fails.
    #[track_caller]
    pub fn at_most(self, value: f64, bar: f64) {
        self.record(value, json!({ "at_most": bar }), value <= bar);
        assert!(value <= bar, "row {}, {}: {value}, at most {bar} expected", self.row, self.what);
    }

    /// Records a figure whose value must not be below the bar.
    ///
    /// # Panics
    /// Panics if the figure's value is smaller than the bar, or NaN.
    #[track_caller]
    pub fn at_least(self, value: f64, bar: f64) {
        self.record(value, json!({ "at_least": bar }), value >= bar);
        assert!(value >= bar, "row {}, {}: {value}, at least {bar} expected", self.row, self.what);
    }

    /// Records that none of the figure's cases was wrong.
    ///
    /// # Panics
    /// Panics if a case of the measured figure was wrong.
    #[track_caller]
    pub fn none_wrong(self, wrong: usize) {
        self.at_most(wrong as f64, 0.0);
    }

    /// Records a figure that the table publishes without a bar.
    pub fn stated(self, value: f64) {
        self.record(value, Value::Null, true);
    }

    /// Writes a figure's record as one line at once, so that tests of several threads and processes do not
    /// mix theirs.
    #[expect(clippy::print_stdout, reason = "what a test measured, with --nocapture")]
    fn record(&self, value: f64, bar: Value, holds: bool) {
        let Self { row, what, cases, of } = self;
        let line = json!({
            "row": row, "what": what, "value": value, "bar": bar, "cases": cases, "of": of, "holds": holds
        });
        println!("figure {line}");
        let Some(path) = std::env::var_os(FILE) else { return };
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        assert!(written.is_ok(), "a figure cannot be written: {written:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "at most 3 expected")]
    fn a_broken_bar_fails() {
        Figure::new(0, "nothing").at_most(3.5, 3.0);
    }

    #[test]
    #[should_panic(expected = "at least 3 expected")]
    fn what_is_no_number_fails() {
        Figure::new(0, "nothing").at_least(f64::NAN, 3.0);
    }
}
