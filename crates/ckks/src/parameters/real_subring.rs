//! Parameters of the real ring that lies in the ring of other parameters.

use sunzi_ring::GadgetOptions;

use super::Parameters;
use crate::error::CkksError;

impl Parameters {
    /// Returns the CKKS parameters of the lowest levels, 0 to `level`, in the real ring of degree n/2, which has as many slots: with
    /// the same moduli and scales of levels, and special moduli of its own, those that cost least and that security allows
    /// there. `level` must be the top of a range of scales.
    ///
    /// ```
    /// use sunzi_ckks::{LevelRange, Parameters};
    /// use sunzi_rlwe::Security;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ranges = [LevelRange { levels: 2, scale_bits: 35 }, LevelRange { levels: 3, scale_bits: 45 }];
    /// let whole = Parameters::from_ranges(9, 50, &ranges, Security::InsecureForResearchOnly)?.with_digits(2)?;
    /// let real = whole.real_subring(2)?;
    /// assert_eq!((real.degree(), real.max_slots(), real.depth()), (256, whole.max_slots(), 2));
    /// assert_eq!((real.modulus(2), real.scales()), (whole.modulus(2), whole.scales()[..3].to_vec()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`]; [`CkksError::Request`] for a level that is not the top of a range, and for parameters of a real
    /// ring; every error of [`special_moduli_for`](Self::special_moduli_for).
    pub fn real_subring(&self, level: usize) -> Result<Self, CkksError> {
        let depth = self.depth();
        if level > depth {
            return Err(CkksError::NoSuchLevel { level, depth });
        }
        if self.real_slots {
            let expected = "parameters of a whole ring have one, and these are of a real ring";
            return Err(CkksError::Request { what: "real subring", got: self.shape().to_string(), expected });
        }
        let scales: Vec<_> = self.scales.iter().filter(|range| range.top <= level).copied().collect();
        if scales.first().is_none_or(|range| range.top != level) {
            let expected = "it must be the top of a range of scales";
            return Err(CkksError::Request { what: "highest level", got: level.to_string(), expected });
        }
        let joint = self.union(&(0..=level));
        let moduli: Vec<u64> = joint.iter().filter_map(|&limb| self.moduli.get(limb)).copied().collect();
        let lower = Self {
            log2_degree: self.log2_degree.saturating_sub(1),
            real_slots: true,
            levels: self.levels.iter().take(level + 1).copied().collect(),
            rungs: Vec::new(),
            scales,
            moduli,
            key_switching: GadgetOptions::default(),
            ..self.clone()
        };
        let lower = if self.rungs.is_empty() { lower } else { lower.with_sets(self, level, &joint) };
        let special_moduli = lower.special_moduli_for(0..=level)?;
        let parameters =
            lower.with_key_switching(GadgetOptions { special_moduli, ..GadgetOptions::default() });
        parameters.validate()?;
        Ok(parameters)
    }

    /// Returns the parameters with the sets of moduli that the levels up to `level` have among others, and the set of all of them.
    fn with_sets(self, of: &Self, level: usize, joint: &[usize]) -> Self {
        let places = |limbs: Vec<usize>| -> Vec<usize> {
            limbs.iter().filter_map(|limb| joint.binary_search(limb).ok()).collect()
        };
        let mut rungs: Vec<Vec<usize>> = (0..=level).map(|level| places(of.limbs(level))).collect();
        let levels = (1..=rungs.len()).collect();
        if rungs.last().is_some_and(|top| top.len() < joint.len()) {
            rungs.push((0..joint.len()).collect());
        }
        Self { rungs, levels, ..self }
    }
}
