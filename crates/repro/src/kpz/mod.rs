//! `[KPZ21]`, "Revisiting Homomorphic Encryption Schemes for Finite Fields".

mod counters;
mod formulas;
pub mod reference;

use std::fmt;
use std::str::FromStr;

use crate::ReproError;
use crate::report::{Machine, Report};

/// A table or figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Counts of a product.
    Table1,
    /// Counts of a key switch.
    Table4,
    /// Sizes of keys.
    Table5,
}

impl Part {
    /// Every part, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Table1, Self::Table4, Self::Table5];

    /// Whether it is a drawing.
    #[must_use]
    pub fn is_figure(self) -> bool {
        false
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table1 => "table1",
            Self::Table4 => "table4",
            Self::Table5 => "table5",
        })
    }
}

impl FromStr for Part {
    type Err = ReproError;

    fn from_str(text: &str) -> Result<Self, ReproError> {
        let found = Self::ALL.into_iter().find(|part| part.to_string() == text);
        found.ok_or_else(|| ReproError::UnknownPart {
            expected: Self::ALL.map(|part| part.to_string()).join(", "),
            got: text.to_owned(),
        })
    }
}

/// What to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts; each is made once, in the paper's order.
    pub parts: Vec<Part>,
}

impl Options {
    /// Everything.
    #[must_use]
    pub fn full() -> Self {
        Self { parts: Part::ALL.to_vec() }
    }

    /// What takes less than three minutes.
    #[must_use]
    pub fn quick() -> Self {
        Self::full()
    }
}

/// Hears what is being done, and how many of how many steps are.
pub type Tell<'a> = &'a mut (dyn FnMut(&str, usize, usize) + Send);

/// Reproduces what the options ask for, on one thread.
///
/// # Errors
/// [`ReproError::Wrong`] if a result is not right; errors of the layers below, of which none is expected.
pub fn run(options: &Options, tell: Tell<'_>) -> Result<Report, ReproError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| ReproError::Thread(error.to_string()))?;
    pool.install(|| run_here(options, tell))
}

fn run_here(options: &Options, tell: Tell<'_>) -> Result<Report, ReproError> {
    let machine = Machine::this()?;
    let parts: Vec<Part> = Part::ALL.into_iter().filter(|part| options.parts.contains(part)).collect();
    let mut tables = Vec::new();
    for (done, part) in parts.iter().enumerate() {
        tell(&part.to_string(), done, parts.len());
        match part {
            Part::Table1 => tables.push(counters::table1()?),
            Part::Table4 => tables.push(counters::table4()?),
            Part::Table5 => tables.push(counters::table5()?),
        }
    }
    Ok(Report {
        paper: "KPZ21",
        machine,
        effort: "counted, not timed".to_owned(),
        tables,
        figures: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_as_they_read_and_come_once_and_in_order() {
        for part in Part::ALL {
            assert_eq!(part.to_string().parse::<Part>().unwrap(), part);
        }
        let error = "table9".parse::<Part>().unwrap_err().to_string();
        assert!(error.contains("table1") && error.contains("\"table9\""), "{error}");
        let options = Options { parts: vec![Part::Table5, Part::Table1, Part::Table5] };
        let report = run(&options, &mut |_, done, total| assert!(done < total)).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["Table 1", "Table 5"]);
    }
}
