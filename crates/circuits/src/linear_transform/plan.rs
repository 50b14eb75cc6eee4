//! Plan of a linear transform: baby steps and giant steps, chosen by their cost.

use std::collections::{BTreeMap, BTreeSet};

use sunzi_ckks::Context;

use super::{Diagonals, LinearTransformError};
use crate::steps::{Cost, width};

/// Plan of a linear transform: its rotations and bytes, known before any key or diagonal is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    size: usize,
    level: usize,
    bytes: usize,
    /// Baby steps that each giant step sums.
    giants: BTreeMap<usize, Vec<usize>>,
}

impl Plan {
    /// Makes the cheapest plan for a matrix at a level of ciphertexts.
    ///
    /// # Errors
    /// [`LinearTransformError::Ckks`] for a level that does not exist or a matrix larger than n/2.
    pub fn new(context: &Context, matrix: &Diagonals, level: usize) -> Result<Self, LinearTransformError> {
        context.check_slots(matrix.size())?;
        let gadget = context.rlwe().gadget_at(context.limbs(level)?).map_err(sunzi_ckks::CkksError::from)?;
        let ring = gadget.key_ring();
        let gaps = matrix.iter().map(|(_, values)| context.max_slots() / values.len());
        let bytes = gaps.map(|gap| gadget.expected_multiplier_bytes(gap)).sum();
        let limbs = gadget.level() as f64;
        let cost = Cost::new(gadget.digit_count() as f64, limbs, ring.level() as f64 - limbs);
        let steps: Vec<usize> = matrix.iter().map(|(d, _)| d).collect();
        Ok(Self { size: matrix.size(), level, bytes, giants: split(matrix.size(), &steps, cost) })
    }

    /// Number of rows and columns of the matrix: slots of the vectors, which repeat where there are fewer
    /// than n/2.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Level of the ciphertexts that the transform takes; results are one level lower.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// Number of bytes that the encoded diagonals will take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of products with encoded diagonals.
    #[must_use]
    pub fn products(&self) -> usize {
        self.giants.values().map(Vec::len).sum()
    }

    /// Baby steps of the plan, ascending, with 0 if it occurs.
    #[must_use]
    pub fn babies(&self) -> Vec<usize> {
        self.giants.values().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Giant steps of the plan, ascending, each with the baby steps it sums.
    pub fn giants(&self) -> impl Iterator<Item = (usize, &[usize])> {
        self.giants.iter().map(|(&giant, babies)| (giant, babies.as_slice()))
    }

    /// Steps to the left of all rotations of the plan, ascending: keys for them must reach the plan's level.
    #[must_use]
    pub fn rotations(&self) -> Vec<i64> {
        let babies = self.giants.values().flatten();
        let steps: BTreeSet<usize> =
            babies.chain(self.giants.keys()).copied().filter(|&step| step > 0).collect();
        steps.into_iter().map(|step| step as i64).collect()
    }
}

/// Returns the baby steps of every giant step, for the width that costs least.
fn split(size: usize, steps: &[usize], cost: Cost) -> BTreeMap<usize, Vec<usize>> {
    let width = width(size, steps, cost);
    let mut giants: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &d in steps {
        giants.entry(d - d % width).or_default().push(d % width);
    }
    giants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_diagonal_is_a_giant_and_a_baby_step() {
        let cost = Cost::new(4.0, 40.0, 6.0);
        for steps in
            [vec![], vec![0], vec![3], (0..64).collect(), (0..31).map(|i| (i * 16 + 1000) % 1024).collect()]
        {
            let plan = split(1024, &steps, cost);
            let mut sums: Vec<usize> =
                plan.iter().flat_map(|(giant, babies)| babies.iter().map(move |baby| giant + baby)).collect();
            let mut steps: Vec<usize> = steps.clone();
            sums.sort_unstable();
            steps.sort_unstable();
            assert_eq!(sums, steps);
        }
    }
}
