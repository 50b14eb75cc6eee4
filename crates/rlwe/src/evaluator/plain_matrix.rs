//! Matrices of plaintexts, and products of vectors of ciphertexts with them.

use sunzi_encoding::Plaintext;
use sunzi_ring::PolyMatrix;

use super::{Evaluator, Exact};
use crate::{Ciphertext, PlainFactor, RlweError, plain_factor};

/// A matrix of plaintexts, prepared for products of vectors of ciphertexts with it; erased when dropped. A product reads it from memory once, from end to
/// end.
pub struct PlainMatrix {
    polys: PolyMatrix,
    /// 1-norms of the plaintexts, column by column.
    norms: Vec<f64>,
    plain_modulus: u64,
}

impl PlainMatrix {
    /// The numbers of rows and columns of a matrix of plaintexts.
    #[must_use]
    pub fn sides(&self) -> [usize; 2] {
        self.polys.sides()
    }

    /// Length of a matrix of plaintexts in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.polys.byte_len() + size_of_val(&*self.norms)
    }
}

impl<S: Exact> Evaluator<S> {
    /// Makes a matrix of plaintexts that are zero, with so many rows and columns.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a matrix without elements, of more than 4096 rows, or too large for the memory.
    pub fn plain_matrix(&self, rows: usize, columns: usize) -> Result<PlainMatrix, S::Error> {
        let polys = S::rlwe(self.context()).ring().poly_matrix(rows, columns).map_err(RlweError::from)?;
        let norms = vec![0.0; rows * columns];
        Ok(PlainMatrix { polys, norms, plain_modulus: S::plain_modulus(self.context()) })
    }

    /// Puts a plaintext into a matrix of plaintexts.
    ///
    /// # Errors
    /// Every error of [`prepare_plain`](Self::prepare_plain); the scheme's errors for a matrix of other parameters; [`RlweError::Ring`] outside of the matrix.
    pub fn set_plain(
        &self,
        matrix: &mut PlainMatrix,
        [row, column]: [usize; 2],
        plaintext: &Plaintext,
    ) -> Result<(), S::Error> {
        self.check_plain(matrix.plain_modulus)?;
        let factor = PlainFactor::new(S::rlwe(self.context()), &self.centred(plaintext)?)?;
        matrix.polys.set(row, column, factor.poly()).map_err(RlweError::from)?;
        let [rows, _] = matrix.sides();
        if let Some(norm) = matrix.norms.get_mut(column * rows + row) {
            *norm = factor.norm();
        }
        Ok(())
    }

    /// Returns Σ_i a_i·m_ij for every column j of a matrix of plaintexts, for each vector of a ciphertext a_i for every row: all ciphertexts have one level and
    /// part count. The matrix is read once for all vectors.
    ///
    /// # Errors
    /// The scheme's errors for operands of other parameters, and its refusal of a result; [`RlweError::Ring`] for another number of ciphertexts;
    /// [`RlweError::WrongPartCount`]; [`RlweError::KeyMismatch`].
    pub fn plain_matrix_products(
        &self,
        vectors: &[&[Ciphertext<S>]],
        matrix: &PlainMatrix,
    ) -> Result<Vec<Vec<Ciphertext<S>>>, S::Error> {
        self.check_plain(matrix.plain_modulus)?;
        let (mut lists, mut level) = (Vec::new(), S::rlwe(self.context()).ring().level());
        for vector in vectors {
            for one in *vector {
                S::check(self.context(), one)?;
                level = level.min(self.ring_of(one)?.level());
            }
            lists.push(plain_factor::by_part(vector.iter())?);
        }
        let parts: Vec<_> = lists.iter().flatten().map(Vec::as_slice).collect();
        let products = matrix.polys.products(&parts, level).map_err(RlweError::from)?;
        let mut products: Vec<_> = products.into_iter().map(Vec::into_iter).collect();
        let [rows, columns] = matrix.sides();
        let mut parts = products.iter_mut();
        let mut sums = Vec::with_capacity(vectors.len());
        for (vector, list) in vectors.iter().zip(&lists) {
            let mut parts: Vec<_> = parts.by_ref().take(list.len()).collect();
            let sum = |column: usize| {
                let parts = parts.iter_mut().filter_map(|columns| columns.next()).collect();
                let norms = matrix.norms.iter().skip(column * rows).copied();
                self.summed(parts, vector.iter().zip(norms))
            };
            sums.push((0..columns).map(sum).collect::<Result<_, _>>()?);
        }
        Ok(sums)
    }

    /// Fails for a plaintext modulus that is not the context's.
    pub(super) fn check_plain(&self, got: u64) -> Result<(), S::Error> {
        let expected = S::plain_modulus(self.context());
        if got == expected { Ok(()) } else { Err(S::other_modulus(expected, got)) }
    }
}
