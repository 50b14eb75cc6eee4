//! Laws that every table obeys, against slow oracles, at the ends of every range.

mod conversion;
mod cyclotomic;
mod elementwise;
mod rounding;
mod sums;
mod transform;
