//! What can go wrong in the statistics circuit.

/// An error of the statistics circuit: what was expected, what came, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatisticsError {
    /// A table without columns, groups or rows.
    #[error(
        "a table of {columns} columns, {groups} groups and {rows} rows in the largest: each must be at least 1"
    )]
    EmptyTable {
        /// Columns.
        columns: usize,
        /// Groups.
        groups: usize,
        /// Rows of the largest group.
        rows: usize,
    },
    /// The groups' segments do not fit a row of slots.
    #[error(
        "{groups} segments of {segment} slots do not fit a row of {row} slots as powers of two: take shorter \
         segments or a larger ring"
    )]
    LayoutTooLarge {
        /// Groups, rounded up to a power of two.
        groups: usize,
        /// Slots of a segment.
        segment: usize,
        /// Slots of a row, n/2.
        row: usize,
    },
    /// A layout made for another ring.
    #[error(
        "the layout is for ring degree {expected}, the context has {got}: make a layout for this context"
    )]
    DegreeMismatch {
        /// The layout's ring degree.
        expected: usize,
        /// The context's ring degree.
        got: usize,
    },
    /// The ciphertexts of a chunk are not those the layout asks for.
    #[error(
        "{got} {what} ciphertexts in a chunk, the layout has {expected}: encrypt every input of the layout"
    )]
    InputCount {
        /// Packed or repeated.
        what: &'static str,
        /// Ciphertexts there should be.
        expected: usize,
        /// Ciphertexts that came.
        got: usize,
    },
    /// Too many or too few chunks.
    #[error("{got} chunks were absorbed, the layout has {expected}: absorb each chunk once")]
    ChunkCount {
        /// Chunks there should be.
        expected: usize,
        /// Chunks that came.
        got: usize,
    },
}
