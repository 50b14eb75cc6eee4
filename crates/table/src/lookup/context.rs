//! Contexts and layouts that both sides of a lookup make of its description.

use sunzi_bfv::Context;
use sunzi_circuits::retrieval::{Keywords, Layout, RetrievalError, SEAL, sealed};
use sunzi_rlwe::wire::{Fingerprint, SchemeFormat, Scope};

use super::{By, Description};
use crate::TableError;

/// Where entries are.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Numbers(Layout),
    Keywords(Keywords),
}

/// A database as its description tells it: parameters with their tables, and where entries are. Queries, answers and entries are written and read in
/// this scope.
#[derive(Clone)]
pub struct Lookup {
    pub(super) description: Description,
    pub(super) id: [u8; 32],
    pub(super) context: Context,
    pub(super) places: Places,
}

impl Lookup {
    /// Makes the tables of the parameters, and the layout of the database.
    ///
    /// # Errors
    /// [`TableError::Retrieval`] for a description that no database has.
    pub fn new(description: &Description) -> Result<Self, TableError> {
        let context = Context::new(&description.parameters).map_err(RetrievalError::from)?;
        let places = match description.by {
            By::Number => {
                let bytes = description.value_bytes.saturating_add(SEAL);
                Places::Numbers(Layout::new(&context, description.rows, bytes)?)
            }
            By::Keyword(_) => Places::Keywords(Keywords::new(
                &context,
                description.rows,
                description.value_bytes,
                description.seed,
            )?),
        };
        Ok(Self { id: description.id()?, description: description.clone(), context, places })
    }

    /// The description of the database.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The hash of the description, which queries name.
    #[must_use]
    pub fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// The context of keys, queries and answers.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The layout of the entries.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        match &self.places {
            Places::Numbers(layout) => layout,
            Places::Keywords(keywords) => keywords.layout(),
        }
    }

    /// The number of ciphertexts of a query.
    #[must_use]
    pub fn queries(&self) -> usize {
        match self.places {
            Places::Numbers(_) => 1,
            Places::Keywords(_) => Keywords::PLACES,
        }
    }

    /// Approximate bytes of memory that an answer takes, beside keys and tables.
    #[must_use]
    pub fn answer_bytes(&self) -> u64 {
        self.layout().streamed_bytes(&self.context, self.queries())
    }

    /// Approximate bytes of memory that a [`Prepared`](super::Prepared) database takes.
    #[must_use]
    pub fn prepared_bytes(&self) -> u64 {
        self.layout().prepared_bytes(&self.context)
    }

    /// The entry of a place, behind its checksum.
    pub(super) fn numbered(&self, place: u64, value: &[u8]) -> Vec<u8> {
        sealed(&self.description.seed, place, value, self.layout().entry_bytes())
    }
}

impl Scope for Lookup {
    fn expected(&self) -> Option<Fingerprint> {
        Some(self.context.message_fingerprint())
    }
}
