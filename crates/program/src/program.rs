//! A program: a schema, a graph, and what is to come out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::analysis::{Facts, facts_of};
use crate::bands::{Band, bands};
use crate::estimate::Estimate;
use crate::formula::DEEPEST;
use crate::schema::WIDEST_CELL;
use crate::{Formula, Graph, Node, NodeId, ProgramError, Schema, Undefined};

/// A computation over a table, as data: it goes through JSON unchanged, and what comes from there is checked.
///
/// ```
/// use sunzi_program::{Column, Program, Schema};
///
/// let schema = Schema::new(303, vec![Column::integer("age", 0, 120), Column::integer("chol", 0, 600)])?;
/// let program = Program::parse("mean(age); corr(age, chol)", &schema)?;
/// assert_eq!(program.outputs().len(), 2);
/// let text = serde_json::to_string(&program).unwrap();
/// assert_eq!(serde_json::from_str::<Program>(&text).unwrap(), program);
/// # Ok::<(), sunzi_program::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Program {
    schema: Schema,
    graph: Graph,
    outputs: Vec<Output>,
    /// What bounds the nodes that come out where comparisons are not told.
    bands: BTreeMap<NodeId, Band>,
}

/// A total that comparisons which are not told may change by more than this part of its range over all rows is refused...
const CLOSE_PART: f64 = 0.015;
/// ...and any that so many rows may not change.
const CLOSE_ROWS: f64 = 2.0;

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Its name: given with `name = …`, or the text of the statement.
    pub name: String,
    /// What it is.
    pub value: OutputValue,
}

/// What comes out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputValue {
    /// A number, from totals.
    Number(Formula),
    /// A number for each group.
    Groups(Vec<Group>),
    /// A number for each row, decrypted as it is.
    Column(NodeId),
}

/// A number for one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The labels, one for each column after `by`.
    pub labels: Vec<String>,
    /// The number.
    pub formula: Formula,
}

/// A result, opened.
#[derive(Clone, Debug, PartialEq)]
pub enum Opened {
    /// A number, or why there is none, such as the mean of nothing.
    Number(Result<Estimate, Undefined>),
    /// Labels and numbers.
    Groups(Vec<(Vec<String>, Result<Estimate, Undefined>)>),
    /// The node whose column this is.
    Column(NodeId),
}

impl OutputValue {
    fn formulas(&self) -> Vec<&Formula> {
        match self {
            Self::Number(formula) => vec![formula],
            Self::Groups(groups) => groups.iter().map(|group| &group.formula).collect(),
            Self::Column(_) => Vec::new(),
        }
    }
}

/// A program on its way.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    schema: Schema,
    nodes: Vec<Node>,
    outputs: Vec<Output>,
}

impl From<Program> for Parts {
    fn from(program: Program) -> Self {
        Self { schema: program.schema, nodes: program.graph.nodes().to_vec(), outputs: program.outputs }
    }
}

impl TryFrom<Parts> for Program {
    type Error = ProgramError;

    fn try_from(parts: Parts) -> Result<Self, ProgramError> {
        parts.schema.check()?;
        let graph = Graph::from_nodes(parts.nodes, &parts.schema)?;
        Self::new(parts.schema, graph, parts.outputs)
    }
}

impl Program {
    /// A program of these outputs.
    ///
    /// # Errors
    /// [`ProgramError::Schema`]; [`ProgramError::Invalid`] for no outputs, nodes that are not there, and formulas nested too deep.
    pub fn new(schema: Schema, graph: Graph, outputs: Vec<Output>) -> Result<Self, ProgramError> {
        schema.check_up_to(WIDEST_CELL)?;
        if outputs.is_empty() {
            return Err(ProgramError::Invalid("there is nothing to compute".to_owned()));
        }
        let mut program = Self { schema, graph, outputs, bands: BTreeMap::new() };
        let formulas = || program.outputs.iter().flat_map(|output| output.value.formulas());
        if formulas().any(|formula| formula.depth() > DEEPEST) {
            return Err(ProgramError::Invalid(format!("a formula is nested deeper than {DEEPEST}")));
        }
        let used: BTreeSet<NodeId> = program.totals().into_iter().chain(program.columns()).collect();
        if let Some(id) = used.iter().find(|&&id| program.graph.node(id).is_none()) {
            let reason = format!("an output needs node {}, which is not there", id.0);
            return Err(ProgramError::Invalid(reason));
        }
        program.bands = bands(&mut program.graph, &program.schema, used)?;
        Ok(program)
    }

