//! General cyclotomic rings by polynomial products and reductions modulo Φ_m: the system of `[BEHMSZ17]`.
//!
//! Polynomials stand in the power basis 1, X, …, X^(n−1). A product is computed modulo X^N − 1, N the power of two from 2n, and then
//! reduced: one transform of length N for all of
//!
//! | reduction | transforms besides that of the product | file |
//! |---|---|---|
//! | Barrett, Alg. 1 | back by N, two by N, two by N/2 | `barrett.rs` |
//! | Barrett after a sparse multiple of Φ_m, Alg. 2 | back by N, two by A, two by N/2 | `sparse.rs`, then the same |
//! | Montgomery, Alg. 3 and 4 | three by N/2 | `montgomery.rs` |
//!
//! It is here to be measured against [`Ring`](crate::Ring), which evaluates at the m-th roots of unity and reduces nothing.

mod barrett;
pub(crate) mod cyclic;
mod gadget;
mod geometry;
mod montgomery;
mod operations;
mod packing;
mod poly;
mod reducer;
mod ring;
mod scaler;
mod sparse;
mod switching;

pub use gadget::{UnivariateDigits, UnivariateGadget};
pub use geometry::MontgomeryFactor;
pub use poly::UnivariatePoly;
pub use reducer::Reducer;
pub use ring::UnivariateRing;
pub use scaler::UnivariateScaler;

/// How products are reduced modulo Φ_m.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// By a quotient that two products give `[BEHMSZ17, Alg. 1]`.
    Barrett,
    /// The same after a reduction by a sparse multiple of Φ_m `[BEHMSZ17, Alg. 2]`.
    #[default]
    SparseBarrett,
    /// Exact division by M = X^(N/2) + 1 `[BEHMSZ17, Alg. 3]`: polynomials are kept times M, and rounding them costs noise.
    Montgomery,
    /// [`SparseBarrett`](Self::SparseBarrett), but [`Montgomery`](Self::Montgomery) for the products of key switching
    /// `[BEHMSZ17, 4.4]`.
    Mixed,
}

impl Reduction {
    /// Whether polynomials are kept times M.
    pub(crate) fn keeps_factor(self) -> bool {
        self == Self::Montgomery
    }

    /// Whether any product is reduced by exact division.
    pub(crate) fn divides_exactly(self) -> bool {
        matches!(self, Self::Montgomery | Self::Mixed)
    }
}
