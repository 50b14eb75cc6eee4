//! The laboratory: timings of every operation, beside rivals, and the papers' tables and figures computed again.
//!
//! The laboratory is linked with nothing that users build.
#![forbid(unsafe_code)]

pub mod alternate;
pub mod bench;
mod error;
pub mod plot;
pub mod report;
pub mod repro;
mod subjects;
mod threads;

pub use error::{LabError, Result};
