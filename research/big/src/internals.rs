//! Parts that the tests of this crate try by themselves, because nothing of the interface shows them.
//!
//! Nothing but these tests may use them: they change without notice.

pub use crate::multi_precision::conversion::Ratio;
pub use crate::multi_precision::rounding::Rounding;

/// Big integers as words of sixty bits.
pub mod words {
    pub use crate::multi_precision::words::{
        BITS, Column, MASK, TERMS, bits, columns, integer, interleave, length, words,
    };
}
