//! How fast this processor issues vector instructions, to hold [counts](crate::counts) against.

#[cfg(target_arch = "x86_64")]
pub use crate::x86_64::pace::{run_additions, run_multiply_adds};

/// There are no such vectors here.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn run_multiply_adds(_rounds: u32) -> Option<u64> {
    None
}

/// There are no such vectors here.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn run_additions(_rounds: u32) -> Option<u64> {
    None
}
