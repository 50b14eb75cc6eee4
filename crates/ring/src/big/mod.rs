//! The simple implementation of the seam: the oracle of the tests.

mod gadget;
mod packing;
mod poly;
mod product;
mod ring;
mod scaler;

pub use gadget::BigGadget;
pub use poly::BigPoly;
pub use ring::BigRing;
pub use scaler::BigScaler;
