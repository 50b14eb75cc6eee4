//! Programs: a schema, a graph, and the outputs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::analysis::{Facts, SchemeChoice, facts_of};
use crate::bands::{Band, bands};
use crate::estimate::Estimate;
use crate::formula::DEEPEST;
use crate::schema::WIDEST_CELL;
use crate::{Formula, Graph, Node, NodeId, ProgramError, Schema, Undefined};

/// Computation over a table, as data: JSON stores it unchanged, and programs read from JSON are checked.
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
    /// Bands of the output nodes that undecided comparisons may change.
    bands: BTreeMap<NodeId, Band>,
}

/// Largest part of its range over all rows by which undecided comparisons may change a total.
const CLOSE_PART: f64 = 0.015;
/// Number of rows whose undecided comparisons may always change a total, however small its range.
const CLOSE_ROWS: f64 = 2.0;

/// Output of a program: a name and what is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Name of the output: given with `name = …`, or the text of the statement.
    pub name: String,
    /// Value of the output.
    pub value: OutputValue,
}

/// Value that a program computes for an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputValue {
    /// Number that a formula computes from totals.
    Number(Formula),
    /// Numbers of all groups, one for each.
    Groups(Vec<Group>),
    /// Column with a number for each row, decrypted as it is.
    Column(NodeId),
    /// Column with a number for some rows: those where another column is 1. That one is 0 elsewhere.
    Partial {
        /// Node with the numbers.
        column: NodeId,
        /// Node that is 1 in the rows that have a number, and else 0.
        valid: NodeId,
    },
}

/// Formula of an output for one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Labels of the group, one for each column after `by`.
    pub labels: Vec<String>,
    /// Formula of the group's number.
    pub formula: Formula,
}

/// Decrypted value of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Opened {
    /// Number of the output, or the reason why there is none, such as the mean of no rows.
    Number(Result<Estimate, Undefined>),
    /// Labels and numbers of all groups.
    Groups(Vec<(Vec<String>, Result<Estimate, Undefined>)>),
    /// Node whose column is the output.
    Column(NodeId),
}

impl OutputValue {
    fn formulas(&self) -> Vec<&Formula> {
        match self {
            Self::Number(formula) => vec![formula],
            Self::Groups(groups) => groups.iter().map(|group| &group.formula).collect(),
            Self::Column(_) | Self::Partial { .. } => Vec::new(),
        }
    }

    /// Returns the nodes that the output is computed from.
    pub(crate) fn nodes(&self) -> BTreeSet<NodeId> {
        let mut nodes: BTreeSet<NodeId> = self.formulas().into_iter().flat_map(Formula::totals).collect();
        nodes.extend(self.column());
        if let Self::Partial { valid, .. } = self {
            nodes.insert(*valid);
        }
        nodes
    }

    /// Returns the node whose column is the output.
    #[must_use]
    pub fn column(&self) -> Option<NodeId> {
        match self {
            Self::Column(column) | Self::Partial { column, .. } => Some(*column),
            Self::Number(_) | Self::Groups(_) => None,
        }
    }
}

