//! Totals as combinations of what a packed table gives: counts, sums and sums of products, of all rows or of a group.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Facts, linear_units, polynomial_units};
use crate::graph::Node;
use crate::schema::Kind;
use crate::{Decimal, NodeId, Program};

/// Most terms of one node: more are no work for the key holder.
const MOST_TERMS: usize = 1 << 10;
/// Most terms of all nodes together, so that a short text does not take much memory.
const MOST_TERMS_IN_ALL: usize = 1 << 18;

/// Which rows are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rows {
    All,
    /// Rows with this label.
    Group(usize),
}

/// What is summed: 1, a packed column, or the product of two, the earlier one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Of {
    One,
    Column(usize),
    Product(usize, usize),
}

/// A sum over rows.
pub(crate) type Moment = (Rows, Of);
/// Σ factor·moment, in units of the last decimal.
pub(crate) type Terms = BTreeMap<Moment, i128>;

/// The totals of a program as sums of a packed table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moments {
    /// The category whose labels are groups.
    pub(crate) group: Option<usize>,
    /// How many groups there are.
    pub(crate) groups: usize,
    /// The packed columns: nodes that read an encrypted column.
    pub(crate) columns: Vec<NodeId>,
    /// Digits behind the point and terms of each total.
    pub(crate) totals: BTreeMap<NodeId, (u32, Terms)>,
}

impl Moments {
    /// None for programs that are not made of sums of products of two encrypted columns, masked by the labels of one category at most.
    pub(crate) fn of(program: &Program, known: &[Facts]) -> Option<Self> {
        let (graph, used) = (program.graph(), program.used());
        let indicator = |id: &NodeId| match graph.node(*id) {
            Some(Node::Indicator { column, .. }) => Some(*column),
            _ => None,
        };
        let group = used.iter().find_map(indicator);
        let labels = group.and_then(|column| match &program.schema().columns.get(column)?.kind {
            Kind::Category { labels } => Some(labels.len()),
            _ => None,
        });
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

    /// The pairs of columns whose products are summed.
    pub(crate) fn pairs(&self) -> BTreeSet<(usize, usize)> {
        let pair = |(_, of): &Moment| if let Of::Product(x, y) = of { Some((*x, *y)) } else { None };
        self.totals.values().flat_map(|(_, terms)| terms.keys()).filter_map(pair).collect()
    }

    /// A node in units of its last decimal.
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
            Node::Apply { .. } | Node::Positive { .. } => None,
        }
    }
}

/// The number of rows.
const ONE: Moment = (Rows::All, Of::One);

/// sum ← sum + factor·other.
fn add(sum: &mut Terms, other: &Terms, factor: i128) -> Option<()> {
    for (&moment, own) in other {
        let entry = sum.entry(moment).or_default();
        *entry = entry.checked_add(own.checked_mul(factor)?)?;
    }
    Some(())
}

/// The product, row by row; none beyond two columns.
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
