//! How CKKS computes a program: numbers between −1 and 1 times known powers of two, levels, polynomials.
//!
//! A node is stored as s = v/2^e with |s| ≤ 1, e from its range. Constants of a linear combination take the powers of two in;
//! after a product a multiplication by an integer, which costs no level, makes up for a range that is smaller than the
//! product of the ranges.

use sunzi_circuits::approximation::{CompositeSign, Target, approximate};
use sunzi_circuits::series::{Series, SeriesError, depth};

use super::{Facts, Refusal};
use crate::graph::Node;
use crate::{NodeId, Program};

/// A product is multiplied by at most 2^this.
const MOST_SHIFT: i32 = 10;
/// Where real numbers are compared, differences below this part of the range are not told.
pub const REAL_GAP: f64 = 1.0 / 1024.0;
/// Bits behind the gap of a comparison that must be right.
const GAP_BITS: f64 = 6.0;

/// What to do with the stored operands of a node.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Nothing: it is encrypted as it is.
    Input,
    /// It is known to the server.
    Clear,
    /// Σ f_i·s_i + f.
    Linear { factors: Vec<f64>, constant: f64 },
    /// The product times 2^shift.
    Product { shift: u32 },
    /// A polynomial.
    Series(Series),
    /// 1 or 0 by the sign of s + offset.
    Sign { sign: CompositeSign, offset: f64 },
}

/// A node, lowered.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// e.
    pub(crate) exponent: i32,
    /// Levels below fresh ciphertexts.
    pub(crate) drop: usize,
    /// What stands in slots that belong to no row, stored.
    pub(crate) padding: f64,
    /// By how much polynomials on the way here may be off, in v.
    pub(crate) error: f64,
    pub(crate) action: Action,
}

/// All nodes that a program uses, lowered.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) steps: Vec<Option<Step>>,
    /// Bits of stored numbers that must be right.
    pub(crate) precision: u32,
    /// The level that sums are rotated at.
    pub(crate) sum_level: usize,
}

impl Lowered {
    pub(crate) fn step(&self, id: NodeId) -> Option<&Step> {
        self.steps.get(id.index()).and_then(Option::as_ref)
    }

    /// Levels of the whole program.
    pub(crate) fn depth(&self) -> usize {
        self.steps.iter().flatten().map(|step| step.drop).max().unwrap_or(0)
    }
}

/// Lowers all nodes of a program.
pub(crate) fn lower(program: &Program, all: &[Facts], precision: u32) -> Result<Lowered, Box<Refusal>> {
    let used = program.used();
    let mut lowered = Lowered { steps: Vec::with_capacity(all.len()), precision, sum_level: 0 };
    for index in 0..all.len() {
        let id = NodeId(index as u32);
        let step = if used.contains(&id) { Some(lowered.of_node(program, id, all)?) } else { None };
        lowered.steps.push(step);
    }
    Ok(lowered)
}

/// The least e with |v| ≤ 2^e, for what a comparison adds to v too.
fn exponent(facts: &Facts, padding: f64) -> i32 {
    let largest = facts.low.abs().max(facts.high.abs()).max(padding.abs());
    let more = facts.exact.map_or(largest * REAL_GAP, |exact| 0.5 / 10_f64.powi(exact.decimals as i32));
    if largest == 0.0 { 0 } else { (largest + more).log2().ceil() as i32 }
}

