//! Table of reliability: the rows beside their measured values.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::rows::Row;
use super::{Outcome, is_of};

/// One measured value of a row: of the values with one name, one that broke its bar, else the one with most
/// cases, of these the nearest to its bar.
struct Measured {
    what: String,
    value: f64,
    bar: Value,
    cases: u64,
    of: u64,
    holds: bool,
}

impl Measured {
    fn new(figure: &Value) -> Option<Self> {
        let count = |name: &str| figure.get(name).and_then(Value::as_u64);
        Some(Self {
            what: figure.get("what")?.as_str()?.to_owned(),
            // NaN is written as null.
            value: figure.get("value")?.as_f64().unwrap_or(f64::NAN),
            bar: figure.get("bar")?.clone(),
            cases: count("cases")?,
            of: count("of")?,
            holds: figure.get("holds")?.as_bool()?,
        })
    }

    /// Returns how bad the measured value is: larger is worse.
    fn badness(&self) -> f64 {
        if self.bar.get("at_least").is_some() { -self.value } else { self.value }
    }

    fn is_full(&self) -> bool {
        self.cases >= self.of
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}", self.what, number(self.value));
        if self.of > 1 {
            let _ = write!(text, " ({} cases", self.cases);
            if !self.is_full() {
                let _ = write!(text, " of {}", self.of);
            }
            text.push(')');
        }
        text
    }
}

/// Returns the text of a figure with its significant digits.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:.3}") }
}

/// A row of the table of reliability with its measured values.
struct Judged<'a> {
    row: &'a Row,
    measured: Vec<Measured>,
    errors: Vec<String>,
    /// Seconds that the last run of all the row's commands took, builds included.
    seconds: Option<u64>,
}

impl Judged<'_> {
    /// Whether no measured value of the row of reliability breaks its bar.
    fn holds(&self) -> bool {
        self.errors.is_empty() && self.measured.iter().all(|measured| measured.holds)
    }

    /// Whether the row of reliability holds over all the cases that it requires.
    fn met(&self) -> bool {
        self.holds() && !self.measured.is_empty() && self.measured.iter().all(Measured::is_full)
    }

    /// Returns the reason why the row of reliability is not met, in words.
    fn why(&self) -> String {
        if self.met() {
            return String::new();
        }
        let mut why = self.errors.clone();
        if self.measured.is_empty() {
            why.push("nothing was measured in this run".to_owned());
        }
        let wrong = self.measured.iter().filter(|measured| !measured.holds);
        why.extend(wrong.map(|measured| format!("{} breaks its bar", measured.text())));
        if self.measured.iter().any(|measured| !measured.is_full()) {
            why.push("fewer cases than the row asks for".to_owned());
        }
        why.join("; ")
    }

    fn commands(&self) -> Vec<String> {
        let own = format!("cargo xtask reliability --long --rows {}", self.row.number);
        std::iter::once(own).chain(self.row.commands.iter().map(|line| format!("cargo {line}"))).collect()
    }

    fn state(&self) -> &'static str {
        match (self.met(), self.holds() && !self.measured.is_empty()) {
            (true, _) => "met",
            (false, true) => "holds so far",
            (false, false) => "not met",
        }
    }
}

/// All rows of the table of reliability with their measured values.
pub(super) struct Table<'a> {
    rows: Vec<Judged<'a>>,
    long: bool,
}

impl<'a> Table<'a> {
    pub(super) fn new(rows: &[&'a Row], figures: &[Value], outcomes: &[Outcome], long: bool) -> Self {
        let judge = |row: &&'a Row| {
            let mut measured: BTreeMap<String, Measured> = BTreeMap::new();
            let own = |figure: &&Value| is_of(figure, "row", row.number);
            for new in figures.iter().filter(own).filter_map(Measured::new) {
                // A value that broke its bar once stays.
                let order = |m: &Measured| (!m.holds, m.cases, m.badness());
                if measured.get(&new.what).is_none_or(|old| order(&new) >= order(old)) {
                    measured.insert(new.what.clone(), new);
                }
            }
            let own = outcomes.iter().filter(|outcome| outcome.row == row.number);
            let errors = own.filter_map(|outcome| outcome.error.clone()).collect();
            let last = figures.iter().rfind(|line| is_of(line, "finished", row.number));
            let seconds = last.and_then(|line| line.get("seconds")?.as_u64());
            Judged { row, measured: measured.into_values().collect(), errors, seconds }
        };
        Self { rows: rows.iter().map(judge).collect(), long }
    }

    /// Returns the number of rows that a measured value contradicts.
    pub(super) fn broken(&self) -> usize {
        self.rows.iter().filter(|judged| !judged.holds()).count()
    }

    /// Whether every row of reliability holds over all its cases.
    pub(super) fn is_met(&self) -> bool {
        self.rows.iter().all(Judged::met)
    }

    fn count(&self, state: &str) -> usize {
        self.rows.iter().filter(|judged| judged.state() == state).count()
    }

    /// Returns a summary of the table of reliability in one line.
    pub(super) fn summary(&self) -> String {
        let [met, so_far, not] = ["met", "holds so far", "not met"].map(|state| self.count(state));
        let rows = self.rows.len();
        let mut text =
            format!("of {rows} rows {met} met, {so_far} hold with fewer cases than asked for, {not} not met");
        // Where some rows have no time, the sum of the others would mislead.
        if let Some(seconds) = self.rows.iter().map(|judged| judged.seconds).sum::<Option<u64>>() {
            let _ = write!(text, "; measured in {} min, with what had to be built", seconds.div_ceil(60));
        }
        text
    }

