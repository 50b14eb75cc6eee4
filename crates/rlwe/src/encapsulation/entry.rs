//! Key switch from the main secret to a sparse one, at a low level.

use rand_core::CryptoRng;
use sunzi_ring::{Addends, Evaluation, GadgetOptions, Poly, Ring, SwitchInput};
use zeroize::Zeroizing;

use super::SparseSecret;
use crate::key_switch::added_noise;
use crate::{
    Ciphertext, KeyId, KeySwitchKey, NoiseBound, RlweContext, RlweError, Scheme, SecretDistribution,
    SecretKey,
};

/// Key-switching keys to a sparse secret (s_1, …, s_r) at a low level.
#[derive(Clone)]
pub(crate) struct Entry {
    low: RlweContext,
    id: KeyId,
    keys: Vec<KeySwitchKey>,
}

/// Ciphertext (c_0, c_1, …, c_r) of c_0 + Σ c_i·s_i under a sparse secret.
pub(crate) struct Entered {
    pub(crate) body: Poly<Evaluation>,
    pub(crate) linear: Vec<Poly<Evaluation>>,
    pub(crate) noise: NoiseBound,
}

/// Coefficients of a sparse secret, the polynomials one after the other.
pub(crate) type SparseCoefficients = Zeroizing<Vec<i64>>;

impl Entry {
    /// Draws a sparse secret and makes the keys to it, modulo Q_l·P' for the given moduli of P'.
    pub(crate) fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        sparse: SparseSecret,
        level: usize,
        special_moduli: &[u64],
        rng: &mut dyn CryptoRng,
    ) -> Result<(Self, SparseCoefficients), RlweError> {
        let low = Self::low_context(context, sparse, level, special_moduli)?;
        let coefficients = low.secrets().sample(low.dimension(), rng)?;
        let dense = secret.in_context(context, &low)?;
        let to = polynomials(&coefficients, low.key_ring())?;
        let keys = KeySwitchKey::generate_to_vector(&low, &to, dense.evaluation(), rng)?;
        Ok((Self { low, id: secret.id(), keys }, coefficients))
    }

    /// Makes the context of the sparse secret, checked against the security table.
    pub(crate) fn low_context(
        context: &RlweContext,
        sparse: SparseSecret,
        level: usize,
        special_moduli: &[u64],
    ) -> Result<RlweContext, RlweError> {
        let options = GadgetOptions { special_moduli: special_moduli.to_vec(), ..GadgetOptions::default() };
        let low = RlweContext::with_gadget(context.ring_at(level)?, context.security(), &options)?;
        low.with_module_secrets(SecretDistribution::FixedWeight(sparse.weight), sparse.rank)
    }

    pub(crate) fn from_keys(low: RlweContext, id: KeyId, keys: Vec<KeySwitchKey>) -> Self {
        Self { low, id, keys }
    }

    /// Switches a ciphertext of the low level to the sparse secret.
    pub(crate) fn apply<S: Scheme>(&self, ciphertext: &Ciphertext<S>) -> Result<Entered, RlweError> {
        ciphertext.check_key(self.id, "the key to another secret")?;
        let [c0, c1] = ciphertext.two_parts("a change of secret")?;
        let low = self.low.level();
        let noise = ciphertext.noise().plus(added_noise(&self.low, low, 1)?);
        // The first key alone has a half for the part without a secret: that of the others is 0.
        let (mut body, mut linear) = (c0.clone(), Vec::with_capacity(self.keys.len()));
        for key in &self.keys {
            let (input, added) = (SwitchInput::Values(c1), Addends::Values([Some(&body), None]));
            let [b, a] = key.switch(&self.low, [low, low], input, added, 1)?;
            body = b;
            linear.push(a);
        }
        Ok(Entered { body, linear, noise })
    }

    pub(crate) fn low(&self) -> &RlweContext {
        &self.low
    }

    pub(crate) fn id(&self) -> KeyId {
        self.id
    }

    pub(crate) fn keys(&self) -> &[KeySwitchKey] {
        &self.keys
    }

    /// The shape of the sparse secret: its weight and rank.
    pub(crate) fn sparse(&self) -> SparseSecret {
        let weight = self.low.secrets().norm(self.low.dimension()) as usize;
        SparseSecret { weight, rank: self.keys.len() }
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.keys.iter().map(KeySwitchKey::byte_len).sum()
    }
}

/// Returns the polynomials of a sparse secret in evaluation form.
pub(crate) fn polynomials(
    coefficients: &[i64],
    ring: &Ring,
) -> Result<Vec<Zeroizing<Poly<Evaluation>>>, RlweError> {
    let one = |part| Ok(Zeroizing::new(ring.to_evaluation(ring.from_signed(part)?)?));
    coefficients.chunks(ring.degree()).map(one).collect()
}
