//! The laboratory: timings of every operation, beside rivals, and the papers' tables and figures again.
//!
//! Nothing that users build is linked with it.
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
