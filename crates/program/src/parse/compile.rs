//! Compiler of syntax trees to graphs.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::error::Wrong;
use super::needs::{Needs, Rows};
use super::syntax::{Kind, Statement, Tree, statements};
use super::{Files, LONGEST_TEXT};
use crate::analysis::{Facts, extend_facts};
use crate::language;
use crate::program::{Group, Output, OutputValue};
use crate::schema::Kind as ColumnKind;
use crate::{Decimal, Formula, Function, Graph, NodeId, Program, ProgramError, Schema};

/// Largest number of groups of one statement.
const MAX_GROUPS: usize = 4096;
/// Largest number of parts of all formulas of a program; parts are counted again for every use of a name, and for
/// every group.
const MAX_PARTS: usize = 1 << 19;

/// Message where one number is expected.
const SEVERAL: &str = "several numbers stand where one is expected: let them be a result of their own";

/// Value of an expression of the language.
#[derive(Clone)]
pub(super) enum Value {
    /// Node with a number in every row, or in those where the columns it needs have cells.
    Rows(Rows),
    /// Formula of a number that is known after decryption.
    Total(Formula),
    /// Number that is known at compile time.
    Constant(Decimal),
    /// Formulas of several numbers, the first one first.
    Places(Vec<Formula>),
}

pub(super) struct Compiler<'a> {
    pub(super) text: &'a str,
    pub(super) schema: &'a Schema,
    pub(super) graph: Graph,
    pub(super) files: Files<'a>,
    names: HashMap<String, Value>,
    columns: HashMap<&'a str, usize>,
    /// Number of formula parts that were made or used again.
    parts: usize,
    /// Indicator of the rows of the current group.
    pub(super) group: Option<NodeId>,
    /// Columns of which every missing cell makes a node 0, for the nodes looked at so far.
    pub(super) zeroes: HashMap<NodeId, Needs>,
    /// Facts of the nodes looked at so far.
    known: Vec<Facts>,
}

pub(super) fn program(text: &str, schema: &Schema, files: Files<'_>) -> Result<Program, ProgramError> {
    if text.len() > LONGEST_TEXT {
        return Err(ProgramError::Invalid(format!("a text of more than {LONGEST_TEXT} bytes")));
    }
    let columns = schema.columns.iter().map(|column| column.name.as_str()).zip(0..).collect();
    let (graph, names) = (Graph::default(), HashMap::new());
    let (zeroes, group) = (HashMap::new(), None);
    let mut compiler =
        Compiler { text, schema, graph, files, names, columns, parts: 0, group, zeroes, known: Vec::new() };
    match compiler.outputs() {
        Ok(outputs) => Program::new(schema.clone(), compiler.graph, outputs),
        Err(wrong) => Err(Box::new(wrong.in_text(text)).into()),
    }
}

impl<'a> Compiler<'a> {
    fn outputs(&mut self) -> Result<Vec<Output>, Wrong> {
        let text = self.text;
        let (mut outputs, mut taken): (Vec<Output>, HashSet<String>) = Default::default();
        for statement in statements(text)? {
            let value = self.statement(&statement)?;
            let name = match &statement.name {
                Some((name, span)) => {
                    if self.position(name).is_some() {
                        return Err(Wrong::at(span, format!("`{name}` is a column: choose another name")));
                    }
                    name.clone()
                }
                None => text.get(statement.span.clone()).unwrap_or_default().to_owned(),
            };
            if !taken.insert(name.clone()) {
                let span = statement.name.as_ref().map_or(&statement.span, |(_, span)| span);
                return Err(Wrong::at(span, format!("there is a result {name:?} already")));
            }
            outputs.push(Output { name, value });
        }
        Ok(outputs)
    }

    /// Returns the facts of a node.
    pub(super) fn facts(&mut self, id: NodeId) -> Option<&Facts> {
        extend_facts(&mut self.known, &self.graph, self.schema);
        self.known.get(id.index())
    }

