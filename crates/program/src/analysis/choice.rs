//! Scheme and parameters.

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use sunzi_bfv::CrtParameters;
use sunzi_bgv::{Budget, Operations};
use sunzi_circuits::clear::Counts;
use sunzi_circuits::inner_product::required_rotations;
use sunzi_circuits::{Clear as Counter, ClearKeys, Rotation};
use sunzi_ring::{GadgetOptions, RnsDigits};
use sunzi_rlwe::switch_cost::SwitchCost;

use super::approximate::lower;
use super::{Facts, Layout, Options, Plan, Refusal, facts};
use crate::run::exact::{Exact, Value};
use crate::run::{Clear, encrypted_inputs, run};
use crate::{NodeId, Program};

/// Ring degrees considered for exact schemes, as log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 12..=16;
/// A multiplication of n words, over a transform.
const MULTIPLICATION: f64 = 1.0 / 15.0;

/// A scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemeChoice {
    /// Exact; any order of operations.
    Bfv,
    /// Exact; the operations that were counted.
    Bgv,
    /// Approximate: functions and comparisons too.
    Ckks,
}

/// Parameters of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameters {
    /// BFV, for every plaintext modulus.
    Bfv(CrtParameters),
    /// BGV, made for the largest of these plaintext moduli.
    Bgv {
        /// The parameters.
        parameters: sunzi_bgv::Parameters,
        /// The plaintext moduli.
        plain_moduli: Vec<u64>,
    },
    /// CKKS.
    Ckks(sunzi_ckks::Parameters),
}

impl Parameters {
    /// The scheme's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bfv(_) => "BFV",
            Self::Bgv { .. } => "BGV",
            Self::Ckks(_) => "CKKS",
        }
    }

    /// The ring degree n.
    #[must_use]
    pub fn degree(&self) -> usize {
        match self {
            Self::Bfv(parameters) => parameters.degree(),
            Self::Bgv { parameters, .. } => parameters.degree(),
            Self::Ckks(parameters) => parameters.degree(),
        }
    }

    /// The plaintext moduli; none for CKKS.
    #[must_use]
    pub fn plain_moduli(&self) -> &[u64] {
        match self {
            Self::Bfv(parameters) => parameters.plain_moduli(),
            Self::Bgv { plain_moduli, .. } => plain_moduli,
            Self::Ckks(_) => &[],
        }
    }

    fn moduli(&self) -> &[u64] {
        match self {
            Self::Bfv(parameters) => parameters.moduli(),
            Self::Bgv { parameters, .. } => parameters.moduli(),
            Self::Ckks(parameters) => parameters.moduli(),
        }
    }

    fn key_switching(&self) -> &GadgetOptions {
        match self {
            Self::Bfv(parameters) => &parameters.algorithms().key_switching,
            Self::Bgv { parameters, .. } => parameters.key_switching(),
            Self::Ckks(parameters) => parameters.key_switching(),
        }
    }

    /// Butterflies of the server's work: to compare exact schemes and rings.
    fn cost(&self, counts: &Counts, layout: &Layout) -> f64 {
        let (moduli, options, n) = (self.moduli(), self.key_switching(), self.degree());
        let k = moduli.len() as f64;
        let switch = SwitchCost::new(options, moduli, moduli.len(), n).unwrap_or_default().in_transforms(n);
        let square = k * k * MULTIPLICATION;
        let product = match self {
            Self::Bfv(_) => 16.0 * k + 9.0 * square,
            _ => 2.0 * k,
        };
        let (products, relinearizations) = (counts.products as f64, counts.relinearizations as f64);
        let chunk = products * product + relinearizations * switch + counts.plain_products as f64 * k;
        let sums = counts.rotations as f64 * switch;
        let transforms = layout.chunks as f64 * chunk + sums;
        let moduli = self.plain_moduli().len().max(1) as f64;
        transforms * moduli * n as f64 / 2.0 * (n as f64).log2()
    }
}

