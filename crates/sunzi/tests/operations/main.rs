//! Tests of operations that several parties do on ciphertexts of every scheme.
#![forbid(unsafe_code)]

#[cfg(test)]
mod cases;
