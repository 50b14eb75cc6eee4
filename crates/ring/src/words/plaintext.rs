//! Scaling of plaintexts, ⌊q·m/t⌉ in RNS.

use sunzi_kernels::{Buffer, Modulus};
use sunzi_math::{mod_inv, mul_mod};
use zeroize::Zeroizing;

use crate::error::{check_limbs, check_message};
use crate::{Basis, RingError};

/// Writes ⌊q·m/t⌉ into words of n coefficients a modulus: z = (q·m + h − r)/t with h = ⌊t/2⌋ and r = (q·m + h) mod t;
/// modulo q_i, z = (h − r)·t^-1.
///
/// The time is constant in the message when t is coprime to q; otherwise by 128-bit division.
pub fn scale_into(
    basis: &Basis,
    words: &mut [u64],
    n: usize,
    message: &[u64],
    t: u64,
) -> Result<(), RingError> {
    check_message(message, t, n)?;
    check_limbs("limb of a scaled plaintext", basis.len(), n, words.len())?;
    let inverses: Result<Vec<u64>, _> = basis.values().iter().map(|&q| mod_inv(t, q)).collect();
    let remainder = basis.product_mod(t);
    let limbs = words.chunks_exact_mut(n).zip(basis.moduli());
    let Ok(inverses) = inverses else {
        for (limb, modulus) in limbs {
            divide(limb, message, t, remainder, basis, *modulus);
        }
        return Ok(());
    };
    let plain = basis.modulus(t)?;
    let mut remainders = Zeroizing::new(Buffer::from_slice(message));
    plain.mul_scalar_assign(&mut remainders, remainder)?;
    plain.shift_assign(&mut remainders, t / 2, 0)?;
    // Differences h − r, below 2^61.
    let differences = remainders.iter().map(|r| (t / 2).cast_signed() - r.cast_signed());
    let differences = Zeroizing::new(differences.collect::<Vec<i64>>());
    for ((limb, modulus), inverse) in limbs.zip(inverses) {
        modulus.reduce_signed_into(limb, &differences)?;
        modulus.mul_scalar_assign(limb, inverse)?;
    }
    Ok(())
}

/// Computes the scaled plaintext z = ⌊q/t⌋·m + ⌊(|q|_t·m + h)/t⌋ for a t that has no inverse.
fn divide(limb: &mut [u64], message: &[u64], t: u64, remainder: u64, basis: &Basis, modulus: Modulus) {
    let q_i = modulus.value();
    let delta = (basis.product() / t) % q_i;
    let delta = delta.iter_u64_digits().next().unwrap_or(0);
    for (z, &m) in limb.iter_mut().zip(message) {
        let rounded = (u128::from(remainder) * u128::from(m) + u128::from(t / 2)) / u128::from(t);
        *z = modulus.add(mul_mod(delta, m, q_i), modulus.reduce_u128(rounded));
    }
}
