//! Cost of a key switch, by which parameter builders choose digits and special moduli.

use sunzi_ring::{GadgetOptions, RnsDigits};

use crate::RlweError;

/// The cost of one key switch in evaluation form.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwitchCost {
    /// Number of transforms modulo one prime in a key switch, forward and inverse.
    pub transforms: f64,
    /// Number of multiplications of n words by words or constants in a key switch.
    pub multiplications: f64,
    /// Number of bytes of the switching key that a key switch reads.
    pub key_bytes: f64,
}

impl SwitchCost {
    /// Returns the cost of a key switch at a level, by options that `moduli` allow, for digits of whole residues or
    /// remainders: d(l + s) − l forward transforms of digits and l inverse ones before, 2s inverse and 2l forward ones
    /// on the way down from s special moduli.
    ///
    /// ```
    /// use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
    /// use sunzi_ring::GadgetOptions;
    /// use sunzi_rlwe::switch_cost::SwitchCost;
    ///
    /// let mut moduli = primes_below(DEFAULT_PRIME_BOUND, 1 << 16, 18)?;
    /// let special_moduli = moduli.split_off(14);
    /// let options = GadgetOptions { digits: Some(4), special_moduli, ..GadgetOptions::default() };
    /// assert_eq!(SwitchCost::new(&options, &moduli, 14, 1 << 15)?.transforms, 108.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RlweError::Ring`] for options that the moduli do not allow.
    pub fn new(
        options: &GadgetOptions,
        moduli: &[u64],
        level: usize,
        degree: usize,
    ) -> Result<Self, RlweError> {
        Self::of_limbs(options, moduli, &(0..level).collect::<Vec<_>>(), degree)
    }

    /// Returns the cost of a key switch at a level that has the moduli with the given ascending indices.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn of_limbs(
        options: &GadgetOptions,
        moduli: &[u64],
        limbs: &[usize],
        degree: usize,
    ) -> Result<Self, RlweError> {
        let digits = RnsDigits::new(options, moduli)?.limbs_of(limbs);
        let (l, s, d) = (limbs.len() as f64, options.special_moduli.len() as f64, digits.len() as f64);
        let key_limbs = (l - options.dropped_limbs as f64).max(0.0) + s;
        let own = if options.radix_bits.is_some() { 0.0 } else { l };
        // A digit of several residues takes a term for each residue and one for the quotient.
        let term = |limbs: usize| if limbs > 1 { (limbs + 1) as f64 * (l + s - limbs as f64) } else { 0.0 };
        let lifts: f64 = digits.into_iter().map(term).sum();
        let (down, down_terms) = if s > 0.0 { (2.0 * (s + l), 2.0 * l * (s + 2.0)) } else { (0.0, 0.0) };
        Ok(Self {
            transforms: l + d * key_limbs - own + down,
            multiplications: lifts + 2.0 * d * key_limbs + down_terms,
            key_bytes: 16.0 * degree as f64 * d * key_limbs,
        })
    }

    /// Returns the cost [in transforms](Self::in_transforms) of a key switch at each of the given levels, added up;
    /// `None` for options that do not fit.
    pub fn sum(
        options: &GadgetOptions,
        moduli: &[u64],
        levels: impl IntoIterator<Item = Vec<usize>>,
        degree: usize,
    ) -> Option<f64> {
        let cost = |limbs: Vec<usize>| Self::of_limbs(options, moduli, &limbs, degree);
        levels.into_iter().map(|limbs| Some(cost(limbs).ok()?.in_transforms(degree))).sum()
    }

    /// Returns the whole cost of a key switch in transforms: a term of a conversion takes 1/15 of one, and as long as
    /// 14 bytes from memory n times. Measured on AMD Zen 4 (EPYC) at n = 2^14; only the ratio matters, which hardly
    /// changes.
    #[must_use]
    pub fn in_transforms(&self, degree: usize) -> f64 {
        self.transforms + self.multiplications / 15.0 + self.key_bytes / (14.0 * degree as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};

    /// The mean number of transforms d(l + s) − l + l + 2s + 2l at l = 1, 2, 3 with s = 3 and d = 1 is 15.
    #[test]
    fn lower_levels_cost_less() {
        let mut moduli = primes_below(DEFAULT_PRIME_BOUND, 1 << 16, 15).unwrap();
        let special_moduli = moduli.split_off(12);
        let options = GadgetOptions { digits: Some(4), special_moduli, ..GadgetOptions::default() };
        let cost = |level| SwitchCost::new(&options, &moduli, level, 1 << 15).unwrap();
        let low: f64 = (1..=3).map(|level| cost(level).transforms).sum::<f64>() / 3.0;
        assert_eq!(low, 5.0 + 6.0 + 4.0);
        assert!(low * 3.0 < cost(12).transforms);
        assert!(cost(6).in_transforms(1 << 15) < cost(12).in_transforms(1 << 15));
    }

    #[test]
    fn options_that_do_not_fit_are_refused() {
        let moduli = primes_below(DEFAULT_PRIME_BOUND, 1 << 15, 3).unwrap();
        for digits in [0, 4, usize::MAX] {
            let special_moduli = primes_below(DEFAULT_PRIME_BOUND, 1 << 15, 4).unwrap()[3..].to_vec();
            let options = GadgetOptions { digits: Some(digits), special_moduli, ..GadgetOptions::default() };
            assert!(SwitchCost::new(&options, &moduli, 3, 1 << 14).is_err());
        }
    }
}
