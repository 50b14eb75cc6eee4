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
