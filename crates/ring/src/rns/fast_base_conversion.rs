//! Fast base conversion, FastBconv [BEHZ16, eq. (2)].

use sunzi_kernels::Modulus;
use sunzi_math::mul_mod;

use crate::parallel::BLOCK;
use crate::{Basis, RingError};

/// Overflow ρ: the fraction of q/2 by which lifts may be longer than q/2.
#[derive(Clone, Copy, Debug)]
pub struct Overflow {
    pub(crate) numerator: u64,
    pub(crate) denominator: u64,
}

impl Overflow {
    /// The overflow ρ as a number.
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// Returns the first factor of eq. (2) times a constant, modulo each q_i: |c·q_i/q|_{q_i}.
///
/// Multiplying limb i of x by entry i gives the rows y_i of the matrix product; the fold of c gives the
/// conversion of |c·x|_q, as [BEHZ16, 4.2] does for m̃.
pub fn row_factors(
    basis: &Basis,
    constant: impl Fn(u64) -> Result<u64, RingError>,
) -> Result<Vec<u64>, RingError> {
    let inverses = basis.quotient_inverses();
    basis.values().iter().zip(inverses).map(|(&q, &inverse)| Ok(mul_mod(inverse, constant(q)?, q))).collect()
}

/// Returns the second factor of eq. (2) times a constant: column (q/q_i·c) mod p over i, for one target p.
pub fn column(basis: &Basis, target: Modulus, constant: u64) -> Vec<u64> {
    let p = target.value();
    basis.quotients_mod(p).iter().map(|&quotient| mul_mod(quotient, constant, p)).collect()
}

/// The offset h = ⌊(q − 1)/2⌋: [x]_q + h is never negative.
pub(crate) fn half(modulus: &Modulus) -> u64 {
    (modulus.value() - 1) / 2
}

/// Replaces a limb by x ← |x + h|_q = [x]_q + h, which represents a centred digit in a row of a matrix product.
pub(crate) fn shift_by_half(modulus: &Modulus, limb: &mut [u64]) -> Result<(), RingError> {
    let halves = [half(modulus); BLOCK];
    limb.chunks_mut(BLOCK)
        .try_for_each(|block| Ok(modulus.add_assign(block, halves.get(..block.len()).unwrap_or_default())?))
}
