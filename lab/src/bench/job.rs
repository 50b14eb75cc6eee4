//! Keys and data of one parameter set of a scheme, and every operation on them.

pub(crate) mod bfv;
pub(crate) mod bgv;
pub(crate) mod ckks;
pub(crate) mod expected;
pub(crate) mod many;
pub(crate) mod parties;

use std::cell::{OnceCell, RefCell};
use std::hint::black_box;

use rand_core::CryptoRng;
use sunzi_rlwe::{Ciphertext, GaloisKeys, PublicKey, RlweContext, SecretKey, randomness};

use crate::bench::report::About;
use crate::bench::values::{Step, Values};
use crate::bench::{Keys, LabError, Result};
use bfv::Bfv;
pub(crate) use bfv::hoisted_exponents;
pub(crate) use expected::expected;
use many::{INNER_PRODUCT, MATRIX_VECTOR, PRODUCT_TREE, Pool, tree};

/// Steps of the timed rotation, to the left in both rows of slots.
const STEPS: i64 = 1;
/// Steps of the hoisted rotations, which share one decomposition.
pub(crate) const HOISTED: std::ops::RangeInclusive<i64> = 1..=16;
/// Name of the operation of hoisted rotations.
pub(crate) const ROTATE_HOISTED: &str = "rotate_hoisted";

/// The operations compared with other libraries, in any scheme that has them. A modulus switch and a
/// rescaling are those of a product; the products named after them end with one.
pub(crate) const COMPARED: [&str; 17] = [
    "encode_encrypt",
    "encrypt_public",
    "decrypt",
    "decrypt_decode",
    "add",
    "multiply",
    "relinearize",
    "multiply_relinearize",
    "multiply_relinearize_switch",
    "mod_switch",
    "multiply_relinearize_rescale",
    "rescale",
    "rotate",
    ROTATE_HOISTED,
    INNER_PRODUCT,
    PRODUCT_TREE,
    MATRIX_VECTOR,
];

/// An operation that is called again and again for its time.
pub(crate) type Call<'a> = Box<dyn Fn() -> Result<()> + 'a>;

/// A scheme with keys and data, which runs the operations compared with other libraries.
pub(crate) trait Subject {
    /// Names of the scheme's operations that can be timed.
    fn names(&self) -> Vec<&'static str>;
    /// The scheme's parameters, and the sizes of its keys and ciphertexts.
    fn about(&self) -> Result<About>;
    /// The slots that the result of the named operation decrypts to.
    fn values(&self, name: &str) -> Result<Values>;
    /// The named operation of the scheme as a call to time.
    fn call(&self, name: &str) -> Result<Call<'_>>;
    /// The slots that the last value of a circuit decrypts to.
    fn circuit(&self, steps: &[Step]) -> Result<Values>;
}

