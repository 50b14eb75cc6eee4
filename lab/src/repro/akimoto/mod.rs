//! Reproduction of `[AS19]`, "RNS variant of approximate homomorphic encryption and its bootstrapping, in
//! parallel".

mod bootstrapping;
mod costs;
mod figures;
mod heaan;
mod measured;
mod printed;
mod simulation;
mod subject;
mod tables;
mod text;
mod threads;

use std::time::Duration;

use sunzi_rlwe::words::counted;

use self::bootstrapping::{Outcome, Plan};
use self::measured::Measured;
use crate::repro::Run;
use crate::repro::{Budget, Paper, Part as _, Result, parts};

parts! {
    /// Table 1 of `[AS19]`: CKKS operations and bootstrapping on one thread.
    Table1 = "table1",
    /// Table 2 of `[AS19]`: bootstrapping by the strategies of sharing work among threads.
    Table2 = "table2",
    /// Figure 1 of `[AS19]`: CKKS operations by the number of threads.
    Figure1 = "figure1",
    /// Figure 2 of `[AS19]`: CKKS operations by level.
    Figure2 = "figure2",
    /// Speed-ups by strategy on up to 32 threads, simulated.
    Threads = "threads",
    /// Precision of bootstrapping by the size of messages.
    Precision = "precision",
    /// The numbers in the text of `[AS19]`.
    Text = "text",
}

/// Options of the reproduction of `[AS19]`: what to reproduce and how thoroughly.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tables and figures of `[AS19]` to make, each once, in the paper's order.
    pub parts: Vec<Part>,
    /// log2 N of the figures; 16 in `[AS19]`.
    pub figure_log2_degree: u32,
    /// log2 N of the tables; 16 in `[AS19]`.
    pub table_log2_degree: u32,
    /// Step between levels of Figure 2, which are 1 and the multiples of this; `[AS19]` has all 32.
    pub level_step: usize,
    /// Limits on the rounds of every timed operation.
    pub budget: Budget,
    /// Number of bootstrappings that each figure is the median of: 10 in `[AS19]`.
    pub bootstraps: usize,
    /// Limits on the rounds of every operation with big integers.
    pub baseline: Budget,
    /// Sizes of messages whose precision is measured, as log2 of the largest slot.
    pub log2_sizes: Vec<i32>,
    /// Most threads to use; the machine's unless fewer are asked for.
    pub threads: usize,
    /// Whether Table 2 of `[AS19]` has only the default strategy: the others encode the matrices again.
    pub one_strategy: bool,
}

impl Paper for Options {
    const KEY: &'static str = "AS19";
    type Part = Part;

    fn full() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            figure_log2_degree: printed::LOG2_DEGREE,
            table_log2_degree: printed::LOG2_DEGREE,
            level_step: 2,
            budget: Budget { time: Duration::from_secs(10), least: 5, most: 31 },
            bootstraps: 3,
            baseline: Budget { time: Duration::from_secs(30), least: 3, most: 11 },
            log2_sizes: vec![0, -1, -2, -4, -6, -8],
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            one_strategy: false,
        }
    }

    /// Options for a reproduction of `[AS19]` in less than five minutes.
    fn quick() -> Self {
        Self {
            figure_log2_degree: 14,
            level_step: 8,
            budget: Budget { time: Duration::from_secs(1), least: 3, most: 9 },
            bootstraps: 1,
            baseline: Budget { time: Duration::ZERO, least: 1, most: 1 },
            log2_sizes: vec![-4],
            one_strategy: true,
            ..Self::full()
        }
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        &mut self.parts
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn steps(&self) -> usize {
        let figures = |part: &Part| match part {
            Part::Figure1 => self.thread_counts().len(),
            Part::Figure2 => figures::levels(self).len(),
            _ => 0,
        };
        let Needs { operations, heaan, threads, several, .. } = self.needs();
        let needed = [operations, operations && threads, heaan, several && self.threads > 1];
        let operations = needed.into_iter().filter(|needed| *needed).count();
        operations + self.plan().steps() + self.parts.iter().map(figures).sum::<usize>()
    }

    fn effort(&self) -> String {
        let Self { budget, bootstraps, threads, .. } = self;
        format!(
            "operations in {} to {} alternating rounds, bootstrapping {}, medians; up to {}",
            budget.least,
            budget.most,
            counted(*bootstraps, "time", "times"),
            counted(*threads, "thread", "threads")
        )
    }

    /// Makes the tables and figures of `[AS19]`. Bootstrapping at the paper's degree takes some 12 GiB of memory.
    fn make(&self, Run { machine, progress, tables, figures }: &mut Run<'_>) -> Result<()> {
        let measured = Measured::new(self, self.needs(), progress)?;
        let Outcome { timed, sizes } = self.plan().run(self, progress)?;
        for part in Part::ALL.iter().filter(|part| self.parts.contains(part)) {
            match part {
                Part::Table1 => tables.push(tables::table1(self, &measured, &timed)),
                Part::Table2 => tables.push(tables::table2(self, &measured, &timed)),
                Part::Figure1 => figures.push(figures::figure1(self, machine, progress)?),
                Part::Figure2 => figures.push(figures::figure2(self, machine, progress)?),
                Part::Threads => tables.push(threads::table(&measured)),
                Part::Precision => tables.push(tables::precision(self, &sizes)),
                Part::Text => tables.push(text::table(self, &measured, &timed)),
            }
        }
        Ok(())
    }
}

