//! Functions of the program language.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use sunzi_rlwe::words::counted;

use super::compile::{Compiler, Value, wrong};
use super::error::Wrong;
use super::syntax::{Kind, NAMES, Tree};
use crate::schema::Kind as ColumnKind;
use crate::{Decimal, Formula, Function, NodeId, ProgramError};

/// Names of functions in other languages, with their names in the program language.
const ELSEWHERE: [(&str, &str); 10] = [
    ("avg", "mean"),
    ("average", "mean"),
    ("total", "sum"),
    ("variance", "var"),
    ("stddev", "std"),
    ("stdev", "std"),
    ("sd", "std"),
    ("covariance", "cov"),
    ("correlation", "corr"),
    ("ln", "log"),
];

/// Weights of columns in a score, as a file of weights states them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    weights: BTreeMap<String, f64>,
    #[serde(default)]
    intercept: f64,
    /// Interval of the score; the ranges of columns determine it, and a stated interval does not narrow it.
    interval: Option<[f64; 2]>,
}

impl Compiler<'_> {
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[Tree],
        span: &Range<usize>,
    ) -> Result<Value, Wrong> {
        if let Some(&function) = Function::ALL.iter().find(|function| function.name() == name) {
            return self.function(function, arguments, span);
        }
        match (name, arguments) {
            ("count", []) => Ok(Value::Total(self.count())),
            ("count" | "sum", [x]) => {
                let x = self.argument(x)?;
                self.total(x, span).map(Value::Total)
            }
            ("mean", [x]) => {
                let x = self.argument(x)?;
                Ok(Value::Total(self.total(x, span)?.divide(self.count())))
            }
            ("var", [x]) => {
                let x = self.argument(x)?;
                self.covariance(x, x, span).map(Value::Total)
            }
            ("std", [x]) => {
                let x = self.argument(x)?;
                Ok(Value::Total(self.covariance(x, x, span)?.square_root()))
            }
            ("cov" | "corr" | "dot", [x, y]) => {
                let (x, y) = (self.argument(x)?, self.argument(y)?);
                match name {
                    "cov" => self.covariance(x, y, span),
                    "corr" => self.correlation(x, y, span),
                    _ => self.total_of_product(x, y, span),
                }
                .map(Value::Total)
            }
            ("poly", [x, coefficients @ ..]) if !coefficients.is_empty() => {
                let x = self.argument(x)?;
                let constants =
                    coefficients.iter().map(|c| self.constant(c)).collect::<Result<Vec<_>, _>>()?;
                self.graph.polynomial(x, &constants).map(Value::Rows).map_err(|error| wrong(span, &error))
            }
            ("linear" | "logistic", [file]) => self.score(name, file, span),
            _ => Err(self.misused(name, arguments.len(), span)),
        }
    }

    fn misused(&self, name: &str, got: usize, span: &Range<usize>) -> Wrong {
        let usage = match name {
            "sum" | "mean" | "var" | "std" => format!("{name}(x)"),
            "count" => "count() or count(x > 5)".to_owned(),
            "cov" | "corr" | "dot" => format!("{name}(x, y)"),
            "poly" => "poly(x, a0, a1, …)".to_owned(),
            "linear" | "logistic" => format!("{name}(\"weights.json\")"),
            _ => {
                let functions = Function::ALL.iter().map(|function| function.name());
                let span = span.start..span.start + name.len();
                if let Some((_, own)) = ELSEWHERE.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
                    let wrong = Wrong::at(&span, format!("there is no function `{name}`"));
                    return wrong.with_help(format!("did you mean `{own}`?"));
                }
                let known = NAMES.into_iter().chain(functions);
                return Wrong::unknown(&span, "function", name, known);
            }
        };
        Wrong::at(
            span,
            format!("`{name}` is written {usage}, and here it has {}", counted(got, "argument", "arguments")),
        )
    }

    /// Compiles an argument that must have a number in every row.
    fn argument(&mut self, tree: &Tree) -> Result<NodeId, Wrong> {
        let value = self.value(tree)?;
        self.rows(value, &tree.span)
    }

    fn constant(&mut self, tree: &Tree) -> Result<Decimal, Wrong> {
        match self.value(tree)? {
            Value::Constant(number) => Ok(number),
            _ => Err(Wrong::at(&tree.span, "expected a constant, such as 0.5")),
        }
    }

    fn function(
        &mut self,
        function: Function,
        arguments: &[Tree],
        span: &Range<usize>,
    ) -> Result<Value, Wrong> {
        let (x, interval) = match arguments {
            [x] => (x, None),
            [x, low, high] => (x, Some((self.constant(low)?, self.constant(high)?))),
            _ => {
                let name = function.name();
                return Err(Wrong::at(
                    span,
                    format!("`{name}` is written {name}(x) or {name}(x, low, high)"),
                ));
            }
        };
        match self.value(x)? {
            Value::Total(formula) if function == Function::Sqrt && interval.is_none() => {
                Ok(Value::Total(formula.square_root()))
            }
            Value::Total(_) => Err(Wrong::at(&x.span, "of totals only square roots are taken")),
            value => {
                let of = self.rows(value, &x.span)?;
                self.graph.apply(function, of, interval).map(Value::Rows).map_err(|error| wrong(span, &error))
            }
        }
    }

    /// Returns the formula of the number of rows of the current group.
    fn count(&self) -> Formula {
        self.group.map_or(Formula::Rows, Formula::Total)
    }

    /// Returns the formula of Σ x over the rows of the current group.
    fn total(&mut self, x: NodeId, span: &Range<usize>) -> Result<Formula, Wrong> {
        let x = self.in_group(x, span)?;
        // The sum of a constant needs no server.
        Ok(match self.graph.as_constant(x) {
            Some(number) => Formula::Number(number).multiply(Formula::Rows),
            None => Formula::Total(x),
        })
    }

    fn in_group(&mut self, x: NodeId, span: &Range<usize>) -> Result<NodeId, Wrong> {
        match self.group {
            Some(group) => self.graph.multiply(group, x).map_err(|error| wrong(span, &error)),
            None => Ok(x),
        }
    }

    /// Returns the formula of Σ xy over the rows of the current group, with one of the factors masked.
    fn total_of_product(&mut self, x: NodeId, y: NodeId, span: &Range<usize>) -> Result<Formula, Wrong> {
        let masked = self.in_group(x, span)?;
        let product = self.graph.multiply(masked, y).map_err(|error| wrong(span, &error))?;
        Ok(match self.graph.as_constant(product) {
            Some(number) => Formula::Number(number).multiply(Formula::Rows),
            None => Formula::Total(product),
        })
    }

    /// Returns n·Σxy − Σx·Σy, the numerator of a covariance.
    fn covariance_numerator(&mut self, x: NodeId, y: NodeId, span: &Range<usize>) -> Result<Formula, Wrong> {
        let products = self.total_of_product(x, y, span)?;
        let sums = self.total(x, span)?.multiply(self.total(y, span)?);
        Ok(self.count().multiply(products).sub(sums))
    }

    fn covariance(&mut self, x: NodeId, y: NodeId, span: &Range<usize>) -> Result<Formula, Wrong> {
        let freedom = self.count().multiply(self.count().sub(Formula::Number(Decimal::ONE)));
        Ok(self.covariance_numerator(x, y, span)?.divide(freedom))
    }

    fn correlation(&mut self, x: NodeId, y: NodeId, span: &Range<usize>) -> Result<Formula, Wrong> {
        let scale = self
            .covariance_numerator(x, x, span)?
            .multiply(self.covariance_numerator(y, y, span)?)
            .square_root();
        Ok(self.covariance_numerator(x, y, span)?.divide(scale))
    }

    /// Returns the score Σ w_i·x_i + w of a file of weights, or its logistic function.
    fn score(&mut self, name: &str, file: &Tree, span: &Range<usize>) -> Result<Value, Wrong> {
        let Kind::Text(path) = &file.kind else {
            return Err(Wrong::at(&file.span, "expected the name of a file between quotation marks"));
        };
        let bad = |message: String| {
            let help = r#"a file of weights is {"weights": {"age": 0.5, …}, "intercept": 1.5}"#;
            Wrong::at(&file.span, message).with_help(help)
        };
        let text = (self.files)(path).map_err(bad)?;
        let weights: Weights =
            serde_json::from_str(&text).map_err(|error| bad(format!("{path}: {error}")))?;
        let digits = |value: f64| {
            Decimal::from_f64(value)
                .ok_or_else(|| bad(format!("{path}: the number {value:e} has too many digits")))
        };
        let mut terms = Vec::new();
        for (column, weight) in &weights.weights {
            let position = self.position(column);
            let kind = position.and_then(|at| self.schema.columns.get(at)).map(|column| &column.kind);
            let (Some(position), Some(ColumnKind::Decimal { .. } | ColumnKind::Real { .. })) =
                (position, kind)
            else {
                return Err(Wrong::unknown(&file.span, "column of numbers", column, self.column_names()));
            };
            let node = self.graph.column(position).map_err(|error| wrong(span, &error))?;
            terms.push((node, digits(*weight)?));
        }
        let interval = match weights.interval {
            Some([low, high]) => Some((digits(low)?, digits(high)?)),
            None => None,
        };
        let intercept = digits(weights.intercept)?;
        let node = (|| {
            let score = self.graph.linear(&terms, intercept)?;
            if name == "linear" { Ok(score) } else { self.graph.apply(Function::Sigmoid, score, interval) }
        })();
        node.map(Value::Rows).map_err(|error: ProgramError| wrong(span, &error))
    }
}
