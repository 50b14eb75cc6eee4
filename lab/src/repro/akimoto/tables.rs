//! Tables 1 and 2 of `[AS19]`: the paper's rows, each beside Sunzi's where there is one, then Sunzi's others.

use sunzi_ring::Parallelism;
use sunzi_rlwe::words::counted;

use super::Options;
use super::bootstrapping::{Bootstrapped, OfSize, Setup};
use super::measured::{Measured, by_mix};
use super::printed::{DEPTH, HEAAN, LEVELS_LEFT, LOG2_DEGREE, PRECISION_BITS, TABLE1, TABLE2};
use super::subject::STRATEGIES;
use crate::repro::{Row, Rule, Table};

/// Column names of Table 1 of `[AS19]`, whose values are in milliseconds.
const COLUMNS: [&str; 6] = ["Add_ms", "CMult_ms", "Mult_ms", "Rescale_ms", "LeftRot_ms", "Bootstrapping_ms"];
/// How HEAAN's bootstrapping is estimated.
pub(super) const ESTIMATED: &str = "HEAAN's bootstrapping is not run here: its time is that of 43.2 Mult and 27.7 LeftRot, \
                                    as many as both printed rows amount to";

/// The one-thread bootstrapping with the set of `[AS19]`.
pub(super) fn single(timed: &[Bootstrapped]) -> Option<&Bootstrapped> {
    timed.iter().find(|one| one.setup.paper && one.setup.threads == 1)
}

/// The bootstrapping with the set of `[AS19]` by the default strategy on all threads.
pub(super) fn on_all_threads(timed: &[Bootstrapped]) -> Option<&Bootstrapped> {
    let collapsed =
        timed.iter().filter(|one| one.setup.paper && one.setup.parallelism == Parallelism::Collapsed);
    collapsed.max_by_key(|one| one.setup.threads)
}

/// Table 1 of `[AS19]`: CKKS operations at L = 32 on one thread, and a bootstrapping.
pub(super) fn table1(options: &Options, measured: &Measured, timed: &[Bootstrapped]) -> Table {
    let row = |(scheme, printed): (&'static str, [f64; 6])| {
        let heaan = scheme == HEAAN;
        let (times, whole) = match heaan {
            true => (&measured.heaan, by_mix(&measured.heaan)),
            false => (&measured.ours, single(timed).map(|one| one.milliseconds)),
        };
        let ours = times.iter().copied().map(Some).chain([whole]);
        let row = COLUMNS.iter().zip(printed).zip(ours).fold(
            Row::default().key("scheme", scheme),
            |row, ((name, paper), ours)| {
                row.judged(name, Some((paper, 2)), ours.map(|ours| (ours, 2)), Rule::Smaller(1.0))
            },
        );
        let reason = match heaan {
            true if row.holds() => Some(ESTIMATED.to_owned()),
            true => Some(format!("{ESTIMATED}; its words of sixty bits make a shift more than a move")),
            false if row.holds() => None,
            false => Some("the paper's processor is another one".to_owned()),
        };
        row.because(reason)
    };
    let n = options.table_log2_degree;
    let title = format!(
        "the paper's moduli at L = {DEPTH}, N = 2^{n}, one thread; bootstrapping of the paper's set; HEAAN with Sunzi's big integers"
    );
    Table::new("Table 1", title, TABLE1.map(row).into())
}

/// Table 2 of `[AS19]`: times of bootstrapping by strategy and threads, and for each slot.
pub(super) fn table2(options: &Options, measured: &Measured, timed: &[Bootstrapped]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    let mut shown: Vec<Setup> = Vec::new();
    for printed in TABLE2 {
        let (row, setup) = printed_row(options, measured, timed, printed);
        rows.push(row);
        shown.extend(setup);
    }
    rows.extend(heaan_on_all(options, measured));
    rows.extend(timed.iter().filter(|one| !shown.contains(&one.setup)).map(|one| own_row(timed, one)));
    let title = "a bootstrapping by the way work is shared among threads, and its time for each slot; beside FullRNS-HEAAN \
                 stands Sunzi with the paper's set, as19";
    Table::new("Table 2", title, rows)
}

/// A row of the paper, and the setup of Sunzi that stands beside it.
fn printed_row(
    options: &Options,
    measured: &Measured,
    timed: &[Bootstrapped],
    (scheme, parallel, threads, printed): (&'static str, &'static str, u64, [f64; 2]),
) -> (Row, Option<Setup>) {
    let same = |one: &&Bootstrapped| {
        one.setup.paper && one.setup.threads as u64 == threads && strategy(&one.setup) == parallel
    };
    let one = timed.iter().find(same).filter(|_| scheme != HEAAN);
    let estimate = by_mix(&measured.heaan).filter(|_| scheme == HEAAN && threads == 1);
    let milliseconds = one.map(|one| one.milliseconds).or(estimate);
    let slots = (1_u64 << options.table_log2_degree) as f64 / 2.0;
    let row = keys(scheme, parallel, threads as usize);
    let row = quantities(row, Some(printed), milliseconds, slots, one);
    let row = row.judged("over one thread", None::<u64>, one.and_then(|one| gain(timed, one)), Rule::Equal);
    let reason = match (one, estimate) {
        (Some(_), _) if row.holds() => None,
        (Some(one), _) => Some(format!("another processor; N = 2^{} here", one.slots.ilog2() + 1)),
        (None, Some(_)) => Some(ESTIMATED.to_owned()),
        (None, None) => Some(format!(
            "{threads} threads, where {} were used here: see the rows with as many, and the table of simulated threads",
            options.threads
        )),
    };
    (row.because(reason), one.map(|one| one.setup))
}

