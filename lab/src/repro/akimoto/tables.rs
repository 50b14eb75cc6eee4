//! Tables 1 and 2: the paper's rows, then ours.

use sunzi_ring::Parallelism;

use super::Options;
use super::bootstrapping::Bootstrapped;
use super::printed::{self, DEPTH, LEVELS_LEFT, PRECISION_BITS};
use super::subject::{OPERATIONS, subject, time};
use crate::LabError;
use crate::alternate::{Timed, alternate_timed};
use crate::repro::report::{Quantity, Row, Table, Value};
use crate::repro::run::Progress;
use crate::threads::on_threads;

/// Names of the columns of Table 1, in milliseconds.
const COLUMNS: [&str; 6] = ["Add_ms", "CMult_ms", "Mult_ms", "Rescale_ms", "LeftRot_ms", "Bootstrapping_ms"];

/// The operations at L = 32 on one thread, and a bootstrapping.
pub(super) fn table1(
    options: &Options,
    bootstrapped: &[Bootstrapped],
    progress: &mut Progress<'_>,
) -> Result<Table, LabError> {
    progress.begin("Table 1: operations");
    let mut ours: Vec<Option<f64>> = on_threads(1, || operations(options))?.into_iter().map(Some).collect();
    let single = |paper: bool| {
        let found = bootstrapped.iter().find(|one| one.setup.paper == paper && one.setup.threads == 1);
        found.map(|one| one.milliseconds)
    };
    ours.push(single(true));
    let mut rows = Vec::new();
    for printed in printed::TABLE1 {
        let compared = printed.scheme != "HEAAN";
        let quantities = COLUMNS.iter().zip(printed.milliseconds).zip(&ours);
        rows.push(Row {
            measured: true,
            keys: vec![("scheme", Value::Text(printed.scheme))],
            quantities: quantities
                .map(|((name, paper), ours)| {
                    let ours = ours.filter(|_| compared).map(|ours| Value::Decimal(ours, 2));
                    Quantity::printed(name, Value::Decimal(paper, 2), ours)
                })
                .collect(),
            reason: None,
        });
    }
    let (name, n) = ("Table 1", options.table_log2_degree);
    let title =
        format!("the paper's moduli at L = {DEPTH}, N = 2^{n}, one thread; bootstrapping of the paper's set");
    Ok(Table { name, title, rows })
}

fn operations(options: &Options) -> Result<Vec<f64>, LabError> {
    let subject = subject(options.table_log2_degree)?;
    let operands = subject.operands(DEPTH)?;
    let mut contenders: Vec<Timed<'_>> = Vec::new();
    for operation in OPERATIONS {
        let (subject, operands) = (&subject, &operands);
        contenders.push(Box::new(move || time(subject, operation, Parallelism::Collapsed, operands)));
    }
    Ok(alternate_timed(options.budget, &mut contenders)?.iter().map(|times| times.median_ms()).collect())
}

/// Bootstrapping by strategy and threads, and for each slot.
pub(super) fn table2(bootstrapped: &[Bootstrapped]) -> Table {
    let mut rows: Vec<Row> = printed::TABLE2.iter().map(printed_row).collect();
    for row in rows.iter_mut().filter(|row| row.quantities.is_empty()) {
        row.reason = Some("not measured here".to_owned());
    }
    rows.extend(bootstrapped.iter().map(our_row));
    let title =
        "a bootstrapping by the way work is shared among threads, and its time for each slot".to_owned();
    Table { name: "Table 2", title, rows }
}

fn printed_row(printed: &printed::Strategy) -> Row {
    let of =
        |name, value, decimals| Quantity { name, paper: Some(Value::Decimal(value, decimals)), ours: None };
    let full_rns = printed.ours.is_some();
    let text = |name, value| Quantity { name, paper: full_rns.then_some(value), ours: None };
    Row {
        measured: true,
        keys: keys(printed.scheme, printed.parallel, printed.threads),
        quantities: vec![
            of("bootstrapping_ms", printed.milliseconds, 0),
            of("each slot_ms", printed.amortised, 3),
            text("levels_left", Value::Integer(LEVELS_LEFT)),
            text("mean_bits", Value::Decimal(PRECISION_BITS, 1)),
            Quantity { name: "worst_bits", paper: None, ours: None },
        ],
        reason: None,
    }
}

fn our_row(one: &Bootstrapped) -> Row {
    let of =
        |name, value, decimals| Quantity { name, paper: None, ours: Some(Value::Decimal(value, decimals)) };
    let parallel = match (one.setup.threads, one.setup.parallelism) {
        (1, _) => "None",
        (_, Parallelism::CoefficientWise) => "Coefficient-wise",
        (_, Parallelism::ModulusWise) => "Modulus-wise",
        (_, Parallelism::Collapsed) => "Coef&Mod-wise",
    };
    let levels = Some(Value::Integer(one.levels_left as u64));
    Row {
        measured: true,
        keys: keys(one.set, parallel, one.setup.threads as u64),
        quantities: vec![
            of("bootstrapping_ms", one.milliseconds, 0),
            of("each slot_ms", one.milliseconds / one.slots as f64, 3),
            Quantity { name: "levels_left", paper: None, ours: levels },
            of("mean_bits", one.mean_bits, 1),
            of("worst_bits", one.worst_bits, 1),
        ],
        reason: None,
    }
}

fn keys(scheme: &'static str, parallel: &'static str, threads: u64) -> Vec<(&'static str, Value)> {
    vec![
        ("scheme or set", Value::Text(scheme)),
        ("parallel", Value::Text(parallel)),
        ("threads", Value::Integer(threads)),
    ]
}
