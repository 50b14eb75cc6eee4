//! Bootstrapping of CKKS: a ciphertext at its last level becomes one with many levels and the same message `[AS19, 3]`.
//!
//! A [`Set`] is plain data and makes the parameters of a context. A [`Blueprint`] lists what bootstrapping needs there, keys and bytes,
//! before anything is made; [`BootstrapKeys`] are the keys, and a [`Bootstrapper`] holds the encoded matrices and does the work:
//!
//! | step | what it does | where |
//! |---|---|---|
//! | 1, ModRaise | m modulo q_0 becomes m + q_0·I modulo Q_L, under a sparse secret `[BTH22]` | `bootstrapper.rs`, `first_matrix.rs`, [`failure`] |
//! | 2, CoeffsToSlots | its coefficients become slots | [`dft`] |
//! | 3 and 4, EvalExp and ImgExt | I is removed | [`eval_mod`] |
//! | 5, SlotsToCoeffs | slots become coefficients again | [`dft`] |
//!
//! Tables of discrete messages are evaluated between the exponential and the end: [`functional`].
//!
//! Steps may have special moduli of their own: [`SpecialModuli`]. The noise bounds of results, and the model under which they hold, are described in `noise.rs`.

mod any_ring;
mod blueprint;
mod bootstrapper;
mod bounded;
pub mod dft;
mod error;
pub mod eval_mod;
pub mod failure;
mod first_matrix;
pub mod functional;
mod keys;
mod named;
pub(crate) mod noise;
mod parameters;
mod real;
mod real_ring;
mod set;
mod statement;
mod steps;
mod trace;
mod wire;

pub use any_ring::{AnyBlueprint, AnyBootstrapKeys, AnyBootstrapper, RealRingBootstrapping};
pub use blueprint::{Blueprint, KeyKind, KeyNeed};
pub use bootstrapper::Bootstrapper;
pub use bounded::Bounded;
pub use error::BootstrapError;
pub use keys::{BootstrapKeys, SparseKeys};
pub use named::{SetParameters, SetUse};
pub use parameters::{BootstrapParameters, ForMessages};
pub use real_ring::{RealBlueprint, RealBootstrapKeys, RealBootstrapper};
pub use set::{Back, Chain, Encapsulation, Levels, Order, Set};
pub use statement::{Bits, Statement, Summary};
pub use steps::SpecialModuli;

#[cfg(test)]
mod tests;
