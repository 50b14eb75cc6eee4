//! Functions of the program language.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use sunzi_rlwe::words::counted;

use super::compile::{Compiler, Value, wrong};
use super::error::Wrong;
use super::lexer::{Token, tokens};
use super::needs::{Needs, Rows};
use super::syntax::{Kind, Tree};
use crate::language::{self, Builtin, Elsewhere, Entry, FUNCTIONS, Way};
use crate::schema::Kind as ColumnKind;
use crate::{Decimal, Formula, Function, ProgramError};

/// Largest number of bytes of an argument that an error repeats.
const LONGEST_ARGUMENT: usize = 60;

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
        let Some(entry) = language::function(name) else { return Err(self.unknown(name, arguments, span)) };
        if !entry.takes_arguments(arguments.len()) {
            return Err(misused(entry, arguments.len(), span));
        }
        match (entry.builtin, arguments) {
            (Builtin::Smooth(function), _) => self.function(function, arguments, span),
            (Builtin::Count, []) => {
                self.count(&Needs::new()).map(Value::Total).map_err(|error| wrong(span, &error))
            }
            (Builtin::Linear | Builtin::Logistic, [file]) => {
                self.score(entry.builtin == Builtin::Logistic, file, span)
            }
            (Builtin::Polynomial, [x, coefficients @ ..]) => {
                let x = self.argument(x)?;
                let constants =
                    coefficients.iter().map(|c| self.constant(c)).collect::<Result<Vec<_>, _>>()?;
                let node = self.graph.polynomial(x.id, &constants);
                node.map(|id| Value::Rows(x.at(id))).map_err(|error| wrong(span, &error))
            }
            (Builtin::Choice, [condition, x, y]) => self.choice([condition, x, y], span),
            (Builtin::Maximum | Builtin::Minimum, [x, y]) => {
                self.extreme_of_two(entry.builtin == Builtin::Maximum, [x, y], span)
            }
            (Builtin::LookUp, [x, file, default @ ..]) => self.lookup(x, file, default.first(), span),
            (
                Builtin::Maximum
                | Builtin::Minimum
                | Builtin::Median
                | Builtin::Quantile
                | Builtin::Sort
                | Builtin::Rank
                | Builtin::Top,
                [x, constant @ ..],
            ) => self.ordered(entry.builtin, x, constant.first(), span),
            (builtin, [x]) => {
                let x = self.argument(x)?;
                match builtin {
                    Builtin::Count if !self.is_of_conditions(x.id) => self.count(&x.needs),
                    Builtin::Count | Builtin::Sum => self.total(&x, &x.needs),
                    Builtin::Mean => self.mean(&x),
                    Builtin::Variance => self.covariance(&x, &x),
                    Builtin::Deviation => self.covariance(&x, &x).map(Formula::square_root),
                    _ => return Err(misused(entry, 1, span)),
                }
                .map(Value::Total)
                .map_err(|error| wrong(span, &error))
            }
            (builtin, [x, y]) => {
                let (x, y) = (self.argument(x)?, self.argument(y)?);
                match builtin {
                    Builtin::Covariance => self.covariance(&x, &y),
                    Builtin::Correlation => self.correlation(&x, &y),
                    Builtin::Dot => self.total_of_product(&x, &y, &x.joint(&y)),
                    _ => return Err(misused(entry, 2, span)),
                }
                .map(Value::Total)
                .map_err(|error| wrong(span, &error))
            }
            _ => Err(misused(entry, arguments.len(), span)),
        }
    }

    /// Makes the error of a function that the language does not have: what there is instead.
    fn unknown(&self, name: &str, arguments: &[Tree], span: &Range<usize>) -> Wrong {
        let span = span.start..span.start + name.len();
        let wrong = Wrong::at(&span, format!("there is no function `{name}`"));
        if let Some(own) = language::synonym(name) {
            return wrong.with_help(format!("did you mean `{own}`?"));
        }
        if let Some(elsewhere) = language::instead_of(name) {
            return wrong.with_help(self.instead(name, elsewhere, arguments));
        }
        if self.position(name).is_some() {
            return wrong.with_help(format!("`{name}` is a column: products are written {name} * (…)"));
        }
        Wrong::unknown(&span, "function", name, FUNCTIONS.iter().map(|entry| entry.name))
    }

    /// Returns what is written instead of a function of another language, with these arguments if it takes so many.
    fn instead(&self, name: &str, elsewhere: &Elsewhere, arguments: &[Tree]) -> String {
        let texts: Option<Vec<&str>> = arguments
            .iter()
            .map(|tree| self.text.get(tree.span.clone()))
            .map(|text| text.filter(|text| text.len() <= LONGEST_ARGUMENT && !text.contains(['\n', '#'])))
            .collect();
        let same = elsewhere.ways.iter().find(|way| way.arguments.len() == arguments.len());
        if let Some(program) = same.zip(texts).and_then(|(way, texts)| filled(way, &texts)) {
            return format!("write {program}; {}", elsewhere.answer);
        }
        elsewhere.ways.iter().fold(elsewhere.answer.to_owned(), |help, way| {
            format!("{help}; {name}({}) is written {}", way.arguments.join(", "), way.program)
        })
    }

    /// Compiles an argument that must have a number in every row.
    pub(super) fn argument(&mut self, tree: &Tree) -> Result<Rows, Wrong> {
        let value = self.value(tree)?;
        self.rows(value, &tree.span)
    }

    pub(super) fn constant(&mut self, tree: &Tree) -> Result<Decimal, Wrong> {
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
            _ => return Err(Wrong::at(span, format!("`{}` takes a column", function.name()))),
        };
        match self.value(x)? {
            Value::Total(formula) if function == Function::Sqrt && interval.is_none() => {
                Ok(Value::Total(formula.square_root()))
            }
            Value::Total(_) => Err(Wrong::at(&x.span, "of totals only square roots are taken")),
            value => {
                let of = self.rows(value, &x.span)?;
                let node = self.filled(&of).and_then(|id| self.graph.apply(function, id, interval));
                node.map(|id| Value::Rows(of.at(id))).map_err(|error| wrong(span, &error))
            }
        }
    }

    /// Returns the score Σ w_i·x_i + w of a file of weights, or its logistic function.
    fn score(&mut self, logistic: bool, file: &Tree, span: &Range<usize>) -> Result<Value, Wrong> {
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
        let (mut terms, mut needs) = (Vec::new(), Needs::new());
        for (column, weight) in &weights.weights {
            let position = self.position(column);
            let kind = position.and_then(|at| self.schema.columns.get(at)).map(|column| &column.kind);
            let (Some(position), Some(ColumnKind::Decimal { .. } | ColumnKind::Real { .. })) =
                (position, kind)
            else {
                return Err(Wrong::unknown(&file.span, "column of numbers", column, self.column_names()));
            };
            let column = self.numbers(position).map_err(|error| wrong(span, &error))?;
            terms.push((column.id, digits(*weight)?));
            needs.extend(column.needs);
        }
        let interval = match weights.interval {
            Some([low, high]) => Some((digits(low)?, digits(high)?)),
            None => None,
        };
        let intercept = digits(weights.intercept)?;
        let node = (|| {
            let score = Rows { id: self.graph.linear(&terms, intercept)?, needs };
            if !logistic {
                return Ok(score);
            }
            let of = self.filled(&score)?;
            let probability = self.graph.apply(Function::Sigmoid, of, interval)?;
            Ok(score.at(probability))
        })();
        node.map(Value::Rows).map_err(|error: ProgramError| wrong(span, &error))
    }
}