/// Measurements that the parts asked for are made from.
#[derive(Clone, Copy)]
struct Needs {
    operations: bool,
    heaan: bool,
    /// Operations with big integers on several threads.
    several: bool,
    /// Operations on several threads, measured and simulated.
    threads: bool,
    bootstrappings: bool,
    sizes: bool,
}

impl Options {
    fn needs(&self) -> Needs {
        let any = |parts: &[Part]| parts.iter().any(|part| self.parts.contains(part));
        Needs {
            operations: any(&[Part::Table1, Part::Threads, Part::Text]),
            heaan: any(&[Part::Table1, Part::Table2, Part::Text]),
            several: any(&[Part::Table2]),
            threads: any(&[Part::Threads, Part::Text]),
            bootstrappings: any(&[Part::Table1, Part::Table2, Part::Text]),
            sizes: any(&[Part::Precision]),
        }
    }

    fn plan(&self) -> Plan {
        let Needs { bootstrappings, sizes, .. } = self.needs();
        Plan::new(self, bootstrappings, sizes)
    }

    /// Numbers of threads that are compared: powers of two, and the most.
    fn thread_counts(&self) -> Vec<usize> {
        let most = self.threads.max(1);
        let doubled = std::iter::successors(Some(1), |count| Some(2 * count));
        doubled.take_while(|count| *count < most).chain([most]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::checks::assert_that_checks_can_fail;
    use crate::repro::run;

    #[test]
    fn everything_is_made_on_a_small_ring_and_comes_once_and_in_order() {
        for &part in Part::ALL {
            assert_eq!(Part::parse(part.name()).unwrap(), part);
        }
        assert!(Part::parse("table3").is_err());
        let options = Options {
            figure_log2_degree: 10,
            table_log2_degree: 10,
            level_step: 16,
            budget: Budget { time: Duration::ZERO, least: 1, most: 1 },
            bootstraps: 1,
            baseline: Budget { time: Duration::ZERO, least: 1, most: 1 },
            log2_sizes: vec![0, -4],
            threads: 2,
            one_strategy: false,
            ..Options::full()
        };
        let report = run(&options, &mut |_, done, total| assert!(done < total)).unwrap();
        let names: Vec<&str> = report.tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["Table 1", "Table 2", "Threads", "Precision", "Text"]);
        assert_that_checks_can_fail(&report);
        let names: Vec<&str> = report.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["Figure 1", "Figure 2"]);
        for figure in &report.figures {
            assert_eq!(figure.panels.len(), 5);
            for panel in &figure.panels {
                assert_eq!(panel.series.len(), 3);
            }
        }
    }

    #[test]
    fn threads_are_powers_of_two_and_the_most() {
        let counts = |threads| Options { threads, ..Options::quick() }.thread_counts();
        assert_eq!([counts(1), counts(2), counts(6)], [vec![1], vec![1, 2], vec![1, 2, 4, 6]]);
    }
}
