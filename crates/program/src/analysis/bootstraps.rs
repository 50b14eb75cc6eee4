//! Bootstraps as plans state them.

use serde::Serialize;

/// Bootstraps of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bootstraps {
    /// Number of bootstraps of a run.
    pub count: u64,
    /// log2 of the probability that one of them is wrong in any slot.
    pub log2_failure: f64,
    /// Bytes in memory of the keys of bootstraps.
    pub key_bytes: u64,
    /// Bytes in memory of the matrices of bootstraps.
    pub matrix_bytes: u64,
}
