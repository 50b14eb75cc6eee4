//! Runs of programs on encrypted columns: one pass over the chunks, for all plaintext moduli together.

use std::collections::BTreeMap;

use sunzi_circuits::{Arithmetic, EvaluationKeys};
use sunzi_encoding::{BatchEncoder, Encoder as _, Plaintext};
use sunzi_rlwe::RelinearizationKey;

use super::exact::{self, Exact};
use super::{Backend, Cells, Clear, Opening, ckks, run};
use crate::analysis::{Facts, Merging};
use crate::contexts::{Codec, Conversions, Encrypted, Parts};
use crate::{NodeId, Number, Plan, ProgramError};

/// Input of a program in one chunk: what a node reads.
#[derive(Clone)]
pub enum Input {
    /// Ciphertexts of an encrypted column, or of the indicator of a label.
    Encrypted(Encrypted),
    /// Cells of a clear column in the rows of a chunk.
    Clear(Cells),
}

/// Output of a node: a sum, or a chunk of a column.
#[derive(Clone)]
pub enum Answer {
    /// Encrypted sum over all rows in slot 0, padding included; or a chunk of an encrypted column, slot by slot.
    Encrypted(Encrypted),
    /// Sum that the server knows, without padding.
    Clear(Number),
    /// Chunk of a column that the server knows, with padding.
    ClearColumn(Clear),
}

/// Runs a plan with the keys it requires; where the plan counts on merged digits, the relinearisation key is summed
/// first. `input` gives the chunks of columns, in order; `column` takes the chunks of output columns.
///
/// # Errors
/// [`ProgramError::Mismatch`] for contexts that are not those of the plan, and for inputs of another kind; [`ProgramError::Scheme`]; what
/// `input` and `column` fail with.
pub fn evaluate(
    plan: &Plan,
    codec: &Codec,
    keys: &EvaluationKeys,
    input: impl FnMut(NodeId, usize) -> Result<Input, ProgramError>,
    column: impl FnMut(NodeId, usize, Answer) -> Result<(), ProgramError>,
) -> Result<BTreeMap<NodeId, Answer>, ProgramError> {
    plan.check_layout(codec.layout())?;
    if plan.packed.is_some() {
        return Err(ProgramError::mismatch("the plan", "one that packs nothing", "one that packs its table"));
    }
    if plan.bootstraps.is_some() {
        let expected = "one without bootstraps: those take evaluate_bootstrapped";
        return Err(ProgramError::mismatch("the plan", expected, "one with bootstraps"));
    }
    let keys = &*Merging::keys(plan.merging.as_ref(), codec.contexts().rlwe(), keys)?;
    match codec.contexts().parts() {
        Parts::Bfv(contexts) => {
            let parts = |chunk| if let Encrypted::Bfv(parts) = chunk { Some(parts) } else { None };
            let evaluators: Vec<_> = contexts.iter().map(sunzi_bfv::Evaluator::new).collect();
            integers(plan, codec, (&evaluators, keys), (parts, Encrypted::Bfv), input, column)
        }
        Parts::Bgv(contexts) => {
            let parts = |chunk| if let Encrypted::Bgv(parts) = chunk { Some(parts) } else { None };
            let evaluators: Vec<_> = contexts.iter().map(sunzi_bgv::Evaluator::new).collect();
            integers(plan, codec, (&evaluators, keys), (parts, Encrypted::Bgv), input, column)
        }
        Parts::Ckks(context) => approximate(plan, codec, context, keys, input, column),
        Parts::Integers(_) => Err(ProgramError::mismatch(
            "the scheme",
            "BFV, BGV or CKKS",
            "integers: they take evaluate_integers",
        )),
    }
}

/// Runs a plan of an exact scheme, with one evaluator for each plaintext modulus.
fn integers<A: Arithmetic<Plaintext = Plaintext>>(
    plan: &Plan,
    codec: &Codec,
    (evaluators, keys): (&[A], &A::Keys),
    (parts, join): Conversions<A::Ciphertext>,
    mut input: impl FnMut(NodeId, usize) -> Result<Input, ProgramError>,
    mut column: impl FnMut(NodeId, usize, Answer) -> Result<(), ProgramError>,
) -> Result<BTreeMap<NodeId, Answer>, ProgramError> {
    let plan = &*plan.computed();
    let backend = Many::new(plan, codec, evaluators, keys)?;
    let read = |id, chunk| backend.input(input(id, chunk)?, id, parts);
    let take = |id, chunk, output| column(id, chunk, backend.answer(output, join));
    let totals = run(&plan.program, &plan.layout, &backend, read, take)?;
    let unpadded = |(id, output)| Ok((id, backend.unpadded(id, backend.answer(output, join))?));
    totals.into_iter().map(unpadded).collect()
}

