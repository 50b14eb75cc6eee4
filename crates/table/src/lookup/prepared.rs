//! Databases that stay in memory, for a server.

use std::io::BufRead;

use sha2::{Digest, Sha256};
use sunzi_bfv::Evaluator;
use sunzi_circuits::retrieval::Database;
use sunzi_rlwe::EvaluationKeys;
use sunzi_rlwe::wire::to_bytes;

use super::{Answer, EntriesReader, Lookup, Query};
use crate::TableError;

/// A database whose entries are prepared in memory, to answer any number of queries.
pub struct Prepared {
    lookup: Lookup,
    evaluator: Evaluator,
    database: Database,
}

impl Prepared {
    /// Reads a file of entries of `len` bytes.
    ///
    /// # Errors
    /// [`TableError::Wire`] for entries that are damaged or of another database.
    pub fn new(lookup: Lookup, entries: impl BufRead, len: u64) -> Result<Self, TableError> {
        let mut reader = EntriesReader::open(&lookup, entries, len)?;
        let evaluator = Evaluator::new(lookup.context());
        let mut failed = None;
        let all = std::iter::from_fn(|| {
            reader.next_together().unwrap_or_else(|error| failed.replace(error).and(None))
        });
        let database = Database::new(&evaluator, lookup.layout(), all.flatten());
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(Self { database: database?, evaluator, lookup }),
        }
    }

    /// The database as its description tells it.
    #[must_use]
    pub fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// Answers queries together, each under the keys of its client.
    ///
    /// # Errors
    /// [`TableError::Retrieval`] for keys that lack something.
    pub fn answer(&self, asked: &[(&Query, &EvaluationKeys)]) -> Result<Vec<Answer>, TableError> {
        let each =
            asked.iter().flat_map(|(query, keys)| query.ciphertexts.iter().map(move |one| (one, *keys)));
        let mut answers = self.database.answer_each(&self.evaluator, &each.collect::<Vec<_>>())?.into_iter();
        let mut made = Vec::new();
        for (query, _) in asked {
            let ciphertexts = answers.by_ref().take(self.lookup.queries()).flatten().collect();
            made.push(Answer { query: Sha256::digest(to_bytes(&self.lookup, *query)?).into(), ciphertexts });
        }
        Ok(made)
    }
}
