//! Plaintexts of the exact schemes, and encoders that place numbers in them.
//!
//! A [`Plaintext`] is a polynomial modulo t. An [`Encoder`] turns numbers into one: a number per slot
//! ([`BatchEncoder`]; elements of fields and Galois rings: [`GaloisEncoder`]), a number per coefficient ([`CoefficientEncoder`]), or integers wider than one t spread over
//! several ([`CrtEncoder`]). BFV and BGV share all of it.
#![forbid(unsafe_code)]

mod encoder;
mod error;
mod index_search;
mod plain_modulus;
mod plaintext;
mod ring_choice;
mod slots;

pub use encoder::{
    BatchEncoder, CoefficientEncoder, CrtEncoder, DimensionRotation, Encoder, GaloisEncoder, WrappedRotation,
    check_pairwise_coprime, is_batchable,
};
pub use error::EncodingError;
pub use index_search::{IndexChoice, indices_by_cost};
pub use plain_modulus::{PlainRefusal, PlainRequest};
pub use plaintext::{
    LOG2_DEGREES, MAX_DEGREE, PLAIN_MODULUS_LIMIT, Plaintext, check_degree, check_plain_modulus,
    check_plain_modulus_beside,
};
pub use ring_choice::RingChoice;
pub use slots::{
    check_segment, doubling_steps, row_rotation_exponent, row_swap_exponent, slot_sum_exponents,
};
