//! Reproduction of `[BEHZ16]`, "A Full RNS Variant of FV like Somewhat Homomorphic Encryption Schemes".

mod bounds;
mod costs;
mod negacyclic;
mod nfllib_moduli;
mod noise_tree;
mod paper_lifts;
mod reference;
mod subject;
mod table5;
mod tables;
mod text;
mod timing;

use std::time::Duration;

pub use bounds::{Rational, Setting, Sufficient};
pub use nfllib_moduli::Width;
pub use noise_tree::Tree;

use crate::repro::Run;
use crate::repro::{Budget, LabError, Paper, Part as _, Result, parts};

/// Text of the tables as printed in `[BEHZ16]`.
const PRINTED: &str = include_str!("printed.txt");
/// Bound on the errors, B_err = 6σ with σ = 8 `[BEHZ16, 5.1]`.
pub const ERROR_BOUND: u64 = 48;
/// log2 of the smallest and largest degree of the tables of `[BEHZ16]`.
pub const LOG2_DEGREES: [u32; 2] = [11, 15];

parts! {
    /// Table 1 of `[BEHZ16]`: parameters that reach the greatest depth, 30-bit moduli.
    Table1 = "table1",
    /// Table 2 of `[BEHZ16]`: numbers of moduli that are timed.
    Table2 = "table2",
    /// Table 3 of `[BEHZ16]`: parameters for a given m̃, 30-bit moduli.
    Table3 = "table3",
    /// Table 4 of `[BEHZ16]`: parameters for a given m̃, 62-bit moduli.
    Table4 = "table4",
    /// Table 5 of `[BEHZ16]`: times of decryption and multiplication.
    Table5 = "table5",
    /// Figure 1 of `[BEHZ16]`: decryption times.
    Figure1 = "figure1",
    /// Figure 2 of `[BEHZ16]`: multiplication times.
    Figure2 = "figure2",
    /// Figure 3 of `[BEHZ16]`: noise of a multiplicative tree.
    Figure3 = "figure3",
    /// Costs of appendix B.3 of `[BEHZ16]`, counted.
    Costs = "costs",
    /// Numbers that the text of `[BEHZ16]` states.
    Text = "text",
}

impl Part {
    /// Whether the part is made of timings.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Table5 | Self::Figure1 | Self::Figure2 | Self::Text)
    }
}

/// Options of the reproduction of `[BEHZ16]`: what to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tables and figures of `[BEHZ16]` to make, each once, in the paper's order.
    pub parts: Vec<Part>,
    /// log2 of the degrees to time, 11 to 15.
    pub log2_degrees: Vec<u32>,
    /// Limits on the rounds of one operation at one degree and width of moduli.
    pub budget: Budget,
    /// Size of the multiplicative tree of Figure 3.
    pub tree: Tree,
}

impl Paper for Options {
    const KEY: &'static str = "BEHZ16";
    type Part = Part;

    /// Options for every degree of `[BEHZ16]`; 20 s or five rounds, whichever is longer, for each operation.
    fn full() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            log2_degrees: (LOG2_DEGREES[0]..=LOG2_DEGREES[1]).collect(),
            budget: Budget { time: Duration::from_secs(20), least: 5, most: 101 },
            tree: Tree::PRINTED,
        }
    }

    /// Options for every degree with fewer rounds: about a minute.
    fn quick() -> Self {
        Self { budget: Budget { time: Duration::from_secs(1), least: 2, most: 21 }, ..Self::full() }
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        &mut self.parts
    }

    /// Refuses degrees for which `[BEHZ16]` has no rows.
    fn validate(&self) -> Result<()> {
        let [low, high] = LOG2_DEGREES;
        match self.log2_degrees.iter().find(|log2| !(low..=high).contains(log2)) {
            Some(&got) => Err(no_rows(got)),
            None => Ok(()),
        }
    }

    fn steps(&self) -> usize {
        let timed = self.parts.iter().any(|part| part.is_timed());
        let tree = self.wants_tree();
        // Two widths: keys, decryption, multiplication.
        let counted = self.parts.contains(&Part::Costs);
        usize::from(timed) * self.log2_degrees.len() * 6 + usize::from(tree) * 6 + usize::from(counted)
    }

    fn effort(&self) -> String {
        let Budget { time, least, most } = self.budget;
        let degrees: Vec<String> = self.log2_degrees.iter().map(|log2| format!("2^{log2}")).collect();
        format!(
            "n = {}; variants take turns in one process, {least} to {most} rounds, no new one after {} s an operation",
            degrees.join(", "),
            time.as_secs_f64()
        )
    }

    fn make(&self, run: &mut Run<'_>) -> Result<()> {
        let groups = match self.parts.iter().any(|part| part.is_timed()) {
            true => timing::measure(&self.log2_degrees, self.budget, &mut run.progress)?,
            false => Vec::new(),
        };
        let tree = match self.wants_tree() {
            true => Some(noise_tree::Noise::measure(self.tree, &mut run.progress)?),
            false => None,
        };
        for part in Part::ALL.iter().filter(|part| self.parts.contains(part)) {
            match part {
                Part::Table1 => run.tables.push(tables::table1()?),
                Part::Table2 => run.tables.push(tables::table2()?),
                Part::Table3 => run.tables.push(tables::table3_4(Width::Bits30)?),
                Part::Table4 => run.tables.push(tables::table3_4(Width::Bits62)?),
                Part::Table5 => run.tables.push(table5::compute(&groups)),
                Part::Figure1 => run.figures.push(table5::figure1(&groups, &run.machine)),
                Part::Figure2 => run.figures.push(table5::figure2(&groups, &run.machine)),
                Part::Figure3 => run.figures.extend(tree.as_ref().map(noise_tree::Noise::figure)),
                Part::Costs => run.tables.extend(costs::tables(&mut run.progress)?),
                Part::Text => run.tables.push(text::table(&groups, tree.as_ref())?),
            }
        }
        Ok(())
    }
}

