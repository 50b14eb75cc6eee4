//! Runs of programs in CKKS with bootstrapping: numbers get their levels back where the plan says.

use std::collections::BTreeMap;

use sunzi_circuits::approximation::CompositeSign;
use sunzi_circuits::bootstrap::{AnyBlueprint, AnyBootstrapKeys, AnyBootstrapper};
use sunzi_circuits::{comparison, series};
use sunzi_ckks::{Ciphertext, Encoder, Evaluator, Metadata, Plaintext};
use sunzi_rlwe::GaloisKeys;

use super::ckks::{Ckks, Keys, Output, Value, broken, scheme};
use super::encrypted::{clear_input, other_scheme};
use super::{Answer, Backend, Clear, Input, run};
use crate::analysis::{Action, BESIDE, Parameters, Refresh, facts};
use crate::contexts::{Codec, Encrypted, Parts};
use crate::{Node, NodeId, Plan, ProgramError};

/// Keys of a run in CKKS with bootstrapping.
#[derive(Clone, Copy)]
pub struct DeepKeys<'a> {
    /// Keys of bootstraps, and of products.
    pub bootstrapping: &'a AnyBootstrapKeys,
    /// Keys of the rotations of sums.
    pub rotations: &'a GaloisKeys,
}

/// Runs a plan in CKKS with bootstrapping; `progress` is called after each bootstrap. `input` gives the chunks of columns, in order; `column` takes the chunks of
/// output columns.
///
/// # Errors
/// [`ProgramError::Mismatch`] for contexts that are not those of the plan, and for inputs of another kind; [`ProgramError::Scheme`]; what `input` and `column`
/// fail with.
pub fn evaluate_bootstrapped(
    plan: &Plan,
    codec: &Codec,
    keys: DeepKeys<'_>,
    progress: &(dyn Fn() + Sync),
    mut input: impl FnMut(NodeId, usize) -> Result<Input, ProgramError>,
    mut column: impl FnMut(NodeId, usize, Answer) -> Result<(), ProgramError>,
) -> Result<BTreeMap<NodeId, Answer>, ProgramError> {
    plan.check_layout(codec.layout())?;
    let (Parts::Ckks(context), Parameters::Bootstrapped(own)) =
        (codec.contexts().parts(), codec.contexts().parameters())
    else {
        return Err(other_scheme());
    };
    // Keys of a real ring have the tables of the whole ring.
    let blueprint = match keys.bootstrapping {
        AnyBootstrapKeys::Real(own) => AnyBlueprint::Real(Box::new(own.blueprint.clone())),
        AnyBootstrapKeys::Whole(_) => {
            AnyBlueprint::of_all_slots(context, own.set()).map_err(ProgramError::scheme)?
        }
    };
    let bootstrapper = AnyBootstrapper::new(&blueprint, |_, _| {}).map_err(ProgramError::scheme)?;
    let encoder = codec.reals().ok_or_else(other_scheme)?;
    let backend = Deep::new(plan, &bootstrapper, encoder, keys, progress)?;
    let read = |id, chunk| match input(id, chunk)? {
        Input::Encrypted(Encrypted::Ckks(ciphertext)) => backend.fresh(&ciphertext),
        Input::Encrypted(_) => Err(other_scheme()),
        Input::Clear(cells) => Ok(Value::Clear(id, clear_input(plan, id, &cells)?)),
    };
    let take = |id, chunk, output| column(id, chunk, answer(output));
    let totals = run(&plan.program, &plan.layout, &backend, read, take)?;
    let unpadded = |(id, output)| match answer(output) {
        Answer::Clear(sum) => Ok((id, Answer::Clear(backend.own.without_padding(id, &sum)?))),
        other => Ok((id, other)),
    };
    totals.into_iter().map(unpadded).collect()
}

fn answer(output: Output) -> Answer {
    match output {
        Output::Encrypted(ciphertext) => Answer::Encrypted(Encrypted::Ckks(Box::new(ciphertext))),
        Output::Clear(sum) => Answer::Clear(sum),
        Output::ClearColumn(clear) => Answer::ClearColumn(clear),
    }
}

/// Backend that bootstraps what another one computes.
struct Deep<'a> {
    own: Ckks<'a>,
    evaluator: &'a Evaluator,
    refresh: &'a Refresh,
    bootstrapper: &'a AnyBootstrapper,
    keys: &'a AnyBootstrapKeys,
    progress: &'a (dyn Fn() + Sync),
}

impl<'a> Deep<'a> {
    fn new(
        plan: &'a Plan,
        bootstrapper: &'a AnyBootstrapper,
        encoder: &'a Encoder,
        keys: DeepKeys<'a>,
        progress: &'a (dyn Fn() + Sync),
    ) -> Result<Self, ProgramError> {
        let refresh = plan.lowered.as_ref().and_then(|lowered| lowered.refresh.as_ref());
        let Some(refresh) = refresh else {
            return Err(ProgramError::mismatch("the plan", "one with bootstraps", "one without"));
        };
        let evaluator = bootstrapper.evaluator();
        let DeepKeys { bootstrapping, rotations } = keys;
        let own = Keys { relinearization: bootstrapping.relinearization(), galois: rotations };
        let own = Ckks::new(plan, evaluator, encoder, own)?;
        Ok(Self { own, evaluator, refresh, bootstrapper, keys: bootstrapping, progress })
    }

    /// Returns a fresh ciphertext at the level of bootstrapped ones.
    fn fresh(&self, x: &Ciphertext) -> Result<Value, ProgramError> {
        let (left, got) = (self.refresh.limits.left, x.metadata().level);
        if got < left {
            return Err(ProgramError::mismatch("the level of an input", left, got));
        }
        let x = if got == left { x.clone() } else { self.evaluator.level_to(x, left).map_err(scheme)? };
        Ok(Value::Encrypted(x))
    }

