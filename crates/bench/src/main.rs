//! Timings of Sunzi's operations.
#![forbid(unsafe_code)]

fn main() {}
