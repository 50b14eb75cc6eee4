//! BGV: what is compared with other libraries.

use rand_core::CryptoRng;
use sunzi_bfv::row_rotation_exponent;
use sunzi_bgv::{Ciphertext, Context, Evaluator, Parameters};
use sunzi_encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi_ring::{Evaluation, GadgetOptions, Poly};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RlweContext, SecretKey, Security};

use super::many::ExactMatrix;
use super::{HOISTED, Job, STEPS, Scheme, hoisted_exponents};
use crate::Result;
use crate::bench::rivals::Values;

pub(crate) struct Bgv {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
}

impl Job<Bgv> {
    /// Encrypts two vectors of n slots. There is one level for every modulus: fresh ciphertexts are multiplied with all
    /// of them.
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
    type Slot = u64;
    type Plaintext = Plaintext;
    type Ciphertext = Ciphertext;
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

    fn encrypt(&self, plain: &Plaintext, key: &PublicKey, rng: &mut dyn CryptoRng) -> Result<Ciphertext> {
        Ok(self.context.encrypt(plain, key, rng)?)
    }

    fn decrypt(&self, a: &Ciphertext, key: &SecretKey) -> Result<Plaintext> {
        Ok(self.context.decrypt(a, key)?)
    }

    fn parts(a: &Ciphertext) -> &[Poly<Evaluation>] {
        a.parts()
    }

    fn values(slots: Vec<u64>) -> Values {
        Values::Words(slots)
    }

    fn tensor(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        Ok(self.evaluator.multiply_unrelinearized(a, b)?)
    }

    fn relinearize(&self, a: &Ciphertext, key: &RelinearizationKey) -> Result<Ciphertext> {
        Ok(self.evaluator.relinearize(a, key)?)
    }

    fn multiply(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        key: &RelinearizationKey,
        last: bool,
    ) -> Result<Ciphertext> {
        Ok(match last {
            true => self.evaluator.multiply(a, b, key)?,
            false => self.evaluator.multiply_switched(a, b, key)?,
        })
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
        HOISTED.map(|steps| Ok(hoisted.rotate_rows(steps, keys)?)).collect()
    }

    fn matrix(&self, key: &SecretKey, right: &[u64], rng: &mut dyn CryptoRng) -> Result<Self::Matrix> {
        ExactMatrix::new(&self.evaluator, (self.rlwe(), key), (&self.encoder, right), rng)
    }

    fn by_matrix(&self, matrix: &Self::Matrix, vector: &Ciphertext) -> Result<Ciphertext> {
        matrix.multiply(&self.evaluator, vector)
    }

    fn evaluate(job: &Job<Self>, name: &str) -> Result<Option<Ciphertext>> {
        let Job { scheme: Self { evaluator, .. }, keys, galois, a, b, .. } = job;
        let key = &keys.relinearization;
        Ok(Some(match name {
            "add" => evaluator.add(a, b)?,
            "multiply_relinearize" => evaluator.multiply(a, b, key)?,
            "multiply_relinearize_switch" => evaluator.multiply_switched(a, b, key)?,
            "mod_switch" => evaluator.operand(&job.product)?,
            "rotate" => evaluator.rotate_rows(a, STEPS, galois)?,
            _ => return Ok(None),
        }))
    }
}