    /// Returns the index of the column with this name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.columns.get(name).copied()
    }

    fn spend(&mut self, value: &Value, span: &Range<usize>) -> Result<(), Wrong> {
        self.parts += match value {
            Value::Total(formula) => formula.size(),
            Value::Places(formulas) => formulas.iter().map(Formula::size).sum(),
            _ => 0,
        };
        if self.parts <= MAX_PARTS {
            return Ok(());
        }
        let problem = format!("formulas of more than {MAX_PARTS} parts: compute less at once");
        Err(Wrong::at(span, problem))
    }

    fn statement(&mut self, statement: &Statement) -> Result<OutputValue, Wrong> {
        if !statement.groups.is_empty() {
            return self.grouped(statement);
        }
        let value = self.value(&statement.value)?;
        if let Some((name, _)) = &statement.name {
            self.names.insert(name.clone(), value.clone());
        }
        Ok(match value {
            Value::Rows(Rows { id, needs }) => {
                let valid = self.indicator_of(&needs).map_err(|error| wrong(&statement.span, &error))?;
                valid.map_or(OutputValue::Column(id), |valid| OutputValue::Partial { column: id, valid })
            }
            Value::Total(formula) => OutputValue::Number(formula),
            Value::Constant(number) => OutputValue::Number(Formula::Number(number)),
            Value::Places(formulas) => {
                let group =
                    |(place, formula): (usize, Formula)| Group { labels: vec![place.to_string()], formula };
                OutputValue::Groups((1..).zip(formulas).map(group).collect())
            }
        })
    }

    /// Returns the value of a statement for every combination of labels of its groups.
    fn grouped(&mut self, statement: &Statement) -> Result<OutputValue, Wrong> {
        let mut groups: Vec<(Vec<String>, Option<NodeId>)> = vec![(Vec::new(), None)];
        for (name, span) in &statement.groups {
            let (column, labels) = self.category(name, span)?;
            if groups.len() * labels.len() > MAX_GROUPS {
                return Err(Wrong::at(span, format!("that makes more than {MAX_GROUPS} groups")));
            }
            let mut finer = Vec::new();
            for (before, mask) in groups {
                for (label, text) in labels.iter().enumerate() {
                    let bit = self.graph.indicator(column, label).map_err(|e| wrong(span, &e))?;
                    let mask = match mask {
                        Some(mask) => self.graph.multiply(mask, bit).map_err(|e| wrong(span, &e))?,
                        None => bit,
                    };
                    let labels = before.iter().cloned().chain([text.clone()]).collect();
                    finer.push((labels, Some(mask)));
                }
            }
            groups = finer;
        }
        let mut results = Vec::new();
        for (labels, mask) in groups {
            self.group = mask;
            let value = self.value(&statement.value);
            self.group = None;
            let value = value?;
            self.spend(&value, &statement.span)?;
            match value {
                Value::Total(formula) => results.push(Group { labels, formula }),
                _ => {
                    let message = "`by` groups totals, and this has a number for each row";
                    let help = "write for example sum(x) by region";
                    return Err(Wrong::at(&statement.value.span, message).with_help(help));
                }
            }
        }
        Ok(OutputValue::Groups(results))
    }

    /// Returns the index of a category's column, with its labels.
    fn category(&self, name: &str, span: &Range<usize>) -> Result<(usize, &'a [String]), Wrong> {
        let position = self.position(name);
        match position.and_then(|at| self.schema.columns.get(at)).map(|column| &column.kind) {
            Some(ColumnKind::Category { labels }) => Ok((position.unwrap_or(0), labels)),
            Some(_) => Err(Wrong::at(span, format!("`{name}` holds numbers: group by a column of labels"))),
            None => Err(Wrong::unknown(span, "column", name, self.column_names())),
        }
    }

    pub(super) fn column_names(&self) -> impl Iterator<Item = &str> {
        self.schema.columns.iter().map(|column| column.name.as_str())
    }

    pub(super) fn value(&mut self, tree: &Tree) -> Result<Value, Wrong> {
        match &tree.kind {
            Kind::Number(number) => Ok(Value::Constant(*number)),
            Kind::Text(text) => {
                let message = format!("the text {text:?} stands where a number is expected");
                Err(Wrong::at(&tree.span, message)
                    .with_help("names with blanks are written between backticks"))
            }
            Kind::Name(name) => self.name(name, &tree.span),
            Kind::Negate(inner) => {
                let minus = Value::Constant(Decimal::MINUS_ONE);
                let inner = self.value(inner)?;
                self.arithmetic("*", minus, inner, &tree.span)
            }
            Kind::Binary(sign @ (">" | ">=" | "<" | "<=" | "==" | "!="), a, b) => {
                self.comparison(sign, a, b, &tree.span)
            }
            Kind::Binary("^", base, exponent) => self.power(base, exponent, &tree.span),
            Kind::Binary(sign, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.arithmetic(sign, a, b, &tree.span)
            }
            Kind::Call(name, arguments) => self.call(name, arguments, &tree.span),
        }
    }

    fn name(&mut self, name: &str, span: &Range<usize>) -> Result<Value, Wrong> {
        if let Some(value) = self.names.get(name).cloned() {
            self.spend(&value, span)?;
            return Ok(value);
        }
        let Some(position) = self.position(name) else { return Err(self.unknown_name(name, span)) };
        if let Some(ColumnKind::Category { labels }) = self.schema.columns.get(position).map(|c| &c.kind) {
            let label = labels.first().map_or("…", String::as_str);
            let help = format!("compare it, as in {name} == {label:?}, or group by it");
            return Err(Wrong::at(span, format!("`{name}` holds labels, not numbers")).with_help(help));
        }
        self.numbers(position).map(Value::Rows).map_err(|error| wrong(span, &error))
    }

    /// Makes the error of a name that stands for no column and no result.
    fn unknown_name(&self, name: &str, span: &Range<usize>) -> Wrong {
        if let Some(function) = language::function(name) {
            let forms: Vec<String> = function.written().collect();
            let message = format!("`{name}` is a function: it takes arguments in brackets");
            return Wrong::at(span, message).with_help(format!("it is written {}", forms.join(" or ")));
        }
        let names = self.names.keys().map(String::as_str);
        let wrong = Wrong::unknown(span, "column", name, self.column_names().chain(names));
        let near = wrong.help.as_ref().is_some_and(|help| help.starts_with("did you mean"));
        let elsewhere = language::instead_of(name).map(|elsewhere| elsewhere.answer);
        match language::instead_of_word(name).or(elsewhere).filter(|_| !near) {
            Some(answer) => Wrong::at(span, wrong.message).with_help(answer),
            None => wrong,
        }
    }

    pub(super) fn arithmetic(
        &mut self,
        sign: &str,
        a: Value,
        b: Value,
        span: &Range<usize>,
    ) -> Result<Value, Wrong> {
        match (a, b) {
            (Value::Places(_), _) | (_, Value::Places(_)) => Err(Wrong::at(span, SEVERAL)),
            (Value::Constant(a), Value::Constant(b)) => constants(sign, a, b, span).map(Value::Constant),
            (Value::Total(a), b @ (Value::Total(_) | Value::Constant(_))) => {
                Ok(Value::Total(totals(sign, a, formula(b))))
            }
            (a @ Value::Constant(_), Value::Total(b)) => Ok(Value::Total(totals(sign, formula(a), b))),
            (Value::Rows(_), Value::Total(_)) | (Value::Total(_), Value::Rows(_)) => {
                let message = "a total is known only after decryption, and a column is still encrypted then";
                let help = "use var, cov or corr for moments around the mean, or take the totals apart";
                Err(Wrong::at(span, message).with_help(help))
            }
            (a, b) => {
                if let ("/", Value::Constant(divisor)) = (sign, &b) {
                    let inverse = divisor.reciprocal().map(Value::Constant).ok_or_else(|| {
                        let message = format!("1/{divisor} is no decimal fraction");
                        Wrong::at(span, message)
                            .with_help("multiply by as many digits as you need, or divide a total")
                    })?;
                    return self.arithmetic("*", a, inverse, span);
                }
                let (a, mut b) = (self.rows(a, span)?, self.rows(b, span)?);
                let needs = a.joint(&b);
                if sign == "/" {
                    let of = self.filled(&b);
                    let inverse = of.and_then(|of| self.graph.apply(Function::Inverse, of, None));
                    b.id = inverse.map_err(|error| wrong(span, &error))?;
                }
                let node = match sign {
                    "+" => self.graph.add(a.id, b.id),
                    "-" => self.graph.sub(a.id, b.id),
                    _ => self.graph.multiply(a.id, b.id),
                };
                node.map(|id| Value::Rows(Rows { id, needs })).map_err(|error| wrong(span, &error))
            }
        }
    }

    /// Converts a value to one with a number in every row.
    pub(super) fn rows(&mut self, value: Value, span: &Range<usize>) -> Result<Rows, Wrong> {
        match value {
            Value::Rows(rows) => Ok(rows),
            Value::Constant(number) => {
                self.graph.constant(number).map(Rows::everywhere).map_err(|error| wrong(span, &error))
            }
            Value::Places(_) => Err(Wrong::at(span, SEVERAL)),
            Value::Total(_) => Err(Wrong::at(span, "a total stands where a number for each row is expected")),
        }
    }

    fn power(&mut self, base: &Tree, exponent: &Tree, span: &Range<usize>) -> Result<Value, Wrong> {
        let whole = match self.value(exponent)? {
            Value::Constant(number) => number.scaled(0).and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        let exponent = whole
            .filter(|&exponent| exponent <= 255)
            .ok_or_else(|| Wrong::at(&exponent.span, "an exponent must be a whole number from 0 to 255"))?;
        match self.value(base)? {
            Value::Rows(rows) => {
                let power = self.graph.power(rows.id, exponent);
                power.map(|id| Value::Rows(rows.at(id))).map_err(|e| wrong(span, &e))
            }
            other => {
                let one = Value::Constant(Decimal::ONE);
                (0..exponent).try_fold(one, |product, _| self.arithmetic("*", product, other.clone(), span))
            }
        }
    }

    fn comparison(&mut self, sign: &str, a: &Tree, b: &Tree, span: &Range<usize>) -> Result<Value, Wrong> {
        for (name, label) in [(a, b), (b, a)] {
            if let (Kind::Name(name), Kind::Text(label)) = (&name.kind, &label.kind) {
                return self.label(sign, name, label, span);
            }
        }
        let difference = {
            let (a, b) = (self.value(a)?, self.value(b)?);
            let (a, b) = match sign {
                "<" | "<=" => (b, a),
                _ => (a, b),
            };
            let difference = self.arithmetic("-", a, b, span)?;
            self.rows(difference, span)?
        };
        let node = self.compared(sign, &difference).map(Rows::everywhere);
        node.map(Value::Rows).map_err(|error| wrong(span, &error))
    }

    /// Returns the node that is 1 where the difference of two numbers is as the sign says, and 0 elsewhere and where
    /// it is missing.
    fn compared(&mut self, sign: &str, difference: &Rows) -> Result<NodeId, ProgramError> {
        let (of, there) = (self.filled(difference)?, self.indicator_of(&difference.needs)?);
        let graph = &mut self.graph;
        let node = match sign {
            ">" | "<" => graph.positive(of, false)?,
            ">=" | "<=" => graph.positive(of, true)?,
            // Not below zero, excluding the numbers above it.
            _ => {
                let (above, not_below) = (graph.positive(of, false)?, graph.positive(of, true)?);
                graph.sub(not_below, above)?
            }
        };
        let node = match there {
            Some(there) => graph.multiply(there, node)?,
            None => node,
        };
        match (sign, there) {
            ("!=", Some(there)) => graph.sub(there, node),
            ("!=", None) => complement(graph, node),
            _ => Ok(node),
        }
    }

    fn label(&mut self, sign: &str, name: &str, label: &str, span: &Range<usize>) -> Result<Value, Wrong> {
        let (column, labels) = self.category(name, span)?;
        let Some(position) = labels.iter().position(|other| other == label) else {
            return Err(Wrong::unknown(span, "label", label, labels.iter().map(String::as_str)));
        };
        let bit = self.graph.indicator(column, position);
        let node = match sign {
            "==" => bit,
            "!=" if self.schema.columns.get(column).is_some_and(|column| column.missing) => {
                self.labels_but(column, labels.len(), position)
            }
            "!=" => bit.and_then(|bit| complement(&mut self.graph, bit)),
            _ => return Err(Wrong::at(span, "labels are equal or not: write == or !=")),
        };
        node.map(|id| Value::Rows(Rows::everywhere(id))).map_err(|error| wrong(span, &error))
    }
}

