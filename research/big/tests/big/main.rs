//! All tests of `sunzi-big`: the products of the oracle, and the multi-precision baseline beside the oracle.

#[cfg(test)]
mod big_product;
#[cfg(test)]
mod binary;
#[cfg(test)]
#[expect(dead_code, reason = "shared with the tests of other rings")]
#[path = "../../../../crates/ring/tests/ring/common.rs"]
mod common;
#[cfg(test)]
mod multi_precision;
#[cfg(test)]
mod seam;
