//! Polynomial rings R_q = Z_q\[X\]/Φ_m(X) for Sunzi.
//!
//! A [`Ring`] is a value: a storage of residues, which is a [`Backend`], and [`Tables`] for what goes beyond sums and products.
//! [`WordRing`] stores residues in words, [`HollowRing`] none at all, for dry runs. A [`Scaler`] does the scale-invariant part of BFV, a
//! [`Gadget`] cuts polynomials into digits for key switching.
//!
//! | looking for | file |
//! |---|---|
//! | FastBconv, eq. (2) of BEHZ | `rns/fast_base_conversion.rs` |
//! | small Montgomery reduction, Alg. 2, with m̃ = 2^8 or 2^16 | `rns/small_montgomery_reduction.rs` |
//! | the extension without m̃ | `rns/centered_conversion.rs` |
//! | fastRNSFloor, 4.3 | `rns/rns_floor.rs` |
//! | FastBconvSK, Lemma 6 | `rns/shenoy_kumaresan.rs` |
//! | the size of B_sk, Prop. 2 | `rns/auxiliary_basis.rs` |
//! | decryption by γ, Alg. 1 | `rns/gamma_decryption.rs` |
//! | decryption by a power of two, Lemma 3 | `rns/power_of_two_decryption.rs` |
//! | decryption by quotients t/q_i, 3.5 | `rns/float_decryption.rs` |
//! | decryption by quotients t/q_i in digits, 3.3 of KPZ | `rns/digit_decryption.rs` |
//! | modulus switching | `words/division.rs` |
//! | ModRaise, 3.2 of AS19 | `words/raise.rs` |
//! | the steps of Alg. 3 before relinearisation | `rns/behz.rs` |
//! | exact extension, eq. (6) of KPZ | `rns/exact_extension.rs` |
//! | modulus switching between any two bases, app. E of KPZ | `rns/rounded_division.rs` |
//! | Alg. 1 of KPZ | `rns/hps.rs` |
//! | Alg. 2 and 3 of KPZ | `rns/over_q.rs` |
//! | ξ_q and P_{RNS,q}, 4.5 | `key_switching/inner_product.rs` |
//! | the second radix and the smaller keys, B.1 and B.2 | `key_switching/digits.rs` |
//! | merged digits, ia.cr/2023/1328 | `key_switching/merging.rs` |
#![forbid(unsafe_code)]

mod backend;
mod basis;
mod error;
mod expansion;
mod hollow;
#[doc(hidden)]
pub mod internals;
mod key_switching;
mod ladder;
mod new;
mod once;
mod opaque;
mod options;
mod packed;
mod packing;
mod parallel;
mod poly;
mod poly_matrix;
mod real_subring;
mod ring;
mod rns;
mod root_order;
pub mod sampling;
mod scaling;
mod scratch;
#[doc(hidden)]
pub mod storage;
mod transform;
mod words;

pub use backend::{Backend, Factors, check_subring};
pub use basis::Basis;
pub use error::{RingError, Shape};
pub use expansion::Expansion;
pub use hollow::{HollowRing, HollowScaler};
pub use key_switching::{
    Addends, DigitBound, Digits, Gadget, GadgetBackend, HollowGadget, KeyPoly, Merging, Multiplier, Pairs,
    RnsDecomposition, RnsDigits, RnsGadget, RnsMultiplier, Rotation, SwitchInput, Turn, switch_cost,
};
pub use ladder::check_rungs;
pub use opaque::{Content, Opaque};
pub use options::{
    Auxiliary, Decryption, GadgetOptions, MTilde, ModulusSwitching, Multiplication, Precision, ScalerOptions,
};
pub use packed::PackedPoly;
pub use packing::{
    Append, Block, PackingError, Storage, describe, describe_index, describe_real, describe_sets,
};
pub use parallel::{Parallelism, on_pool};
pub use poly::{Coefficient, Domain, Evaluation, Poly, Representation, Residues};
pub use poly_matrix::{MatrixContent, PolyMatrix};
pub use real_subring::RealSubring;
pub use ring::{Ring, Tables};
pub use rns::{RnsScaler, ScalingBounds, SwitchingBounds};
pub use scaling::{Apart, Scaler, ScalerBackend, Side, secret_coefficients};
pub use sunzi_kernels::{IntegerMatrix, KernelError, MatrixKernel};
pub use words::WordRing;
