//! Answers from a database that is read once, a few columns at a time: for whoever answers seldom, or has less memory than the database takes.

use sunzi_bfv::{Ciphertext, Context, Evaluator, PlainMatrix};
use sunzi_rlwe::{EvaluationKeys, RelinearizationKey};

use super::database::Selections;
use super::{Layout, RetrievalError};
use crate::CircuitError;

/// Bytes of the columns that are in memory together, unless one column takes more.
const STRIP: u64 = 1 << 28;
/// Bytes of a residue in memory, of polynomials and of prepared plaintexts.
const RESIDUE: u64 = 8;

/// Answers in the making, from entries that come in their order.
///
/// ```
/// use sunzi_bfv::{Context, Evaluator, Parameters};
/// use sunzi_circuits::EvaluationKeys;
/// use sunzi_circuits::retrieval::{Layout, Streamed};
/// use sunzi_math::primes_below;
/// use sunzi_rlwe::{SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parameters = Parameters::new(10, primes_below(1 << 47, 2048, 3)?, 65537, Security::InsecureForResearchOnly);
/// let context = Context::new(&parameters)?;
/// let (mut rng, layout) = (randomness::from_os()?, Layout::new(&context, 1000, 20)?);
/// let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
/// let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, layout.exponents(), &mut rng)?;
/// let query = layout.query(&context, 729, &secret, &mut rng)?;
///
/// let evaluator = Evaluator::new(&context);
/// let entries: Vec<_> = (0..1000).map(|number| format!("number {number}").into_bytes()).collect();
/// let mut streamed = Streamed::new(&evaluator, &layout, &[query], &keys)?;
/// for together in entries.chunks(layout.together() as usize) {
///     streamed.put(together)?;
/// }
/// let answers = streamed.finish()?;
/// assert!(layout.read(&context, 729, &answers[0], &secret)?.starts_with(b"number 729\0"));
/// # Ok(())
/// # }
/// ```
pub struct Streamed<'a> {
    evaluator: &'a Evaluator,
    layout: &'a Layout,
    relinearization: &'a RelinearizationKey,
    selections: Vec<Selections>,
    /// Columns that are in memory, for every piece of entries, and the number of the first of them.
    strip: Vec<PlainMatrix>,
    first: usize,
    width: usize,
    /// Number of plaintexts that came.
    found: u64,
    /// Sums of rows for every query, piece and column so far.
    sums: Vec<Vec<Vec<Ciphertext>>>,
}

impl<'a> Streamed<'a> {
    /// Expands queries under the same keys, before any entry comes.
    ///
    /// # Errors
    /// Every error of [`Database::answer_all`](super::Database::answer_all).
    pub fn new(
        evaluator: &'a Evaluator,
        layout: &'a Layout,
        queries: &[Ciphertext],
        keys: &'a EvaluationKeys,
    ) -> Result<Self, RetrievalError> {
        let width = layout.width(evaluator.context());
        Self::of_width(evaluator, layout, (queries, keys), width)
    }

    /// Expands queries, and has so many columns in memory.
    fn of_width(
        evaluator: &'a Evaluator,
        layout: &'a Layout,
        (queries, keys): (&[Ciphertext], &'a EvaluationKeys),
        width: usize,
    ) -> Result<Self, RetrievalError> {
        layout.check(evaluator.context())?;
        let relinearization = keys.relinearization.as_ref().ok_or(CircuitError::MissingRelinearizationKey)?;
        let expanded = queries.iter().map(|query| Selections::expand(evaluator, layout, query, keys));
        Ok(Self {
            selections: expanded.collect::<Result<_, _>>()?,
            sums: vec![vec![Vec::new(); layout.pieces()]; queries.len()],
            width,
            strip: Vec::new(),
            first: 0,
            found: 0,
            evaluator,
            layout,
            relinearization,
        })
    }

    /// Takes the next entries of the database: all that share a plaintext, or one that takes several.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] for another number of entries than a plaintext has, for longer ones, and for more than the layout's;
    /// [`RetrievalError::Bfv`].
    pub fn put(&mut self, entries: &[Vec<u8>]) -> Result<(), RetrievalError> {
        let layout = self.layout;
        let first = self.found * layout.together();
        let [row, column] = layout.place(first)?;
        let expected = layout.together().min(layout.entries() - first);
        if entries.len() as u64 != expected {
            return Err(RetrievalError::setting("the entries of a plaintext", expected, entries.len()));
        }
        let [rows, columns] = layout.sides();
        if self.strip.is_empty() {
            let width = self.width.min(columns - column);
            let strip = (0..layout.pieces()).map(|_| self.evaluator.plain_matrix(rows, width));
            (self.strip, self.first) = (strip.collect::<Result<_, _>>()?, column);
        }
        let place = [row, column - self.first];
        for (piece, plaintext) in self.strip.iter_mut().zip(layout.encode(entries)?) {
            self.evaluator.set_plain(piece, place, &plaintext)?;
        }
        self.found += 1;
        let filled = row + 1 == rows && place[1] + 1 == self.width;
        if filled || first + expected == layout.entries() { self.multiply() } else { Ok(()) }
    }

    /// Adds up the rows of the columns that are in memory.
    fn multiply(&mut self) -> Result<(), RetrievalError> {
        let rows: Vec<_> = self.selections.iter().map(|selections| selections.rows.as_slice()).collect();
        for (at, piece) in std::mem::take(&mut self.strip).iter().enumerate() {
            let products = self.evaluator.plain_matrix_products(&rows, piece)?;
            for (sums, products) in self.sums.iter_mut().zip(products) {
                if let Some(sums) = sums.get_mut(at) {
                    sums.extend(products);
                }
            }
        }
        Ok(())
    }

    /// Returns the answer of every query: a ciphertext for each piece of an entry.
    ///
    /// # Errors
    /// [`RetrievalError::Setting`] where entries are missing; [`RetrievalError::Bfv`].
    pub fn finish(self) -> Result<Vec<Vec<Ciphertext>>, RetrievalError> {
        let found = (self.found * self.layout.together()).min(self.layout.entries());
        if found != self.layout.entries() {
            return Err(RetrievalError::setting("the number of entries", self.layout.entries(), found));
        }
        let answer = |(selections, sums): (&Selections, &Vec<Vec<Ciphertext>>)| {
            sums.iter().map(|sums| selections.sum(self.evaluator, sums, self.relinearization)).collect()
        };
        self.selections.iter().zip(&self.sums).map(answer).collect()
    }
}

impl Layout {
    /// Bytes that a ciphertext of two polynomials takes in memory.
    fn ciphertext_bytes(context: &Context) -> u64 {
        let residues = (context.degree() * context.ring().level()) as u64;
        2 * RESIDUE * residues
    }

