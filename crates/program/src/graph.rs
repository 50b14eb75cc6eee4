//! Expression graph of a program: nodes that have a number in every row.
//!
//! Nodes are shared: an expression written twice is one node. Sums, differences and products with constants are
//! linear combinations, so that x − y + y is x and a score over thirty columns is one node.

mod describe;
mod node;
mod order;

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use crate::schema::{CELLS, Kind, Schema};
use crate::{Decimal, Function, ProgramError};

pub use node::{Node, NodeId};
pub use order::MAX_ENTRIES;

/// Largest number of nodes of a program.
pub const MAX_NODES: usize = 1 << 16;
/// Largest number of terms of all sums and polynomials together; terms of a sum inside another sum are counted again.
pub const MAX_TERMS: usize = 1 << 19;
/// Largest degree of a polynomial, and largest exponent of a power.
pub const MAX_DEGREE: usize = 255;

/// Graph of distinct nodes, in which operands stand before the nodes that use them.
///
/// ```
/// use sunzi_program::{Column, Graph, Schema};
///
/// let schema = Schema::new(100, vec![Column::integer("x", 0, 9), Column::integer("y", 0, 9)])?;
/// let mut graph = Graph::default();
/// let (x, y) = (graph.column(0)?, graph.column(1)?);
/// let difference = graph.sub(x, y)?;
/// let square = graph.multiply(difference, difference)?;
/// assert_eq!(graph.power(difference, 2)?, square, "an expression is there once");
/// assert_eq!(graph.describe(square, &schema), "(x - y) * (x - y)");
/// # Ok::<(), sunzi_program::ProgramError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Nodes by their hashes, or by the next free number: nodes are large, so they are not copied.
    known: HashMap<u64, NodeId>,
    hasher: RandomState,
    /// Number of terms that all operations on the graph have processed, against [`MAX_TERMS`].
    terms: usize,
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Graph {
    /// Returns all nodes of the graph.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the node with this identifier.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    fn insert(&mut self, node: Node) -> Result<NodeId, ProgramError> {
        let key = match self.find(&node) {
            Ok(id) => return Ok(id),
            Err(key) => key,
        };
        if self.nodes.len() >= MAX_NODES {
            return Err(ProgramError::Invalid(format!("more than {MAX_NODES} nodes")));
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(key, id);
        Ok(id)
    }

    /// Returns an existing node, or the key under which a new one is stored.
    fn find(&self, node: &Node) -> Result<NodeId, u64> {
        let mut key = self.hasher.hash_one(node);
        while let Some(&id) = self.known.get(&key) {
            if self.node(id) == Some(node) {
                return Ok(id);
            }
            key = key.wrapping_add(1);
        }
        Err(key)
    }

    /// Returns the graph with other nodes in the place of some, which read earlier nodes alone; equal nodes may be there twice.
    pub(crate) fn with_nodes(&self, replaced: BTreeMap<NodeId, Node>) -> Self {
        let mut graph = self.clone();
        for (id, node) in replaced {
            if let Some(own) = graph.nodes.get_mut(id.index()) {
                *own = node;
            }
        }
        graph
    }

    /// Counts terms against [`MAX_TERMS`]: sums of sums are expanded, which grows faster than any text.
    fn count(&mut self, terms: usize) -> Result<(), ProgramError> {
        self.terms += terms;
        if self.terms <= MAX_TERMS {
            return Ok(());
        }
        let problem = format!("more than {MAX_TERMS} terms in sums and polynomials: compute less at once");
        Err(ProgramError::Invalid(problem))
    }

    /// Adds a column of numbers.
    ///
    /// # Errors
    /// [`ProgramError::Invalid`] for a graph of more than [`MAX_NODES`] nodes or [`MAX_TERMS`] terms.
    pub fn column(&mut self, column: usize) -> Result<NodeId, ProgramError> {
        self.insert(Node::Column(column))
    }

    /// Adds an indicator: 1 where a category has the label at this index, or, for the label [`CELLS`], where a column
    /// of numbers has a cell.
    ///
    /// # Errors
    /// Every error of [`column`](Self::column).
    pub fn indicator(&mut self, column: usize, label: usize) -> Result<NodeId, ProgramError> {
        self.insert(Node::Indicator { column, label })
    }

    /// Adds a constant, equal in every row.
    ///
    /// # Errors
    /// Every error of [`column`](Self::column).
    pub fn constant(&mut self, constant: Decimal) -> Result<NodeId, ProgramError> {
        self.insert(Node::Linear { terms: Vec::new(), constant })
    }

    /// Returns the value of a node that is a constant.
    #[must_use]
    pub fn as_constant(&self, id: NodeId) -> Option<Decimal> {
        match self.node(id)? {
            Node::Linear { terms, constant } if terms.is_empty() => Some(*constant),
            _ => None,
        }
    }

    /// Adds the linear combination Σ c_i·x_i + c.
    ///
    /// # Errors
    /// Every error of [`column`](Self::column); [`ProgramError::Digits`] for constants of too many digits.
    pub fn linear(&mut self, terms: &[(NodeId, Decimal)], constant: Decimal) -> Result<NodeId, ProgramError> {
        let too_long = || ProgramError::Digits;
        for (id, _) in terms {
            let inner = self.node(*id).map_or(0, |node| node.terms());
            self.count(1 + inner)?;
        }
        let mut sum: std::collections::BTreeMap<NodeId, Decimal> = std::collections::BTreeMap::new();
        let mut constant = constant;
        let mut add = |id: NodeId, factor: Decimal| {
            let entry = sum.entry(id).or_default();
            *entry = entry.checked_add(factor).ok_or_else(too_long)?;
            Ok::<(), ProgramError>(())
        };
        for &(id, factor) in terms {
            match self.nodes.get(id.index()) {
                Some(Node::Linear { terms, constant: inner }) => {
                    let shift = factor.checked_mul(*inner).ok_or_else(too_long)?;
                    constant = constant.checked_add(shift).ok_or_else(too_long)?;
                    for &(inner, c) in terms {
                        add(inner, factor.checked_mul(c).ok_or_else(too_long)?)?;
                    }
                }
                Some(_) => add(id, factor)?,
                None => return Err(ProgramError::Invalid("an operand is no node of this graph".to_owned())),
            }
        }
        let terms: Vec<(NodeId, Decimal)> = sum.into_iter().filter(|(_, c)| *c != Decimal::ZERO).collect();
        match terms.as_slice() {
            [(id, factor)] if *factor == Decimal::ONE && constant == Decimal::ZERO => Ok(*id),
            _ => self.insert(Node::Linear { terms, constant }),
        }
    }

    /// Adds the sum a + b.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn add(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.linear(&[(a, Decimal::ONE), (b, Decimal::ONE)], Decimal::ZERO)
    }

    /// Adds the difference a − b.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        self.linear(&[(a, Decimal::ONE), (b, Decimal::MINUS_ONE)], Decimal::ZERO)
    }

    /// Adds the negation −a.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn negate(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        self.linear(&[(a, Decimal::MINUS_ONE)], Decimal::ZERO)
    }

    /// Adds the product a·b.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn multiply(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        for (constant, other) in [(a, b), (b, a)] {
            if let Some(factor) = self.as_constant(constant) {
                return self.linear(&[(other, factor)], Decimal::ZERO);
            }
        }
        self.check(a)?;
        self.check(b)?;
        // A missing cell is stored as 0, which its indicator leaves as it is.
        for (indicator, column) in [(a, b), (b, a)] {
            if let (Some(Node::Indicator { column: own, .. }), Some(Node::Column(column_of))) =
                (self.node(indicator), self.node(column))
                && own == column_of
            {
                return Ok(column);
            }
        }
        // 0 or 1 is its own square.
        if a == b && matches!(self.node(a), Some(Node::Indicator { .. } | Node::Positive { .. })) {
            return Ok(a);
        }
        self.insert(Node::Product(a.min(b), a.max(b)))
    }

    /// Adds the power a^exponent at the least depth.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear); [`ProgramError::Invalid`] for exponents above [`MAX_DEGREE`].
    pub fn power(&mut self, a: NodeId, exponent: u32) -> Result<NodeId, ProgramError> {
        match exponent {
            0 => self.constant(Decimal::ONE),
            1 => Ok(a),
            _ if exponent as usize > MAX_DEGREE => {
                Err(ProgramError::Invalid(format!("the exponent {exponent} is above {MAX_DEGREE}")))
            }
            _ => {
                let (high, low) = (self.power(a, exponent.div_ceil(2))?, self.power(a, exponent / 2)?);
                self.multiply(high, low)
            }
        }
    }

    /// Adds the polynomial Σ a_i·x^i.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear); [`ProgramError::Invalid`] for degrees above [`MAX_DEGREE`].
    pub fn polynomial(&mut self, of: NodeId, coefficients: &[Decimal]) -> Result<NodeId, ProgramError> {
        let length = coefficients.iter().rposition(|c| *c != Decimal::ZERO).map_or(0, |last| last + 1);
        let coefficients = coefficients.get(..length).unwrap_or_default();
        let at = |i: usize| coefficients.get(i).copied().unwrap_or_default();
        if length <= 2 {
            return self.linear(&[(of, at(1))], at(0));
        }
        if length > MAX_DEGREE + 1 {
            return Err(ProgramError::Invalid(format!("a polynomial of degree above {MAX_DEGREE}")));
        }
        if let Some(x) = self.as_constant(of) {
            let step = |sum: Decimal, c: &Decimal| sum.checked_mul(x)?.checked_add(*c);
            let value = coefficients.iter().rev().try_fold(Decimal::ZERO, step);
            return self.constant(value.ok_or(ProgramError::Digits)?);
        }
        self.check(of)?;
        self.count(length)?;
        self.insert(Node::Polynomial { of, coefficients: coefficients.to_vec() })
    }

    /// Adds the function f(x); `interval` bounds x where it is known.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear); [`ProgramError::Invalid`] for an empty interval.
    pub fn apply(
        &mut self,
        function: Function,
        of: NodeId,
        interval: Option<(Decimal, Decimal)>,
    ) -> Result<NodeId, ProgramError> {
        self.check(of)?;
        if interval.is_some_and(|(low, high)| low.to_f64() >= high.to_f64()) {
            return Err(ProgramError::Invalid("an interval has its lower end first".to_owned()));
        }
        self.insert(Node::Apply { of, function, interval })
    }

    /// Adds a comparison: 1 where a > 0, or a ≥ 0, else 0.
    ///
    /// # Errors
    /// Every error of [`linear`](Self::linear).
    pub fn positive(&mut self, of: NodeId, or_zero: bool) -> Result<NodeId, ProgramError> {
        self.check(of)?;
        if let Some(constant) = self.as_constant(of) {
            let holds = constant.mantissa() > 0 || or_zero && constant.mantissa() == 0;
            return self.constant(if holds { Decimal::ONE } else { Decimal::ZERO });
        }
        self.insert(Node::Positive { of, or_zero })
    }

    fn check(&self, id: NodeId) -> Result<(), ProgramError> {
        let missing = || ProgramError::Invalid("an operand is no node of this graph".to_owned());
        self.node(id).map(|_| ()).ok_or_else(missing)
    }

    /// Builds a graph from nodes that were read from elsewhere, with the checks of its own operations.
    pub(crate) fn from_nodes(nodes: Vec<Node>, schema: &Schema) -> Result<Self, ProgramError> {
        let mut graph = Self::default();
        let count = nodes.len().min(MAX_NODES);
        graph.nodes.reserve_exact(count);
        graph.known.reserve(count);
        for (index, node) in nodes.into_iter().enumerate() {
            let later = node.operands().iter().any(|operand| operand.index() >= index);
            let id = if later { None } else { graph.rebuilt(&node, schema)? };
            if id.map(NodeId::index) != Some(index) || graph.nodes.get(index) != Some(&node) {
                let text = "is not in the form that a program has: it was changed on the way";
                return Err(ProgramError::Invalid(format!("node {index} {text}")));
            }
        }
        Ok(graph)
    }

    /// Adds a node by the graph's operations, if it reads a column that exists.
    fn rebuilt(&mut self, node: &Node, schema: &Schema) -> Result<Option<NodeId>, ProgramError> {
        let kind = |column: usize| schema.columns.get(column).map(|column| &column.kind);
        let missing = |column: usize| schema.columns.get(column).is_some_and(|column| column.missing);
        Ok(Some(match node {
            Node::Column(column) => match kind(*column) {
                Some(Kind::Decimal { .. } | Kind::Real { .. }) => self.column(*column)?,
                _ => return Ok(None),
            },
            Node::Indicator { column, label } => match kind(*column) {
                Some(Kind::Category { labels }) if *label < labels.len() => {
                    self.indicator(*column, *label)?
                }
                Some(Kind::Decimal { .. } | Kind::Real { .. }) if *label == CELLS && missing(*column) => {
                    self.indicator(*column, *label)?
                }
                _ => return Ok(None),
            },
            Node::Linear { terms, constant } => self.linear(terms, *constant)?,
            Node::Product(a, b) => self.multiply(*a, *b)?,
            Node::Polynomial { of, coefficients } => self.polynomial(*of, coefficients)?,
            Node::Apply { of, function, interval } => self.apply(*function, *of, *interval)?,
            Node::Positive { of, or_zero } => self.positive(*of, *or_zero)?,
            Node::Kth { of, place } => self.kth(*of, *place)?,
            Node::Sorted { of, descending } => self.sorted(*of, *descending)?,
            Node::Rank { of, descending } => self.rank(*of, *descending)?,
            Node::LookUp { of, first, values } => self.look_up(*of, *first, values)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn sums_are_flat_and_terms_cancel() {
        let mut g = Graph::default();
        let (x, y) = (g.column(0).unwrap(), g.column(1).unwrap());
        let sum = g.add(x, y).unwrap();
        assert_eq!(g.sub(sum, y).unwrap(), x);
        let zero = g.sub(x, x).unwrap();
        assert_eq!(g.as_constant(zero), Some(Decimal::ZERO));
        let two = g.constant(d("2")).unwrap();
        let doubled = g.multiply(two, sum).unwrap();
        let terms = vec![(x, d("2")), (y, d("2"))];
        assert_eq!(g.node(doubled), Some(&Node::Linear { terms, constant: Decimal::ZERO }));
        assert_eq!(g.add(x, y).unwrap(), g.add(y, x).unwrap());
        assert_eq!(g.multiply(x, y).unwrap(), g.multiply(y, x).unwrap());
    }

    #[test]
    fn powers_have_the_least_depth() {
        let mut g = Graph::default();
        let x = g.column(0).unwrap();
        fn depth(g: &Graph, id: NodeId) -> usize {
            let node = g.node(id).unwrap();
            let below = node.operands().into_iter().map(|id| depth(g, id)).max().unwrap_or(0);
            below + usize::from(matches!(node, Node::Product(..)))
        }
        for exponent in 1..=64_u32 {
            let power = g.power(x, exponent).unwrap();
            assert_eq!(depth(&g, power), exponent.next_power_of_two().ilog2() as usize, "{exponent}");
        }
        assert!(g.power(x, 256).is_err());
    }

    #[test]
    fn constants_are_computed_at_once() {
        let mut g = Graph::default();
        let three = g.constant(d("3")).unwrap();
        let value = g.polynomial(three, &[d("1"), d("0"), d("0.5")]).unwrap();
        assert_eq!(g.as_constant(value), Some(d("5.5")));
        let yes = g.positive(three, false).unwrap();
        assert_eq!(g.as_constant(yes), Some(Decimal::ONE));
        let bit = g.indicator(0, 1).unwrap();
        assert_eq!(g.multiply(bit, bit).unwrap(), bit);
        let long = g.constant(Decimal::new(i128::MAX, 0).unwrap()).unwrap();
        assert!(matches!(g.multiply(long, long), Err(ProgramError::Digits)));
    }
}
