//! Bootstrapping of CKKS: a ciphertext at its last level becomes one with many levels and the same message.

pub mod dft;
pub mod eval_mod;
pub mod failure;
