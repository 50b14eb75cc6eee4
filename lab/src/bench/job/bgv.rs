//! Jobs of BGV: the operations compared with other libraries.

use sunzi_bfv::row_rotation_exponent;
use sunzi_bgv::{Ciphertext, Context, Evaluator, Parameters};
use sunzi_encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{GaloisKeys, PublicKey, RlweContext, SecretKey, Security};

use super::many::{ExactMatrix, INNER_PRODUCT, MATRIX_VECTOR, PRODUCT_TREE};
use super::{HOISTED, Job, ROTATE_HOISTED, Rng, STEPS, Scheme, hoisted_exponents};
use crate::Result;
use crate::bench::values::Values;

pub(crate) struct Bgv {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
}

impl Job<Bgv> {
    /// Encrypts two vectors of n slots under BGV. There is one level for every modulus: fresh ciphertexts are
    /// multiplied with all moduli.
    pub(crate) fn bgv(
        log_n: u32,
        moduli: Vec<u64>,
        key_switching: GadgetOptions,
        t: u64,
        values: [Vec<u64>; 2],
    ) -> Result<Self> {
        let levels = (1..=moduli.len()).collect();
        let parameters = Parameters::new(log_n, moduli, t, Security::Bits128).with_levels(levels);
        let context = Context::new(&parameters.with_key_switching(key_switching))?;
        let encoder = BatchEncoder::new(context.degree(), t)?;
        let scheme = Bgv { evaluator: Evaluator::new(&context), context, encoder };
        Self::of(scheme, values, |scheme, secret, rng| {
            let exponents = hoisted_exponents(scheme.context.degree());
            Ok(GaloisKeys::generate(scheme.rlwe(), secret, exponents, rng)?)
        })
    }
}

impl Scheme for Bgv {
    type Marker = sunzi_bgv::Bgv;
    type Slot = u64;
    type Plaintext = Plaintext;
    type Matrix = ExactMatrix<Evaluator>;
    const LACKS: &'static [&'static str] = &["multiply_relinearize_rescale", "rescale"];

    fn rlwe(&self) -> &RlweContext {
        self.context.rlwe()
    }

    fn rotation_exponent(&self, steps: i64) -> u64 {
        row_rotation_exponent(self.context.degree(), steps)
    }

    fn encode(&self, slots: &[u64]) -> Result<Plaintext> {
        Ok(self.encoder.encode(slots)?)
    }

    fn decode(&self, plain: &Plaintext) -> Result<Vec<u64>> {
        Ok(self.encoder.decode(plain)?)
    }

    fn encrypt(&self, plain: &Plaintext, key: &PublicKey, rng: Rng<'_>) -> Result<Ciphertext> {
        Ok(self.context.encrypt(plain, key, rng)?)
    }

    fn decrypt(&self, a: &Ciphertext, key: &SecretKey) -> Result<Plaintext> {
        Ok(self.context.decrypt(a, key)?)
    }

    fn values(slots: Vec<u64>) -> Values {
        Values::Words(slots)
    }

    fn matrix(&self, key: &SecretKey, right: &[u64], rng: Rng<'_>) -> Result<Self::Matrix> {
        ExactMatrix::new(&self.evaluator, (self.rlwe(), key), (&self.encoder, right), rng)
    }

    fn evaluate(job: &Job<Self>, name: &str) -> Result<Vec<Ciphertext>> {
        let Job { scheme: Self { evaluator, .. }, keys, galois, a, b, .. } = job;
        let key = &keys.relinearization;
        Ok(vec![match name {
            "add" => evaluator.add(a, b)?,
            "multiply" => evaluator.multiply_unrelinearized(a, b)?,
            "relinearize" => evaluator.relinearize(job.tensor()?, key)?,
            "multiply_relinearize" => evaluator.multiply(a, b, key)?,
            "multiply_relinearize_switch" => evaluator.multiply_switched(a, b, key)?,
            "mod_switch" => evaluator.operand(job.product()?)?,
            "rotate" => evaluator.rotate_rows(a, STEPS, galois)?,
            ROTATE_HOISTED => {
                let hoisted = evaluator.hoist(a)?;
                return HOISTED.map(|steps| Ok(hoisted.rotate_rows(steps, galois)?)).collect();
            }
            INNER_PRODUCT => evaluator.sum_of_products(job.pairs()?, key)?,
            PRODUCT_TREE => job.tree(|a, b, last| match last {
                true => evaluator.multiply(a, b, key),
                false => evaluator.multiply_switched(a, b, key),
            })?,
            MATRIX_VECTOR => job.matrix()?.multiply(evaluator, a)?,
            _ => return Ok(Vec::new()),
        }])
    }
}
