//! Matrices of polynomials, stored in the order in which products with vectors read them.

use sunzi_kernels::MAX_TERMS;

use crate::error::check_length;
use crate::{Evaluation, Poly, RingError};

/// A matrix of polynomials, for products of vectors with it; erased when dropped.
///
/// ```
/// use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
/// use sunzi_ring::{Evaluation, Poly, Ring};
///
/// let ring = Ring::new(128, &primes_below(DEFAULT_PRIME_BOUND, 128, 2)?)?;
/// let constant = |c: i64| -> Result<Poly<Evaluation>, sunzi_ring::RingError> {
///     let mut coefficients = vec![0; ring.degree()];
///     coefficients[0] = c;
///     ring.to_evaluation(ring.from_signed(&coefficients)?)
/// };
/// let mut matrix = ring.poly_matrix(2, 3)?;
/// matrix.set(0, 2, &constant(5)?)?;
/// matrix.set(1, 2, &constant(7)?)?;
/// let (a, b) = (constant(2)?, constant(3)?);
/// let products = matrix.products(&[&[&a, &b]], ring.level())?;
/// let last = ring.to_integers(&ring.to_coefficient(products[0][2].clone())?)?;
/// assert_eq!(last[0], (2 * 5 + 3 * 7).into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PolyMatrix {
    rows: usize,
    columns: usize,
    content: Box<dyn MatrixContent>,
}

/// Elements of a [`PolyMatrix`] as a storage of residues keeps them.
pub trait MatrixContent: Send + Sync {
    /// Does [`PolyMatrix::set`] for a place within the matrix.
    ///
    /// # Errors
    /// Every error of [`Backend::check`](crate::Backend::check).
    fn set(&mut self, row: usize, column: usize, a: &Poly<Evaluation>) -> Result<(), RingError>;
    /// Does [`PolyMatrix::products`] for vectors of as many elements as there are rows: returns the products with all columns of the first vector,
    /// then of the second one, and so on.
    ///
    /// # Errors
    /// Every error of [`PolyMatrix::products`] but that of lengths.
    fn products(
        &self,
        vectors: &[&[&Poly<Evaluation>]],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError>;
    /// Length of the matrix in memory, in bytes.
    fn byte_len(&self) -> usize;
    /// Erases the elements of the matrix.
    fn erase(&mut self);
}

impl PolyMatrix {
    /// A matrix as a storage keeps it.
    #[must_use]
    pub fn new(rows: usize, columns: usize, content: impl MatrixContent + 'static) -> Self {
        Self { rows, columns, content: Box::new(content) }
    }

    /// The numbers of rows and columns of the matrix.
    #[must_use]
    pub fn sides(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// Length of the matrix in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.content.byte_len()
    }

    /// Puts a polynomial into the matrix. All elements are zero at first.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] outside of the matrix; [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`] for a polynomial of another ring.
    pub fn set(&mut self, row: usize, column: usize, a: &Poly<Evaluation>) -> Result<(), RingError> {
        for (what, got, end) in [("a row", row, self.rows), ("a column", column, self.columns)] {
            if got >= end {
                return Err(RingError::out_of_range(what, format!("below {end}"), got));
            }
        }
        self.content.set(row, column, a)
    }

    /// Returns Σ_i a_i·m_ij modulo Q_l for every column j of the matrix, for each vector of a_i of any levels from l. Every element of the matrix is read
    /// from memory once for all vectors.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless each vector has an element for every row; [`RingError::ShapeMismatch`] or [`RingError::OtherModulus`];
    /// [`RingError::NoSuchLevel`] for an element below level l; [`RingError::NotNested`].
    pub fn products(
        &self,
        vectors: &[&[&Poly<Evaluation>]],
        level: usize,
    ) -> Result<Vec<Vec<Poly<Evaluation>>>, RingError> {
        for vector in vectors {
            check_length("vector that a matrix of polynomials is multiplied by", self.rows, vector.len())?;
        }
        let mut products = self.content.products(vectors, level)?.into_iter();
        Ok(vectors.iter().map(|_| products.by_ref().take(self.columns).collect()).collect())
    }
}

/// Returns the number of elements of a matrix that has any, and no more rows than an inner product has terms.
pub(crate) fn check_sides(rows: usize, columns: usize) -> Result<usize, RingError> {
    match rows.checked_mul(columns) {
        Some(count) if count > 0 && rows <= MAX_TERMS => Ok(count),
        _ => {
            let expected = format!("1 to {MAX_TERMS} rows and at least 1 column");
            let got = format!("{rows} and {columns}");
            Err(RingError::out_of_range("the sides of a matrix of polynomials", expected, got))
        }
    }
}

impl Drop for PolyMatrix {
    fn drop(&mut self) {
        self.content.erase();
    }
}
