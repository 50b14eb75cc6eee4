//! BFV of fhe.rs: keys, ciphertexts and the operations that can be timed.

use std::cell::OnceCell;
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::Arc;

use fhe::bfv::{
    BfvParameters, BfvParametersBuilder, Ciphertext, Encoding, EvaluationKey, EvaluationKeyBuilder,
    Multiplicator, Plaintext, PublicKey, RelinearizationKey, SecretKey, dot_product_scalar,
};
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Outcome;

/// What can be verified and timed.
pub const OPERATIONS: [&str; 13] = [
    "encode_encrypt",
    "encrypt_public",
    "decrypt",
    "decrypt_decode",
    "multiply",
    "relinearize",
    "multiply_relinearize",
    "add",
    "rotate",
    "rotate_hoisted",
    "inner_product_128",
    "product_tree_128",
    "matrix_vector_64",
];

/// How far `rotate` goes, to the left in both rows.
const STEPS: usize = 1;
/// How far many rotations go, one after the other: decompositions are not shared.
const MANY_STEPS: RangeInclusive<usize> = 1..=16;
/// Pairs of an inner product, and factors of a product tree.
const PAIRS: usize = 128;
const FACTORS: usize = 128;
/// Rows and columns of a matrix that multiplies, and its baby steps.
const MATRIX: usize = 64;
const BABY: usize = 8;

/// What the harness asks for. fhe.rs has no special modulus, so `p` must be empty.
#[derive(Deserialize)]
pub struct Parameters {
    scheme: String,
    n: usize,
    t: u64,
    q: Vec<u64>,
    p: Vec<u64>,
    left: Vec<u64>,
    right: Vec<u64>,
}

/// A step of a circuit on numbered values: 0 and 1 are the operands, 2 is the first result. A rotation goes `right` to the left.
#[derive(Deserialize)]
pub struct Step {
    name: String,
    left: usize,
    right: usize,
}

/// Keys and data of one parameter set.
pub struct Job {
    parameters: Arc<BfvParameters>,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    multiplicator: Multiplicator,
    galois: EvaluationKey,
    right: Vec<u64>,
    other: Plaintext,
    plain: Plaintext,
    a: Ciphertext,
    b: Ciphertext,
    product: Ciphertext,
    /// Made when they are first asked for.
    rotations: OnceCell<EvaluationKey>,
    pool: OnceCell<Vec<Ciphertext>>,
    matrix: OnceCell<Vec<Vec<Plaintext>>>,
}

type Call<'a> = Box<dyn FnMut() -> Outcome<()> + 'a>;

impl Job {
    pub fn new(asked: &Parameters) -> Outcome<Self> {
        if asked.scheme != "bfv" || !asked.p.is_empty() {
            return Err("only BFV without a special modulus".into());
        }
        let parameters = BfvParametersBuilder::new()
            .set_degree(asked.n)
            .set_plaintext_modulus(asked.t)
            .set_moduli(&asked.q)
            .build_arc()?;
        let mut rng = rand::rng();
        let secret = SecretKey::random(&parameters, &mut rng);
        let public = PublicKey::new(&secret, &mut rng);
        let relinearization = RelinearizationKey::new(&secret, &mut rng)?;
        let multiplicator = Multiplicator::default(&relinearization)?;
        let galois = EvaluationKeyBuilder::new(&secret)?.enable_column_rotation(STEPS)?.build(&mut rng)?;
        let other = Plaintext::try_encode(&asked.left, Encoding::simd(), &parameters)?;
        let plain = Plaintext::try_encode(&asked.right, Encoding::simd(), &parameters)?;
        let a: Ciphertext = public.try_encrypt(&other, &mut rng)?;
        let b: Ciphertext = public.try_encrypt(&plain, &mut rng)?;
        let product = &a * &b;
        let right = asked.right.clone();
        Ok(Self {
            parameters,
            secret,
            public,
            relinearization,
            multiplicator,
            galois,
            right,
            other,
            plain,
            a,
            b,
            product,
            rotations: OnceCell::new(),
            pool: OnceCell::new(),
            matrix: OnceCell::new(),
        })
    }

