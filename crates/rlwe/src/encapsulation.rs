//! Modulus raising (ModRaise) of ciphertexts, and the sparse secret under which a modulus is raised.
//!
//! A ciphertext of m modulo Q_l, read modulo a larger number, encrypts m + Q_l·I with ‖I‖ ≤ (1 + Σ|s_i|)/2 at worst
//! [AS19, 3.2]: the sparser the secret, the smaller I and the cheaper its removal. A sparse secret allows a small
//! modulus only, so it is used just there `[BTH22]`: the ciphertext is switched to it modulo Q_l·P' for special moduli
//! P' of its own, raised, and switched back modulo QP, where its secret is the dense one again. The sparse secret may
//! be a vector of polynomials: see [`SparseSecret`].
//!
//! The way back may apply a linear map at once, without digits and without a level: see [`RaisingMap`].

mod entry;
mod raising;

use rand_core::CryptoRng;

pub(crate) use entry::{Entered, Entry, polynomials};
pub use raising::{RaisingKeys, RaisingMap, RaisingTables, RaisingTerm};

use crate::key_switch::switch_all;
use crate::{Ciphertext, KeyId, KeySwitchKey, RlweContext, RlweError, Scheme, SecretKey};

/// Raises a ciphertext of level l to modulus Q_j for a higher level j: message m becomes m + Q_l·I.
///
/// # Errors
/// [`RlweError::Ring`] for a ciphertext of another ring, and for a level that does not exist or is below its own.
pub fn mod_raise<S: Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    level: usize,
) -> Result<Ciphertext<S>, RlweError> {
    let ring = context.ring_at(level)?;
    let parts = ciphertext.parts().iter().map(|part| ring.mod_raise(part)).collect::<Result<_, _>>()?;
    let (metadata, noise) = (ciphertext.metadata().clone(), *ciphertext.noise());
    Ciphertext::from_parts(parts, metadata, noise, ciphertext.key())
}

/// Shape of the sparse secret of encapsulation keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseSecret {
    /// Hamming weight h of the sparse secret: the number of coefficients that are not 0.
    pub weight: usize,
    /// Rank of the sparse secret: its number of polynomials, 1 for a secret of the ring. A vector of more is
    /// a secret of module learning with errors, of dimension rank·n, which the security table is asked about: a ring
    /// that is too small for a weight has room for it in two polynomials.
    pub rank: usize,
}

/// Key-switching keys to a sparse secret at a low level and back at a high level `[BTH22]`; without the secret itself.
///
/// Switching to a secret of several polynomials s_1, …, s_r gives (c_0, …, c_r) of c_0 + Σ c_i·s_i; switching back
/// takes one key switch for each.
#[derive(Clone)]
pub struct EncapsulationKeys {
    entry: Entry,
    leave: Vec<KeySwitchKey>,
}

impl EncapsulationKeys {
    /// Draws a sparse secret and makes the keys to it, from `secret` modulo Q_l·P' at `levels[0]` = l with the
    /// given moduli of P', and the keys back to `secret` at `levels[1]`.
    ///
    /// # Errors
    /// [`RlweError::Insecure`] when Q_l·P' exceeds the limit for that weight and dimension, 121 bits for 32 of 2^16, at the security of the context;
    /// [`RlweError::Ring`] for levels, special moduli or shapes that the ring cannot follow.
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        sparse: SparseSecret,
        levels: [usize; 2],
        special_moduli: &[u64],
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let [low, high] = levels;
        let (entry, coefficients) = Entry::generate(context, secret, sparse, low, special_moduli, rng)?;
        let leave = polynomials(&coefficients, context.key_ring())?
            .iter()
            .map(|part| KeySwitchKey::generate(context, secret.evaluation(), part, high, rng))
            .collect::<Result<_, _>>()?;
        Ok(Self { entry, leave })
    }

    pub(crate) fn from_keys(entry: Entry, leave: Vec<KeySwitchKey>) -> Self {
        Self { entry, leave }
    }

    /// The key switch to the sparse secret.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The key-switching keys that lead back from the sparse secret.
    pub(crate) fn leave(&self) -> &[KeySwitchKey] {
        &self.leave
    }

    /// Raises the modulus of a ciphertext of the low level under the sparse secret, and returns it at the high level,
    /// under its own secret again: it encrypts m + Q_l·I with ‖I‖ ≤ (1 + weight)/2, I depending on the sparse secret.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`] and [`RlweError::WrongPartCount`] for a ciphertext that does not fit;
    /// [`RlweError::Ring`] for one of another level.
    pub fn mod_raise<S: Scheme>(
        &self,
        context: &RlweContext,
        ciphertext: &Ciphertext<S>,
    ) -> Result<Ciphertext<S>, RlweError> {
        let Entered { body, linear: under, noise } = self.entry.apply(ciphertext)?;
        let level = self.leave.first().map_or(0, KeySwitchKey::level);
        let ring = context.ring_at(level)?;
        let raised = under.iter().map(|part| ring.mod_raise(part)).collect::<Result<Vec<_>, _>>()?;
        let (parts, added) =
            switch_all(context, level, ring.mod_raise(&body)?, self.leave.iter().zip(raised))?;
        let metadata = ciphertext.metadata().clone();
        Ciphertext::from_parts(parts.into(), metadata, noise.plus(added), self.id())
    }

    /// The context of the sparse secret, with keys modulo Q_l·P'.
    #[must_use]
    pub fn low(&self) -> &RlweContext {
        self.entry.low()
    }

    /// The shape of the sparse secret: its weight and rank.
    #[must_use]
    pub fn sparse(&self) -> SparseSecret {
        self.entry.sparse()
    }

    /// The name of the secret key of ciphertexts before and after an encapsulation.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.entry.id()
    }

    /// Length of all encapsulation keys in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.entry.byte_len() + self.leave.iter().map(KeySwitchKey::byte_len).sum::<usize>()
    }
}
