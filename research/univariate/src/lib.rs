//! General cyclotomic rings by polynomial products and reductions modulo Φ_m: the system of `[BEHMSZ17]`.
//!
//! Polynomials of these rings stand in the power basis 1, X, …, X^(n−1). A product is computed modulo X^N −
//! 1, N the power of two from 2n, and then reduced: one transform of length N for all of
//!
//! | reduction | transforms besides that of the product | file |
//! |---|---|---|
//! | Barrett, Alg. 1 | back by N, two by N, two by N/2 | `barrett.rs` |
//! | Barrett after a sparse multiple of Φ_m, Alg. 2 | back by N, two by A, two by N/2 | `sparse.rs`, then the same |
//! | Montgomery, Alg. 3 and 4 | three by N/2 | `montgomery.rs` |
//!
//! [`UnivariateRing`] is a storage of [`Ring`](sunzi_ring::Ring), to be measured against residues in words, which are evaluated at the m-th roots
//! of unity and reduced by nothing. [`Reducer`] is the reduction modulo one prime alone, [`PolynomialReducer`] that modulo
//! polynomials that need not be cyclotomic.
#![forbid(unsafe_code)]

mod barrett;
mod cyclic;
mod form;
mod gadget;
mod geometry;
#[doc(hidden)]
pub mod internals;
mod montgomery;
mod operations;
mod packing;
mod polynomial;
mod reducer;
mod ring;
mod scaler;
mod sparse;
mod switching;

pub use geometry::MontgomeryFactor;
pub use polynomial::PolynomialReducer;
pub use reducer::Reducer;
pub use ring::UnivariateRing;

/// Reduction of products of polynomials modulo Φ_m.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Barrett's reduction, by a quotient that two products give `[BEHMSZ17, Alg. 1]`.
    Barrett,
    /// Barrett's reduction after one by a sparse multiple of Φ_m `[BEHMSZ17, Alg. 2]`.
    #[default]
    SparseBarrett,
    /// Montgomery's reduction, exact division by M = X^(N/2) + 1 `[BEHMSZ17, Alg. 3]`: polynomials are stored times M, and rounding them costs noise.
    Montgomery,
    /// [`SparseBarrett`](Self::SparseBarrett) reduction, but [`Montgomery`](Self::Montgomery) for the
    /// products of key switching `[BEHMSZ17, 4.4]`.
    Mixed,
}

impl Reduction {
    /// Whether polynomials are stored times M with this reduction.
    pub(crate) fn keeps_factor(self) -> bool {
        self == Self::Montgomery
    }

    /// Whether this reduction divides any product exactly by M.
    pub(crate) fn divides_exactly(self) -> bool {
        matches!(self, Self::Montgomery | Self::Mixed)
    }
}
