//! Encrypted integers of 8 to 64 bits, signed or not, in batches that fill the slots of CKKS.
//!
//! An integer is Σ d_k·16^k, and the k-th ciphertext of [`Integers`] holds the digits d_k of all integers of a batch: the number d/8, which is
//! the message d modulo 16 of [functional bootstrapping](crate::bootstrap::functional). Sums and differences add digits and bootstrap nothing. Digits may grow
//! beyond 15 until they are needed from 0 to 15; then each column takes one look-up of 4 bits:
//!
//! v_k = column k with the carries of all columns before, d_k = v_k mod 16, and the carry (v_k − d_k)/16 is linear in both.
//!
//! So a column of any size takes one table of 16 values, since what wraps modulo 16 wraps by itself when the modulus is raised. A product is a convolution of
//! digits by products of ciphertexts, and carries; a comparison is a difference, and the last of its carries.
//!
//! | what | look-ups for n digits | where |
//! |---|---|---|
//! | sums, differences, shifts to the left, products with clear integers | 0, or n where digits are needed | `integers/sum.rs` |
//! | sums and products with a clear integer for each | 0, or n where digits have grown | `integers/plain.rs` |
//! | carries | n | `integers/carry.rs` |
//! | products | n, and n more for an operand that is a sum | `integers/product.rs` |
//! | comparisons | n + 1, fewer where bounds are narrow | `integers/compare.rs` |
//! | equality | n + 1, fewer where bounds are narrow | `integers/equality.rs` |
//! | selection by a condition | 0 | `integers/select.rs` |
//! | minimum, maximum | n + 1 | `integers/select.rs` |
//! | shifts to the right | up to 2n | `integers/divide.rs` |
//! | k-th of several batches, sorting them | 2n + 1 a comparison | `integers/several.rs` |
//! | sums, order and places across rows | | `integers/rows.rs` |
//! | any function of up to 16 bits | 1 for 4 bits, 2 for 8, 3 for 12 and 4 for 16, above 8 bits one more a digit of results | `integers/table.rs` |
//! | quotients by clear integers | 2n + 2, and n more for the remainder | `integers/divide.rs` |
//!
//! ```
//! use sunzi_circuits::bootstrap::functional::FunctionalBootstrapper;
//! use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys, Set};
//! use sunzi_circuits::integers::{IntegerEvaluator, IntegerKind};
//! use sunzi_ckks::Context;
//! use sunzi_rlwe::{SecretKey, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Set::for_integers() has 128 bits of security; this one is small, and insecure.
//! let set = Set::insecure_for_integers(9);
//! let context = Context::new(&set.parameters()?)?;
//! let mut rng = randomness::from_os()?;
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let blueprint = Blueprint::new(&context, &set, context.max_slots())?;
//! let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
//! let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {})?;
//!
//! let e = IntegerEvaluator::new(&bootstrapper, &keys)?;
//! let kind = IntegerKind::U8;
//! let mut encrypt = |values: &[i128]| {
//!     e.encrypt(kind, kind.range(), values, |plaintext| context.encrypt_secret(plaintext, &secret, &mut rng))
//! };
//! let (a, b) = (encrypt(&[3, 200, 7])?, encrypt(&[5, 100, 7])?);
//! // Results wrap modulo 2^8.
//! assert_eq!(e.decrypt(&e.multiply(&a, &e.add(&a, &b)?)?, &secret)?, [24, 200 * 300 % 256, 98]);
//! assert_eq!(e.decrypt_conditions(&e.less(&a, &b)?, &secret)?, [true, false, false]);
//! # Ok(())
//! # }
//! ```
//!
//! Public parts of an integer are its kind, bounds on it, and how far its digits may have grown. Decryption and look-ups refuse noise that may lead a digit
//! to the next one.

mod carry;
mod combination;
mod compare;
mod divide;
mod encoder;
mod encoding;
mod equality;
mod error;
mod evaluator;
mod integer;
mod kind;
mod parameters;
mod plain;
mod product;
mod rows;
mod select;
mod several;
mod sum;
mod table;
mod work;

pub use encoder::IntegerEncoder;
pub use error::IntegerError;
pub use evaluator::{IntegerEvaluator, Overflow};
pub use integer::{Conditions, Integers};
pub use kind::IntegerKind;
pub use parameters::{ForIntegers, IntegerParameters};
pub use plain::ClearIntegers;
pub use rows::{RowEvaluator, SortMethod};
pub use work::IntegerWork;

#[cfg(test)]
mod tests;
