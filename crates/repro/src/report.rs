//! What a reproduction found: tables of quantities, the paper's value beside ours.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use sunzi_kernels::{KernelError, active_isa};

/// All tables of one paper.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The paper's key in `docs/references.bib`.
    pub paper: &'static str,
    /// What it was computed and timed on.
    pub machine: Machine,
    /// How it was timed.
    pub effort: String,
    /// The tables asked for, in the paper's order.
    pub tables: Vec<Table>,
    /// The figures asked for, in the paper's order.
    pub figures: Vec<Figure>,
}

/// A machine, as far as it says what it is.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// The fastest instruction set that the kernels use there.
    pub isa: String,
    /// Threads that were used at most.
    pub threads: usize,
    /// Sunzi's version.
    pub version: &'static str,
}

impl Machine {
    /// This one.
    ///
    /// # Errors
    /// A choice of instruction set that this machine cannot follow.
    pub fn this() -> Result<Self, KernelError> {
        let listed = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = listed.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let processor = name.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_owned();
        Ok(Self { processor, isa: active_isa()?.to_string(), threads: 1, version: env!("CARGO_PKG_VERSION") })
    }

    /// The same with so many threads.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = match self.threads {
            1 => "one thread".to_owned(),
            threads => format!("up to {threads} threads"),
        };
        write!(f, "{}, {} kernels, {threads}, Sunzi {}", self.processor, self.isa, self.version)
    }
}

/// One figure: panels over the same axes.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its number in the paper.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// Where the points come from.
    pub source: String,
    /// Name of the file it is written to.
    pub file: &'static str,
    /// What the horizontal axis shows.
    pub x_label: &'static str,
    /// What the vertical axis shows.
    pub y_label: &'static str,
    /// Whether the vertical axis is logarithmic.
    pub logarithmic: bool,
    /// Where the legend leaves the lines alone.
    pub legend: Corner,
    /// The panels, from the left.
    pub panels: Vec<Panel>,
    /// Why the paper's points are not there.
    pub reason: Option<String>,
}

/// A corner of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// Above rising lines.
    UpperLeft,
    /// Below them.
    LowerRight,
}

/// One panel of a figure.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Its heading.
    pub title: String,
    /// Whether its points are the paper's.
    pub printed: bool,
    /// Its lines.
    pub series: Vec<Series>,
}

/// One line of a panel.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Index of its colour.
    #[serde(skip)]
    pub colour: usize,
    /// Whether it is dashed.
    #[serde(skip)]
    pub dashed: bool,
    /// Its points (x, y).
    pub points: Vec<(f64, f64)>,
}

impl Panel {
    /// A panel without lines.
    #[must_use]
    pub fn new(title: &str, printed: bool) -> Self {
        Self { title: title.to_owned(), printed, series: Vec::new() }
    }
}

/// The lines of one panel, or of several by their headings.
#[derive(Serialize)]
#[serde(untagged)]
enum Drawn<'a> {
    One(&'a [Series]),
    Many(BTreeMap<&'a str, &'a [Series]>),
}

