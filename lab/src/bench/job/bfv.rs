//! Jobs of BFV: the operations compared with other libraries, and every other operation.

use sunzi_bfv::{
    BatchEncoder, Ciphertext, Context, Encoder, Evaluator, Parameters, Plaintext, row_rotation_exponent,
};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RlweContext, SecretKey};

use super::many::{ExactMatrix, INNER_PRODUCT, MATRIX_VECTOR, PRODUCT_TREE};
use super::{Call, HOISTED, Job, ROTATE_HOISTED, Rng, STEPS, Scheme, call, expected};
use crate::bench::values::{Name, Step, Values};
use crate::bench::{LabError, Result};

/// Every operation of BFV but hoisted rotations and workloads, in the order they are timed: keys, messages,
/// then the operations that result in a ciphertext.
const OPERATIONS: [&str; 21] = [
    "secret_key",
    "public_key",
    "relinearization_key",
    "galois_key",
    "encode",
    "decode",
    "decrypt",
    "decrypt_decode",
    "encode_encrypt",
    "encrypt_public",
    "encrypt_secret",
    "add",
    "add_plain",
    "multiply_plain",
    "multiply",
    "relinearize",
    "multiply_relinearize",
    "square_relinearize",
    "rotate",
    "swap_rows",
    "sum_slots",
];

/// An evaluator of BFV, its keys, and two ciphertexts.
pub(crate) type Operands<'a> = (&'a Evaluator, &'a RelinearizationKey, &'a GaloisKeys, [&'a Ciphertext; 2]);

pub(crate) struct Bfv {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
}

impl Scheme for Bfv {
    type Marker = sunzi_bfv::Bfv;
    type Slot = u64;
    type Plaintext = Plaintext;
    type Matrix = ExactMatrix<Evaluator>;
    const LACKS: &'static [&'static str] =
        &["multiply_relinearize_switch", "mod_switch", "multiply_relinearize_rescale", "rescale"];

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
        let Job { scheme: Self { context, evaluator, .. }, keys, galois, a, b, plain, .. } = job;
        let key = &keys.relinearization;
        Ok(vec![match name {
            "encrypt_secret" => context.encrypt_secret(plain, &keys.secret, &mut **job.rng.borrow_mut())?,
            "add" => evaluator.add(a, b)?,
            "add_plain" => evaluator.add_plain(a, plain)?,
            "multiply_plain" => evaluator.multiply_plain(a, plain)?,
            "multiply" => evaluator.multiply_unrelinearized(a, b)?,
            "relinearize" => evaluator.relinearize(job.tensor()?, key)?,
            "multiply_relinearize" => evaluator.multiply(a, b, key)?,
            "square_relinearize" => evaluator.square(a, key)?,
            "rotate" => evaluator.rotate_rows(a, STEPS, galois)?,
            "swap_rows" => evaluator.rotate_columns(a, galois)?,
            "sum_slots" => evaluator.sum_slots(a, galois)?,
            ROTATE_HOISTED => {
                let hoisted = evaluator.hoist(a)?;
                return HOISTED.map(|steps| Ok(hoisted.rotate_rows(steps, galois)?)).collect();
            }
            INNER_PRODUCT => evaluator.dot_product(&job.pairs()?, key)?,
            PRODUCT_TREE => job.tree(|a, b, _| evaluator.multiply(a, b, key))?,
            MATRIX_VECTOR => job.matrix()?.multiply(evaluator, a)?,
            _ => return Ok(Vec::new()),
        }])
    }

    fn circuit(job: &Job<Self>, steps: &[Step]) -> Result<Ciphertext> {
        let Job { scheme: Self { evaluator, .. }, keys, galois, a, b, .. } = job;
        let mut values = vec![a.clone(), b.clone()];
        for step in steps {
            let value =
                |at: usize| values.get(at).ok_or_else(|| LabError::request("a step of a value to come"));
            let left = value(step.left)?;
            let result = match step.name {
                Name::Add => evaluator.add(left, value(step.right)?)?,
                Name::Subtract => evaluator.sub(left, value(step.right)?)?,
                Name::Negate => evaluator.negate(left)?,
                Name::Multiply => evaluator.multiply(left, value(step.right)?, &keys.relinearization)?,
                Name::Rotate => evaluator.rotate_rows(left, step.right as i64, galois)?,
            };
            values.push(result);
        }
        values.pop().ok_or_else(|| LabError::request("no value"))
    }
}

impl Job {
    /// Encrypts two vectors of n slots under BFV; makes Galois keys of `exponents` and of the rotation.
    pub(crate) fn new(parameters: &Parameters, values: [Vec<u64>; 2], exponents: Vec<u64>) -> Result<Self> {
        Self::with_context(Context::new(parameters)?, values, exponents)
    }

    /// The BFV job of a context, whose keys are made here.
    pub(crate) fn with_context(
        context: Context,
        values: [Vec<u64>; 2],
        mut exponents: Vec<u64>,
    ) -> Result<Self> {
        let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
        let scheme = Bfv { evaluator: Evaluator::new(&context), context, encoder };
        let rotation = scheme.rotation_exponent(STEPS);
        if !exponents.contains(&rotation) {
            exponents.push(rotation);
        }
        Self::of(scheme, values, |scheme, secret, rng| {
            Ok(GaloisKeys::generate(scheme.rlwe(), secret, exponents, rng)?)
        })
    }

    /// The BFV evaluator, its keys and the two ciphertexts.
    pub(crate) fn operands(&self) -> Operands<'_> {
        let keys = &self.keys.relinearization;
        (&self.scheme.evaluator, keys, &self.galois, [&self.a, &self.b])
    }

    /// The plaintext modulus t.
    pub(crate) fn plain_modulus(&self) -> u64 {
        self.scheme.context.plain_modulus()
    }

    /// Every operation of BFV by name; hoisted rotations if there are keys for them.
    pub(crate) fn operations(&self) -> Vec<(&'static str, Call<'_>)> {
        let keys = hoisted_exponents(self.n());
        let hoisted = keys.iter().all(|exponent| self.galois.get(*exponent).is_ok());
        let names = OPERATIONS.into_iter().chain(hoisted.then_some(ROTATE_HOISTED));
        names.map(|name| (name, self.key_operation(name).unwrap_or_else(|| self.contender(name)))).collect()
    }

    fn key_operation(&self, name: &str) -> Option<Call<'_>> {
        let (rlwe, secret, rng) = (self.scheme.rlwe(), &self.keys.secret, &self.rng);
        Some(match name {
            "secret_key" => call(|| SecretKey::generate(rlwe, &mut **rng.borrow_mut())),
            "public_key" => call(|| PublicKey::generate(rlwe, secret, &mut **rng.borrow_mut())),
            "relinearization_key" => {
                call(|| RelinearizationKey::generate(rlwe, secret, &mut **rng.borrow_mut()))
            }
            "galois_key" => call(|| {
                let one = [self.scheme.rotation_exponent(STEPS)];
                GaloisKeys::generate(rlwe, secret, one, &mut **rng.borrow_mut())
            }),
            _ => return None,
        })
    }

    /// Whether every operation of BFV decrypts to what it should.
    pub(crate) fn holds(&self) -> Result<bool> {
        let [left, right] = &self.values;
        // Decryption and all after it.
        for name in OPERATIONS.into_iter().skip(6) {
            if self.outcome(name)? != expected(name, left, right, self.plain_modulus()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Exponents of the automorphisms of the hoisted rotations.
pub(crate) fn hoisted_exponents(n: usize) -> Vec<u64> {
    HOISTED.map(|steps| row_rotation_exponent(n, steps)).collect()
}
