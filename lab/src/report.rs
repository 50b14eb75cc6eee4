//! The machine that was measured, and figures as data, which `plot` draws and JSON holds.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use sunzi_kernels::{KernelError, active_isa};

/// A machine that was measured, as far as it can be identified.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Name of the machine's processor.
    pub processor: String,
    /// Fastest instruction set that the kernels use on the machine.
    pub isa: String,
    /// Most threads that were used on the machine.
    pub threads: usize,
    /// Version of Sunzi that was measured.
    pub version: &'static str,
}

impl Machine {
    /// The machine that this program runs on.
    ///
    /// # Errors
    /// A choice of instruction set that this machine cannot follow.
    pub fn this() -> Result<Self, KernelError> {
        let listed = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = listed.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let processor = name.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_owned();
        Ok(Self { processor, isa: active_isa()?.to_string(), threads: 1, version: env!("CARGO_PKG_VERSION") })
    }

    /// The measured machine with `threads` as its number of threads.
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

/// One figure of a paper: panels over the same axes.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Number of a figure in its paper.
    pub name: &'static str,
    /// Title of the figure: what it shows.
    pub title: String,
    /// Source of the points of a paper's figure, in words.
    pub source: String,
    /// Label of the figure's horizontal axis.
    pub x_label: &'static str,
    /// Label of the figure's vertical axis.
    pub y_label: &'static str,
    /// Whether the figure's vertical axis is logarithmic.
    pub logarithmic: bool,
    /// Corner in which the figure's legend covers no line.
    pub legend: Corner,
    /// Panels of a paper's figure, from the left.
    pub panels: Vec<Panel>,
    /// Reason why the points of the reproduced paper are missing from the figure.
    pub reason: Option<&'static str>,
}

/// Reason why a plot has no points of the reproduced paper.
pub(crate) const NOT_PRINTED: &str = "the paper prints no numbers for this plot";

impl Figure {
    /// A figure with a logarithmic vertical axis and its legend above the lines.
    pub(crate) fn new(
        name: &'static str,
        title: impl Into<String>,
        source: String,
        [x_label, y_label]: [&'static str; 2],
        panels: Vec<Panel>,
    ) -> Self {
        let (title, legend) = (title.into(), Corner::UpperLeft);
        Self { name, title, source, x_label, y_label, logarithmic: true, legend, panels, reason: None }
    }

    /// Name of the file that the figure is written to.
    pub fn file(&self) -> String {
        self.name.to_lowercase().replace(' ', "") + ".svg"
    }
}

/// A corner of a panel, in which the legend stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// Upper left corner, above rising lines.
    UpperLeft,
    /// Lower right corner, below rising lines.
    LowerRight,
}

/// One panel of a figure.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Heading of a figure's panel.
    pub title: String,
    /// Whether the panel's points are those of the reproduced paper.
    pub printed: bool,
    /// Lines of a figure's panel.
    pub series: Vec<Curve>,
}

/// One line of a figure's panel.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Curve {
    /// Name of a figure's line in the legend.
    pub name: String,
    /// Index of the colour of a figure's line.
    #[serde(skip)]
    pub colour: usize,
    /// Whether a figure's line is dashed.
    #[serde(skip)]
    pub dashed: bool,
    /// Points (x, y) of a figure's line.
    pub points: Vec<(f64, f64)>,
}

impl Panel {
    /// A figure's panel without lines yet.
    pub fn new(title: &str, printed: bool) -> Self {
        Self { title: title.to_owned(), printed, series: Vec::new() }
    }

    /// Adds a line to a figure's panel.
    pub(crate) fn line(
        &mut self,
        name: impl Into<String>,
        colour: usize,
        dashed: bool,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        let points = points.into_iter().collect();
        self.series.push(Curve { name: name.into(), colour, dashed, points });
    }
}

/// The lines of one panel, or of several panels by their headings.
#[derive(Serialize)]
#[serde(untagged)]
enum Drawn<'a> {
    One(&'a [Curve]),
    Many(BTreeMap<&'a str, &'a [Curve]>),
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
        map.serialize_entry("file", &self.file())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_panel_of_a_figure_is_written() {
        let figure = |titles: &[&str]| Figure {
            name: "Figure 1",
            title: String::new(),
            source: String::new(),
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
}
