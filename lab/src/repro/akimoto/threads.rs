//! The strategies of `[AS19]` on 1 to 32 threads, simulated from measured parts and checked on all threads here.

use super::measured::{Measured, Shared, by_mix};
use super::printed::{DEPTH, FULL_RNS, TABLE2};
use super::subject::{OPERATIONS, STRATEGIES};
use crate::repro::{NOT_PRINTED, Row, Rule, Table};

/// Numbers of threads in Figure 1 and Table 2 of `[AS19]` beyond one, and the names of the speed-ups on them.
const THREADS: [(usize, &str); 5] = [
    (2, "speed_up on 2"),
    (4, "speed_up on 4"),
    (8, "speed_up on 8"),
    (16, "speed_up on 16"),
    (32, "speed_up on 32"),
];
/// Factor by which a simulated time may be off the measured one.
const TOLERANCE: f64 = 1.3;

/// Table of simulated speed-ups: of the five operations, and of a bootstrapping, for which Table 2 of `[AS19]` has those on 32 threads.
pub(super) fn table(measured: &Measured) -> Table {
    let rows = measured.shared.as_ref().map(|shared| rows(measured, shared)).unwrap_or_default();
    let title = format!(
        "speed-ups by strategy at L = {DEPTH}, simulated from the parts of an operation on one thread; threads of the simulation share no \
         memory, and it is to be within a factor of {TOLERANCE} of what was measured; bootstrapping as the paper's mix of Mult and LeftRot"
    );
    Table::new("Threads", title, rows)
}

fn rows(measured: &Measured, shared: &Shared) -> Vec<Row> {
    let mut rows = Vec::new();
    for (strategy, name) in STRATEGIES {
        let simulated = |threads| shared.simulated(strategy, threads);
        let on_all = shared.measured(strategy);
        for (at, (_, operation)) in OPERATIONS.iter().enumerate() {
            let of = |times: &[f64]| times.get(at).copied();
            let times = Times { of: &of, simulated: &simulated, single: &measured.ours, on_all: &on_all };
            rows.push(times.row(operation, name, shared.threads(), None));
        }
        let times = Times { of: &by_mix, simulated: &simulated, single: &measured.ours, on_all: &on_all };
        rows.push(times.row("Bootstrapping", name, shared.threads(), printed(name)));
    }
    rows
}

/// The speed-up of a bootstrapping on 32 threads by Table 2 of `[AS19]`.
fn printed(strategy: &str) -> Option<f64> {
    let full_rns = TABLE2.iter().filter(|(scheme, ..)| *scheme == FULL_RNS);
    let time =
        |name: &str| full_rns.clone().find(|(_, other, ..)| *other == name).map(|(.., [time, _])| *time);
    Some(time("None")? / time(strategy)?)
}

/// Lists of times of all operations, and what a row takes from each.
struct Times<'a> {
    of: &'a dyn Fn(&[f64]) -> Option<f64>,
    simulated: &'a dyn Fn(usize) -> Vec<f64>,
    single: &'a [f64],
    on_all: &'a [f64],
}

impl Times<'_> {
    fn row(
        &self,
        operation: &'static str,
        strategy: &'static str,
        threads: usize,
        paper: Option<f64>,
    ) -> Row {
        let simulated = |threads| (self.of)(&(self.simulated)(threads));
        let one = simulated(1);
        let speed_up = |threads| Some((one? / simulated(threads)?, 2));
        let single = (self.of)(self.single);
        let on_all = (self.of)(self.on_all);
        let quotient = |a: Option<f64>, b: Option<f64>| Some((a? / b?, 2));
        let mut row = Row::default().key("operation", operation).key("parallel", strategy);
        row = row.judged("ms on 1", None::<f64>.map(|ms| (ms, 1)), one.map(|ms| (ms, 1)), Rule::Equal);
        for (threads, name) in THREADS {
            let paper = paper.filter(|_| threads == 32).map(|paper| (paper, 2));
            row = row.judged(name, paper, speed_up(threads), Rule::Larger(1.15));
        }
        row = row
            .judged("simulated over measured, 1", None::<u64>, quotient(one, single), Rule::Equal)
            .judged("speed_up measured", None::<u64>, quotient(single, on_all), Rule::Equal)
            .judged(
                "simulated over measured, all",
                None::<u64>,
                quotient(simulated(threads), on_all),
                Rule::Equal,
            );
        let model = quotient(simulated(threads), on_all).map_or(f64::NAN, |(model, _)| model);
        let mut reason = if paper.is_some() { WORSE.to_owned() } else { NOT_PRINTED.to_owned() };
        if !(1.0 / TOLERANCE..=TOLERANCE).contains(&model) {
            reason +=
                "; outside of the tolerance: the model knows neither memory nor other work on this machine";
        }
        if row.holds() { row } else { row.because(Some(reason)) }
    }
}

/// Why a simulated speed-up is below the one that the paper's times amount to.
const WORSE: &str = "open, the simulation is not confirmed: what an operation takes beyond its measured parts counts as work that no \
                     thread shares, which other work on the machine inflates, and by coefficients transforms do too";
