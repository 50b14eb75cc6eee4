//! Number theory for Sunzi: primes, modular arithmetic on words, roots of unity, the Chinese
//! remainder theorem over big integers and the group (Z/2n)* behind rotations.
//!
//! This crate runs while parameters and tables are built, never in a hot loop, and none of it
//! is constant-time: its arguments are public.
//!
//! ```
//! use sunzi_math::{Crt, DEFAULT_PRIME_BOUND, primes_below};
//!
//! let primes = primes_below(DEFAULT_PRIME_BOUND, 2 * 8192, 3)?;
//! let crt = Crt::new(&primes)?;
//! let residues = crt.residues(&(-5).into());
//! assert_eq!(crt.reconstruct_centered(&residues)?, (-5).into());
//! # Ok::<(), sunzi_math::MathError>(())
//! ```
#![forbid(unsafe_code)]

mod coordinates;
mod crt;
mod cyclotomic;
mod error;
mod galois;
mod galois_ring;
mod index;
mod irreducible;
mod logarithm;
mod modular;
mod powerful;
mod primality;
mod prime_power;
mod primes;
mod quotient_group;
mod roots;

pub use crt::Crt;
pub use cyclotomic::{SparseMultiple, cyclotomic_polynomial, cyclotomic_quotient};
pub use error::MathError;
pub use galois::{GENERATOR, conjugation_exponent, rotation_exponent, slot_exponents, slot_of_exponent};
pub use galois_ring::{GaloisRing, MAX_SLOT_DEGREE, Subring};
pub use index::{Axis, RingIndex, ToRingIndex};
pub use logarithm::{log2, log2_product};
pub use modular::{FixedFactor, add_mod, gcd, mod_inv, mod_pow, mul_mod};
pub use powerful::{Additive, CoefficientBasis, Integers, Residues};
pub use primality::is_prime;
pub use primes::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND, primes_below, primes_from, primes_with_bits};
pub use quotient_group::{Dimension, QuotientGroup, euler_phi, multiplicative_order};
pub use roots::{bit_reverse, prime_factors, primitive_root_of_unity};
