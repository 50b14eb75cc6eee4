//! FastBconvSK [BEHZ16, Lemma 6]: exact conversion with a redundant modulus.

use sunzi_kernels::{Buffer, Conversion, Modulus};
use sunzi_math::{mod_inv, mul_mod};

use super::{fast_base_conversion, matrix_product, row_of_ones};
use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// From z_j = |x·m_j/M|_{m_j} over B and z_sk = |−x/M|_{m_sk} to x mod q_i, for |x| < λM and
/// m_sk ≥ 2(|B| + ⌈λ⌉).
pub(crate) struct ShenoyKumaresan {
    /// To m_sk: α + h, with h = (m_sk − 1)/2.
    alpha: Conversion,
    /// To q.
    conversion: Conversion,
    ones: Buffer,
}

/// The constants of z_j and z_sk: (m_j/M mod m_j for every j, −1/M mod m_sk).
pub(crate) fn row_factors(b: &Basis, m_sk: Modulus) -> Result<Vec<u64>, RingError> {
    let p = m_sk.value();
    let mut factors = b.quotient_inverses().to_vec();
    factors.push(m_sk.neg(mod_inv(b.product_mod(p), p)?));
    Ok(factors)
}

impl ShenoyKumaresan {
    pub(crate) fn new(b: &Basis, m_sk: Modulus, targets: &[Modulus]) -> Result<Self, RingError> {
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

    /// `rows`: z_j for every j, then z_sk, at most a block of words each.
    pub(crate) fn apply(&self, rows: &[&[u64]], output: &mut [&mut [u64]]) -> Result<(), RingError> {
        let len = rows.first().map_or(0, |row| row.len());
        let mut quotients = [0_u64; BLOCK];
        let (Some(quotients), Some(ones)) = (quotients.get_mut(..len), self.ones.get(..len)) else {
            return Err(RingError::out_of_range("block", format_args!("at most {BLOCK} words"), len));
        };
        let mut inputs = rows.to_vec();
        inputs.push(ones);
        self.alpha.apply(&inputs, &mut [&mut *quotients])?;
        // α + h takes the place of z_sk.
        if let Some(row) = inputs.get_mut(rows.len().saturating_sub(1)) {
            *row = quotients;
        }
        Ok(self.conversion.apply(&inputs, output)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every |x| < λM for small bases with m_sk = 2(|B| + ⌈λ⌉) or one more; beyond, it fails.
    #[test]
    fn conversion_is_exact_up_to_the_bound() {
        let targets = [17_u64, 64, 251].map(|q| Modulus::new(q).unwrap());
        for (b, m_sk) in [(vec![11, 13], 29_u64), (vec![13], 5), (vec![3, 5, 7], 11)] {
            let basis = Basis::new(&b).unwrap();
            let product: i64 = b.iter().product::<u64>() as i64;
            let sk = Modulus::new(m_sk).unwrap();
            let bound = (m_sk as i64 / 2 - b.len() as i64) * product;
            let wrong = |points: &[i64]| -> usize {
                let table = ShenoyKumaresan::new(&basis, sk, &targets).unwrap();
                let moduli = b.iter().chain([&m_sk]);
                let row = |(&m, &f): (&u64, &u64)| -> Vec<u64> {
                    points.iter().map(|x| x.rem_euclid(m as i64) as u64 * f % m).collect()
                };
                let rows: Vec<Vec<u64>> = moduli.zip(&row_factors(&basis, sk).unwrap()).map(row).collect();
                let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
                let mut output = vec![vec![0; points.len()]; targets.len()];
                table
                    .apply(&rows, &mut output.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>())
                    .unwrap();
                let right = |(q, out): (&Modulus, &Vec<u64>)| {
                    points.iter().zip(out).filter(|(x, y)| q.reduce_i64(**x) != **y).count()
                };
                targets.iter().zip(&output).map(right).sum()
            };
            let inside: Vec<i64> = (1 - bound..bound).collect();
            assert!(!inside.is_empty());
            assert!(inside.chunks(BLOCK).all(|points| wrong(points) == 0), "{b:?}");
            let outside: Vec<i64> = (0..100).map(|i| (m_sk as i64 + 3) * product + i).collect();
            assert!(wrong(&outside) > 0, "{b:?}");
        }
    }
}
