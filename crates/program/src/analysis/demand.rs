//! Demand of a program on exact schemes: operations between products, ranges, depth.

use num_bigint::BigUint;
use sunzi_bgv::{Budget, Operations};
use sunzi_circuits::clear::Counts;
use sunzi_circuits::{Arithmetic as _, Clear as Counter, ClearKeys};

use super::room::has_tables;
use super::{Facts, Layout, Refusal, dry};
use crate::run::exact::{Exact, Value};
use crate::run::{Clear, encrypted_inputs, run};
use crate::{NodeId, Program, ProgramError};

/// Counts the operations of a program in one slot of one chunk, without rotations of totals, whose columns are sums of what the parties encrypt.
fn dry_run(
    program: &Program,
    known: &[Facts],
    parties: u32,
    coefficient: i64,
) -> Result<Counts, Box<Refusal>> {
    // The plaintext modulus exceeds any constant that a scheme multiplies by.
    let counter = Counter::new(1, (1 << 60) - 1);
    let keys = ClearKeys::all();
    let layout = Layout { rows: 1, span: 1, chunks: 1 };
    let encrypted = encrypted_inputs(program);
    let backend = Exact::new(program, &layout, &counter, &keys, |values: &[u64]| Ok(counter.encode(values)))
        .counting(coefficient);
    let add = |a: &_, b: &_| counter.add(a, b).map_err(ProgramError::scheme);
    let input = |id: NodeId, _| {
        Ok(if encrypted.contains(&id) {
            Value::encrypted(dry::rows_of_all(parties, || Ok(counter.encrypt(&[0])), add)?)
        } else {
            Value::Clear(Clear::padded(known, id))
        })
    };
    let failed =
        |error: ProgramError| Box::new(Refusal { reason: error.to_string(), expression: String::new() });
    run(program, &layout, &backend, input, |_, _, _| Ok(())).map_err(failed)?;
    Ok(counter.counts())
}

/// Demand of a program on exact schemes.
pub(super) struct Demand {
    pub(super) counts: Counts,
    pub(super) depth: usize,
    /// Largest |v·10^decimals| of all output values v.
    pub(super) bound: BigUint,
    /// Multiplicative depths of encrypted totals.
    pub(super) totals: Vec<usize>,
    /// Whether an encrypted table is looked up.
    pub(super) tables: bool,
}

impl Demand {
    /// Finds the demand of a program, but for the factors in the polynomials of tables, which are numbers up to half of a plaintext modulus that is
    /// not chosen yet.
    pub(super) fn new(program: &Program, known: &[Facts], parties: u32) -> Result<Self, Box<Refusal>> {
        Self::with_coefficients(program, known, parties, 1)
    }

    /// Finds the demand of a program for a largest plaintext modulus.
    pub(super) fn modulo(
        program: &Program,
        known: &[Facts],
        parties: u32,
        t: u64,
    ) -> Result<Self, Box<Refusal>> {
        Self::with_coefficients(program, known, parties, i64::try_from(t / 2).unwrap_or(i64::MAX))
    }

    fn with_coefficients(
        program: &Program,
        known: &[Facts],
        parties: u32,
        coefficient: i64,
    ) -> Result<Self, Box<Refusal>> {
        let facts = |id: &NodeId| known.get(id.index());
        let magnitude = |id: &NodeId| facts(id).and_then(|f| f.exact).map_or(0, |exact| exact.magnitude());
        let rows = BigUint::from(program.schema().rows);
        let (totals, columns) = (program.totals(), program.columns());
        let sums = totals.iter().map(|id| BigUint::from(magnitude(id)) * &rows);
        // Columns that are encrypted but not used have room too.
        let cells = program.schema().columns.iter().filter(|column| column.encrypted);
        let cells = cells.map(|column| BigUint::from(column.largest_unit()));
        let outputs = columns.iter().map(|id| magnitude(id).into());
        let bound = sums.chain(outputs).chain(cells).max().unwrap_or_default();
        let encrypted = |id: &NodeId| facts(id).filter(|f| f.encrypted).map(|f| f.depth);
        let depth = totals.iter().chain(&columns).filter_map(encrypted).max().unwrap_or(0);
        let totals = totals.iter().filter_map(encrypted).collect();
        let counts = dry_run(program, known, parties, coefficient)?;
        Ok(Self { counts, depth, bound: bound + 1_u32, totals, tables: has_tables(program) })
    }

    /// Returns one slot's operations with those of sums over all slots of all chunks.
    fn summed(operations: Operations, layout: &Layout) -> Operations {
        let times = (layout.span as u64).saturating_mul(layout.chunks as u64);
        let additions = operations.additions.saturating_add(1).saturating_mul(times) - 1;
        let rotations = operations.rotations.saturating_add(1).saturating_mul(layout.span as u64) - 1;
        Operations { additions, rotations: rotations.saturating_mul(layout.chunks as u64), ..operations }
    }

    /// Returns the builder's request for BFV parameters of the demand.
    pub(super) fn bfv(&self, layout: &Layout) -> sunzi_bfv::ParametersBuilder {
        let Budget { fresh, per_level, .. } = self.counts.budget;
        let terms = fresh.additions.max(per_level.additions).saturating_add(1);
        let terms = terms.saturating_mul(layout.chunks as u64);
        let builder = sunzi_bfv::Parameters::builder().depth(self.depth).plain_range(self.bound.clone());
        if self.tables {
            // The builder would count sums at every level of a polynomial: a run says what they take.
            return builder;
        }
        builder
            .additions(terms.checked_next_power_of_two().map_or(63, u64::ilog2))
            .rotations(if self.totals.is_empty() { 0 } else { layout.span.ilog2() })
            .plain_products(fresh.plain_products.max(per_level.plain_products))
    }

    /// Returns the operations of the demand as a budget of BGV.
    pub(super) fn budget(&self, layout: &Layout) -> Budget {
        let mut budget = self.counts.budget;
        if self.totals.contains(&0) {
            budget.fresh = Self::summed(budget.fresh, layout);
        }
        let above = |depth: &usize| *depth > 0 && *depth < self.depth;
        if self.totals.iter().any(above) {
            budget.per_level = Self::summed(budget.per_level, layout);
        } else if self.depth > 0 && self.totals.contains(&self.depth) {
            budget.last = Self::summed(budget.per_level, layout);
        }
        budget
    }
}
