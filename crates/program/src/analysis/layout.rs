//! Layout of a table's rows in slots, chunk by chunk.

use serde::{Deserialize, Serialize};
use sunzi_encoding::doubling_steps;

use crate::ProgramError;

/// Layout of a table's rows in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Number of rows of the table.
    pub rows: usize,
    /// Number of slots that a chunk fills, a power of two over which sums go.
    pub span: usize,
    /// Number of chunks of the table, which is the number of ciphertexts of each column.
    pub chunks: usize,
}

impl Layout {
    /// Makes the layout of `rows` rows in as few chunks as ciphertexts of `slots` slots, a power of two, allow.
    #[must_use]
    pub fn new(rows: usize, slots: usize) -> Self {
        Self::of_parts(rows, slots, 1)
    }

    /// Makes the layout of rows in `parts` parts that share no chunk, with the largest number of chunks that these
    /// may take.
    #[must_use]
    pub fn of_parts(rows: usize, slots: usize, parts: usize) -> Self {
        let span = rows.max(1).checked_next_power_of_two().unwrap_or(slots).min(slots);
        Self::of_span(rows, span, parts)
    }

    /// Makes the layout of rows of an exact scheme whose results so many parties open: chunks of several parties fill all slots, so that a sum is in every slot.
    /// Where chunks are shorter, slots beside the first hold sums of fewer rows, which whoever opens a result sees as well.
    #[must_use]
    pub fn of_parties(rows: usize, slots: usize, parts: usize, parties: u32) -> Self {
        if parties > 1 { Self::filling(rows, slots, parts) } else { Self::of_parts(rows, slots, parts) }
    }

    /// Makes the layout of rows in chunks that fill all slots, so that a sum is in every slot: for results that somebody else opens, who sees all slots.
    #[must_use]
    pub fn filling(rows: usize, slots: usize, parts: usize) -> Self {
        Self::of_span(rows, slots, parts)
    }

    fn of_span(rows: usize, span: usize, parts: usize) -> Self {
        let span = span.max(1);
        let beside = parts.max(1).saturating_mul(span - 1);
        Self { rows, span, chunks: rows.saturating_add(beside).div_euclid(span).clamp(1, rows.max(1)) }
    }

    /// Returns the number of rows of a chunk; all chunks before the last are full.
    #[must_use]
    pub fn rows_of(&self, chunk: usize) -> usize {
        self.rows.saturating_sub(chunk.saturating_mul(self.span)).min(self.span)
    }

    /// Whether chunks with given numbers of rows fit the layout.
    pub(crate) fn is_filled(&self, rows: &[usize]) -> bool {
        let sum = rows.iter().try_fold(0_usize, |sum, rows| sum.checked_add(*rows));
        let empty = self.rows == 0 && rows == [0];
        let each = empty || rows.iter().all(|rows| (1..=self.span).contains(rows));
        rows.len() == self.chunks && sum == Some(self.rows) && each
    }

    /// Checks that a table of `rows` rows can have the layout in ciphertexts of `slots` slots, all of which are filled where `fills` says so.
    pub(super) fn check(&self, rows: u64, slots: usize, fills: bool) -> Result<(), ProgramError> {
        let Self { rows: own, span, chunks } = *self;
        let mismatch = |what, expected: String, got: usize| Err(ProgramError::mismatch(what, expected, got));
        if own as u64 != rows {
            return mismatch("rows", format!("the {rows} of the table"), own);
        }
        if !span.is_power_of_two() || span > slots {
            return mismatch("rows of a full chunk", format!("a power of two up to {slots}"), span);
        }
        if fills && span != slots {
            return mismatch("rows of a full chunk of several parties", format!("all {slots} slots"), span);
        }
        if chunks < own.div_ceil(span).max(1) || chunks > own.max(1) {
            return mismatch("chunks", format!("{} to {own}", own.div_ceil(span)), chunks);
        }
        Ok(())
    }

    /// Returns the number of slots of all chunks that belong to no row.
    #[must_use]
    pub fn padding(&self) -> usize {
        (self.chunks * self.span).saturating_sub(self.rows)
    }

    /// Returns the steps by which a sum over slots rotates and adds, in one row of slots.
    pub(crate) fn steps(&self) -> impl Iterator<Item = i64> {
        doubling_steps(1, self.span).map(|step| step as i64)
    }
}
