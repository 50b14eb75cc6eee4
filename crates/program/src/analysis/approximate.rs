//! Lowering of a program to CKKS: numbers between −1 and 1 times known powers of two, levels, polynomials.
//!
//! A node is stored as s = v/2^e with |s| ≤ 1, e from its range. Constants of a linear combination take the powers of two in;
//! after a product a multiplication by an integer, which costs no level, makes up for a range that is smaller than the
//! product of the ranges.

use std::collections::BTreeMap;

use sunzi_circuits::approximation::{CompositeSign, Target, approximate};
use sunzi_circuits::series::{Series, SeriesError};

use super::curve::Curve;
use super::facts::rounding::UNIT;
use super::functions::{Found, Key, Wanted, defined};
use super::refresh::{BESIDE, Refresh};
use super::{Exact, Facts, Refusal};
use crate::graph::Node;
use crate::run::{signed_product, signed_sum};
use crate::schema::LARGEST_CELL;
use crate::{Column, Decimal, NodeId, Program};

/// log2 of the largest integer by which a product is multiplied.
const MOST_SHIFT: i32 = 10;
/// Gap of comparisons of real numbers with 16 bits of precision or fewer, relative to the range: smaller differences are undecided; every bit more halves it.
pub const REAL_GAP: f64 = 1.0 / 1024.0;
/// Number of bits below the gap of a comparison that must be right.
const GAP_BITS: i32 = 6;
/// Fraction of a gap that errors of the compared numbers may take.
const GAP_SLACK: f64 = 1.0 / 8.0;
/// Largest sign of a number whose errors alone decide it: [bands](crate::bands) hold up to 1/2.
const LARGEST_UNDECIDED: f64 = 0.45;

/// Operation that computes a node from the stored values of its operands.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Action of an encrypted input, which is read as it is.
    Input,
    /// Action of a node that the server knows: no operation under encryption.
    Clear,
    /// Linear combination Σ f_i·s_i + f of stored operands.
    Linear { factors: Vec<f64>, constant: f64 },
    /// Product of two stored operands times 2^shift.
    Product { shift: u32 },
    /// Function or polynomial of a stored operand s, whose error may be up to `allowed`.
    Curve { curve: Curve, allowed: f64 },
    /// Comparison: 1 or 0 by the sign of s + offset, where the error of s may be up to `allowed`.
    Sign { sign: CompositeSign, offset: f64, allowed: f64 },
}

/// Node of a program, lowered to CKKS.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Exponent e of the power of two that the node's value is divided by.
    pub(crate) exponent: i32,
    /// Number of levels of the node below fresh ciphertexts.
    pub(crate) drop: usize,
    /// Stored value of the node in slots that belong to no row.
    pub(crate) padding: f64,
    /// Bound on the error in v that polynomials up to this node cause.
    pub(crate) error: f64,
    pub(crate) action: Action,
}

/// Lowered nodes that a program uses.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) steps: Vec<Option<Step>>,
    /// Number of bits of stored numbers that must be right.
    pub(crate) precision: u32,
    /// Number of bits that errors of ciphertexts must leave at the lowest level, for functions that are steep.
    steepest: u32,
    /// Level at which sums are rotated.
    pub(crate) sum_level: usize,
    /// Polynomials of functions found so far, by function, range, powers of two and precision: a program may use one in thousands of nodes.
    fitted: BTreeMap<Key, Found>,
    /// Sign polynomials found so far, by their gap and their error.
    signs: BTreeMap<[u64; 3], CompositeSign>,
    /// Bootstraps between nodes; none where parameters have levels for the whole program.
    pub(crate) refresh: Option<Refresh>,
}

impl Lowered {
    pub(crate) fn step(&self, id: NodeId) -> Option<&Step> {
        self.steps.get(id.index()).and_then(Option::as_ref)
    }

    /// Number of bits that parameters must leave.
    pub(super) fn bits(&self) -> u32 {
        self.precision.max(self.steepest)
    }

    /// Number of levels of the whole program.
    pub(crate) fn depth(&self) -> usize {
        self.steps.iter().flatten().map(|step| step.drop).max().unwrap_or(0)
    }
}

