//! Rings modulo q = 2^g − 1 for Sunzi `[TSKJ20]`.
//!
//! The modulus q = (2^(g/2) + 1)(2^(g/4) + 1)⋯(2^64 + 1)(2^64 − 1) has few factors, in which (q/q_i)^-1 is a
//! power of two: the products and reductions of base conversions become shifts, and so do the digits of
//! relinearisation. Residues have several words for that. [`FermatRing`] is the storage of a
//! [`Ring`](sunzi_ring::Ring), so that BFV runs on it as on any ring.
//!
//! | looking for | file |
//! |---|---|
//! | Lemma 1, the factors; which plaintext moduli are coprime to them | `modulus.rs` |
//! | how many bits a depth takes | `depth.rs` |
//! | residues of several words, sums, folds, rotations | `component.rs` |
//! | Lemmas 2 and 3, 4.1 to 4.3, the four versions | `inverse.rs` |
//! | the general arithmetic they are measured against | `general.rs` |
//! | D_RNS, and radix digits | `gadget.rs` |
//! | FastBconv from several words | `digits.rs` |
//! | decryption by γ | `decryption.rs` |
//! | the operations of a storage | `ring.rs`, `operations.rs` |
//! | m̃, the fast floor, FastBconvSK | `conversion.rs`, `auxiliary.rs` |
//! | products through word-size primes | `sums.rs`, `product.rs`, `combination.rs` |
//! | products by Kronecker substitution | `kronecker.rs` |
//! | polynomials in files | `packing.rs` |
//! | contents of polynomials and their lifts; threads | `residues.rs`; `blocks.rs` |
#![forbid(unsafe_code)]

mod auxiliary;
mod blocks;
mod combination;
mod component;
mod conversion;
mod decryption;
mod depth;
mod digits;
mod gadget;
mod general;
mod inverse;
mod kronecker;
mod limbs;
mod modulus;
mod operations;
mod packing;
mod plans;
mod product;
mod residues;
mod ring;
mod scaler;
mod sums;
mod words;

pub use component::Component;
pub use gadget::FermatGadget;
pub use inverse::{InverseCofactor, Shortcuts, Workspace};
pub use modulus::FermatModulus;
pub use ring::{FermatRing, Products};
pub use scaler::FermatScaler;
