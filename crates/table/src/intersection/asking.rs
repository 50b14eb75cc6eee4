//! What a client asks of a private set, and what it reads.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use sunzi_bgv::{Ciphertext, Context};
use sunzi_circuits::intersection::{Bins, IntersectionError, Layout, Token};
use sunzi_oprf::Output;
use sunzi_rlwe::wire::{Fingerprint, SchemeFormat, Scope, to_bytes};
use sunzi_rlwe::{KeyId, SecretKey};

use super::Description;
use crate::TableError;
use crate::lookup::cells;

/// A private set as its description tells it: parameters with their tables, and where items are. Queries and answers are written and read in this scope.
#[derive(Clone)]
pub struct Intersection {
    pub(super) description: Description,
    pub(super) id: [u8; 32],
    pub(super) context: Context,
    pub(super) layout: Layout,
}

/// A query to a private set, which the server answers and learns nothing from.
#[derive(Clone)]
pub struct Query {
    pub(super) ciphertexts: Vec<Ciphertext>,
}

impl Query {
    /// Name of the secret key that the query is under.
    #[must_use]
    pub fn key(&self) -> Option<KeyId> {
        self.ciphertexts.first().map(Ciphertext::key)
    }
}

/// An answer of a private set, which whoever asked opens.
#[derive(Clone)]
pub struct Answer {
    pub(super) query: [u8; 32],
    pub(super) ciphertexts: Vec<Ciphertext>,
}

/// Returns the token of an item, from the output of the oblivious pseudorandom function for it.
#[must_use]
pub fn token(output: &Output) -> Token {
    Token::new(**output)
}

impl Intersection {
    /// Makes the tables of the parameters, and the layout of the set.
    ///
    /// # Errors
    /// [`TableError::Intersection`] for a description that no set has.
    pub fn new(description: &Description) -> Result<Self, TableError> {
        let context = Context::new(&description.parameters).map_err(IntersectionError::from)?;
        let sizes = (description.items, description.label_bytes);
        let layout =
            Layout::new(&context, description.seed, sizes, (description.sources, description.parts))?;
        Ok(Self { id: description.id()?, description: description.clone(), context, layout })
    }

    /// The description of the set.
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

    /// The layout of the items.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Encrypts a query for items that were [arranged](Layout::arrange) in bins.
    ///
    /// # Errors
    /// [`TableError::Intersection`] for a secret key of other parameters.
    pub fn ask(
        &self,
        bins: &Bins,
        tokens: &[Token],
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Query, TableError> {
        Ok(Query { ciphertexts: self.layout.query(&self.context, bins, tokens, secret, rng)? })
    }

    /// The hash of a query as a file, by which an answer says what it is to.
    pub(super) fn hash(&self, query: &Query) -> Result<[u8; 32], TableError> {
        Ok(Sha256::digest(to_bytes(self, query)?).into())
    }

    /// Opens the answer to a query: returns the cells of the rows of those items that the set has, by the numbers of their tokens.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for an answer to another query; [`TableError::Intersection`] for one that does not decrypt; [`TableError::Wire`] for labels that are no cells.
    pub fn read(
        &self,
        (bins, tokens): (&Bins, &[Token]),
        query: &Query,
        answer: &Answer,
        secret: &SecretKey,
    ) -> Result<BTreeMap<usize, Vec<String>>, TableError> {
        if answer.query != self.hash(query)? {
            let got = "an answer to another query";
            return Err(TableError::mismatch("the answer", "that to the query", got));
        }
        let labels = self.layout.read(&self.context, bins, tokens, &answer.ciphertexts, secret)?;
        let columns = self.description.columns.len();
        labels.into_iter().map(|(item, label)| Ok((item, cells::get(&label, columns)?))).collect()
    }
}

impl Scope for Intersection {
    fn expected(&self) -> Option<Fingerprint> {
        Some(self.context.message_fingerprint())
    }
}
