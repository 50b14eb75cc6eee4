//! Training a logistic regression on ciphertexts of CKKS.

use std::marker::PhantomData;

use rand_core::CryptoRng;
use sunzi_ckks::rotation::{conjugation_exponent, rotation_exponent, rotation_keys};
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, Metadata};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, randomness};

use super::{Layout, RealArithmetic};

/// Keys that a server needs to train, bootstrapping apart.
pub struct RegressionKeys {
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
}

impl RegressionKeys {
    /// Makes the keys for tables of this layout, encrypted at `level` at most.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`]; [`CkksError::Rlwe`] for a secret of another ring.
    pub fn generate(
        context: &Context,
        secret: &SecretKey,
        layout: &Layout,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, CkksError> {
        let key_level = context.key_level(level)?;
        let relinearization = RelinearizationKey::generate_at_level(context.rlwe(), secret, key_level, rng)?;
        let galois = rotation_keys(context, secret, layout.required_rotations(), true, level, rng)?;
        Ok(Self { relinearization, galois })
    }

    /// Takes keys that were made elsewhere, as those of a joint secret are: training fails at the first one that it misses of
    /// [`exponents`](Self::exponents).
    #[must_use]
    pub fn new(relinearization: RelinearizationKey, galois: GaloisKeys) -> Self {
        Self { relinearization, galois }
    }

    /// Lists the exponents of the automorphisms that training takes Galois keys for.
    #[must_use]
    pub fn exponents(context: &Context, layout: &Layout) -> Vec<u64> {
        let index = context.ring().index();
        let rotations = layout.required_rotations().into_iter().map(|steps| rotation_exponent(steps, index));
        rotations.chain([conjugation_exponent(index)]).collect()
    }

    /// Number of bytes that the keys take in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.relinearization.byte_len() + self.galois.byte_len()
    }
}

/// Declares that a vector repeats after every row, as weights do: errors do not repeat, so that fewer of them are in the slots of one row.
///
/// ```
/// # use sunzi_circuits::regression::{Layout, of_one_row};
/// # use sunzi_ckks::{Context, Encoder, Parameters};
/// # use sunzi_rlwe::{PublicKey, SecretKey, Security, randomness};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let security = Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::builder().log2_degree(8).security(security).build()?)?;
/// # let rng = &mut randomness::from_os()?;
/// # let secret = SecretKey::generate(context.rlwe(), rng)?;
/// # let public = PublicKey::generate(context.rlwe(), &secret, rng)?;
/// let layout = Layout::new(8, 1, context.max_slots())?;
/// let weights = Encoder::new(&context, layout.slots())?.encode_real(&[0.5, 0.25].repeat(8))?;
/// let weights = of_one_row(&layout, context.encrypt(&weights, &public, rng)?);
/// let slots = Encoder::new(&context, layout.width())?.decode_real(&context.decrypt(&weights, &secret)?)?;
/// assert!((slots[0] - 0.5).abs() < 1e-3 && slots.len() == 2);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn of_one_row(layout: &Layout, vector: Ciphertext) -> Ciphertext {
    with_slots(vector, layout.width())
}

/// Arithmetic on real slots of CKKS; `refresh` bootstraps a ciphertext of as many complex slots as a row has, of at most 1, from any level.
pub struct EncryptedReals<'a, F, E> {
    evaluator: Evaluator,
    encoder: Encoder,
    keys: &'a RegressionKeys,
    width: usize,
    refresh: F,
    masks: Option<&'a PublicKey>,
    error: PhantomData<fn() -> E>,
}

