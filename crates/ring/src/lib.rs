//! Polynomial rings R_q = Z_q\[X\]/Φ_m(X) for Sunzi.
//!
//! [`PolyRing`] is what the layers above ask of a ring, [`Scaler`] the scale-invariant part of it. [`Ring`]
//! implements them over word-size residues, [`MultiPrecisionRing`] over the same residues but through big integers, as
//! the baseline of the papers, [`BigRing`] over big integers as an oracle, [`HollowRing`] over nothing, for dry runs.
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
//! | the same by digits, 3.3 of KPZ | `rns/digit_decryption.rs` |
//! | modulus switching | `division.rs` |
//! | ModRaise, 3.2 of AS19 | `raise.rs` |
//! | the steps of Alg. 3 before relinearisation | `rns/behz.rs` |
//! | exact extension, eq. (6) of KPZ | `rns/exact_extension.rs` |
//! | modulus switching between any two bases, app. E of KPZ | `rns/rounded_division.rs` |
//! | Alg. 1 of KPZ | `rns/hps.rs` |
//! | Alg. 2 and 3 of KPZ | `rns/over_q.rs`, `rns/switched_lift.rs` |
//! | ξ_q and P_{RNS,q}, 4.5 | `gadget/product.rs` |
//! | the second radix and the smaller keys, B.1 and B.2 | `gadget/digits.rs` |
//! | the reductions modulo Φ_m of BEHMSZ17 | `reduction/` |
//! | Dec_MP and Mult_MP, 3.5 and B.3; D and P of eq. (7) | `multi_precision/` |
#![forbid(unsafe_code)]

mod automorphism;
mod basis;
mod big;
mod combination;
mod division;
mod error;
mod expansion;
mod factor;
mod gadget;
mod hollow;
mod horner;
mod integers;
#[doc(hidden)]
pub mod internals;
mod key_switching;
mod ladder;
mod masking;
mod monomial;
mod multi_precision;
mod multiplier;
mod once;
mod options;
mod packing;
mod parallel;
mod plaintext;
mod poly;
mod poly_ring;
mod raise;
mod reduction;
mod ring;
mod rns;
mod root_order;
pub mod sampling;
mod scaling;
mod scratch;
mod tensor;
mod transform;

pub use basis::Basis;
pub use big::{BigGadget, BigPoly, BigRing, BigScaler};
pub use error::{RingError, Shape};
pub use expansion::Expansion;
pub use gadget::{KeyPoly, RnsDecomposition, RnsDigits, RnsGadget};
pub use hollow::{HollowGadget, HollowPoly, HollowRing, HollowScaler};
pub use key_switching::{DigitBound, Gadget, KeyPart, Multiplier};
pub use ladder::check_rungs;
pub use multi_precision::{MultiPrecisionGadget, MultiPrecisionRing, MultiPrecisionScaler};
pub use multiplier::{RnsMultiplier, Turn};
pub use options::{
    Auxiliary, Decryption, GadgetOptions, MTilde, ModulusSwitching, Multiplication, Precision, ScalerOptions,
};
pub use packing::{Append, Block, Packing, PackingError, Storage, describe, describe_sets};
pub use parallel::{Parallelism, on_pool};
pub use poly::Poly;
pub use poly_ring::{Coefficient, Domain, Evaluation, Factors, PolyRing};
pub use reduction::{
    MontgomeryFactor, Reducer, Reduction, UnivariateDigits, UnivariateGadget, UnivariatePoly, UnivariateRing,
    UnivariateScaler,
};
pub use ring::Ring;
pub use rns::{RnsScaler, ScalingBounds, SwitchingBounds};
pub use scaling::{Apart, Scaler, Side, secret_coefficients};
