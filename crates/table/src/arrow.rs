//! Tables as Arrow columns in Parquet: clear ones are read, encrypted ones written and read.
//!
//! One ciphertext holds as many rows as a chunk has, so an encrypted column cannot be cut row by row. A row of an encrypted Parquet file is
//! therefore **one chunk**: each encrypted column is a binary cell (`sunzi.ciphertext`, an Arrow extension type: objects of the wire format, one for
//! each plaintext modulus), each clear column a list of the cells of these rows, and [`ROWS`] says how many there are. Any Arrow engine carries such a file.
//!
//! To filter by a clear category, partition by it before encrypting ([`crate::Chunks::partitioned`]): the rows of a chunk then have one label, which stands in a
//! column of its own, and an engine that keeps the rows with that label keeps whole chunks. Sums over them are sums over the rows that it kept.

mod cells;
mod clear;
mod guard;
mod metadata;
mod pages;
mod reader;
mod writer;

pub use clear::ParquetRows;
pub use metadata::{CIPHERTEXT, ROWS, TABLE};
pub use reader::EncryptedParquet;
pub use writer::ParquetWriter;

use std::fmt::Display;

use crate::TableError;

/// Converts an error of Parquet, of Arrow or of a check to an error of the file `name`.
fn refused<E: Display>(name: &str) -> impl Fn(E) -> TableError + use<'_, E> {
    move |error| TableError::Parquet { name: name.to_owned(), problem: error.to_string() }
}
