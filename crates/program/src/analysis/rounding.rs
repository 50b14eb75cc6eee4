//! What roundings may change where clear real numbers are computed in doubles.
//!
//! Cells of real columns and constants beside them are doubles, and a program is right for them as they are. Sums of cells and products keep their
//! sign (`run/signed.rs`); whatever else is computed is off by a bound that follows from ranges.

use super::Facts;
use super::approximate::UNIT;
use crate::graph::Node;

/// 16 units in the last place: more than values of functions are off by.
const FUNCTION: f64 = 32.0 * UNIT;
/// Integers below this are doubles.
const WHOLE: u128 = 1 << 53;

/// A bound on |double − right value| of a clear node, and whether it has the sign of the right value although it is off.
pub(super) fn rounding(node: &Node, operands: &[Facts]) -> (f64, bool) {
    let (each, largest) =
        (|i: usize| operands.get(i).map_or(0.0, as_double), |i: usize| operands.get(i).map_or(0.0, largest));
    match node {
        Node::Column(_) | Node::Indicator { .. } | Node::Positive { .. } => (0.0, true),
        Node::Linear { terms, constant } => {
            let parts = |of: &dyn Fn(usize) -> f64| -> f64 {
                terms.iter().enumerate().map(|(i, (_, c))| c.to_f64().abs() * of(i)).sum()
            };
            let size = parts(&largest) + constant.to_f64().abs();
            let inherited = parts(&each);
            (inherited + (terms.len() + 2) as f64 * UNIT * size, inherited == 0.0)
        }
        Node::Product(a, b) => {
            let other = usize::from(a != b);
            let (x, y, size) = (each(0), each(other), largest(0) * largest(other));
            let signed = operands.iter().all(|facts| as_double(facts) == 0.0 || facts.signed);
            (largest(0) * y + largest(other) * x + x * y + 2.0 * UNIT * size + f64::MIN_POSITIVE, signed)
        }
        Node::Polynomial { coefficients, .. } => {
            let x = largest(0) + each(0);
            let (mut size, mut slope) = (0.0, 0.0);
            for c in coefficients.iter().rev() {
                (slope, size) = (slope * x + size, size * x + c.to_f64().abs());
            }
            (slope * each(0) + (2 * coefficients.len() + 2) as f64 * UNIT * size + f64::MIN_POSITIVE, false)
        }
        Node::Apply { function, .. } => {
            let Some(x) = operands.first() else { return (0.0, false) };
            let off = each(0);
            let (low, high) = (x.low - off, x.high + off);
            let size = function.at(low).abs().max(function.at(high).abs());
            let inherited = if off == 0.0 { 0.0 } else { function.slope(low, high) * off };
            (inherited + FUNCTION * size, false)
        }
    }
}

/// By how much an operand is off as a double.
fn as_double(facts: &Facts) -> f64 {
    match facts.exact {
        Some(exact) if exact.decimals == 0 && exact.magnitude() <= WHOLE => 0.0,
        Some(_) => 4.0 * UNIT * largest(facts),
        None => facts.rounding,
    }
}

fn largest(facts: &Facts) -> f64 {
    facts.low.abs().max(facts.high.abs())
}
