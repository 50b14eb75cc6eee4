//! Runs of programs in CKKS.

use num_bigint::BigInt;
use sunzi_circuits::comparison;
use sunzi_ckks::{Ciphertext, Encoder, Evaluator};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey};

use super::{Backend, Clear, ERROR_DEVIATIONS, Table, computed, leaf, total};
use crate::analysis::{Action, Facts, Layout, Lowered, Refusal, Step, exp2, facts, integral};
use crate::{NodeId, Number, Plan, Program, ProgramError};

/// Value of a node in one chunk of a CKKS run.
pub enum Value {
    /// Encrypted value, divided by the power of two of its node.
    Encrypted(Ciphertext),
    /// Clear value, computed from clear columns.
    Clear(NodeId, Clear),
}

/// Output of a CKKS run: a sum, or a chunk of a column.
#[derive(Clone)]
pub enum Output {
    /// Encrypted sum in slot 0, padding included; or a chunk of an encrypted column, slot by slot.
    Encrypted(Ciphertext),
    /// Sum of a clear column, padding included.
    Clear(Number),
    /// Chunk of a clear column.
    ClearColumn(Clear),
}

/// Evaluation keys of a CKKS run.
pub struct Keys<'a> {
    /// Relinearisation key, for products.
    pub relinearization: &'a RelinearizationKey,
    /// Galois keys, for sums over slots.
    pub galois: &'a GaloisKeys,
}

/// Backend that runs programs in CKKS.
pub struct Ckks<'a> {
    program: &'a Program,
    facts: Vec<Facts>,
    lowered: &'a Lowered,
    layout: &'a Layout,
    evaluator: &'a Evaluator,
    encoder: &'a Encoder,
    keys: Keys<'a>,
}

impl<'a> Ckks<'a> {
    /// Makes the backend of a plan; `encoder` has as many slots as a chunk.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a plan of another scheme, and an encoder of other slots.
    pub fn new(
        plan: &'a Plan,
        evaluator: &'a Evaluator,
        encoder: &'a Encoder,
        keys: Keys<'a>,
    ) -> Result<Self, ProgramError> {
        let Some(lowered) = &plan.lowered else {
            return Err(ProgramError::mismatch("the scheme", plan.parameters.name(), "CKKS"));
        };
        if encoder.slots() != plan.layout.span {
            return Err(ProgramError::mismatch("slots", plan.layout.span, encoder.slots()));
        }
        let (program, layout) = (&plan.program, &plan.layout);
        Ok(Self { program, facts: facts(program), lowered, layout, evaluator, encoder, keys })
    }

    /// Returns the value of an input that is not encrypted, from the server's table.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a table without cells of the input's column.
    pub fn clear_input(&self, table: &Table, id: NodeId, chunk: usize) -> Result<Value, ProgramError> {
        let node = self.program.graph().node(id).ok_or_else(broken)?;
        Ok(Value::Clear(id, leaf(node, table, self.layout, chunk)?))
    }

    /// Subtracts the padding from a sum over chunks in the clear.
    pub(crate) fn without_padding(&self, id: NodeId, sum: &Number) -> Result<Number, ProgramError> {
        let (step, facts) = (self.step(id)?, self.facts.get(id.index()).ok_or_else(broken)?);
        let padding = match (sum, facts.exact) {
            (Number::Exact(_), Some(exact)) => {
                Number::scaled(BigInt::from(exact.padding) * self.layout.padding(), exact.decimals)
            }
            _ => Number::Real(step.padding * exp2(step.exponent) * self.layout.padding() as f64),
        };
        Ok(sum.sub(&padding))
    }

    pub(super) fn step(&self, id: NodeId) -> Result<&Step, ProgramError> {
        self.lowered.step(id).ok_or_else(broken)
    }

    /// Refuses an operand whose errors are larger than the plan allows.
    pub(super) fn right_enough(&self, id: NodeId, x: &Ciphertext, allowed: f64) -> Result<(), ProgramError> {
        let off = ERROR_DEVIATIONS * x.metadata().precision.deviation();
        if off <= allowed {
            return Ok(());
        }
        let reason = format!(
            "its operand is off by up to {off:.1e} of its range where at most {allowed:.1e} was planned: ask for more precision"
        );
        let expression = self.program.graph().describe(id, self.program.schema());
        Err(Box::new(Refusal { reason, expression }).into())
    }

