//! Training a logistic regression on ciphertexts of CKKS.

use std::marker::PhantomData;

use rand_core::CryptoRng;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, Metadata};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey, SecretKey};

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
}

/// Arithmetic on real slots of CKKS; `refresh` bootstraps a ciphertext of as many complex slots as a row has, of at most 1, from any level.
pub struct EncryptedReals<'a, F, E> {
    evaluator: Evaluator,
    encoder: Encoder,
    keys: &'a RegressionKeys,
    width: usize,
    refresh: F,
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
        Ok(Self { evaluator, encoder, keys, width, refresh, error: PhantomData })
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
