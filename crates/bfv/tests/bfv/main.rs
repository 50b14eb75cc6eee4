//! BFV as its users meet it: hostile input, mismatched objects, predicted noise.
#![forbid(unsafe_code)]

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod mismatch;
#[cfg(test)]
mod prediction;
