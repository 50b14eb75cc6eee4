//! Keys and data of one CKKS parameter set: what is compared with other libraries.

use std::cell::{OnceCell, RefCell};

use num_complex::Complex64;
use sunzi_circuits::linear_transform::{Diagonals, LinearTransform, Plan};
use sunzi_ckks::rotation::{rotation_exponent, rotation_keys};
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, Parameters, Plaintext};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, randomness};

use super::many::{INNER_PRODUCT, MATRIX, MATRIX_VECTOR, PRODUCT_TREE, Pool, entry, tree};
use super::{COMPARED, Call, HOISTED, STEPS, SWITCHES, Subject, many, operation};
use crate::bench::rivals::{About, Values};
use crate::subjects::keys::Keys;
use crate::{LabError, Result};

/// Keys and data, all n/2 slots used.
pub(crate) struct CkksJob {
    context: Context,
    evaluator: Evaluator,
    encoder: Encoder,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    left: Vec<Complex64>,
    right: Vec<Complex64>,
    pool: Pool<Ciphertext>,
    matrix: OnceCell<(LinearTransform, GaloisKeys)>,
    plain: Plaintext,
    a: Ciphertext,
    b: Ciphertext,
    /// a·b in three parts, and in two.
    tensor: Ciphertext,
    product: Ciphertext,
    rng: RefCell<Box<dyn rand_core::CryptoRng>>,
}

impl CkksJob {
    /// Encrypts two vectors of n/2 slots, real and imaginary parts in turn.
    pub(crate) fn new(parameters: &Parameters, [left, right]: [&[f64]; 2]) -> Result<Self> {
        let context = Context::new(parameters)?;
        let rlwe = context.rlwe();
        let mut rng: Box<dyn rand_core::CryptoRng> = Box::new(randomness::from_os()?);
        let Keys { secret, public, relinearization } = Keys::generate(rlwe, &mut rng)?;
        let galois = rotation_keys(&context, &secret, HOISTED, false, context.depth(), &mut rng)?;
        let encoder = Encoder::new(&context, context.max_slots())?;
        let [left, right] = [left, right].map(complex);
        let plain = encoder.encode(&right)?;
        let a = context.encrypt(&encoder.encode(&left)?, &public, &mut rng)?;
        let b = context.encrypt(&plain, &public, &mut rng)?;
        let evaluator = Evaluator::new(&context);
        let tensor = evaluator.multiply_unscaled(&a, &b)?;
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
            "multiply" => evaluator.multiply_unscaled(a, b)?,
            "relinearize" => evaluator.relinearize(&self.tensor, relinearization)?,
            "multiply_relinearize" => {
                evaluator.relinearize(&evaluator.multiply_unscaled(a, b)?, relinearization)?
            }
            "multiply_relinearize_rescale" => evaluator.multiply(a, b, relinearization)?,
            "rescale" => evaluator.rescale(&self.product)?,
            "rotate" => evaluator.rotate(a, STEPS, galois)?,
            "rotate_hoisted" => {
                let hoisted = evaluator.hoist(a)?;
                return Ok(HOISTED.map(|steps| hoisted.rotate(steps, galois)).collect::<Result<_, _>>()?);
            }
            _ => return Ok(Vec::new()),
        };
        Ok(vec![one])
    }

    /// The ciphertext that a workload of many ciphertexts results in; none for other names.
    fn many(&self, name: &str) -> Result<Option<Ciphertext>> {
        let Self { context, evaluator, encoder, relinearization, left, right, .. } = self;
        let n = 2 * context.max_slots();
        let encrypt = |at: usize| {
            let plain = encoder.encode(if at == 0 { left } else { right })?;
            context.encrypt(&plain, &self.public, &mut **self.rng.borrow_mut())
        };
        Ok(Some(match name {
            INNER_PRODUCT => evaluator.sum_of_products(self.pool.pairs(n, encrypt)?, relinearization)?,
            PRODUCT_TREE => {
                let multiply = |a: &Ciphertext, b: &Ciphertext, _| evaluator.multiply(a, b, relinearization);
                tree(&self.pool.factors(n, encrypt)?, true, &multiply)?
            }
            MATRIX_VECTOR => {
                if self.matrix.get().is_none() {
                    let _ = self.matrix.set(self.make_matrix()?);
                }
                let (matrix, keys) = self.matrix.get().ok_or(LabError::request("no matrix"))?;
                matrix.apply(evaluator, &self.a, keys)?
            }
            _ => return Ok(None),
        }))
    }

    fn make_matrix(&self) -> Result<(LinearTransform, GaloisKeys)> {
        let Self { context, secret, right, .. } = self;
        let mut diagonals = Diagonals::new(context.max_slots())?;
        for d in 0..MATRIX {
            let values: Vec<_> = (0..MATRIX).map(|i| entry(right, i, (i + d) % MATRIX)).collect();
            diagonals.add(d as i64, &values)?;
        }
        let plan = Plan::new(context, &diagonals, context.depth())?;
        let mut rng = self.rng.borrow_mut();
        let keys = rotation_keys(context, secret, plan.rotations(), false, context.depth(), &mut **rng)?;
        Ok((LinearTransform::encode(context, &diagonals, plan)?, keys))
    }

    fn open(&self, ciphertext: &Ciphertext) -> Result<Vec<Complex64>, CkksError> {
        self.encoder.decode(&self.context.decrypt(ciphertext, &self.secret)?)
    }
}

impl Subject for CkksJob {
    fn names(&self) -> Vec<&'static str> {
        COMPARED.into_iter().filter(|name| !SWITCHES.contains(name)).collect()
    }

    fn about(&self) -> Result<About> {
        let rotation = self.galois.get(rotation_exponent(STEPS, self.context.ring().index()))?;
        let key = self.relinearization.byte_len();
        Ok(About::ours(self.context.rlwe(), self.a.parts(), key, rotation.byte_len()))
    }

    fn outcome(&self, name: &str) -> Result<Values> {
        let results = self.evaluate(name)?;
        let results = if results.is_empty() { std::slice::from_ref(&self.a) } else { &results };
        let opened = results.iter().map(|ciphertext| self.open(ciphertext));
        let opened = opened.collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Values::Reals(opened.iter().flat_map(|slot| [slot.re, slot.im]).collect()))
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

/// The slots that the result of an operation on `left` and `right` opens to, in any library: real and imaginary parts
/// in turn, here and there.
pub(crate) fn expected(name: &str, left: &[f64], right: &[f64]) -> Vec<f64> {
    let rotated = |steps: i64| {
        let mut rotated = left.to_vec();
        rotated.rotate_left(2 * steps.unsigned_abs() as usize);
        rotated
    };
    if let Some(slots) = many::expected_complex(name, &complex(left), &complex(right)) {
        return slots.iter().flat_map(|slot| [slot.re, slot.im]).collect();
    }
    match name {
        "encode_encrypt" | "encrypt_public" => right.to_vec(),
        "decrypt" | "decrypt_decode" => left.to_vec(),
        "add" => left.iter().zip(right).map(|(x, y)| x + y).collect(),
        "rotate" => rotated(STEPS),
        "rotate_hoisted" => HOISTED.flat_map(rotated).collect(),
        _ => {
            let products = complex(left).into_iter().zip(complex(right)).map(|(x, y)| x * y);
            products.flat_map(|product| [product.re, product.im]).collect()
        }
    }
}

fn complex(parts: &[f64]) -> Vec<Complex64> {
    let pairs = parts.as_chunks::<2>().0.iter();
    pairs.map(|[re, im]| Complex64::new(*re, *im)).collect()
}
