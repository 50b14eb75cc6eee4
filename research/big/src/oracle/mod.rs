//! Storage of polynomials with plain big integers: the oracle of the tests.

mod coefficients;
mod gadget;
mod packing;
mod product;
mod ring;
mod scaler;

pub use gadget::BigGadget;
pub use ring::BigRing;
pub use scaler::BigScaler;

use sunzi_ring::{Gadget, GadgetOptions, Ring, RingError, Scaler, ScalerOptions, Tables};

impl Tables for BigRing {
    fn scaler(&self, ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        ring.storage_as::<Self>()?;
        BigScaler::new(ring, t, options).map(Scaler::new)
    }

    fn gadget(&self, ring: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError> {
        BigGadget::new(ring.storage_as()?, options).map(Gadget::new)
    }

    fn description(&self, ring: &Ring) -> Vec<u8> {
        ring.storage_as().map(Self::description).unwrap_or_default()
    }
}