impl Options {
    /// Whether the noise of a tree is measured.
    fn wants_tree(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Figure3 | Part::Text))
    }
}

/// The error of a degree that the tables of `[BEHZ16]` lack.
fn no_rows(log2_degree: u32) -> LabError {
    LabError::degree(log2_degree, &(LOG2_DEGREES[0]..=LOG2_DEGREES[1]), "the paper has no other rows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::checks::assert_that_checks_can_fail;
    use crate::repro::report::Report;
    use crate::repro::run;

    fn run_quietly(options: &Options) -> Report {
        run(options, &mut |_, done, total| assert!(done < total)).unwrap()
    }

    fn only(parts: &[Part]) -> Options {
        Options { parts: parts.to_vec(), ..Options::quick() }
    }

    #[test]
    fn parts_are_named_as_they_read() {
        for &part in Part::ALL {
            assert_eq!(Part::parse(part.name()).unwrap(), part);
        }
        let error = Part::parse("table9").unwrap_err().to_string();
        assert!(error.contains("table1, table2") && error.contains("\"table9\""), "{error}");
    }

    #[test]
    fn every_row_that_differs_says_why() {
        let report = run_quietly(&only(&[Part::Table1, Part::Table3, Part::Table4]));
        assert_eq!(report.tables.iter().map(|table| table.rows.len()).sum::<usize>(), 30);
        assert_that_checks_can_fail(&report);
        let rows = report.tables.iter().flat_map(|table| &table.rows);
        assert_eq!(rows.filter(|row| row.reason.is_some()).count(), 1);
    }

    #[test]
    fn parts_come_once_and_in_order() {
        let report = run_quietly(&only(&[Part::Table4, Part::Table3, Part::Table4]));
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["Table 3", "Table 4"]);
    }

    /// Checks the smallest degree with two rounds: every variant is timed, checked and drawn.
    #[test]
    fn timings_reach_the_table_and_the_figures() {
        let options = Options {
            log2_degrees: vec![11],
            budget: Budget { time: Duration::ZERO, least: 2, most: 2 },
            ..only(&[Part::Table5, Part::Figure1, Part::Figure2])
        };
        let report = run_quietly(&options);
        let value = serde_json::to_value(&report).unwrap();
        let rows = value["tables"][0]["rows"].as_array().unwrap();
        assert!(rows.len() >= 10, "{rows:#?}");
        for row in rows {
            let multiplies = row["nu"] == 30 && row["variant"] != "RNS-flp";
            assert!(row["ours"]["decrypt_ms"].as_f64().unwrap() > 0.0, "{row}");
            assert_eq!(row["ours"]["multiply_ms"].is_f64(), multiplies, "{row}");
            assert!(!row["paper"].is_null() || row["reason"].is_string(), "{row}");
            assert_eq!(row["verdicts"]["decrypt_ms"].is_string(), row["paper"].is_object(), "{row}");
        }
        let mp = rows.iter().find(|row| row["variant"] == "MP" && row["nu"] == 30).unwrap();
        assert_eq!(mp["paper"]["multiply_ms"], 13.809);
        for (figure, file) in value["figures"].as_array().unwrap().iter().zip(["figure1.svg", "figure2.svg"])
        {
            assert_eq!(figure["file"], file);
            assert!(
                !figure["paper"].as_array().unwrap().is_empty()
                    && !figure["ours"].as_array().unwrap().is_empty()
            );
        }
        for figure in &report.figures {
            assert!(crate::plot::render(figure).unwrap().contains("RNS-AVX2"));
        }
    }

    #[test]
    fn a_degree_without_rows_is_refused() {
        let options = Options { log2_degrees: vec![10], ..only(&[Part::Table5]) };
        let error = run(&options, &mut |_, _, _| {}).unwrap_err();
        assert!(
            error.to_string().starts_with("expected log2 n between 11 and 15, got 10: the paper"),
            "{error}"
        );
    }

    /// Checks a small run of all parts: every value is judged, every row that does not hold says why.
    #[test]
    fn every_check_of_every_part_can_fail() {
        let report = run_quietly(&Options {
            log2_degrees: vec![11],
            budget: Budget { time: Duration::ZERO, least: 3, most: 3 },
            tree: Tree { log2_degree: 11, count: 3, depth: 3 },
            ..Options::quick()
        });
        assert_that_checks_can_fail(&report);
        assert_eq!(report.tables.len(), 8);
    }
}
