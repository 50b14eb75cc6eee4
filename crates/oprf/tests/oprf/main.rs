//! The vectors of RFC 9497, appendix A.1.2, and what is refused.
#![forbid(unsafe_code)]

#[cfg(test)]
mod refusals;
#[cfg(test)]
mod vectors;
