//! FastBconv to B_sk without a reduction after it, from centred digits [BEHZ16, eq. (2)].

use sunzi_kernels::{Buffer, Conversion, Modulus};
use sunzi_math::mul_mod;

use super::fast_base_conversion::{self, Overflow, half, shift_by_half};
use super::{matrix_product, row_of_ones};
use crate::error::entry;
use crate::parallel::{BLOCK, Parallelism, Work, block_of};
use crate::{Basis, RingError};

/// Conversion from y_i = |c·q_i/q|_{q_i} to c' = Σ [y_i]_{q_i}·q/q_i ≡ c (mod q) in B_sk.
///
/// The paper takes y_i in [0, q_i), so that ρ = 2k − 1; those lifts have a mean of kq/2, which would gather the
/// noise of a product in the few roots of unity close to 1. Centred lifts have no mean, and ρ = k − 1.
pub struct CenteredConversion {
    moduli: Vec<Modulus>,
    conversion: Conversion,
}

impl CenteredConversion {
    pub(crate) fn new(basis: &Basis, targets: &[Modulus]) -> Result<Self, RingError> {
        // Each row is [y_i] + h_i, and Σ −h_i·q/q_i is a constant.
        let column = |target: &Modulus| {
            let mut column = fast_base_conversion::column(basis, *target, 1);
            let halves =
                basis.moduli().iter().zip(&column).map(|(q, &c)| mul_mod(half(q), c, target.value()));
            let constant = target.neg(halves.fold(0, |sum, x| target.add(sum, x)));
            column.push(constant);
            column
        };
        let columns: Vec<Vec<u64>> = targets.iter().map(column).collect();
        let rows: Vec<Modulus> = basis.moduli().iter().copied().chain([row_of_ones(basis)?]).collect();
        Ok(Self { moduli: basis.moduli().to_vec(), conversion: matrix_product(&rows, targets, &columns)? })
    }

    /// The overflow ρ = k − 1 of the conversion: |c'| ≤ Σ h_i·q/q_i < k·q/2.
    pub(crate) fn overflow(k: usize) -> Overflow {
        Overflow { numerator: k as u64 - 1, denominator: 1 }
    }

    pub(crate) fn apply(&self, digits: &mut [u64], output: &mut [u64], n: usize) -> Result<(), RingError> {
        Parallelism::Collapsed.for_each_limb(Work::Elementwise, digits, n, |i, limb| {
            shift_by_half(entry("modulus", &self.moduli, i)?, limb)
        })?;
        let ones = Buffer::from_slice(&[1; BLOCK]);
        Parallelism::Collapsed.for_each_block(output, n, |range, output| {
            let mut rows = block_of(digits.chunks_exact(n), &range);
            rows.extend(ones.get(..range.len()));
            Ok(self.conversion.apply(&rows, output)?)
        })
    }
}
