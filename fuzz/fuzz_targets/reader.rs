//! Reads bytes as the kind of object that the target is named after.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sunzi_fuzz::check(env!("CARGO_BIN_NAME"), bytes));
