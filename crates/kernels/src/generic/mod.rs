//! Generic kernels: every algorithm once, over lanes that an instruction set supplies.
//!
//! [`lanes`] is what a processor must offer, [`word52`] and [`word64`] are the two ways of keeping
//! words small without reducing them, and the other files are the loops.

pub(crate) mod arithmetic;
pub(crate) mod compile;
pub(crate) mod conversion;
#[cfg(target_arch = "x86_64")]
pub(crate) mod conversion52;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod conversion_double;
pub(crate) mod cyclotomic;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod double;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod doubles;
pub(crate) mod elementwise;
pub(crate) mod inner_product;
pub(crate) mod lanes;
pub(crate) mod ntt_forward;
pub(crate) mod ntt_inverse;
mod radices;
pub(crate) mod rounding;
mod source;
pub(crate) mod sweeps;
pub(crate) mod word52;
pub(crate) mod word64;
