//! Programs run in the clear: for clear columns, and as the reference of encrypted runs.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::signed::{signed_product, signed_sum};
use super::{Table, order};
use crate::analysis::{Facts, Layout, exact_facts, linear_units, polynomial_units};
use crate::graph::Node;
use crate::{NodeId, Number, Program, ProgramError};

/// Values of a node in the clear, in some rows: in units of its last decimal, or real numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Clear {
    /// Integers v·10^decimals of a node with decimals.
    Units(Vec<i128>),
    /// Values of a node of real numbers, as doubles.
    Reals(Vec<f64>),
}

impl Clear {
    /// Returns the value of a node in a slot that belongs to no row; 0 for one that is not exact.
    pub(crate) fn padded(known: &[Facts], id: NodeId) -> Self {
        let exact = known.get(id.index()).and_then(|facts| facts.exact);
        Self::Units(vec![exact.map_or(0, |exact| exact.padding)])
    }

    /// Returns the values as doubles.
    #[must_use]
    pub fn reals(&self, facts: &Facts) -> Vec<f64> {
        match self {
            Self::Reals(values) => values.clone(),
            Self::Units(values) => {
                let unit = 10_f64.powi(facts.exact.map_or(0, |exact| exact.decimals) as i32);
                values.iter().map(|&v| v as f64 / unit).collect()
            }
        }
    }
}

/// Totals and columns of a program, computed in the clear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// Sums of nodes over all rows.
    pub totals: BTreeMap<NodeId, Number>,
    /// Values of output columns row by row, without padding.
    pub columns: BTreeMap<NodeId, Clear>,
    /// Numbers of decimals of the columns in units.
    pub decimals: BTreeMap<NodeId, u32>,
}

impl Reference {
    /// Returns a column as numbers, row by row.
    #[must_use]
    pub fn numbers(&self, id: NodeId) -> Option<Vec<Number>> {
        let decimals = self.decimals.get(&id).copied().unwrap_or(0);
        Some(match self.columns.get(&id)? {
            Clear::Units(units) => units.iter().map(|&v| Number::scaled(v.into(), decimals)).collect(),
            Clear::Reals(reals) => reals.iter().map(|&v| Number::Real(v)).collect(),
        })
    }
}

/// Runs a program in the clear, on a table with all its cells.
///
/// # Errors
/// [`ProgramError::Mismatch`] for a table of another schema, or without cells of a column.
pub fn reference(program: &Program, table: &Table) -> Result<Reference, ProgramError> {
    let facts = exact_facts(program);
    let rows = program.schema().rows as usize;
    let layout = Layout { rows, span: rows, chunks: 1 };
    let mut values: BTreeMap<NodeId, Clear> = BTreeMap::new();
    let used = program.used();
    for &id in &used {
        let value = match program.graph().node(id) {
            Some(node) if node.column().is_some() => leaf(node, table, &layout, 0)?,
            _ => {
                let operands = operands(program, id);
                let operands: Vec<&Clear> = operands.iter().filter_map(|id| values.get(id)).collect();
                computed(program, &facts, id, &operands, rows)?
            }
        };
        values.insert(id, value);
    }
    let total = |id: &NodeId| Some((*id, total(values.get(id)?, facts.get(id.index())?)));
    let totals = program.totals().iter().filter_map(total).collect();
    let columns =
        program.columns().into_iter().filter_map(|id| Some((id, values.get(&id)?.clone()))).collect();
    let decimals = |id| Some((id, facts.get(NodeId::index(id))?.exact?.decimals));
    let decimals = program.columns().into_iter().filter_map(decimals).collect();
    Ok(Reference { totals, columns, decimals })
}

fn operands(program: &Program, id: NodeId) -> Vec<NodeId> {
    program.graph().node(id).map(Node::operands).unwrap_or_default()
}

/// Returns the sum of a node's values.
pub(crate) fn total(value: &Clear, facts: &Facts) -> Number {
    match (value, facts.exact) {
        (Clear::Units(values), Some(exact)) => Number::scaled(sum_of(values), exact.decimals),
        (Clear::Units(values), None) => Number::Real(values.iter().map(|&v| v as f64).sum()),
        (Clear::Reals(values), _) => Number::Real(values.iter().sum()),
    }
}

/// Returns the sum Σ v of integers, in 128 bits as long as it fits.
pub(crate) fn sum_of(values: &[i128]) -> BigInt {
    let short = values.iter().try_fold(0_i128, |sum, &v| sum.checked_add(v));
    short.map_or_else(|| values.iter().map(|&v| BigInt::from(v)).sum(), BigInt::from)
}

/// Returns one chunk of a column in the clear.
pub(crate) fn leaf(node: &Node, table: &Table, layout: &Layout, chunk: usize) -> Result<Clear, ProgramError> {
    let units = table.units(node, layout, chunk).map(Clear::Units);
    let missing =
        || ProgramError::mismatch("the table", "cells of every column that is read", "none of one column");
    units.or_else(|| table.reals(node, layout, chunk).map(Clear::Reals)).ok_or_else(missing)
}

