//! The tables and figures of the papers Sunzi implements, computed or timed again, each value beside
//! the one printed.
//!
//! ```
//! use repro::behz::{self, Part};
//!
//! let report = behz::run(&[Part::Table3])?;
//! assert!(report.tables[0].rows.iter().all(|row| row.equal()));
//! # Ok::<(), repro::ReproError>(())
//! ```
#![forbid(unsafe_code)]

pub mod behz;
mod error;
pub mod report;

pub use error::ReproError;
