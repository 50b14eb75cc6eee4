//! Tables of data for encrypted computations.
//!
//! A data owner has a table in the clear, CSV or Parquet: [`Source`] opens it, [`survey`] finds or checks its [`Schema`] in one pass, and
//! [`Chunks`] gives its rows, a chunk at a time, in another. What leaves the owner is an encrypted table: its schema, clear columns
//! and ciphertexts, in a file of Sunzi's own ([`mod@file`]) or as Arrow columns in Parquet (`arrow`). Neither side ever holds more
//! than a chunk.
//!
//! A table that is public may be asked in private instead: [`lookup`] makes a database of its rows, which answers without learning what is asked for. One that is secret may be asked by what others know
//! already: [`intersection`] tells them which of their items it has.
//!
//! [`Schema`]: sunzi_program::Schema
#![forbid(unsafe_code)]

#[cfg(feature = "parquet")]
pub mod arrow;
mod chunks;
mod column_names;
pub mod csv;
mod decimal;
mod declared;
mod encrypted;
mod error;
pub mod file;
mod fit;
mod hashed;
pub mod in_memory;
mod input;
pub mod intersection;
mod joined;
pub mod lookup;
mod missing;
mod reading;
mod regular;
mod rows;
mod source;
mod survey;
mod times;

pub use chunks::Chunks;
pub use decimal::{Decimal, NotDecimal};
pub use declared::{read_schema, write_schema};
pub use encrypted::{EncryptedTable, EncryptedWriter};
pub use error::TableError;
pub use input::{Input, inputs};
pub use joined::JoinedTable;
pub use missing::{MISSING_WORDS, Missing, MissingCells};
pub use reading::Reading;
pub use rows::{Cell, Rows};
pub use source::{Source, is_parquet, open, parquet_writer};
pub use survey::{Asked, MOST_LABELS, Range, Surveyed, survey};
pub use times::{DateFormat, Moment};
