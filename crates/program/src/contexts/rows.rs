//! Rows of several parties: each encrypts its own rows of a table, and the sum is the encrypted table.

use std::ops::Range;

use sunzi_ckks::CkksError;
use sunzi_rlwe::{Ciphertext, CrtContext, Evaluator, Exact};
use zeroize::Zeroizing;

use super::{Contexts, Encrypted, Parts};
use crate::ProgramError;
use crate::analysis::Layout;

/// Place of the rows of one party in a chunk: all slots before them and, unless they end the table, behind them hold zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkPart {
    /// Number of slots before the rows.
    pub first: usize,
    /// Whether slots behind the rows belong to no row: they hold the padding of the column.
    pub padded: bool,
}

impl ChunkPart {
    /// The place of rows that are all rows of a chunk.
    pub const WHOLE: Self = Self { first: 0, padded: true };

    /// Returns the place in a chunk of the rows of a part of a table, and which rows of the table these are.
    #[must_use]
    pub fn of(layout: &Layout, chunk: usize, part: &Range<usize>) -> (Self, Range<usize>) {
        let before = chunk.saturating_mul(layout.span).min(layout.rows);
        let end = before.saturating_add(layout.span).min(layout.rows);
        let (first, last) = (part.start.clamp(before, end), part.end.clamp(before, end));
        let own = Self { first: first - before, padded: part.end == layout.rows && last == end };
        (own, first..last.max(first))
    }

    /// Returns slots with the values of rows at their place and zero in the others, from those of the rows with padding behind them.
    pub(super) fn slots<T: Copy + Default>(
        self,
        (rows, span): (usize, usize),
        padded: impl FnOnce(usize) -> Option<Vec<T>>,
    ) -> Option<Zeroizing<Vec<T>>>
    where
        Vec<T>: zeroize::Zeroize,
    {
        let own = Zeroizing::new(padded(span.checked_sub(self.first)?)?);
        let taken = if self.padded { own.len() } else { rows };
        let mut slots = Zeroizing::new(vec![T::default(); span]);
        slots.iter_mut().skip(self.first).zip(own.iter().take(taken)).for_each(|(slot, own)| *slot = *own);
        Some(slots)
    }
}

impl Contexts {
    /// Adds two encryptions of a chunk of one column, in each of which slots of the other's rows hold zero.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for chunks of other schemes, and for encrypted integers; [`ProgramError::Scheme`] for ciphertexts of other parameters or keys.
    pub fn add_rows(&self, a: &Encrypted, b: &Encrypted) -> Result<Encrypted, ProgramError> {
        match (&self.parts, a, b) {
            (Parts::Bfv(contexts), Encrypted::Bfv(a), Encrypted::Bfv(b)) => {
                sums(contexts, a, b).map(Encrypted::Bfv)
            }
            (Parts::Bgv(contexts), Encrypted::Bgv(a), Encrypted::Bgv(b)) => {
                sums(contexts, a, b).map(Encrypted::Bgv)
            }
            (Parts::Ckks(context), Encrypted::Ckks(a), Encrypted::Ckks(b)) => {
                let sum = rows_of_both(&sunzi_ckks::Evaluator::new(context), a, b);
                sum.map(Box::new).map(Encrypted::Ckks).map_err(ProgramError::scheme)
            }
            _ => {
                Err(ProgramError::mismatch("rows of several parties", "those of BFV, BGV or CKKS", "others"))
            }
        }
    }
}

fn sums<S: Exact<Error: std::error::Error + Send + Sync + 'static>>(
    contexts: &CrtContext<S>,
    a: &[Ciphertext<S>],
    b: &[Ciphertext<S>],
) -> Result<Vec<Ciphertext<S>>, ProgramError> {
    let sum = |context: &S::Context, [a, b]: [&_; 2]| Evaluator::<S>::new(context).add(a, b);
    contexts.compute([a, b], sum).map_err(ProgramError::scheme)
}

/// Adds two CKKS encryptions, in each of which slots of the other's rows hold zero: the sum is no larger than either.
pub(crate) fn rows_of_both(
    evaluator: &sunzi_ckks::Evaluator,
    a: &sunzi_ckks::Ciphertext,
    b: &sunzi_ckks::Ciphertext,
) -> Result<sunzi_ckks::Ciphertext, CkksError> {
    let [first, second] = [a, b].map(|one| one.metadata().precision.magnitude());
    evaluator.with_magnitude(&evaluator.add(a, b)?, first.max(second))
}
