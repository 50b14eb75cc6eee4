//! Labelled private set intersection: which of a client's items a server's set has, and their labels, on BGV.
//!
//! Both sides know an item by its [`Token`], 64 bytes that only the server's help makes: the output of an oblivious pseudorandom function.
//! So whoever has not asked for the token of an item sees nothing but random numbers in its place, in answers and in their noise. The
//! server learns how many queries there were, and nothing of the items.
//!
//! The client puts each of its items into one of three bins, a slot each, by cuckoo hashing; the server puts each of its items into all
//! three `[CLR17]`. For every bin it has polynomials over the integers modulo t that take the parts of sealed labels at the numbers of its items
//! `[CHLR18]`. It evaluates them at the encrypted numbers of the client, slot by slot, from powers that the client sends and the powers that are sums of up to four
//! of their exponents `[CMGDILR21]`. A label opens under the token of its item alone, which tells the client that the item is there.
//!
//! ```
//! use sunzi_bgv::{Context, Evaluator};
//! use sunzi_circuits::intersection::{LabelledSet, Token, parameters};
//! use sunzi_rlwe::{RelinearizationKey, SecretKey, randomness};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (context, mut rng) = (Context::new(&parameters()?)?, randomness::from_os()?);
//! let evaluator = Evaluator::new(&context);
//! // In earnest tokens come out of an oblivious pseudorandom function.
//! let token = |number: u8| Token::new([number; 64]);
//! let items = (0..100).map(|number| (token(number), vec![number, 2 * number]));
//! let set = LabelledSet::new(&evaluator, &items.collect::<Vec<_>>(), &mut rng)?;
//!
//! // The client has the layout and the tokens of its items.
//! let (layout, secret) = (set.layout(), SecretKey::generate(context.rlwe(), &mut rng)?);
//! let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
//! let tokens: Vec<Token> = (90..110).map(token).collect();
//! for bins in layout.arrange(&tokens, &mut rng) {
//!     let query = layout.query(&context, &bins, &tokens, &secret, &mut rng)?;
//!     let answer = set.answer(&evaluator, &query, &key)?;
//!     let found = layout.read(&context, &bins, &tokens, &answer, &secret)?;
//!     assert_eq!(found.len(), 10);
//!     assert_eq!(found[&3], [93, 186]);
//! }
//! # Ok(())
//! # }
//! ```

mod asking;
mod interpolation;
mod layout;
mod parameters;
mod powers;
mod set;
mod token;

pub use asking::Bins;
pub use layout::Layout;
pub use parameters::parameters;
pub use set::LabelledSet;
pub use token::Token;

use sunzi_bgv::BgvError;

/// An error of a private set intersection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntersectionError {
    /// A set, an item or an answer that cannot be.
    #[error("{what}: expected {expected}, got {got}")]
    Setting {
        /// Name of what cannot be.
        what: &'static str,
        /// Expected value.
        expected: String,
        /// Value that came.
        got: String,
    },
    /// Two items of a set have one token, by their numbers in the set.
    #[error("items {first} and {second} of the set are the same: expected different ones")]
    Twice {
        /// Number of the first of them, from 0 on.
        first: usize,
        /// Number of the second of them.
        second: usize,
    },
    /// An error of BGV.
    #[error(transparent)]
    Bgv(#[from] BgvError),
}

impl IntersectionError {
    fn setting(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self::Setting { what, expected: expected.to_string(), got: got.to_string() }
    }
}
