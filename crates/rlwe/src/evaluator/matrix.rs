//! Products of a plain matrix with the rows of an encrypted one: no rotation, no key, and no transform.
//!
//! Row k of the encrypted matrix is ciphertext k, whatever its slots or coefficients hold. A plain matrix acts across
//! ciphertexts, so each row of the product is a linear combination of ciphertexts, and all of them together are
//! products of matrices of integers modulo each modulus, part by part `[BCHPS24]`.

use std::borrow::Cow;

use sunzi_kernels::IntegerMatrix;
use sunzi_ring::{Evaluation, Poly};

use super::{Evaluator, Exact, Homomorphic};
use crate::noise::{CommonNoise, Norms};
use crate::{Ciphertext, NoiseBound, RlweError, Trace};

const OPERATION: &str = "multiply by a matrix";

/// A plain matrix of integers prepared to multiply encrypted rows, with the norms of its rows. It may serve any number
/// of products, in contexts of any parameters.
///
/// ```
/// use sunzi_rlwe::evaluator::PreparedMatrix;
///
/// let matrix = PreparedMatrix::new(2, 3, &[1, 2, 3, -4, 5, 6])?;
/// assert_eq!((matrix.rows(), matrix.columns()), (2, 3));
/// # Ok::<(), sunzi_rlwe::RlweError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PreparedMatrix {
    matrix: IntegerMatrix,
    norms: Vec<Norms>,
}

impl PreparedMatrix {
    /// Prepares a matrix of `rows` times `columns` entries, row after row.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a matrix without entries, with more than 2^19 columns or another number of entries.
    pub fn new(rows: usize, columns: usize, entries: &[i64]) -> Result<Self, RlweError> {
        let matrix = IntegerMatrix::new(rows, columns, entries).map_err(sunzi_ring::RingError::from)?;
        Ok(Self { matrix, norms: entries.chunks(columns.max(1)).map(Norms::of).collect() })
    }

    /// Number of rows of the matrix, which the product has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Number of columns of the matrix, as many as the encrypted matrix has rows.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.matrix.columns()
    }

    /// Norms of every row of the matrix.
    #[must_use]
    pub fn norms(&self) -> &[Norms] {
        &self.norms
    }

    /// Length of the prepared matrix in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.matrix.byte_len() + size_of_val(self.norms.as_slice())
    }

    /// Bytes of a product with these rows in memory, which it takes beside its operands.
    #[must_use]
    pub fn product_bytes<S: Homomorphic>(&self, rows: &[&Ciphertext<S>]) -> u64 {
        let row = rows.iter().map(|row| row.parts().iter().map(|part| part.byte_len() as u64).sum()).max();
        row.unwrap_or(0_u64).saturating_mul(self.rows() as u64)
    }
}

/// Metadata and noise bounds that all rows of an encrypted matrix share.
#[derive(Debug)]
pub struct CommonRow<S: Homomorphic> {
    /// Metadata of the sum of all rows.
    pub metadata: S::Metadata,
    /// Noise bounds that hold for every row.
    pub noise: CommonNoise,
}

impl<S: Homomorphic> Evaluator<S> {
    /// Multiplies a plain matrix by encrypted rows: row i of the result is Σ_k m_ik·row_k. Rows are brought to the level of
    /// the lowest. `carry` returns what a row of the result carries, by the norms of its row of the matrix; for schemes.
    ///
    /// # Errors
    /// The scheme's error `Empty` without rows; [`RlweError::Ring`] unless there is a row for each column of the matrix;
    /// [`RlweError::WrongPartCount`] for rows of different part counts; [`RlweError::Memory`] for a product that the
    /// machine has no memory for; every error of [`add`](Self::add); every error of `carry`.
    pub fn combine_rows(
        &self,
        matrix: &PreparedMatrix,
        rows: &[&Ciphertext<S>],
        carry: impl Fn(&CommonRow<S>, &Norms) -> Result<(S::Metadata, NoiseBound), S::Error>,
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        let empty = || S::empty("a product of matrices");
        let first = rows.first().ok_or_else(empty)?;
        crate::memory::require(matrix.product_bytes(rows))?;
        let rows = self.aligned_rows(first, rows, OPERATION)?;
        let common = self.common_row(&rows, OPERATION)?;
        // What a row of the result carries is refused before any work.
        let carried: Vec<_> =
            matrix.norms.iter().map(|norms| carry(&common, norms)).collect::<Result<_, S::Error>>()?;
        let parts = self.row_parts(matrix, &rows)?;
        let trace = Trace::joined(rows.iter().map(|row| row.trace()));
        let products = parts.into_iter().zip(carried).map(|(parts, (metadata, noise))| {
            let product = Ciphertext::from_parts(parts, metadata, noise, first.key())?;
            self.finish(product, OPERATION, &[&trace])
        });
        products.collect()
    }

