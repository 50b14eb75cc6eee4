//! Layout of the table of a regression in slots.

use super::RANGE;
use super::model::{RegressionError, Scaling};

/// Layout of rows of `width` slots, one after the other: y·(1, x) for the label y = ±1 and scaled features x, zeros beyond, all divided by [`RANGE`]. A table
/// that does not fit one vector of slots has several vectors, its blocks.
///
/// A sum over a row ends in its first slot, one over a column in every row at once, since rotations are cyclic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    rows: usize,
    features: usize,
    width: usize,
    slots: usize,
}

impl Layout {
    /// Makes the layout of a table of `rows` rows and `features` features, in vectors of at most `most_slots` slots: the fewest slots that are a power
    /// of two.
    ///
    /// # Errors
    /// [`RegressionError::Empty`]; [`RegressionError::TooWide`] if a row has more slots than a vector.
    pub fn new(rows: usize, features: usize, most_slots: usize) -> Result<Self, RegressionError> {
        if rows == 0 || features == 0 {
            return Err(RegressionError::Empty);
        }
        let width = (features + 1).next_power_of_two();
        let most = if most_slots.is_power_of_two() { most_slots } else { most_slots.next_power_of_two() / 2 };
        if width > most {
            return Err(RegressionError::TooWide { features, slots: most_slots });
        }
        let slots = rows.next_power_of_two().saturating_mul(width).min(most);
        Ok(Self { rows, features, width, slots })
    }

    /// Number of rows of the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of slots of a vector.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Number of slots of a row, after which the weights repeat.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of vectors of the table.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.rows.div_ceil(self.slots / self.width)
    }

    /// Lists the steps of all rotations of training, to the left, which need Galois keys.
    #[must_use]
    pub fn required_rotations(&self) -> Vec<i64> {
        let steps = self.row_steps().chain(self.row_steps().map(|step| -step)).chain(self.column_steps());
        steps.collect()
    }

    /// Yields the powers of two below the width of a row: 1, 2, …, width/2.
    pub(super) fn row_steps(&self) -> impl Iterator<Item = i64> + use<> {
        doubling(1, self.width)
    }

    /// Yields the row distances of a vector as powers of two: width, 2·width, ….
    pub(super) fn column_steps(&self) -> impl Iterator<Item = i64> + use<> {
        doubling(self.width, self.slots)
    }

    /// Returns `value` in the first slot of every row, 0 elsewhere.
    pub(super) fn first_column(&self, value: f64) -> Vec<f64> {
        (0..self.slots).map(|slot| if slot % self.width == 0 { value } else { 0.0 }).collect()
    }

    /// Packs a table with labels into vectors, ready to be encrypted.
    ///
    /// # Errors
    /// [`RegressionError::Shape`] if the numbers of rows, labels or features differ from those of the layout and the scaling;
    /// [`RegressionError::TooLarge`] for a feature far from all others.
    pub fn pack(
        &self,
        scaling: &Scaling,
        rows: &[Vec<f64>],
        labels: &[bool],
    ) -> Result<Vec<Vec<f64>>, RegressionError> {
        check("rows", rows.len(), self.rows)?;
        self.pack_from(0, scaling, rows, labels)
    }

    /// Packs some rows of a table with labels, those from row `first` on, with zeros in place of all others: the sum of the vectors of several owners is
    /// the table of all of them.
    ///
    /// # Errors
    /// [`RegressionError::Shape`] for more rows than the layout has from there on, and if the numbers of labels or features differ from those of rows and scaling;
    /// [`RegressionError::TooLarge`] for a feature far from all others.
    pub fn pack_from(
        &self,
        first: usize,
        scaling: &Scaling,
        rows: &[Vec<f64>],
        labels: &[bool],
    ) -> Result<Vec<Vec<f64>>, RegressionError> {
        check("labels", labels.len(), rows.len())?;
        let room = self.rows.saturating_sub(first);
        check("rows", rows.len(), rows.len().min(room))?;
        let mut blocks = vec![vec![0.0; self.slots]; self.blocks()];
        let slots = blocks.iter_mut().flat_map(|block| block.chunks_mut(self.width)).skip(first);
        for ((row, label), slots) in rows.iter().zip(labels).zip(slots) {
            check("features", row.len(), self.features)?;
            let sign = if *label { 1.0 } else { -1.0 };
            let features = scaling.apply(row)?;
            for (slot, value) in slots.iter_mut().zip(std::iter::once(1.0).chain(features)) {
                if value.abs() > RANGE {
                    return Err(RegressionError::TooLarge { got: value.abs(), most: RANGE });
                }
                *slot = sign * value / RANGE;
            }
        }
        Ok(blocks)
    }

    /// Reads the weights from the slots that [`train`](super::train) returns: of the constant, then of every feature.
    #[must_use]
    pub fn weights(&self, slots: &[f64]) -> Vec<f64> {
        slots.iter().take(self.features + 1).map(|slot| slot * RANGE).collect()
    }
}

fn check(what: &'static str, got: usize, expected: usize) -> Result<(), RegressionError> {
    if got == expected { Ok(()) } else { Err(RegressionError::Shape { what, expected, got }) }
}

/// Yields the numbers from, 2·from, …, below `end`.
fn doubling(from: usize, end: usize) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(from), |step| step.checked_mul(2))
        .take_while(move |step| *step < end)
        .map(|step| step as i64)
}
