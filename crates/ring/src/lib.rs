//! Polynomial rings R_q = Z_q\[X\]/Φ_m(X) for Sunzi.
//!
//! [`PolyRing`] is what the layers above ask of a ring. [`BigRing`] implements it over big integers.
#![forbid(unsafe_code)]

mod big;
mod error;
mod poly_ring;
pub mod sampling;

pub use big::{BigPoly, BigRing, BigScaler};
pub use error::{RingError, Shape};
pub use poly_ring::{Coefficient, Domain, Evaluation, PolyRing, Scaler};
