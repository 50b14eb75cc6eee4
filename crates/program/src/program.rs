//! A program: a schema, a graph, and what is to come out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::formula::DEEPEST;
use crate::run::Estimate;
use crate::{Formula, Graph, Node, NodeId, ProgramError, Schema};

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
}

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
    /// A number; none where it is not defined, such as the mean of nothing.
    Number(Option<Estimate>),
    /// Labels and numbers.
    Groups(Vec<(Vec<String>, Option<Estimate>)>),
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
        schema.check()?;
        if outputs.is_empty() {
            return Err(ProgramError::Invalid("there is nothing to compute".to_owned()));
        }
        let program = Self { schema, graph, outputs };
        let formulas = || program.outputs.iter().flat_map(|output| output.value.formulas());
        if formulas().any(|formula| formula.depth() > DEEPEST) {
            return Err(ProgramError::Invalid(format!("a formula is nested deeper than {DEEPEST}")));
        }
        let used = program.totals().into_iter().chain(program.columns());
        match used.into_iter().find(|&id| program.graph.node(id).is_none()) {
            Some(id) => {
                Err(ProgramError::Invalid(format!("an output needs node {}, which is not there", id.0)))
            }
            None => Ok(program),
        }
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

    /// Nodes whose sums over all rows are needed, each once.
    #[must_use]
    pub fn totals(&self) -> BTreeSet<NodeId> {
        let formulas = self.outputs.iter().flat_map(|output| output.value.formulas());
        formulas.flat_map(Formula::totals).collect()
    }

    /// Nodes whose rows come out, each once.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<NodeId> {
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

    /// The results from decrypted totals: what only the key holder can do.
    pub fn finish(&self, total: impl Fn(NodeId) -> Option<Estimate>) -> Vec<(&str, Opened)> {
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
}