/// Lowers all nodes of a program, without bootstraps.
pub(crate) fn lower(program: &Program, all: &[Facts], precision: u32) -> Result<Lowered, Box<Refusal>> {
    lower_with(program, all, precision, None)
}

/// Lowers all nodes of a program, with bootstraps where they are given.
pub(super) fn lower_with(
    program: &Program,
    all: &[Facts],
    precision: u32,
    refresh: Option<Refresh>,
) -> Result<Lowered, Box<Refusal>> {
    if let Some((id, reason)) = program.unbounded() {
        let expression = program.graph().describe(id, program.schema());
        return Err(Box::new(Refusal { reason: reason.to_owned(), expression }));
    }
    let wide = |column: &&Column| column.largest_unit() > LARGEST_CELL.unsigned_abs();
    if let Some(column) = program.schema().columns.iter().find(wide) {
        let reason = "a column beyond ±2^53 is wider than real numbers are exact: take BFV or BGV".to_owned();
        return Err(Box::new(Refusal { reason, expression: column.name.clone() }));
    }
    let used = program.used();
    let mut lowered = Lowered {
        steps: Vec::with_capacity(all.len()),
        precision,
        steepest: 0,
        sum_level: 0,
        fitted: BTreeMap::new(),
        signs: BTreeMap::new(),
        refresh,
    };
    for index in 0..all.len() {
        let id = NodeId(index as u32);
        let step = if used.contains(&id) {
            let step = lowered.of_node(program, id, all)?;
            let encrypted = all.get(index).is_some_and(|facts| facts.encrypted);
            let refreshed = if encrypted { lowered.refreshed(id, step) } else { Ok(step) };
            Some(refreshed.map_err(|reason| {
                Box::new(Refusal { reason, expression: program.graph().describe(id, program.schema()) })
            })?)
        } else {
            None
        };
        lowered.steps.push(step);
    }
    Ok(lowered)
}

/// Returns the least e with |v| ≤ 2^e for a node's values v, also for the summands that a comparison adds to v.
fn exponent(facts: &Facts, padding: f64) -> i32 {
    let largest = facts.low.abs().max(facts.high.abs()).max(padding.abs());
    let more = facts.grid.map_or(largest * REAL_GAP, half_a_step);
    if largest == 0.0 { 0 } else { (largest + more).log2().ceil() as i32 }
}

/// Returns half a unit of the last decimal of an exact number.
fn half_a_step(grid: Exact) -> f64 {
    0.5 / 10_f64.powi(grid.decimals as i32)
}

/// Returns the exponent e of a stored column or of an indicator of it, which follows from the column alone.
pub(crate) fn stored_exponent(column: &Column, indicator: bool) -> i32 {
    let padding = if indicator { 0.0 } else { column.padding() };
    exponent(&super::facts::of_column(column, indicator), padding)
}

