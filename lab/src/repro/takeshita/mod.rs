//! Reproduction of `[TSKJ20]`, "Enabling faster operations for deeper circuits in full RNS variants of
//! FV-like somewhat homomorphic encryption".

mod claims;
mod counts;
mod figures;
mod map;
mod products;
mod shifts;
mod smallest;
mod special;
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
    /// Numbers that the text of `[TSKJ20]` states.
    Text = "text",
    /// Additional tables: what `[TSKJ20]` can have timed, and the factors of the gap to it.
    Shifts = "shifts",
    /// Additional tables: an auxiliary basis of special form, and longer smallest components.
    Special = "special",
    /// Additional figure: multiplications over words and over 2^g − 1, by n and g, on one thread and on several.
    Map = "figure-map",
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
    /// Step of log2 n in Figures 6 and 7, down from the largest: 1 in `[TSKJ20]`.
    pub degree_step: usize,
    /// Fewest rounds where n·g is 2^24 or more.
    pub least_of_large: usize,
    /// Largest n·g of the map of multiplications.
    pub most_map: usize,
    /// Threads of the map beside one.
    pub threads: usize,
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
            degree_step: 1,
            least_of_large: 5,
            most_map: 1 << 25,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            most_kronecker: if cfg!(feature = "gmp") { usize::MAX } else { 1 << 22 },
            least_log2_degree: 10,
        }
    }

    /// Options for a reproduction of `[TSKJ20]` in two minutes: fewer rounds, degrees and points of the map, and every printed point.
    fn quick() -> Self {
        Self {
            budget: Budget { time: Duration::from_millis(300), least: 3, most: 9 },
            degree_step: 2,
            least_of_large: 1,
            most_map: 1 << 20,
            most_kronecker: 1 << 21,
            ..Self::full()
        }
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        &mut self.parts
    }

    fn steps(&self) -> usize {
        let sweeps = figures::sweeps(self).iter().map(figures::Sweep::steps).sum::<usize>();
        let once = [Part::Products, Part::Shifts, Part::Special]
            .iter()
            .filter(|part| self.parts.contains(part))
            .count();
        let map = if self.parts.contains(&Part::Map) { map::points(self).len() } else { 0 };
        sweeps + once + map
    }

    fn effort(&self) -> String {
        let Budget { least, most, .. } = self.budget;
        let large = self.least_of_large.min(least);
        format!(
            "all versions in {least} to {most} alternating rounds, {large} at least of 2^24 bits and more, medians"
        )
    }

    fn make(&self, run: &mut Run<'_>) -> Result<()> {
        let wanted = |part| self.parts.contains(&part);
        if wanted(Part::Table1) {
            run.tables.push(table1::compute()?);
        }
        if wanted(Part::Products) {
            run.progress.begin("products");
            run.tables.push(products::compute(self)?);
        }
        let mut measured = Vec::new();
        for sweep in figures::sweeps(self) {
            measured.extend(sweep.measure(self, run)?);
        }
        measured.iter().filter(|one| wanted(one.plot.part)).for_each(|one| one.show(run));
        if wanted(Part::Text) {
            run.tables.push(claims::compute(self, &measured)?);
        }
        if wanted(Part::Shifts) {
            run.progress.begin("versions of the shift");
            run.tables.extend(shifts::compute(self)?);
        }
        if wanted(Part::Special) {
            run.progress.begin("special forms");
            run.tables.push(special::compute(self)?);
            run.tables.push(smallest::compute(self)?);
        }
        if wanted(Part::Map) {
            map::compute(self, run)?;
        }
        Ok(())
    }
}

impl Options {
    /// Limits on the rounds at a point of this n·g.
    fn budget_at(&self, size: usize) -> Budget {
        let least =
            if size < 1 << 24 { self.budget.least } else { self.budget.least.min(self.least_of_large) };
        Budget { least, ..self.budget }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::checks::assert_that_checks_can_fail;
    use crate::repro::run;

    #[test]
    fn everything_is_made_on_small_rings_and_comes_once_and_in_order() {
        let options = Options {
            budget: Budget { time: Duration::ZERO, least: 1, most: 1 },
            most_bits: 256,
            most_log2_degree: 8,
            least_log2_degree: 7,
            most_map: 1 << 15,
            threads: 2,
            ..Options::full()
        };
        let report = run(&options, &mut |_, done, total| assert!(done < total)).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        let figures = (1..10).map(|i| format!("Figure {i}"));
        let tables = ["Table 1", "Products"].map(str::to_owned);
        let more = ["Text", "Shifts", "Gap", "Special", "Smallest", "Map"].map(str::to_owned);
        assert_eq!(names, tables.into_iter().chain(figures).chain(more).collect::<Vec<_>>());
        assert_eq!(report.figures.len(), 10);
        assert_that_checks_can_fail(&report);
        let map = &report.figures[9];
        assert_eq!((map.panels.len(), map.file()), (2, "figuremap.svg".to_owned()));
        assert!(report.tables[0].rows.iter().all(|row| row.holds()));
        for figure in &report.figures[..9] {
            assert_eq!(figure.panels.len(), 1);
            // Three versions and word-size RNS; with products also two by Kronecker substitution.
            let lines = if ["Figure 1", "Figure 3", "Figure 4"].contains(&figure.name) { 4 } else { 6 };
            assert_eq!(figure.panels[0].series.len(), lines, "{}", figure.name);
        }
        assert!(serde_json::to_string(&report).unwrap().contains("predicted"));
    }

    #[test]
    fn the_quick_run_has_every_printed_point() {
        let quick = Options::quick();
        for sweep in figures::sweeps(&quick) {
            assert!(sweep.misses_no_printed_point());
        }
        let blind = Options { most_log2_degree: 13, ..quick };
        assert!(!figures::sweeps(&blind).iter().all(figures::Sweep::misses_no_printed_point));
    }
}
