//! Loops over slices of words: modular arithmetic, the negacyclic number-theoretic transform, base
//! conversion and inner products, on the best instruction set the processor has.
//!
//! Every algorithm is written once over a vector of eight words; a [`Modulus`] carries the table of
//! functions compiled for its size and the [active](active_isa) instruction set. All tables give
//! identical bits.
//!
//! Time depends on lengths and moduli, never on the words (except in the scalar [`Modulus::pow`] and
//! [`Modulus::inv`]).

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod automorphism;
mod buffer;
mod constants;
mod conversion;
pub mod counts;
mod cyclotomic;
mod error;
#[expect(missing_docs, reason = "public for the tests of this crate alone")]
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_imports, unused_macros, reason = "loops of vector instructions")
)]
mod generic;
#[cfg(feature = "gmp")]
pub mod gmp;
#[doc(hidden)]
pub mod internals;
mod isa;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "loops of vector instructions"))]
mod matrix;
#[cfg(all(feature = "memcheck", target_arch = "x86_64"))]
pub mod memcheck;
mod modulus;
mod negacyclic;
pub mod pace;
mod packing;
#[cfg(feature = "paths")]
mod paths;
mod permute;
mod plan;
#[expect(missing_docs, reason = "public for the tests of this crate alone")]
mod portable;
mod rejection;
mod rounding;
mod schedule;
mod select;
mod sums;
mod table;
#[cfg(feature = "tally")]
mod tally;
mod twiddles;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use automorphism::Automorphism;
pub use buffer::Buffer;
pub use constants::{MATRIX_BLOCK, residue_bytes};
pub use conversion::Conversion;
pub use cyclotomic::{CyclotomicPlan, CyclotomicScale};
pub use error::KernelError;
pub use isa::Isa;
pub use matrix::{IntegerMatrix, MAX_MATRIX_COLUMNS, MatrixKernel, STRIP};
pub use modulus::{MAX_TERMS, Modulus};
pub use packing::{pack, packed_len, unpack};
pub use permute::permute;
pub use plan::{InverseScale, Later, NttPlan, evaluation_exponent};
pub use rejection::keep_below;
pub use rounding::{NearestSum, RoundedQuotient, RoundedSum, WrappingSum};
pub use select::active_isa;
pub use sums::WideSums;
#[cfg(feature = "tally")]
pub use tally::Tally;
