//! Keys and data of one BFV parameter set, and every operation on them.

#[cfg(feature = "peers")]
pub(crate) mod bfv;
#[cfg(feature = "peers")]
pub(crate) mod bgv;
#[cfg(feature = "peers")]
pub(crate) mod ckks;
#[cfg(feature = "peers")]
pub(crate) mod many;

use std::cell::RefCell;
use std::hint::black_box;

use sunzi_bfv::{
    BatchEncoder, Ciphertext, Context, Encoder, Evaluator, Parameters, Plaintext, row_rotation_exponent,
};
use sunzi_math::{add_mod, mul_mod};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, galois, randomness};

#[cfg(feature = "peers")]
use crate::bench::rivals::circuits::Step;
#[cfg(feature = "peers")]
use crate::bench::rivals::{About, Values};
use crate::subjects::keys::Keys;
use crate::{LabError, Result};

/// How far the rotation goes, to the left in both rows.
const STEPS: i64 = 1;
/// How far hoisted rotations go: so many, that share one decomposition.
pub(crate) const HOISTED: std::ops::RangeInclusive<i64> = 1..=16;
/// Their name.
pub(crate) const ROTATE_HOISTED: &str = "rotate_hoisted";

/// What is compared with other libraries, in any scheme that has it. A modulus switch and a rescaling are
/// those of a product; the products named after them end with one.
#[cfg(feature = "peers")]
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
    many::INNER_PRODUCT,
    many::PRODUCT_TREE,
    many::MATRIX_VECTOR,
];
/// Compared operations that only CKKS has.
#[cfg(feature = "peers")]
pub(crate) const RESCALES: [&str; 2] = ["multiply_relinearize_rescale", "rescale"];
/// Compared operations that only BGV has.
#[cfg(feature = "peers")]
pub(crate) const SWITCHES: [&str; 2] = ["multiply_relinearize_switch", "mod_switch"];

