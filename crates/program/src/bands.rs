//! Bands: bounds on the change of a result by undecided comparisons.
//!
//! Encrypted comparisons of real numbers are decided where the numbers differ by a gap; between, the value is
//! anything from 0 to 1. For every output node a second node, its band, bounds |computed − right| row by row, from
//! the computed comparisons themselves: a comparison h that is decided has 4h(1 − h) = 0, and one that is not has at
//! least |h − t|, t the right value, as long as h is not below 1/4 where it should be 1. That holds where the sign's
//! polynomial stays above −1/2 on its own side of 0, which plans check. Sums of the band nodes are computed beside
//! the results, and stated errors include them.
//!
//! Comparisons of numbers with decimals need no band: half a unit is their gap.

use std::collections::BTreeMap;

use crate::analysis::{Facts, facts_of};
use crate::graph::Node;
use crate::{Decimal, Graph, NodeId, ProgramError, Schema};

/// Band of a node: the node that bounds its change by comparisons, or the reason why there is none.
pub(crate) type Band = Result<NodeId, String>;

/// Reason why a comparison has no band.
const NESTED: &str = "what it compares rests on another comparison of real numbers: declare the decimals of the columns that are compared";

/// Adds the bands of some nodes to the graph; none for nodes that depend on no comparison of real numbers.
pub(crate) fn bands(
    graph: &mut Graph,
    schema: &Schema,
    outputs: impl IntoIterator<Item = NodeId>,
) -> Result<BTreeMap<NodeId, Band>, ProgramError> {
    let known = facts_of(graph, schema);
    let mut bands = Bands { graph, known, found: BTreeMap::new() };
    let mut of_outputs = BTreeMap::new();
    for id in outputs {
        bands.up_to(id)?;
        if let Some(Some(band)) = bands.found.get(&id) {
            of_outputs.insert(id, band.clone());
        }
    }
    Ok(of_outputs)
}

struct Bands<'a> {
    graph: &'a mut Graph,
    /// Facts of the nodes that the graph had before bands.
    known: Vec<Facts>,
    found: BTreeMap<NodeId, Option<Band>>,
}