    pub(super) fn json(&self) -> String {
        let rows: Vec<Value> = self.rows.iter().map(row_json).collect();
        let form = if self.long { "long" } else { "short" };
        let value = json!({ "form": form, "summary": self.summary(), "rows": rows });
        serde_json::to_string_pretty(&value).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for judged in &self.rows {
            let Row { number, figure, bar, .. } = judged.row;
            let _ = writeln!(text, "{number:>2}  {:<12}  {figure}", judged.state());
            let _ = writeln!(text, "    bar: {bar}");
            for measured in &judged.measured {
                let _ = writeln!(text, "    {}", measured.text());
            }
            if !judged.met() {
                let _ = writeln!(text, "    why: {}", judged.why());
            }
        }
        text + &self.summary()
    }

    /// Returns the table of reliability as a Markdown page.
    pub(super) fn markdown(&self) -> String {
        let long = if self.long { " --long" } else { "" };
        let mut text = format!(
            "# Reliability\n\nWritten by `cargo xtask reliability{long} --markdown docs/reliability.md`; no figure is typed in by hand. What each row\n\
             means for security is said in [SECURITY.md](../SECURITY.md).\n\n",
        );
        let _ =
            writeln!(text, "{}.\n\n| # | figure | bar | |\n|---|---|---|---|", capitalised(&self.summary()));
        for judged in &self.rows {
            let Row { number, figure, bar, .. } = judged.row;
            let _ = writeln!(text, "| {number} | {figure} | {} | {} |", escaped(bar), judged.state());
        }
        for judged in &self.rows {
            let _ = writeln!(text, "\n## {}. {}\n", judged.row.number, capitalised(judged.row.figure));
            if !judged.met() {
                let _ = writeln!(text, "{}: {}.\n", capitalised(judged.state()), judged.why());
            }
            for measured in &judged.measured {
                let _ = writeln!(text, "* {}", escaped(&measured.text()));
            }
            if let Some(seconds) = judged.seconds {
                let _ = writeln!(text, "* took {seconds} s");
            }
            let commands = judged.commands();
            let _ = writeln!(text, "\n```text\n{}\n```", commands.join("\n"));
        }
        text
    }
}

fn row_json(judged: &Judged<'_>) -> Value {
    let measured: Vec<Value> = judged
        .measured
        .iter()
        .map(|m| json!({ "what": m.what, "value": m.value, "bar": m.bar, "cases": m.cases, "of": m.of, "holds": m.holds }))
        .collect();
    json!({
        "row": judged.row.number,
        "figure": judged.row.figure,
        "bar": judged.row.bar,
        "measured": measured,
        "met": judged.met(),
        "holds": judged.holds(),
        "why": judged.why(),
        "seconds": judged.seconds,
        "commands": judged.commands(),
    })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Escapes characters that would end a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reliability::rows::ROWS;

    fn figure(row: u8, value: f64, cases: u64, holds: bool) -> Value {
        json!({ "row": row, "what": "x", "value": value, "bar": { "at_most": 1.0 }, "cases": cases, "of": 10, "holds": holds })
    }

    fn table(figures: &[Value]) -> Table<'static> {
        let rows: Vec<&'static Row> = ROWS.iter().take(2).collect();
        Table::new(&rows, figures, &[], true)
    }

    #[test]
    fn a_row_is_met_with_all_cases_only() {
        let state = |figures: &[Value]| table(figures).rows.first().map(Judged::state);
        assert_eq!(state(&[]), Some("not met"));
        assert_eq!(state(&[figure(1, 0.5, 9, true)]), Some("holds so far"));
        assert_eq!(state(&[figure(1, 0.5, 9, true), figure(1, 0.7, 10, true)]), Some("met"));
        assert_eq!(state(&[figure(1, 0.5, 10, true), figure(1, 2.0, 3, false)]), Some("not met"));
        assert_eq!(state(&[figure(1, 2.0, 3, false), figure(1, 0.5, 10, true)]), Some("not met"));
        assert_eq!(state(&[figure(2, 0.5, 10, true)]), Some("not met"));
    }

    #[test]
    fn the_last_run_says_how_long_it_took() {
        let finished = |row: u8, seconds: u64| json!({ "finished": row, "seconds": seconds });
        let mut lines = vec![figure(1, 0.5, 10, true), finished(1, 500), finished(1, 61)];
        assert!(table(&lines).markdown().contains("* took 61 s") && !table(&lines).summary().contains("min"));
        lines.push(finished(2, 50));
        assert!(table(&lines).summary().contains("in 2 min"));
    }

    #[test]
    fn a_command_that_fails_breaks_its_row() {
        let outcome = Outcome { row: 2, error: Some("c ended".to_owned()) };
        let rows: Vec<&Row> = ROWS.iter().collect();
        let table = Table::new(&rows, &[figure(2, 0.0, 10, true)], &[outcome], true);
        assert_eq!(table.broken(), 1);
        assert!(table.json().contains("c ended") && table.markdown().contains("c ended"));
    }
}
