//! Rows of words at a stride, as functions of a table take them.

/// Number of words in a row of a tile.
pub(crate) const WIDTH: usize = 8;

/// Index that stands for an absent row.
pub(crate) const ABSENT: u32 = u32::MAX;
/// Range of the words that a sweep loads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prepare {
    /// Words below q, or below 2q, as inputs of a transform.
    Input,
    /// Words below FRESH·q, as results of products.
    Fresh,
    /// Words that are outputs of at most `PERIOD` levels.
    Words,
}

/// Rows of one register each, at a stride in memory.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) words: *mut u64,
    pub(crate) stride: usize,
    /// Pointer to the words in place of absent rows: zeros where rows are loaded, scratch memory where they
    /// are stored.
    pub(crate) absent: *mut u64,
}

impl Rows {
    /// Selects row `first`, then every `step`-th row.
    #[inline(always)]
    pub(crate) fn every(self, step: usize, first: usize) -> Self {
        Self { words: self.words.wrapping_add(first * self.stride), stride: step * self.stride, ..self }
    }

    #[inline(always)]
    pub(crate) fn shifted(self, words: usize) -> Self {
        Self { words: self.words.wrapping_add(words), ..self }
    }

    pub(super) fn or(self, absent: *mut u64) -> Self {
        Self { absent, ..self }
    }

    /// Returns the pointer to a row that exists.
    #[inline(always)]
    pub(crate) fn row(self, row: usize) -> *mut u64 {
        self.words.wrapping_add(row * self.stride)
    }

    /// Returns the pointer to a row of a list that may be absent.
    #[inline(always)]
    pub(crate) fn listed(self, row: u32) -> *mut u64 {
        if row == ABSENT { self.absent } else { self.row(row as usize) }
    }
}

/// Source and destination rows of a sweep.
#[derive(Clone, Copy)]
pub(crate) struct Path {
    pub(crate) from: Rows,
    pub(crate) to: Rows,
    pub(crate) prepare: Prepare,
    pub(crate) canonical: bool,
    pub(crate) constant: Option<Constant>,
    /// Number of registers side by side, each with its columns.
    pub(crate) columns: usize,
}

impl Path {
    #[inline(always)]
    pub(crate) fn column(&self, words: usize) -> Self {
        let constant =
            self.constant.map(|constant| Constant { rows: constant.rows.shifted(words), ..constant });
        Self { from: self.from.shifted(words), to: self.to.shifted(words), constant, ..*self }
    }
}

/// Row 0 of an axis as it was before the first sweep: added to frequency 0.
#[derive(Clone, Copy)]
pub(crate) struct Constant {
    pub(crate) rows: Rows,
    pub(crate) prepare: Prepare,
}

/// Square matrices of constants that stand one after the other, and the rows that each multiplies.
#[derive(Clone, Copy)]
pub(crate) struct Matrices {
    pub(crate) size: usize,
    /// Number of constants from one matrix to the next.
    pub(crate) constants: usize,
    /// Row i of a matrix starts at constant `first` − i·`back` + i·`forth`.
    pub(crate) first: usize,
    pub(crate) back: usize,
    pub(crate) forth: usize,
    /// Number of rows from one that a matrix multiplies to the next.
    pub(crate) step: usize,
    /// Number of sets of rows, side by side, that every matrix multiplies.
    pub(crate) sets: usize,
    /// Number of rows from the first row of one matrix to that of the next.
    pub(crate) next: usize,
}
