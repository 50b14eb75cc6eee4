//! Reproduction of `[TSKJ20]`, "Enabling faster operations for deeper circuits in full RNS variants of
//! FV-like somewhat homomorphic encryption".

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
    /// Table 1 of `[TSKJ20]`: components by the bits of q.
    Table1 = "table1",
    /// Additional table: products of polynomials by transforms and by Kronecker substitution.
    Products = "products",
    /// Figure 1 of `[TSKJ20]`: speed-up of FastBconv in decryption.
    Figure1 = "figure1",
    /// Figure 2 of `[TSKJ20]`: speed-up of decryption.
    Figure2 = "figure2",
    /// Figure 3 of `[TSKJ20]`: speed-up of FastBconv in multiplication.
    Figure3 = "figure3",
    /// Figure 4 of `[TSKJ20]`: speed-up of the decomposition in relinearisation.
    Figure4 = "figure4",
    /// Figure 5 of `[TSKJ20]`: speed-up of multiplication.
    Figure5 = "figure5",
    /// Figure 6 of `[TSKJ20]`: speed-up of decryption by the degree n.
    Figure6 = "figure6",
    /// Figure 7 of `[TSKJ20]`: speed-up of multiplication by the degree n.
    Figure7 = "figure7",
    /// Figure 8 of `[TSKJ20]`: speed-up of decryption for standard parameters.
    Figure8 = "figure8",
    /// Figure 9 of `[TSKJ20]`: speed-up of multiplication for standard parameters.
    Figure9 = "figure9",
}

/// Options of the reproduction of `[TSKJ20]`: what to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tables and figures of `[TSKJ20]` to make, each once, in the paper's order.
    pub parts: Vec<Part>,
    /// Limits on the rounds of every timed operation.
    pub budget: Budget,
    /// Largest exponent g of Figures 1 to 5: 16384 in `[TSKJ20]`.
    pub most_bits: usize,
    /// Largest log2 n of Figures 6 and 7: 14 in `[TSKJ20]`.
    pub most_log2_degree: u32,
    /// Largest n·g for which Kronecker products are timed.
    pub most_kronecker: usize,
    /// log2 of the smallest degree n: 10 in `[TSKJ20]`; less is for tests.
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

    /// Options for a reproduction of `[TSKJ20]` in less than four minutes.
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
        assert!(report.tables[0].rows.iter().all(|row| row.holds()));
        for figure in &report.figures {
            assert_eq!(figure.panels.len(), 1);
            // Three versions and word-size RNS; with products also two by Kronecker substitution.
            let lines = if ["Figure 1", "Figure 3", "Figure 4"].contains(&figure.name) { 4 } else { 6 };
            assert_eq!(figure.panels[0].series.len(), lines, "{}", figure.name);
        }
        assert!(serde_json::to_string(&report).unwrap().contains("predicted"));
    }
}