/// Makes the error of a function that is written with a wrong number of arguments.
fn misused(entry: &Entry, got: usize, span: &Range<usize>) -> Wrong {
    let forms: Vec<String> = entry.written().collect();
    let name = entry.name;
    Wrong::at(
        span,
        format!(
            "`{name}` is written {}, and here it has {}",
            forms.join(" or "),
            counted(got, "argument", "arguments")
        ),
    )
    .with_help(format!("it is {}; as in {}", entry.meaning, entry.example))
}

/// Returns a program with these texts for the names of its arguments, in brackets where the program needs them.
fn filled(way: &Way, texts: &[&str]) -> Option<String> {
    let own = tokens(way.program).ok()?;
    let mut filled = String::new();
    let mut end = 0;
    for (index, (token, span)) in own.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let at = way.arguments.iter().position(|name| name == word);
        let Some(text) = at.and_then(|at| texts.get(at)) else { continue };
        filled.push_str(way.program.get(end..span.start)?);
        end = span.end;
        let is = |at: Option<usize>, signs: &[&str]| {
            let token = at.and_then(|at| own.get(at)).map(|(token, _)| token);
            matches!(token, Some(Token::Sign(sign)) if signs.contains(sign))
        };
        let alone = is(index.checked_sub(1), &["(", ","]) && is(Some(index + 1), &[")", ","]);
        // A text of one token, or one that stands between brackets, is an operand as it is.
        let simple = alone || tokens(text).ok()?.len() == 2;
        filled.push_str(&if simple { (*text).to_owned() } else { format!("({text})") });
    }
    filled.push_str(way.program.get(end..)?);
    Some(filled)
}