/// The parts of a scheme that benchmarks differ by: its context, evaluator and encoder.
pub(crate) trait Scheme: Sized {
    /// Marker type of the scheme's ciphertexts.
    type Marker: sunzi_rlwe::Scheme;
    /// Value that a slot of the scheme holds.
    type Slot: Clone;
    /// Plaintext of the scheme, with encoded slots.
    type Plaintext;
    /// An encoded matrix that is ready to multiply, with its keys.
    type Matrix;
    /// Names of the compared operations that the scheme lacks.
    const LACKS: &'static [&'static str];

    /// The RLWE context that the scheme's keys are made over.
    fn rlwe(&self) -> &RlweContext;
    /// Exponent of the automorphism that rotates slots by `steps` steps.
    fn rotation_exponent(&self, steps: i64) -> u64;
    /// Encodes slots as a plaintext.
    fn encode(&self, slots: &[Self::Slot]) -> Result<Self::Plaintext>;
    /// Decodes a plaintext into slots.
    fn decode(&self, plain: &Self::Plaintext) -> Result<Vec<Self::Slot>>;
    /// Encrypts a plaintext with the public key.
    fn encrypt(&self, plain: &Self::Plaintext, key: &PublicKey, rng: Rng<'_>) -> Result<Cipher<Self>>;
    /// Decrypts a ciphertext that is within its noise bound.
    fn decrypt(&self, a: &Cipher<Self>, key: &SecretKey) -> Result<Self::Plaintext>;
    /// Slots in the form in which they are handed over to rivals.
    fn values(slots: Vec<Self::Slot>) -> Values;
    /// Encodes the matrix whose entries the slots `right` hold, and makes the keys that it takes.
    fn matrix(&self, key: &SecretKey, right: &[Self::Slot], rng: Rng<'_>) -> Result<Self::Matrix>;

    /// The ciphertexts that the named operation results in; none for other names and for decryption.
    fn evaluate(job: &Job<Self>, name: &str) -> Result<Vec<Cipher<Self>>>;

    /// The ciphertext of the last value of a circuit.
    fn circuit(_: &Job<Self>, _: &[Step]) -> Result<Cipher<Self>> {
        Err(LabError::request("circuits are run in BFV alone"))
    }
}

/// Ciphertext type of a benchmarked scheme.
pub(crate) type Cipher<S> = Ciphertext<<S as Scheme>::Marker>;
/// Random generator that keys and encryptions are drawn from.
pub(crate) type Rng<'a> = &'a mut dyn CryptoRng;

/// Keys and data of one parameter set of a scheme.
pub(crate) struct Job<S: Scheme = Bfv> {
    scheme: S,
    keys: Keys,
    galois: GaloisKeys,
    values: [Vec<S::Slot>; 2],
    plain: S::Plaintext,
    a: Cipher<S>,
    b: Cipher<S>,
    /// The product a·b in three parts and in two, each made when it is first asked for.
    products: [OnceCell<Cipher<S>>; 2],
    pool: Pool<Cipher<S>>,
    matrix: OnceCell<S::Matrix>,
    rng: RefCell<Box<dyn CryptoRng>>,
}

impl<S: Scheme> Job<S> {
    /// Makes fresh keys, Galois keys by `galois`, and encryptions of two vectors.
    fn of(
        scheme: S,
        values: [Vec<S::Slot>; 2],
        galois: impl FnOnce(&S, &SecretKey, &mut dyn CryptoRng) -> Result<GaloisKeys>,
    ) -> Result<Self> {
        let mut rng: Box<dyn CryptoRng> = Box::new(randomness::from_os()?);
        let keys = Keys::generate(scheme.rlwe(), &mut rng)?;
        let galois = galois(&scheme, &keys.secret, &mut rng)?;
        let [left, right] = &values;
        let plain = scheme.encode(right)?;
        let a = scheme.encrypt(&scheme.encode(left)?, &keys.public, &mut rng)?;
        let b = scheme.encrypt(&plain, &keys.public, &mut rng)?;
        let (pool, matrix, rng) = (Pool::new(), OnceCell::new(), RefCell::new(rng));
        let products = [OnceCell::new(), OnceCell::new()];
        let job = Self { scheme, keys, galois, values, plain, a, b, products, pool, matrix, rng };
        // Not when a relinearisation is counted.
        job.tensor()?;
        Ok(job)
    }

    /// The ring degree n of the benchmarked scheme.
    pub(crate) fn n(&self) -> usize {
        self.scheme.rlwe().ring().degree()
    }

    /// log2 of the ciphertext modulus of the benchmarked scheme.
    pub(crate) fn log_q(&self) -> f64 {
        self.scheme.rlwe().log2_modulus()
    }

    /// Bytes of the Galois key of the timed rotation in memory.
    pub(crate) fn rotation_key_bytes(&self) -> Result<usize> {
        Ok(self.galois.get(self.scheme.rotation_exponent(STEPS))?.byte_len())
    }

    /// Bytes of the scheme's relinearisation key in memory.
    pub(crate) fn relinearization_key_bytes(&self) -> usize {
        self.keys.relinearization.byte_len()
    }

    fn encrypt(&self, plain: &S::Plaintext) -> Result<Cipher<S>> {
        self.scheme.encrypt(plain, &self.keys.public, &mut **self.rng.borrow_mut())
    }

    fn open(&self, ciphertext: &Cipher<S>) -> Result<Vec<S::Slot>> {
        self.scheme.decode(&self.scheme.decrypt(ciphertext, &self.keys.secret)?)
    }

    fn operand(&self, at: usize) -> Result<Cipher<S>> {
        let [left, right] = &self.values;
        self.encrypt(&self.scheme.encode(if at == 0 { left } else { right })?)
    }

    /// The pairs of ciphertexts of an inner product.
    fn pairs(&self) -> Result<Vec<(&Cipher<S>, &Cipher<S>)>> {
        self.pool.pairs(self.n(), |at| self.operand(at))
    }

    /// The product of a tree of ciphertexts by `multiply`, which is told whether a product is the last one.
    fn tree<E>(
        &self,
        multiply: impl Fn(&Cipher<S>, &Cipher<S>, bool) -> Result<Cipher<S>, E>,
    ) -> Result<Cipher<S>>
    where
        LabError: From<E>,
    {
        tree(&self.pool.factors(self.n(), |at| self.operand(at))?, true, &multiply)
    }

    /// The product a·b of the two ciphertexts in three parts.
    fn tensor(&self) -> Result<&Cipher<S>> {
        made(&self.products[0], || self.one("multiply"))
    }

    /// The product a·b of the two ciphertexts in two parts.
    fn product(&self) -> Result<&Cipher<S>> {
        made(&self.products[1], || self.one("multiply_relinearize"))
    }

    fn matrix(&self) -> Result<&S::Matrix> {
        let Self { scheme, keys, values: [_, right], .. } = self;
        made(&self.matrix, || scheme.matrix(&keys.secret, right, &mut **self.rng.borrow_mut()))
    }

    fn one(&self, name: &str) -> Result<Cipher<S>> {
        S::evaluate(self, name)?.pop().ok_or_else(|| LabError::request("no such operation"))
    }

    /// The ciphertexts that the named operation results in; none for other names and for decryption.
    fn results(&self, name: &str) -> Result<Vec<Cipher<S>>> {
        match name {
            "encode_encrypt" => Ok(vec![self.operand(1)?]),
            "encrypt_public" => Ok(vec![self.encrypt(&self.plain)?]),
            _ => S::evaluate(self, name),
        }
    }

    /// The slots that the result of the named operation decrypts to.
    pub(crate) fn outcome(&self, name: &str) -> Result<Vec<S::Slot>> {
        let results = self.results(name)?;
        let results = if results.is_empty() { std::slice::from_ref(&self.a) } else { &results };
        Ok(results.iter().map(|ciphertext| self.open(ciphertext)).collect::<Result<Vec<_>>>()?.concat())
    }

    /// The named operation of the scheme as a call to time.
    pub(crate) fn contender<'a>(&'a self, name: &'a str) -> Call<'a> {
        let Self { scheme, keys, .. } = self;
        match name {
            "encode" => call(|| scheme.encode(&self.values[1])),
            "decode" => call(|| scheme.decode(&self.plain)),
            "decrypt" => call(|| scheme.decrypt(&self.a, &keys.secret)),
            "decrypt_decode" => call(|| self.open(&self.a)),
            name => call(move || self.results(name)),
        }
    }
}

impl<S: Scheme> Subject for Job<S> {
    fn names(&self) -> Vec<&'static str> {
        COMPARED.into_iter().filter(|name| !S::LACKS.contains(name)).collect()
    }

    fn about(&self) -> Result<About> {
        let rlwe = self.scheme.rlwe();
        Ok(About {
            log_q: Some(rlwe.log2_modulus()),
            log_key_modulus: Some(rlwe.log2_key_modulus()),
            secret: Some(rlwe.secrets().to_string()),
            digits: Some(rlwe.gadget().digit_count()),
            ciphertext_bytes: Some(self.a.parts().iter().map(|part| part.byte_len()).sum()),
            relinearization_key_bytes: Some(self.relinearization_key_bytes()),
            galois_key_bytes: Some(self.rotation_key_bytes()?),
            ..About::default()
        })
    }

    fn values(&self, name: &str) -> Result<Values> {
        Ok(S::values(self.outcome(name)?))
    }

    fn call(&self, name: &str) -> Result<Call<'_>> {
        let known = self.names().into_iter().find(|other| *other == name);
        Ok(self.contender(known.ok_or_else(|| LabError::request("no such operation"))?))
    }

    fn circuit(&self, steps: &[Step]) -> Result<Values> {
        Ok(S::values(self.open(&S::circuit(self, steps)?)?))
    }
}

/// The value of a cell, which is made when it is first asked for.
fn made<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    cell.get().ok_or_else(|| LabError::request("nothing was made"))
}

/// A call to time, made from a closure whose result is dropped.
fn call<'a, T, E>(call: impl Fn() -> Result<T, E> + 'a) -> Call<'a>
where
    LabError: From<E>,
{
    Box::new(move || {
        black_box(call()?);
        Ok(())
    })
}
