//! Which diagonals meet which rotations: baby steps and giant steps, chosen by what they cost.

use std::collections::{BTreeMap, BTreeSet};

use sunzi_ckks::Context;
use sunzi_ring::{Gadget, Multipliers};

use super::{Diagonals, LinearTransformError};

/// A permutation of a limb over a transform of it: 30 µs over 130 µs at n = 2^16.
const PERMUTATION: f64 = 0.25;
/// A product with a limb of a key, over a transform: 40 µs over 130 µs where the key comes from memory. Done block by block it takes a third of
/// that; the rest is the price of holding another key.
const PRODUCT: f64 = 0.3;

/// What a linear transform needs, known before any key or diagonal is made.
///
/// Diagonal d is g + b with a baby step b below a width and a multiple g of the width, a giant step:
/// M·v = Σ_g rotate_g(Σ_b rotate_(−g)(diagonal_(g+b))·rotate_b(v)). The baby steps share the digits of v; the inner sums are
/// taken modulo QP, and so is the outer one: only giant steps divide by P, one half each, and all together once more.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    size: usize,
    level: usize,
    bytes: usize,
    /// By giant step the baby steps it sums.
    giants: BTreeMap<usize, Vec<usize>>,
}

/// What rotations cost at a level, in transforms of one limb.
#[derive(Clone, Copy)]
struct Cost {
    baby: f64,
    giant: f64,
}

impl Plan {
    /// The cheapest plan for this matrix at a level of ciphertexts.
    ///
    /// # Errors
    /// [`LinearTransformError::Ckks`] for a level that is not there or a matrix larger than n/2.
    pub fn new<R: Multipliers>(
        context: &Context<R>,
        matrix: &Diagonals,
        level: usize,
    ) -> Result<Self, LinearTransformError> {
        context.check_slots(matrix.size())?;
        let gadget = context.rlwe().gadget_at(context.limbs(level)?).map_err(sunzi_ckks::CkksError::from)?;
        let ring = gadget.key_ring();
        let bytes =
            matrix.iter().map(|(_, values)| ring.expected_bytes(context.max_slots() / values.len())).sum();
        let limbs = gadget.level() as f64;
        let cost = Cost::new(gadget.digit_count() as f64, limbs, ring.level() as f64 - limbs);
        let steps: Vec<usize> = matrix.iter().map(|(d, _)| d).collect();
        Ok(Self { size: matrix.size(), level, bytes, giants: split(matrix.size(), &steps, cost) })
    }

    /// Rows and columns: slots of the vectors, which repeat where there are fewer than n/2.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The level of ciphertexts it takes; results stand one level lower.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// Bytes that the encoded diagonals will take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Products with encoded diagonals.
    #[must_use]
    pub fn products(&self) -> usize {
        self.giants.values().map(Vec::len).sum()
    }

    /// The baby steps, ascending, with 0 if it occurs.
    #[must_use]
    pub fn babies(&self) -> Vec<usize> {
        self.giants.values().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// By giant step, ascending, the baby steps it sums.
    pub fn giants(&self) -> impl Iterator<Item = (usize, &[usize])> {
        self.giants.iter().map(|(&giant, babies)| (giant, babies.as_slice()))
    }

    /// Steps to the left of all rotations, ascending: keys for them must reach the plan's level.
    #[must_use]
    pub fn rotations(&self) -> Vec<i64> {
        let babies = self.giants.values().flatten();
        let steps: BTreeSet<usize> =
            babies.chain(self.giants.keys()).copied().filter(|&step| step > 0).collect();
        steps.into_iter().map(|step| step as i64).collect()
    }
}

impl Cost {
    /// For d digits, l limbs and s special ones: a baby step is an inner product and a permutation of both halves, a giant step also
    /// 2l + s + (d − 1)·l + d·s transforms: one half down, its digits up.
    fn new(digits: f64, limbs: f64, special: f64) -> Self {
        let all = limbs + special;
        let baby = 2.0 * all * (digits * PRODUCT + PERMUTATION);
        Self { baby, giant: baby + limbs + special + digits * all }
    }
}

/// The baby steps of every giant step, for the width, a power of two, that costs least; of equal ones the smallest.
fn split(size: usize, steps: &[usize], cost: Cost) -> BTreeMap<usize, Vec<usize>> {
    let widths = (0..=size.ilog2()).map(|log| 1_usize << log);
    let total = |&width: &usize| {
        let rotations = |part: &dyn Fn(usize) -> usize| {
            steps.iter().map(|&d| part(d)).filter(|&step| step > 0).collect::<BTreeSet<_>>().len() as f64
        };
        cost.baby * rotations(&|d| d % width) + cost.giant * rotations(&|d| d - d % width)
    };
    let width = widths.min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or(1);
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

    #[test]
    fn the_width_follows_the_cost() {
        let distinct = |plan: &BTreeMap<usize, Vec<usize>>| {
            let babies: BTreeSet<usize> = plan.values().flatten().copied().collect();
            (babies.len(), plan.len())
        };
        let steps: Vec<usize> = (0..64).collect();
        assert_eq!(distinct(&split(64, &steps, Cost { baby: 1.0, giant: 1.0 })), (8, 8));
        assert_eq!(distinct(&split(64, &steps, Cost { baby: 1.0, giant: 4.0 })), (16, 4));
        assert_eq!(distinct(&split(64, &steps, Cost { baby: 1.0, giant: 1000.0 })), (64, 1));
        // −15, …, 15 times 16: steps of 16 apart.
        let steps: Vec<usize> = (0..31).map(|i| ((i + 1024 - 15) * 16) % 1024).collect();
        assert_eq!(distinct(&split(1024, &steps, Cost { baby: 1.0, giant: 1.1 })), (8, 4));
        // Digits make a giant step dear.
        let cost = Cost::new(4.0, 40.0, 6.0);
        assert!(cost.giant / cost.baby > 1.5 && cost.giant / cost.baby < 4.0);
    }
}
