//! Tables of exact schemes: what is computed from one encrypted number of few values is a polynomial of it.
//!
//! Comparisons, tables of the user's own, and what is computed from them and from the same number alone become one look-up
//! each, with the nodes before it left out: equality, which is two comparisons, and (x > 1) * (x < 5) take one polynomial.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use sunzi_circuits::polynomial::{Cost, Method, Polynomial};

use super::{Exact, Facts, Plan, SchemeChoice, exact_facts};
use crate::graph::Node;
use crate::run::{Clear, computed};
use crate::{Decimal, NodeId, Program};

/// Largest number of values of a table in exact schemes: the work of finding its polynomial grows with the square.
pub const MAX_VALUES: usize = 1 << 12;
/// Largest number of values that are computed for all tables of a program together, so that a short text does not take
/// much time and memory.
const MOST_VALUES: usize = 1 << 21;

/// Returns the cost of a table of so many entries as a polynomial modulo a prime.
pub(crate) fn cost_of(entries: usize) -> Cost {
    Polynomial::<()>::constants(&vec![1; entries]).plan(u64::MAX, Method::Automatic).cost()
}

/// Returns the number of values that a node may have, those of slots without a row among them.
fn width(exact: &Exact) -> Option<usize> {
    let (low, high) = (exact.low.min(exact.padding), exact.high.max(exact.padding));
    usize::try_from(high.checked_sub(low)?.checked_add(1)?).ok().filter(|&width| width <= MAX_VALUES)
}

impl Program {
    /// Returns the program as exact schemes compute it: comparisons of numbers of at most [`MAX_VALUES`](crate::analysis::MAX_VALUES) values are
    /// tables, and what is computed from one such number alone is one table. Nodes keep their identifiers and their
    /// numbers; some are used no more.
    ///
    /// ```
    /// use sunzi_program::{Column, Node, Program, Schema};
    ///
    /// let schema = Schema::new(100, vec![Column::integer("age", 0, 120)])?;
    /// let program = Program::parse("count((age > 18) * (age < 65))", &schema)?;
    /// let tabled = program.with_tables();
    /// let total = *program.totals().first().unwrap();
    /// assert!(matches!(tabled.graph().node(total), Some(Node::LookUp { values, .. }) if values.len() == 121));
    /// assert_eq!(tabled.used().len(), 2);
    /// # Ok::<(), sunzi_program::ProgramError>(())
    /// ```
    #[must_use]
    pub fn with_tables(&self) -> Cow<'_, Self> {
        let told = |node: &Node| matches!(node, Node::Positive { .. } | Node::LookUp { .. });
        if !self.graph().nodes().iter().any(told) {
            return Cow::Borrowed(self);
        }
        let replaced = Tables::new(self).replaced();
        if replaced.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(self.with_nodes(replaced)) }
    }
}

impl Plan {
    /// Returns the plan with its program as its scheme computes it.
    pub(crate) fn computed(&self) -> Cow<'_, Self> {
        let exact = matches!(self.parameters.scheme(), SchemeChoice::Bfv | SchemeChoice::Bgv);
        if !exact || self.packed.is_some() {
            return Cow::Borrowed(self);
        }
        match self.program.with_tables() {
            Cow::Owned(program) => Cow::Owned(Self { program, ..self.clone() }),
            Cow::Borrowed(_) => Cow::Borrowed(self),
        }
    }
}

/// A node as a function of one encrypted node.
#[derive(Clone, Copy)]
struct Form {
    source: NodeId,
    /// Whether a comparison or a table is in it.
    told: bool,
}

/// Search for the nodes of a program that become tables.
struct Tables<'a> {
    program: &'a Program,
    known: Vec<Facts>,
    used: BTreeSet<NodeId>,
    forms: BTreeMap<NodeId, Form>,
    /// Values of nodes for all values of a source.
    values: BTreeMap<(NodeId, NodeId), Clear>,
    /// Number of values that may still be computed.
    left: usize,
}

impl<'a> Tables<'a> {
    fn new(program: &'a Program) -> Self {
        let mut tables = Self {
            program,
            known: exact_facts(program),
            used: program.used(),
            forms: BTreeMap::new(),
            values: BTreeMap::new(),
            left: MOST_VALUES,
        };
        for id in tables.used.clone() {
            if let Some(form) = tables.form(id) {
                tables.forms.insert(id, form);
            }
        }
        tables
    }