impl Lowered {
    fn of_node(&mut self, program: &Program, id: NodeId, all: &[Facts]) -> Result<Step, Box<Refusal>> {
        let refuse = |reason: String| {
            let expression = program.graph().describe(id, program.schema());
            Box::new(Refusal { reason, expression })
        };
        let missing = || refuse("a node is missing".to_owned());
        let node = program.graph().node(id).ok_or_else(missing)?;
        let facts = all.get(id.index()).ok_or_else(missing)?;
        let operands: Vec<Step> = node.operands().iter().filter_map(|&id| self.step(id)).cloned().collect();
        if let Node::Apply { of, function, .. } = node {
            let of = all.get(of.index()).ok_or_else(missing)?;
            defined(*function, of, facts, self.precision).map_err(refuse)?;
        }
        computable(node, facts, all).map_err(|reason| refuse(reason.to_owned()))?;
        let padding = facts.exact.map_or_else(
            || padding(program, node, &operands),
            |exact| exact.padding as f64 / 10_f64.powi(exact.decimals as i32),
        );
        let e = exponent(facts, padding);
        let drop = operands.iter().map(|step| step.drop).max().unwrap_or(0);
        let mut step =
            Step { exponent: e, drop, padding: padding / exp2(e), error: 0.0, action: Action::Clear };
        if !facts.encrypted {
            step.error = if facts.exact.is_some() { 0.0 } else { facts.rounding };
            return Ok(step);
        }
        step.error = inherited(node, &operands, all);
        match node {
            Node::Linear { terms, constant } => {
                let pairs = terms.iter().zip(&operands);
                let factors: Vec<f64> = pairs.map(|(&(_, c), x)| c.to_f64() * exp2(x.exponent - e)).collect();
                step.drop += usize::from(!integral(&factors));
                step.action = Action::Linear { factors, constant: constant.to_f64() / exp2(e) };
            }
            Node::Product(a, b) => {
                let exponent = |i: usize| operands.get(i).map_or(0, |step| step.exponent);
                let sum = exponent(0) + exponent(usize::from(a != b));
                let shift = (sum - e).clamp(0, MOST_SHIFT);
                step.exponent = sum - shift;
                step.padding = padding / exp2(step.exponent);
                step.drop += 1;
                step.action = Action::Product { shift: shift as u32 };
            }
            Node::Polynomial { .. } | Node::Apply { .. } => {
                let x = operands.first().ok_or_else(missing)?;
                let of = node.operands().first().and_then(|of| all.get(of.index())).ok_or_else(missing)?;
                let found = self.curve(node, of, x, e).map_err(refuse)?;
                step.drop += found.curve.depth();
                step.padding = found.curve.at(x.padding);
                step.error += found.error;
                step.action = Action::Curve { curve: found.curve, allowed: found.allowed };
            }
            Node::Positive { of, or_zero } => {
                let of = all.get(of.index()).ok_or_else(missing)?;
                let x = operands.first().ok_or_else(missing)?;
                self.sign(of, x, *or_zero, &mut step).map_err(refuse)?;
            }
            // Columns: order and tables were refused above.
            _ => step.action = Action::Input,
        }
        Ok(step)
    }

    /// Returns the allowed error of stored numbers in comparisons of real numbers and where functions are approximated.
    fn slack(&self) -> f64 {
        exp2(GAP_BITS - self.precision as i32).min(REAL_GAP)
    }

    /// Returns a sign polynomial that decides numbers from `gap` on: found once for all equal comparisons.
    fn told_by(&mut self, gap: f64, error: f64) -> Result<CompositeSign, SeriesError> {
        let sign = self.told_beside(gap, error, 0.0)?;
        match &self.refresh {
            // Bootstrapped between its polynomials.
            Some(refresh) if sign.depth() > refresh.limits.between() => {
                let slack = refresh.slack(gap);
                self.told_beside(gap, error, slack)
            }
            _ => Ok(sign),
        }
    }

    /// Returns a sign polynomial with errors of up to `slack` between its polynomials.
    fn told_beside(&mut self, gap: f64, error: f64, slack: f64) -> Result<CompositeSign, SeriesError> {
        let key = [gap, error, slack].map(f64::to_bits);
        if let Some(sign) = self.signs.get(&key) {
            return Ok(sign.clone());
        }
        let sign = CompositeSign::with_slack(gap, error, slack)?;
        self.signs.insert(key, sign.clone());
        Ok(sign)
    }

    /// Returns a step after its bootstrap, if it has one, with the level that follows.
    fn refreshed(&self, id: NodeId, mut step: Step) -> Result<Step, String> {
        let Some(refresh) = &self.refresh else { return Ok(step) };
        if refresh.at.contains(&id) {
            let scale = exp2(step.exponent);
            let before = step.error / scale;
            if before.is_nan() || before > BESIDE / 2.0 {
                return Err(format!(
                    "what is bootstrapped is off by up to {before:.1e} of its range, more than {:.1e}: ask for more precision, or declare narrower ranges",
                    BESIDE / 2.0
                ));
            }
            step.error += refresh.added * scale;
        }
        if !refresh.levels.is_empty() {
            step.drop = refresh.drop(id);
        }
        Ok(step)
    }

