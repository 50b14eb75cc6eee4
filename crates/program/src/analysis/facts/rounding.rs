//! Bounds of rounding errors where clear real numbers are computed in doubles.
//!
//! Cells of real columns and constants beside them are doubles, and a program is right for them as they are. Sums of cells and products keep their
//! sign (`run/signed.rs`); all other values are off by a bound that follows from ranges.

use super::Facts;
use crate::graph::Node;

/// Half a unit in the last place: the relative error of a rounding.
pub(in crate::analysis) const UNIT: f64 = f64::EPSILON / 2.0;
/// Bound on the relative error of values of functions: 16 units in the last place.
const FUNCTION: f64 = 32.0 * UNIT;
/// Bound below which all integers are exact doubles.
const WHOLE: u128 = 1 << 53;

/// Returns a bound on |double − right value| of a clear node, and whether it has the sign of the right value nevertheless.
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
        Node::Rank { .. } | Node::LookUp { .. } => (0.0, true),
        Node::Kth { .. } | Node::Sorted { .. } => (each(0), false),
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

/// Returns the bound on the error of an operand that is converted to doubles.
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

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_rational::Ratio;
    use num_traits::Signed;

    use super::*;
    use crate::analysis::facts::of_column;
    use crate::number::nearest;
    use crate::run::signed_sum;
    use crate::{Column, Decimal, NodeId};

    const RANGES: [(f64, f64); 4] = [(-1.0, 1.0), (0.1, 1e6), (-3e-5, 2e-9), (1e12, 1e12 + 1.0)];

    fn exactly(v: f64) -> Ratio<BigInt> {
        let (mut whole, mut shift) = (v, 0_u32);
        while whole.fract() != 0.0 {
            (whole, shift) = (2.0 * whole, shift + 1);
        }
        Ratio::new(BigInt::from(whole as i128), BigInt::from(1) << shift)
    }

    /// Returns sample numbers of a range, with both ends.
    fn numbers((low, high): (f64, f64)) -> Vec<f64> {
        let inside = |i: i32| (low + (high - low) * f64::from(i) / 37.0 * 0.987).clamp(low, high);
        (0..37).map(inside).chain([low, high]).collect()
    }

    fn holds(node: &Node, operands: &[Facts], double: f64, right: &Ratio<BigInt>) {
        let (bound, _) = rounding(node, operands);
        let off = (exactly(double) - right).abs();
        let off = nearest(off.numer(), off.denom()).unwrap();
        assert!(off <= bound, "{node:?}: {double} is off by {off:e} of {bound:e}");
    }

    #[test]
    fn no_double_is_off_by_more() {
        let (a, b) = (NodeId(0), NodeId(1));
        let constants =
            [Decimal::new(3, 1).unwrap(), Decimal::new(-7, 0).unwrap(), Decimal::new(1, 3).unwrap()];
        let [c, d, e] = constants.map(|c| c.to_f64());
        for (x_range, y_range) in RANGES.into_iter().flat_map(|x| RANGES.map(|y| (x, y))) {
            let of = |(low, high)| of_column(&Column::real("x", low, high).in_the_clear(), false);
            let facts = [of(x_range), of(y_range)];
            let sum =
                Node::Linear { terms: vec![(a, constants[0]), (b, constants[1])], constant: constants[2] };
            let product = Node::Product(a, b);
            let polynomial = Node::Polynomial { of: a, coefficients: constants.to_vec() };
            for (x, y) in numbers(x_range).into_iter().zip(numbers(y_range).into_iter().rev()) {
                let [big_x, big_y, big_c, big_d, big_e] = [x, y, c, d, e].map(exactly);
                let double = signed_sum(e, [(c, x), (d, y)].into_iter());
                holds(&sum, &facts, double, &(&big_c * &big_x + &big_d * &big_y + &big_e));
                holds(&product, &facts, x * y, &(&big_x * &big_y));
                let double = (e * x + d) * x + c;
                holds(&polynomial, &facts[..1], double, &((&big_e * &big_x + &big_d) * &big_x + &big_c));
            }
        }
    }

    #[test]
    fn what_is_computed_from_cells_alone_keeps_its_sign() {
        let cell = of_column(&Column::real("x", -1.0, 1.0).in_the_clear(), false);
        let (a, b, one) = (NodeId(0), NodeId(1), Decimal::ONE);
        let sum = Node::Linear { terms: vec![(a, one), (b, one)], constant: one };
        let (off, signed) = rounding(&sum, &[cell, cell]);
        assert!(off > 0.0 && signed);
        let rounded = Facts { rounding: off, signed, ..cell };
        // A sum of rounded sums may have a wrong sign; a product of rounded sums has the right one.
        assert!(!rounding(&sum, &[rounded, cell]).1);
        assert!(rounding(&Node::Product(a, b), &[rounded, cell]).1);
    }
}
