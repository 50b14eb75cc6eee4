//! BFV with keys of its own and messages that are known, over rings of any security.

use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator, Plaintext};
use sunzi_ring::{Ring, ScalerOptions};
use sunzi_rlwe::Security;

use super::keys::Keys;
use super::plaintexts;
use crate::Result;

/// A BFV context for experiments: parameters of papers are below the security of today.
pub(crate) fn research(ring: Ring, plain_modulus: u64, algorithms: &Algorithms) -> Result<Context> {
    Ok(Context::with_algorithms(ring, plain_modulus, Security::InsecureForResearchOnly, algorithms)?)
}

/// A BFV context with its evaluator and keys.
pub(crate) struct Party {
    pub(crate) context: Context,
    evaluator: Evaluator,
    pub(crate) keys: Keys,
}

/// A ciphertext and its known message.
pub(crate) type Known<C = Ciphertext> = (C, Plaintext);

impl Party {
    /// Makes a BFV context over a ring, with fresh keys.
    pub(crate) fn new(ring: Ring, t: u64, scaling: ScalerOptions, rng: &mut dyn CryptoRng) -> Result<Self> {
        let context = research(ring, t, &Algorithms { scaling, ..Algorithms::default() })?;
        let keys = Keys::generate(context.rlwe(), rng)?;
        Ok(Self { evaluator: Evaluator::new(&context), context, keys })
    }

    /// A random message polynomial modulo t.
    pub(crate) fn message(&self, rng: &mut dyn CryptoRng) -> Result<Plaintext> {
        Ok(plaintexts::random(self.context.degree(), self.context.plain_modulus(), rng)?)
    }

    /// An encryption of a random message, together with the message.
    pub(crate) fn known(&self, rng: &mut dyn CryptoRng) -> Result<Known> {
        let message = self.message(rng)?;
        Ok((self.context.encrypt(&message, &self.keys.public, rng)?, message))
    }

    /// The relinearised product of two ciphertexts.
    pub(crate) fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        Ok(self.evaluator.multiply(a, b, &self.keys.relinearization)?)
    }

    /// Decrypts a ciphertext, whatever its noise bound says.
    pub(crate) fn open(&self, ciphertext: &Ciphertext) -> Result<Plaintext> {
        Ok(self.context.decrypt_unchecked(ciphertext, &self.keys.secret)?)
    }
}
