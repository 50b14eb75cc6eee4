//! Circuits over encrypted numbers, for every scheme that has [`Arithmetic`].
//!
//! * [`product_tree`]: products of many ciphertexts at the least depth.
//! * [`polynomial`]: polynomials with clear coefficients at an encrypted point.
//! * [`inner_product`]: of lists of ciphertexts, and of the slots of two ciphertexts.
//! * [`matrix_vector`]: matrices, clear or encrypted, times encrypted vectors.
//! * [`matrix_product`]: plain matrices times encrypted matrices, on CKKS.
//! * [`matrix_batch`]: encrypted matrices times encrypted matrices, on CKKS.
//! * [`slots`]: slots of GF(p^d): rotations along dimensions, Frobenius, linear maps, tests for zero, sums.
//! * [`lookup`]: a private word in a public table.
//! * [`retrieval`]: an entry of a public database by its number, on BFV.
//! * [`nearest`]: the vectors of a public database that are nearest to an encrypted one, on BFV and CKKS.
//! * [`intersection`]: which of a client's items a set has, and their labels, on BGV.
//! * [`series`], [`approximation`], [`comparison`]: real polynomials, functions and signs on CKKS.
//! * [`linear_transform`], [`bootstrap`]: complex matrices, and levels given back, on CKKS.
//! * [`integers`]: of 8 to 64 bits in batches, with products, comparisons and quotients, by functional bootstrapping.
//! * [`unified`]: from BFV to BGV and back.
//! * [`statistics`]: columns and products of columns of a table, summed by group.
//! * [`regression`]: a logistic regression trained on an encrypted table.
//!
//! A server needs ciphertexts and evaluation keys only. Each circuit says which rotations it needs, and a missing key
//! is an error before any work is done. [`Clear`] runs the same circuits over clear vectors and counts.
//!
//! ```
//! use sunzi_bfv::{BatchEncoder, Context, Encoder, Evaluator, Parameters};
//! use sunzi_circuits::inner_product::{Laziness, inner_product};
//! use sunzi_circuits::{EvaluationKeys, Rotation};
//! use sunzi_rlwe::{PublicKey, SecretKey, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = Context::new(&Parameters::builder().depth(1).plain_bits(17).build()?)?;
//! let mut rng = randomness::from_os()?;
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
//! // All that the server needs; rotations, if there were any, as the circuit asks for them.
//! let no_rotations: [Rotation; 0] = [];
//! let keys = EvaluationKeys::generate(context.rlwe(), &secret, no_rotations, &mut rng)?;
//!
//! let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
//! let mut encrypt = |slots: &[u64]| context.encrypt(&encoder.encode(slots)?, &public, &mut rng);
//! let prices = [encrypt(&[3, 10])?, encrypt(&[5, 20])?];
//! let pieces = [encrypt(&[2, 1])?, encrypt(&[4, 1])?];
//!
//! let total = inner_product(&Evaluator::new(&context), &prices, &pieces, Laziness::ScaleOnce, &keys)?;
//! assert_eq!(encoder.decode(&context.decrypt(&total, &secret)?)?[..2], [26, 30]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod approximation;
mod arithmetic;
mod bfv;
mod bgv;
pub mod bootstrap;
pub mod clear;
pub mod comparison;
mod cuckoo;
mod error;
mod exact;
mod expansion;
pub mod inner_product;
pub mod integers;
pub mod intersection;
pub mod linear_transform;
pub mod lookup;
pub mod matrix_batch;
pub mod matrix_product;
pub mod matrix_vector;
pub mod nearest;
mod packing;
pub mod polynomial;
pub mod product_tree;
pub mod regression;
pub mod retrieval;
pub mod series;
pub mod slots;
pub mod statistics;
mod steps;
pub mod unified;

pub use arithmetic::{Arithmetic, Automorphisms, GiantStep, Outcome};
pub use clear::{Clear, ClearCiphertext, ClearError, ClearKeys};
pub use error::CircuitError;
pub use exact::ExactEvaluator;
pub use sunzi_rlwe::{EvaluationKeys, Rotation};
