//! Databases that are prepared for answers, and the answers.

use sunzi_bfv::{Ciphertext, Evaluator, PreparedPlaintext};
use sunzi_rlwe::EvaluationKeys;

use super::{Layout, RetrievalError, expand};
use crate::CircuitError;

/// A database whose plaintexts are transformed, ready to answer any number of queries.
///
/// It takes 8·k bytes of memory for every coefficient of a plaintext, for k moduli of the ring: 12 times the entries at k = 3 and a
/// plaintext modulus of 17 bits.
pub struct Database {
    layout: Layout,
    /// Plaintexts of every piece of entries, column by column.
    pieces: Vec<Vec<PreparedPlaintext>>,
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
        let (mut pieces, mut entries) = (vec![Vec::new(); layout.pieces()], entries.into_iter());
        let (mut found, together) = (0, usize::try_from(layout.together()).unwrap_or(usize::MAX));
        loop {
            let next: Vec<Vec<u8>> = entries.by_ref().take(together).collect();
            found += next.len() as u64;
            if next.is_empty() || found > layout.entries() {
                break;
            }
            let plaintexts = layout.encode(&next)?;
            for (piece, plaintext) in pieces.iter_mut().zip(&plaintexts) {
                piece.push(evaluator.prepare_plain(plaintext)?);
            }
        }
        if found == layout.entries() {
            return Ok(Self { layout: layout.clone(), pieces });
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
        let layout = &self.layout;
        layout.check(evaluator.context())?;
        let [row, column] = layout.place(number)?;
        let first = number - number % layout.together();
        let expected = layout.together().min(layout.entries() - first);
        if entries.len() as u64 != expected {
            return Err(RetrievalError::setting("the entries of a plaintext", expected, entries.len()));
        }
        let [rows, _] = layout.sides();
        let plaintexts = layout.encode(entries)?;
        let prepared: Result<Vec<_>, _> =
            plaintexts.iter().map(|plaintext| evaluator.prepare_plain(plaintext)).collect();
        for (piece, prepared) in self.pieces.iter_mut().zip(prepared?) {
            if let Some(old) = piece.get_mut(column * rows + row) {
                *old = prepared;
            }
        }
        Ok(())
    }

    /// Answers a query: a ciphertext for each piece of an entry.
    ///
    /// # Errors
    /// [`CircuitError::MissingAutomorphism`] and [`CircuitError::MissingRelinearizationKey`] for keys that lack something;
    /// [`RetrievalError::Bfv`] for a query of other parameters.
    pub fn answer(
        &self,
        evaluator: &Evaluator,
        query: &Ciphertext,
        keys: &EvaluationKeys,
    ) -> Result<Vec<Ciphertext>, RetrievalError> {
        let layout = &self.layout;
        layout.check(evaluator.context())?;
        let relinearization = keys.relinearization.as_ref().ok_or(CircuitError::MissingRelinearizationKey)?;
        let selections = expand(evaluator, query, layout.selections(), keys)?;
        let [rows, _] = layout.sides();
        let (rows, columns) = selections.split_at_checked(rows).unwrap_or_default();
        let answer = |piece: &Vec<PreparedPlaintext>| -> Result<Ciphertext, RetrievalError> {
            let sums = column_sums(evaluator, rows, piece)?;
            let pairs: Vec<_> = sums.iter().zip(columns).collect();
            Ok(evaluator.dot_product(&pairs, relinearization)?)
        };
        self.pieces.iter().map(answer).collect()
    }
}

/// Adds up the selected rows of every column: all columns together, so that every selection and every plaintext is read once.
fn column_sums(
    evaluator: &Evaluator,
    rows: &[Ciphertext],
    plaintexts: &[PreparedPlaintext],
) -> Result<Vec<Ciphertext>, sunzi_bfv::BfvError> {
    let columns = plaintexts.chunks(rows.len().max(1));
    let columns: Vec<Vec<_>> = columns.map(|column| rows.iter().zip(column).collect()).collect();
    evaluator.sums_of_plain_products(&columns)
}
