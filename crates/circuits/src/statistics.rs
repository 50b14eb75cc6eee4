//! Counts, sums and sums of products of the columns of an encrypted table, by group.
//!
//! The owner of the table packs it into slots as a [`Layout`] says and encrypts it; a [`Server`]
//! turns ciphertexts into encrypted sums; the key holder decrypts and divides. The server learns
//! the number of columns, the number of groups up to a power of two, and an upper bound on the
//! rows of the largest group; the groups' sizes stay encrypted, since counts are sums over a
//! column of ones.

mod cost;
mod error;
mod layout;
mod server;

pub use cost::Tally;
pub use error::StatisticsError;
pub use layout::{Input, Layout, Product, Shape};
pub use server::{EncryptedChunk, EncryptedSum, EncryptedSums, Server};
