//! The job under encryption: a program over its columns and groups, planned and run by `sunzi::program`.

use std::collections::BTreeMap;
use std::time::Instant;

use num_traits::ToPrimitive;
use serde::Serialize;
use sunzi::program::analysis::SchemeChoice as Scheme;
use sunzi::program::packed::{self, Keys, Packing, Phase};
use sunzi::program::run::{Cells, Table};
use sunzi::program::schema::Kind;
use sunzi::program::{
    Column, Contexts, Decimal, Formula, Graph, NodeId, Number, Options, Output, OutputValue, Plan, Program,
    ProgramError, Schema,
};

use crate::args::SchemeChoice;
use crate::error::CliError;
use crate::job::Job;
use crate::progress::Progress;
use crate::sums::{Sums, TableSums, pairs};

/// Outcome of the encrypted job: its sums, bits left, times and sizes.
pub(crate) struct Outcome {
    /// Decrypted sums of the job.
    pub(crate) sums: TableSums<i128>,
    /// Bits left in the worst result before decryption would be refused.
    pub(crate) bits_left: f64,
    /// Seconds of each step of the job.
    pub(crate) times: Times,
}

/// Seconds of each step of the encrypted job, over all plaintext moduli.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Times {
    /// Seconds for reading the table and encoding it.
    pub(crate) read: f64,
    /// Seconds for choosing parameters and building their tables.
    pub(crate) parameters: f64,
    /// Seconds for making all keys of the job.
    pub(crate) keys: f64,
    /// Seconds for packing and encrypting the table.
    pub(crate) encrypt: f64,
    /// Seconds of the server's work on the job.
    pub(crate) server: f64,
    /// Seconds for decrypting the sums and joining their residues.
    pub(crate) decrypt: f64,
    /// Seconds for computing the sums without encryption too, and for the comparison.
    pub(crate) compare: f64,
}

/// The job as a program, and its table.
pub(crate) struct Asked {
    /// Plan of the job: scheme, parameters and layout.
    pub(crate) plan: Plan,
    /// Nodes of the program whose totals stand for each sum.
    nodes: Sums<NodeId>,
    table: Table,
}

impl Asked {
    /// Plans the job in a scheme, or in the scheme with less work.
    pub(crate) fn new(job: &Job, scheme: SchemeChoice) -> Result<Self, CliError> {
        Self::try_new(job, scheme).map_err(|error| match error {
            ProgramError::Refused(refusal) => CliError::input(refusal.reason),
            error => CliError::failure(error),
        })
    }

    fn try_new(job: &Job, scheme: SchemeChoice) -> Result<Self, ProgramError> {
        let (schema, cells) = table(job);
        let table = Table::new(&schema, cells)?;
        let (graph, nodes) = sums(job)?;
        let output =
            |&id: &NodeId| Output { name: String::new(), value: OutputValue::Number(Formula::Total(id)) };
        let outputs = nodes.iter().map(output).collect();
        let program = Program::new(schema, graph, outputs)?;
        let packing = Packing {
            longest_group: Some(job.groups.longest() as u64),
            largest: Some(job.bound()),
            by_label: true,
            ..Packing::default()
        };
        let scheme = match scheme {
            SchemeChoice::Auto => None,
            SchemeChoice::Bfv => Some(Scheme::Bfv),
            SchemeChoice::Bgv => Some(Scheme::Bgv),
        };
        let plan = Plan::new(&program, &Options { scheme, packing: Some(packing), ..Options::default() })?;
        Ok(Self { plan, nodes, table })
    }