/// Runs a plan of CKKS.
fn approximate(
    plan: &Plan,
    codec: &Codec,
    context: &sunzi_ckks::Context,
    keys: &EvaluationKeys,
    mut input: impl FnMut(NodeId, usize) -> Result<Input, ProgramError>,
    mut column: impl FnMut(NodeId, usize, Answer) -> Result<(), ProgramError>,
) -> Result<BTreeMap<NodeId, Answer>, ProgramError> {
    let evaluator = sunzi_ckks::Evaluator::new(context);
    let encoder = codec.reals().ok_or_else(other_scheme)?;
    let missing = || ProgramError::mismatch("the keys", "keys of products and rotations", "none");
    let relinearization: &RelinearizationKey = keys.relinearization.as_ref().ok_or_else(missing)?;
    let keys = ckks::Keys { relinearization, galois: keys.galois.as_ref().ok_or_else(missing)? };
    let backend = ckks::Ckks::new(plan, &evaluator, encoder, keys)?;
    let read = |id, chunk| match input(id, chunk)? {
        Input::Encrypted(Encrypted::Ckks(ciphertext)) => Ok(ckks::Value::Encrypted(*ciphertext)),
        Input::Encrypted(_) => Err(other_scheme()),
        Input::Clear(cells) => Ok(ckks::Value::Clear(id, clear_input(plan, id, &cells)?)),
    };
    let answer = |output| match output {
        ckks::Output::Encrypted(ciphertext) => Answer::Encrypted(Encrypted::Ckks(Box::new(ciphertext))),
        ckks::Output::Clear(sum) => Answer::Clear(sum),
        ckks::Output::ClearColumn(clear) => Answer::ClearColumn(clear),
    };
    let take = |id, chunk, output| column(id, chunk, answer(output));
    let totals = run(&plan.program, &plan.layout, &backend, read, take)?;
    let unpadded = |(id, output)| match answer(output) {
        Answer::Clear(sum) => Ok((id, Answer::Clear(backend.without_padding(id, &sum)?))),
        other => Ok((id, other)),
    };
    totals.into_iter().map(unpadded).collect()
}

pub(super) fn clear_input(plan: &Plan, id: NodeId, cells: &Cells) -> Result<Clear, ProgramError> {
    let node = plan.program.graph().node(id);
    let column = node.and_then(crate::Node::column);
    let column = column.and_then(|column| plan.program.schema().columns.get(column));
    let (Some(node), Some(column)) = (node, column) else { return Err(other_scheme()) };
    let (count, span) = (cells.check(column)?, plan.layout.span);
    if count > span {
        return Err(ProgramError::mismatch("cells of a chunk", format!("at most {span}"), count));
    }
    let units = cells.units(column, node.label(), 0..count, span).map(Clear::Units);
    let clear = units.or_else(|| cells.reals(column, node.label(), 0..count, span).map(Clear::Reals));
    clear.ok_or_else(|| ProgramError::mismatch("cells", format!("the kind of {:?}", column.name), "another"))
}

pub(super) fn other_scheme() -> ProgramError {
    ProgramError::mismatch("a chunk", "ciphertexts of the scheme of the plan", "others")
}

/// Backend that runs a program modulo each of several plaintext moduli.
struct Many<'a, A: Arithmetic> {
    plan: &'a Plan,
    facts: Vec<Facts>,
    parts: Vec<Exact<'a, A, Encode<'a, A>>>,
}

/// Function that encodes numbers in [0, t) as a plaintext.
type Encode<'a, A> = Box<dyn Fn(&[u64]) -> Result<<A as Arithmetic>::Plaintext, ProgramError> + 'a>;

/// Values of a node in one chunk: one for each plaintext modulus, or a single clear one.
type Values<A> = Vec<exact::Value<A>>;

impl<'a, A: Arithmetic<Plaintext = Plaintext>> Many<'a, A> {
    /// Makes the backend of one evaluator for each plaintext modulus.
    fn new(
        plan: &'a Plan,
        codec: &'a Codec,
        evaluators: &'a [A],
        keys: &'a A::Keys,
    ) -> Result<Self, ProgramError> {
        let encoders = codec.integers().ok_or_else(other_scheme)?.parts();
        let (program, layout) = (&plan.program, &plan.layout);
        let part = |(arithmetic, encoder): (&'a A, &'a BatchEncoder)| {
            let encode = |values: &[u64]| encoder.encode(values).map_err(ProgramError::scheme);
            Exact::new(program, layout, arithmetic, keys, Box::new(encode) as Encode<'a, A>)
        };
        let parts = evaluators.iter().zip(encoders).map(part).collect();
        Ok(Self { plan, facts: crate::analysis::facts(program), parts })
    }
}

impl<A: Arithmetic> Many<'_, A> {
    fn input(
        &self,
        input: Input,
        id: NodeId,
        parts: impl FnOnce(Encrypted) -> Option<Vec<A::Ciphertext>>,
    ) -> Result<Values<A>, ProgramError> {
        match input {
            Input::Clear(cells) => Ok(vec![exact::Value::Clear(clear_input(self.plan, id, &cells)?)]),
            Input::Encrypted(chunk) => match parts(chunk) {
                Some(parts) if parts.len() == self.parts.len() => {
                    Ok(parts.into_iter().map(exact::Value::encrypted).collect())
                }
                _ => Err(other_scheme()),
            },
        }
    }

