//! Questions and answers of a lookup.

use std::io::BufRead;

use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use sunzi_bfv::{Ciphertext, Evaluator};
use sunzi_circuits::retrieval::{RetrievalError, Streamed, opened};
use sunzi_rlwe::wire::to_bytes;
use sunzi_rlwe::{EvaluationKeys, KeyId, SecretKey};
use zeroize::Zeroize;

use super::context::Places;
use super::{By, Description, EntriesReader, Lookup, MOST_KEYWORD, cells};
use crate::TableError;

/// The row that a client wants, which nobody else learns; erased when dropped.
#[derive(Clone, PartialEq, Eq)]
pub enum Wanted {
    /// The row of this number, from 1 on.
    Number(u64),
    /// The row whose cell has these bytes.
    Keyword(Vec<u8>),
}

impl Drop for Wanted {
    fn drop(&mut self) {
        match self {
            Self::Number(number) => number.zeroize(),
            Self::Keyword(keyword) => keyword.zeroize(),
        }
    }
}

/// A query, which the server answers and learns nothing from.
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

/// Note of a query that a client keeps until the answer comes: it is secret.
#[derive(Clone)]
pub struct Asked {
    pub(super) description: Description,
    pub(super) key: KeyId,
    /// Hash of the query as a file, by which an answer says what it is to.
    pub(super) query: [u8; 32],
    pub(super) wanted: Wanted,
}

impl Asked {
    /// The description of the database that was asked.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Name of the secret key that the answer will be under.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The row that was asked for.
    #[must_use]
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }
}

/// An answer, which whoever asked opens.
#[derive(Clone)]
pub struct Answer {
    pub(super) query: [u8; 32],
    pub(super) ciphertexts: Vec<Ciphertext>,
}

impl Lookup {
    /// Encrypts the query of a row: returns what is sent, and what is kept.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for a number where rows are asked by keyword and the other way round, for a number that no row has and for a keyword
    /// that is too long; [`TableError::Retrieval`] for a secret key of other parameters.
    pub fn ask(
        &self,
        wanted: Wanted,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<(Query, Asked), TableError> {
        let context = &self.context;
        let ciphertexts = match (&wanted, &self.places) {
            (Wanted::Number(number), Places::Numbers(layout)) => {
                let rows = self.description.rows;
                let place = number.checked_sub(1).filter(|place| *place < rows).ok_or_else(|| {
                    TableError::mismatch("the number of a row", format!("1 to {rows}"), number)
                })?;
                vec![layout.query(context, place, secret, rng)?]
            }
            (Wanted::Keyword(keyword), Places::Keywords(keywords)) => {
                if keyword.len() > MOST_KEYWORD {
                    let expected = format!("at most {MOST_KEYWORD} bytes");
                    return Err(TableError::mismatch("the keyword", expected, keyword.len()));
                }
                keywords.query(context, keyword, secret, rng)?
            }
            _ => return Err(TableError::mismatch("what is asked", self.asked_by(), "the other")),
        };
        let query = Query { ciphertexts };
        let hash = Sha256::digest(to_bytes(self, &query)?).into();
        let asked = Asked { description: self.description.clone(), key: secret.id(), query: hash, wanted };
        Ok((query, asked))
    }

    /// The key that rows are asked by, in words.
    fn asked_by(&self) -> &'static str {
        match self.description.by {
            By::Number => "the number of a row",
            By::Keyword(_) => "a keyword",
        }
    }

    /// Answers a query from a file of entries of `len` bytes, which is read once; `step` is called for every plaintext of them.
    ///
    /// # Errors
    /// [`TableError::Wire`] for entries that are damaged or of another database; [`TableError::Retrieval`] for keys that lack something.
    pub fn answer(
        &self,
        query: &Query,
        keys: &EvaluationKeys,
        entries: impl BufRead,
        len: u64,
        step: &mut dyn FnMut(),
    ) -> Result<Answer, TableError> {
        let mut entries = EntriesReader::open(self, entries, len)?;
        let evaluator = Evaluator::new(&self.context);
        let mut streamed = Streamed::new(&evaluator, self.layout(), &query.ciphertexts, keys)?;
        while let Some(together) = entries.next_together()? {
            streamed.put(&together)?;
            step();
        }
        let ciphertexts = streamed.finish()?.into_iter().flatten().collect();
        Ok(Answer { query: Sha256::digest(to_bytes(self, query)?).into(), ciphertexts })
    }

    /// Opens an answer, and returns the cells of the row; `None` for a keyword that no row has.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for an answer to another query; [`RetrievalError::Unsealed`] in a [`TableError::Retrieval`] for an answer that opens to
    /// what is not in the database; [`TableError::Wire`] for entries that are no cells.
    pub fn read(
        &self,
        asked: &Asked,
        answer: &Answer,
        secret: &SecretKey,
    ) -> Result<Option<Vec<String>>, TableError> {
        if asked.query != answer.query {
            let got = "an answer to another query";
            return Err(TableError::mismatch("the answer", "that to the query of the note", got));
        }
        let (context, columns) = (&self.context, self.description.columns.len());
        let mut answers: Vec<Vec<Ciphertext>> =
            answer.ciphertexts.chunks(self.layout().pieces().max(1)).map(<[_]>::to_vec).collect();
        match (&asked.wanted, &self.places) {
            (Wanted::Number(number), Places::Numbers(layout)) => {
                let (place, answer) = (number.wrapping_sub(1), answers.pop().unwrap_or_default());
                let entry = layout.read(context, place, &answer, secret)?;
                let content = opened(&self.description.seed, place, &entry)?;
                Ok(Some(cells::get(content, columns)?))
            }
            (Wanted::Keyword(keyword), Places::Keywords(keywords)) => {
                let value = keywords.read(context, keyword, &answers, secret)?;
                Ok(value.map(|value| cells::get(&value, columns)).transpose()?)
            }
            _ => Err(RetrievalError::Unsealed.into()),
        }
    }
}