    fn node(&self, id: NodeId) -> Option<&'a Node> {
        self.program.graph().node(id)
    }

    fn exact(&self, id: NodeId) -> Option<Exact> {
        self.known.get(id.index()).filter(|facts| facts.encrypted).and_then(|facts| facts.exact)
    }

    fn width(&self, id: NodeId) -> Option<usize> {
        width(&self.exact(id)?)
    }

    /// Returns the form of an encrypted node that exact schemes compute; `None` for others.
    fn form(&self, id: NodeId) -> Option<Form> {
        self.exact(id)?;
        let own = Form { source: id, told: false };
        let node = self.node(id)?;
        let operands = node.operands();
        let clear = |id: &NodeId| self.known.get(id.index()).is_some_and(|facts| !facts.encrypted);
        let mut forms = Vec::with_capacity(operands.len());
        for operand in operands.iter().filter(|id| !clear(id)) {
            forms.push(*self.forms.get(operand)?);
        }
        let source = forms.first().map_or(id, |form| form.source);
        let one = forms.len() == operands.len() && forms.iter().all(|form| form.source == source);
        match node {
            Node::Column(_) | Node::Indicator { .. } => Some(own),
            Node::Apply { .. } | Node::Kth { .. } | Node::Sorted { .. } | Node::Rank { .. } => None,
            Node::Positive { of, .. } | Node::LookUp { of, .. } => {
                let wide = self.width(source).is_none();
                let source = if wide { *of } else { source };
                self.width(source).map(|_| Form { source, told: true })
            }
            Node::Linear { .. } | Node::Product(..) | Node::Polynomial { .. } if one => {
                let told = forms.iter().any(|form| form.told);
                Some(Form { source, told })
            }
            _ => Some(own),
        }
    }

    /// Returns the nodes that become others, from the outputs back.
    fn replaced(mut self) -> BTreeMap<NodeId, Node> {
        let outputs: BTreeSet<NodeId> =
            self.program.totals().into_iter().chain(self.program.columns()).collect();
        let mut users: BTreeMap<NodeId, usize> = BTreeMap::new();
        for operand in self.used.iter().filter_map(|id| self.node(*id)).flat_map(Node::operands) {
            *users.entry(operand).or_default() += 1;
        }
        let (mut needed, mut replaced) = (outputs.clone(), BTreeMap::new());
        let private = |id: &NodeId| !outputs.contains(id) && users.get(id) == Some(&1);
        for id in self.used.clone().into_iter().rev() {
            let Some(node) = self.node(id).filter(|_| needed.contains(&id)) else { continue };
            if let Some(source) = self.pays(id, node, private)
                && let Some(table) = self.table(id, node, source)
            {
                needed.insert(source);
                if let Some(table) = table {
                    replaced.insert(id, table);
                }
                continue;
            }
            needed.extend(node.operands());
        }
        shared(replaced)
    }

    /// Returns the source of a node that is better computed by one table.
    fn pays(&self, id: NodeId, node: &Node, private: impl Fn(&NodeId) -> bool) -> Option<NodeId> {
        let Form { source, told } = *self.forms.get(&id)?;
        let told_operand = |id: &NodeId| self.forms.get(id).is_some_and(|form| form.told);
        let operands = || node.operands().into_iter().filter(told_operand);
        let pays = match node {
            // What other nodes need too is there anyway.
            Node::Linear { .. } => operands().count() > 1 && operands().any(|id| private(&id)),
            Node::Product(..) => operands().any(|id| private(&id)),
            _ => true,
        };
        (told && pays && source != id).then_some(source)
    }

    /// Returns the table of a node, `None` inside for one that is a table of its source as it is; nothing where it would take too much.
    fn table(&mut self, id: NodeId, node: &Node, source: NodeId) -> Option<Option<Node>> {
        if matches!(node, Node::LookUp { of, .. } if *of == source) {
            return Some(None);
        }
        let decimals = self.exact(id)?.decimals;
        let range = self.exact(source)?;
        let first = i64::try_from(range.low.min(range.padding)).ok()?;
        let Clear::Units(units) = self.values_of(id, source)? else { return None };
        let values =
            units.into_iter().map(|v| Decimal::new(v, decimals)).collect::<Option<Vec<Decimal>>>()?;
        Some(Some(Node::LookUp { of: source, first, values }))
    }

    /// Returns the values of a node for all values of its source.
    fn values_of(&mut self, id: NodeId, source: NodeId) -> Option<Clear> {
        let mut open = vec![id];
        while let Some(&id) = open.last() {
            if self.values.contains_key(&(id, source)) {
                open.pop();
                continue;
            }
            let range = self.exact(source)?;
            let width = width(&range)?;
            let operands = if id == source { Vec::new() } else { self.node(id)?.operands() };
            let before = open.len();
            open.extend(operands.iter().filter(|of| !self.values.contains_key(&(**of, source))));
            if open.len() > before {
                continue;
            }
            open.pop();
            self.left = self.left.checked_sub(width)?;
            let value = if id == source {
                let low = range.low.min(range.padding);
                Clear::Units((0..width as i128).map(|step| low + step).collect())
            } else {
                let of = operands.iter().map(|of| self.values.get(&(*of, source)));
                let of = of.collect::<Option<Vec<&Clear>>>()?;
                computed(self.program, &self.known, id, &of, width).ok()?
            };
            self.values.insert((id, source), value);
        }
        self.values.get(&(id, source)).cloned()
    }
}

/// Makes equal tables one: later ones are the first.
fn shared(mut replaced: BTreeMap<NodeId, Node>) -> BTreeMap<NodeId, Node> {
    let mut first: HashMap<Node, NodeId> = HashMap::new();
    for (&id, node) in &mut replaced {
        match first.get(node) {
            Some(&same) => {
                *node = Node::Linear { terms: vec![(same, Decimal::ONE)], constant: Decimal::ZERO };
            }
            None => {
                first.insert(node.clone(), id);
            }
        }
    }
    replaced
}
