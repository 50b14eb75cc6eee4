//! Division by q and rounding modulo t with γ-correction [BEHZ16, Alg. 1].

use sunzi_kernels::{Buffer, Conversion, Modulus};
use sunzi_math::{DEFAULT_PRIME_BOUND, is_prime, mod_inv, mul_mod};
use zeroize::Zeroize;

use super::{fast_base_conversion, matrix_product, rns_floor, row_of_ones};
use crate::parallel::{BLOCK, Work, block_of, for_each_block, for_each_limb};
use crate::scratch::Scratch;
use crate::{Basis, RingError};

/// Tables of Alg. 1 for one (q, t). γ is the largest default-size prime that divides neither.
pub(crate) struct GammaDecryption {
    moduli: Vec<Modulus>,
    /// |γt·q_i/q|_{q_i}.
    row_factors: Vec<u64>,
    gamma: u64,
    to_gamma: Conversion,
    to_plain: Conversion,
}

impl GammaDecryption {
    pub(crate) fn new(basis: &Basis, t: u64) -> Result<Self, RingError> {
        Self::with_gamma(basis, t, choose_gamma(basis, t)?)
    }

    fn with_gamma(basis: &Basis, t: u64, gamma: u64) -> Result<Self, RingError> {
        let (plain, correction) = (basis.modulus(t)?, basis.modulus(gamma)?);
        let half = (gamma - 1) / 2;
        let row_factors = fast_base_conversion::row_factors(basis, |q| Ok(mul_mod(gamma % q, t % q, q)))?;
        // Line 2 modulo γ: (q/q_i)·(−1/q) = −1/q_i; the constant row adds h, so that r = [s]_γ + h.
        let mut to_gamma = rns_floor::column(basis, correction, 1)?;
        to_gamma.push(half);
        let gamma_rows: Vec<Modulus> = basis.moduli().iter().copied().chain([row_of_ones(basis)?]).collect();
        // Lines 2 and 5 modulo t: s/γ − (r − h)/γ.
        let inverse = mod_inv(gamma, t)?;
        let mut to_plain = rns_floor::column(basis, plain, inverse)?;
        to_plain.extend([plain.neg(inverse), mul_mod(half % t, inverse, t)]);
        let plain_rows: Vec<Modulus> =
            basis.moduli().iter().copied().chain([correction, row_of_ones(basis)?]).collect();
        Ok(Self {
            moduli: basis.moduli().to_vec(),
            row_factors,
            gamma,
            to_gamma: matrix_product(&gamma_rows, &[correction], &[to_gamma])?,
            to_plain: matrix_product(&plain_rows, &[plain], &[to_plain])?,
        })
    }

    /// 1/2 − k/γ [BEHZ16, Lemma 2 and Theorem 1]. Flooring and FastBconv together lose at most k: with
    /// t·a/q = M + w the corrected residue is ⌊γw⌋ − α for 0 ≤ α < k, centred as long as γ|w| ≤ γ/2 − k.
    pub(crate) fn margin(&self) -> f64 {
        0.5 - self.moduli.len() as f64 / self.gamma as f64
    }

    /// ⌊t·a/q⌉ mod t in [0, t) for the coefficients of a, limb after limb.
    pub(crate) fn apply(&self, words: &[u64], n: usize) -> Result<Vec<u64>, RingError> {
        // Line 2: the rows |γt·a·q_i/q|_{q_i}.
        let mut rows = Scratch::new(words.len());
        let limbs: Vec<&[u64]> = words.chunks_exact(n).collect();
        for_each_limb(Work::Elementwise, &mut rows, n, |i, row| {
            let constants = self.moduli.get(i).zip(self.row_factors.get(i));
            let (Some((modulus, &factor)), Some(limb)) = (constants, limbs.get(i)) else { return Ok(()) };
            row.copy_from_slice(limb);
            Ok(modulus.mul_scalar_assign(row, factor)?)
        })?;
        let ones = Buffer::from_slice(&[1; BLOCK]);
        let mut message = vec![0; n];
        for_each_block(&mut message, n, |range, output| {
            let mut inputs = block_of(rows.chunks_exact(n), &range);
            let ones = ones.get(..range.len()).unwrap_or_default();
            let mut correction = [0_u64; BLOCK];
            if let Some(correction) = correction.get_mut(..range.len()) {
                inputs.push(ones);
                self.to_gamma.apply(&inputs, &mut [&mut *correction])?;
                inputs.pop();
                inputs.extend([&*correction, ones]);
                self.to_plain.apply(&inputs, output)?;
            }
            correction.zeroize();
            Ok(())
        })?;
        rows.zeroize();
        Ok(message)
    }
}

fn choose_gamma(basis: &Basis, t: u64) -> Result<u64, RingError> {
    (2..DEFAULT_PRIME_BOUND)
        .rev()
        .find(|&p| is_prime(p) && basis.values().iter().chain([&t]).all(|q| !q.is_multiple_of(p)))
        .ok_or_else(|| RingError::out_of_range("plaintext modulus", "one coprime to some prime", t))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    /// Every a modulo a small q, for the smallest γ on: within the margin the message is right, and just
    /// outside it is sometimes wrong, so the margin is not idle.
    #[test]
    fn every_residue_within_the_margin_is_decrypted() {
        let values = [17, 19, 23];
        let basis = Basis::new(&values).unwrap();
        let q = 17 * 19 * 23_u64;
        let words: Vec<u64> = values.iter().flat_map(|m| (0..q).map(move |a| a % m)).collect();
        let mut wrong_outside = 0;
        for (t, gamma) in [(2, 7), (5, 7), (5, 8), (16, 11), (27, 64), (1000, 101), (5, 4093)] {
            let decryption = GammaDecryption::with_gamma(&basis, t, gamma).unwrap();
            let messages = decryption.apply(&words, q as usize).unwrap();
            for (a, message) in (0..q).zip(messages) {
                let nearest = (2 * t * a + q) / (2 * q);
                let distance = (t * a).abs_diff(nearest * q);
                let right = message == nearest % t;
                // |t·a/q − M| ≤ 1/2 − k/γ over a common denominator.
                if 2 * gamma * distance + 6 * q <= gamma * q {
                    assert!(right, "t {t} gamma {gamma} a {a}");
                } else {
                    wrong_outside += usize::from(!right);
                }
            }
        }
        assert!(wrong_outside > 0);
        assert_eq!(basis.product(), &BigUint::from(q));
    }
}