/// HEAAN with Sunzi's big integers on all threads, which share its coefficients and its primes.
fn heaan_on_all(options: &Options, measured: &Measured) -> Option<Row> {
    let (single, shared) = (by_mix(&measured.heaan)?, by_mix(&measured.heaan_on_all)?);
    let slots = (1_u64 << options.table_log2_degree) as f64 / 2.0;
    let row = keys(HEAAN, "Coef&Mod-wise", options.threads);
    let row = quantities(row, None, Some(shared), slots, None);
    let row = row.judged("over one thread", None::<u64>, Some((single / shared, 2)), Rule::Equal);
    Some(row.because(Some(format!("{ESTIMATED}; the paper has 1 and 32 threads, not {}", options.threads))))
}

/// The speed-up of a bootstrapping over the one of its set on one thread.
pub(super) fn gain(timed: &[Bootstrapped], one: &Bootstrapped) -> Option<(f64, usize)> {
    let single =
        timed.iter().find(|other| other.setup.paper == one.setup.paper && other.setup.threads == 1)?;
    Some((single.milliseconds / one.milliseconds, 2))
}

/// A row of Sunzi's alone.
fn own_row(timed: &[Bootstrapped], one: &Bootstrapped) -> Row {
    let row = keys(one.set, strategy(&one.setup), one.setup.threads);
    let row = quantities(row, None, Some(one.milliseconds), one.slots as f64, Some(one));
    let row = row.judged("over one thread", None::<u64>, gain(timed, one), Rule::Equal);
    row.because(Some(match one.setup.paper {
        true => format!("the paper has 1 and 32 threads, not {}", one.setup.threads),
        false => "a set of 128 bits of security, which the paper does not have".to_owned(),
    }))
}

fn quantities(
    row: Row,
    printed: Option<[f64; 2]>,
    milliseconds: Option<f64>,
    slots: f64,
    one: Option<&Bootstrapped>,
) -> Row {
    let [whole, each] = [0, 1].map(|at| printed.and_then(|printed| printed.get(at).copied()));
    let better = Rule::Larger(1.0);
    row.judged(
        "bootstrapping_ms",
        whole.map(|ms| (ms, 0)),
        milliseconds.map(|ms| (ms, 0)),
        Rule::Smaller(1.0),
    )
    .judged(
        "each slot_ms",
        each.map(|ms| (ms, 3)),
        milliseconds.map(|ms| (ms / slots, 3)),
        Rule::Smaller(1.0),
    )
    .judged("levels_left", whole.map(|_| LEVELS_LEFT), one.map(|one| one.levels_left), better)
    .judged("mean_bits", whole.map(|_| (PRECISION_BITS, 0)), one.map(|one| (one.mean_bits, 1)), better)
    .judged("worst_bits", None::<u64>, one.map(|one| (one.worst_bits, 1)), better)
}

fn strategy(setup: &Setup) -> &'static str {
    let strategy = STRATEGIES.iter().find(|(other, _)| *other == setup.parallelism);
    strategy.filter(|_| setup.threads > 1).map_or("None", |(_, name)| *name)
}

fn keys(scheme: &'static str, parallel: &'static str, threads: usize) -> Row {
    Row::default().key("scheme or set", scheme).key("parallel", parallel).key("threads", threads)
}

/// Precision of the bootstrapping with the set of `[AS19]` by the size of the message: the paper has one precision, of a message whose size it
/// does not say.
pub(super) fn precision(options: &Options, sizes: &[OfSize]) -> Table {
    let row = |one: &OfSize| {
        let size = f64::from(one.log2_size);
        let row = Row::default()
            .key("slots up to", (size.exp2(), 4))
            .judged("mean_bits", Some((PRECISION_BITS, 0)), Some((one.bits.mean, 1)), Rule::Larger(1.0))
            .ours("worst_bits", (one.bits.worst, 1))
            .ours("mean_bits of the size", (one.bits.mean + size, 1));
        let reason = format!("N = 2^{} here, 2^{LOG2_DEGREE} in the paper", options.table_log2_degree);
        if row.holds() { row } else { row.because(Some(reason)) }
    };
    let title = format!(
        "bits of the paper's set after a bootstrapping on {}, by the size of the message",
        counted(options.threads, "thread", "threads")
    );
    Table::new("Precision", title, sizes.iter().map(row).collect())
}