    /// Bootstraps a stored number of a node, whose deviation may be as large as `allowed` says.
    fn bootstrapped(&self, id: NodeId, x: &Ciphertext, allowed: f64) -> Result<Ciphertext, ProgramError> {
        self.own.right_enough(id, x, allowed)?;
        let x = self.evaluator.with_magnitude(x, 1.0).map_err(scheme)?;
        let out = self.bootstrapper.bootstrap_bounded(&x, BESIDE, self.keys).map_err(ProgramError::scheme)?;
        (self.progress)();
        if out.added <= self.refresh.added {
            return self.evaluator.with_magnitude(&out.ciphertext, 1.0).map_err(scheme);
        }
        let expected = format!("an error of at most {:.3e}", self.refresh.added);
        Err(ProgramError::mismatch("a bootstrap", expected, format!("{:.3e}", out.added)))
    }

    /// Computes a comparison, polynomial by polynomial, with bootstraps between them.
    fn staged(
        &self,
        id: NodeId,
        (sign, offset, allowed): (&CompositeSign, f64, f64),
        x: &Ciphertext,
    ) -> Result<Ciphertext, ProgramError> {
        self.own.right_enough(id, x, allowed)?;
        let x = self.evaluator.add_constant(x, offset).map_err(scheme)?;
        let x = self.evaluator.with_magnitude(&x, 1.0).map_err(scheme)?;
        let depths: Vec<usize> = sign.stages().iter().map(series::depth).collect();
        let floor = self.refresh.floors.get(&id).copied().unwrap_or(0);
        let within = self.refresh.limits.within(x.metadata().level, &depths, floor);
        let (before, _) = within.ok_or_else(broken)?;
        let ready = |place: usize, x: Ciphertext| {
            if !before.get(place).copied().unwrap_or(false) {
                return Ok::<_, ProgramError>(x);
            }
            // The polynomials that follow bear it, so that none of it is left.
            let mut x = self.bootstrapped(id, &x, sign.slack() - self.refresh.added)?;
            let metadata = x.metadata().clone();
            let precision = metadata.precision.with_deviation(0.0);
            x.set_metadata(Metadata { precision, ..metadata });
            Ok(x)
        };
        let value =
            comparison::positive_between(self.evaluator, sign, &x, self.keys.relinearization(), ready)?;
        self.evaluator.with_magnitude(&value, 1.0).map_err(scheme)
    }
}

impl Backend for Deep<'_> {
    type Value = Value;
    type Total = Output;
    type Output = Output;

    fn compute(&self, id: NodeId, operands: &[&Value]) -> Result<Value, ProgramError> {
        let value = match (&self.own.step(id)?.action, operands) {
            (Action::Sign { sign, offset, allowed }, [Value::Encrypted(x)]) if sign.slack() > 0.0 => {
                Value::Encrypted(self.staged(id, (sign, *offset, *allowed), x)?)
            }
            _ => self.own.compute(id, operands)?,
        };
        match value {
            Value::Encrypted(x) if self.refresh.at.contains(&id) => {
                // The other half is for errors in the maximum norm.
                self.bootstrapped(id, &x, BESIDE / 2.0).map(Value::Encrypted)
            }
            other => Ok(other),
        }
    }

    fn accumulate(&self, sum: &mut Option<Output>, value: &Value) -> Result<(), ProgramError> {
        self.own.accumulate(sum, value)
    }

    fn accumulate_product(&self, _: &mut Option<Output>, _: &Value, _: &Value) -> Result<bool, ProgramError> {
        Ok(false)
    }

    fn finish(&self, id: NodeId, total: Output) -> Result<Output, ProgramError> {
        self.own.finish(id, total)
    }

    fn column(&self, value: &Value) -> Result<Output, ProgramError> {
        self.own.column(value)
    }
}

/// Runs a plan over polynomials without coefficients, given how a plaintext is encrypted there.
pub(crate) fn dry_bootstrapped(
    plan: &Plan,
    bootstrapper: &AnyBootstrapper,
    keys: DeepKeys<'_>,
    progress: &(dyn Fn() + Sync),
    mut encrypt: impl FnMut(&Plaintext) -> Result<Ciphertext, ProgramError>,
) -> Result<(), ProgramError> {
    let context = bootstrapper.evaluator().context();
    let (layout, graph, known) = (&plan.layout, plan.program.graph(), facts(&plan.program));
    let encoder = Encoder::new(context, layout.span).map_err(scheme)?;
    let backend = Deep::new(plan, bootstrapper, &encoder, keys, progress)?;
    let level = backend.refresh.limits.left;
    let scale = context.scale(level).map_err(scheme)?;
    let read = |id: NodeId, _| {
        let facts = known.get(id.index()).ok_or_else(broken)?;
        if facts.encrypted {
            let plaintext = encoder.encode_real_at(&vec![1.0; layout.span], level, scale).map_err(scheme)?;
            return Ok(Value::Encrypted(encrypt(&plaintext)?));
        }
        let column = graph.node(id).and_then(Node::column).ok_or_else(broken)?;
        plan.program.schema().columns.get(column).ok_or_else(broken)?;
        // Both ends, so that bounds of clear numbers are those of the column.
        let clear = match facts.exact {
            Some(exact) => {
                Clear::Units([exact.low, exact.high].into_iter().cycle().take(layout.span).collect())
            }
            None => Clear::Reals([facts.low, facts.high].into_iter().cycle().take(layout.span).collect()),
        };
        Ok(Value::Clear(id, clear))
    };
    run(&plan.program, layout, &backend, read, |_, _, _| Ok(())).map(|_| ())
}
