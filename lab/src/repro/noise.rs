//! Noise as the secret key shows it: the experiments make their own keys, so that schemes need no such door for everybody.

use num_bigint::BigInt;
use num_traits::Signed;
use sunzi_math::mul_mod;
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::{Ciphertext, RlweContext, RlweError, SecretKey};

/// log2 of ‖c(s) − (Q/t)·f·m‖∞ modulo Q, the modulus of the ciphertext's parts; −∞ for none.
pub(crate) fn measured<S: sunzi_rlwe::Scheme>(
    context: &RlweContext,
    ciphertext: &Ciphertext<S>,
    key: &SecretKey,
    (message, factor, t): (&[u64], u64, u64),
) -> Result<f64, RlweError> {
    let level = ciphertext.parts().last().map_or(Ok(1), |part| context.ring().level_of(part))?;
    let ring = context.ring_at(level)?;
    let phase = ring.to_integers(&*phase(context, ciphertext.parts(), key)?)?;
    let q = BigInt::from(ring.modulus().clone());
    // t·v = t·c(s) − Q·f·m modulo t·Q, centred.
    let period = &q * t;
    let off =
        phase.iter().zip(message).map(|(c, &m)| centred(c * t - &q * mul_mod(m, factor, t), &period).abs());
    let worst = off.max().unwrap_or_default();
    Ok(sunzi_math::log2(worst.magnitude()) - (t as f64).log2())
}

/// A representative of `value` modulo `period` of least absolute value.
fn centred(value: BigInt, period: &BigInt) -> BigInt {
    let reduced = value % period;
    match &reduced * 2_u8 {
        ref twice if twice >= period => reduced - period,
        ref twice if -twice > *period => reduced + period,
        _ => reduced,
    }
}
