//! Cost of a key switch, by which parameter builders choose digits and special moduli.

use sunzi_kernels::residue_bytes;
use sunzi_math::DEFAULT_PRIME_BOUND;

use super::digits::RnsDigits;
use crate::{GadgetOptions, RingError};

/// Time of a transform modulo a prime from [`DEFAULT_PRIME_BOUND`] to 2^49, over that modulo a smaller one. Measured 1.02 to
/// 1.13 with AVX2 and on the portable table; with 52-bit words 1.11 by all instructions and 1.27 by multiplications.
pub const WIDE_TRANSFORM: f64 = 1.2;

/// Returns the time of one transform modulo each of the primes, in transforms modulo a prime below
/// [`DEFAULT_PRIME_BOUND`].
///
/// ```
/// use sunzi_ring::switch_cost::transforms;
///
/// assert_eq!(transforms(&[(1 << 47) + 1, (1 << 46) + 1]), 2.0);
/// assert_eq!(transforms(&[(1 << 48) + 1]), 1.2);
/// ```
#[must_use]
pub fn transforms(primes: &[u64]) -> f64 {
    primes.iter().map(|&q| if q < DEFAULT_PRIME_BOUND { 1.0 } else { WIDE_TRANSFORM }).sum()
}

/// Digits of a key switch.
pub(super) struct DigitShape<'a> {
    /// Number of moduli of every digit.
    pub(super) limbs: &'a [usize],
    /// Whether digits of one modulus are whole residues.
    pub(super) whole: bool,
    /// Number of limbs that keys lack.
    pub(super) dropped_limbs: usize,
}

/// The cost of one key switch in evaluation form.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwitchCost {
    /// Number of transforms modulo one prime in a key switch, forward and inverse, those of wide primes at their
    /// [time](transforms).
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
    /// use sunzi_ring::switch_cost::SwitchCost;
    ///
    /// let mut moduli = primes_below(DEFAULT_PRIME_BOUND, 1 << 16, 18)?;
    /// let special_moduli = moduli.split_off(14);
    /// let options = GadgetOptions { digits: Some(4), special_moduli, ..GadgetOptions::default() };
    /// assert_eq!(SwitchCost::new(&options, &moduli, 14, 1 << 15)?.transforms, 108.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] and other errors of [`RnsDigits::new`] for options that the moduli do not allow.
    pub fn new(
        options: &GadgetOptions,
        moduli: &[u64],
        level: usize,
        degree: usize,
    ) -> Result<Self, RingError> {
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
    ) -> Result<Self, RingError> {
        let cost = Self::of_level(&RnsDigits::new(options, moduli)?, limbs);
        Ok(Self { key_bytes: cost.key_bytes * degree as f64, ..cost })
    }

    /// Returns the cost for degree 1 of a key switch of a level with the moduli of these ascending indices.
    pub(super) fn of_level(digits: &RnsDigits, limbs: &[usize]) -> Self {
        let (counts, whole) = (digits.limbs_of(limbs), digits.are_whole());
        let shape = DigitShape { limbs: &counts, whole, dropped_limbs: digits.dropped_limbs() };
        Self::of_digits(&digits.moduli_of(limbs), digits.special_moduli(), &shape)
    }

    /// Returns the cost for degree 1 of a key switch of a level with these moduli, by `special` further ones.
    pub(super) fn of_digits(own: &[u64], special: &[u64], digits: &DigitShape<'_>) -> Self {
        let all = || own.iter().chain(special).copied();
        let (l, s, d) = (own.len() as f64, special.len() as f64, digits.limbs.len() as f64);
        let mean = |sum: f64| sum / (l + s).max(1.0);
        let bytes: f64 = all().map(|q| residue_bytes(q) as f64).sum();
        let key_limbs = (l - digits.dropped_limbs as f64).max(0.0) + s;
        let keys = d * key_limbs;
        let own = if digits.whole { l } else { 0.0 };
        // A digit of several residues takes a term for each residue and one for the quotient.
        let term = |&limbs: &usize| if limbs > 1 { (limbs + 1) as f64 * (l + s - limbs as f64) } else { 0.0 };
        let lifts: f64 = digits.limbs.iter().map(term).sum();
        let (down, down_terms) = if s > 0.0 { (2.0 * (s + l), 2.0 * l * (s + 2.0)) } else { (0.0, 0.0) };
        let count = l + keys - own + down;
        Self {
            transforms: count * mean(transforms(&all().collect::<Vec<_>>())),
            multiplications: lifts + 2.0 * keys + down_terms,
            key_bytes: 2.0 * keys * mean(bytes),
        }
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
    use sunzi_math::{WIDE_PRIME_BOUND, primes_below};

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

    /// Tests the cost of 3 + 1 wide moduli beside that of 4 + 1 narrow ones: 20 wide transforms for 30, and keys of 12
    /// limbs of seven bytes for 20 of six.
    #[test]
    fn fewer_wide_moduli_cost_less_and_as_many_cost_more() {
        let cost = |bound, limbs| {
            let mut moduli = primes_below(bound, 1 << 14, limbs + 1).unwrap();
            let special_moduli = moduli.split_off(limbs);
            let options = GadgetOptions { digits: Some(limbs), special_moduli, ..GadgetOptions::default() };
            SwitchCost::new(&options, &moduli, limbs, 1 << 13).unwrap()
        };
        let (narrow, wide) = (cost(1 << 43, 4), cost(WIDE_PRIME_BOUND, 3));
        assert_eq!(narrow.transforms, 30.0);
        assert!((wide.transforms - 20.0 * WIDE_TRANSFORM).abs() < 1e-9);
        let bytes = |terms: f64, each: f64| 2.0 * terms * each * f64::from(1 << 13);
        assert!((narrow.key_bytes - bytes(20.0, 6.0)).abs() < 1e-3);
        assert!((wide.key_bytes - bytes(12.0, 7.0)).abs() < 1e-3);
        let ratio = wide.in_transforms(1 << 13) / narrow.in_transforms(1 << 13);
        assert!((0.70..0.80).contains(&ratio), "{ratio}");
        assert!(cost(WIDE_PRIME_BOUND, 4).in_transforms(1 << 13) > narrow.in_transforms(1 << 13));
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
