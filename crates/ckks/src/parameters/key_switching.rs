//! Special moduli for key switches at some levels of a chain.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use sunzi_ring::GadgetOptions;
use sunzi_rlwe::chains::{WIDE_WORD_BITS, WORD_BITS, longest_digit, words};
use sunzi_rlwe::security;
use sunzi_rlwe::switch_cost::SwitchCost;

use super::Parameters;
use crate::chain::special_moduli;
use crate::error::CkksError;

/// log2 of the factor by which special moduli are longer than digits where their words have room: noise of keys is then small beside the rounding
/// of the division.
const SPARE_BITS: f64 = 6.0;

impl Parameters {
    /// Returns CKKS parameters that have, beside their levels, a set of the moduli that these levels have together: keys for these
    /// levels alone then need no others. Parameters whose levels are the first moduli of a list have it already.
    #[must_use]
    pub fn with_joint_level(self, levels: RangeInclusive<usize>) -> Self {
        let joint = self.union(&levels);
        if self.rungs.is_empty() || joint.is_empty() || self.rungs.contains(&joint) {
            return self;
        }
        let log2 = |limbs: &[usize]| {
            let own = limbs.iter().filter_map(|&limb| self.moduli.get(limb));
            own.map(|&q| (q as f64).log2()).sum::<f64>()
        };
        let place = self.rungs.partition_point(|rung| log2(rung) < log2(&joint));
        let mut rungs = self.rungs.clone();
        rungs.insert(place, joint);
        // Levels of the ring count from 1.
        let levels = self.levels.iter().map(|&level| level + usize::from(level > place)).collect();
        Self { rungs, levels, ..self }
    }

    /// The indices of all moduli of some levels, ascending.
    pub(super) fn union(&self, levels: &RangeInclusive<usize>) -> Vec<usize> {
        let all: BTreeSet<usize> = levels.clone().flat_map(|level| self.limbs(level)).collect();
        all.into_iter().collect()
    }

    /// The lowest level of the ring that has the moduli of all these levels; that of the highest of them where none has.
    pub(super) fn joint_level(&self, levels: &RangeInclusive<usize>) -> usize {
        let (own, joint) = (self.levels.get(*levels.end()).copied().unwrap_or_default(), self.union(levels));
        let serves = |&level: &usize| {
            let limbs = self.ring_limbs(level);
            joint.iter().all(|limb| limbs.binary_search(limb).is_ok())
        };
        (own..=self.rungs.len()).find(serves).unwrap_or(own)
    }