    /// Runs the plan of the job: keys, then for each plaintext modulus encrypt, compute, decrypt, then join.
    pub(crate) fn run(&self, progress: &Progress) -> Result<Outcome, CliError> {
        let (plan, mut times) = (&self.plan, Times::default());
        let contexts = timed(&mut times.parameters, || Contexts::new(&plan.parameters));
        let contexts = contexts.map_err(CliError::failure)?;
        progress.begin(plan.packed().map_or(0, |packed| packed.steps(&plan.parameters)));
        progress.say("making keys");
        let keys = timed(&mut times.keys, || Keys::generate(plan, &contexts)).map_err(CliError::failure)?;
        let (mut since, mut phase) = (Instant::now(), Phase::Encrypting);
        let mut begin = |next| {
            *times.of(phase) += since.elapsed().as_secs_f64();
            progress.say(words(next));
            (since, phase) = (Instant::now(), next);
        };
        let totals = packed::run(plan, &contexts, &keys, &self.table, &mut begin, &|| progress.step());
        begin(Phase::Decrypting);
        let totals = totals.map_err(CliError::failure)?;
        let sums = timed(&mut times.decrypt, || {
            Ok::<_, CliError>(TableSums {
                groups: totals.by_label.iter().map(|of| self.integers(of)).collect::<Result<_, _>>()?,
                total: self.integers(&totals.all)?,
            })
        })?;
        Ok(Outcome { sums, bits_left: totals.bits_left, times })
    }

    /// Returns each sum as the integer that the totals of its node stand for.
    fn integers(&self, totals: &BTreeMap<NodeId, Number>) -> Result<Sums<i128>, CliError> {
        self.nodes.map(|id| match totals.get(id) {
            Some(Number::Exact(total)) => total
                .to_integer()
                .to_i128()
                .ok_or_else(|| CliError::failure("a decrypted sum is wider than 128 bits")),
            _ => Err(CliError::failure("a sum is missing")),
        })
    }
}

impl Times {
    fn of(&mut self, phase: Phase) -> &mut f64 {
        match phase {
            Phase::Encrypting => &mut self.encrypt,
            Phase::Products | Phase::Sums => &mut self.server,
            Phase::Decrypting => &mut self.decrypt,
        }
    }
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Encrypting => "encrypting",
        Phase::Products => "server: sums of products",
        Phase::Sums => "server: sums over slots",
        Phase::Decrypting => "decrypting",
    }
}

/// Returns the columns in units of their last decimal, and which group each row is in. Columns and groups are
/// named by their places: names in a file may occur twice.
fn table(job: &Job) -> (Schema, Vec<Cells>) {
    let mut cells: Vec<Cells> = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    for (at, column) in job.columns.iter().enumerate() {
        // Sums of squares are below 2^119.
        let units: Vec<i64> = column.values.iter().filter_map(|&v| i64::try_from(v).ok()).collect();
        let (low, high) = (units.iter().min().copied(), units.iter().max().copied());
        columns.push(Column::integer(&at.to_string(), low.unwrap_or(0), high.unwrap_or(0)));
        cells.push(Cells::Units(units));
    }
    let mut groups = vec![0; job.rows];
    for (group, rows) in (0..).zip(&job.groups.rows) {
        for &row in rows {
            if let Some(own) = groups.get_mut(row) {
                *own = group;
            }
        }
    }
    let labels: Vec<String> = (0..job.groups.rows.len()).map(|group| group.to_string()).collect();
    columns.push(Column::new("group", Kind::Category { labels }));
    cells.push(Cells::Labels(groups));
    (Schema { rows: job.rows as u64, columns }, cells)
}

/// Returns the nodes of a program whose totals are the sums: the count is that of all groups.
fn sums(job: &Job) -> Result<(Graph, Sums<NodeId>), ProgramError> {
    let (mut graph, columns) = (Graph::default(), job.columns.len());
    let sums = (0..columns).map(|column| graph.column(column)).collect::<Result<Vec<_>, _>>()?;
    let labels = (0..job.groups.rows.len()).map(|label| Ok((graph.indicator(columns, label)?, Decimal::ONE)));
    let labels = labels.collect::<Result<Vec<_>, ProgramError>>()?;
    let count = graph.linear(&labels, Decimal::ZERO)?;
    let mut products = Vec::new();
    for (x, y) in pairs(columns) {
        if let (Some(&x), Some(&y)) = (sums.get(x), sums.get(y)) {
            products.push(graph.multiply(x, y)?);
        }
    }
    Ok((graph, Sums { count, sums, products }))
}

/// Adds the seconds that `work` takes to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
