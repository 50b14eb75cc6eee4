//! Contexts, keys and operands that timings and reproductions share.

pub(crate) mod keys;
pub(crate) mod party;
pub(crate) mod plaintexts;
pub(crate) mod precision;
pub(crate) mod strategies;
