//! Coefficients of a big-integer ring, as polynomials store them.

use num_bigint::{BigInt, BigUint};
use num_traits::Zero;
use sunzi_ring::Content;
use zeroize::Zeroize;

/// Coefficients of a polynomial, n integers in [0, q), in either domain.
///
/// The `zeroize` of big-integer coefficients sets them to zero but cannot erase what the big-integer library
/// has freed: this type is for oracles and baselines, not for secrets that matter.
#[derive(Clone)]
pub(super) struct Coefficients {
    pub(super) values: Vec<BigUint>,
    /// Number of bits of the modulus q of the coefficients.
    pub(super) bits: usize,
}

/// Size of the coefficients: n times as many bytes as the modulus has; overhead of the big-integer library is
/// not counted.
impl Content for Coefficients {
    fn byte_len(&self) -> usize {
        self.values.len() * self.bits.div_ceil(8)
    }
}

impl Zeroize for Coefficients {
    fn zeroize(&mut self) {
        self.values.iter_mut().for_each(BigUint::set_zero);
    }
}

/// Digits of every coefficient of a polynomial, digit after digit.
#[derive(Clone)]
pub(super) struct Digits(pub(super) Vec<Vec<BigInt>>);

impl Content for Digits {
    fn byte_len(&self) -> usize {
        self.0.iter().flatten().map(|digit| usize::try_from(digit.bits().div_ceil(8)).unwrap_or(0)).sum()
    }
}

impl Zeroize for Digits {
    fn zeroize(&mut self) {
        self.0.iter_mut().flatten().for_each(BigInt::set_zero);
    }
}