/// Computes a node from its operands, exactly where node and operands are exact.
pub(crate) fn computed(
    program: &Program,
    facts: &[Facts],
    id: NodeId,
    operands: &[&Clear],
    rows: usize,
) -> Result<Clear, ProgramError> {
    let broken = || ProgramError::Invalid("a node is computed before its operands".to_owned());
    let node = program.graph().node(id).ok_or_else(broken)?;
    let own = facts.get(id.index()).ok_or_else(broken)?;
    let of: Vec<&Facts> = node.operands().iter().filter_map(|id| facts.get(id.index())).collect();
    let units: Option<Vec<&Vec<i128>>> = operands
        .iter()
        .map(|value| if let Clear::Units(units) = value { Some(units) } else { None })
        .collect();
    // Signs of exact numbers are exact even where an exact scheme cannot tell them.
    let exact = own.exact.is_some() || matches!(node, Node::Positive { .. }) || node.needs_integers();
    if let (Some(units), true) = (units, exact)
        && let Some(values) = in_units(node, &of, &units, rows)
    {
        return Ok(Clear::Units(values));
    }
    let reals: Vec<Vec<f64>> = operands.iter().zip(&of).map(|(value, facts)| value.reals(facts)).collect();
    Ok(Clear::Reals(in_reals(node, &reals, rows)))
}

fn in_units(node: &Node, of: &[&Facts], values: &[&Vec<i128>], rows: usize) -> Option<Vec<i128>> {
    let decimals: Option<Vec<u32>> = of.iter().map(|facts| Some(facts.exact?.decimals)).collect();
    let decimals = decimals?;
    match node {
        Node::Linear { terms, constant } => {
            let pairs: Vec<_> = terms.iter().zip(&decimals).map(|(&(_, c), &own)| (c, own)).collect();
            // Partial sums may leave the range, results do not: wrapping is exact.
            let (_, factors, constant) = linear_units(&pairs, *constant)?;
            let length = values.first().map_or(rows, |v| v.len());
            let mut sum = vec![constant; length];
            for (factor, values) in factors.iter().zip(values) {
                sum.iter_mut()
                    .zip(*values)
                    .for_each(|(sum, v)| *sum = sum.wrapping_add(factor.wrapping_mul(*v)));
            }
            Some(sum)
        }
        Node::Product(a, b) => {
            let (x, y) = (values.first()?, if a == b { values.first()? } else { values.get(1)? });
            Some(x.iter().zip(*y).map(|(x, y)| x.wrapping_mul(*y)).collect())
        }
        Node::Polynomial { coefficients, .. } => {
            let (_, factors) = polynomial_units(coefficients, *decimals.first()?)?;
            let at =
                |x: &i128| factors.iter().rev().fold(0_i128, |sum, c| sum.wrapping_mul(*x).wrapping_add(*c));
            Some(values.first()?.iter().map(at).collect())
        }
        Node::Positive { or_zero, .. } => {
            Some(values.first()?.iter().map(|&x| i128::from(x > 0 || *or_zero && x == 0)).collect())
        }
        Node::Kth { .. } | Node::Sorted { .. } | Node::Rank { .. } => {
            order::ordered(node, values.first()?, |a, b| a.cmp(b), i128::from)
        }
        Node::LookUp { first, values: entries, .. } => {
            let decimals = entries.iter().map(|entry| entry.decimals()).max()?;
            let entries =
                entries.iter().map(|entry| entry.scaled(decimals)).collect::<Option<Vec<i128>>>()?;
            let at = |x: &i128| usize::try_from(x - i128::from(*first)).ok().and_then(|at| entries.get(at));
            values.first()?.iter().map(|x| at(x).copied()).collect()
        }
        Node::Column(_) | Node::Indicator { .. } | Node::Apply { .. } => None,
    }
}

fn in_reals(node: &Node, values: &[Vec<f64>], rows: usize) -> Vec<f64> {
    let empty = Vec::new();
    let first = values.first().unwrap_or(&empty);
    match node {
        Node::Linear { terms, constant } => {
            let length = values.first().map_or(rows, Vec::len);
            let constants: Vec<f64> = terms.iter().map(|(_, c)| c.to_f64()).collect();
            let row = |at: usize| {
                let cell = |values: &Vec<f64>| values.get(at).copied().unwrap_or(0.0);
                signed_sum(constant.to_f64(), constants.iter().copied().zip(values.iter().map(cell)))
            };
            (0..length).map(row).collect()
        }
        Node::Product(..) => {
            first.iter().zip(values.get(1).unwrap_or(first)).map(|(&x, &y)| signed_product(x, y)).collect()
        }
        Node::Polynomial { coefficients, .. } => {
            let coefficients: Vec<f64> = coefficients.iter().map(|c| c.to_f64()).collect();
            first.iter().map(|x| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)).collect()
        }
        Node::Apply { function, .. } => first.iter().map(|&x| function.at(x)).collect(),
        Node::Positive { or_zero, .. } => {
            first.iter().map(|&x| f64::from(u8::from(x > 0.0 || *or_zero && x == 0.0))).collect()
        }
        Node::Kth { .. } | Node::Sorted { .. } | Node::Rank { .. } => {
            order::ordered(node, first, f64::total_cmp, |place| place as f64).unwrap_or_default()
        }
        // Tables are read by whole numbers of units alone.
        Node::Column(_) | Node::Indicator { .. } | Node::LookUp { .. } => Vec::new(),
    }
}
