//! Errors of the statistics circuit.

/// An error of the statistics circuit: what was expected, what came, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatisticsError {
    /// A table without columns, groups or rows.
    #[error(
        "a table of {columns} columns, {groups} groups and {rows} rows in the largest: each must be at least 1"
    )]
    EmptyTable {
        /// Number of columns of the table.
        columns: usize,
        /// Number of groups of the table.
        groups: usize,
        /// Number of rows of the largest group.
        rows: usize,
    },
    /// The groups' segments do not fit a row of slots.
    #[error(
        "{groups} segments of {segment} slots do not fit a row of {row} slots as powers of two: take shorter \
         segments or a larger ring"
    )]
    LayoutTooLarge {
        /// Number of groups, rounded up to a power of two.
        groups: usize,
        /// Number of slots of a segment.
        segment: usize,
        /// Number of slots of a row, n/2.
        row: usize,
    },
    /// A layout made for another ring.
    #[error(
        "the layout is for ring degree {expected}, the context has {got}: make a layout for this context"
    )]
    DegreeMismatch {
        /// Ring degree of the layout.
        expected: usize,
        /// Ring degree of the context.
        got: usize,
    },
    /// The ciphertexts of a chunk are not those the layout asks for.
    #[error(
        "{got} {what} ciphertexts in a chunk, the layout has {expected}: encrypt every input of the layout"
    )]
    InputCount {
        /// Kind of input: packed or repeated.
        what: &'static str,
        /// Number of ciphertexts that the layout asks for.
        expected: usize,
        /// Number of ciphertexts in the chunk that came.
        got: usize,
    },
    /// A table with too many or too few chunks for its layout.
    #[error("{got} chunks were absorbed, the layout has {expected}: absorb each chunk once")]
    ChunkCount {
        /// Number of chunks that the layout asks for.
        expected: usize,
        /// Number of chunks of the table that came.
        got: usize,
    },
}
