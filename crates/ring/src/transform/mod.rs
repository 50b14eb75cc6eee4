//! Changes between coefficients and values at the roots of unity.
//!
//! `plan.rs` picks the transform of a shape of ring, `limbs.rs` runs it on every limb.

mod limbs;
mod plan;

pub(crate) use limbs::Transform;
pub use plan::{Plan, Scale};
