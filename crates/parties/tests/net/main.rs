//! Tests of channels through shared folders and over TLS.
#![forbid(unsafe_code)]

#[cfg(test)]
#[expect(dead_code, reason = "shared with other tests")]
#[path = "../parties/common.rs"]
mod common;
#[cfg(test)]
mod folder;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod places;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod tls;