/// Returns the complement 1 − x of a node x that is 0 or 1.
fn complement(graph: &mut Graph, x: NodeId) -> Result<NodeId, ProgramError> {
    graph.linear(&[(x, Decimal::MINUS_ONE)], Decimal::ONE)
}

pub(super) fn wrong(span: &Range<usize>, error: &ProgramError) -> Wrong {
    Wrong::at(span, error.to_string())
}

pub(super) fn formula(value: Value) -> Formula {
    match value {
        Value::Total(formula) => formula,
        Value::Constant(number) => Formula::Number(number),
        // Sums of rows were made before this point, and several numbers refused.
        Value::Rows(rows) => Formula::Total(rows.id),
        Value::Places(formulas) => formulas.into_iter().next().unwrap_or(Formula::Rows),
    }
}

fn totals(sign: &str, a: Formula, b: Formula) -> Formula {
    match sign {
        "+" => a.add(b),
        "-" => a.sub(b),
        "*" => a.multiply(b),
        _ => a.divide(b),
    }
}

fn constants(sign: &str, a: Decimal, b: Decimal, span: &Range<usize>) -> Result<Decimal, Wrong> {
    let result = match sign {
        "+" => a.checked_add(b),
        "-" => b.checked_neg().and_then(|b| a.checked_add(b)),
        "*" => a.checked_mul(b),
        _ => b.reciprocal().and_then(|b| a.checked_mul(b)),
    };
    let help = "write the value with as many digits as you need";
    result.ok_or_else(|| Wrong::at(span, "this is no decimal fraction of at most 36 digits").with_help(help))
}
