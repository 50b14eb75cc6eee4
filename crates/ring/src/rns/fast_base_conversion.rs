//! FastBconv [BEHZ16, eq. (2)].

use sunzi_kernels::Modulus;
use sunzi_math::mul_mod;

use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// The first factor of eq. (2) times a constant, modulo each q_i: |c·q_i/q|_{q_i}.
///
/// Multiplying limb i of x by entry i gives the rows y_i of the matrix product; the fold of c gives the
/// conversion of |c·x|_q, as [BEHZ16, 4.2] does for m̃.
pub(crate) fn row_factors(
    basis: &Basis,
    constant: impl Fn(u64) -> Result<u64, RingError>,
) -> Result<Vec<u64>, RingError> {
    let inverses = basis.quotient_inverses();
    basis.values().iter().zip(inverses).map(|(&q, &inverse)| Ok(mul_mod(inverse, constant(q)?, q))).collect()
}

/// The second factor of eq. (2) times a constant: column (q/q_i·c) mod p over i, for one target p.
pub(crate) fn column(basis: &Basis, target: Modulus, constant: u64) -> Vec<u64> {
    let p = target.value();
    basis.quotients_mod(p).iter().map(|&quotient| mul_mod(quotient, constant, p)).collect()
}

/// h = ⌊(q − 1)/2⌋: [x]_q + h is never negative.
pub(crate) fn half(modulus: &Modulus) -> u64 {
    (modulus.value() - 1) / 2
}

/// x ← |x + h|_q = [x]_q + h: what stands for a centred digit in a row of a matrix product.
pub(crate) fn shift_by_half(modulus: &Modulus, limb: &mut [u64]) -> Result<(), RingError> {
    let halves = [half(modulus); BLOCK];
    limb.chunks_mut(BLOCK)
        .try_for_each(|block| Ok(modulus.add_assign(block, halves.get(..block.len()).unwrap_or_default())?))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::rns::matrix_product;

    /// Eq. (2) gives x + α·q with 0 ≤ α < k.
    #[test]
    fn overflow_is_below_k() {
        for values in [vec![17, 97, 193], vec![250_199_979_294_721, (1 << 61) - 1, 3, 65_536]] {
            let basis = Basis::new(&values).unwrap();
            let targets: Vec<_> = [65_537, 1 << 16, (1 << 60) - 93].map(|p| Modulus::new(p).unwrap()).into();
            let columns: Vec<_> = targets.iter().map(|&p| column(&basis, p, 1)).collect();
            let conversion = matrix_product(basis.moduli(), &targets, &columns).unwrap();
            let rows = row_factors(&basis, |_| Ok(1)).unwrap();
            let q = basis.product();
            let points = [BigUint::ZERO, BigUint::from(1_u32), q - 1_u32, q / 2_u32, q / 3_u32];
            let inputs: Vec<Vec<u64>> = values
                .iter()
                .zip(&rows)
                .map(|(&m, &f)| {
                    points
                        .iter()
                        .map(|x| mul_mod((x % m).iter_u64_digits().next().unwrap_or(0), f, m))
                        .collect()
                })
                .collect();
            let mut outputs = vec![vec![0; points.len()]; targets.len()];
            let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
            let mut views: Vec<&mut [u64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
            conversion.apply(&inputs, &mut views).unwrap();
            for (c, x) in points.iter().enumerate() {
                let found = (0..values.len() as u64).any(|alpha| {
                    let lifted = x + q * alpha;
                    targets.iter().zip(&outputs).all(|(p, out)| &lifted % p.value() == BigUint::from(out[c]))
                });
                assert!(found, "no overflow below k explains {x}");
            }
        }
    }
}