    /// Lowers a comparison to the sign of a step's stored number.
    fn sign(&mut self, of: &Facts, x: &Step, or_zero: bool, step: &mut Step) -> Result<(), String> {
        let half = of.grid.map(|grid| half_a_step(grid) / exp2(x.exponent));
        // Where undecided comparisons came before, half of the distance is for their errors: see `bands`.
        let gap = half.map_or(self.slack(), |half| if of.exact.is_some() { half } else { half / 2.0 });
        let error = exp2(-(self.precision as i32)).max(1e-12);
        let told = (gap * (1.0 - GAP_SLACK)).min(0.5);
        let sign = self.told_by(told, error).map_err(|error| {
            format!("numbers up to 2^{} are compared in steps of {gap:.2e} of that: {error}", x.exponent)
        })?;
        let mut allowed = gap * GAP_SLACK;
        if half.is_none() {
            allowed = allowed.min(sign.largest_below(LARGEST_UNDECIDED));
        }
        allowed -= x.error / exp2(x.exponent);
        if allowed <= 0.0 {
            return Err(format!(
                "what it compares is off by up to {:.1e}, too much to tell numbers {:.1e} apart: ask for more precision",
                x.error,
                gap * exp2(x.exponent)
            ));
        }
        let offset = half.map_or(0.0, |half| if or_zero { half } else { -half });
        self.precision = self.precision.max((f64::from(GAP_BITS) - gap.log2()).ceil() as u32);
        step.drop += sign.depth();
        // The operand is 0 or 1 as it is.
        step.exponent = 0;
        step.padding = 0.5 + 0.5 * sign.at(x.padding + offset);
        step.error = sign.error() / 2.0;
        if let Some(refresh) = &self.refresh {
            let far = (x.padding + offset).abs() >= gap;
            if half.is_none() && !far && !refresh.at.is_empty() {
                return Err("bootstraps leave open how it compares the numbers of slots without a row: declare the decimals of its columns".to_owned());
            }
            // Slots without a row are off from the padding by as much again.
            step.error *= 2.0;
        }
        step.action = Action::Sign { sign, offset, allowed };
        Ok(())
    }

    /// Returns the polynomial of a node in stored numbers, on an interval from the facts of its operand.
    fn curve(&mut self, node: &Node, of: &Facts, x: &Step, e: i32) -> Result<Found, String> {
        let (from, to) = (exp2(x.exponent), exp2(-e));
        let words = |error: SeriesError| error.to_string();
        match node {
            Node::Apply { function, .. } => {
                let (precision, slack) = (self.precision, self.slack());
                let wanted = Wanted { function: *function, of, from, to, error: x.error, precision, slack };
                let key = wanted.key();
                let found = match self.fitted.get(&key) {
                    Some(found) => found.clone(),
                    None => wanted.find()?,
                };
                self.steepest = self.steepest.max(found.bits);
                self.fitted.insert(key, found.clone());
                Ok(found)
            }
            Node::Polynomial { coefficients, .. } => {
                let coefficients: Vec<f64> = coefficients.iter().map(|c| c.to_f64()).collect();
                let value = |v: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * v + c);
                let degree = Target::Degree(coefficients.len() - 1);
                let found = approximate(|s| value(s * from) * to, -1.0, 1.0, degree).map_err(words)?;
                Ok(Found {
                    curve: Curve::Series(found.series),
                    error: roundings(&coefficients, from),
                    allowed: f64::INFINITY,
                    bits: 0,
                })
            }
            _ => {
                let series = Series::power(Vec::new()).map_err(words)?;
                Ok(Found { curve: Curve::Series(series), error: 0.0, allowed: f64::INFINITY, bits: 0 })
            }
        }
    }
}

/// Refuses a node that no parameters can compute.
fn computable(node: &Node, facts: &Facts, all: &[Facts]) -> Result<(), &'static str> {
    if !(facts.low.is_finite() && facts.high.is_finite()) {
        return Err(
            "by the ranges of its columns it has no bounds, and an interval beside a function gives it none: declare narrower ranges of columns",
        );
    }
    match node {
        _ if node.needs_integers() => Err(super::look_ups::ONLY),
        Node::Positive { of, .. } if !facts.encrypted && facts.exact.is_none() => {
            let signed = all.get(of.index()).is_some_and(|of| of.signed);
            signed.then_some(()).ok_or(
                "clear numbers that are computed from real columns are compared, and roundings may change what comes out: declare the decimals of the columns",
            )
        }
        _ => Ok(()),
    }
}

