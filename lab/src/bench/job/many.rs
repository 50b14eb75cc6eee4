//! Workloads of many ciphertexts, equal in every scheme and in every library that is compared.

use std::cell::OnceCell;

use sunzi_bfv::row_rotation_exponent;
use sunzi_circuits::matrix_vector::Matrix;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys, Rotation, matrix_vector};
use sunzi_encoding::{BatchEncoder, Encoder, EncodingError, Plaintext};
use sunzi_rlwe::{GaloisKeys, RlweContext, SecretKey};

use crate::bench::{LabError, Result};

/// Number of ciphertext pairs of an inner product.
pub(crate) const PAIRS: usize = 128;
/// Number of factors of a product tree.
pub(crate) const FACTORS: usize = 128;
/// Number of rows and of columns of the matrix that multiplies a vector.
pub(crate) const MATRIX: usize = 64;

/// Name of the workload of an inner product.
pub(crate) const INNER_PRODUCT: &str = "inner_product_128";
pub(crate) const PRODUCT_TREE: &str = "product_tree_128";
pub(crate) const MATRIX_VECTOR: &str = "matrix_vector_64";

/// Number of levels of products in the product tree.
pub(crate) const TREE_DEPTH: u32 = FACTORS.ilog2();

/// Ciphertexts of the left and the right operand in turn, made when they are first asked for: more than a
/// cache holds.
pub(crate) struct Pool<C>(OnceCell<Vec<C>>);

impl<C> Pool<C> {
    pub(crate) fn new() -> Self {
        Self(OnceCell::new())
    }

    fn get<E>(&self, n: usize, make: impl Fn(usize) -> Result<C, E>) -> Result<&[C], E> {
        if let Some(made) = self.0.get() {
            return Ok(made);
        }
        let size = ((1 << 20) / n).clamp(2, 2 * PAIRS);
        let made: Vec<C> = (0..size).map(|at| make(at % 2)).collect::<Result<_, _>>()?;
        Ok(self.0.get_or_init(|| made))
    }

    /// The pairs of ciphertexts of an inner product; `make` encrypts the left operand for 0 and the right one
    /// for 1.
    pub(crate) fn pairs<E>(
        &self,
        n: usize,
        make: impl Fn(usize) -> Result<C, E>,
    ) -> Result<Vec<(&C, &C)>, E> {
        let mut all = self.get(n, make)?.iter().cycle();
        Ok((0..PAIRS).filter_map(|_| all.next().zip(all.next())).collect())
    }

    /// The ciphertexts that are factors of a product tree; `make` encrypts the left operand for 0 and the
    /// right one for 1.
    pub(crate) fn factors<E>(&self, n: usize, make: impl Fn(usize) -> Result<C, E>) -> Result<Vec<&C>, E> {
        Ok(self.get(n, make)?.iter().cycle().take(FACTORS).collect())
    }
}

/// The product of a list of factors, depth first: a product is made when both of its factors are there.
/// `multiply` is told whether its product is the last one.
pub(crate) fn tree<C, E>(
    factors: &[&C],
    last: bool,
    multiply: &impl Fn(&C, &C, bool) -> Result<C, E>,
) -> Result<C>
where
    LabError: From<E>,
{
    match factors {
        [] | [_] => Err(LabError::request("expected 2^k factors, k > 0")),
        [a, b] => Ok(multiply(a, b, last)?),
        _ => {
            let (left, right) = factors.split_at(factors.len() / 2);
            Ok(multiply(&tree(left, false, multiply)?, &tree(right, false, multiply)?, last)?)
        }
    }
}

/// Entry (row, column) of the test matrix, which holds the slots of the right operand row by row.
pub(crate) fn entry<T: Clone + Default>(right: &[T], row: usize, column: usize) -> T {
    right.get(MATRIX * row + column).cloned().unwrap_or_default()
}

/// The encoded test matrix of an exact scheme, and the keys of the rotations that it takes.
pub(crate) struct ExactMatrix<A: Arithmetic>(Matrix<A::Multiplier>, EvaluationKeys);

impl<A> ExactMatrix<A>
where
    A: Arithmetic<Plaintext = Plaintext, Keys = EvaluationKeys>,
    A::Error: From<EncodingError>,
    LabError: From<CircuitError<A::Error>>,
{
    pub(crate) fn new(
        arithmetic: &A,
        (context, secret): (&RlweContext, &SecretKey),
        (encoder, right): (&BatchEncoder, &[u64]),
        rng: &mut dyn rand_core::CryptoRng,
    ) -> Result<Self> {
        let encode = |slots: &[u64]| encoder.encode(slots);
        let matrix = Matrix::encode(arithmetic, MATRIX, MATRIX, |i, j| entry(right, i, j), encode)?;
        let n = 2 * arithmetic.row_length();
        let exponents = matrix.required_rotations().iter().filter_map(|rotation| match rotation {
            Rotation::Rows(steps) => Some(row_rotation_exponent(n, *steps)),
            Rotation::Columns => None,
        });
        let galois = Some(GaloisKeys::generate(context, secret, exponents, rng)?);
        Ok(Self(matrix, EvaluationKeys { relinearization: None, galois }))
    }

    /// Multiplies the test matrix by an encrypted vector.
    pub(crate) fn multiply(&self, arithmetic: &A, vector: &A::Ciphertext) -> Result<A::Ciphertext> {
        let Self(matrix, keys) = self;
        Ok(matrix_vector::multiply(arithmetic, matrix, vector, keys)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabError;

    #[test]
    fn a_tree_takes_every_factor_once_and_its_last_product_last() {
        let multiply = |a: &u64, b: &u64, last: bool| {
            assert_eq!(last, a * b == 5040 * 8);
            Ok::<_, LabError>(a * b)
        };
        let factors = [1, 2, 3, 4, 5, 6, 7, 8];
        let factors: Vec<&u64> = factors.iter().collect();
        assert_eq!(tree(&factors, true, &multiply).unwrap(), 5040 * 8);
        assert!(tree(&factors[..1], true, &multiply).is_err());
    }

    #[test]
    fn the_matrix_multiplies_vectors_that_repeat() {
        let (t, n) = (65537, 8192);
        let right = crate::bench::check::residues(n, t, 3);
        let vector: Vec<u64> =
            crate::bench::check::residues(MATRIX, t, 4).into_iter().cycle().take(n).collect();
        let product = super::super::expected::expected(MATRIX_VECTOR, &vector, &right, t);
        for (slot, value) in product.iter().enumerate() {
            let row = slot % MATRIX;
            let terms = (0..MATRIX).map(|j| right[MATRIX * row + j] * vector[j] % t);
            assert_eq!(*value, terms.sum::<u64>() % t);
        }
    }

    #[test]
    fn pools_are_made_once_and_longer_than_a_cache() {
        let pool = Pool::new();
        let pairs = pool.pairs(1 << 15, Ok::<_, LabError>).unwrap();
        assert_eq!((pairs.len(), pairs[127]), (PAIRS, (&0, &1)));
        let made_again = |_| Err(LabError::request("made again"));
        assert_eq!(pool.factors(1 << 15, made_again).unwrap().len(), FACTORS);
    }
}
