//! Tests of the portable table.

mod conversion;
mod narrow;
mod short;
