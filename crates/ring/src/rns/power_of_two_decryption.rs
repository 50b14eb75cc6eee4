//! Division by q and rounding modulo t with γ a power of two, coprime to t or not [BEHZ16, Lemma 3].

use sunzi_kernels::{Conversion, Modulus, WrappingSum};
use sunzi_math::mul_mod;

use super::{DecryptionForm, half_less};
use super::{matrix_product, rns_floor};
use crate::{Basis, RingError};

/// Limit of log2(γt), above which γ is not taken.
const LOG2_LIMIT: u32 = 62;

/// Tables of decryption by [BEHZ16, Lemma 3] for one (q, t): one matrix column modulo γt instead of one
/// modulo each.
pub(crate) struct PowerOfTwoDecryption {
    k: usize,
    log2_gamma: u32,
    t: u64,
    sum: Sum,
}

/// Sum z = Σ y_i·(−1/q_i) modulo γt.
enum Sum {
    Product(Conversion),
    /// Sum for t a power of two: modulo 2^64, of which the upper bits do not matter.
    Wrapping(WrappingSum),
}

impl PowerOfTwoDecryption {
    /// Builds the tables for a γ that is a power of two; without one, γ is the largest for which γt < 2^62.
    pub(crate) fn new(basis: &Basis, t: u64, log2_gamma: Option<u32>) -> Result<Self, RingError> {
        let k = basis.len();
        // Both bounds on log2 γ: γ > 2k for a margin, γt < 2^62 for words.
        let least = (2 * k as u64 + 1).next_power_of_two().ilog2();
        let most = (LOG2_LIMIT - 1).saturating_sub(t.ilog2());
        let log2_gamma = log2_gamma.unwrap_or(most);
        if least > most {
            let expected = format_args!("below 2^{} with {k} moduli", LOG2_LIMIT.saturating_sub(least));
            return Err(RingError::out_of_range("plaintext modulus", expected, t));
        }
        if !(least..=most).contains(&log2_gamma) {
            let expected =
                format_args!("{least} to {most}: 2^log2_gamma > 2k = {} and 2^log2_gamma·t < 2^62", 2 * k);
            return Err(RingError::out_of_range("log2_gamma", expected, log2_gamma));
        }
        let product = basis.modulus(t << log2_gamma)?;
        let column = rns_floor::column(basis, product, 1)?;
        let sum = if t.is_power_of_two() {
            Sum::Wrapping(WrappingSum::new(basis.isa(), 0, &column)?)
        } else {
            Sum::Product(matrix_product(basis.moduli(), &[product], &[column])?)
        };
        Ok(Self { k, log2_gamma, t, sum })
    }

    fn gamma(&self) -> u64 {
        1 << self.log2_gamma
    }
}

impl DecryptionForm for PowerOfTwoDecryption {
    fn row_factor(&self, modulus: &Modulus, inverse: u64) -> u64 {
        modulus
            .mul(inverse, mul_mod(self.gamma() % modulus.value(), self.t % modulus.value(), modulus.value()))
    }

    /// The margin 1/2 − k/γ, as in Alg. 1: ⌊γw⌋ − α lies in [−γ/2, γ/2) as long as γ|w| ≤ γ/2 − k.
    fn margin(&self) -> f64 {
        half_less(self.k as f64 / self.gamma() as f64)
    }

    fn apply(&self, rows: &[&[u64]], message: &mut [u64]) -> Result<(), RingError> {
        let low = self.gamma() - 1;
        // Eq. (6): adding the low bits carries into the message where they represent a negative number.
        let rounded = |z: u64| z.wrapping_add(z & low) >> self.log2_gamma;
        match &self.sum {
            Sum::Wrapping(sum) => {
                sum.apply(rows, message)?;
                for z in message.iter_mut() {
                    *z = rounded(*z) & (self.t - 1);
                }
            }
            Sum::Product(conversion) => {
                conversion.apply(rows, &mut [&mut *message])?;
                for z in message.iter_mut() {
                    // The sum is at most t, which is 0 modulo t.
                    let m = rounded(*z);
                    *z = m & (m.wrapping_sub(self.t).cast_signed() >> 63).cast_unsigned();
                }
            }
        }
        Ok(())
    }
}
