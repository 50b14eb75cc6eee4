//! Measures how fast this processor issues vector instructions, to compare with [counts](crate::counts).

#[cfg(target_arch = "x86_64")]
pub use crate::x86_64::pace::{run_additions, run_multiply_adds};

/// Stand-in for timed multiply-adds without 512-bit vectors: returns `None`.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn run_multiply_adds(_rounds: u32) -> Option<u64> {
    None
}

/// Stand-in for timed additions without 512-bit vectors: returns `None`.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn run_additions(_rounds: u32) -> Option<u64> {
    None
}