    /// The table.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The nodes.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The results.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The node that bounds, row by row, by how much comparisons that are not told change another one; none where there are no such comparisons.
    #[must_use]
    pub fn band(&self, id: NodeId) -> Option<NodeId> {
        self.bands.get(&id).and_then(|band| band.as_ref().ok()).copied()
    }

    /// A node that comes out with comparisons that have no bound, and why.
    pub(crate) fn unbounded(&self) -> Option<(NodeId, &str)> {
        self.bands.iter().find_map(|(&id, band)| band.as_ref().err().map(|reason| (id, reason.as_str())))
    }

    /// Nodes and their bands.
    fn with_bands(&self, mut nodes: BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let bands: Vec<NodeId> = nodes.iter().filter_map(|&id| self.band(id)).collect();
        nodes.extend(bands);
        nodes
    }

    /// Nodes whose sums over all rows are needed, each once; those that bound others among them.
    #[must_use]
    pub fn totals(&self) -> BTreeSet<NodeId> {
        let formulas = self.outputs.iter().flat_map(|output| output.value.formulas());
        self.with_bands(formulas.flat_map(Formula::totals).collect())
    }

    /// Nodes whose rows come out, each once; those that bound others among them.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<NodeId> {
        self.with_bands(self.shown_columns())
    }

    /// Nodes whose rows are results.
    pub(crate) fn shown_columns(&self) -> BTreeSet<NodeId> {
        let column = |output: &Output| match output.value {
            OutputValue::Column(id) => Some(id),
            _ => None,
        };
        self.outputs.iter().filter_map(column).collect()
    }

    /// Nodes that are computed for some output, in order.
    #[must_use]
    pub fn used(&self) -> BTreeSet<NodeId> {
        let mut used: BTreeSet<NodeId> = self.totals().into_iter().chain(self.columns()).collect();
        for index in (0..self.graph.nodes().len()).rev() {
            let id = NodeId(index as u32);
            if used.contains(&id) {
                used.extend(self.graph.node(id).into_iter().flat_map(Node::operands));
            }
        }
        used
    }

    /// The results from decrypted totals: what only the key holder can do. Where comparisons are not told, errors include what they may change.
    pub fn finish(&self, total: impl Fn(NodeId) -> Option<Estimate>) -> Vec<(&str, Opened)> {
        let known = facts(self);
        let total = |id| self.total(id, &known, &total);
        let value = |formula: &Formula| formula.estimate(self.schema.rows, &total);
        let open = |output: &OutputValue| match output {
            OutputValue::Number(formula) => Opened::Number(value(formula)),
            OutputValue::Groups(groups) => {
                let numbers = groups.iter().map(|group| (group.labels.clone(), value(&group.formula)));
                Opened::Groups(numbers.collect())
            }
            OutputValue::Column(id) => Opened::Column(*id),
        };
        self.outputs.iter().map(|output| (output.name.as_str(), open(&output.value))).collect()
    }

    /// A total with what comparisons may change of it.
    fn total(
        &self,
        id: NodeId,
        known: &[Facts],
        total: &impl Fn(NodeId) -> Option<Estimate>,
    ) -> Result<Estimate, Undefined> {
        let own = total(id).ok_or(Undefined::Missing)?;
        let Some(band) = self.band(id) else { return Ok(own) };
        let band = total(band).ok_or(Undefined::Missing)?;
        let (rows, width) = (self.schema.rows, band.number.to_f64().max(0.0));
        let range = known.get(id.index()).map_or(0.0, |facts| facts.high - facts.low);
        let most = range * (rows as f64 * CLOSE_PART).max(CLOSE_ROWS);
        let told = width <= most + band.error;
        if !told {
            return Err(Undefined::Close { weight: (width / range).min(rows as f64), rows });
        }
        Ok(own.widened(&band))
    }
}

/// Returns the facts of all nodes, in their order.
pub(crate) fn facts(program: &Program) -> Vec<Facts> {
    facts_of(program.graph(), program.schema())
}
