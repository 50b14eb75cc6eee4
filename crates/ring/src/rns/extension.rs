//! The lift from q to B_sk before a product [BEHZ16, Alg. 3, S0 and S1], for every m̃.

use sunzi_kernels::Modulus;

use super::centered_conversion::CenteredConversion;
use super::fast_base_conversion::Overflow;
use super::small_montgomery_reduction::SmallMontgomeryReduction;
use crate::options::MTilde;
use crate::{Basis, RingError};

/// Conversion from y_i = |c·factor·q_i/q|_{q_i} to c' ≡ c (mod q) in B_sk with ‖c'‖ ≤ (q/2)(1 + ρ).
pub enum Extension {
    /// Extension to B_sk with a reduction by m̃.
    Montgomery(SmallMontgomeryReduction),
    /// Extension to B_sk without m̃, from centred digits.
    Centered(CenteredConversion),
}

impl Overflow {
    /// The overflow ρ of an extension for k moduli.
    pub fn new(k: usize, m_tilde: MTilde) -> Self {
        match m_tilde.value() {
            Some(m_tilde) => SmallMontgomeryReduction::overflow(k, m_tilde),
            None => CenteredConversion::overflow(k),
        }
    }
}

impl Extension {
    /// Builds the tables of lifts from a basis to the given moduli.
    pub fn new(basis: &Basis, m_tilde: MTilde, targets: &[Modulus]) -> Result<Self, RingError> {
        Ok(match m_tilde.value() {
            Some(m_tilde) => Self::Montgomery(SmallMontgomeryReduction::new(basis, m_tilde, targets)?),
            None => Self::Centered(CenteredConversion::new(basis, targets)?),
        })
    }

    /// Lifts a polynomial; `digits`: y_i, limb after limb, arbitrary afterwards; `output`: one limb of n words a
    /// target.
    pub fn apply(&self, digits: &mut [u64], output: &mut [u64], n: usize) -> Result<(), RingError> {
        match self {
            Self::Montgomery(reduction) => reduction.apply(digits, output, n),
            Self::Centered(conversion) => conversion.apply(digits, output, n),
        }
    }
}
