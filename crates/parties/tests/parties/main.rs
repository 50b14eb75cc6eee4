//! Tests of protocols of several parties.
#![forbid(unsafe_code)]

#[cfg(test)]
mod common;
#[cfg(test)]
mod decryption;
#[cfg(test)]
mod handing_on;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod mutants;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod threshold;
#[cfg(test)]
mod wrong;
