//! BFV as it is compared with other libraries: a [`Job`], and what takes many ciphertexts.

use std::cell::OnceCell;

use sunzi_bfv::{Evaluator, Parameters};
use sunzi_encoding::Encoder;

use super::many::{ExactMatrix, INNER_PRODUCT, MATRIX_VECTOR, PRODUCT_TREE, Pool, tree};
use super::{COMPARED, Call, Cipher, Job, RESCALES, STEPS, SWITCHES, Subject, hoisted_exponents, operation};
use crate::bench::rivals::circuits::{Name, Step};
use crate::bench::rivals::{About, Values};
use crate::{LabError, Result};

/// Keys and data, and more of both for the workloads that ask for it.
pub(crate) struct BfvJob {
    job: Job,
    pool: Pool<Cipher>,
    matrix: OnceCell<ExactMatrix<Evaluator>>,
}

impl BfvJob {
    /// Encrypts two vectors of n slots.
    pub(crate) fn new(parameters: &Parameters, log_n: u32, values: [Vec<u64>; 2]) -> Result<Self> {
        let job = Job::new(parameters, values, hoisted_exponents(1 << log_n))?;
        Ok(Self { job, pool: Pool::new(), matrix: OnceCell::new() })
    }

    /// The ciphertext that a workload of many ciphertexts results in; none for other names.
    fn evaluate(&self, name: &str) -> Result<Option<Cipher>> {
        let Job { context, evaluator, encoder, secret, public, relinearization, values, rng, .. } = &self.job;
        let [left, right] = values;
        let n = self.job.n();
        let encrypt = |at: usize| {
            let plain = encoder.encode(if at == 0 { left } else { right })?;
            Ok::<_, LabError>(context.encrypt(&plain, public, &mut **rng.borrow_mut())?)
        };
        Ok(Some(match name {
            INNER_PRODUCT => evaluator.dot_product(&self.pool.pairs(n, encrypt)?, relinearization)?,
            PRODUCT_TREE => {
                let multiply = |a: &Cipher, b: &Cipher, _| evaluator.multiply(a, b, relinearization);
                tree(&self.pool.factors(n, encrypt)?, true, &multiply)?
            }
            MATRIX_VECTOR => {
                if self.matrix.get().is_none() {
                    let keys = (context.rlwe(), secret);
                    let made = ExactMatrix::new(evaluator, keys, encoder, right, &mut **rng.borrow_mut())?;
                    let _ = self.matrix.set(made);
                }
                let made = self.matrix.get().ok_or(LabError::request("no matrix"))?;
                made.multiply(evaluator, &self.job.a)?
            }
            _ => return Ok(None),
        }))
    }
}

/// The ciphertexts of a circuit, the operands first.
fn circuit(job: &Job, steps: &[Step]) -> Result<Vec<Cipher>> {
    let Job { evaluator, relinearization, galois, a, b, .. } = job;
    let mut values = vec![a.clone(), b.clone()];
    for step in steps {
        let value = |at: usize| values.get(at).ok_or(LabError::request("a step of a value to come"));
        let left = value(step.left)?;
        let result = match step.name {
            Name::Add => evaluator.add(left, value(step.right)?)?,
            Name::Subtract => evaluator.sub(left, value(step.right)?)?,
            Name::Negate => evaluator.negate(left)?,
            Name::Multiply => evaluator.multiply(left, value(step.right)?, relinearization)?,
            Name::Rotate => evaluator.rotate_rows(left, step.right as i64, galois)?,
        };
        values.push(result);
    }
    Ok(values)
}

impl Subject for BfvJob {
    fn names(&self) -> Vec<&'static str> {
        let other = |name: &&str| !RESCALES.contains(name) && !SWITCHES.contains(name);
        COMPARED.into_iter().filter(other).collect()
    }

    fn about(&self) -> Result<About> {
        let rlwe = self.job.context.rlwe();
        let Job { a, relinearization, galois, .. } = &self.job;
        let rotation = galois.get(sunzi_bfv::row_rotation_exponent(self.job.n(), STEPS))?;
        Ok(About::ours(rlwe, a.parts(), relinearization.byte_len(), rotation.byte_len()))
    }

    fn outcome(&self, name: &str) -> Result<Values> {
        Ok(Values::Words(match self.evaluate(name)? {
            Some(result) => self.job.open(&result)?,
            None => self.job.outcome(name)?,
        }))
    }

    fn circuit(&self, steps: &[Step]) -> Result<Values> {
        let last = circuit(&self.job, steps)?.pop().ok_or(LabError::request("no value"))?;
        Ok(Values::Words(self.job.open(&last)?))
    }

    fn contender(&self, name: &str) -> Result<Call<'_>> {
        match [INNER_PRODUCT, PRODUCT_TREE, MATRIX_VECTOR].into_iter().find(|other| *other == name) {
            Some(name) => Ok(operation(name, move || self.evaluate(name)).1),
            None => self.job.contender(name),
        }
    }
}
