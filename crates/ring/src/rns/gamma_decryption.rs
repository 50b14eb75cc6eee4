//! Division by q and rounding modulo t with γ-correction [BEHZ16, Alg. 1].

use sunzi_kernels::{Buffer, Conversion, Modulus, WrappingSum};
use sunzi_math::{DEFAULT_PRIME_BOUND, gcd, is_prime, mod_inv, mul_mod};
use zeroize::Zeroize;

use super::decryption::{Form, half_less};
use super::{matrix_product, rns_floor, row_of_ones};
use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// Tables of Alg. 1 for one (q, t) and any γ coprime to both.
pub(crate) struct GammaDecryption {
    k: usize,
    gamma: u64,
    t: u64,
    to_gamma: ToGamma,
    to_plain: Conversion,
    ones: Buffer,
}

/// The matrix column modulo γ.
enum ToGamma {
    Product(Conversion),
    /// For γ a power of two.
    Wrapping(WrappingSum),
}

impl GammaDecryption {
    /// Without a γ, the largest default-size prime that divides neither q nor t.
    pub(crate) fn new(basis: &Basis, t: u64, gamma: Option<u64>) -> Result<Self, RingError> {
        let gamma = match gamma {
            Some(gamma) => check_gamma(basis, t, gamma)?,
            None => choose_gamma(basis, t)?,
        };
        let (plain, correction) = (basis.modulus(t)?, basis.modulus(gamma)?);
        let half = (gamma - 1) / 2;
        // Line 2 modulo γ: (q/q_i)·(−1/q) = −1/q_i; the constant row adds h, so that r = [s]_γ + h.
        let mut column = rns_floor::column(basis, correction, 1)?;
        let to_gamma = if gamma.is_power_of_two() {
            ToGamma::Wrapping(WrappingSum::new(basis.isa(), half, &column)?)
        } else {
            column.push(half);
            let rows: Vec<Modulus> = basis.moduli().iter().copied().chain([row_of_ones(basis)?]).collect();
            ToGamma::Product(matrix_product(&rows, &[correction], &[column])?)
        };
        // Lines 2 and 5 modulo t: s/γ − (r − h)/γ.
        let inverse = mod_inv(gamma % t, t)?;
        let mut to_plain = rns_floor::column(basis, plain, inverse)?;
        to_plain.extend([plain.neg(inverse), mul_mod(half % t, inverse, t)]);
        let rows = [correction, row_of_ones(basis)?];
        let rows: Vec<Modulus> = basis.moduli().iter().copied().chain(rows).collect();
        let to_plain = matrix_product(&rows, &[plain], &[to_plain])?;
        let ones = Buffer::from_slice(&[1; BLOCK]);
        Ok(Self { k: basis.len(), gamma, t, to_gamma, to_plain, ones })
    }
}

impl Form for GammaDecryption {
    fn constant(&self, q_i: u64) -> u64 {
        mul_mod(self.gamma % q_i, self.t % q_i, q_i)
    }

    /// 1/2 − k/γ [BEHZ16, Lemma 2 and Theorem 1]. Flooring and FastBconv together lose at most k: with
    /// t·a/q = M + w the corrected residue is ⌊γw⌋ − α for 0 ≤ α < k, centred as long as γ|w| ≤ γ/2 − k.
    fn margin(&self) -> f64 {
        half_less(self.k as f64 / self.gamma as f64)
    }

    fn apply(&self, rows: &[&[u64]], message: &mut [u64]) -> Result<(), RingError> {
        let mut correction = [0_u64; BLOCK];
        let words = (correction.get_mut(..message.len()), self.ones.get(..message.len()));
        if let (Some(correction), Some(ones)) = words {
            let mut inputs = rows.to_vec();
            match &self.to_gamma {
                ToGamma::Product(conversion) => {
                    inputs.push(ones);
                    conversion.apply(&inputs, &mut [&mut *correction])?;
                    inputs.pop();
                }
                ToGamma::Wrapping(sum) => {
                    sum.apply(&inputs, correction)?;
                    for r in correction.iter_mut() {
                        *r &= self.gamma - 1;
                    }
                }
            }
            inputs.extend([&*correction, ones]);
            self.to_plain.apply(&inputs, &mut [message])?;
        }
        correction.zeroize();
        Ok(())
    }
}

/// γ below 2^62, coprime to q and t, and above 2k, so that some noise decrypts.
fn check_gamma(basis: &Basis, t: u64, gamma: u64) -> Result<u64, RingError> {
    let least = 2 * basis.len() as u64;
    if gamma <= least || gamma >> 62 != 0 {
        return Err(RingError::out_of_range("gamma", format_args!("{least} = 2k < gamma < 2^62"), gamma));
    }
    match basis.values().iter().chain([&t]).find(|&&m| gcd(m, gamma) != 1) {
        Some(&right) => Err(RingError::NotCoprime { left: gamma, right }),
        None => Ok(gamma),
    }
}

fn choose_gamma(basis: &Basis, t: u64) -> Result<u64, RingError> {
    (2..DEFAULT_PRIME_BOUND)
        .rev()
        .find(|&p| is_prime(p) && basis.values().iter().chain([&t]).all(|q| !q.is_multiple_of(p)))
        .ok_or_else(|| RingError::out_of_range("plaintext modulus", "one coprime to some prime", t))
}
