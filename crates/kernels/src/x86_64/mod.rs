//! Lanes of x86-64 processors.

pub(crate) mod avx2;
pub(crate) mod avx512_ifma;
pub(crate) mod pace;
