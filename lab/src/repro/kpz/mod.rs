//! Reproduction of `[KPZ21]`, "Revisiting Homomorphic Encryption Schemes for Finite Fields".

mod circuits;
mod clear;
mod counters;
mod default_mode;
mod dynamic;
mod figure1;
mod formulas;
mod parameters;
mod printed;
pub mod reference;
mod rows;
mod subject;
mod tables;
mod text;

pub use figure1::Size;

use crate::repro::Run;
use crate::repro::{Paper, Part as _, Result, parts};

parts! {
    /// Table 1 of `[KPZ21]`: counts of the operations of a product.
    Table1 = "table1",
    /// Table 2 of `[KPZ21]`: noise and time of products of many factors, t = 2^16 + 1.
    Table2 = "table2",
    /// Table 3 of `[KPZ21]`: noise and time of polynomials, t = 2^16 + 1.
    Table3 = "table3",
    /// Table 4 of `[KPZ21]`: counts of the operations of a key switch.
    Table4 = "table4",
    /// Table 5 of `[KPZ21]`: sizes of key-switching keys.
    Table5 = "table5",
    /// Table 6 of `[KPZ21]`: noise and time of products of many factors.
    Table6 = "table6",
    /// Table 7 of `[KPZ21]`: noise and time of polynomials.
    Table7 = "table7",
    /// Table 8 of `[KPZ21]`: noise and time of inner products.
    Table8 = "table8",
    /// Figure 1 of `[KPZ21]`: times of multiplications by depth and t.
    Figure1 = "figure1",
    /// BGV by dynamic noise beside declared levels, which `[KPZ21]` leaves open.
    Dynamic = "dynamic",
    /// Numbers that the text of `[KPZ21]` states.
    Text = "text",
}

/// Options of the reproduction of `[KPZ21]`: what to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tables and figures of `[KPZ21]` to make, each once, in the paper's order.
    pub parts: Vec<Part>,
    /// Seconds that a computation may have taken in `[KPZ21]`; longer ones are left out.
    pub longest: f64,
    /// Size of Figure 1 of `[KPZ21]`.
    pub figure: Size,
}

impl Paper for Options {
    const KEY: &'static str = "KPZ21";
    type Part = Part;

    fn full() -> Self {
        let figure = Size { log2_degree: 15, rounds: 3 };
        Self { parts: Part::ALL.to_vec(), longest: f64::INFINITY, figure }
    }

    /// Options for the smaller circuits of `[KPZ21]`: less than three minutes.
    fn quick() -> Self {
        Self { longest: 8.0, figure: Size { log2_degree: 14, rounds: 3 }, ..Self::full() }
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        &mut self.parts
    }

    fn steps(&self) -> usize {
        let steps = |part: Part| match part {
            Part::Table8 => printed::inner_products().len(),
            Part::Figure1 => figure1::steps(self.figure),
            Part::Dynamic => dynamic::steps(),
            Part::Text if !self.parts.contains(&Part::Figure1) => figure1::steps(self.figure),
            _ => self.plan(part).map_or(0, |plan| plan.steps()),
        };
        self.wanted().map(steps).sum()
    }

    fn effort(&self) -> String {
        match self.longest {
            longest if longest.is_finite() => {
                format!(
                    "the variants of a line take turns, a tenth of a second each, at most 31 rounds, medians; lines with more than {longest} s in the paper left out"
                )
            }
            _ => "the variants of a line take turns, a second each, at most 31 rounds, medians; once if that takes longer"
                .to_owned(),
        }
    }

    fn make(&self, Run { machine, progress, tables, figures }: &mut Run<'_>) -> Result<()> {
        let mut times = None;
        for part in self.wanted() {
            match part {
                Part::Table1 => tables.push(counters::table1()?),
                Part::Table4 => {
                    tables.push(counters::table4()?);
                    tables.push(default_mode::table()?);
                }
                Part::Table5 => tables.push(counters::table5()?),
                Part::Table8 => tables.push(tables::table8(progress)?),
                Part::Dynamic => tables.push(dynamic::table(progress)?),
                Part::Figure1 | Part::Text => {
                    let measured = match times.take() {
                        Some(measured) => measured,
                        None => figure1::Times::measure(self.figure, progress)?,
                    };
                    match part {
                        Part::Text => tables.push(text::table(&measured)),
                        _ => figures.push(measured.figure(machine)),
                    }
                    times = Some(measured);
                }
                part => {
                    if let Some(plan) = self.plan(part) {
                        tables.push(plan.compute(progress)?);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Options {
    /// The tables and figures of `[KPZ21]` asked for, each once and in the paper's order.
    fn wanted(&self) -> impl Iterator<Item = Part> {
        Part::ALL.iter().copied().filter(|part| self.parts.contains(part))
    }

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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::checks::assert_that_checks_can_fail;
    use crate::repro::run;

    #[test]
    fn parts_are_named_as_they_read_and_come_once_and_in_order() {
        for &part in Part::ALL {
            assert_eq!(Part::parse(part.name()).unwrap(), part);
        }
        let error = Part::parse("table9").unwrap_err().to_string();
        assert!(error.contains("table1") && error.contains("\"table9\""), "{error}");
        let options = Options { parts: vec![Part::Table5, Part::Table1, Part::Table5], ..Options::quick() };
        let report = run(&options, &mut |_, done, total| assert!(done < total)).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["Table 1", "Table 5"]);
        assert_that_checks_can_fail(&report);
    }

    /// Checks a small run of all parts: every value is judged, every row that does not hold says why.
    #[test]
    fn every_check_of_every_part_can_fail() {
        let figure = Size { log2_degree: 12, rounds: 1 };
        let report = run(&Options { longest: 0.004, figure, ..Options::quick() }, &mut |_, _, _| {}).unwrap();
        assert_that_checks_can_fail(&report);
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert!(names.contains(&"Table 6") && names.contains(&"Text"), "{names:?}");
    }
}
