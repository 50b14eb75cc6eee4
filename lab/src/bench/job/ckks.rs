//! CKKS: what is compared with other libraries.

use num_complex::Complex64;
use rand_core::CryptoRng;
use sunzi_circuits::linear_transform::{Diagonals, LinearTransform, Plan};
use sunzi_ckks::rotation::{rotation_exponent, rotation_keys};
use sunzi_ckks::{Ciphertext, Context, Encoder, Evaluator, Parameters, Plaintext};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RlweContext, SecretKey};

use super::expected::{complex, parts};
use super::many::{MATRIX, entry};
use super::{HOISTED, Job, STEPS, Scheme};
use crate::Result;
use crate::bench::rivals::Values;

pub(crate) struct Ckks {
    context: Context,
    evaluator: Evaluator,
    encoder: Encoder,
}

impl Job<Ckks> {
    /// Encrypts two vectors of n/2 slots, real and imaginary parts in turn.
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
    type Slot = Complex64;
    type Plaintext = Plaintext;
    type Ciphertext = Ciphertext;
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

    fn encrypt(&self, plain: &Plaintext, key: &PublicKey, rng: &mut dyn CryptoRng) -> Result<Ciphertext> {
        Ok(self.context.encrypt(plain, key, rng)?)
    }

    fn decrypt(&self, a: &Ciphertext, key: &SecretKey) -> Result<Plaintext> {
        Ok(self.context.decrypt(a, key)?)
    }

    fn parts(a: &Ciphertext) -> &[Poly<Evaluation>] {
        a.parts()
    }

    fn values(slots: Vec<Complex64>) -> Values {
        Values::Reals(parts(&slots))
    }

    fn tensor(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        Ok(self.evaluator.multiply_unscaled(a, b)?)
    }

    fn relinearize(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext> {
        Ok(self.evaluator.relinearize(a, key)?)
    }

    fn multiply(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
        _: bool,
    ) -> Result<Ciphertext> {
        Ok(self.evaluator.multiply(a, b, key)?)
    }

    fn inner_product(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        key: &RelinearizationKey,
    ) -> Result<Ciphertext> {
        Ok(self.evaluator.sum_of_products(pairs.iter().copied(), key)?)
    }

    fn rotate_hoisted(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Vec<Ciphertext>> {
        let hoisted = self.evaluator.hoist(a)?;
        HOISTED.map(|steps| Ok(hoisted.rotate(steps, keys)?)).collect()
    }

    fn matrix(&self, key: &SecretKey, right: &[Complex64], rng: &mut dyn CryptoRng) -> Result<Self::Matrix> {
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

    fn by_matrix(&self, (matrix, keys): &Self::Matrix, vector: &Ciphertext) -> Result<Ciphertext> {
        Ok(matrix.apply(&self.evaluator, vector, keys)?)
    }

    fn evaluate(job: &Job<Self>, name: &str) -> Result<Option<Ciphertext>> {
        let Job { scheme: Self { evaluator, .. }, keys, galois, a, b, .. } = job;
        let key = &keys.relinearization;
        Ok(Some(match name {
            "add" => evaluator.add(a, b)?,
            "multiply_relinearize" => evaluator.relinearize(&evaluator.multiply_unscaled(a, b)?, key)?,
            "multiply_relinearize_rescale" => evaluator.multiply(a, b, key)?,
            "rescale" => evaluator.rescale(&job.product)?,
            "rotate" => evaluator.rotate(a, STEPS, galois)?,
            _ => return Ok(None),
        }))
    }
}
