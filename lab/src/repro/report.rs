//! Results of a reproduction: tables of quantities, the paper's value beside Sunzi's.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use super::value::Value;
pub use super::verdict::{Rule, Verdict};
use crate::repro::{Figure, Machine};

/// Report on one paper: all its reproduced tables and figures.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Key of the reproduced paper in `docs/references.bib`.
    pub paper: &'static str,
    /// Machine on which the report was computed and timed.
    pub machine: Machine,
    /// How the report's values were timed, in words.
    pub effort: String,
    /// Reproduced tables, in the paper's order.
    pub tables: Vec<Table>,
    /// Reproduced figures, in the paper's order.
    pub figures: Vec<Figure>,
}

/// One reproduced table of a paper.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// Number of a reproduced table in its paper.
    pub name: &'static str,
    /// Title of the table: what it shows, and from what it was computed.
    pub title: String,
    /// Rows of a reproduced table.
    pub rows: Vec<Row>,
}

/// One row of a reproduced table: what identifies it, then the paper's and Sunzi's values.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Keys that identify the row: degree, moduli and the like.
    pub keys: Vec<(&'static str, Value)>,
    /// Quantities that a reproduction found for a row.
    pub quantities: Vec<Quantity>,
    /// Reason why a reproduced value differs from the paper's, is worse, or is missing on one side.
    pub reason: Option<String>,
}

/// One quantity of a row of a reproduced table.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// Name of a reproduced quantity.
    pub name: &'static str,
    /// Value of the quantity that the reproduced paper prints, unless it prints none.
    pub paper: Option<Value>,
    /// Sunzi's value of a reproduced quantity, unless there is none.
    pub ours: Option<Value>,
    /// Rule by which Sunzi's value of the quantity is judged against the paper's.
    pub rule: Rule,
}

impl Report {
    /// Rows of the report that need a reason and have none, each named by its table and keys.
    pub fn unexplained(&self) -> Vec<String> {
        let rows = self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table.name, row)));
        rows.filter(|(_, row)| row.is_unexplained())
            .map(|(name, row)| format!("{name}: {}", row.name()))
            .collect()
    }
}

impl Table {
    /// A reproduced table with the number `name` in its paper.
    pub(crate) fn new(name: &'static str, title: impl Into<String>, rows: Vec<Row>) -> Self {
        Self { name, title: title.into(), rows }
    }

    /// Runs of rows that have equal keys and quantities, by name: each is a grid of its own.
    #[must_use]
    pub fn grids(&self) -> Vec<&[Row]> {
        self.rows.chunk_by(|row, next| row.names().eq(next.names())).collect()
    }

    /// Reasons of the table's rows, each once, with the rows that have it: all, the names of few, or of some and how many more.
    #[must_use]
    pub fn reasons(&self) -> Vec<(String, &str)> {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for row in &self.rows {
            let Some(reason) = row.reason.as_deref() else { continue };
            match reasons.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, rows)) => rows.push(row.name()),
                None => reasons.push((reason, vec![row.name()])),
            }
        }
        let rows = |names: Vec<String>| match names.len() {
            all if all == self.rows.len() && all > 1 => "all rows".to_owned(),
            many if many > NAMED => {
                let (some, rest) = names.split_at(NAMED - 1);
                format!("{}; and {} more", some.join("; "), rest.len())
            }
            _ => names.join("; "),
        };
        reasons.into_iter().map(|(reason, names)| (rows(names), reason)).collect()
    }
}

/// Most rows of one reason that are all named.
const NAMED: usize = 4;

impl Quantity {
    /// Verdict on the quantity; none if the reproduced paper does not print it.
    pub fn verdict(&self) -> Option<Verdict> {
        let paper = self.paper.as_ref()?;
        Some(self.ours.as_ref().map_or(Verdict::Missing, |ours| self.rule.verdict(paper, ours)))
    }
}

impl Row {
    /// Adds a key that identifies a table's row.
    pub(crate) fn key(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.keys.push((name, value.into()));
        self
    }

    /// Adds a quantity to the row, with the rule that judges Sunzi's value against the paper's.
    pub(crate) fn judged(
        mut self,
        name: &'static str,
        paper: Option<impl Into<Value>>,
        ours: Option<impl Into<Value>>,
        rule: Rule,
    ) -> Self {
        let (paper, ours) = (paper.map(Into::into), ours.map(Into::into));
        self.quantities.push(Quantity { name, paper, ours, rule });
        self
    }

    /// Adds to the row a quantity that is to equal what the reproduced paper prints.
    pub(crate) fn printed(
        self,
        name: &'static str,
        paper: impl Into<Value>,
        ours: Option<impl Into<Value>>,
    ) -> Self {
        self.judged(name, Some(paper), ours, Rule::Equal)
    }

    /// Adds to the row a quantity that the reproduced paper does not print.
    pub(crate) fn ours(self, name: &'static str, value: impl Into<Value>) -> Self {
        self.judged(name, None::<Value>, Some(value), Rule::Equal)
    }

