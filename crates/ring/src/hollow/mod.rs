//! The storage for dry runs: polynomials without coefficients.

mod ring;
mod scaler;

pub use ring::HollowRing;
pub(crate) use ring::dry_tag_of;
pub use scaler::HollowScaler;
