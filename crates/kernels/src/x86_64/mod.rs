//! Lanes and kernel tables of x86-64 processors.

pub(crate) mod amx;
pub(crate) mod automorphism;
pub(crate) mod avx2;
mod avx512;
pub(crate) mod avx512_dq;
pub(crate) mod avx512_ifma;
pub(crate) mod matrix_bytes;
pub(crate) mod matrix_doubles;
pub(crate) mod pace;
pub(crate) mod packing;
pub(crate) mod rejection;