impl<'a, F, E> EncryptedReals<'a, F, E>
where
    F: Fn(&Ciphertext) -> Result<Ciphertext, E>,
    E: From<CkksError> + std::error::Error + 'static,
{
    /// Makes the arithmetic of CKKS for tables of this layout.
    ///
    /// # Errors
    /// [`CkksError::Encoder`] for more slots than the context has.
    pub fn new(
        context: &Context,
        layout: &Layout,
        keys: &'a RegressionKeys,
        refresh: F,
    ) -> Result<Self, CkksError> {
        let encoder = Encoder::new(context, layout.slots())?;
        let (evaluator, width) = (Evaluator::new(context), layout.width());
        Ok(Self { evaluator, encoder, keys, width, refresh, masks: None, error: PhantomData })
    }

    /// Multiplies by encryptions of clear numbers from now on, at one more key switch. Then what doubles round of clear numbers is part of the message, while
    /// the noise of a product with a plaintext counts it: 2^-48 of the message, which is more than all else at scales far above 2^48.
    #[must_use]
    pub fn with_encrypted_masks(self, key: &'a PublicKey) -> Self {
        Self { masks: Some(key), ..self }
    }

    /// Multiplies a by an encryption of clear numbers, which are divided by an integer so that the context takes them.
    fn multiply_mask(&self, a: &Ciphertext, m: &[f64], key: &PublicKey) -> Result<Ciphertext, CkksError> {
        let (evaluator, level) = (&self.evaluator, a.metadata().level);
        let context = evaluator.context();
        let largest = m.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let divisor = (largest / context.message_bound()).ceil().max(1.0);
        let small: Vec<f64> = m.iter().map(|value| value / divisor).collect();
        let mask = self.encoder.encode_real_at(&small, level, context.scale(level)?)?;
        let mask = context.encrypt(&mask, key, &mut randomness::from_os()?)?;
        let product = evaluator.multiply(a, &mask, &self.keys.relinearization)?;
        evaluator.multiply_integer(&product, divisor as i64)
    }
}

impl<F, E> RealArithmetic for EncryptedReals<'_, F, E>
where
    F: Fn(&Ciphertext) -> Result<Ciphertext, E>,
    E: From<CkksError> + std::error::Error + 'static,
{
    type Vector = Ciphertext;
    type Error = E;

    fn level(&self, a: &Ciphertext) -> usize {
        a.metadata().level
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, E> {
        Ok(self.evaluator.add(a, b)?)
    }

    fn add_constant(&self, a: &Ciphertext, c: f64) -> Result<Ciphertext, E> {
        Ok(self.evaluator.add_constant(a, c)?)
    }

    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, E> {
        Ok(self.evaluator.multiply(a, b, &self.keys.relinearization)?)
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext, E> {
        Ok(self.evaluator.square(a, &self.keys.relinearization)?)
    }

    fn multiply_constant(&self, a: &Ciphertext, c: f64) -> Result<Ciphertext, E> {
        Ok(self.evaluator.multiply_constant(a, c)?)
    }

    fn multiply_plain(&self, a: &Ciphertext, m: &[f64]) -> Result<Ciphertext, E> {
        if let Some(key) = self.masks {
            return Ok(self.multiply_mask(a, m, key)?);
        }
        let level = a.metadata().level;
        let scale = self.evaluator.context().scale(level)?;
        Ok(self.evaluator.multiply_plain(a, &self.encoder.encode_real_at(m, level, scale)?)?)
    }

    fn rotate(&self, a: &Ciphertext, steps: i64) -> Result<Ciphertext, E> {
        Ok(self.evaluator.rotate(a, steps, &self.keys.galois)?)
    }

    fn bounded(&self, a: Ciphertext, bound: f64) -> Result<Ciphertext, E> {
        if a.metadata().precision.magnitude() <= bound {
            return Ok(a);
        }
        Ok(self.evaluator.with_magnitude(&a, bound)?)
    }

    /// Refreshes z = a + i·b; z + z̄ = 2a, i·(z̄ − z) = 2b. A vector that repeats in every row has no more slots than a row.
    fn refresh(&self, [a, b]: [&Ciphertext; 2]) -> Result<[Ciphertext; 2], E> {
        let evaluator = &self.evaluator;
        let joined = evaluator.with_magnitude(&evaluator.add(a, &evaluator.multiply_by_i(b)?)?, 1.0)?;
        let refreshed = with_slots((self.refresh)(&with_slots(joined, self.width))?, self.encoder.slots());
        let conjugate = evaluator.conjugate(&refreshed, &self.keys.galois)?;
        let imaginary = evaluator.multiply_by_i(&evaluator.sub(&conjugate, &refreshed)?)?;
        Ok([evaluator.add(&refreshed, &conjugate)?, imaginary])
    }
}

/// Declares another number of slots: more, in which the numbers repeat, or fewer, where they repeated. Errors do not repeat: more
/// slots see more of them.
fn with_slots(mut a: Ciphertext, slots: usize) -> Ciphertext {
    let metadata = a.metadata();
    let more = (slots as f64 / metadata.slots as f64).sqrt().max(1.0);
    let precision = metadata.precision.with_deviation(metadata.precision.deviation() * more);
    let metadata = Metadata { slots, precision, ..metadata.clone() };
    a.set_metadata(metadata);
    a
}
