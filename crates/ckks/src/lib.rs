//! CKKS: approximate arithmetic on vectors of complex numbers.
#![forbid(unsafe_code)]

pub mod encoder;
