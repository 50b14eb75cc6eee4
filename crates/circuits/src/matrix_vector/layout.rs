//! Layout of a matrix: places of its entries on diagonals, and groups of diagonals for steps.

use std::collections::BTreeSet;

use sunzi_encoding::doubling_steps;

use crate::Rotation;
use crate::steps::{Cost, width};

/// Places of a matrix: sides rounded up to powers of two, so that indices wrap at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_length: usize,
    /// Period with which the vector repeats, a power of two.
    pub(super) input_period: usize,
    /// Period with which the product repeats, a power of two.
    pub(super) output_period: usize,
}

impl Layout {
    /// Makes the layout of a matrix; `None` unless both sides are between 1 and `row_length`, a power of two.
    pub(super) fn new(rows: usize, columns: usize, row_length: usize) -> Option<Self> {
        let fits = (1..=row_length).contains(&rows) && (1..=row_length).contains(&columns);
        let (input_period, output_period) = (columns.max(1), rows.max(1));
        (fits && row_length.is_power_of_two()).then(|| Self {
            rows,
            columns,
            row_length,
            input_period: input_period.next_power_of_two(),
            output_period: output_period.next_power_of_two(),
        })
    }

    /// Number of diagonals of a dense matrix of this layout.
    pub(super) fn diagonals(&self) -> usize {
        self.input_period.min(self.output_period)
    }

    /// Returns row and column of the entry in slot `slot` of diagonal `diagonal`, `None` for padding.
    fn place(&self, diagonal: usize, slot: usize) -> Option<(usize, usize)> {
        let (i, j) = (slot % self.output_period, (slot + diagonal) % self.input_period);
        (i < self.rows && j < self.columns).then_some((i, j))
    }

    /// Lists the diagonals of a matrix on which `nonzero` is true somewhere.
    pub(super) fn nonzero(&self, nonzero: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let period = self.input_period.max(self.output_period);
        let holds = |diagonal: &usize| {
            (0..period).any(|slot| self.place(*diagonal, slot).is_some_and(|(i, j)| nonzero(i, j)))
        };
        (0..self.diagonals()).filter(holds).collect()
    }

    /// Returns all slots of a diagonal of a matrix, rotated right by `turned`; both rows alike.
    pub(super) fn slots<V: Default>(
        &self,
        diagonal: usize,
        turned: usize,
        entry: impl Fn(usize, usize) -> V,
    ) -> Vec<V> {
        let value = |slot: usize| {
            let slot = (slot + self.row_length - turned) % self.row_length;
            self.place(diagonal, slot).map(|(i, j)| entry(i, j)).unwrap_or_default()
        };
        (0..2).flat_map(|_| (0..self.row_length).map(value)).collect()
    }

    /// Yields steps of the rotations that add up the parts of a product with a wide matrix: p, 2p, …, below the input's period.
    pub(super) fn folds(&self) -> impl Iterator<Item = usize> + use<> {
        doubling_steps(self.output_period, self.input_period)
    }

    /// Returns the number of baby steps, a power of two, that makes the rotations of a product cheapest. An
    /// encrypted matrix's baby steps, which have to be extended for products, and its giant steps, which
    /// scale and relinearise sums, have about the same ratio of costs.
    pub(super) fn baby_steps(&self, diagonals: &[usize]) -> usize {
        width(self.diagonals(), diagonals, Cost::TYPICAL)
    }

    /// Lists the rotations of a product over the given diagonals.
    pub(super) fn rotations(&self, diagonals: &[usize], baby_steps: usize) -> Vec<Rotation> {
        let babies = diagonals.iter().map(|d| d % baby_steps);
        let giants = diagonals.iter().map(|d| d - d % baby_steps);
        let steps: BTreeSet<usize> =
            babies.chain(giants).chain(self.folds()).filter(|&step| step > 0).collect();
        steps.into_iter().map(|step| Rotation::Rows(step as i64)).collect()
    }
}
