//! Runs of programs on encrypted integers: comparisons, order and tables are exact, and no levels run out.

mod equality;
mod operations;
mod places;
mod rows;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use sunzi_circuits::bootstrap::functional::FunctionalBootstrapper;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys};
use sunzi_circuits::integers::{Conditions, IntegerError, IntegerEvaluator, Integers};
use sunzi_ckks::{Ciphertext, Plaintext};

use self::places::Places;
use super::encrypted::{clear_input, other_scheme};
use super::{Answer, Backend, Clear, Input, Opening, computed, run, sum_of};
use crate::analysis::{Exact, Facts, exact_facts};
use crate::contexts::{Codec, Encrypted, Form, IntegerContext, Parts, kind_holding};
use crate::{Node, NodeId, Number, Plan, ProgramError};

/// Runs a plan on encrypted integers, with the keys of its look-ups; `progress` is called after each of them. `input` gives the chunks of columns, in order;
/// `column` takes the chunks of output columns.
///
/// # Errors
/// [`ProgramError::Mismatch`] for contexts that are not those of the plan, and for inputs of another kind; [`ProgramError::Scheme`]; what `input` and `column`
/// fail with.
pub fn evaluate_integers(
    plan: &Plan,
    codec: &Codec,
    keys: &BootstrapKeys,
    progress: &(dyn Fn() + Sync),
    mut input: impl FnMut(NodeId, usize) -> Result<Input, ProgramError>,
    mut column: impl FnMut(NodeId, usize, Answer) -> Result<(), ProgramError>,
) -> Result<BTreeMap<NodeId, Answer>, ProgramError> {
    plan.check_layout(codec.layout())?;
    let Parts::Integers(own) = codec.contexts().parts() else { return Err(other_scheme()) };
    let bootstrapper = bootstrapper(own)?;
    let evaluator = IntegerEvaluator::new(&bootstrapper, keys).map_err(scheme)?.with_progress(progress);
    let backend = IntegerBackend::new(plan, evaluator)?;
    let read = |id, chunk| backend.input(id, input(id, chunk)?);
    let take = |id, chunk, output| column(id, chunk, output);
    let totals = run(&plan.program, &plan.layout, &backend, read, take)?;
    totals.into_iter().map(|(id, answer)| Ok((id, backend.unpadded(id, answer)?))).collect()
}

/// Makes the bootstrapper of the look-ups.
pub(crate) fn bootstrapper(own: &IntegerContext) -> Result<FunctionalBootstrapper, ProgramError> {
    let context = own.context();
    let blueprint = Blueprint::of_all_slots(context, own.set()).map_err(ProgramError::scheme)?;
    FunctionalBootstrapper::new(&blueprint, |_, _| {}).map_err(ProgramError::scheme)
}

/// Value of a node in one chunk: a number for every slot that a chunk fills, padding included.
pub(crate) enum Value {
    /// Clear value, computed from clear columns.
    Clear(Clear),
    /// Encrypted integers, in units of the node's last decimal.
    Integers(Integers),
    /// Encrypted numbers that are 0 or 1.
    Conditions(Conditions),
    /// A number of all rows, which is found after the last chunk.
    Waiting,
}

/// Sum of a node over chunks.
pub(crate) enum Total {
    /// Sum of clear numbers.
    Clear(BigInt),
    /// Encrypted sums, slot by slot.
    Integers(Integers),
    /// A number of all rows, which is to be found.
    Waiting,
}

/// Backend that runs programs on encrypted integers.
pub(crate) struct IntegerBackend<'a> {
    plan: &'a Plan,
    facts: Vec<Facts>,
    openings: BTreeMap<NodeId, Opening>,
    evaluator: IntegerEvaluator<'a>,
    /// Comparisons of which only equality is used.
    equalities: BTreeSet<NodeId>,
    /// Rows whose numbers are found after the last chunk.
    places: RefCell<Places>,
}

impl<'a> IntegerBackend<'a> {
    pub(crate) fn new(plan: &'a Plan, evaluator: IntegerEvaluator<'a>) -> Result<Self, ProgramError> {
        let (facts, openings) = (exact_facts(&plan.program), Opening::digits(&plan.program)?);
        let equalities = equality::equalities(&plan.program);
        Ok(Self { plan, facts, openings, evaluator, equalities, places: RefCell::default() })
    }

