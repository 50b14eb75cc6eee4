//! All tests of the kernels in one executable.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop")]

mod automorphism;
mod buffer;
mod constants;
mod counts;
mod generic;
#[cfg(feature = "gmp")]
mod gmp;
mod isa;
mod laws;
mod matrix;
#[cfg(all(feature = "memcheck", target_arch = "x86_64"))]
mod memcheck;
mod modulus;
mod oracle;
mod packing;
mod permute;
mod plan;
mod portable;
mod rejection;
mod schedule;
#[cfg(feature = "tally")]
mod tally;