type Cipher = Ciphertext;
/// An evaluator, its keys, and two ciphertexts.
pub(crate) type Operands<'a> = (&'a Evaluator, &'a RelinearizationKey, &'a GaloisKeys, [&'a Cipher; 2]);
/// What is to be called again and again.
pub(crate) type Call<'a> = Box<dyn Fn() -> Result<()> + 'a>;
/// A call and its name.
pub(crate) type Operation<'a> = (&'static str, Call<'a>);

/// A scheme with keys and data: what is compared with other libraries.
#[cfg(feature = "peers")]
pub(crate) trait Subject {
    /// The operations that can be timed.
    fn names(&self) -> Vec<&'static str>;
    /// Its parameters and sizes.
    fn about(&self) -> Result<About>;
    /// The slots that the result of an operation opens to.
    fn outcome(&self, name: &str) -> Result<Values>;
    /// One operation as something to time.
    fn contender(&self, name: &str) -> Result<Call<'_>>;
    /// The slots that the last value of a circuit opens to.
    fn circuit(&self, _: &[Step]) -> Result<Values> {
        Err(LabError::request("circuits are run in BFV alone"))
    }
}

/// The operations whose result is a ciphertext.
const EVALUATIONS: [&str; 13] = [
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

/// Keys and data of one parameter set.
pub(crate) struct Job {
    context: Context,
    evaluator: Evaluator,
    encoder: BatchEncoder,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    values: [Vec<u64>; 2],
    plain: Plaintext,
    a: Cipher,
    b: Cipher,
    product: Cipher,
    rng: RefCell<Box<dyn rand_core::CryptoRng>>,
}

impl Job {
    /// Encrypts two vectors of n slots; makes Galois keys for these exponents and for [`STEPS`].
    pub(crate) fn new(parameters: &Parameters, values: [Vec<u64>; 2], exponents: Vec<u64>) -> Result<Self> {
        Self::with_context(Context::new(parameters)?, values, exponents)
    }

    /// Encrypts over a context that is there already.
    pub(crate) fn with_context(context: Context, values: [Vec<u64>; 2], exponents: Vec<u64>) -> Result<Self> {
        let mut rng: Box<dyn rand_core::CryptoRng> = Box::new(randomness::from_os()?);
        let rlwe = context.rlwe();
        let n = context.degree();
        let Keys { secret, public, relinearization } = Keys::generate(rlwe, &mut rng)?;
        let rotation = row_rotation_exponent(n, STEPS);
        let mut exponents = exponents;
        if !exponents.contains(&rotation) {
            exponents.push(rotation);
        }
        let galois = GaloisKeys::generate(rlwe, &secret, exponents, &mut rng)?;
        let encoder = BatchEncoder::new(n, context.plain_modulus())?;
        let [left, right] = &values;
        let plain = encoder.encode(right)?;
        let a = context.encrypt(&encoder.encode(left)?, &public, &mut rng)?;
        let b = context.encrypt(&plain, &public, &mut rng)?;
        let evaluator = Evaluator::new(&context);
        let product = evaluator.multiply_unrelinearized(&a, &b)?;
        let rng = RefCell::new(rng);
        Ok(Self {
            context,
            evaluator,
            encoder,
            secret,
            public,
            relinearization,
            galois,
            values,
            plain,
            a,
            b,
            product,
            rng,
        })
    }

    /// What products and rotations take, to be shared among threads.
    pub(crate) fn operands(&self) -> Operands<'_> {
        (&self.evaluator, &self.relinearization, &self.galois, [&self.a, &self.b])
    }

    pub(crate) fn plain_modulus(&self) -> u64 {
        self.context.plain_modulus()
    }

    pub(crate) fn n(&self) -> usize {
        self.context.degree()
    }

    /// log2 q.
    pub(crate) fn log_q(&self) -> f64 {
        self.context.rlwe().log2_modulus()
    }

    /// Bytes of the key of one rotation.
    pub(crate) fn rotation_key_bytes(&self) -> Result<usize> {
        Ok(self.galois.get(row_rotation_exponent(self.n(), STEPS))?.byte_len())
    }

    /// Bytes of the relinearisation key.
    pub(crate) fn relinearization_key_bytes(&self) -> usize {
        self.relinearization.byte_len()
    }

    /// Everything that can be timed.
    pub(crate) fn operations(&self) -> Vec<Operation<'_>> {
        let mut all = self.key_operations();
        all.extend(self.message_operations());
        all.extend(EVALUATIONS.map(|name| operation(name, move || self.evaluate(name))));
        if hoisted_exponents(self.n()).iter().all(|exponent| self.galois.get(*exponent).is_ok()) {
            all.push(operation(ROTATE_HOISTED, || self.rotate_hoisted()));
        }
        all
    }

    /// All rotations of [`HOISTED`], of one decomposition.
    fn rotate_hoisted(&self) -> Result<Vec<Cipher>> {
        let hoisted = galois::hoist(self.context.rlwe(), &self.a)?;
        let rotations = hoisted_exponents(self.n());
        let rotations = rotations.iter().map(|exponent| hoisted.automorphism(*exponent, &self.galois));
        Ok(rotations.collect::<Result<_, _>>()?)
    }

    /// One operation as something to time.
    pub(crate) fn contender(&self, name: &str) -> Result<Call<'_>> {
        let found = self.operations().into_iter().find(|(other, _)| *other == name);
        found.map(|(_, call)| call).ok_or(LabError::request("no such operation"))
    }

    fn key_operations(&self) -> Vec<Operation<'_>> {
        let rlwe = self.context.rlwe();
        vec![
            operation("secret_key", || SecretKey::generate(rlwe, &mut **self.rng.borrow_mut())),
            operation("public_key", || PublicKey::generate(rlwe, &self.secret, &mut **self.rng.borrow_mut())),
            operation("relinearization_key", || {
                RelinearizationKey::generate(rlwe, &self.secret, &mut **self.rng.borrow_mut())
            }),
            operation("galois_key", || {
                let one = [row_rotation_exponent(self.n(), STEPS)];
                GaloisKeys::generate(rlwe, &self.secret, one, &mut **self.rng.borrow_mut())
            }),
        ]
    }

    fn message_operations(&self) -> Vec<Operation<'_>> {
        let [_, right] = &self.values;
        vec![
            operation("encode", || self.encoder.encode(right)),
            operation("decode", || self.encoder.decode(&self.plain)),
            operation("decrypt", || self.context.decrypt(&self.a, &self.secret)),
            operation("decrypt_decode", || self.open(&self.a)),
        ]
    }

    /// The ciphertext that one of [`EVALUATIONS`] results in, and none for other names.
    fn evaluate(&self, name: &str) -> Result<Option<Cipher>> {
        let Self { evaluator, a, b, plain, relinearization, galois, .. } = self;
        let [_, right] = &self.values;
        let mut rng = self.rng.borrow_mut();
        let rng = &mut **rng;
        Ok(Some(match name {
            "encode_encrypt" => self.context.encrypt(&self.encoder.encode(right)?, &self.public, rng)?,
            "encrypt_public" => self.context.encrypt(plain, &self.public, rng)?,
            "encrypt_secret" => self.context.encrypt_secret(plain, &self.secret, rng)?,
            "add" => evaluator.add(a, b)?,
            "add_plain" => evaluator.add_plain(a, plain)?,
            "multiply_plain" => evaluator.multiply_plain(a, plain)?,
            "multiply" => evaluator.multiply_unrelinearized(a, b)?,
            "relinearize" => evaluator.relinearize(&self.product, relinearization)?,
            "multiply_relinearize" => evaluator.multiply(a, b, relinearization)?,
            "square_relinearize" => evaluator.square(a, relinearization)?,
            "rotate" => evaluator.rotate_rows(a, STEPS, galois)?,
            "swap_rows" => evaluator.rotate_columns(a, galois)?,
            "sum_slots" => evaluator.sum_slots(a, galois)?,
            _ => return Ok(None),
        }))
    }

    fn open(&self, ciphertext: &Cipher) -> Result<Vec<u64>> {
        Ok(self.encoder.decode(&self.context.decrypt(ciphertext, &self.secret)?)?)
    }

    /// The slots that the result of an operation opens to, one ciphertext after the other: those of the first
    /// operand for an operation that makes no ciphertext.
    pub(crate) fn outcome(&self, name: &str) -> Result<Vec<u64>> {
        let results = match name {
            ROTATE_HOISTED => self.rotate_hoisted()?,
            _ => self.evaluate(name)?.into_iter().collect(),
        };
        if results.is_empty() {
            return self.open(&self.a);
        }
        let opened = results.iter().map(|ciphertext| self.open(ciphertext));
        Ok(opened.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Whether the result of every operation opens to what the plain numbers give.
    pub(crate) fn holds(&self) -> Result<bool> {
        let [left, right] = &self.values;
        for name in EVALUATIONS.into_iter().chain(["decrypt"]) {
            if self.outcome(name)? != expected(name, left, right, self.context.plain_modulus()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The slots that the result of an operation on `left` and `right` opens to, in any library.
pub(crate) fn expected(name: &str, left: &[u64], right: &[u64], t: u64) -> Vec<u64> {
    #[cfg(feature = "peers")]
    if let Some(slots) = many::expected_words(name, left, right, t) {
        return slots;
    }
    let with = |f: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
        left.iter().zip(right).map(|(x, y)| f(*x, *y)).collect()
    };
    let half = left.len() / 2;
    let rotated = |steps: i64| {
        let mut rotated = left.to_vec();
        for row in rotated.chunks_mut(half.max(1)) {
            row.rotate_left(steps.unsigned_abs() as usize % row.len().max(1));
        }
        rotated
    };
    match name {
        "encode_encrypt" | "encrypt_public" | "encrypt_secret" => right.to_vec(),
        "add" | "add_plain" => with(&|x, y| add_mod(x, y, t)),
        "multiply_plain"
        | "multiply"
        | "relinearize"
        | "multiply_relinearize"
        | "multiply_relinearize_switch"
        | "mod_switch" => with(&|x, y| mul_mod(x, y, t)),
        "square_relinearize" => with(&|x, _| mul_mod(x, x, t)),
        "rotate" => rotated(STEPS),
        ROTATE_HOISTED => HOISTED.flat_map(rotated).collect(),
        "swap_rows" => {
            let mut swapped = left.to_vec();
            swapped.rotate_left(half);
            swapped
        }
        "sum_slots" => vec![left.iter().sum::<u64>() % t; left.len()],
        _ => left.to_vec(),
    }
}

/// The automorphisms of [`HOISTED`].
pub(crate) fn hoisted_exponents(n: usize) -> Vec<u64> {
    HOISTED.map(|steps| row_rotation_exponent(n, steps)).collect()
}

/// Names `call`, drops what it returns where the optimiser cannot see that nobody looks.
fn operation<'a, T, E>(name: &'static str, call: impl Fn() -> Result<T, E> + 'a) -> Operation<'a>
where
    LabError: From<E>,
{
    let call = move || {
        black_box(call()?);
        Ok(())
    };
    (name, Box::new(call))
}