/// Serialised form of a program, before it is checked.
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
    /// Makes the program of these outputs.
    ///
    /// # Errors
    /// [`ProgramError::Schema`]; [`ProgramError::Invalid`] for a program without outputs, nodes that do not exist,
    /// and formulas nested too deep.
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
        program.check_partial()?;
        program.bands = bands(&mut program.graph, &program.schema, used)?;
        Ok(program)
    }

    /// Checks that no column is an output for some rows and for others again, which are told apart by the column.
    fn check_partial(&self) -> Result<(), ProgramError> {
        let mut of: BTreeMap<NodeId, Option<NodeId>> = BTreeMap::new();
        for output in &self.outputs {
            let (column, valid) = match output.value {
                OutputValue::Column(column) => (column, None),
                OutputValue::Partial { column, valid } => (column, Some(valid)),
                OutputValue::Number(_) | OutputValue::Groups(_) => continue,
            };
            if *of.entry(column).or_insert(valid) != valid {
                let reason = "one column is two results with different missing rows: leave one of them out";
                return Err(ProgramError::Invalid(reason.to_owned()));
            }
        }
        Ok(())
    }

    /// Returns the program over a table of another number of rows.
    ///
    /// # Errors
    /// [`ProgramError::Schema`] for no or too many rows; [`ProgramError::Invalid`] for a program of order, whose places are those of its own number of rows.
    pub fn with_rows(&self, rows: u64) -> Result<Self, ProgramError> {
        if self.graph.nodes().iter().any(|node| matches!(node, Node::Kth { .. })) && rows != self.schema.rows
        {
            let reason = format!(
                "its places in order are those of {} rows: parse it again for {rows}",
                self.schema.rows
            );
            return Err(ProgramError::Invalid(reason));
        }
        let schema = Schema { rows, columns: self.schema.columns.clone() };
        Self::new(schema, self.graph.clone(), self.outputs.clone())
    }

    /// Returns the program with other nodes in the place of some, which have the same numbers.
    pub(crate) fn with_nodes(&self, nodes: BTreeMap<NodeId, Node>) -> Self {
        Self { graph: self.graph.with_nodes(nodes), ..self.clone() }
    }

    /// Returns the program of some of its outputs, by their places.
    pub(crate) fn with_outputs(&self, places: &[usize]) -> Result<Self, ProgramError> {
        let outputs = places.iter().filter_map(|&place| self.outputs.get(place)).cloned().collect();
        Self::new(self.schema.clone(), self.graph.clone(), outputs)
    }

    /// Returns the schema of the table that the program reads.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the graph of the program's nodes.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the outputs of the program.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Returns the band of a node, which bounds row by row how undecided comparisons change it; `None` where no
    /// comparison can be undecided.
    #[must_use]
    pub fn band(&self, id: NodeId) -> Option<NodeId> {
        self.bands.get(&id).and_then(|band| band.as_ref().ok()).copied()
    }

    /// Returns an output node with a comparison whose effect has no bound, and the reason.
    pub(crate) fn unbounded(&self) -> Option<(NodeId, &str)> {
        self.bands.iter().find_map(|(&id, band)| band.as_ref().err().map(|reason| (id, reason.as_str())))
    }

    /// Returns the nodes together with their bands.
    fn with_bands(&self, mut nodes: BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let bands: Vec<NodeId> = nodes.iter().filter_map(|&id| self.band(id)).collect();
        nodes.extend(bands);
        nodes
    }

    /// Returns the nodes whose sums over all rows are needed, bands included.
    #[must_use]
    pub fn totals(&self) -> BTreeSet<NodeId> {
        let formulas = self.outputs.iter().flat_map(|output| output.value.formulas());
        self.with_bands(formulas.flat_map(Formula::totals).collect())
    }

    /// Returns the nodes whose columns are decrypted, bands included.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<NodeId> {
        let valid = self.outputs.iter().filter_map(|output| match output.value {
            OutputValue::Partial { valid, .. } => Some(valid),
            _ => None,
        });
        self.with_bands(self.shown_columns().into_iter().chain(valid).collect())
    }

    /// Returns the node that is 1 in the rows in which an output column has a number; `None` where all have one.
    #[must_use]
    pub fn valid(&self, column: NodeId) -> Option<NodeId> {
        self.outputs.iter().find_map(|output| match output.value {
            OutputValue::Partial { column: own, valid } if own == column => Some(valid),
            _ => None,
        })
    }

    /// Returns the nodes whose columns are outputs.
    pub(crate) fn shown_columns(&self) -> BTreeSet<NodeId> {
        self.outputs.iter().filter_map(|output| output.value.column()).collect()
    }

    /// Returns the nodes that some output depends on, in the order of the graph.
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

    /// Computes the outputs from decrypted totals, as only the key holder can. Errors include what undecided
    /// comparisons may change.
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
            OutputValue::Column(column) | OutputValue::Partial { column, .. } => Opened::Column(*column),
        };
        self.outputs.iter().map(|output| (output.name.as_str(), open(&output.value))).collect()
    }

    /// Returns a total whose error includes what undecided comparisons may change.
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

/// Returns the facts of all nodes where comparisons are exact: with encrypted integers, and in the clear.
pub(crate) fn exact_facts(program: &Program) -> Vec<Facts> {
    facts(program).into_iter().map(|facts| Facts { exact: facts.grid, ..facts }).collect()
}

/// Returns the facts of all nodes as a scheme computes them.
pub(crate) fn facts_in(program: &Program, scheme: SchemeChoice) -> Vec<Facts> {
    match scheme {
        SchemeChoice::Integers => exact_facts(program),
        SchemeChoice::Bfv | SchemeChoice::Bgv => facts(&program.with_tables()),
        SchemeChoice::Ckks => facts(program),
    }
}