    /// The operation, to be called again and again.
    pub fn operation(&self, name: &str) -> Outcome<Call<'_>> {
        Ok(match name {
            "encode_encrypt" => call(|| self.encode_encrypt()),
            "encrypt_public" => call(|| Ok(self.encrypt()?)),
            "decrypt" => call(|| Ok(self.secret.try_decrypt(&self.a)?)),
            "decrypt_decode" => call(|| self.open(&self.a)),
            "multiply" => call(|| Ok(&self.a * &self.b)),
            "relinearize" => call(|| self.relinearize()),
            "multiply_relinearize" => call(|| Ok(self.multiplicator.multiply(&self.a, &self.b)?)),
            "rotate" => call(|| Ok(self.galois.rotates_columns_by(&self.a, STEPS)?)),
            "add" => call(|| Ok(&self.a + &self.b)),
            "rotate_hoisted" => call(|| self.rotate_many()),
            "inner_product_128" => call(|| self.inner_product()),
            "product_tree_128" => call(|| self.product_tree(0, FACTORS)),
            "matrix_vector_64" => call(|| self.multiply_matrix()),
            other => return Err(format!("no operation {other}").into()),
        })
    }

    /// What parameters and keys come to.
    pub fn about(&self) -> Value {
        let (limbs, n) = (self.parameters.moduli().len(), self.parameters.degree());
        let key = 2 * limbs * limbs * n * 8;
        json!({
            "secret": "centred binomial of variance 10",
            "digits": limbs,
            "ciphertext_bytes": 2 * limbs * n * 8,
            "relinearization_key_bytes": key,
            "galois_key_bytes": key,
        })
    }

    /// The slots that the result of an operation decrypts to.
    pub fn verify(&self, name: &str) -> Outcome<Vec<u64>> {
        let result = match name {
            "add" => &self.a + &self.b,
            "inner_product_128" => self.inner_product()?,
            "product_tree_128" => self.product_tree(0, FACTORS)?,
            "matrix_vector_64" => self.multiply_matrix()?,
            "rotate_hoisted" => {
                let opened = self
                    .rotate_many()?
                    .iter()
                    .map(|rotated| self.open(rotated))
                    .collect::<Outcome<Vec<_>>>()?;
                return Ok(opened.concat());
            }
            "encode_encrypt" => self.encode_encrypt()?,
            "encrypt_public" => self.encrypt()?,
            "decrypt" | "decrypt_decode" => self.a.clone(),
            "multiply" => &self.a * &self.b,
            "relinearize" => self.relinearize()?,
            "multiply_relinearize" => self.multiplicator.multiply(&self.a, &self.b)?,
            "rotate" => self.galois.rotates_columns_by(&self.a, STEPS)?,
            other => return Err(format!("no operation {other}").into()),
        };
        self.open(&result)
    }

    /// The slots that the last of the values decrypts to that follow from the operands.
    pub fn circuit(&self, steps: &[Step]) -> Outcome<Vec<u64>> {
        let mut values = vec![self.a.clone(), self.b.clone()];
        for Step { name, left, right } in steps {
            let value = |at: usize| values.get(at).ok_or("a step of a value to come");
            let a = value(*left)?;
            let result = match name.as_str() {
                "add" => a + value(*right)?,
                "subtract" => a - value(*right)?,
                "negate" => -a,
                "multiply" => self.multiplicator.multiply(a, value(*right)?)?,
                "rotate" => self.rotation_keys()?.rotates_columns_by(a, *right)?,
                other => return Err(format!("no step {other}").into()),
            };
            values.push(result);
        }
        self.open(values.last().ok_or("no value")?)
    }

    fn encode_encrypt(&self) -> Outcome<Ciphertext> {
        let plain = Plaintext::try_encode(&self.right, Encoding::simd(), &self.parameters)?;
        Ok(self.public.try_encrypt(&plain, &mut rand::rng())?)
    }

    fn encrypt(&self) -> fhe::Result<Ciphertext> {
        self.public.try_encrypt(&self.plain, &mut rand::rng())
    }

    /// In place is all that the library offers: the copy is a small part of it.
    fn relinearize(&self) -> Outcome<Ciphertext> {
        let mut product = self.product.clone();
        self.relinearization.relinearizes(&mut product)?;
        Ok(product)
    }

    fn rotation_keys(&self) -> Outcome<&EvaluationKey> {
        if self.rotations.get().is_none() {
            let mut builder = EvaluationKeyBuilder::new(&self.secret)?;
            for steps in MANY_STEPS {
                builder.enable_column_rotation(steps)?;
            }
            let _ = self.rotations.set(builder.build(&mut rand::rng())?);
        }
        self.rotations.get().ok_or_else(|| "no rotation keys".into())
    }

    fn rotate_many(&self) -> Outcome<Vec<Ciphertext>> {
        let keys = self.rotation_keys()?;
        Ok(MANY_STEPS.map(|steps| keys.rotates_columns_by(&self.a, steps)).collect::<Result<_, _>>()?)
    }

    /// Ciphertexts of the left and of the right operand in turn: more than a cache holds.
    fn pool(&self) -> Outcome<&[Ciphertext]> {
        if self.pool.get().is_none() {
            let size = ((1 << 20) / self.parameters.degree()).clamp(2, 2 * PAIRS);
            let plain = |at: usize| if at % 2 == 0 { &self.other } else { &self.plain };
            let made = (0..size).map(|at| self.public.try_encrypt(plain(at), &mut rand::rng()));
            let _ = self.pool.set(made.collect::<Result<_, _>>()?);
        }
        Ok(self.pool.get().ok_or("no ciphertexts")?)
    }

    /// All products are summed in three parts, and relinearised once.
    fn inner_product(&self) -> Outcome<Ciphertext> {
        let pool = self.pool()?;
        let product = |at: usize| &pool[2 * at % pool.len()] * &pool[(2 * at + 1) % pool.len()];
        let mut sum = product(0);
        for at in 1..PAIRS {
            sum += &product(at);
        }
        self.relinearization.relinearizes(&mut sum)?;
        Ok(sum)
    }

    /// The product of so many factors from one on, depth first.
    fn product_tree(&self, first: usize, count: usize) -> Outcome<Ciphertext> {
        if count == 2 {
            let pool = self.pool()?;
            let (a, b) = (&pool[first % pool.len()], &pool[(first + 1) % pool.len()]);
            return Ok(self.multiplicator.multiply(a, b)?);
        }
        let half = count / 2;
        let (a, b) = (self.product_tree(first, half)?, self.product_tree(first + half, half)?);
        Ok(self.multiplicator.multiply(&a, &b)?)
    }

    /// Diagonals by giant step and baby step, each turned back by its giant step.
    fn matrix(&self) -> Outcome<&[Vec<Plaintext>]> {
        if self.matrix.get().is_none() {
            let n = self.parameters.degree();
            let diagonal = |giant: usize, baby: usize| {
                let slots: Vec<u64> = (0..n)
                    .map(|slot| {
                        let row = (slot + MATRIX - giant) % MATRIX;
                        self.right[MATRIX * row + (row + giant + baby) % MATRIX]
                    })
                    .collect();
                Plaintext::try_encode(&slots, Encoding::simd(), &self.parameters)
            };
            let group = |giant: usize| (0..BABY).map(|baby| diagonal(giant, baby)).collect();
            let made = (0..MATRIX).step_by(BABY).map(group).collect::<Result<_, _>>()?;
            let _ = self.matrix.set(made);
        }
        Ok(self.matrix.get().ok_or("no matrix")?)
    }

    /// Baby steps, and giant steps by Horner's rule.
    fn multiply_matrix(&self) -> Outcome<Ciphertext> {
        let (keys, matrix) = (self.rotation_keys()?, self.matrix()?);
        let mut babies = vec![self.a.clone()];
        for steps in 1..BABY {
            babies.push(keys.rotates_columns_by(&self.a, steps)?);
        }
        let mut sum: Option<Ciphertext> = None;
        for group in matrix.iter().rev() {
            let inner = dot_product_scalar(babies.iter(), group.iter())?;
            sum = Some(match sum {
                Some(sum) => &keys.rotates_columns_by(&sum, BABY)? + &inner,
                None => inner,
            });
        }
        sum.ok_or_else(|| "no matrix".into())
    }

    fn open(&self, ciphertext: &Ciphertext) -> Outcome<Vec<u64>> {
        let plain = self.secret.try_decrypt(ciphertext)?;
        Ok(Vec::<u64>::try_decode(&plain, Encoding::simd())?)
    }
}

/// Drops what `body` returns where the optimiser cannot see that nobody looks.
fn call<'a, T>(mut body: impl FnMut() -> Outcome<T> + 'a) -> Call<'a> {
    Box::new(move || {
        black_box(body()?);
        Ok(())
    })
}
