//! Tests of secret files under a passphrase, and of what is kept beside them.
#![forbid(unsafe_code)]

#[cfg(test)]
mod files;
#[cfg(test)]
mod log;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod wrapped;
