//! The strategies of `[AS19]` on 1 to 32 threads, simulated from measured parts and measured on as many as there are.

use sunzi_ring::Parallelism;

use super::measured::{Measured, Shared, by_mix};
use super::printed::{DEPTH, FULL_RNS, TABLE2};
use super::subject::{OPERATIONS, STRATEGIES};
use crate::repro::{NOT_PRINTED, Row, Rule, Table};

/// Numbers of threads in Figure 1 and Table 2 of `[AS19]` beyond one, and the names of the speed-ups on them.
const THREADS: [(usize, [&str; 2]); 5] = [
    (2, ["2 threads", "2 measured"]),
    (4, ["4 threads", "4 measured"]),
    (8, ["8 threads", "8 measured"]),
    (16, ["16 threads", "16 measured"]),
    (32, ["32 threads", "32 measured"]),
];
/// Factor by which a simulated time may be off the measured one.
const TOLERANCE: f64 = 1.3;

/// Table of speed-ups: of the five operations, and of a bootstrapping, for which Table 2 of `[AS19]` has those on 32 threads.
pub(super) fn table(measured: &Measured) -> Table {
    let rows = measured.shared.as_ref().map(rows).unwrap_or_default();
    let title = format!(
        "speed-ups by strategy at L = {DEPTH}, simulated from the parts of an operation on one thread, and measured; a simulation is to be \
         within a factor of {TOLERANCE}; bootstrapping as the paper's mix of Mult and LeftRot"
    );
    Table::new("Threads", title, rows)
}

fn rows(shared: &Shared) -> Vec<Row> {
    let mut rows = Vec::new();
    for (strategy, name) in STRATEGIES {
        let explained = shared.explained();
        for (at, (_, operation)) in OPERATIONS.iter().enumerate() {
            let of = |times: &[f64]| times.get(at).copied();
            let row = Row::default().key("operation", *operation).key("parallel", name);
            let row = speed_ups(row, shared, strategy, &of, None);
            rows.push(row.ours("parts over the whole", (of(&explained).unwrap_or(f64::NAN), 2)));
        }
        let row = Row::default().key("operation", "Bootstrapping").key("parallel", name);
        let row = speed_ups(row, shared, strategy, &by_mix, printed(name));
        rows.push(row.ours("parts over the whole", "as its operations"));
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

/// A row with the speed-ups of an operation by one strategy; `of` takes its time from those of all operations.
fn speed_ups(
    row: Row,
    shared: &Shared,
    strategy: Parallelism,
    of: &dyn Fn(&[f64]) -> Option<f64>,
    paper: Option<f64>,
) -> Row {
    let simulated = |threads| of(&shared.simulated(strategy, threads));
    let one = simulated(1).unwrap_or(f64::NAN);
    let mut row = row.ours("ms on 1", (one, 1));
    let mut worst: f64 = 1.0;
    for (threads, [name, measured_name]) in THREADS {
        let (time, measured) = (simulated(threads), shared.measured(strategy, threads));
        let measured = measured.and_then(|times| of(&times));
        let paper = paper.filter(|_| threads == 32).map(|paper| (paper, 2));
        let speed_up = |time: Option<f64>| time.map(|time| (one / time, 2));
        row = row.judged(name, paper, speed_up(time), Rule::Larger(1.15));
        row = row.judged(measured_name, None::<u64>, speed_up(measured), Rule::Equal);
        if let Some((simulated, measured)) = time.zip(measured) {
            worst = worst.max(simulated / measured).max(measured / simulated);
        }
    }
    row = row.ours("simulation off by", (worst, 2));
    let reason = if paper.is_some() { WORSE } else { NOT_PRINTED };
    let reasons = [(!row.holds(), reason), (worst > TOLERANCE, OUTSIDE)];
    let reasons: Vec<&str> = reasons.into_iter().filter(|(is_one, _)| *is_one).map(|(_, one)| one).collect();
    if reasons.is_empty() { row } else { row.because(Some(reasons.join("; "))) }
}

/// Why a simulated speed-up is below the one that the paper's times amount to.
const WORSE: &str = "memory limits work word by word, which does not scale here, and a key switch shares groups of four moduli";
/// Why a simulated speed-up is further than [`TOLERANCE`] from the measured one.
const OUTSIDE: &str = "open: the simulation is outside of its tolerance; it knows nothing of the caches and memory that threads share, but for work word by word";