    /// Returns a clear value divided by the power of two of its node.
    fn stored(&self, id: NodeId, clear: &Clear) -> Result<Vec<f64>, ProgramError> {
        let scale = exp2(-self.step(id)?.exponent);
        let facts = self.facts.get(id.index()).ok_or_else(broken)?;
        Ok(clear.reals(facts).into_iter().map(|v| v * scale).collect())
    }

    fn linear(
        &self,
        factors: &[f64],
        constant: f64,
        operands: &[&Value],
    ) -> Result<Ciphertext, ProgramError> {
        let evaluator = self.evaluator;
        let mut terms: Vec<(f64, &Ciphertext)> = Vec::new();
        let mut clear: Option<Vec<f64>> = None;
        for (&factor, value) in factors.iter().zip(operands) {
            match value {
                Value::Encrypted(x) => terms.push((factor, x)),
                Value::Clear(id, values) => {
                    let stored = self.stored(*id, values)?;
                    let sum = clear.get_or_insert_with(|| vec![0.0; stored.len()]);
                    sum.iter_mut().zip(stored).for_each(|(sum, v)| *sum += factor * v);
                }
            }
        }
        let sum = if integral(factors) {
            let mut sum: Option<Ciphertext> = None;
            for (factor, x) in terms {
                let term = if factor == 1.0 {
                    x.clone()
                } else {
                    evaluator.multiply_integer(x, factor as i64).map_err(scheme)?
                };
                sum = Some(match sum {
                    Some(sum) => evaluator.add(&sum, &term).map_err(scheme)?,
                    None => term,
                });
            }
            sum.ok_or_else(broken)?
        } else {
            let lowest = terms.iter().map(|(_, x)| x.metadata().level).min().ok_or_else(broken)?;
            let below = lowest.checked_sub(1).ok_or_else(broken)?;
            // So that the rescaling ends on the scale of the level below.
            let context = evaluator.context();
            let scale = context.scale(below).map_err(scheme)? * context.divisor(lowest).map_err(scheme)?;
            let sum = evaluator.linear_combination(&terms, lowest, scale).map_err(scheme)?;
            evaluator.rescale(&sum).map_err(scheme)?
        };
        let sum = match clear {
            Some(values) => evaluator.add_plain(&sum, &self.encoded(&values, &sum)?).map_err(scheme)?,
            None => sum,
        };
        if constant == 0.0 { Ok(sum) } else { evaluator.add_constant(&sum, constant).map_err(scheme) }
    }

    /// Encodes numbers at the level and scale of a ciphertext.
    fn encoded(&self, values: &[f64], beside: &Ciphertext) -> Result<sunzi_ckks::Plaintext, ProgramError> {
        let metadata = beside.metadata();
        self.encoder.encode_real_at(values, metadata.level, metadata.scale).map_err(scheme)
    }

    fn product(&self, a: &Value, b: &Value) -> Result<Ciphertext, ProgramError> {
        match (a, b) {
            (Value::Encrypted(a), Value::Encrypted(b)) => {
                self.evaluator.multiply(a, b, self.keys.relinearization).map_err(scheme)
            }
            (Value::Encrypted(x), Value::Clear(id, clear))
            | (Value::Clear(id, clear), Value::Encrypted(x)) => {
                let level = x.metadata().level;
                let scale = self.evaluator.context().scale(level).map_err(scheme)?;
                let stored = self.stored(*id, clear)?;
                let plaintext = self.encoder.encode_real_at(&stored, level, scale).map_err(scheme)?;
                self.evaluator.multiply_plain(x, &plaintext).map_err(scheme)
            }
            _ => Err(broken()),
        }
    }
}

