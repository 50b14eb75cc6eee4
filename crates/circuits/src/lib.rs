//! Circuits over encrypted numbers.
//!
//! [`statistics`] sums columns and products of columns of a table, by group, for a server that
//! holds ciphertexts and evaluation keys only.
#![forbid(unsafe_code)]

pub mod statistics;
