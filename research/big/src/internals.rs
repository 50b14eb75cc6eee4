//! Private items for the tests of this crate, which the interface does not show.
//!
//! Nothing else may use this module: its contents change without notice.

pub use crate::multi_precision::rounding::{Ratio, Rounding};

/// Big integers as words of sixty bits.
pub mod words {
    pub use crate::multi_precision::words::{
        BITS, Column, MASK, TERMS, bits, columns, integer, interleave, length, words,
    };
}