/// The cheapest plan that can compute the program.
pub(super) fn choose(program: &Program, options: &Options) -> Result<Plan, Box<Refusal>> {
    let known = facts(program);
    let used = program.used();
    let inexact = used.iter().find(|id| known.get(id.index()).is_none_or(|facts| facts.exact.is_none()));
    let describe = |id: NodeId| program.graph().describe(id, program.schema());
    match (options.scheme, inexact) {
        (Some(SchemeChoice::Ckks), _) => {
            approximate(program, &known, options, "CKKS was asked for".to_owned())
        }
        (None, Some(&id)) => {
            let reason = format!(
                "{} is a real number, a function, a comparison or too wide for integers",
                describe(id)
            );
            approximate(program, &known, options, reason)
        }
        (Some(_), Some(&id)) => {
            let reason = "exact schemes have no real numbers, functions, comparisons or integers beyond 2^120: take CKKS";
            Err(Box::new(Refusal { reason: reason.to_owned(), expression: describe(id) }))
        }
        (_, None) => exact(program, &known, options),
    }
}

/// What one chunk of one slot does; no total is rotated.
fn dry_run(program: &Program) -> Result<Counts, Box<Refusal>> {
    // Larger than any constant that a scheme multiplies by.
    let counter = Counter::new(1, (1 << 60) - 1);
    let keys = ClearKeys::all();
    let layout = Layout { rows: 1, span: 1, chunks: 1 };
    let encrypted = encrypted_inputs(program);
    let backend = Exact::new(program, &layout, &counter, &keys, |values: &[u64]| Ok(counter.encode(values)));
    let input = |id: NodeId, _| {
        Ok(if encrypted.contains(&id) {
            Value::Encrypted(counter.encrypt(&[0]))
        } else {
            Value::Clear(Clear::Units(vec![0]))
        })
    };
    let failed = |error: crate::ProgramError| {
        Box::new(Refusal { reason: error.to_string(), expression: String::new() })
    };
    run(program, &layout, &backend, input, |_, _, _| Ok(())).map_err(failed)?;
    Ok(counter.counts())
}

/// What exact schemes must be told.
struct Demand {
    counts: Counts,
    depth: u32,
    /// The largest |v·10^decimals| that comes out.
    bound: BigUint,
    /// Depths of encrypted totals.
    totals: Vec<u32>,
}

impl Demand {
    fn new(program: &Program, known: &[Facts]) -> Result<Self, Box<Refusal>> {
        let facts = |id: &NodeId| known.get(id.index());
        let magnitude = |id: &NodeId| facts(id).and_then(|f| f.exact).map_or(0, |exact| exact.magnitude());
        let rows = BigUint::from(program.schema().rows);
        let (totals, columns) = (program.totals(), program.columns());
        let sums = totals.iter().map(|id| BigUint::from(magnitude(id)) * &rows);
        let bound = sums.chain(columns.iter().map(|id| magnitude(id).into())).max().unwrap_or_default();
        let encrypted = |id: &NodeId| facts(id).filter(|f| f.encrypted).map(|f| f.depth);
        let depth = totals.iter().chain(&columns).filter_map(encrypted).max().unwrap_or(0);
        let totals = totals.iter().filter_map(encrypted).collect();
        Ok(Self { counts: dry_run(program)?, depth, bound: bound + 1_u32, totals })
    }

    /// One slot's operations, summed over all slots of all chunks.
    fn summed(operations: Operations, layout: &Layout) -> Operations {
        let times = (layout.span as u64).saturating_mul(layout.chunks as u64);
        let additions = operations.additions.saturating_add(1).saturating_mul(times) - 1;
        let rotations = operations.rotations.saturating_add(1).saturating_mul(layout.span as u64) - 1;
        Operations { additions, rotations: rotations.saturating_mul(layout.chunks as u64), ..operations }
    }

