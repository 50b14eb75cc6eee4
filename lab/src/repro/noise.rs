//! Noise measured with the secret key: the reproductions make their own keys, so that schemes need not let
//! everybody measure noise.

use sunzi_math::mul_mod;
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::{Ciphertext, RlweContext, RlweError, SecretKey};

/// log2 of the noise ‖c(s) − (Q/t)·f·m‖∞ modulo Q, the modulus of the ciphertext's parts; −∞ for none.
pub(crate) fn measured<S: sunzi_rlwe::Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    key: &SecretKey,
    (message, factor, t): (&[u64], u64, u64),
) -> Result<f64, RlweError> {
    let level = ciphertext.parts().last().map_or(Ok(1), |part| context.ring().level_of(part))?;
    let ring = context.ring_at(level)?;
    let phase = ring.to_integers(&*phase(context, ciphertext.parts(), key)?)?;
    let scaled = message.iter().map(|&m| mul_mod(m, factor, t));
    Ok(sunzi_rlwe::noise::measured(&phase, scaled, ring.modulus(), t))
}
