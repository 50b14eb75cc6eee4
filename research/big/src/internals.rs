//! Private items of `sunzi-big` for its tests, which the interface does not show.
//!
//! No code but the tests of `sunzi-big` may use this module: its contents change without notice.

pub use crate::multi_precision::rounding::{Ratio, Rounding};

/// Private module of big integers as words of sixty bits.
pub mod words {
    pub use crate::multi_precision::words::{
        BITS, Column, MASK, TERMS, bits, columns, integer, interleave, length, words,
    };
}
