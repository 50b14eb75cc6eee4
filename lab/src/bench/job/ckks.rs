//! Jobs of CKKS: the operations compared with other libraries.

use num_complex::Complex64;
use sunzi_circuits::linear_transform::{Diagonals, LinearTransform, Plan};
use sunzi_ckks::rotation::{rotation_exponent, rotation_keys};
use sunzi_ckks::{Ciphertext, Context, Encoder, Evaluator, Parameters, Plaintext};
use sunzi_rlwe::{GaloisKeys, PublicKey, RlweContext, SecretKey};

use super::expected::{complex, parts};
use super::many::{INNER_PRODUCT, MATRIX, MATRIX_VECTOR, PRODUCT_TREE, entry};
use super::{HOISTED, Job, ROTATE_HOISTED, Rng, STEPS, Scheme};
use crate::Result;
use crate::bench::values::Values;

pub(crate) struct Ckks {
    context: Context,
    evaluator: Evaluator,
    encoder: Encoder,
}

impl Job<Ckks> {
    /// Encrypts two vectors of n/2 slots under CKKS, given as real and imaginary parts in turn.
    pub(crate) fn ckks(parameters: &Parameters, values: [&[f64]; 2]) -> Result<Self> {
        let context = Context::new(parameters)?;
        let encoder = Encoder::new(&context, context.max_slots())?;
        let scheme = Ckks { evaluator: Evaluator::new(&context), context, encoder };
        Self::of(scheme, values.map(complex), |Ckks { context, .. }, secret, rng| {
            Ok(rotation_keys(context, secret, HOISTED, false, context.depth(), rng)?)
        })
    }
}

impl Scheme for Ckks {
    type Marker = sunzi_ckks::Ckks;
    type Slot = Complex64;
    type Plaintext = Plaintext;
    type Matrix = (LinearTransform, GaloisKeys);
    const LACKS: &'static [&'static str] = &["multiply_relinearize_switch", "mod_switch"];

    fn rlwe(&self) -> &RlweContext {
        self.context.rlwe()
    }

    fn rotation_exponent(&self, steps: i64) -> u64 {
        rotation_exponent(steps, self.context.ring().index())
    }

    fn encode(&self, slots: &[Complex64]) -> Result<Plaintext> {
        Ok(self.encoder.encode(slots)?)
    }

    fn decode(&self, plain: &Plaintext) -> Result<Vec<Complex64>> {
        Ok(self.encoder.decode(plain)?)
    }

    fn encrypt(&self, plain: &Plaintext, key: &PublicKey, rng: Rng<'_>) -> Result<Ciphertext> {
        Ok(self.context.encrypt(plain, key, rng)?)
    }

    fn decrypt(&self, a: &Ciphertext, key: &SecretKey) -> Result<Plaintext> {
        Ok(self.context.decrypt(a, key)?)
    }

    fn values(slots: Vec<Complex64>) -> Values {
        Values::Reals(parts(&slots))
    }

    fn matrix(&self, key: &SecretKey, right: &[Complex64], rng: Rng<'_>) -> Result<Self::Matrix> {
        let context = &self.context;
        let mut diagonals = Diagonals::new(context.max_slots())?;
        for d in 0..MATRIX {
            let values: Vec<_> = (0..MATRIX).map(|i| entry(right, i, (i + d) % MATRIX)).collect();
            diagonals.add(d as i64, &values)?;
        }
        let plan = Plan::new(context, &diagonals, context.depth())?;
        let keys = rotation_keys(context, key, plan.rotations(), false, context.depth(), rng)?;
        Ok((LinearTransform::encode(context, &diagonals, plan)?, keys))
    }

    fn evaluate(job: &Job<Self>, name: &str) -> Result<Vec<Ciphertext>> {
        let Job { scheme: Self { evaluator, .. }, keys, galois, a, b, .. } = job;
        let key = &keys.relinearization;
        Ok(vec![match name {
            "add" => evaluator.add(a, b)?,
            "multiply" => evaluator.multiply_unscaled(a, b)?,
            "relinearize" => evaluator.relinearize(job.tensor()?, key)?,
            "multiply_relinearize" => evaluator.relinearize(&evaluator.multiply_unscaled(a, b)?, key)?,
            "multiply_relinearize_rescale" => evaluator.multiply(a, b, key)?,
            "rescale" => evaluator.rescale(job.product()?)?,
            "rotate" => evaluator.rotate(a, STEPS, galois)?,
            ROTATE_HOISTED => {
                let hoisted = evaluator.hoist(a)?;
                return HOISTED.map(|steps| Ok(hoisted.rotate(steps, galois)?)).collect();
            }
            INNER_PRODUCT => evaluator.sum_of_products(job.pairs()?, key)?,
            PRODUCT_TREE => job.tree(|a, b, _| evaluator.multiply(a, b, key))?,
            MATRIX_VECTOR => {
                let (matrix, keys) = job.matrix()?;
                matrix.apply(evaluator, a, keys)?
            }
            _ => return Ok(Vec::new()),
        }])
    }
}
