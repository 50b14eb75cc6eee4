//! The tables and figures of the papers Sunzi implements, computed or timed again, each value beside
//! the one printed.
//!
//! ```
//! use repro::behz::{self, Options, Part};
//!
//! let options = Options { parts: vec![Part::Table3], ..Options::quick() };
//! let report = behz::run(&options, &mut |_, _, _| {})?;
//! assert!(report.tables[0].rows.iter().all(|row| row.equal()));
//! # Ok::<(), repro::ReproError>(())
//! ```
#![forbid(unsafe_code)]

pub mod akimoto;
pub mod bajard;
pub mod behz;
mod error;
pub mod kpz;
mod noise;
mod parts;
pub mod plot;
pub mod report;
pub mod rounds;
mod run;
pub mod takeshita;

pub use error::ReproError;
pub use parts::Part;
pub use run::Tell;
