//! Multi-precision baseline: BFV with multi-precision integers, with which [BEHZ16] compares.
//!
//! Polynomials are residues, added, multiplied and transformed as in any [`Ring`](sunzi_ring::Ring) in words. The three operations of
//! [`Scaler`](sunzi_ring::Scaler) and the digits of [`Gadget`](sunzi_ring::Gadget) go through one big integer for each
//! coefficient instead: Dec_MP and Mult_MP of [BEHZ16, 3.5, 4.1 and B.3], as exact as the oracle
//! [`BigRing`](crate::BigRing) and as fast as such arithmetic can be.
//!
//! No operation of the multi-precision module runs in constant time: it is a baseline to measure, not a way
//! to protect a key.

mod binary;
mod conversion;
mod division;
mod gadget;
#[cfg(feature = "gmp")]
mod gmp;
mod groups;
mod lift;
mod remainders;
pub(crate) mod rounding;
mod scaler;
mod tables;
pub(crate) mod words;

pub use binary::{Binary, BinaryProducts, BinaryValues};
pub use gadget::MultiPrecisionGadget;
pub use scaler::MultiPrecisionScaler;
pub use tables::MultiPrecision;

use sunzi_ring::storage::description_of;
use sunzi_ring::{Gadget, GadgetOptions, Ring, RingError, Scaler, ScalerOptions, Storage, Tables};

impl Tables for MultiPrecision {
    fn scaler(&self, ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        MultiPrecisionScaler::new(*self, ring, t, options).map(Scaler::new)
    }

    fn gadget(&self, ring: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError> {
        MultiPrecisionGadget::new(ring, options).map(Gadget::new)
    }

    fn description(&self, ring: &Ring) -> Vec<u8> {
        description_of(ring, Storage::MultiPrecision)
    }
}