    fn node(&self, id: NodeId) -> Result<&'a Node, ProgramError> {
        self.plan.program.graph().node(id).ok_or_else(broken)
    }

    fn exact(&self, id: NodeId) -> Result<Exact, ProgramError> {
        let not_exact = || ProgramError::Invalid("a node is not exact: take CKKS".to_owned());
        self.facts.get(id.index()).and_then(|facts| facts.exact).ok_or_else(not_exact)
    }

    /// Returns the range of a node in all slots of a chunk.
    fn range(&self, id: NodeId) -> Result<[i128; 2], ProgramError> {
        let exact = self.exact(id)?;
        Ok([exact.low.min(exact.padding), exact.high.max(exact.padding)])
    }

    /// Number of slots that a chunk fills.
    fn span(&self) -> usize {
        self.plan.layout.span
    }

    /// Returns the value of an input.
    pub(crate) fn input(&self, id: NodeId, input: Input) -> Result<Value, ProgramError> {
        let digits = match input {
            Input::Clear(cells) => return clear_input(self.plan, id, &cells).map(Value::Clear),
            Input::Encrypted(Encrypted::Integers(digits)) => digits,
            Input::Encrypted(_) => return Err(other_scheme()),
        };
        let range = self.range(id)?;
        let form = form_of(range)?;
        let stored = self.evaluator.from_digits(form.kind, self.span(), form.range(range), digits);
        let stored = stored.map_err(scheme)?;
        if range == [0, 1] {
            return self.evaluator.conditions_of(&stored).map(Value::Conditions).map_err(scheme);
        }
        self.opened(&stored, form, range).map(Value::Integers)
    }

    /// Returns integers in units, of those in a form.
    fn opened(&self, a: &Integers, form: Form, range: [i128; 2]) -> Result<Integers, ProgramError> {
        if form.offset == 0 {
            return a.clone().within(range).map_err(scheme);
        }
        let kind = kind_above(range, a.kind().digits(), [form.offset])?;
        self.evaluator.linear_combination(&[(1, a)], form.offset, kind, range).map_err(scheme)
    }

    /// Returns integers in the form in which numbers of a range are encrypted.
    fn formed(&self, a: &Integers, range: [i128; 2]) -> Result<(Integers, Form), ProgramError> {
        let form = form_of(range)?;
        if form.offset == 0 && a.kind() == form.kind {
            return Ok((a.clone().within(range).map_err(scheme)?, form));
        }
        let own = self.evaluator.linear_combination(&[(1, a)], -form.offset, form.kind, form.range(range));
        Ok((own.map_err(scheme)?, form))
    }

    /// Returns the encrypted digits of numbers of a range.
    fn answer(&self, a: &Integers, range: [i128; 2]) -> Result<Answer, ProgramError> {
        let digits = self.evaluator.to_digits(&self.formed(a, range)?.0).map_err(scheme)?;
        Ok(Answer::Encrypted(Encrypted::Integers(digits)))
    }

    /// Returns an encrypted value as integers in units.
    fn integers(&self, value: &Value) -> Result<Integers, ProgramError> {
        match value {
            Value::Integers(integers) => Ok(integers.clone()),
            Value::Conditions(conditions) => {
                let kind = kind_holding([0, 1]).ok_or_else(broken)?;
                self.evaluator.integers_of(conditions, kind).map_err(scheme)
            }
            Value::Clear(_) | Value::Waiting => Err(broken()),
        }
    }

    /// Subtracts the padding from a sum that the server knows in units.
    fn unpadded(&self, id: NodeId, answer: Answer) -> Result<Answer, ProgramError> {
        let Answer::Clear(Number::Exact(units)) = answer else { return Ok(answer) };
        let opening = self.openings.get(&id).ok_or_else(broken)?;
        opening.clear_total(&self.plan.layout, &units.to_integer()).map(Answer::Clear)
    }
}

