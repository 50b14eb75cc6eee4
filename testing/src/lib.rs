//! Random circuits and oracles shared by Sunzi's tests.
//!
//! A [`Circuit`] is drawn once and then run three times: on clear slots, on word-size RNS
//! ciphertexts and on multi-precision ones. All three must agree, and the noise of every
//! ciphertext on the way must stay below both of its bounds.
#![forbid(unsafe_code)]

pub mod attack;
#[cfg(doctest)]
mod book;
pub mod circuit;
pub mod clear_ring;
pub mod figures;
pub mod joint;
pub mod levels;
pub mod noise_meter;
pub mod party;
pub mod polynomials;
pub mod process;
pub mod scheme;
pub mod statistics;
pub mod storage;
pub mod timing;
pub mod truth;
pub mod wire;

pub use circuit::{Circuit, Operation};
pub use clear_ring::ClearRing;
pub use figures::Figure;
pub use joint::{JointKeys, joint_party};
pub use levels::LevelReport;
pub use noise_meter::{NoiseMeter, Tracked};
pub use party::{Party, Report};
pub use polynomials::{PolynomialReport, Polynomials};
pub use scheme::{Encrypted, Scheme};
