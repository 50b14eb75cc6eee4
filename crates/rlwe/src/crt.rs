//! Contexts of an exact scheme for several plaintext moduli, which hold integers wider than one of them.
//!
//! An integer is stored as its residues modulo coprime t_i, one ciphertext for each. All contexts have one ring and one
//! set of keys, since keys do not depend on t.

use std::ops::Deref;

use rand_core::CryptoRng;
use sunzi_encoding::{CrtEncoder, EncodingError, Plaintext, check_pairwise_coprime};

use crate::{Ciphertext, EncryptionKey, Exact, RlweContext, RlweError, SecretKey};

/// Contexts of one exact scheme, one for each of several coprime plaintext moduli, with common ring, tables and keys.
///
/// A [`CrtContext`] is a slice of contexts, in the order of the plaintext moduli. Plaintexts of
/// [`CrtEncoder`] and ciphertexts are slices in that order too.
#[derive(Clone, Debug)]
pub struct CrtContext<S: Exact> {
    rlwe: RlweContext,
    contexts: Vec<S::Context>,
}

impl<S: Exact> CrtContext<S> {
    /// Makes contexts of the ring and keys of `context`, one for each of the given plaintext moduli.
    ///
    /// # Errors
    /// [`EncodingError::NoPlainModuli`]; [`EncodingError::PlainModuliNotCoprime`]; the scheme's errors for a plaintext
    /// modulus that does not fit the ring.
    pub fn new(context: &S::Context, plain_moduli: &[u64]) -> Result<Self, S::Error> {
        if plain_moduli.is_empty() {
            return Err(EncodingError::NoPlainModuli.into());
        }
        check_pairwise_coprime(plain_moduli)?;
        let own = S::plain_modulus(context);
        let of = |&t: &u64| if t == own { Ok(context.clone()) } else { S::with_plain_modulus(context, t) };
        let contexts = plain_moduli.iter().map(of).collect::<Result<_, _>>()?;
        Ok(Self { rlwe: S::rlwe(context).clone(), contexts })
    }

    /// The context of the ring and keys that the contexts of all plaintext moduli share.
    #[must_use]
    pub fn rlwe(&self) -> &RlweContext {
        &self.rlwe
    }

    /// The plaintext moduli t_i, in the order of the contexts.
    #[must_use]
    pub fn plain_moduli(&self) -> Vec<u64> {
        self.contexts.iter().map(S::plain_modulus).collect()
    }

    /// Makes the encoder that packs an integer into each slot of plaintexts modulo all t_i.
    ///
    /// # Errors
    /// Every error of [`CrtEncoder::batching`]: for plaintext moduli without slots.
    pub fn encoder(&self) -> Result<CrtEncoder, EncodingError> {
        CrtEncoder::batching(self.rlwe.ring().degree(), &self.plain_moduli())
    }

    /// Encrypts the residues of integers: a plaintext for each t_i, as [`CrtEncoder`] makes them.
    ///
    /// # Errors
    /// [`EncodingError::PlaintextCount`]; [`EncodingError::PlaintextMismatch`], also for plaintexts in another order
    /// than the t_i; [`RlweError::Ring`] for a key of another ring; the scheme's refusal of the result.
    pub fn encrypt<'k>(
        &self,
        plaintexts: &[Plaintext],
        key: impl Into<EncryptionKey<'k>>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        let (key, expected, got) = (key.into(), self.contexts.len(), plaintexts.len());
        if expected != got {
            return Err(EncodingError::PlaintextCount { expected, got }.into());
        }
        let each = self.contexts.iter().zip(plaintexts);
        each.map(|(context, plaintext)| S::encrypt(context, plaintext, key, rng)).collect()
    }

    /// Decrypts the ciphertexts of integers to a plaintext for each t_i; [`CrtEncoder`] decodes them together.
    ///
    /// # Errors
    /// [`RlweError::CiphertextCount`]; [`RlweError::KeyMismatch`]; the scheme's errors for ciphertexts of other
    /// parameters, also for those in another order than the t_i, and for noise that leaves no message.
    pub fn decrypt(
        &self,
        ciphertexts: &[Ciphertext<S>],
        key: &SecretKey,
    ) -> Result<Vec<Plaintext>, S::Error> {
        self.pairs(ciphertexts)?.map(|(context, ciphertext)| S::decrypt(context, ciphertext, key)).collect()
    }

    /// Returns pairs of the context of a plaintext modulus and its ciphertext.
    ///
    /// # Errors
    /// [`RlweError::CiphertextCount`].
    pub fn pairs<'a>(
        &'a self,
        ciphertexts: &'a [Ciphertext<S>],
    ) -> Result<impl Iterator<Item = (&'a S::Context, &'a Ciphertext<S>)>, RlweError> {
        self.check_count(ciphertexts)?;
        Ok(self.contexts.iter().zip(ciphertexts))
    }

    /// Computes modulo each t_i: `step` is given a context and the ciphertexts of all operands in it.
    ///
    /// # Errors
    /// [`RlweError::CiphertextCount`]; every error of `step`.
    pub fn compute<'a, const N: usize>(
        &self,
        operands: [&'a [Ciphertext<S>]; N],
        mut step: impl FnMut(&S::Context, [&'a Ciphertext<S>; N]) -> Result<Ciphertext<S>, S::Error>,
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        operands.iter().try_for_each(|operand| self.check_count(operand))?;
        let mut operands = operands.map(<[_]>::iter);
        let mut results = Vec::with_capacity(self.contexts.len());
        for context in &self.contexts {
            let parts: Vec<_> = operands.iter_mut().filter_map(Iterator::next).collect();
            // Every operand has a part for every context, so there are N of them.
            let Ok(parts) = <[_; N]>::try_from(parts) else { break };
            results.push(step(context, parts)?);
        }
        Ok(results)
    }

    fn check_count(&self, ciphertexts: &[Ciphertext<S>]) -> Result<(), RlweError> {
        let (expected, got) = (self.contexts.len(), ciphertexts.len());
        if expected == got { Ok(()) } else { Err(RlweError::CiphertextCount { expected, got }) }
    }
}

/// Dereferences to the contexts of the plaintext moduli, in the order of these.
impl<S: Exact> Deref for CrtContext<S> {
    type Target = [S::Context];

    fn deref(&self) -> &Self::Target {
        &self.contexts
    }
}
