//! Measurement of the noise of a ciphertext, which needs the secret key.

use num_bigint::{BigInt, BigUint};

/// Returns log2 of the noise ‖u − (Q/t)·m‖∞ of a phase u modulo Q that holds a message m modulo t; −∞ for none.
pub fn measured(phase: &[BigInt], message: impl IntoIterator<Item = u64>, modulus: &BigUint, t: u64) -> f64 {
    // Scaled noise t·v = t·u − Q·m modulo t·Q, centred.
    let (q, period) = (BigInt::from(modulus.clone()), BigInt::from(modulus * t));
    let size = |(u, m): (&BigInt, u64)| centred(u * t - &q * m, &period).into_parts().1;
    let worst = phase.iter().zip(message).map(size).max().unwrap_or_default();
    sunzi_math::log2(&worst) - (t as f64).log2()
}

/// Returns the representative of `value` modulo `period` of least absolute value.
fn centred(value: BigInt, period: &BigInt) -> BigInt {
    let reduced = value % period;
    match &reduced * 2_u8 {
        ref twice if twice >= period => reduced - period,
        ref twice if -twice > *period => reduced + period,
        _ => reduced,
    }
}
