//! Keys and data of one BGV parameter set: what is compared with other libraries.

use std::cell::{OnceCell, RefCell};

use sunzi_bfv::row_rotation_exponent;
use sunzi_bgv::{BgvError, Ciphertext, Context, Evaluator, Parameters};
use sunzi_encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, Security, randomness};

use super::many::{ExactMatrix, INNER_PRODUCT, MATRIX_VECTOR, PRODUCT_TREE, Pool, tree};
use super::{COMPARED, Call, HOISTED, RESCALES, STEPS, Subject, hoisted_exponents, operation};
use crate::bench::rivals::{About, Values};
use crate::subjects::keys::Keys;
use crate::{LabError, Result};

/// Keys and data, with one level for every modulus: fresh ciphertexts are multiplied with all of them.
pub(crate) struct BgvJob {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    left: Vec<u64>,
    right: Vec<u64>,
    pool: Pool<Ciphertext>,
    matrix: OnceCell<ExactMatrix<Evaluator>>,
    plain: Plaintext,
    a: Ciphertext,
    b: Ciphertext,
    /// a·b in three parts, and in two.
    tensor: Ciphertext,
    product: Ciphertext,
    rng: RefCell<Box<dyn rand_core::CryptoRng>>,
}

impl BgvJob {
    /// Encrypts two vectors of n slots.
    pub(crate) fn new(
        log_n: u32,
        moduli: Vec<u64>,
        key_switching: GadgetOptions,
        t: u64,
        [left, right]: [Vec<u64>; 2],
    ) -> Result<Self> {
        let levels = (1..=moduli.len()).collect();
        let parameters = Parameters::new(log_n, moduli, t, Security::Bits128).with_levels(levels);
        let context = Context::new(&parameters.with_key_switching(key_switching))?;
        let (rlwe, n) = (context.rlwe(), context.degree());
        let mut rng: Box<dyn rand_core::CryptoRng> = Box::new(randomness::from_os()?);
        let Keys { secret, public, relinearization } = Keys::generate(rlwe, &mut rng)?;
        let galois = GaloisKeys::generate(rlwe, &secret, hoisted_exponents(n), &mut rng)?;
        let encoder = BatchEncoder::new(n, t)?;
        let plain = encoder.encode(&right)?;
        let a = context.encrypt(&encoder.encode(&left)?, &public, &mut rng)?;
        let b = context.encrypt(&plain, &public, &mut rng)?;
        let evaluator = Evaluator::new(&context);
        let tensor = evaluator.multiply_unrelinearized(&a, &b)?;
        let product = evaluator.relinearize(&tensor, &relinearization)?;
        let rng = RefCell::new(rng);
        Ok(Self {
            context,
            evaluator,
            encoder,
            secret,
            public,
            relinearization,
            galois,
            left,
            right,
            pool: Pool::new(),
            matrix: OnceCell::new(),
            plain,
            a,
            b,
            tensor,
            product,
            rng,
        })
    }

    /// The ciphertexts that an operation results in; none for other names and for decryption.
    fn evaluate(&self, name: &str) -> Result<Vec<Ciphertext>> {
        if let Some(result) = self.many(name)? {
            return Ok(vec![result]);
        }
        let Self { context, evaluator, a, b, relinearization, galois, .. } = self;
        let mut rng = self.rng.borrow_mut();
        let rng = &mut **rng;
        let one = match name {
            "encode_encrypt" => context.encrypt(&self.encoder.encode(&self.right)?, &self.public, rng)?,
            "encrypt_public" => context.encrypt(&self.plain, &self.public, rng)?,
            "add" => evaluator.add(a, b)?,
            "multiply" => evaluator.multiply_unrelinearized(a, b)?,
            "relinearize" => evaluator.relinearize(&self.tensor, relinearization)?,
            "multiply_relinearize" => evaluator.multiply(a, b, relinearization)?,
            "multiply_relinearize_switch" => evaluator.multiply_switched(a, b, relinearization)?,
            "mod_switch" => evaluator.operand(&self.product)?,
            "rotate" => evaluator.rotate_rows(a, STEPS, galois)?,
            "rotate_hoisted" => {
                let hoisted = evaluator.hoist(a)?;
                return Ok(HOISTED
                    .map(|steps| hoisted.rotate_rows(steps, galois))
                    .collect::<Result<_, _>>()?);
            }
            _ => return Ok(Vec::new()),
        };
        Ok(vec![one])
    }

    /// The ciphertext that a workload of many ciphertexts results in; none for other names.
    fn many(&self, name: &str) -> Result<Option<Ciphertext>> {
        let Self { context, evaluator, encoder, secret, relinearization, left, right, .. } = self;
        let n = context.degree();
        let encrypt = |at: usize| {
            let plain = encoder.encode(if at == 0 { left } else { right })?;
            context.encrypt(&plain, &self.public, &mut **self.rng.borrow_mut())
        };
        Ok(Some(match name {
            INNER_PRODUCT => evaluator.sum_of_products(self.pool.pairs(n, encrypt)?, relinearization)?,
            PRODUCT_TREE => {
                let multiply = |a: &Ciphertext, b: &Ciphertext, last: bool| match last {
                    true => evaluator.multiply(a, b, relinearization),
                    false => evaluator.multiply_switched(a, b, relinearization),
                };
                tree(&self.pool.factors(n, encrypt)?, true, &multiply)?
            }
            MATRIX_VECTOR => {
                if self.matrix.get().is_none() {
                    let keys = (context.rlwe(), secret);
                    let mut rng = self.rng.borrow_mut();
                    let made = ExactMatrix::new(evaluator, keys, encoder, right, &mut **rng)?;
                    let _ = self.matrix.set(made);
                }
                let made = self.matrix.get().ok_or(LabError::request("no matrix"))?;
                made.multiply(evaluator, &self.a)?
            }
            _ => return Ok(None),
        }))
    }

    fn open(&self, ciphertext: &Ciphertext) -> Result<Vec<u64>, BgvError> {
        Ok(self.encoder.decode(&self.context.decrypt(ciphertext, &self.secret)?)?)
    }
}

impl Subject for BgvJob {
    fn names(&self) -> Vec<&'static str> {
        COMPARED.into_iter().filter(|name| !RESCALES.contains(name)).collect()
    }

    fn about(&self) -> Result<About> {
        let rotation = self.galois.get(row_rotation_exponent(self.context.degree(), STEPS))?;
        let key = self.relinearization.byte_len();
        Ok(About::ours(self.context.rlwe(), self.a.parts(), key, rotation.byte_len()))
    }

    fn outcome(&self, name: &str) -> Result<Values> {
        let results = self.evaluate(name)?;
        if results.is_empty() {
            return Ok(Values::Words(self.open(&self.a)?));
        }
        let opened = results.iter().map(|ciphertext| self.open(ciphertext));
        Ok(Values::Words(opened.collect::<Result<Vec<_>, _>>()?.concat()))
    }

    fn contender(&self, name: &str) -> Result<Call<'_>> {
        let Some(name) = self.names().into_iter().find(|other| *other == name) else {
            return Err(LabError::request("no such operation"));
        };
        let (_, call) = match name {
            "decrypt" => operation(name, || self.context.decrypt(&self.a, &self.secret)),
            "decrypt_decode" => operation(name, || self.open(&self.a)),
            _ => operation(name, move || self.evaluate(name)),
        };
        Ok(call)
    }
}
