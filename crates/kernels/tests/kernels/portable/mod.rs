//! Tests of the portable table.

mod conversion;
mod loose;
mod short;
