//! The transform of Z_q\[X\]/Φ_m(X) at the primitive m-th roots of unity.

mod axis;
mod convolution;
mod plan;
pub(crate) mod rows;
mod run;
pub(crate) mod tables;

pub use plan::{CyclotomicPlan, CyclotomicScale};
