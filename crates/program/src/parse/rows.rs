//! Values with a number in every row, and the rows in which they have none since a cell is missing.
//!
//! A missing cell is stored as 0, and 0 is its indicator. So sums of columns and of products leave missing cells out as
//! they are, and other expressions are multiplied by as few indicators as make them 0.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::compile::Compiler;
use super::needs::{Needs, Rows};
use crate::graph::Node;
use crate::schema::{CELLS, Kind};
use crate::{Decimal, NodeId, ProgramError};

/// Largest number of needed columns for which sums are multiplied by indicators part by part: with more, one
/// product of all of them is cheaper.
const FEW: usize = 2;

impl Compiler<'_> {
    /// Returns a column of numbers.
    pub(super) fn numbers(&mut self, column: usize) -> Result<Rows, ProgramError> {
        let needed = self.schema.columns.get(column).is_some_and(crate::Column::has_indicator);
        let needs = if needed { Needs::from([column]) } else { Needs::new() };
        Ok(Rows { id: self.graph.column(column)?, needs })
    }

    /// Returns the indicator of the rows in which all of these columns have cells; `None` if there are none.
    pub(super) fn indicator_of(&mut self, needs: &Needs) -> Result<Option<NodeId>, ProgramError> {
        let all: Vec<usize> = needs.iter().copied().collect();
        if all.is_empty() { Ok(None) } else { self.product_of(&all).map(Some) }
    }

    /// Returns the product of the indicators of columns, at least one, at the least depth.
    fn product_of(&mut self, columns: &[usize]) -> Result<NodeId, ProgramError> {
        match columns {
            [] => self.graph.constant(Decimal::ONE),
            [one] => self.graph.indicator(*one, CELLS),
            _ => {
                let (left, right) = columns.split_at(columns.len() / 2);
                let (left, right) = (self.product_of(left)?, self.product_of(right)?);
                self.graph.multiply(left, right)
            }
        }
    }

    /// Returns the columns of which every missing cell makes the node 0.
    fn zeroes(&mut self, id: NodeId) -> Needs {
        if let Some(known) = self.zeroes.get(&id) {
            return known.clone();
        }
        for id in self.below(id, |id| self.zeroes.contains_key(&id)) {
            let own = self.zeroes_by_operands(id);
            self.zeroes.insert(id, own);
        }
        self.zeroes.get(&id).cloned().unwrap_or_default()
    }

    fn zeroes_by_operands(&self, id: NodeId) -> Needs {
        let of = |id: &NodeId| self.zeroes.get(id).cloned().unwrap_or_default();
        let may = |column: usize| self.schema.columns.get(column).is_some_and(|column| column.missing);
        match self.graph.node(id) {
            Some(Node::Column(column) | Node::Indicator { column, .. }) if may(*column) => {
                Needs::from([*column])
            }
            Some(Node::Linear { terms, constant }) if *constant == Decimal::ZERO => {
                let all = terms.iter().map(|(id, _)| of(id));
                all.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default()
            }
            Some(Node::Product(a, b)) => of(a).union(&of(b)).copied().collect(),
            Some(Node::Polynomial { of: x, coefficients })
                if coefficients.first() == Some(&Decimal::ZERO) =>
            {
                of(x)
            }
            _ => Needs::new(),
        }
    }

    /// Returns a node and all nodes that it depends on, in the order of the graph, but for known ones and what only
    /// they depend on.
    fn below(&self, id: NodeId, known: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let mut found = BTreeSet::from([id]);
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            for operand in self.graph.node(id).map(Node::operands).unwrap_or_default() {
                if !known(operand) && found.insert(operand) {
                    waiting.push(operand);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Returns a node that is the value where all of these columns have cells, and 0 where one is missing.
    pub(super) fn zeroed(&mut self, id: NodeId, needs: &Needs) -> Result<NodeId, ProgramError> {
        let lacking: Needs = needs.difference(&self.zeroes(id)).copied().collect();
        if lacking.is_empty() {
            return Ok(id);
        }
        if needs.len() <= FEW
            && let Some(Node::Linear { terms, constant }) = self.graph.node(id).cloned()
        {
            return self.zeroed_sum(&terms, constant, needs);
        }
        let polynomial = match self.graph.node(id) {
            Some(Node::Polynomial { of, coefficients }) => Some((*of, coefficients.clone())),
            _ => None,
        };
        if let Some((of, mut coefficients)) = polynomial
            && needs.is_subset(&self.zeroes(of))
            && let Some(first) = coefficients.first_mut()
        {
            let constant = std::mem::take(first);
            let rest = self.graph.polynomial(of, &coefficients)?;
            let constant = (self.product_of(&needs.iter().copied().collect::<Vec<_>>())?, constant);
            return self.graph.linear(&[(rest, Decimal::ONE), constant], Decimal::ZERO);
        }
        let lacking: Vec<usize> = lacking.into_iter().collect();
        let indicator = self.product_of(&lacking)?;
        self.graph.multiply(indicator, id)
    }

    /// Returns a sum that is 0 where one of these columns is missing, with one product for all terms that lack the
    /// same indicators.
    fn zeroed_sum(
        &mut self,
        terms: &[(NodeId, Decimal)],
        constant: Decimal,
        needs: &Needs,
    ) -> Result<NodeId, ProgramError> {
        let mut parts: BTreeMap<Vec<usize>, Vec<(NodeId, Decimal)>> = BTreeMap::new();
        for &(id, factor) in terms {
            let lacking = needs.difference(&self.zeroes(id)).copied().collect();
            parts.entry(lacking).or_default().push((id, factor));
        }
        let mut sum = Vec::new();
        for (lacking, terms) in parts {
            if lacking.is_empty() {
                sum.extend(terms);
                continue;
            }
            let (part, indicator) = (self.graph.linear(&terms, Decimal::ZERO)?, self.product_of(&lacking)?);
            sum.push((self.graph.multiply(indicator, part)?, Decimal::ONE));
        }
        if constant != Decimal::ZERO {
            let all: Vec<usize> = needs.iter().copied().collect();
            sum.push((self.product_of(&all)?, constant));
        }
        self.graph.linear(&sum, Decimal::ZERO)
    }

    /// Returns the value with numbers of its columns' ranges in place of missing cells, for functions that are
    /// undefined at 0 and comparisons whose gap is a part of the range. That takes no product.
    pub(super) fn filled(&mut self, value: &Rows) -> Result<NodeId, ProgramError> {
        if value.needs.is_empty() {
            return Ok(value.id);
        }
        let mut filled: HashMap<NodeId, NodeId> = HashMap::new();
        for id in self.below(value.id, |_| false) {
            let Some(node) = self.graph.node(id).cloned() else { continue };
            let of = |id: &NodeId| filled.get(id).copied().unwrap_or(*id);
            let new = match &node {
                Node::Column(column) => self.filled_column(*column)?,
                Node::Linear { terms, constant } => {
                    let terms: Vec<_> = terms.iter().map(|(id, factor)| (of(id), *factor)).collect();
                    self.graph.linear(&terms, *constant)?
                }
                Node::Product(a, b) => self.graph.multiply(of(a), of(b))?,
                Node::Polynomial { of: x, coefficients } => self.graph.polynomial(of(x), coefficients)?,
                // The operands of these are filled already.
                Node::Indicator { .. }
                | Node::Apply { .. }
                | Node::Positive { .. }
                | Node::Kth { .. }
                | Node::Sorted { .. }
                | Node::Rank { .. }
                | Node::LookUp { .. } => id,
            };
            filled.insert(id, new);
        }
        Ok(filled.get(&value.id).copied().unwrap_or(value.id))
    }

    /// Returns a column x with the number p of its range that is nearest to 0 in place of missing cells: x + p·(1 − m),
    /// m the indicator of its cells.
    fn filled_column(&mut self, column: usize) -> Result<NodeId, ProgramError> {
        let id = self.graph.column(column)?;
        let Some(own) = self.schema.columns.get(column).filter(|column| column.has_indicator()) else {
            return Ok(id);
        };
        let number = match own.kind {
            Kind::Decimal { decimals, low, high } => Decimal::new(0.max(low).min(high).into(), decimals),
            Kind::Real { low, high } => Decimal::from_f64(0.0_f64.max(low).min(high)),
            Kind::Category { .. } => None,
        };
        // A number of too many digits stays 0 in missing cells: functions refuse it by the range of their operand.
        let Some(number) = number else { return Ok(id) };
        let indicator = self.graph.indicator(column, CELLS)?;
        let minus = number.checked_neg().ok_or(ProgramError::Digits)?;
        self.graph.linear(&[(id, Decimal::ONE), (indicator, minus)], number)
    }

    /// Whether a node is computed from conditions and from columns of 0 and 1 alone, which are counted by their sum.
    pub(super) fn is_of_conditions(&self, id: NodeId) -> bool {
        let mut found = BTreeSet::from([id]);
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            match self.graph.node(id) {
                Some(Node::Column(column)) => {
                    let kind = self.schema.columns.get(*column).map(|column| &column.kind);
                    if !matches!(kind, Some(Kind::Decimal { decimals: 0, low: 0.., high: ..=1 })) {
                        return false;
                    }
                }
                Some(Node::Apply { .. }) => return false,
                Some(node) if node.needs_integers() => return false,
                Some(Node::Indicator { .. } | Node::Positive { .. }) | None => {}
                Some(node) => {
                    waiting.extend(node.operands().into_iter().filter(|operand| found.insert(*operand)));
                }
            }
        }
        true
    }

    /// Returns the indicator of the rows in which a category has another label than this one.
    pub(super) fn labels_but(
        &mut self,
        column: usize,
        labels: usize,
        but: usize,
    ) -> Result<NodeId, ProgramError> {
        let others = (0..labels).filter(|label| *label != but);
        let terms: Result<Vec<_>, ProgramError> =
            others.map(|label| Ok((self.graph.indicator(column, label)?, Decimal::ONE))).collect();
        self.graph.linear(&terms?, Decimal::ZERO)
    }
}
