//! `[BEHMSZ17]`, "Efficient reductions in cyclotomic rings - application to Ring-LWE based FHE schemes".

mod clear;
mod figures;
mod formulas;
mod printed;
mod reductions;
mod subject;
mod tables;

use std::time::Duration;

use crate::LabError;
use crate::alternate::Budget;
use crate::report::Machine;
use crate::repro::parts::parts;
use crate::repro::report::Report;
use crate::repro::run::{Progress, Tell};
use crate::threads::on_threads;

/// Bits of every modulus of the paper.
const MODULUS_BITS: u32 = 62;

parts! {
    /// Sparse multiples of cyclotomic polynomials.
    Table1 = "table1",
    /// The speed-up of Montgomery's reduction.
    Table2 = "table2",
    /// Depths of FV and BGV.
    Table3 = "table3",
    /// Time per slot of reductions.
    Figure1 = "figure1",
    /// Time per slot of products of FV.
    Figure2 = "figure2",
    /// Time per slot of products of BGV.
    Figure3 = "figure3",
}

/// What to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts; each is made once, in the paper's order.
    pub parts: Vec<Part>,
    /// The largest m whose reductions are timed; 65535 in the paper.
    pub reduction_index: u64,
    /// The largest m whose depths are observed.
    pub depth_index: u64,
    /// The largest m whose products are timed.
    pub product_index: u64,
    /// Products in a row that are tried at most.
    pub most_depth: u64,
    /// How long the rounds of every figure go on.
    pub budget: Budget,
}

impl Options {
    /// Everything.
    #[must_use]
    pub fn full() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            reduction_index: 65535,
            depth_index: 65535,
            product_index: 65535,
            most_depth: 100,
            budget: Budget { time: Duration::from_secs(10), least: 5, most: 101 },
        }
    }

    /// What takes less than four minutes.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            depth_index: 13107,
            product_index: 21845,
            budget: Budget { time: Duration::from_secs(2), least: 3, most: 31 },
            ..Self::full()
        }
    }

    fn effort(&self) -> String {
        let Budget { least, most, .. } = self.budget;
        format!("{least} to {most} alternating rounds, medians; one thread")
    }

    /// Rows of the paper that are timed.
    fn reductions(&self) -> impl Iterator<Item = &'static printed::Reductions> {
        let largest = self.reduction_index;
        printed::REDUCTIONS.iter().filter(move |row| row.m <= largest)
    }

    fn wants(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    fn wants_reductions(&self) -> bool {
        [Part::Table1, Part::Table2, Part::Figure1].into_iter().any(|part| self.wants(part))
    }

    fn wants_products(&self) -> bool {
        self.wants(Part::Figure2) || self.wants(Part::Figure3)
    }

    fn steps(&self) -> usize {
        let products = printed::DEPTHS.iter().filter(|row| row.m <= self.product_index).count();
        let counted = |wanted: bool, steps: usize| if wanted { steps } else { 0 };
        counted(self.wants_reductions(), self.reductions().count())
            + counted(self.wants(Part::Table3), tables::depth_steps(self))
            + counted(self.wants_products(), products)
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
    let mut progress = Progress::new(options.steps(), tell);
    let (mut tables, mut figures) = (Vec::new(), Vec::new());
    let mut measured = Vec::new();
    if options.wants_reductions() {
        for row in options.reductions() {
            progress.begin(format!("reductions: m = {}", row.m));
            measured.push(reductions::measure(options, row.m, tables::slots(row.m, row.n)?)?);
        }
    }
    if options.wants(Part::Table1) {
        tables.push(tables::table1(&measured)?);
    }
    if options.wants(Part::Table2) {
        tables.push(tables::table2(&measured)?);
    }
    if options.wants(Part::Table3) {
        tables.push(tables::table3(options, &mut progress)?);
    }
    if options.wants(Part::Figure1) {
        figures.push(figures::figure1(&measured, &machine));
    }
    if options.wants_products() {
        let products = figures::products(options, &mut progress)?;
        for (part, bgv) in [(Part::Figure2, false), (Part::Figure3, true)] {
            if options.wants(part) {
                figures.push(figures::of_scheme(&products, bgv, &machine));
            }
        }
    }
    Ok(Report { paper: "BEHMSZ17", machine, effort: options.effort(), tables, figures })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_made_for_the_smallest_rings_and_comes_once_and_in_order() {
        let options = Options {
            reduction_index: 3855,
            depth_index: 4369,
            product_index: 4369,
            most_depth: 2,
            budget: Budget { time: Duration::ZERO, least: 1, most: 1 },
            ..Options::full()
        };
        let report = run(&options, &mut |_, done, total| assert!(done < total)).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["Table 1", "Table 2", "Table 3"]);
        assert!(
            report.tables[..2].iter().all(|table| table.rows.iter().all(crate::repro::report::Row::equal))
        );
        let names: Vec<&str> = report.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["Figure 1", "Figure 2", "Figure 3"]);
        assert!(
            report.figures.iter().all(|figure| figure.panels.iter().all(|panel| panel.series.len() >= 4))
        );
    }
}
