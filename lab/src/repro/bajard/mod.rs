//! Reproduction of `[BEHMSZ17]`, "Efficient reductions in cyclotomic rings - application to Ring-LWE based
//! FHE schemes".

mod clear;
mod depths;
mod figures;
mod formulas;
mod ntl;
mod polynomials;
mod printed;
mod reductions;
mod subject;
mod tables;
mod text;

use std::time::Duration;

use crate::repro::Run;
use crate::repro::{Budget, Paper, Part as _, Result, parts};

/// Bits of every modulus of `[BEHMSZ17]`.
const MODULUS_BITS: u32 = 62;

parts! {
    /// Table 1 of `[BEHMSZ17]`: sparse multiples of cyclotomic polynomials.
    Table1 = "table1",
    /// Table 2 of `[BEHMSZ17]`: speed-up of Montgomery's reduction.
    Table2 = "table2",
    /// Table 3 of `[BEHMSZ17]`: depths of FV and BGV.
    Table3 = "table3",
    /// Figure 1 of `[BEHMSZ17]`: time per slot of reductions.
    Figure1 = "figure1",
    /// Figure 2 of `[BEHMSZ17]`: time per slot of products of FV.
    Figure2 = "figure2",
    /// Figure 3 of `[BEHMSZ17]`: time per slot of products of BGV.
    Figure3 = "figure3",
    /// Montgomery's reduction modulo polynomials that are not cyclotomic.
    Polynomials = "polynomials",
    /// The numbers in the text of `[BEHMSZ17]`.
    Text = "text",
}

/// Options of the reproduction of `[BEHMSZ17]`: what to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tables and figures of `[BEHMSZ17]` to make, each once, in the paper's order.
    pub parts: Vec<Part>,
    /// Largest cyclotomic index m whose reductions are timed; 65535 in `[BEHMSZ17]`.
    pub reduction_index: u64,
    /// Largest cyclotomic index m whose depths are observed.
    pub depth_index: u64,
    /// Largest cyclotomic index m whose products are timed.
    pub product_index: u64,
    /// Most products in a row that are tried to observe a depth.
    pub most_depth: u64,
    /// Limits on the rounds of every figure's timings.
    pub budget: Budget,
}

impl Paper for Options {
    const KEY: &'static str = "BEHMSZ17";
    type Part = Part;

    fn full() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            reduction_index: 65535,
            depth_index: 65535,
            product_index: 65535,
            most_depth: 100,
            budget: Budget { time: Duration::from_secs(10), least: 5, most: 101 },
        }
    }

    /// Options for a reproduction of `[BEHMSZ17]` in less than four minutes.
    fn quick() -> Self {
        Self {
            depth_index: 13107,
            product_index: 21845,
            budget: Budget { time: Duration::from_secs(2), least: 3, most: 31 },
            ..Self::full()
        }
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        &mut self.parts
    }

    fn steps(&self) -> usize {
        let products = printed::DEPTHS.iter().filter(|row| row.m <= self.product_index).count();
        let counted = |parts: &[Part], steps: usize| if self.wants(parts) { steps } else { 0 };
        counted(&REDUCTIONS, self.reductions().count())
            + counted(&[Part::Table3], depths::STEPS)
            + counted(&PRODUCTS, products)
            + counted(&[Part::Polynomials], 1)
    }

    fn effort(&self) -> String {
        let Budget { least, most, .. } = self.budget;
        format!("{least} to {most} alternating rounds, medians; one thread")
    }

    fn make(&self, Run { machine, progress, tables, figures }: &mut Run<'_>) -> Result<()> {
        let mut measured = Vec::new();
        if self.wants(&REDUCTIONS) {
            for row in self.reductions() {
                progress.begin(format!("reductions: m = {}", row.m));
                measured.push(reductions::measure(self, row.m, tables::slots(row.m, row.n)?)?);
            }
        }
        for part in Part::ALL.iter().filter(|part| self.wants(&[**part])) {
            match part {
                Part::Table1 => tables.push(tables::table1(&measured)?),
                Part::Table2 => tables.push(tables::table2(&measured)?),
                Part::Table3 => tables.push(depths::table3(self, progress)?),
                Part::Figure1 => figures.push(figures::figure1(&measured, machine)),
                Part::Polynomials => {
                    progress.begin("other polynomials");
                    tables.push(polynomials::table(self)?);
                }
                Part::Figure2 | Part::Figure3 | Part::Text => {}
            }
        }
        if self.wants(&PRODUCTS) {
            let products = figures::products(self, progress)?;
            for part in PRODUCTS.into_iter().filter(|part| self.wants(&[*part])) {
                match part {
                    Part::Text => tables.push(text::table(&measured, &products)?),
                    part => figures.push(figures::of_scheme(&products, part == Part::Figure3, machine)),
                }
            }
        }
        Ok(())
    }
}

/// Parts of `[BEHMSZ17]` that follow from timings of reductions, and parts that follow from timings of products.
const REDUCTIONS: [Part; 4] = [Part::Table1, Part::Table2, Part::Figure1, Part::Text];
const PRODUCTS: [Part; 3] = [Part::Figure2, Part::Figure3, Part::Text];

impl Options {
    fn reductions(&self) -> impl Iterator<Item = printed::Reductions> {
        let largest = self.reduction_index;
        printed::reductions().filter(move |row| row.m <= largest)
    }

    fn wants(&self, parts: &[Part]) -> bool {
        parts.iter().any(|part| self.parts.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::checks::assert_that_checks_can_fail;
    use crate::repro::run;

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
        assert_eq!(names, ["Table 1", "Table 2", "Table 3", "Other polynomials", "Text"]);
        assert!(
            report.tables[..2].iter().all(|table| table.rows.iter().all(crate::repro::report::Row::holds))
        );
        assert_eq!(report.tables[2].rows.iter().filter(|row| row.verdict().is_some()).count(), 9);
        assert_that_checks_can_fail(&report);
        let names: Vec<&str> = report.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["Figure 1", "Figure 2", "Figure 3"]);
        assert!(
            report.figures.iter().all(|figure| figure.panels.iter().all(|panel| panel.series.len() >= 4))
        );
    }
}
