//! The implementation of the seam for dry runs: polynomials without coefficients.

mod gadget;
mod ring;
mod scaler;

pub use gadget::HollowGadget;
pub use ring::HollowRing;
pub use scaler::HollowScaler;