/// Returns a bound on the rounding errors of changing a polynomial's basis on \[−from, from\]: 4(d + 1) values by
/// Horner's rule, d + 1 sums of so many products, and coefficients below four units that are left out.
fn roundings(coefficients: &[f64], from: f64) -> f64 {
    let terms = coefficients.len() as f64;
    let largest = coefficients.iter().rev().fold(0.0, |sum, c| sum * from + c.abs());
    terms * (6.0 * terms + 32.0) * UNIT * largest
}

/// Returns a bound on the error that errors of operands cause in a node. Comparisons inherit none: numbers a gap
/// apart are decided.
fn inherited(node: &Node, operands: &[Step], all: &[Facts]) -> f64 {
    let error = |i: usize| operands.get(i).map_or(0.0, |step| step.error);
    let largest = |id: &NodeId| all.get(id.index()).map_or(0.0, |f| f.low.abs().max(f.high.abs()));
    match node {
        Node::Column(_) | Node::Indicator { .. } | Node::Positive { .. } => 0.0,
        // Refused where they are lowered.
        Node::Kth { .. } | Node::Sorted { .. } | Node::Rank { .. } | Node::LookUp { .. } => 0.0,
        Node::Linear { terms, constant } => {
            // Constants are doubles under encryption: two roundings each.
            let part = |(i, (id, c)): (usize, &(NodeId, Decimal))| {
                c.to_f64().abs() * (error(i) + 2.0 * UNIT * largest(id))
            };
            terms.iter().enumerate().map(part).sum::<f64>() + 2.0 * UNIT * constant.to_f64().abs()
        }
        Node::Product(a, b) => {
            let (x, y) = (error(0), error(usize::from(a != b)));
            largest(a) * y + largest(b) * x + x * y
        }
        Node::Polynomial { of, coefficients } => {
            let x = largest(of) + error(0);
            let slopes = coefficients.iter().enumerate().skip(1);
            slopes.map(|(k, c)| k as f64 * c.to_f64().abs() * x.powi(k as i32 - 1)).sum::<f64>() * error(0)
        }
        Node::Apply { of, function, .. } => {
            let (x, step) = (all.get(of.index()), error(0));
            // A zero step times an infinite slope is zero.
            if step == 0.0 {
                return 0.0;
            }
            x.map_or(f64::INFINITY, |x| function.slope(x.low - step, x.high + step)) * step
        }
    }
}

/// Whether all factors of a sum are small integers, whose products cost no level.
pub(crate) fn integral(factors: &[f64]) -> bool {
    factors.iter().all(|f| f.fract() == 0.0 && f.abs() <= exp2(MOST_SHIFT))
}

/// Returns the power of two 2^e.
pub(crate) fn exp2(e: i32) -> f64 {
    f64::from(e).exp2()
}

/// Returns the value of a node in slots that belong to no row.
fn padding(program: &Program, node: &Node, operands: &[Step]) -> f64 {
    let at = |i: usize| operands.get(i).map_or(0.0, |step| step.padding * exp2(step.exponent));
    match node {
        Node::Column(column) => program.schema().columns.get(*column).map_or(0.0, crate::Column::padding),
        Node::Indicator { .. }
        | Node::Kth { .. }
        | Node::Sorted { .. }
        | Node::Rank { .. }
        | Node::LookUp { .. } => 0.0,
        Node::Linear { terms, constant } => {
            let terms = terms.iter().enumerate().map(|(i, &(_, c))| (c.to_f64(), at(i)));
            signed_sum(constant.to_f64(), terms)
        }
        Node::Product(a, b) => signed_product(at(0), at(usize::from(a != b))),
        Node::Polynomial { coefficients, .. } => {
            coefficients.iter().rev().fold(0.0, |sum, c| sum * at(0) + c.to_f64())
        }
        Node::Apply { function, .. } => function.at(at(0)),
        Node::Positive { or_zero, .. } => f64::from(u8::from(at(0) > 0.0 || *or_zero && at(0) == 0.0)),
    }
}
