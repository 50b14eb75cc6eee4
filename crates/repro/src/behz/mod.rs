//! [BEHZ16]: "A Full RNS Variant of FV like Somewhat Homomorphic Encryption Schemes".

mod bounds;
mod nfllib_moduli;
mod table1;
mod table3_4;

use std::fmt;
use std::str::FromStr;

pub use bounds::{Rational, Setting, Sufficient};
pub use nfllib_moduli::Width;

use crate::ReproError;
use crate::report::{Report, Value};

/// B_err = 6σ with σ = 8 `[BEHZ16, 5.1]`.
pub const ERROR_BOUND: u64 = 48;

/// A table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Parameters that reach the greatest depth, 30-bit moduli.
    Table1,
    /// Parameters for a given m̃, 30-bit moduli.
    Table3,
    /// Parameters for a given m̃, 62-bit moduli.
    Table4,
}

impl Part {
    /// Every part, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Table1, Self::Table3, Self::Table4];
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table1 => "table1",
            Self::Table3 => "table3",
            Self::Table4 => "table4",
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

/// Computes these parts; each once, in the paper's order.
///
/// # Errors
/// Those of the number theory; none is expected.
pub fn run(parts: &[Part]) -> Result<Report, ReproError> {
    let mut tables = Vec::new();
    for part in Part::ALL.into_iter().filter(|part| parts.contains(part)) {
        tables.push(match part {
            Part::Table1 => table1::compute()?,
            Part::Table3 => table3_4::compute(Width::Bits30)?,
            Part::Table4 => table3_4::compute(Width::Bits62)?,
        });
    }
    Ok(Report { paper: "BEHZ16", tables })
}

/// What identifies a row of the parameter tables.
fn keys(log2_degree: u32, count: usize, plain_modulus: u64) -> Vec<(&'static str, Value)> {
    let n = 1_u64 << log2_degree;
    vec![("n", n.into()), ("k", (count as u64).into()), ("t", plain_modulus.into())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_as_they_read() {
        for part in Part::ALL {
            assert_eq!(part.to_string().parse::<Part>().unwrap(), part);
        }
        let error = "table9".parse::<Part>().unwrap_err().to_string();
        assert!(error.contains("table1, table3, table4") && error.contains("\"table9\""), "{error}");
    }

    #[test]
    fn every_row_that_differs_says_why() {
        let report = run(&Part::ALL).unwrap();
        assert_eq!(report.tables.iter().map(|table| table.rows.len()).sum::<usize>(), 30);
        for row in report.tables.iter().flat_map(|table| &table.rows) {
            assert_eq!(row.equal(), row.reason.is_none(), "{row:?}");
        }
    }

    #[test]
    fn parts_come_once_and_in_order() {
        let report = run(&[Part::Table4, Part::Table3, Part::Table4]).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["Table 3", "Table 4"]);
    }
}
