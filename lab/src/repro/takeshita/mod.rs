//! `[TSKJ20]`, "Enabling faster operations for deeper circuits in full RNS variants of FV-like somewhat homomorphic encryption".

mod counts;
mod figures;
mod products;
mod subject;
mod table1;
mod words;

use std::time::Duration;

use crate::repro::Run;
use crate::repro::{Budget, Paper, Part as _, Result, parts};

parts! {
    /// Components by the bits of q.
    Table1 = "table1",
    /// Products of polynomials by transforms and by Kronecker substitution.
    Products = "products",
    /// FastBconv in decryption.
    Figure1 = "figure1",
    /// Decryption.
    Figure2 = "figure2",
    /// FastBconv in multiplication.
    Figure3 = "figure3",
    /// Decomposition in relinearisation.
    Figure4 = "figure4",
    /// Multiplication.
    Figure5 = "figure5",
    /// Decryption by n.
    Figure6 = "figure6",
    /// Multiplication by n.
    Figure7 = "figure7",
    /// Decryption for standard parameters.
    Figure8 = "figure8",
    /// Multiplication for standard parameters.
    Figure9 = "figure9",
}

/// What to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts; each is made once, in the paper's order.
    pub parts: Vec<Part>,
    /// How long the rounds of every operation go on.
    pub budget: Budget,
    /// The largest g of Figures 1 to 5: 16384 in the paper.
    pub most_bits: usize,
    /// The largest log2 n of Figures 6 and 7: 14 in the paper.
    pub most_log2_degree: u32,
    /// The largest n·g for which Kronecker products are timed.
    pub most_kronecker: usize,
    /// log2 of the smallest degree: 10 in the paper; less is for tests.
    pub least_log2_degree: u32,
}

impl Paper for Options {
    const KEY: &'static str = "TSKJ20";
    type Part = Part;

    fn full() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            budget: Budget { time: Duration::from_secs(8), least: 5, most: 31 },
            most_bits: 16_384,
            most_log2_degree: 14,
            most_kronecker: if cfg!(feature = "gmp") { usize::MAX } else { 1 << 22 },
            least_log2_degree: 10,
        }
    }

    /// What takes less than four minutes.
    fn quick() -> Self {
        Self {
            budget: Budget { time: Duration::from_millis(500), least: 3, most: 9 },
            most_log2_degree: 13,
            most_kronecker: 1 << 21,
            ..Self::full()
        }
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        &mut self.parts
    }

    fn steps(&self) -> usize {
        let sweeps = figures::sweeps(self).iter().map(figures::Sweep::steps).sum::<usize>();
        sweeps + usize::from(self.parts.contains(&Part::Products))
    }

    fn effort(&self) -> String {
        let Budget { least, most, .. } = self.budget;
        format!("all versions in {least} to {most} alternating rounds, medians")
    }

    fn make(&self, run: &mut Run<'_>) -> Result<()> {
        if self.parts.contains(&Part::Table1) {
            run.tables.push(table1::compute()?);
        }
        if self.parts.contains(&Part::Products) {
            run.progress.begin("products");
            run.tables.push(products::compute(self)?);
        }
        figures::sweeps(self).iter().try_for_each(|sweep| sweep.compute(self, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::run;

    #[test]
    fn everything_is_made_on_small_rings_and_comes_once_and_in_order() {
        let options = Options {
            budget: Budget { time: Duration::ZERO, least: 1, most: 1 },
            most_bits: 256,
            most_log2_degree: 8,
            least_log2_degree: 7,
            ..Options::full()
        };
        let report = run(&options, &mut |_, done, total| assert!(done < total)).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        let figures = (1..10).map(|i| format!("Figure {i}"));
        let tables = ["Table 1", "Products"].map(str::to_owned);
        assert_eq!(names, tables.into_iter().chain(figures).collect::<Vec<_>>());
        assert_eq!(report.figures.len(), 9);
        assert!(report.tables[0].rows.iter().all(|row| row.equal()));
        for figure in &report.figures {
            assert_eq!(figure.panels.len(), 1);
            // Three versions and word-size RNS; with products also two by Kronecker substitution.
            let lines = if ["Figure 1", "Figure 3", "Figure 4"].contains(&figure.name) { 4 } else { 6 };
            assert_eq!(figure.panels[0].series.len(), lines, "{}", figure.name);
        }
        assert!(serde_json::to_string(&report).unwrap().contains("predicted"));
    }
}
