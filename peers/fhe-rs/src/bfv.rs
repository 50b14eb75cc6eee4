//! BFV of fhe.rs: keys, ciphertexts and the operations that can be timed.

use std::hint::black_box;
use std::sync::Arc;

use fhe::bfv::{
    BfvParameters, BfvParametersBuilder, Ciphertext, Encoding, EvaluationKey, EvaluationKeyBuilder,
    Multiplicator, Plaintext, PublicKey, RelinearizationKey, SecretKey,
};
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};
use serde::Deserialize;

use crate::Outcome;

/// What can be verified and timed.
pub const OPERATIONS: [&str; 8] = [
    "encode_encrypt",
    "encrypt_public",
    "decrypt",
    "decrypt_decode",
    "multiply",
    "relinearize",
    "multiply_relinearize",
    "rotate",
];

/// How far `rotate` goes, to the left in both rows.
const STEPS: usize = 1;

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

/// Keys and data of one parameter set.
pub struct Job {
    parameters: Arc<BfvParameters>,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    multiplicator: Multiplicator,
    galois: EvaluationKey,
    right: Vec<u64>,
    plain: Plaintext,
    a: Ciphertext,
    b: Ciphertext,
    product: Ciphertext,
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
            plain,
            a,
            b,
            product,
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
            other => return Err(format!("no operation {other}").into()),
        })
    }

    /// The slots that the result of an operation decrypts to.
    pub fn verify(&self, name: &str) -> Outcome<Vec<u64>> {
        let result = match name {
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