impl<'a> Drawn<'a> {
    fn of(panels: Vec<&'a Panel>) -> Option<Self> {
        match panels.as_slice() {
            [] => None,
            [one] => Some(Self::One(&one.series)),
            many => {
                Some(Self::Many(many.iter().map(|one| (one.title.as_str(), one.series.as_slice())).collect()))
            }
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let side = |printed| Drawn::of(self.panels.iter().filter(|panel| panel.printed == printed).collect());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("file", self.file)?;
        map.serialize_entry("x", self.x_label)?;
        map.serialize_entry("y", self.y_label)?;
        map.serialize_entry("paper", &side(true))?;
        map.serialize_entry("ours", &side(false))?;
        if let Some(reason) = &self.reason {
            map.serialize_entry("reason", reason)?;
        }
        map.end()
    }
}

/// One table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// Its number in the paper.
    pub name: &'static str,
    /// What it shows, and from what it was computed.
    pub title: String,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// One row: what identifies it, then what the paper and we found.
#[derive(Clone, Debug)]
pub struct Row {
    /// Whether ours is measured, so that it cannot be expected to equal the paper's.
    pub measured: bool,
    /// What the row is about: degree, moduli and the like.
    pub keys: Vec<(&'static str, Value)>,
    /// What was found.
    pub quantities: Vec<Quantity>,
    /// Why a value differs or the paper has none.
    pub reason: Option<String>,
}

/// One quantity of a row.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// Its name.
    pub name: &'static str,
    /// The paper's value, unless it prints none.
    pub paper: Option<Value>,
    /// Ours, unless there is none.
    pub ours: Option<Value>,
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A quotient of two whole numbers, in lowest terms.
    Ratio(u64, u64),
    /// A measured number and the decimals worth showing.
    Decimal(f64, usize),
    /// A word or two.
    Text(&'static str),
}

impl Quantity {
    /// A quantity that the paper prints.
    #[must_use]
    pub fn printed(name: &'static str, paper: impl Into<Value>, ours: Option<impl Into<Value>>) -> Self {
        Self { name, paper: Some(paper.into()), ours: ours.map(Into::into) }
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl Row {
    /// Whether the paper prints something here, and all that it prints is what we found.
    #[must_use]
    pub fn equal(&self) -> bool {
        let mut printed = self.quantities.iter().filter(|one| one.paper.is_some()).peekable();
        printed.peek().is_some() && printed.all(|one| one.paper == one.ours)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Ratio(value, 1) => write!(f, "{value}"),
            Self::Ratio(numerator, denominator) => write!(f, "{numerator}/{denominator}"),
            Self::Decimal(value, decimals) => write!(f, "{value:.decimals$}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(value) => serializer.serialize_u64(*value),
            Self::Decimal(value, _) => serializer.serialize_f64(*value),
            other => serializer.collect_str(other),
        }
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
        if !self.measured {
            map.serialize_entry("equal", &self.equal())?;
        }
        if let Some(reason) = &self.reason {
            map.serialize_entry("reason", reason)?;
        }
        map.end()
    }
}

/// The paper's or our quantities as one object; null if there are none at all.
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
        Row {
            measured: false,
            keys: vec![("n", Value::Integer(2048))],
            quantities: vec![Quantity { name: "rho", paper, ours: Some(Value::Ratio(1, 3)) }],
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn a_row_shows_both_sides() {
        assert_eq!(
            serde_json::to_value(row(Some(Value::Ratio(1, 3)), None)).unwrap(),
            json!({ "n": 2048, "paper": { "rho": "1/3" }, "ours": { "rho": "1/3" }, "equal": true })
        );
        assert!(!row(Some(Value::Ratio(1, 2)), None).equal());
        let mut more = row(Some(Value::Ratio(1, 3)), None);
        more.quantities.push(Quantity { name: "k", paper: None, ours: Some(Value::Integer(1)) });
        assert!(more.equal(), "what the paper does not print cannot differ");
    }

    #[test]
    fn every_panel_of_a_figure_is_written() {
        let figure = |titles: &[&str]| Figure {
            name: "Figure 1",
            title: String::new(),
            source: String::new(),
            file: "figure1.svg",
            x_label: "x",
            y_label: "y",
            logarithmic: false,
            legend: Corner::UpperLeft,
            panels: titles.iter().map(|title| Panel::new(title, false)).collect(),
            reason: None,
        };
        let ours = |titles| serde_json::to_value(figure(titles)).unwrap()["ours"].clone();
        assert_eq!([ours(&[]), ours(&["a"])], [json!(null), json!([])]);
        assert_eq!(ours(&["a", "b"]), json!({ "a": [], "b": [] }));
    }

    #[test]
    fn what_the_paper_lacks_is_null_with_a_reason() {
        assert_eq!(
            serde_json::to_value(row(None, Some("not printed"))).unwrap(),
            json!({ "n": 2048, "paper": null, "ours": { "rho": "1/3" }, "equal": false, "reason": "not printed" })
        );
    }
}