    fn budget(&self, layout: &Layout) -> Budget {
        let mut budget = self.counts.budget;
        if self.totals.contains(&0) {
            budget.fresh = Self::summed(budget.fresh, layout);
        }
        let above = |depth: &u32| *depth > 0 && *depth < self.depth;
        if self.totals.iter().any(above) {
            budget.per_level = Self::summed(budget.per_level, layout);
        } else if self.depth > 0 && self.totals.contains(&self.depth) {
            budget.last = Self::summed(budget.per_level, layout);
        }
        budget
    }
}

fn exact(program: &Program, known: &[Facts], options: &Options) -> Result<Plan, Box<Refusal>> {
    let demand = Demand::new(program, known)?;
    let degrees = options.log2_degree.map_or(LOG2_DEGREES, |log2_degree| log2_degree..=log2_degree);
    let mut best: Option<(f64, Parameters, Layout)> = None;
    let mut meet = |parameters: Parameters, layout: Layout| {
        let cost = parameters.cost(&demand.counts, &layout);
        let better = best.as_ref().is_none_or(|(least, _, _)| cost < *least);
        if better {
            best = Some((cost, parameters, layout));
        }
        better
    };
    for log2_degree in degrees {
        let layout = Layout::new(program.schema().rows as usize, 1 << log2_degree);
        let found = candidates(&demand, &layout, options, log2_degree);
        let any = !found.is_empty();
        let mut better = false;
        for parameters in found {
            better |= meet(parameters, layout);
        }
        // A larger ring that is no better is not followed by one that is.
        if any && !better {
            break;
        }
    }
    let Some((_, parameters, layout)) = best else { return Err(too_large(program, known, &demand)) };
    let reason = format!(
        "all numbers are exact; sums of up to 2^{} fit {} plaintext modulus(es), and {} has the least work",
        demand.bound.bits(),
        parameters.plain_moduli().len(),
        parameters.name()
    );
    let rotations = if demand.totals.is_empty() {
        Vec::new()
    } else {
        required_rotations(layout.span, parameters.degree() / 2)
    };
    Ok(plan(program, parameters, layout, rotations, demand.depth as usize, vec![reason]))
}

fn too_large(program: &Program, known: &[Facts], demand: &Demand) -> Box<Refusal> {
    let deepest = program.used().into_iter().max_by_key(|id| known.get(id.index()).map(|facts| facts.depth));
    let expression = deepest.map(|id| program.graph().describe(id, program.schema())).unwrap_or_default();
    let reason = format!(
        "no secure exact parameters have {} product(s) in a row and numbers up to 2^{}: use fewer decimals, narrower \
         ranges or less depth, or CKKS",
        demand.depth,
        demand.bound.bits()
    );
    Box::new(Refusal { reason, expression })
}

/// Parameters of both exact schemes, as far as they fit and are wanted.
fn candidates(demand: &Demand, layout: &Layout, options: &Options, log2_degree: u32) -> Vec<Parameters> {
    let mut found = Vec::new();
    let Budget { fresh, per_level, .. } = demand.counts.budget;
    let terms =
        fresh.additions.max(per_level.additions).saturating_add(1).saturating_mul(layout.chunks as u64);
    let summed = if demand.totals.is_empty() { 0 } else { layout.span.ilog2() };
    let explanation = sunzi_bfv::Parameters::builder()
        .depth(demand.depth)
        .plain_range(demand.bound.clone())
        .additions(terms.checked_next_power_of_two().map_or(63, u64::ilog2))
        .rotations(summed)
        .plain_products(fresh.plain_products.max(per_level.plain_products))
        .security(options.security)
        .log2_degree(log2_degree)
        .explain();
    let Ok(explanation) = explanation else { return found };
    let plain: Vec<Vec<u64>> = match &explanation.chosen {
        Some(choice) => vec![choice.parameters.plain_moduli().to_vec()],
        None => {
            explanation.candidates.iter().map(|c| c.plain_moduli.clone()).filter(|t| !t.is_empty()).collect()
        }
    };
    if options.scheme != Some(SchemeChoice::Bgv) {
        found.extend(explanation.chosen.map(|choice| Parameters::Bfv(choice.parameters)));
    }
    if options.scheme != Some(SchemeChoice::Bfv) {
        found.extend(plain.into_iter().filter_map(|plain| bgv(demand, layout, options, log2_degree, plain)));
    }
    found
}

