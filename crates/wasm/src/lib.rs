//! Sunzi for JavaScript: programs on tables, their keys, encryption and decryption; arrays of encrypted integers; and what files say of themselves.
//!
//! Bytes that come in may be anybody's: they are checked as files are, and refused by errors of JavaScript whose `name` is that of the error in Rust.
#![forbid(unsafe_code)]

mod error;
pub mod inspect;
mod integers;
mod keys;
mod plan;
mod results;
mod schema;
