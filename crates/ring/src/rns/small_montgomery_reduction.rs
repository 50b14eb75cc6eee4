//! FastBconv to B_sk ∪ {m̃} and the small Montgomery reduction after it [BEHZ16, 4.2 and Alg. 2].

use std::ops::Range;

use sunzi_kernels::{Buffer, Conversion, Modulus};
use sunzi_math::{mod_inv, mul_mod};

use super::{fast_base_conversion, matrix_product, row_of_ones};
use crate::parallel::{BLOCK, block_of, for_each_block};
use crate::{Basis, RingError};

/// m̃: with τ = k in eq. (8), ρ = (2k + 1)/m̃ stays below 2^-8 for every k up to 127.
pub(crate) const M_TILDE: u64 = 1 << 16;

/// From y_i = |m̃·c·q_i/q|_{q_i} to c' ≡ c (mod q) in B_sk with ‖c'‖ ≤ (q/2)(1 + ρ) [BEHZ16, Lemma 4].
///
/// With c″ = Σ y_i·q/q_i the reduction is c' = (c″ + q·[−c″/q]_m̃)/m̃. Since −c″/q = −Σ y_i/q_i modulo m̃, its
/// line 1 needs a sum of 16-bit products; r + m̃/2 in [0, m̃) then is one more row of the conversion, and −q/2
/// a constant row: each target modulus costs a single reduction.
pub(crate) struct SmallMontgomeryReduction {
    /// −1/q_i mod m̃.
    negated_inverses: Vec<u32>,
    conversion: Conversion,
}

impl SmallMontgomeryReduction {
    pub(crate) fn new(basis: &Basis, targets: &[Modulus]) -> Result<Self, RingError> {
        let negated_inverses = basis
            .values()
            .iter()
            .map(|&q| Ok((M_TILDE - mod_inv(q, M_TILDE)?) as u32))
            .collect::<Result<_, RingError>>()?;
        let mut columns = Vec::with_capacity(targets.len());
        for target in targets {
            let p = target.value();
            let inverse = mod_inv(M_TILDE, p)?;
            let q = basis.product_mod(p);
            // c″/m̃, then r⁺·q/m̃ and −q/2 for r = r⁺ − m̃/2.
            let mut column = fast_base_conversion::column(basis, *target, inverse);
            column.push(mul_mod(q, inverse, p));
            column.push(target.neg(mul_mod(q, mod_inv(2, p)?, p)));
            columns.push(column);
        }
        let mut rows = basis.moduli().to_vec();
        rows.extend([basis.modulus(M_TILDE)?, row_of_ones(basis)?]);
        Ok(Self { negated_inverses, conversion: matrix_product(&rows, targets, &columns)? })
    }

    /// `digits`: y_i, limb after limb; `output`: one limb of n words a target.
    pub(crate) fn apply(&self, digits: &[u64], output: &mut [u64], n: usize) -> Result<(), RingError> {
        let ones = Buffer::from_slice(&[1; BLOCK]);
        for_each_block(output, n, |range: Range<usize>, output| {
            let mut rows = block_of(digits.chunks_exact(n), &range);
            let mut quotients = [0_u64; BLOCK];
            self.montgomery_quotients(&rows, &mut quotients);
            let len = range.len();
            rows.extend([quotients.get(..len), ones.get(..len)].into_iter().flatten());
            Ok(self.conversion.apply(&rows, output)?)
        })
    }

    /// Line 1: r⁺ = [−c″/q]_m̃ + m̃/2, kept in 32-bit words since only the low 16 bits count.
    fn montgomery_quotients(&self, digits: &[&[u64]], quotients: &mut [u64; BLOCK]) {
        let mut sums = [M_TILDE as u32 / 2; BLOCK];
        for (digit, &inverse) in digits.iter().zip(&self.negated_inverses) {
            for (sum, &y) in sums.iter_mut().zip(*digit) {
                *sum = sum.wrapping_add((y as u32).wrapping_mul(inverse));
            }
        }
        for (quotient, sum) in quotients.iter_mut().zip(sums) {
            *quotient = u64::from(sum) & (M_TILDE - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lemma 4 for every c modulo a small q: c' ≡ c (mod q) and |c'| ≤ (q/2)(1 + ρ), m̃ρ = 2k + 1.
    #[test]
    fn every_residue_is_lifted_within_the_bound() {
        let values = [17, 97, 193];
        let basis = Basis::new(&values).unwrap();
        let q = 17 * 97 * 193_i64;
        let p = Modulus::new(250_199_979_294_721).unwrap();
        let reduction = SmallMontgomeryReduction::new(&basis, &[p]).unwrap();
        let factors = fast_base_conversion::row_factors(&basis, |_| Ok(M_TILDE)).unwrap();
        let digits: Vec<u64> = values
            .iter()
            .zip(&factors)
            .flat_map(|(&m, f)| (0..q as u64).map(move |c| c % m * f % m))
            .collect();
        let mut lifted = vec![0; q as usize];
        reduction.apply(&digits, &mut lifted, q as usize).unwrap();
        let mut largest = 0;
        for (c, &lift) in (0..q).zip(&lifted) {
            let lift = if lift > p.value() / 2 { lift as i64 - p.value() as i64 } else { lift as i64 };
            assert_eq!(lift.rem_euclid(q), c);
            largest = largest.max(lift.abs());
        }
        let m_tilde = M_TILDE as i64;
        assert!(2 * largest * m_tilde <= q * (m_tilde + 7));
        assert!(2 * largest * m_tilde > q * m_tilde, "the overflow is real");
    }
}