impl Backend for IntegerBackend<'_> {
    type Value = Value;
    type Total = Total;
    type Output = Answer;

    fn compute(&self, id: NodeId, operands: &[&Value]) -> Result<Value, ProgramError> {
        let node = self.node(id)?;
        if let (Node::Kth { of, .. }, [rows]) = (node, operands) {
            return self.hold(id, *of, rows);
        }
        let clear: Option<Vec<&Clear>> = operands
            .iter()
            .map(|value| if let Value::Clear(clear) = value { Some(clear) } else { None })
            .collect();
        match clear {
            Some(clear) if node.crosses_rows() => self.ordered_in_the_clear(id, &clear).map(Value::Clear),
            Some(clear) => {
                computed(&self.plan.program, &self.facts, id, &clear, self.span()).map(Value::Clear)
            }
            None => self.encrypted(id, node, operands),
        }
    }

    fn accumulate(&self, total: &mut Option<Total>, value: &Value) -> Result<(), ProgramError> {
        let next = match (total.take(), value) {
            (_, Value::Waiting) => Total::Waiting,
            (None, Value::Clear(Clear::Units(units))) => Total::Clear(sum_of(units)),
            (Some(Total::Clear(sum)), Value::Clear(Clear::Units(units))) => Total::Clear(sum + sum_of(units)),
            (_, Value::Clear(_)) => return Err(other_scheme()),
            (None, value) => Total::Integers(self.integers(value)?),
            (Some(Total::Integers(sum)), value) => {
                let own = self.integers(value)?;
                let range = [0, 1].map(|end| end_of(&sum, end) + end_of(&own, end));
                let kind = kind_above(range, sum.kind().digits(), [])?;
                let sum = self.evaluator.linear_combination(&[(1, &sum), (1, &own)], 0, kind, range);
                Total::Integers(sum.map_err(scheme)?)
            }
            (Some(Total::Clear(_) | Total::Waiting), _) => return Err(other_scheme()),
        };
        *total = Some(next);
        Ok(())
    }

    fn accumulate_product(&self, _: &mut Option<Total>, _: &Value, _: &Value) -> Result<bool, ProgramError> {
        Ok(false)
    }

    fn finish(&self, id: NodeId, total: Total) -> Result<Answer, ProgramError> {
        let sum = match total {
            Total::Clear(sum) => return Ok(Answer::Clear(Number::scaled(sum, 0))),
            Total::Waiting => return self.placed(id),
            Total::Integers(sum) => sum,
        };
        let opening = self.openings.get(&id).ok_or_else(broken)?;
        let range = opening.total_range(&self.plan.layout).ok_or_else(wide)?;
        self.answer(&self.summed(&sum, range)?, range)
    }

    fn column(&self, value: &Value) -> Result<Answer, ProgramError> {
        match value {
            Value::Clear(clear) => Ok(Answer::ClearColumn(clear.clone())),
            value => {
                let own = self.integers(value)?;
                self.answer(&own, own.bounds())
            }
        }
    }
}

fn end_of(a: &Integers, end: usize) -> i128 {
    a.bounds().get(end).copied().unwrap_or(0)
}

/// Returns the form of numbers of a range.
fn form_of([low, high]: [i128; 2]) -> Result<Form, ProgramError> {
    Form::holding(low, high).ok_or_else(wide)
}

/// Returns a kind of at least so many digits that holds a range, and clear integers beside it.
fn kind_above<const N: usize>(
    [low, high]: [i128; 2],
    digits: usize,
    constants: [i128; N],
) -> Result<sunzi_circuits::integers::IntegerKind, ProgramError> {
    let beside = constants.map(i128::abs).into_iter().max().unwrap_or(0);
    let least = 4 * digits as u32;
    let kind = kind_holding([low.min(if low < 0 { -beside } else { 0 }), high.max(beside)]);
    let kind = kind.filter(|kind| kind.bits() >= least);
    let wider = || sunzi_circuits::integers::IntegerKind::new(least.min(64), low < 0);
    kind.or_else(wider).ok_or_else(wide)
}

fn scheme(error: IntegerError) -> ProgramError {
    ProgramError::scheme(error)
}

fn broken() -> ProgramError {
    ProgramError::Invalid("a node is computed before its operands".to_owned())
}

fn wide() -> ProgramError {
    ProgramError::mismatch("a number", "one of 64 bits", "a wider one: use fewer decimals or narrower ranges")
}

/// Runs a plan over polynomials without coefficients, given how a plaintext is encrypted there; `meet` is shown all ciphertexts of results.
pub(crate) fn dry_integers(
    plan: &Plan,
    evaluator: IntegerEvaluator<'_>,
    mut encrypt: impl FnMut(&Plaintext) -> Result<Ciphertext, ProgramError>,
    mut meet: impl FnMut(&Ciphertext),
) -> Result<(), ProgramError> {
    let backend = IntegerBackend::new(plan, evaluator)?;
    let (layout, graph) = (&plan.layout, plan.program.graph());
    let read = |id: NodeId, _| {
        let column = graph.node(id).and_then(Node::column);
        let column =
            column.and_then(|column| plan.program.schema().columns.get(column)).ok_or_else(broken)?;
        let [low, high] = backend.range(id)?;
        if !column.encrypted {
            // Both ends, so that bounds of clear numbers are those of the column.
            let ends = [low, high].into_iter().cycle().take(layout.span);
            return Ok(Value::Clear(Clear::Units(ends.collect())));
        }
        let form = form_of([low, high])?;
        let encoder = evaluator.encoder();
        let plaintexts =
            encoder.encode(form.kind, form.kind.range(), &vec![0; layout.span]).map_err(scheme)?;
        let digits = plaintexts.iter().map(&mut encrypt).collect::<Result<Vec<_>, _>>()?;
        backend.input(id, Input::Encrypted(Encrypted::Integers(digits)))
    };
    let mut shown = |answer: Answer| {
        if let Answer::Encrypted(Encrypted::Integers(digits)) = answer {
            digits.iter().for_each(&mut meet);
        }
    };
    let column = |_, _, answer| {
        shown(answer);
        Ok(())
    };
    let totals = run(&plan.program, layout, &backend, read, column)?;
    totals.into_values().for_each(shown);
    Ok(())
}