    /// Joins the outputs of all plaintext moduli to one answer.
    fn answer(
        &self,
        outputs: Vec<exact::Output<A::Ciphertext>>,
        join: impl FnOnce(Vec<A::Ciphertext>) -> Encrypted,
    ) -> Answer {
        let mut ciphertexts = Vec::new();
        for output in outputs {
            match output {
                exact::Output::Encrypted(ciphertext) => ciphertexts.push(ciphertext),
                exact::Output::Clear(sum) => return Answer::Clear(Number::scaled(sum, 0)),
                exact::Output::ClearColumn(clear) => return Answer::ClearColumn(clear),
            }
        }
        Answer::Encrypted(join(ciphertexts))
    }

    /// Subtracts the padding from a sum that the server knows in units.
    fn unpadded(&self, id: NodeId, answer: Answer) -> Result<Answer, ProgramError> {
        let Answer::Clear(Number::Exact(units)) = answer else { return Ok(answer) };
        let opening = Opening::of_exact(&self.facts, id)?;
        opening.clear_total(&self.plan.layout, &units.to_integer()).map(Answer::Clear)
    }

    /// Returns the operands' values modulo one plaintext modulus; clear values are equal for all moduli.
    fn at<'v>(operands: &[&'v Values<A>], part: usize) -> Result<Vec<&'v exact::Value<A>>, ProgramError> {
        let value = |values: &&'v Values<A>| values.get(part).or_else(|| values.first());
        operands.iter().map(|values| value(values).ok_or_else(other_scheme)).collect()
    }

    /// Returns the number of values of a node with these operands.
    fn width(&self, operands: &[&Values<A>]) -> usize {
        let clear = |values: &&Values<A>| matches!(values.as_slice(), [exact::Value::Clear(_)]);
        if operands.iter().all(clear) { 1 } else { self.parts.len() }
    }
}

impl<A: Arithmetic> Backend for Many<'_, A> {
    type Value = Values<A>;
    type Total = Vec<Option<exact::Total<A>>>;
    type Output = Vec<exact::Output<A::Ciphertext>>;

    fn compute(&self, id: NodeId, operands: &[&Values<A>]) -> Result<Values<A>, ProgramError> {
        let parts = self.parts.iter().take(self.width(operands)).enumerate();
        parts.map(|(i, part)| part.compute(id, &Self::at(operands, i)?)).collect()
    }

    fn accumulate(&self, total: &mut Option<Self::Total>, value: &Values<A>) -> Result<(), ProgramError> {
        let totals = total.get_or_insert_with(|| value.iter().map(|_| None).collect());
        let mut each = self.parts.iter().zip(totals).zip(value);
        each.try_for_each(|((part, total), value)| part.accumulate(total, value))
    }

    fn accumulate_product(
        &self,
        total: &mut Option<Self::Total>,
        a: &Values<A>,
        b: &Values<A>,
    ) -> Result<bool, ProgramError> {
        let encrypted = |values: &Values<A>| matches!(values.first(), Some(exact::Value::Encrypted(_)));
        if !(encrypted(a) && encrypted(b)) {
            return Ok(false);
        }
        let totals = total.get_or_insert_with(|| a.iter().map(|_| None).collect());
        for (((part, total), a), b) in self.parts.iter().zip(totals).zip(a).zip(b) {
            if !part.accumulate_product(total, a, b)? {
                return Err(other_scheme());
            }
        }
        Ok(true)
    }

    fn finish(&self, id: NodeId, totals: Self::Total) -> Result<Self::Output, ProgramError> {
        let each = self.parts.iter().zip(totals);
        each.map(|(part, total)| part.finish(id, total.ok_or_else(other_scheme)?)).collect()
    }

    fn column(&self, values: &Values<A>) -> Result<Self::Output, ProgramError> {
        self.parts.iter().zip(values).map(|(part, value)| part.column(value)).collect()
    }
}
