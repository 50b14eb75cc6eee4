//! Rings over big integers, for the tests and the laboratory of Sunzi: an oracle and a baseline, each a [`Ring`](sunzi_ring::Ring).
//!
//! [`BigRing`] stores big integers and does everything by the definitions: it is the oracle. [`MultiPrecision`] gives a ring in
//! words the scaling and the digits of the papers' baseline, which go through one big integer for each coefficient.
//!
//! | looking for | file |
//! |---|---|
//! | the radix digits of \[BEHZ16, eq. (7)\] and the smaller keys of B.2, by the definitions | `oracle/gadget.rs` |
//! | Dec_MP and Mult_MP, 3.5 and B.3 of \[BEHZ16\] | `multi_precision/scaler.rs` |
//! | integers modulo a power of two, as HEAAN has them before \[AS19\] | `multi_precision/binary.rs` |
//! | D and P of \[BEHZ16, eq. (7)\], as fast as they can be | `multi_precision/gadget.rs` |
//!
//! No operation of the crate `sunzi-big` runs in constant time.
#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod internals;
mod multi_precision;
mod oracle;

pub use multi_precision::{
    Binary, BinaryProducts, BinaryValues, MultiPrecision, MultiPrecisionGadget, MultiPrecisionScaler,
};
pub use oracle::{BigGadget, BigRing, BigScaler};
