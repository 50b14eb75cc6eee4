//! Private lookups in a public table: a row by the cell of one of its columns, or by its number.
//!
//! Whoever has the table [builds](Built) a database of two parts: a [`Description`], small, for whoever asks, and the [entries](EntriesReader) for
//! whoever answers. A [`Lookup`] is what both sides make of the description. The client asks for a [`Wanted`] row, sends a [`Query`], and keeps an
//! [`Asked`]; the server computes an [`Answer`].
//!
//! **The database is public to whoever may ask.** An answer has other rows beside the one that was asked for. The server learns that somebody
//! asked, and nothing of what; it can answer falsely, which only the row that comes back may show.
//!
//! ```
//! use sunzi_rlwe::{EvaluationKeys, SecretKey, randomness};
//! use sunzi_table::csv::CsvRows;
//! use sunzi_table::lookup::{Built, Choice, Lookup, Wanted};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let table = "country,capital,people\nFrance,Paris,69\nJapan,Tokyo,123\nKenya,Nairobi,56\n";
//! let choice = Choice { by: Some("country".to_owned()), columns: None };
//! let built = Built::new(&mut CsvRows::new(table.as_bytes(), "table")?, &choice)?;
//! let mut entries = Vec::new();
//! built.write_entries(&mut entries, &mut || ())?;
//!
//! // The client has the description, and sends keys once.
//! let lookup = Lookup::new(built.lookup().description())?;
//! let mut rng = randomness::from_os()?;
//! let secret = SecretKey::generate(lookup.context().rlwe(), &mut rng)?;
//! let keys = EvaluationKeys::for_exponents(lookup.context().rlwe(), &secret, lookup.layout().exponents(), &mut rng)?;
//! let (query, asked) = lookup.ask(Wanted::Keyword(b"Japan".to_vec()), &secret, &mut rng)?;
//!
//! // The server reads the entries once.
//! let answer = lookup.answer(&query, &keys, &entries[..], entries.len() as u64, &mut || ())?;
//! assert_eq!(lookup.read(&asked, &answer, &secret)?, Some(vec!["Tokyo".to_owned(), "123".to_owned()]));
//! # Ok(())
//! # }
//! ```

mod answer;
mod build;
pub(crate) mod cells;
mod context;
mod description;
mod entries;
mod prepared;
mod update;
mod wire;

pub use answer::{Answer, Asked, Query, Wanted};
pub use build::{Built, Choice};
pub use context::Lookup;
pub use description::{By, Description};
pub use entries::{EntriesReader, EntriesWriter};
pub use prepared::Prepared;
pub use update::Changes;

pub(crate) use build::gather;

/// Largest number of bytes of a keyword.
pub const MOST_KEYWORD: usize = 1 << 12;
/// Largest number of columns of a database, without that of keywords.
pub const MOST_COLUMNS: usize = 1 << 12;
