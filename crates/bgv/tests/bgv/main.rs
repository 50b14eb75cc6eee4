//! Tests that BGV refuses what its parameters do not allow.
#![forbid(unsafe_code)]

#[cfg(test)]
mod builder;
#[cfg(test)]
mod refusals;