    /// Bytes that a column takes in memory, all pieces of its entries together.
    fn column_bytes(&self, context: &Context) -> u64 {
        let [rows, _] = self.sides();
        (Self::ciphertext_bytes(context) / 2).saturating_mul((rows * self.pieces()) as u64)
    }

    /// The approximate bytes of memory that a [`Database`](super::Database) takes.
    #[must_use]
    pub fn prepared_bytes(&self, context: &Context) -> u64 {
        let [_, columns] = self.sides();
        self.column_bytes(context).saturating_mul(columns as u64)
    }

    /// The number of columns that are in memory together while answers are streamed.
    fn width(&self, context: &Context) -> usize {
        let [_, columns] = self.sides();
        let width = STRIP / self.column_bytes(context).max(1);
        usize::try_from(width).unwrap_or(columns).clamp(1, columns)
    }

    /// The approximate bytes of memory that so many [`Streamed`] answers take beside keys and tables: columns of the database, selections and sums.
    #[must_use]
    pub fn streamed_bytes(&self, context: &Context, queries: usize) -> u64 {
        let [_, columns] = self.sides();
        let strip = self.column_bytes(context).saturating_mul(self.width(context) as u64);
        // Products of the columns are there together with their sums.
        let ciphertexts = self.selections() + 2 * columns.saturating_mul(self.pieces());
        let ciphertexts = (ciphertexts as u64).saturating_mul(queries as u64);
        strip.saturating_add(Self::ciphertext_bytes(context).saturating_mul(ciphertexts))
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use sunzi_bfv::Parameters;
    use sunzi_math::primes_below;
    use sunzi_rlwe::{SecretKey, Security};

    use super::*;

    /// Checks answers of strips of any width, for entries that share a plaintext and those that take several.
    #[test]
    fn strips_of_any_width_give_the_entries() {
        let moduli = primes_below(1 << 47, 1 << 9, 3).unwrap();
        let parameters = Parameters::new(8, moduli, 65_537, Security::InsecureForResearchOnly);
        let context = Context::new(&parameters).unwrap();
        let (evaluator, mut rng) = (Evaluator::new(&context), chacha20::ChaCha20Rng::seed_from_u64(5));
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        for (count, bytes) in [(1, 10), (200, 100), (30, 700)] {
            let layout = Layout::new(&context, count, bytes).unwrap();
            let exponents = layout.exponents();
            let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, exponents, &mut rng).unwrap();
            let entries: Vec<Vec<u8>> = (0..count).map(|number| vec![number as u8 + 1; bytes]).collect();
            let numbers = [0, count / 2, count - 1];
            let queries = numbers.map(|number| layout.query(&context, number, &secret, &mut rng).unwrap());
            let [_, columns] = layout.sides();
            for width in 1..=columns {
                let mut streamed = Streamed::of_width(&evaluator, &layout, (&queries, &keys), width).unwrap();
                assert!(streamed.put(&vec![Vec::new(); layout.together() as usize + 1]).is_err());
                for together in entries.chunks(layout.together() as usize) {
                    streamed.put(together).unwrap();
                }
                assert!(streamed.put(&[]).is_err());
                for (number, answer) in numbers.iter().zip(streamed.finish().unwrap()) {
                    let got = layout.read(&context, *number, &answer, &secret).unwrap();
                    assert_eq!(got, vec![*number as u8 + 1; bytes], "{count} by {width}");
                }
            }
            let short = Streamed::new(&evaluator, &layout, &queries, &keys).unwrap();
            assert!(short.finish().map(drop).unwrap_err().to_string().contains("got 0"));
            assert!(layout.streamed_bytes(&context, 3) > 0);
        }
    }
}
