//! The transform of Z_q\[X\]/Φ_m(X) at the primitive m-th roots of unity.

mod axis;
mod convolution;
mod plan;

pub(crate) use axis::{AxisTables, ScaledKernel, Stage, Tables};
pub(crate) use convolution::{ABSENT, Convolution, Kind, Sweep};
pub use plan::{CyclotomicPlan, CyclotomicScale};
