//! `[KPZ21]`, "Revisiting Homomorphic Encryption Schemes for Finite Fields".

mod circuits;
mod clear;
mod counters;
#[cfg(any(test, feature = "tally"))]
mod default_mode;
mod figure1;
mod formulas;
mod parameters;
mod printed;
pub mod reference;
mod subject;
mod tables;

pub use figure1::Size;

use crate::LabError;
use crate::report::Machine;
use crate::repro::parts::parts;
use crate::repro::report::Report;
use crate::repro::run::{Progress, Tell};
use crate::threads::on_threads;

parts! {
    /// Counts of a product.
    Table1 = "table1",
    /// A product of many factors, t = 2^16 + 1.
    Table2 = "table2",
    /// A polynomial, t = 2^16 + 1.
    Table3 = "table3",
    /// Counts of a key switch.
    Table4 = "table4",
    /// Sizes of keys.
    Table5 = "table5",
    /// A product of many factors.
    Table6 = "table6",
    /// A polynomial.
    Table7 = "table7",
    /// An inner product.
    Table8 = "table8",
    /// Multiplications by depth and t.
    Figure1 = "figure1",
}

/// What to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts; each is made once, in the paper's order.
    pub parts: Vec<Part>,
    /// Computations that took the paper longer than this are left out.
    pub longest: f64,
    /// For Figure 1.
    pub figure: Size,
}

impl Options {
    /// Everything.
    #[must_use]
    pub fn full() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            longest: f64::INFINITY,
            figure: Size { log2_degree: 15, rounds: 3 },
        }
    }

    /// What takes less than three minutes.
    #[must_use]
    pub fn quick() -> Self {
        Self { longest: 0.6, figure: Size { log2_degree: 14, rounds: 3 }, ..Self::full() }
    }

    fn effort(&self) -> String {
        match self.longest {
            longest if longest.is_finite() => {
                format!(
                    "every computation for a quarter of a second, 31 times at most, medians; those that took the paper more than {longest} s left out"
                )
            }
            _ => "every computation for a second, 31 times at most, medians; once if it takes longer"
                .to_owned(),
        }
    }

    /// The computations of a part.
    fn plan(&self, part: Part) -> Option<tables::Plan> {
        let plan = match part {
            Part::Table2 => tables::Plan::trees("Table 2").of_the_text(),
            Part::Table3 => tables::Plan::polynomials("Table 3").of_the_text(),
            Part::Table6 => tables::Plan::trees("Table 6"),
            Part::Table7 => tables::Plan::polynomials("Table 7"),
            _ => return None,
        };
        Some(plan.within(self.longest))
    }

    /// Steps that progress counts.
    fn steps(&self, part: Part) -> usize {
        match part {
            Part::Table8 => printed::INNER_PRODUCTS.len(),
            Part::Figure1 => figure1::steps(self.figure),
            _ => self.plan(part).map_or(0, |plan| plan.steps()),
        }
    }
}

/// Reproduces what the options ask for, on one thread.
///
/// # Errors
/// [`LabError::Wrong`] if a result is not right; errors of the layers below, of which none is expected.
pub fn run(options: &Options, tell: Tell<'_>) -> Result<Report, LabError> {
    on_threads(1, || run_here(options, tell))
}

fn run_here(options: &Options, tell: Tell<'_>) -> Result<Report, LabError> {
    let machine = Machine::this()?;
    let parts: Vec<Part> = Part::ALL.into_iter().filter(|part| options.parts.contains(part)).collect();
    let total = parts.iter().map(|&part| options.steps(part)).sum();
    let mut progress = Progress::new(total, tell);
    let (mut tables, mut figures) = (Vec::new(), Vec::new());
    for part in parts {
        tables.push(match part {
            Part::Table1 => counters::table1()?,
            Part::Table4 => {
                tables.push(counters::table4()?);
                #[cfg(feature = "tally")]
                tables.push(default_mode::table()?);
                continue;
            }
            Part::Table5 => counters::table5()?,
            Part::Table8 => tables::table8(&mut progress)?,
            Part::Figure1 => {
                figures.push(figure1::compute(options.figure, &machine, &mut progress)?);
                continue;
            }
            part => match options.plan(part) {
                Some(plan) => plan.compute(&mut progress)?,
                None => continue,
            },
        });
    }
    Ok(Report { paper: "KPZ21", machine, effort: options.effort(), tables, figures })
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
        let options = Options { parts: vec![Part::Table5, Part::Table1, Part::Table5], ..Options::quick() };
        let report = run(&options, &mut |_, done, total| assert!(done < total)).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["Table 1", "Table 5"]);
    }
}
