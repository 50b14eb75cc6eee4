//! Private retrieval: an entry of a public database by its number or by a keyword, which the server does not learn.
//!
//! The client sends one BFV ciphertext. Its coefficients select a row and a column of a matrix whose elements are plaintexts with the
//! entries of the database. The server [expands](expand) it into a ciphertext for every row and column, adds up the rows of every
//! column, and then the columns, as MulPIR does `[ALPRSSY21]`. The client needs a key for each of the log2 steps of the expansion, once for
//! any number of queries ([`Layout::exponents`]).
//!
//! **The database is public to whoever may ask.** An answer has entries beside the one that was asked for, and its noise depends on all of
//! them. The server learns that somebody asked, and nothing of the number.
//!
//! ```
//! use sunzi_bfv::{Context, Evaluator, Parameters};
//! use sunzi_circuits::EvaluationKeys;
//! use sunzi_circuits::retrieval::{Database, Layout};
//! use sunzi_math::primes_below;
//! use sunzi_rlwe::{SecretKey, Security, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let parameters = Parameters::new(10, primes_below(1 << 47, 2048, 3)?, 65537, Security::InsecureForResearchOnly);
//! let context = Context::new(&parameters)?;
//! let (mut rng, layout) = (randomness::from_os()?, Layout::new(&context, 1000, 20)?);
//! let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
//! let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, layout.exponents(), &mut rng)?;
//!
//! let evaluator = Evaluator::new(&context);
//! let entry = |number: u64| format!("number {number}").into_bytes();
//! let database = Database::new(&evaluator, &layout, (0..1000).map(entry))?;
//! let query = layout.query(&context, 729, &secret, &mut rng)?;
//! let answer = database.answer(&evaluator, &query, &keys)?;
//! assert!(layout.read(&context, 729, &answer, &secret)?.starts_with(b"number 729\0"));
//! # Ok(())
//! # }
//! ```

mod database;
mod keywords;
mod layout;
mod parameters;
mod sealed;
mod streamed;

pub use database::Database;
pub use keywords::{KeywordDatabase, Keywords, Pair};
pub use layout::Layout;
pub use parameters::parameters;
pub use sealed::{SEAL, opened, sealed};
pub use streamed::Streamed;

use sunzi_bfv::{BfvError, Ciphertext, Context, Evaluator};
use sunzi_rlwe::EvaluationKeys;

use crate::CircuitError;

/// An error of a private retrieval.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetrievalError {
    /// A database, an entry or a number that cannot be.
    #[error("{what}: expected {expected}, got {got}")]
    Setting {
        /// Name of what cannot be.
        what: &'static str,
        /// What was expected.
        expected: String,
        /// What came.
        got: String,
    },
    /// An answer opened to bytes that are no entry of the database.
    #[error(
        "the answer opens to bytes that are not in the database: it is to another query, it was changed, or its noise is more than the server says"
    )]
    Unsealed,
    /// An error of BFV.
    #[error(transparent)]
    Bfv(#[from] BfvError),
    /// An error of a circuit, a missing key among them.
    #[error(transparent)]
    Circuit(#[from] CircuitError<BfvError>),
}

impl RetrievalError {
    fn setting(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self::Setting { what, expected: expected.to_string(), got: got.to_string() }
    }

    /// Fails for a ring whose index is no power of two: expansions split its coefficients by halves.
    fn check_ring(context: &Context) -> Result<(), Self> {
        let index = context.ring().index();
        if index.is_power_of_two() {
            Ok(())
        } else {
            Err(Self::setting("the index of the ring", "a power of two", index))
        }
    }
}

/// Returns ciphertexts of the first `count` coefficients of what a ciphertext holds, each times 2^k as a constant, for the least k with 2^k ≥ `count`.
/// Coefficients from 2^k on must be zero. Noise grows by 2^k and the noise of the key switches on the way.
///
/// # Errors
/// [`RetrievalError::Setting`] for a count of 0, or of more than the degree, and for a ring whose index is no power of two; [`CircuitError::MissingAutomorphism`];
/// [`RetrievalError::Bfv`].
pub fn expand(
    evaluator: &Evaluator,
    a: &Ciphertext,
    count: usize,
    keys: &EvaluationKeys,
) -> Result<Vec<Ciphertext>, RetrievalError> {
    let degree = evaluator.context().degree();
    if !(1..=degree).contains(&count) {
        return Err(RetrievalError::setting("the number of coefficients", format!("1 to {degree}"), count));
    }
    RetrievalError::check_ring(evaluator.context())?;
    Ok(crate::expansion::expand(evaluator, a, count, keys)?)
}