impl Bands<'_> {
    /// Finds the bands of a node and of all nodes that it depends on.
    fn up_to(&mut self, id: NodeId) -> Result<(), ProgramError> {
        let mut needed = vec![id];
        while let Some(&id) = needed.last() {
            let Some(node) = self.graph.node(id).cloned() else { return Ok(()) };
            let before = needed.len();
            needed.extend(node.operands().into_iter().filter(|of| !self.found.contains_key(of)));
            if needed.len() == before {
                needed.pop();
                if !self.found.contains_key(&id) {
                    let band = self.of_node(id, &node)?;
                    self.found.insert(id, band);
                }
            }
        }
        Ok(())
    }

    fn facts(&self, id: NodeId) -> Option<&Facts> {
        self.known.get(id.index())
    }

    /// Returns the largest |value| of a node.
    fn largest(&self, id: NodeId) -> f64 {
        self.facts(id).map_or(f64::INFINITY, |facts| facts.low.abs().max(facts.high.abs()))
    }

    fn band(&self, id: NodeId) -> Option<Band> {
        self.found.get(&id).cloned().flatten()
    }

    fn of_node(&mut self, id: NodeId, node: &Node) -> Result<Option<Band>, ProgramError> {
        if !self.facts(id).is_some_and(|facts| facts.encrypted) {
            return Ok(None);
        }
        match node {
            Node::Column(_) | Node::Indicator { .. } => Ok(None),
            Node::Linear { terms, .. } => {
                let factors = terms.iter().map(|&(of, c)| (of, c.to_f64()));
                self.sum(factors.collect())
            }
            Node::Product(a, b) => self.product(*a, *b),
            Node::Polynomial { of, coefficients } => {
                let largest = self.largest(*of);
                let slopes = coefficients.iter().enumerate().skip(1);
                let slope =
                    |(k, c): (usize, &Decimal)| k as f64 * c.to_f64().abs() * largest.powi(k as i32 - 1);
                let slope = slopes.map(slope).sum();
                self.sum(vec![(*of, slope)])
            }
            Node::Apply { of, function, .. } => {
                let slope = self.facts(*of).map_or(f64::INFINITY, |x| function.slope(x.low, x.high));
                self.sum(vec![(*of, slope)])
            }
            Node::Positive { of, .. } => self.comparison(id, *of),
            Node::Kth { of, .. }
            | Node::Sorted { of, .. }
            | Node::Rank { of, .. }
            | Node::LookUp { of, .. } => Ok(self.band(*of).map(|_| Err(NESTED.to_owned()))),
        }
    }

    /// Adds the band Σ |c_i|·band_i of a sum.
    fn sum(&mut self, factors: Vec<(NodeId, f64)>) -> Result<Option<Band>, ProgramError> {
        let mut terms = Vec::new();
        for (of, factor) in factors {
            match self.band(of) {
                None => {}
                Some(Err(reason)) => return Ok(Some(Err(reason))),
                Some(Ok(band)) => match above(factor.abs()) {
                    Some(factor) => terms.push((band, factor)),
                    None => return Ok(Some(Err(steep()))),
                },
            }
        }
        if terms.is_empty() {
            return Ok(None);
        }
        self.graph.linear(&terms, Decimal::ZERO).map(|id| Some(Ok(id)))
    }

    /// Adds the band of a product: |ab − a′b′| ≤ |a|·band_b + |b|·band_a.
    fn product(&mut self, a: NodeId, b: NodeId) -> Result<Option<Band>, ProgramError> {
        match (self.band(a), self.band(b)) {
            (None, None) => Ok(None),
            (Some(Err(reason)), _) | (_, Some(Err(reason))) => Ok(Some(Err(reason))),
            (None, Some(Ok(band))) => self.masked(a, b, band),
            (Some(Ok(band)), None) => self.masked(b, a, band),
            (Some(Ok(_)), Some(Ok(_))) => self.sum(vec![(a, self.largest(b)), (b, self.largest(a))]),
        }
    }

    /// Adds the band |a|·band_b, row by row where a has one sign, since a mask removes rows.
    fn masked(&mut self, a: NodeId, b: NodeId, band: NodeId) -> Result<Option<Band>, ProgramError> {
        let facts = self.facts(a).copied();
        match facts {
            Some(facts) if facts.low >= 0.0 => self.graph.multiply(a, band).map(|id| Some(Ok(id))),
            Some(facts) if facts.high <= 0.0 => {
                let positive = self.graph.negate(a)?;
                self.graph.multiply(positive, band).map(|id| Some(Ok(id)))
            }
            _ => self.sum(vec![(b, self.largest(a))]),
        }
    }

    fn comparison(&mut self, id: NodeId, of: NodeId) -> Result<Option<Band>, ProgramError> {
        let grid = self.facts(of).and_then(|facts| facts.grid);
        match (grid, self.band(of)) {
            (Some(_), None) => Ok(None),
            (None, Some(_)) | (_, Some(Err(_))) => Ok(Some(Err(NESTED.to_owned()))),
            (None, None) => {
                let four = Decimal::new(4, 0).ok_or(ProgramError::Digits)?;
                let minus = four.checked_neg().ok_or(ProgramError::Digits)?;
                let band = self.graph.polynomial(id, &[Decimal::ZERO, four, minus])?;
                Ok(Some(Ok(band)))
            }
            // The comparison is right where the operand is off by less than a quarter of a unit.
            (Some(grid), Some(Ok(_))) => self.sum(vec![(of, 4.0 * 10_f64.powi(grid.decimals as i32))]),
        }
    }
}

fn steep() -> String {
    "a function of it is too steep where comparisons of real numbers are not told: declare the decimals of the columns that are compared"
        .to_owned()
}

/// Returns a constant of few digits that is not below `value`; `None` for a value that is not finite.
fn above(value: f64) -> Option<Decimal> {
    if !value.is_finite() {
        return None;
    }
    if value == 0.0 {
        return Some(Decimal::ZERO);
    }
    // Whole numbers cost no level; small ones keep a power of ten.
    let unit = 10_f64.powi((value.log10().floor() as i32 - 2).min(0));
    Decimal::from_f64((value / unit).ceil())?.checked_mul(Decimal::from_f64(unit)?)
}
