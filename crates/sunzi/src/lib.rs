//! Sunzi computes on encrypted numbers: full-RNS homomorphic encryption, exact and memory-safe.
//!
//! The holder of the secret key encrypts and decrypts; whoever has the evaluation keys computes on
//! ciphertexts and learns nothing. Start with [`prelude`]:
//!
//! ```
//! use sunzi::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Say what the computation needs; the rest is chosen, and checked against the security table.
//! let parameters = Parameters::builder().depth(1).plain_bits(17).build()?;
//! let context = Context::new(&parameters)?;
//! let mut rng = randomness::from_os()?;
//!
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
//! let keys = context.evaluation_keys(&secret, [], &mut rng)?;
//!
//! let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
//! let heights = context.encrypt(&encoder.encode(&[172, 181, 165])?, &public, &mut rng)?;
//! let weights = context.encrypt(&encoder.encode(&[68, 90, 59])?, &public, &mut rng)?;
//!
//! // From here on no secret is needed.
//! let evaluator = Evaluator::new(&context);
//! let e = evaluator.with(&keys);
//! let products = (e.bind(&heights) * e.bind(&weights)).get()?;
//!
//! // Back with the key holder.
//! let opened = encoder.decode(&context.decrypt(&products, &secret)?)?;
//! assert_eq!(opened[..3], [172 * 68, 181 * 90, 165 * 59]);
//! # Ok(())
//! # }
//! ```
//!
//! # Security
//!
//! IND-CPA at 128 bits by default. No chosen-ciphertext security, no circuit privacy, no
//! authenticity; sharing decrypted results needs care. `SECURITY.md` says what that means.
//!
//! # The crates behind this one
//!
//! [`math`] < [`kernels`] < [`ring`] < [`rlwe`], [`encoding`], `fermat` (of the feature `fermat`) < [`bfv`], [`bgv`], [`ckks`], [`parties`], [`oprf`] < [`circuits`] < [`program`] < [`table`]: each imports only those to its left.
#![forbid(unsafe_code)]

pub mod prelude;

pub use sunzi_bfv as bfv;
pub use sunzi_bgv as bgv;
pub use sunzi_circuits as circuits;
pub use sunzi_ckks as ckks;
pub use sunzi_encoding as encoding;
#[cfg(feature = "fermat")]
pub use sunzi_fermat as fermat;
pub use sunzi_kernels as kernels;
pub use sunzi_math as math;
pub use sunzi_oprf as oprf;
pub use sunzi_parties as parties;
pub use sunzi_program as program;
pub use sunzi_ring as ring;
pub use sunzi_rlwe as rlwe;
pub use sunzi_table as table;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
