//! Tests that BGV refuses what its parameters do not allow.
#![forbid(unsafe_code)]

#[cfg(test)]
mod refusals;
