//! All tests of tables in one executable: tables to files and back.
#![forbid(unsafe_code)]

#[cfg(test)]
mod file;
#[cfg(test)]
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod parts;