impl Backend for Ckks<'_> {
    type Value = Value;
    type Total = Output;
    type Output = Output;

    fn compute(&self, id: NodeId, operands: &[&Value]) -> Result<Value, ProgramError> {
        let (step, evaluator) = (self.step(id)?, self.evaluator);
        let value = match (&step.action, operands) {
            (Action::Clear, _) => {
                let clear: Vec<&Clear> = operands
                    .iter()
                    .filter_map(|value| if let Value::Clear(_, clear) = value { Some(clear) } else { None })
                    .collect();
                let value = computed(self.program, &self.facts, id, &clear, self.layout.span)?;
                return Ok(Value::Clear(id, value));
            }
            (Action::Linear { factors, constant }, _) => self.linear(factors, *constant, operands)?,
            (Action::Product { shift }, [a, b]) => {
                let product = self.product(a, b)?;
                if *shift > 0 {
                    evaluator.multiply_integer(&product, 1 << shift).map_err(scheme)?
                } else {
                    product
                }
            }
            (Action::Curve { curve, allowed }, [Value::Encrypted(x)]) => {
                self.right_enough(id, x, *allowed)?;
                curve.evaluate(evaluator, x, self.keys.relinearization).map_err(scheme)?
            }
            (Action::Sign { sign, offset, allowed }, [Value::Encrypted(x)]) => {
                self.right_enough(id, x, *allowed)?;
                let x = evaluator.add_constant(x, *offset).map_err(scheme)?;
                // There is room for half a unit beside every operand of a comparison.
                let x = evaluator.with_magnitude(&x, 1.0).map_err(scheme)?;
                comparison::positive(evaluator, sign, &x, self.keys.relinearization).map_err(scheme)?
            }
            _ => return Err(broken()),
        };
        // The range of the node is known, whatever the operations that made it may tell.
        evaluator.with_magnitude(&value, 1.0).map(Value::Encrypted).map_err(scheme)
    }

    fn accumulate(&self, sum: &mut Option<Output>, value: &Value) -> Result<(), ProgramError> {
        *sum = Some(match (sum.take(), value) {
            (None, Value::Encrypted(x)) => Output::Encrypted(x.clone()),
            (Some(Output::Encrypted(mut sum)), Value::Encrypted(x)) => {
                self.evaluator.add_assign(&mut sum, x).map_err(scheme)?;
                Output::Encrypted(sum)
            }
            (before @ (None | Some(Output::Clear(_))), Value::Clear(id, clear)) => {
                let own = total(clear, self.facts.get(id.index()).ok_or_else(broken)?);
                Output::Clear(if let Some(Output::Clear(sum)) = before { sum.add(&own) } else { own })
            }
            _ => return Err(broken()),
        });
        Ok(())
    }

    fn accumulate_product(&self, _: &mut Option<Output>, _: &Value, _: &Value) -> Result<bool, ProgramError> {
        Ok(false)
    }

    fn finish(&self, _: NodeId, total: Output) -> Result<Output, ProgramError> {
        let Output::Encrypted(sum) = total else { return Ok(total) };
        let mut sum = self.evaluator.drop_to(&sum, self.lowered.sum_level).map_err(scheme)?;
        for step in self.layout.steps() {
            let rotated = self.evaluator.rotate(&sum, step, self.keys.galois).map_err(scheme)?;
            self.evaluator.add_assign(&mut sum, &rotated).map_err(scheme)?;
        }
        Ok(Output::Encrypted(sum))
    }

    fn column(&self, value: &Value) -> Result<Output, ProgramError> {
        Ok(match value {
            Value::Encrypted(x) => Output::Encrypted(x.clone()),
            Value::Clear(_, clear) => Output::ClearColumn(clear.clone()),
        })
    }
}

/// Returns one chunk of a column as it is encrypted: divided by the power of two of its node.
///
/// # Errors
/// [`ProgramError::Mismatch`] for a plan of another scheme, or a table without cells of the column.
pub fn stored(plan: &Plan, table: &Table, id: NodeId, chunk: usize) -> Result<Vec<f64>, ProgramError> {
    let step = plan.lowered.as_ref().and_then(|lowered| lowered.step(id)).ok_or_else(broken)?;
    let node = plan.program.graph().node(id).ok_or_else(broken)?;
    let cells = table.reals(node, &plan.layout, chunk);
    let cells =
        cells.ok_or_else(|| ProgramError::mismatch("the table", "cells of every column", "none of one"))?;
    Ok(cells.into_iter().map(|v| v / exp2(step.exponent)).collect())
}

pub(super) fn broken() -> ProgramError {
    ProgramError::Invalid("values and nodes do not belong together".to_owned())
}

pub(super) fn scheme(error: sunzi_ckks::CkksError) -> ProgramError {
    ProgramError::scheme(error)
}