    /// Returns what rows of one level share.
    pub(super) fn common_row(
        &self,
        rows: &[Cow<'_, Ciphertext<S>>],
        operation: &'static str,
    ) -> Result<CommonRow<S>, S::Error> {
        let empty = || S::empty("a product of matrices");
        let noise = CommonNoise::of(rows.iter().map(|row| row.noise())).ok_or_else(empty)?;
        let mut metadata = rows.first().ok_or_else(empty)?.metadata().clone();
        for row in rows.iter().skip(1) {
            metadata = S::join(self.context(), &metadata, row.metadata(), operation)?;
        }
        Ok(CommonRow { metadata, noise })
    }

    /// Brings rows to the level of the lowest of them, without copies of those that have it.
    pub(super) fn aligned_rows<'a>(
        &self,
        first: &'a Ciphertext<S>,
        rows: &[&'a Ciphertext<S>],
        operation: &'static str,
    ) -> Result<Vec<Cow<'a, Ciphertext<S>>>, S::Error> {
        let mut lowest = Cow::Borrowed(first);
        for row in rows {
            first.check_key(row.key(), "a row of the matrix")?;
            let (expected, got) = (first.parts().len(), row.parts().len());
            if got != expected {
                let remedy = "relinearize rows first";
                let expected = "rows of one part count";
                return Err(RlweError::WrongPartCount { operation, expected, got, remedy }.into());
            }
            (lowest, _) = S::align(self.context(), lowest, row, operation)?;
        }
        let align = |row: &&'a Ciphertext<S>| {
            let (row, _) = S::align(self.context(), Cow::Borrowed(*row), &lowest, operation)?;
            Ok(row)
        };
        rows.iter().map(align).collect()
    }

    /// Computes the parts of every row of a product, one product of matrices for each part.
    fn row_parts(
        &self,
        matrix: &PreparedMatrix,
        rows: &[Cow<'_, Ciphertext<S>>],
    ) -> Result<Vec<Vec<Poly<Evaluation>>>, S::Error> {
        let Some(first) = rows.first() else { return Err(S::empty("a product of matrices")) };
        let ring = self.ring_of(first)?;
        let mut products: Vec<Vec<Poly<Evaluation>>> = (0..matrix.rows()).map(|_| Vec::new()).collect();
        for part in 0..first.parts().len() {
            let column: Vec<&Poly<Evaluation>> =
                rows.iter().filter_map(|row| row.parts().get(part)).collect();
            let parts = ring.matrix_product(&matrix.matrix, &column, ring.level())?;
            products.iter_mut().zip(parts).for_each(|(product, part)| product.push(part));
        }
        Ok(products)
    }
}

impl<S: Exact> Evaluator<S> {
    /// Multiplies a plain matrix by encrypted rows, exactly: row i of the result is Σ_k m_ik·row_k modulo t, slot by slot or
    /// coefficient by coefficient. It needs no key.
    ///
    /// Noise grows by the sum of absolute values in a row of the matrix, its deviation by the length of the row where the
    /// rows are fresh; a budget of BGV counts the largest entry times the number of columns as additions.
    ///
    /// # Errors
    /// The scheme's error `Empty` without rows; [`RlweError::Ring`] unless there is a row for each column of the matrix;
    /// [`RlweError::WrongPartCount`] for rows of different part counts; [`RlweError::Memory`]; the scheme's errors for rows of other
    /// parameters or keys, and its refusal of the result.
    pub fn multiply_matrix(
        &self,
        matrix: &PreparedMatrix,
        rows: &[&Ciphertext<S>],
    ) -> Result<Vec<Ciphertext<S>>, S::Error> {
        self.combine_rows(matrix, rows, |common, norms| {
            let metadata = S::scaled(&common.metadata, norms.largest);
            Ok((metadata, common.noise.combination(norms)))
        })
    }
}
