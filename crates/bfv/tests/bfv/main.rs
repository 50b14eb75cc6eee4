//! Tests of BFV through its public interface: hostile input, mismatched objects, predicted noise.
#![forbid(unsafe_code)]

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod mismatch;
#[cfg(test)]
mod prediction;
