//! Bounds on which a scaler's noise depends, known without its tables.

use super::decryption::Decryptor;
use super::fast_base_conversion::Overflow;
use crate::error::check_plaintext_modulus;
use crate::{Basis, ModulusSwitching, Multiplication, RingError, ScalerOptions};

/// Twice the error ε of every exact conversion and division of up to 4096 moduli: (k² + 7k)/2 units of 2^-53 and
/// k·2^-51 for the bits dropped of long ones.
pub(super) const EXACT: f64 = 1.0 / (1_u64 << 28) as f64;

/// Constants of [BEHZ16, Lemmas 2 to 5] and [KPZ21, 3.2] for moduli, a plaintext modulus and a choice of algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalingBounds {
    /// Overflow ρ of an extension [BEHZ16, Lemma 4]: nearly 0 where it is exact.
    pub overflow: f64,
    /// Distance beyond 1/2 that a scaled coefficient may have from (t/q)·a or (t/P)·a: k by flooring [BEHZ16, Lemma
    /// 5].
    pub scale_error: f64,
    /// Margin: the distance of t·a/q to an integer up to which decryption is right [BEHZ16, Lemmas 2 and 3, 3.5].
    pub decryption_margin: f64,
    /// Rounding errors of the modulus switches of operands before a product, if there are any.
    pub switching: Option<SwitchingBounds>,
}

/// Bounds on the rounding error of an operand's modulus switch, coefficient by coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchingBounds {
    /// Largest absolute error of a coefficient: 1/2, or k/2 of an approximate switch.
    pub error: f64,
    /// Variance of the error for uniform coefficients: 1/12 or k/12.
    pub variance: f64,
    /// Bound on q_1⋯q_ℓ/P_ℓ, the factor by which a left operand's error weighs more than a right one's.
    pub left_weight: f64,
}

impl ScalingBounds {
    /// Returns the bounds of [`Ring::scaler`](crate::Ring::scaler) with these arguments, for a ring modulo the
    /// product of `moduli`.
    ///
    /// # Errors
    /// Every error of [`Ring::scaler`](crate::Ring::scaler), except those of auxiliary primes, which are not
    /// searched.
    pub fn new(options: &ScalerOptions, moduli: &[u64], t: u64) -> Result<Self, RingError> {
        Self::with_basis(options, &Basis::new(moduli)?, t)
    }

    /// Checks that every one of several plaintext moduli has scaling bounds.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn check_all(options: &ScalerOptions, moduli: &[u64], plain_moduli: &[u64]) -> Result<(), RingError> {
        // The constants that the moduli alone determine are computed once: they take most of the time.
        let q = Basis::new(moduli)?;
        plain_moduli.iter().try_for_each(|&t| Self::with_basis(options, &q, t).map(drop))
    }

    fn with_basis(options: &ScalerOptions, q: &Basis, t: u64) -> Result<Self, RingError> {
        check_scalable(q, t)?;
        let decryption = Decryptor::new(q, t, options.decryption)?;
        Ok(Self::of(options, q.len(), &decryption))
    }

    /// Returns the bounds of the given options for k moduli and a form of decryption.
    #[must_use]
    pub fn of(options: &ScalerOptions, k: usize, decryption: &Decryptor) -> Self {
        let exact = options.multiplication != Multiplication::Behz;
        let sided = options.multiplication.switches_operands();
        Self {
            overflow: if exact { EXACT } else { Overflow::new(k, options.m_tilde).value() },
            scale_error: if exact { EXACT } else { k as f64 },
            decryption_margin: decryption.margin(),
            switching: sided.then(|| SwitchingBounds::new(options.modulus_switching, k)),
        }
    }
}

impl SwitchingBounds {
    fn new(switching: ModulusSwitching, k: usize) -> Self {
        let parts = match switching {
            ModulusSwitching::Exact => 1.0 + EXACT,
            ModulusSwitching::Approximate => k as f64,
        };
        Self { error: parts / 2.0, variance: parts / 12.0, left_weight: 16.0 / 15.0 }
    }
}

/// Checks that 2 ≤ t < 2^60, q > 2t, and that both are coprime.
pub fn check_scalable(q: &Basis, t: u64) -> Result<(), RingError> {
    check_plaintext_modulus(t, 60)?;
    if *q.product() <= (2 * t).into() {
        return Err(RingError::out_of_range("modulus", format_args!("above 2t = {}", 2 * t), q.product()));
    }
    match q.values().iter().find(|&&q| sunzi_math::gcd(q, t) != 1) {
        Some(&left) => Err(RingError::NotCoprime { left, right: t }),
        None => Ok(()),
    }
}