/// The e of a column: it follows from the column alone.
pub(crate) fn stored_exponent(column: &crate::Column) -> i32 {
    exponent(&super::facts::of_column(column), column.padding())
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
        if !(facts.low.is_finite() && facts.high.is_finite()) {
            return Err(refuse("it has no bounds: give an interval, as in f(x, low, high)".to_owned()));
        }
        let padding = padding(program, node, &operands);
        let e = exponent(facts, padding);
        let drop = operands.iter().map(|step| step.drop).max().unwrap_or(0);
        let mut step =
            Step { exponent: e, drop, padding: padding / exp2(e), error: 0.0, action: Action::Clear };
        if !facts.encrypted {
            return Ok(step);
        }
        step.error = inherited(node, &operands, all);
        match node {
            Node::Column(_) | Node::Indicator { .. } => step.action = Action::Input,
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
                let (series, error) = self.series(node, &operands, e).map_err(|e| refuse(e.to_string()))?;
                let (slot, x) = operands.first().map_or((0.0, 0), |x| (x.padding, x.exponent));
                holds(&series, slot, exp2(x)).map_err(refuse)?;
                step.drop += depth(&series);
                step.padding = series.at(slot);
                step.error += error * exp2(e);
                step.action = Action::Series(series);
            }
            Node::Positive { of, or_zero } => {
                let known = all.get(of.index()).and_then(|facts| facts.exact);
                let half = known.map(|exact| 0.5 / 10_f64.powi(exact.decimals as i32));
                let x = operands.first().map_or((0, 0.0), |x| (x.exponent, x.padding));
                self.sign(half, x, *or_zero, &mut step).map_err(refuse)?;
            }
        }
        Ok(step)
    }

    /// A comparison of numbers whose steps are twice `half`, if they have steps; of exponent and padding `x`.
    fn sign(
        &mut self,
        half: Option<f64>,
        x: (i32, f64),
        or_zero: bool,
        step: &mut Step,
    ) -> Result<(), String> {
        let half = half.map(|half| half / exp2(x.0));
        let gap = half.unwrap_or(REAL_GAP);
        let error = exp2(-(self.precision as i32)).max(1e-12);
        let sign = CompositeSign::new(gap.min(0.5), error).map_err(|error| {
            format!("numbers up to 2^{} are compared in steps of {gap:.2e} of that: {error}", x.0)
        })?;
        let offset = half.map_or(0.0, |half| if or_zero { half } else { -half });
        self.precision = self.precision.max((GAP_BITS - gap.log2()).ceil() as u32);
        step.drop += sign.depth();
        // It is 0 or 1 as it stands.
        step.exponent = 0;
        step.padding = 0.5 + 0.5 * sign.at(x.1 + offset);
        step.error = sign.error() / 2.0;
        step.action = Action::Sign { sign, offset };
        Ok(())
    }

    /// The polynomial of a node in stored numbers, and its error there.
    fn series(&self, node: &Node, operands: &[Step], e: i32) -> Result<(Series, f64), SeriesError> {
        let x = operands.first().map_or(0, |step| step.exponent);
        let (from, to) = (exp2(x), exp2(-e));
        match node {
            Node::Polynomial { coefficients, .. } => {
                let coefficients: Vec<f64> = coefficients.iter().map(|c| c.to_f64()).collect();
                let value = |v: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * v + c);
                let degree = Target::Degree(coefficients.len() - 1);
                let found = approximate(|s| value(s * from) * to, -1.0, 1.0, degree)?;
                Ok((found.series, 0.0))
            }
            Node::Apply { function, interval, .. } => {
                let whole = (-from, from);
                let (low, high) = interval.map_or(whole, |(low, high)| (low.to_f64(), high.to_f64()));
                let error = exp2(-(self.precision as i32));
                let found = approximate(
                    |s| function.at(s * from) * to,
                    low / from,
                    high / from,
                    Target::Error(error),
                )?;
                Ok((found.series, found.error))
            }
            _ => Series::power(Vec::new()).map(|series| (series, 0.0)),
        }
    }
}

/// Whether a polynomial is close to its function where slots have no row.
fn holds(series: &Series, slot: f64, scale: f64) -> Result<(), String> {
    match series.basis() {
        sunzi_circuits::series::Basis::Chebyshev { low, high } if !(low..=high).contains(&slot) => {
            let [low, high, slot] = [low, high, slot].map(|s| s * scale);
            Err(format!(
                "slots without a row hold {slot:.3} there, outside of [{low:.3}, {high:.3}]: take a wider interval"
            ))
        }
        _ => Ok(()),
    }
}

/// What the errors of operands make of a node. Comparisons have none of them: a number is told from those that are a gap away.
fn inherited(node: &Node, operands: &[Step], all: &[Facts]) -> f64 {
    let error = |i: usize| operands.get(i).map_or(0.0, |step| step.error);
    let largest = |id: &NodeId| all.get(id.index()).map_or(0.0, |f| f.low.abs().max(f.high.abs()));
    match node {
        Node::Column(_) | Node::Indicator { .. } | Node::Positive { .. } => 0.0,
        Node::Linear { terms, .. } => {
            terms.iter().enumerate().map(|(i, (_, c))| c.to_f64().abs() * error(i)).sum()
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
        Node::Apply { of, function, interval } => {
            let x = all.get(of.index()).map_or((0.0, 0.0), |f| (f.low, f.high));
            let (low, high) = interval.map_or(x, |(low, high)| (low.to_f64(), high.to_f64()));
            // The functions are monotone, and steepest at an end or in the middle of a sigmoid.
            let step = error(0);
            let at = |x: f64| (function.at((x + step).min(high)) - function.at((x - step).max(low))).abs();
            (0..=64).map(|i| at(low + (high - low) * f64::from(i) / 64.0)).fold(0.0, f64::max)
        }
    }
}

/// Whether small integers multiply, which costs no level.
pub(crate) fn integral(factors: &[f64]) -> bool {
    factors.iter().all(|f| f.fract() == 0.0 && f.abs() <= exp2(MOST_SHIFT))
}

/// 2^e.
pub(crate) fn exp2(e: i32) -> f64 {
    f64::from(e).exp2()
}

/// What a node is in slots that belong to no row.
fn padding(program: &Program, node: &Node, operands: &[Step]) -> f64 {
    let at = |i: usize| operands.get(i).map_or(0.0, |step| step.padding * exp2(step.exponent));
    match node {
        Node::Column(column) => program.schema().columns.get(*column).map_or(0.0, crate::Column::padding),
        Node::Indicator { .. } => 0.0,
        Node::Linear { terms, constant } => {
            let terms = terms.iter().enumerate().map(|(i, &(_, c))| c.to_f64() * at(i));
            terms.sum::<f64>() + constant.to_f64()
        }
        Node::Product(a, b) => at(0) * at(usize::from(a != b)),
        Node::Polynomial { coefficients, .. } => {
            coefficients.iter().rev().fold(0.0, |sum, c| sum * at(0) + c.to_f64())
        }
        Node::Apply { function, .. } => function.at(at(0)),
        Node::Positive { or_zero, .. } => f64::from(u8::from(at(0) > 0.0 || *or_zero && at(0) == 0.0)),
    }
}
