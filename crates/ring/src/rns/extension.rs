//! The lift from q to B_sk before a product [BEHZ16, Alg. 3, S0 and S1], for every m̃.

use sunzi_kernels::Modulus;

use super::centered_conversion::CenteredConversion;
use super::small_montgomery_reduction::SmallMontgomeryReduction;
use crate::options::MTilde;
use crate::{Basis, RingError};

/// From y_i = |c·factor·q_i/q|_{q_i} to c' ≡ c (mod q) in B_sk with ‖c'‖ ≤ (q/2)(1 + ρ).
pub(crate) enum Extension {
    Montgomery(SmallMontgomeryReduction),
    Centered(CenteredConversion),
}

/// ρ as a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overflow {
    pub(crate) numerator: u64,
    pub(crate) denominator: u64,
}

impl Overflow {
    pub(crate) fn new(k: usize, m_tilde: MTilde) -> Self {
        match m_tilde.value() {
            Some(m_tilde) => SmallMontgomeryReduction::overflow(k, m_tilde),
            None => CenteredConversion::overflow(k),
        }
    }

    pub(crate) fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl Extension {
    pub(crate) fn new(basis: &Basis, m_tilde: MTilde, targets: &[Modulus]) -> Result<Self, RingError> {
        Ok(match m_tilde.value() {
            Some(m_tilde) => Self::Montgomery(SmallMontgomeryReduction::new(basis, m_tilde, targets)?),
            None => Self::Centered(CenteredConversion::new(basis, targets)?),
        })
    }

    /// `digits`: y_i, limb after limb, arbitrary afterwards; `output`: one limb of n words a target.
    pub(crate) fn apply(&self, digits: &mut [u64], output: &mut [u64], n: usize) -> Result<(), RingError> {
        match self {
            Self::Montgomery(reduction) => reduction.apply(digits, output, n),
            Self::Centered(conversion) => conversion.apply(digits, output, n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rns::fast_base_conversion::row_factors;

    /// Lemma 4 for every c modulo a small q: c' ≡ c (mod q), |c'| ≤ (q/2)(1 + ρ), which is nearly attained, and
    /// lifts that have no mean.
    fn check(values: &[u64], m_tilde: MTilde) {
        let basis = Basis::new(values).unwrap();
        let q: i64 = values.iter().product::<u64>() as i64;
        let p = Modulus::new(250_199_979_294_721).unwrap();
        let extension = Extension::new(&basis, m_tilde, &[p]).unwrap();
        let factor = m_tilde.value().unwrap_or(1);
        let factors = row_factors(&basis, |_| Ok(factor)).unwrap();
        let mut digits: Vec<u64> = values
            .iter()
            .zip(&factors)
            .flat_map(|(&m, f)| (0..q as u64).map(move |c| c % m * f % m))
            .collect();
        let mut lifted = vec![0; q as usize];
        extension.apply(&mut digits, &mut lifted, q as usize).unwrap();
        let (mut largest, mut sum) = (0, 0_i128);
        for (c, &lift) in (0..q).zip(&lifted) {
            let lift = if lift > p.value() / 2 { lift as i64 - p.value() as i64 } else { lift as i64 };
            assert_eq!(lift.rem_euclid(q), c, "{values:?} {m_tilde:?}");
            largest = largest.max(lift.abs());
            sum += i128::from(lift);
        }
        let Overflow { numerator, denominator } = Overflow::new(values.len(), m_tilde);
        let bound = q as f64 / 2.0 * (1.0 + numerator as f64 / denominator as f64);
        let largest = largest as f64;
        assert!(largest <= bound, "{values:?} {m_tilde:?}: {largest} {bound}");
        // Some digits are short of q_i/2 by a half, and r takes only the values that occur.
        let slack = if m_tilde == MTilde::None { 0.07 } else { 0.02 };
        assert!(largest >= bound * (1.0 - slack), "{values:?} {m_tilde:?}: {largest} {bound}");
        let mean = sum as f64 / q as f64 / (q as f64 / 2.0);
        // Digits in [0, q_i) are short of a mean of q_i/2 by a half; an even k is not balanced for a large m̃.
        let short: f64 = values.iter().map(|&q| 1.0 / q as f64).sum();
        let allowed = match m_tilde {
            MTilde::None => 0.0,
            MTilde::Bits16 => (2.0 + short) / 65_536.0,
            _ => (0.25 + short) / factor as f64,
        };
        assert!(mean.abs() <= allowed, "{values:?} {m_tilde:?}: mean {mean}");
        assert_eq!(lifted[0], 0, "nothing is lifted to nothing");
    }

    #[test]
    fn every_residue_is_lifted_within_the_bound() {
        for values in [&[65_537][..], &[769, 1153], &[17, 97, 193], &[17, 19, 23, 97], &[11, 13, 17, 19, 23]]
        {
            for m_tilde in [MTilde::None, MTilde::Bits8, MTilde::Bits16] {
                check(values, m_tilde);
            }
        }
    }
}
