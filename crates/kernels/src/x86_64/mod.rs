//! Lanes and kernel tables of x86-64 processors.

pub(crate) mod automorphism;
pub(crate) mod avx2;
mod avx512;
pub(crate) mod avx512_dq;
pub(crate) mod avx512_ifma;
pub(crate) mod pace;
pub(crate) mod packing;
pub(crate) mod rejection;
