//! Bootstraps of a program in CKKS: after which nodes they come, and the levels and errors that they leave.

use std::collections::{BTreeMap, BTreeSet};

use crate::NodeId;

/// Largest error of a stored number that is bootstrapped, all errors together: numbers beside ±1 by more are refused.
pub(crate) const BESIDE: f64 = 1.0 / 64.0;

/// Levels between two bootstraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Level of a bootstrapped number, and of a fresh one.
    pub(crate) left: usize,
    /// Lowest level that a number to bootstrap may have.
    pub(crate) lowest: usize,
}

impl Limits {
    /// Number of levels that one operation may take between two bootstraps.
    pub(crate) fn between(self) -> usize {
        self.left.saturating_sub(self.lowest)
    }

    /// Returns before which of several polynomials in a row a number of a level is bootstrapped so that it ends at `floor` or above, and the level at which it
    /// ends; `None` where that is not possible. The first polynomial takes the number as it is.
    pub(crate) fn within(self, level: usize, depths: &[usize], floor: usize) -> Option<(Vec<bool>, usize)> {
        let mut at = level;
        let mut before = Vec::with_capacity(depths.len());
        for (place, &depth) in depths.iter().enumerate() {
            let rest: usize = depths.iter().skip(place).sum();
            let enough = at >= rest + floor || (place + 1 < depths.len() && at >= depth + self.lowest);
            if !enough {
                if place == 0 || at < self.lowest {
                    return None;
                }
                at = self.left;
            }
            before.push(!enough);
            at = at.checked_sub(depth)?;
        }
        (at >= floor).then_some((before, at))
    }
}

/// Bootstraps of a program, and what each does to errors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refresh {
    /// Nodes whose values are bootstrapped as soon as they are computed.
    pub(crate) at: BTreeSet<NodeId>,
    /// Levels of the values of encrypted nodes, bootstrapped or not.
    pub(crate) levels: BTreeMap<NodeId, usize>,
    /// Levels at which encrypted nodes may end: those that are bootstrapped, and those that are summed, need some.
    pub(crate) floors: BTreeMap<NodeId, usize>,
    /// Number of bootstraps of a chunk, those between the polynomials of comparisons among them.
    pub(crate) count: usize,
    /// Levels between two bootstraps.
    pub(crate) limits: Limits,
    /// Bound on what a bootstrap adds to a stored number.
    pub(crate) added: f64,
}

impl Refresh {
    /// Returns the bootstraps of a set without any placed yet.
    pub(crate) fn none(limits: Limits, added: f64) -> Self {
        let (at, levels, floors) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        Self { at, levels, floors, count: 0, limits, added }
    }

    /// Returns the error that values between polynomials of a comparison with this gap may have: that of a bootstrap, and 7.2 deviations of what is bootstrapped.
    pub(crate) fn slack(&self, gap: f64) -> f64 {
        gap.max(2.0 * self.added)
    }

    /// Returns how many levels below fresh numbers a node is.
    pub(crate) fn drop(&self, id: NodeId) -> usize {
        self.levels.get(&id).map_or(0, |level| self.limits.left.saturating_sub(*level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_in_a_row_are_bootstrapped_between_them() {
        let limits = Limits { left: 12, lowest: 3 };
        assert_eq!(limits.within(12, &[4, 4, 4], 0), Some((vec![false; 3], 0)));
        assert_eq!(limits.within(12, &[4, 4, 4], 3), Some((vec![false, false, true], 8)));
        assert_eq!(limits.within(7, &[4, 4, 4, 4], 0), Some((vec![false, true, false, false], 0)));
        assert_eq!(limits.within(6, &[4, 4, 4, 4], 0), None);
        assert_eq!(limits.within(4, &[4], 0), Some((vec![false], 0)));
        assert_eq!(limits.within(12, &[10, 10], 0), None);
    }
}
