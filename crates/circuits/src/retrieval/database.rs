//! Databases that are prepared for answers, and the answers.

use sunzi_bfv::{Ciphertext, Evaluator, PlainMatrix};
use sunzi_rlwe::{EvaluationKeys, RelinearizationKey};

use super::{Layout, RetrievalError, expand};
use crate::CircuitError;

/// A database whose plaintexts are transformed, ready to answer any number of queries.
///
/// It takes 7·k bytes of memory for every coefficient of a plaintext, for k moduli of 49 to 56 bits: 5.8 times the entries at k = 3 and a
/// plaintext modulus of 30 bits.
pub struct Database {
    layout: Layout,
    /// Plaintexts of every piece of entries.
    pieces: Vec<PlainMatrix>,
}

impl Database {
    /// Prepares the entries of a database in their order. Entries that are shorter than the layout's are filled up with zeros.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for another number of entries than the layout has, for entries that are longer, and for an evaluator of
    /// other parameters; [`RetrievalError::Bfv`].
    pub fn new(
        evaluator: &Evaluator,
        layout: &Layout,
        entries: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<Self, RetrievalError> {
        layout.check(evaluator.context())?;
        let [rows, columns] = layout.sides();
        let pieces = (0..layout.pieces()).map(|_| evaluator.plain_matrix(rows, columns));
        let mut database = Self { layout: layout.clone(), pieces: pieces.collect::<Result<_, _>>()? };
        let (mut entries, mut found) = (entries.into_iter(), 0);
        let together = usize::try_from(layout.together()).unwrap_or(usize::MAX);
        loop {
            let next: Vec<Vec<u8>> = entries.by_ref().take(together).collect();
            if next.is_empty() || found + next.len() as u64 > layout.entries() {
                found += next.len() as u64;
                break;
            }
            database.put(evaluator, found, &next)?;
            found += next.len() as u64;
        }
        if found == layout.entries() {
            return Ok(database);
        }
        let got = if found > layout.entries() { "more".to_owned() } else { found.to_string() };
        Err(RetrievalError::setting("the number of entries", layout.entries(), got))
    }

    /// The layout of the database.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Replaces the entries that share a plaintext with an entry, its own among them: all of them, in their order. Other entries are not touched.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`RetrievalError::Setting`] for a number that no entry has.
    pub fn replace(
        &mut self,
        evaluator: &Evaluator,
        number: u64,
        entries: &[Vec<u8>],
    ) -> Result<(), RetrievalError> {
        self.layout.check(evaluator.context())?;
        self.layout.place(number)?;
        let first = number - number % self.layout.together();
        let expected = self.layout.together().min(self.layout.entries() - first);
        if entries.len() as u64 != expected {
            return Err(RetrievalError::setting("the entries of a plaintext", expected, entries.len()));
        }
        self.put(evaluator, first, entries)
    }

    /// Puts the entries of a plaintext, or an entry of several plaintexts, into the matrices.
    fn put(&mut self, evaluator: &Evaluator, first: u64, entries: &[Vec<u8>]) -> Result<(), RetrievalError> {
        let place = self.layout.place(first)?;
        let plaintexts = self.layout.encode(entries)?;
        for (piece, plaintext) in self.pieces.iter_mut().zip(&plaintexts) {
            evaluator.set_plain(piece, place, plaintext)?;
        }
        Ok(())
    }

    /// Answers a query: a ciphertext for each piece of an entry.
    ///
    /// # Errors
    /// Every error of [`answer_all`](Self::answer_all).
    pub fn answer(
        &self,
        evaluator: &Evaluator,
        query: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Vec<Ciphertext>, RetrievalError> {
        Ok(self.answer_all(evaluator, std::slice::from_ref(query), keys)?.pop().unwrap_or_default())
    }

    /// Answers queries under the same keys, each by a ciphertext for each piece of an entry. The database is read once for all of them.
    ///
    /// # Errors
    /// [`CircuitError::MissingAutomorphism`] and [`CircuitError::MissingRelinearizationKey`] for keys that lack something;
    /// [`RetrievalError::Bfv`] for a query of other parameters.
    pub fn answer_all(
        &self,
        evaluator: &Evaluator,
        queries: &[Ciphertext],
        keys: &EvaluationKeys,
    ) -> Result<Vec<Vec<Ciphertext>>, RetrievalError> {
        let asked: Vec<_> = queries.iter().map(|query| (query, keys)).collect();
        self.answer_each(evaluator, &asked)
    }

    /// Answers queries, each under keys of its own. The database is read once for all of them.
    ///
    /// # Errors
    /// Every error of [`answer_all`](Self::answer_all).
    pub fn answer_each(
        &self,
        evaluator: &Evaluator,
        asked: &[(&Ciphertext, &EvaluationKeys)],
    ) -> Result<Vec<Vec<Ciphertext>>, RetrievalError> {
        let layout = &self.layout;
        layout.check(evaluator.context())?;
        let missing = || CircuitError::MissingRelinearizationKey;
        let keys = asked.iter().map(|(_, keys)| keys.relinearization.as_ref().ok_or_else(missing));
        let relinearization: Vec<&RelinearizationKey> = keys.collect::<Result<_, _>>()?;
        let selections = asked.iter().map(|(query, keys)| Selections::expand(evaluator, layout, query, keys));
        let selections: Vec<Selections> = selections.collect::<Result<_, _>>()?;
        let rows: Vec<_> = selections.iter().map(|selections| selections.rows.as_slice()).collect();
        let mut answers = vec![Vec::new(); asked.len()];
        for piece in &self.pieces {
            let sums = evaluator.plain_matrix_products(&rows, piece)?;
            for (((answer, selections), key), sums) in
                answers.iter_mut().zip(&selections).zip(&relinearization).zip(&sums)
            {
                answer.push(selections.sum(evaluator, sums, key)?);
            }
        }
        Ok(answers)
    }
}

/// Selections of a query: ciphertexts for every row and column of the matrix.
pub(super) struct Selections {
    pub(super) rows: Vec<Ciphertext>,
    columns: Vec<Ciphertext>,
}

impl Selections {
    pub(super) fn expand(
        evaluator: &Evaluator,
        layout: &Layout,
        query: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Self, RetrievalError> {
        let mut rows = expand(evaluator, query, layout.selections(), keys)?;
        let [count, _] = layout.sides();
        let columns = rows.split_off(count.min(rows.len()));
        Ok(Self { rows, columns })
    }

    /// Adds up the sums of rows of all columns, of which one counts.
    pub(super) fn sum(
        &self,
        evaluator: &Evaluator,
        sums: &[Ciphertext],
        relinearization: &RelinearizationKey,
    ) -> Result<Ciphertext, RetrievalError> {
        let pairs: Vec<_> = sums.iter().zip(&self.columns).collect();
        Ok(evaluator.dot_product(&pairs, relinearization)?)
    }
}
