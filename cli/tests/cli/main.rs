//! The command line as its users meet it: each test starts the executable.
#![forbid(unsafe_code)]

#[cfg(test)]
mod agreed;
#[cfg(test)]
mod arrow;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod common;
#[cfg(test)]
mod crafted;
#[cfg(test)]
mod deep;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod dialects;
#[cfg(test)]
#[cfg(unix)]
mod documents;
#[cfg(test)]
#[cfg(all(unix, feature = "shared"))]
#[path = "../../../crates/service/tests/service/elsewhere.rs"]
mod elsewhere;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod expiry;
#[cfg(test)]
mod files;
#[cfg(test)]
mod handing_on;
#[cfg(test)]
mod hospitals;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(test)]
mod insecure;
#[cfg(test)]
mod integers;
#[cfg(test)]
#[cfg(unix)]
mod intersect;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod language;
#[cfg(test)]
mod lookup;
#[cfg(test)]
#[cfg(unix)]
mod lookup_server;
#[cfg(test)]
mod million;
#[cfg(test)]
mod mismatch;
#[cfg(test)]
mod missing;
#[cfg(test)]
#[cfg(unix)]
mod modes;
#[cfg(test)]
mod packed;
#[cfg(test)]
mod parties;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod passphrase;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod python;
#[cfg(test)]
mod reencryption;
#[cfg(test)]
mod rekeying;
#[cfg(test)]
mod schemas;
#[cfg(test)]
#[cfg(unix)]
mod server;
#[cfg(test)]
#[cfg(unix)]
mod service;
#[cfg(test)]
mod share;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod workflow;
