//! Tables 1 and 2 of `[AS19]`: the paper's rows, then Sunzi's.

use sunzi_ring::Parallelism;

use super::Options;
use super::bootstrapping::Bootstrapped;
use super::printed::{DEPTH, HEAAN, LEVELS_LEFT, PRECISION_BITS, TABLE1, TABLE2};
use super::subject::{OPERATIONS, STRATEGIES, subject, time};
use crate::repro::{Progress, Result, Row, Rule, Table, Timed, alternate_timed, on_threads};

/// Column names of Table 1 of `[AS19]`, whose values are in milliseconds.
const COLUMNS: [&str; 6] = ["Add_ms", "CMult_ms", "Mult_ms", "Rescale_ms", "LeftRot_ms", "Bootstrapping_ms"];

/// Table 1 of `[AS19]`: CKKS operations at L = 32 on one thread, and a bootstrapping.
pub(super) fn table1(
    options: &Options,
    bootstrapped: &[Bootstrapped],
    progress: &mut Progress<'_>,
) -> Result<Table> {
    progress.begin("Table 1: operations");
    let mut ours: Vec<Option<f64>> = on_threads(1, || operations(options))?.into_iter().map(Some).collect();
    let single = bootstrapped.iter().find(|one| one.setup.paper && one.setup.threads == 1);
    ours.push(single.map(|one| one.milliseconds));
    let row = |(scheme, milliseconds): (&'static str, [f64; 6])| {
        let values = COLUMNS.iter().zip(milliseconds).zip(&ours);
        values.fold(Row::default().key("scheme", scheme), |row, ((name, paper), ours)| {
            // The first row is another scheme.
            let ours = ours.filter(|_| scheme != HEAAN).map(|ours| (ours, 2));
            row.judged(name, Some((paper, 2)), ours, Rule::Smaller(1.0))
        })
    };
    let n = options.table_log2_degree;
    let title =
        format!("the paper's moduli at L = {DEPTH}, N = 2^{n}, one thread; bootstrapping of the paper's set");
    Ok(Table::new("Table 1", title, TABLE1.map(row).into()))
}

fn operations(options: &Options) -> Result<Vec<f64>> {
    let subject = subject(options.table_log2_degree)?;
    let operands = subject.operands(DEPTH)?;
    let mut contenders: Vec<Timed<'_>> = Vec::new();
    for operation in OPERATIONS {
        let (subject, operands) = (&subject, &operands);
        contenders.push(Box::new(move || time(subject, operation, Parallelism::Collapsed, operands)));
    }
    Ok(alternate_timed(options.budget, &mut contenders)?.iter().map(|times| times.median_ms()).collect())
}

/// Table 2 of `[AS19]`: times of bootstrapping by strategy and threads, and for each slot.
pub(super) fn table2(bootstrapped: &[Bootstrapped]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for (scheme, parallel, threads, [milliseconds, amortised]) in TABLE2 {
        let full_rns = scheme != HEAAN;
        let row = keys(scheme, parallel, threads as usize)
            .printed("bootstrapping_ms", (milliseconds, 0), None::<u64>)
            .printed("each slot_ms", (amortised, 3), None::<u64>)
            .judged("levels_left", full_rns.then_some(LEVELS_LEFT), None::<u64>, Rule::Equal)
            .judged("mean_bits", full_rns.then_some((PRECISION_BITS, 1)), None::<u64>, Rule::Equal);
        rows.push(row.judged("worst_bits", None::<u64>, None::<u64>, Rule::Equal));
    }
    for one in bootstrapped {
        let strategy = STRATEGIES.iter().find(|(other, _)| *other == one.setup.parallelism);
        let parallel = strategy.filter(|_| one.setup.threads > 1).map_or("None", |(_, name)| *name);
        let row = keys(one.set, parallel, one.setup.threads)
            .ours("bootstrapping_ms", (one.milliseconds, 0))
            .ours("each slot_ms", (one.milliseconds / one.slots as f64, 3))
            .ours("levels_left", one.levels_left)
            .ours("mean_bits", (one.mean_bits, 1));
        rows.push(row.ours("worst_bits", (one.worst_bits, 1)));
    }
    Table::new(
        "Table 2",
        "a bootstrapping by the way work is shared among threads, and its time for each slot",
        rows,
    )
}

fn keys(scheme: &'static str, parallel: &'static str, threads: usize) -> Row {
    Row::default().key("scheme or set", scheme).key("parallel", parallel).key("threads", threads)
}
