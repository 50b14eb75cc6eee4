//! The program `lab`, as its users run it.

mod bad_input;
mod bench;
mod common;
mod repro;
#[cfg(feature = "peers")]
mod rivals;
