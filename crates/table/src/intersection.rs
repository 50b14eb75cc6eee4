//! Private set intersection: which of a client's items are keywords of a server's table, and the cells of their rows.
//!
//! Whoever has the table makes a [`PrivateSet`], which is secret, and gives away its [`Description`]. An [`Intersection`] is what both sides make of the
//! description. First the client gets a [`Token`] for each of its items: it [blinds](sunzi_oprf::Blinded) them, and the server evaluates them under its key. Then it asks
//! with [queries](Intersection::ask) under a secret of its own.
//!
//! **The server learns how many items a client has, and nothing of them. The client learns which of its items the set has, with their rows, the number of
//! all items, and nothing else.** What a client can guess it can ask for: the server limits how many items are evaluated.
//!
//! ```
//! use sunzi_rlwe::{RelinearizationKey, SecretKey, randomness};
//! use sunzi_table::csv::CsvRows;
//! use sunzi_table::intersection::{Blinded, Intersection, PrivateSet, Served, token};
//! use sunzi_table::lookup::Choice;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let table = "email,risk\nana@example.org,low\nbo@example.org,high\n";
//! let choice = Choice { by: Some("email".to_owned()), columns: None };
//! let mut rng = randomness::from_os()?;
//! let set = PrivateSet::new(&mut CsvRows::new(table.as_bytes(), "table")?, &choice, &mut rng)?;
//! let served = Served::new(set, &mut rng)?;
//!
//! // The client has the description.
//! let intersection = Intersection::new(served.intersection().description())?;
//! let items = ["bo@example.org", "cy@example.org"];
//! let blinded = Blinded::new(&items, &mut rng)?;
//! let (evaluated, proof) = served.evaluate(blinded.elements(), &mut rng)?;
//! let outputs = blinded.finish(&evaluated, &proof, intersection.description().key())?;
//! let tokens: Vec<_> = outputs.iter().map(token).collect();
//!
//! let context = intersection.context().rlwe();
//! let secret = SecretKey::generate(context, &mut rng)?;
//! let key = RelinearizationKey::generate(context, &secret, &mut rng)?;
//! for bins in intersection.layout().arrange(&tokens, &mut rng) {
//!     let query = intersection.ask(&bins, &tokens, &secret, &mut rng)?;
//!     let answer = served.answer(&query, &key)?;
//!     let found = intersection.read((&bins, &tokens), &query, &answer, &secret)?;
//!     assert_eq!(found.into_iter().collect::<Vec<_>>(), [(0, vec!["high".to_owned()])]);
//! }
//! # Ok(())
//! # }
//! ```

mod asking;
mod description;
mod evaluation;
mod set;
mod wire;

pub use asking::{Answer, Intersection, Query, token};
pub use description::Description;
pub use evaluation::{elements_from_bytes, elements_to_bytes, evaluation_from_bytes, evaluation_to_bytes};
pub use set::{PrivateSet, Served};
pub use sunzi_circuits::intersection::{Bins, Layout, Token};
pub use sunzi_oprf::Blinded;

/// Largest number of items that a server evaluates at a time.
pub const MOST_ITEMS: usize = sunzi_oprf::MOST_INPUTS;
/// Number of bytes of a blinded item.
pub const ITEM_BYTES: usize = sunzi_oprf::Element::BYTES;
