//! Keys, encrypted tables and results in memory as a whole, for a face of the library that has no files: a program in another language, or a page in a browser.
//!
//! [`Keys`] generates the keys of a plan, encrypts a table, runs the plan and opens its results. Each party has the keys that are its own, and the others are
//! missing.
mod compute;
mod encrypt;
mod keys;
mod open;

pub use keys::{EncryptingKey, Evaluation, Keys};
pub use open::{Opened, OpenedNumber};