fn bgv(
    demand: &Demand,
    layout: &Layout,
    options: &Options,
    log2_degree: u32,
    plain_moduli: Vec<u64>,
) -> Option<Parameters> {
    let parameters = sunzi_bgv::Parameters::builder()
        .depth(demand.depth)
        .plain_modulus(plain_moduli.iter().copied().max()?)
        .budget(demand.budget(layout))
        .security(options.security)
        .log2_degree(log2_degree)
        .explain()
        .ok()?
        .chosen?;
    // A plaintext modulus among the ciphertext moduli is refused when contexts are made.
    let mut moduli = parameters.moduli().iter().chain(&parameters.key_switching().special_moduli);
    let shared = moduli.any(|q| plain_moduli.iter().any(|t| t.is_multiple_of(*q)));
    (!shared).then_some(Parameters::Bgv { parameters, plain_moduli })
}

fn approximate(
    program: &Program,
    known: &[Facts],
    options: &Options,
    reason: String,
) -> Result<Plan, Box<Refusal>> {
    let lowered = lower(program, known, options.precision.clamp(4, 30))?;
    let depth = lowered.depth();
    let rows = program.schema().rows as usize;
    let sum_bits = rows.checked_next_power_of_two().map_or(63, usize::ilog2) + 1;
    let mut builder = sunzi_ckks::Parameters::builder()
        .depth(depth as u32)
        .precision(lowered.precision.min(45))
        .result_bits(sum_bits.max(11))
        .security(options.security);
    if let Some(log2_degree) = options.log2_degree {
        builder = builder.log2_degree(log2_degree);
    }
    let costliest = || {
        let used = program.used();
        let deepest = used.into_iter().max_by_key(|&id| lowered.step(id).map(|step| step.drop));
        deepest.map(|id| program.graph().describe(id, program.schema())).unwrap_or_default()
    };
    let refuse = |error: sunzi_ckks::CkksError| {
        let reason = format!("{depth} levels with {} bits: {error}", lowered.precision);
        Box::new(Refusal { reason, expression: costliest() })
    };
    let parameters = builder.build().map_err(refuse)?;
    let layout = Layout::new(rows, parameters.max_slots());
    let rotations = layout.steps().map(Rotation::Rows).collect();
    let levels = format!("{depth} levels, the most of them for {}", costliest());
    let rotations = if program.totals().is_empty() { Vec::new() } else { rotations };
    let parameters = Parameters::Ckks(parameters);
    let plan = plan(program, parameters, layout, rotations, depth, vec![reason, levels]);
    Ok(Plan { lowered: Some(lowered), ..plan })
}

fn plan(
    program: &Program,
    parameters: Parameters,
    layout: Layout,
    rotations: Vec<Rotation>,
    depth: usize,
    reasons: Vec<String>,
) -> Plan {
    let (n, moduli) = (parameters.degree() as u64, parameters.moduli());
    let digits = RnsDigits::new(parameters.key_switching(), moduli);
    let key = 16 * n * digits.map_or(0, |digits| digits.count() * digits.key_limbs()) as u64;
    let moduli_count = parameters.plain_moduli().len().max(1);
    Plan {
        program: program.clone(),
        layout,
        depth,
        key_bytes: key * (rotations.len() as u64 + 1),
        ciphertext_bytes: 16 * n * moduli.len() as u64 * moduli_count as u64,
        inputs: encrypted_inputs(program).len() * layout.chunks * moduli_count,
        rotations,
        reasons,
        lowered: None,
        parameters,
    }
}
