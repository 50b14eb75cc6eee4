//! A server that computes on encrypted tables for several accounts.
//!
//! The server stores evaluation keys, programs and encrypted tables, queues jobs, and computes each job in a process of its own, so that a job that
//! crashes, hangs or takes too much memory ends alone. It never has a secret key: files that say they are one are refused.
//!
//! [`Server`] opens a folder and answers requests over HTTP; [`ROUTES`] lists its addresses. State is behind the trait [`Records`](records::Records)
//! (SQLite, or PostgreSQL), stored bytes are behind the trait [`Blobs`](blobs::Blobs) (files, or objects in S3). What computes is an executable that the configuration names; [`task`]
//! is what the server and that process tell one another. The command `sunzi serve` is this server with the command line's own computation.
//!
//! [`serve_lookups`] is another server over the same connections, without accounts and without anything on a disk: it passes queries of private lookups
//! to whoever implements [`Lookups`], as `sunzi lookup serve` does.
#![forbid(unsafe_code)]

mod beginning;
pub mod blobs;
mod config;
mod http;
mod listen;
mod lookups;
mod metrics;
mod name;
mod page;
mod pool;
pub mod records;
mod refusal;
mod server;
#[cfg(feature = "shared")]
pub mod shared;
pub mod store;
pub mod task;
mod token;
pub mod trusted;

pub use config::{Config, Limits, Worker};
pub use http::{ROUTES, Route};
pub use listen::is_loopback;
pub use lookups::{Evaluation, LookupLimits, Lookups, serve_lookups};
pub use metrics::Metrics;
pub use name::{BlobId, JobId, LONGEST_NAME, Name};
pub use page::Page;
pub use refusal::{Refusal, Result, ServiceError};
pub use server::{Server, Stop, Tls};
pub use token::{StoredToken, Token, TokenId};

/// Description of the interface over HTTP, in OpenAPI 3.1.
pub const OPENAPI: &str = http::OPENAPI;
