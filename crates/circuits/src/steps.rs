//! Baby steps and giant steps of linear maps: how many of each, by what they cost with double hoisting.
//!
//! Step d of a linear map is g + b with a baby step b below a width and a multiple g of the width, a giant step:
//! Σ_d m_d·rotate_d(v) = Σ_g rotate_g(Σ_b rotate_(−g)(m_(g+b))·rotate_b(v)). The baby steps share the digits of v; the inner sums are
//! taken modulo QP, and so is the outer one: only giant steps divide by P, one half each, and all together once more.

use std::collections::BTreeSet;

/// Cost of a permutation of a limb, over a transform of it: 30 µs over 130 µs at n = 2^16.
const PERMUTATION: f64 = 0.25;
/// Cost of a product with a limb of a key, over a transform: 40 µs over 130 µs where the key comes from
/// memory. Done block by block it takes a third of that; the rest is the price of holding another key.
const PRODUCT: f64 = 0.3;

/// Costs of rotations, in transforms of one limb or relative to each other.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) baby: f64,
    pub(crate) giant: f64,
}

impl Cost {
    /// Cost with three digits; two make a baby step 0.36 of a giant one, infinitely many 0.375.
    pub(crate) const TYPICAL: Self = Self { baby: 0.365, giant: 1.0 };

    /// Returns the costs for d digits, l limbs and s special ones: a baby step is an inner product and a
    /// permutation of both halves, a giant step also 2l + s + (d − 1)·l + d·s transforms: one half down, its
    /// digits up.
    pub(crate) fn new(digits: f64, limbs: f64, special: f64) -> Self {
        let all = limbs + special;
        let baby = 2.0 * all * (digits * PRODUCT + PERMUTATION);
        Self { baby, giant: baby + limbs + special + digits * all }
    }
}

/// Returns the width, a power of two up to `size`, with which these steps cost least; of equal ones the
/// smallest.
pub(crate) fn width(size: usize, steps: &[usize], cost: Cost) -> usize {
    let widths = (0..=size.max(1).ilog2()).map(|log| 1_usize << log);
    let total = |&width: &usize| {
        let rotations = |part: &dyn Fn(usize) -> usize| {
            steps.iter().map(|&d| part(d)).filter(|&step| step > 0).collect::<BTreeSet<_>>().len() as f64
        };
        cost.baby * rotations(&|d| d % width) + cost.giant * rotations(&|d| d - d % width)
    };
    widths.min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of baby steps and of giant steps, 0 among them.
    fn distinct(size: usize, steps: &[usize], cost: Cost) -> (usize, usize) {
        let width = width(size, steps, cost);
        let count =
            |part: &dyn Fn(usize) -> usize| steps.iter().map(|&d| part(d)).collect::<BTreeSet<_>>().len();
        (count(&|d| d % width), count(&|d| d / width))
    }

    #[test]
    fn the_width_follows_the_cost() {
        let steps: Vec<usize> = (0..64).collect();
        for (giant, expected) in [(1.0, (8, 8)), (4.0, (16, 4)), (1000.0, (64, 1))] {
            assert_eq!(distinct(64, &steps, Cost { baby: 1.0, giant }), expected);
        }
        // −15, …, 15 times 16: steps of 16 apart.
        let steps: Vec<usize> = (0..31).map(|i| ((i + 1024 - 15) * 16) % 1024).collect();
        assert_eq!(distinct(1024, &steps, Cost { baby: 1.0, giant: 1.1 }), (8, 4));
        assert_eq!((width(1, &[], Cost::TYPICAL), width(1, &[0], Cost::TYPICAL)), (1, 1));
    }

    #[test]
    fn digits_make_a_giant_step_dear() {
        let cost = Cost::new(4.0, 40.0, 6.0);
        assert!(cost.giant / cost.baby > 1.5 && cost.giant / cost.baby < 4.0);
        for (digits, limbs, special) in [(2.0, 5.0, 3.0), (3.0, 6.0, 2.0), (4.0, 4.0, 1.0), (9.0, 27.0, 3.0)]
        {
            let cost = Cost::new(digits, limbs, special);
            assert!((cost.baby / cost.giant / Cost::TYPICAL.baby - 1.0).abs() < 0.05);
        }
    }
}