    /// Sets the reason why a reproduced value differs from the paper's, is worse, or is missing on one side.
    pub(crate) fn because(mut self, reason: Option<impl Into<String>>) -> Self {
        self.reason = reason.map(Into::into);
        self
    }

    /// Names of the keys and quantities of the row.
    fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.keys.iter().map(|(name, _)| *name).chain(self.quantities.iter().map(|one| one.name))
    }

    /// Keys of the row in one line, which name it.
    pub fn name(&self) -> String {
        let keys = self.keys.iter().map(|(name, value)| format!("{name} = {value}"));
        keys.collect::<Vec<_>>().join(", ")
    }

    /// Verdict on the row: the worst of its quantities that the reproduced paper prints; none if it prints none.
    pub fn verdict(&self) -> Option<Verdict> {
        self.quantities.iter().filter_map(Quantity::verdict).max()
    }

    /// Whether all that the reproduced paper prints of the row holds, and it prints something.
    pub fn holds(&self) -> bool {
        self.verdict().is_some_and(|verdict| !verdict.needs_reason())
    }

    /// Whether the row needs a reason and has none.
    pub fn is_unexplained(&self) -> bool {
        self.reason.is_none() && !self.holds()
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.keys {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("paper", &Side { row: self, of: |one| one.paper.as_ref() })?;
        map.serialize_entry("ours", &Side { row: self, of: |one| one.ours.as_ref() })?;
        if let Some(verdict) = self.verdict() {
            let all = self.quantities.iter().filter_map(|one| Some((one.name, one.verdict()?)));
            map.serialize_entry("verdict", &verdict)?;
            map.serialize_entry("verdicts", &all.collect::<BTreeMap<_, _>>())?;
        }
        if let Some(reason) = &self.reason {
            map.serialize_entry("reason", reason)?;
        }
        map.end()
    }
}

/// The paper's or Sunzi's quantities of a row as one JSON object; null if there are none at all.
struct Side<'a> {
    row: &'a Row,
    of: fn(&Quantity) -> Option<&Value>,
}

impl Serialize for Side<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = self.row.quantities.iter().map(|one| (one.name, (self.of)(one)));
        if values.clone().all(|(_, value)| value.is_none()) {
            return serializer.serialize_none();
        }
        serializer.collect_map(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(paper: Option<Value>, reason: Option<&str>) -> Row {
        let row = Row::default().key("n", 2048_u64);
        row.judged("rho", paper, Some(Value::Ratio(1, 3)), Rule::Equal).because(reason)
    }

    #[test]
    fn a_row_shows_both_sides() {
        assert_eq!(
            serde_json::to_value(row(Some(Value::Ratio(1, 3)), None)).unwrap(),
            json!({
                "n": 2048, "paper": { "rho": "1/3" }, "ours": { "rho": "1/3" },
                "verdict": "equal", "verdicts": { "rho": "equal" }
            })
        );
        let differing = row(Some(Value::Ratio(1, 2)), None);
        assert_eq!(differing.verdict(), Some(Verdict::Differs));
        assert!(differing.is_unexplained() && !differing.because(Some("a misprint")).is_unexplained());
        let more = row(Some(Value::Ratio(1, 3)), None).ours("k", 1_u64);
        assert_eq!(more.verdict(), Some(Verdict::Equal), "what the paper does not print cannot differ");
    }

    #[test]
    fn rows_of_one_shape_are_a_grid_and_every_reason_stands_once() {
        let rows = |n: u64, reason| {
            let row = Row::default().key("n", n).ours("k", 1_u64);
            row.because(Some(reason))
        };
        let other = row(None, Some("another"));
        let mut all: Vec<Row> = (0..6).map(|n| rows(n, "one")).collect();
        let table = |rows: &[Row]| Table::new("Table", "of tests", rows.to_vec());
        assert_eq!(table(&all).reasons(), [("all rows".to_owned(), "one")]);
        assert_eq!(table(&all[..1]).reasons(), [("n = 0".to_owned(), "one")]);
        all.insert(3, other);
        let table = table(&all);
        let lengths: Vec<usize> = table.grids().into_iter().map(<[Row]>::len).collect();
        assert_eq!(lengths, [3, 1, 3]);
        let expected = [("n = 0; n = 1; n = 2; and 3 more", "one"), ("n = 2048", "another")];
        assert_eq!(table.reasons(), expected.map(|(rows, reason)| (rows.to_owned(), reason)));
    }

    #[test]
    fn what_the_paper_lacks_is_null_with_a_reason() {
        assert_eq!(
            serde_json::to_value(row(None, Some("not printed"))).unwrap(),
            json!({ "n": 2048, "paper": null, "ours": { "rho": "1/3" }, "reason": "not printed" })
        );
        assert!(row(None, None).is_unexplained());
    }
}
