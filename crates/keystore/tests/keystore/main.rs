//! Tests of secret files under a passphrase.
#![forbid(unsafe_code)]

#[cfg(test)]
mod files;
