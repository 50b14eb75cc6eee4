//! The transform of Z_q\[X\]/Φ_m(X) at the primitive m-th roots of unity.

mod axis;
mod plan;

pub(crate) use axis::{ABSENT, AxisTables, Convolution, Kind, ScaledKernel, Stage, Sweep, Tables};
pub use plan::{CyclotomicPlan, CyclotomicScale};
