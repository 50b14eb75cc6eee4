//! The laws every table obeys, against slow oracles, at the ends of every range.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]

mod conversion;
mod cyclotomic;
mod elementwise;
mod oracle;
mod rounding;
mod sums;
mod transform;
