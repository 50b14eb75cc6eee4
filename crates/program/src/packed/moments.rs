//! Totals as linear combinations of the moments of a packed table: counts, sums and sums of products, of all rows or
//! of a group.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Facts, linear_units, polynomial_units};
use crate::graph::Node;
use crate::schema::Kind;
use crate::{Decimal, NodeId, Program};

/// Largest number of terms of one node's total.
const MOST_TERMS: usize = 1 << 10;
/// Largest number of terms of all nodes together, so that a short text does not take much memory.
const MOST_TERMS_IN_ALL: usize = 1 << 18;

/// Rows that a moment sums over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rows {
    All,
    /// Rows of the group with this label.
    Group(usize),
}

/// Summand of a moment: 1, a packed column, or the product of two packed columns in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    One,
    Column(usize),
    Product(usize, usize),
}

/// Moment of a packed table: a sum over rows.
pub(crate) type Moment = (Rows, Of);
/// Linear combination Σ factor·moment, in units of the last decimal.
pub(crate) type Terms = BTreeMap<Moment, i128>;

/// Totals of a program as linear combinations of moments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moments {
    /// Index of the category whose labels are the groups.
    pub(crate) group: Option<usize>,
    /// Number of groups of the packed table.
    pub(crate) groups: usize,
    /// Packed columns, as the nodes that read an encrypted column.
    pub(crate) columns: Vec<NodeId>,
    /// Number of decimals and terms of each total.
    pub(crate) totals: BTreeMap<NodeId, (u32, Terms)>,
}

impl Moments {
    /// Finds the moments of a program; `None` unless it sums products of at most two encrypted columns, masked by the
    /// labels of at most one category.
    pub(crate) fn of(program: &Program, known: &[Facts]) -> Option<Self> {
        let (graph, used) = (program.graph(), program.used());
        let labels = |column: usize| match &program.schema().columns.get(column)?.kind {
            Kind::Category { labels } => Some(labels.len()),
            _ => None,
        };
        let indicator = |id: &NodeId| match graph.node(*id) {
            Some(Node::Indicator { column, .. }) => labels(*column).map(|_| *column),
            _ => None,
        };
        let group = used.iter().find_map(indicator);
        // Rows are sorted into groups, and one without a label would be in none.
        if group.and_then(|column| program.schema().columns.get(column)).is_some_and(|column| column.missing)
        {
            return None;
        }
        let labels = group.and_then(labels);
        if !program.columns().is_empty() {
            return None;
        }
        let mut moments =
            Self { group, groups: labels.unwrap_or(1), columns: Vec::new(), totals: BTreeMap::new() };
        let mut terms: BTreeMap<NodeId, Terms> = BTreeMap::new();
        let mut count = 0;
        for &id in &used {
            known.get(id.index()).filter(|own| own.encrypted && own.exact.is_some())?;
            let expanded = moments.expand(id, graph.node(id)?, known, &terms)?;
            count += expanded.len();
            if expanded.len() > MOST_TERMS || count > MOST_TERMS_IN_ALL {
                return None;
            }
            terms.insert(id, expanded);
        }
        for id in program.totals() {
            let decimals = known.get(id.index())?.exact?.decimals;
            moments.totals.insert(id, (decimals, terms.get(&id)?.clone()));
        }
        (!moments.columns.is_empty() && !moments.totals.is_empty()).then_some(moments)
    }

    /// Returns the pairs of columns whose products are summed.
    pub(crate) fn pairs(&self) -> BTreeSet<(usize, usize)> {
        let pair = |(_, of): &Moment| if let Of::Product(x, y) = of { Some((*x, *y)) } else { None };
        self.totals.values().flat_map(|(_, terms)| terms.keys()).filter_map(pair).collect()
    }

    /// Expands a node to moments, in units of its last decimal.
    fn expand(
        &mut self,
        id: NodeId,
        node: &Node,
        known: &[Facts],
        terms: &BTreeMap<NodeId, Terms>,
    ) -> Option<Terms> {
        let decimals = |id: &NodeId| Some(known.get(id.index())?.exact?.decimals);
        match node {
            Node::Indicator { column, label } if Some(*column) == self.group => {
                Some(Terms::from([((Rows::Group(*label), Of::One), 1)]))
            }
            Node::Column(_) | Node::Indicator { .. } => {
                self.columns.push(id);
                Some(Terms::from([((Rows::All, Of::Column(self.columns.len() - 1)), 1)]))
            }
            Node::Linear { terms: of, constant } => {
                let units: Option<Vec<(Decimal, u32)>> =
                    of.iter().map(|(id, factor)| Some((*factor, decimals(id)?))).collect();
                let (_, factors, constant) = linear_units(&units?, *constant)?;
                let mut sum = Terms::from([(ONE, constant)]);
                for ((id, _), factor) in of.iter().zip(factors) {
                    add(&mut sum, terms.get(id)?, factor)?;
                }
                Some(sum)
            }
            Node::Product(a, b) => product(terms.get(a)?, terms.get(b)?),
            Node::Polynomial { of, coefficients } => {
                let (_, factors) = polynomial_units(coefficients, decimals(of)?)?;
                let (x, mut power, mut sum) = (terms.get(of)?, Terms::from([(ONE, 1)]), Terms::new());
                for (k, factor) in factors.into_iter().enumerate() {
                    if k > 0 {
                        power = product(&power, x)?;
                    }
                    add(&mut sum, &power, factor)?;
                }
                Some(sum)
            }
            Node::Apply { .. }
            | Node::Positive { .. }
            | Node::Kth { .. }
            | Node::Sorted { .. }
            | Node::Rank { .. }
            | Node::LookUp { .. } => None,
        }
    }
}

/// Moment that counts all rows.
const ONE: Moment = (Rows::All, Of::One);

/// Adds factor·other to a linear combination of moments.
fn add(sum: &mut Terms, other: &Terms, factor: i128) -> Option<()> {
    for (&moment, own) in other {
        let entry = sum.entry(moment).or_default();
        *entry = entry.checked_add(own.checked_mul(factor)?)?;
    }
    Some(())
}

/// Returns the row-by-row product of two linear combinations; `None` where it would multiply more than two columns.
fn product(a: &Terms, b: &Terms) -> Option<Terms> {
    let mut all = Terms::new();
    for (&(own, x), &factor) in a {
        for (&(other, y), &times) in b {
            let rows = match (own, other) {
                (rows, Rows::All) | (Rows::All, rows) => rows,
                // A row has one label.
                (Rows::Group(own), Rows::Group(other)) if own != other => continue,
                _ => own,
            };
            let of = match (x, y) {
                (of, Of::One) | (Of::One, of) => of,
                (Of::Column(x), Of::Column(y)) => Of::Product(x.min(y), x.max(y)),
                _ => return None,
            };
            let entry = all.entry((rows, of)).or_default();
            *entry = i128::checked_add(*entry, factor.checked_mul(times)?)?;
        }
        if all.len() > MOST_TERMS {
            return None;
        }
    }
    Some(all)
}
