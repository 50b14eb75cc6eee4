//! FastBconvSK [BEHZ16, Lemma 6]: exact conversion with a redundant modulus.

use sunzi_kernels::{Buffer, Conversion, Modulus};
use sunzi_math::{mod_inv, mul_mod};

use super::{fast_base_conversion, matrix_product, row_of_ones, too_long_a_block};
use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// Conversion from z_j = |x·m_j/M|_{m_j} over B and z_sk = |−x/M|_{m_sk} to x mod q_i, for |x| < λM and
/// m_sk ≥ 2(|B| + ⌈λ⌉).
pub struct ShenoyKumaresan {
    /// Conversion from B to m_sk, which gives α + h with h = (m_sk − 1)/2.
    alpha: Conversion,
    /// Conversion from B and m_sk to q.
    conversion: Conversion,
    ones: Buffer,
}

/// Returns the constants of z_j and z_sk: (m_j/M mod m_j for every j, −1/M mod m_sk).
pub fn row_factors(b: &Basis, m_sk: Modulus) -> Result<Vec<u64>, RingError> {
    let p = m_sk.value();
    let mut factors = b.quotient_inverses().to_vec();
    factors.push(m_sk.neg(mod_inv(b.product_mod(p), p)?));
    Ok(factors)
}

impl ShenoyKumaresan {
    /// Builds the tables of conversions from B and m_sk to the given moduli.
    pub fn new(b: &Basis, m_sk: Modulus, targets: &[Modulus]) -> Result<Self, RingError> {
        let p = m_sk.value();
        let half = (p - 1) / 2;
        let rows: Vec<Modulus> = b.moduli().iter().copied().chain([m_sk, row_of_ones(b)?]).collect();
        // Eq. (12): α = (Σ z_j·M/m_j − x_sk)/M = Σ z_j/m_j + z_sk, here plus h so that it is not negative.
        let mut column = b.values().iter().map(|&m| mod_inv(m, p)).collect::<Result<Vec<_>, _>>()?;
        column.extend([1, half]);
        let alpha = matrix_product(&rows, &[m_sk], &[column])?;
        // Eq. (13): x = Σ z_j·M/m_j − (α + h)·M + h·M.
        let columns: Vec<Vec<u64>> = targets
            .iter()
            .map(|&target| {
                let q = target.value();
                let product = b.product_mod(q);
                let mut column = fast_base_conversion::column(b, target, 1);
                column.extend([target.neg(product), mul_mod(product, half % q, q)]);
                column
            })
            .collect();
        let conversion = matrix_product(&rows, targets, &columns)?;
        Ok(Self { alpha, conversion, ones: Buffer::from_slice(&[1; BLOCK]) })
    }

    /// Converts a block of coefficients; `rows` are z_j for every j, then z_sk, at most a block of words
    /// each.
    pub fn apply(&self, rows: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), RingError> {
        let len = rows.first().map_or(0, |row| row.len());
        let mut quotients = [0_u64; BLOCK];
        let (Some(quotients), Some(ones)) = (quotients.get_mut(..len), self.ones.get(..len)) else {
            return Err(too_long_a_block(len));
        };
        let mut inputs = rows.to_vec();
        inputs.push(ones);
        self.alpha.apply(&inputs, &mut [&mut *quotients])?;
        // The row α + h takes the place of z_sk.
        let missing = RingError::MissingTable { table: "row of z_sk", limb: 0 };
        *inputs.get_mut(rows.len().saturating_sub(1)).ok_or(missing)? = quotients;
        Ok(self.conversion.apply(&inputs, output)?)
    }
}
