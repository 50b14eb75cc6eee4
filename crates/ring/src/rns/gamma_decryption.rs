//! Division by q and rounding modulo t with γ-correction [BEHZ16, Alg. 1].

use sunzi_kernels::{Buffer, Conversion, Modulus, WrappingSum};
use sunzi_math::{DEFAULT_PRIME_BOUND, gcd, is_prime, mod_inv, mul_mod};
use zeroize::Zeroize;

use super::too_long_a_block;
use super::{DecryptionForm, half_less};
use super::{matrix_product, rns_floor, row_of_ones};
use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// Tables of γ-correction [BEHZ16, Alg. 1] for one (q, t) and any γ coprime to both.
pub(crate) struct GammaDecryption {
    k: usize,
    gamma: u64,
    t: u64,
    to_gamma: Column,
    to_plain: Column,
    ones: Buffer,
}

/// A matrix column modulo γ or t, in which the last row is one of ones.
enum Column {
    Product(Conversion),
    /// Column for a power of two, below which the low bits of the sum are right; without the row of ones.
    Wrapping(WrappingSum, u64),
}

impl Column {
    fn new(
        basis: &Basis,
        rows: &[Modulus],
        target: Modulus,
        mut column: Vec<u64>,
    ) -> Result<Self, RingError> {
        let rows: Vec<Modulus> =
            basis.moduli().iter().chain(rows).copied().chain([row_of_ones(basis)?]).collect();
        if target.value().is_power_of_two() {
            let start = column.pop().unwrap_or(0);
            let sum = WrappingSum::new(basis.isa(), start, &column)?;
            Ok(Self::Wrapping(sum, target.value() - 1))
        } else {
            Ok(Self::Product(matrix_product(&rows, &[target], &[column])?))
        }
    }

    fn apply<'a>(
        &self,
        rows: &mut Vec<&'a [u64]>,
        ones: &'a [u64],
        out: &mut [u64],
    ) -> Result<(), RingError> {
        match self {
            Self::Product(conversion) => {
                rows.push(ones);
                conversion.apply(rows, &mut [out])?;
                rows.pop();
            }
            Self::Wrapping(sum, mask) => {
                sum.apply(rows, out)?;
                for word in out {
                    *word &= mask;
                }
            }
        }
        Ok(())
    }
}

impl GammaDecryption {
    /// Builds the tables of γ-correction; without a γ, it is the largest default-size prime that divides
    /// neither q nor t.
    pub(crate) fn new(basis: &Basis, t: u64, gamma: Option<u64>) -> Result<Self, RingError> {
        let gamma = match gamma {
            Some(gamma) => check_gamma(basis, t, gamma)?,
            None => choose_gamma(basis, t)?,
        };
        let (plain, correction) = (basis.modulus(t)?, basis.modulus(gamma)?);
        let half = (gamma - 1) / 2;
        // Line 2 modulo γ: (q/q_i)·(−1/q) = −1/q_i; the constant row adds h, so that r = [s]_γ + h.
        let mut column = rns_floor::column(basis, correction, 1)?;
        column.push(half);
        let to_gamma = Column::new(basis, &[], correction, column)?;
        // Lines 2 and 5 modulo t: s/γ − (r − h)/γ.
        let inverse = mod_inv(gamma % t, t)?;
        let mut column = rns_floor::column(basis, plain, inverse)?;
        column.extend([plain.neg(inverse), mul_mod(half % t, inverse, t)]);
        let to_plain = Column::new(basis, &[correction], plain, column)?;
        let ones = Buffer::from_slice(&[1; BLOCK]);
        Ok(Self { k: basis.len(), gamma, t, to_gamma, to_plain, ones })
    }
}

impl DecryptionForm for GammaDecryption {
    fn row_factor(&self, modulus: &Modulus, inverse: u64) -> u64 {
        modulus.mul(inverse, mul_mod(self.gamma % modulus.value(), self.t % modulus.value(), modulus.value()))
    }

    /// The margin 1/2 − k/γ [BEHZ16, Lemma 2 and Theorem 1]. Flooring and FastBconv together lose at most k: with
    /// t·a/q = M + w the corrected residue is ⌊γw⌋ − α for 0 ≤ α < k, centred as long as γ|w| ≤ γ/2 − k.
    fn margin(&self) -> f64 {
        half_less(self.k as f64 / self.gamma as f64)
    }

    fn apply(&self, rows: &[&[u64]], message: &mut [u64]) -> Result<(), RingError> {
        let mut correction = [0_u64; BLOCK];
        let words = (correction.get_mut(..message.len()), self.ones.get(..message.len()));
        let (Some(part), Some(ones)) = words else { return Err(too_long_a_block(message.len())) };
        let mut inputs = rows.to_vec();
        self.to_gamma.apply(&mut inputs, ones, part)?;
        inputs.push(part);
        self.to_plain.apply(&mut inputs, ones, message)?;
        correction.zeroize();
        Ok(())
    }
}

/// Returns γ, checked to be below 2^62, coprime to q and t, and above 2k, so that some noise decrypts.
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