    /// Chooses special moduli, with digits as long as these have room for, for key switches at some levels only: those that cost least there and that
    /// security allows beside the modulus of the highest of these levels. [`Context::for_levels`](crate::Context::for_levels) makes a context of them.
    ///
    /// ```
    /// use sunzi_ckks::{Context, LevelRange, Parameters};
    /// use sunzi_rlwe::Security;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ranges = [LevelRange { levels: 12, scale_bits: 40 }];
    /// let parameters = Parameters::from_ranges(8, 45, &ranges, Security::InsecureForResearchOnly)?.with_digits(3)?;
    /// let special_moduli = parameters.special_moduli_for(1..=2)?;
    /// let lowest = Context::new(&parameters)?.for_levels(1..=2, &special_moduli)?;
    /// assert_eq!(lowest.depth(), 2);
    /// assert!(lowest.rlwe().log2_key_modulus() < parameters.log2_key_modulus() / 2.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`]; [`CkksError::Rlwe`] where security allows no special moduli beside the modulus of the highest level;
    /// [`CkksError::NoPrimes`].
    pub fn special_moduli_for(&self, levels: RangeInclusive<usize>) -> Result<Vec<u64>, CkksError> {
        let (highest, depth) = (*levels.end(), self.depth());
        if highest > depth {
            return Err(CkksError::NoSuchLevel { level: highest, depth });
        }
        let moduli = self.joint_moduli(&levels);
        let limit = security::limit_of(self.secrets, self.log2_degree, self.security);
        let mut best: Option<(f64, Vec<u64>)> = None;
        for digits in 1..=moduli.len() {
            let longest = longest_digit(&moduli, digits);
            let count = words(longest).max(1);
            // Longer special moduli cost nothing as long as they are words.
            let most = longest.max((count as f64 * WORD_BITS).min(longest + SPARE_BITS));
            let special_moduli = special_moduli(self.shape().root_order(), most, count, &self.moduli)?;
            let log2_modulus = sunzi_math::log2_product(&moduli) + sunzi_math::log2_product(&special_moduli);
            if log2_modulus > limit {
                continue;
            }
            let Some(costs) = self.switch_costs(levels.clone(), &special_moduli) else { continue };
            let cost = costs.iter().sum();
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, special_moduli));
            }
        }
        if let Some((_, special_moduli)) = best {
            return Ok(special_moduli);
        }
        let log2_modulus = sunzi_math::log2_product(&moduli);
        security::check_of(self.secrets, self.degree(), log2_modulus + WORD_BITS, self.security)?;
        Err(CkksError::NoPrimes { bits: WIDE_WORD_BITS, step: self.shape().root_order() })
    }

    /// Returns the cost, [in transforms](SwitchCost::in_transforms), of a key switch at each of some levels, by keys for these levels alone with the given special
    /// moduli; `None` for special moduli that do not serve there.
    #[must_use]
    pub fn switch_costs(&self, levels: RangeInclusive<usize>, special_moduli: &[u64]) -> Option<Vec<f64>> {
        let places = self.ring_limbs(self.joint_level(&levels));
        let moduli = self.joint_moduli(&levels);
        let special_moduli = special_moduli.to_vec();
        let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
        let cost = |level| {
            let limbs = self.limbs(level);
            let own = limbs.iter().filter_map(|limb| places.binary_search(limb).ok()).collect();
            SwitchCost::sum(&options, &moduli, [own], self.degree())
        };
        levels.map(cost).collect()
    }

    /// The moduli of keys for some levels alone.
    fn joint_moduli(&self, levels: &RangeInclusive<usize>) -> Vec<u64> {
        let places = self.ring_limbs(self.joint_level(levels));
        places.iter().filter_map(|&place| self.moduli.get(place).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation::rotation_exponent;
    use crate::{Context, Encoder, Evaluator, LevelRange};
    use sunzi_rlwe::{GaloisKeys, RelinearizationKey, SecretKey, Security, randomness};

    fn chains() -> [Parameters; 2] {
        let ranges = [LevelRange { levels: 5, scale_bits: 40 }, LevelRange { levels: 4, scale_bits: 54 }];
        let security = Security::InsecureForResearchOnly;
        let make = [Parameters::from_ranges, Parameters::from_ranges_rational];
        make.map(|make| make(8, 47, &ranges, security).unwrap().with_digits(3).unwrap())
    }

    /// Tests every range of levels: products and rotations of ciphertexts of the whole context under keys of the lower one, whose results
    /// the whole context decrypts.
    #[test]
    fn ciphertexts_belong_to_both_contexts() {
        let mut rng = randomness::from_os().unwrap();
        for parameters in chains() {
            let whole = Context::new(&parameters).unwrap();
            let secret = SecretKey::generate(whole.rlwe(), &mut rng).unwrap();
            let encoder = Encoder::new(&whole, 8).unwrap();
            let values = [0.5, -0.25, 0.75, -1.0, 0.125, 0.0, 1.0, 0.375];
            for (low, high) in [(1, 1), (1, 3), (4, 6), (2, 9)] {
                let special_moduli = parameters.special_moduli_for(low..=high).unwrap();
                let lower = whole.for_levels(low..=high, &special_moduli).unwrap();
                let own = secret.in_context(whole.rlwe(), lower.rlwe()).unwrap();
                let evaluator = Evaluator::new(&lower);
                let key = RelinearizationKey::generate(lower.rlwe(), &own, &mut rng).unwrap();
                let left = rotation_exponent(1, lower.ring().index());
                let rotations = GaloisKeys::generate(lower.rlwe(), &own, [left], &mut rng).unwrap();
                for level in low..=high {
                    let scale = whole.scale(level).unwrap();
                    let plain = encoder.encode_real_at(&values, level, scale).unwrap();
                    let a = whole.encrypt_secret(&plain, &secret, &mut rng).unwrap();
                    let square = evaluator.multiply(&a, &a, &key).unwrap();
                    let turned = evaluator.rotate(&square, 1, &rotations).unwrap();
                    let decoded = encoder.decode_real(&whole.decrypt(&turned, &secret).unwrap()).unwrap();
                    for (i, value) in decoded.iter().enumerate() {
                        let expected = values[(i + 1) % 8].powi(2);
                        assert!((value - expected).abs() < 1e-6, "{level} of {low} to {high}: {value}");
                    }
                    // A key of the lower context is none of the whole one.
                    assert!(Evaluator::new(&whole).multiply(&a, &a, &key).is_err());
                }
            }
        }
    }

    /// Tests that no number of digits costs less, and that more special moduli than security allows are never chosen.
    #[test]
    fn digits_cost_least() {
        for parameters in chains() {
            let moduli = parameters.moduli();
            let cost = |options: &GadgetOptions, levels: RangeInclusive<usize>| {
                let limbs = levels.map(|level| parameters.limbs(level));
                SwitchCost::sum(options, moduli, limbs, parameters.degree()).unwrap()
            };
            let depth = parameters.depth();
            let special_moduli = parameters.special_moduli_for(7..=depth).unwrap();
            let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
            let chosen = cost(&options, 7..=depth);
            for digits in 1..=moduli.len() {
                let other = parameters.clone().with_digits(digits).unwrap();
                assert!(chosen <= cost(other.key_switching(), 7..=depth), "{digits}");
            }
        }
        let ranges = [LevelRange { levels: 8, scale_bits: 40 }];
        let secure = Parameters::from_ranges(14, 50, &ranges, Security::Bits128).unwrap();
        let special = sunzi_math::log2_product(&secure.special_moduli_for(6..=8).unwrap());
        assert!(secure.log2_modulus() + special <= 430.0, "{special}");
        // More than security allows are refused by the context, too.
        let digits = secure.moduli().len();
        let context = Context::new(&secure.clone().with_digits(digits).unwrap()).unwrap();
        let many = sunzi_math::primes_below(1 << 48, 1 << 15, 2).unwrap();
        assert!(matches!(context.for_levels(6..=8, &many), Err(CkksError::Rlwe(_))));
        assert!(secure.special_moduli_for(1..=9).is_err());
        let ranges = [LevelRange { levels: 9, scale_bits: 42 }];
        let full = Parameters::from_ranges(14, 50, &ranges, Security::Bits128).unwrap();
        assert!(matches!(full.special_moduli_for(8..=9), Err(CkksError::Rlwe(_))));
    }
}
