//! Workloads of many ciphertexts: the same in every scheme, and in every library that is compared.

use std::cell::OnceCell;

use num_complex::Complex64;
use sunzi_bfv::row_rotation_exponent;
use sunzi_circuits::matrix_vector::Matrix;
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys, Rotation, matrix_vector};
use sunzi_encoding::{BatchEncoder, Encoder, EncodingError, Plaintext};
use sunzi_math::{add_mod, mul_mod};
use sunzi_rlwe::{GaloisKeys, RlweContext, SecretKey};

use crate::{LabError, Result};

/// Pairs of an inner product.
const PAIRS: usize = 128;
/// Factors of a product tree.
const FACTORS: usize = 128;
/// Rows and columns of a matrix that multiplies.
pub(crate) const MATRIX: usize = 64;

/// Their names.
pub(crate) const INNER_PRODUCT: &str = "inner_product_128";
pub(crate) const PRODUCT_TREE: &str = "product_tree_128";
pub(crate) const MATRIX_VECTOR: &str = "matrix_vector_64";

/// Levels of the product tree.
pub(crate) const TREE_DEPTH: u32 = FACTORS.ilog2();

/// Ciphertexts of the left and of the right operand in turn, made when they are first asked for: more than a cache holds.
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

    /// The pairs of an inner product; `make` encrypts the left operand for 0 and the right one for 1.
    pub(crate) fn pairs<E>(
        &self,
        n: usize,
        make: impl Fn(usize) -> Result<C, E>,
    ) -> Result<Vec<(&C, &C)>, E> {
        let mut all = self.get(n, make)?.iter().cycle();
        Ok((0..PAIRS).filter_map(|_| all.next().zip(all.next())).collect())
    }

    /// The factors of a product tree, made likewise.
    pub(crate) fn factors<E>(&self, n: usize, make: impl Fn(usize) -> Result<C, E>) -> Result<Vec<&C>, E> {
        Ok(self.get(n, make)?.iter().cycle().take(FACTORS).collect())
    }
}

/// The product of a list of factors, depth first: a product is made when both of its factors are there. `multiply` hears
/// whether its product is the last one.
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

/// Entry (row, column) of the matrix: the slots of the right operand, row by row.
pub(crate) fn entry<T: Clone + Default>(right: &[T], row: usize, column: usize) -> T {
    right.get(MATRIX * row + column).cloned().unwrap_or_default()
}

/// A matrix of an exact scheme, and the keys of the rotations that it takes.
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
        encoder: &BatchEncoder,
        right: &[u64],
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

    /// The matrix times a vector.
    pub(crate) fn multiply(&self, arithmetic: &A, vector: &A::Ciphertext) -> Result<A::Ciphertext> {
        let Self(matrix, keys) = self;
        Ok(matrix_vector::multiply(arithmetic, matrix, vector, keys)?)
    }
}

/// What the workloads open to modulo t; none for other names.
pub(crate) fn expected_words(name: &str, left: &[u64], right: &[u64], t: u64) -> Option<Vec<u64>> {
    let pairs = || left.iter().zip(right).map(|(x, y)| mul_mod(*x, *y, t));
    match name {
        INNER_PRODUCT => Some(pairs().map(|product| mul_mod(product, PAIRS as u64, t)).collect()),
        PRODUCT_TREE => {
            let squares = (FACTORS / 2).ilog2();
            Some(pairs().map(|x| (0..squares).fold(x, |power, _| mul_mod(power, power, t))).collect())
        }
        MATRIX_VECTOR => {
            let add = |sum, x, y| add_mod(sum, mul_mod(x, y, t), t);
            Some(left.chunks(left.len() / 2).flat_map(|row| by_matrix(row, right, add)).collect())
        }
        _ => None,
    }
}

/// What the workloads open to over the complex numbers; none for other names.
pub(crate) fn expected_complex(
    name: &str,
    left: &[Complex64],
    right: &[Complex64],
) -> Option<Vec<Complex64>> {
    let pairs = || left.iter().zip(right).map(|(x, y)| x * y);
    match name {
        INNER_PRODUCT => Some(pairs().map(|product| product * PAIRS as f64).collect()),
        PRODUCT_TREE => Some(pairs().map(|product| product.powu((FACTORS / 2) as u32)).collect()),
        MATRIX_VECTOR => Some(by_matrix(left, right, |sum, x, y| sum + x * y)),
        _ => None,
    }
}

/// Slot i is the sum over d of entry (i, i + d), both modulo [`MATRIX`], and slot i + d of the vector. `add`(s, x, y) is s + x·y.
fn by_matrix<T: Clone + Default>(vector: &[T], right: &[T], add: impl Fn(T, T, T) -> T) -> Vec<T> {
    let slot = |i: usize| {
        (i..i + MATRIX).fold(T::default(), |sum, at| {
            let x = vector.get(at % vector.len().max(1)).cloned().unwrap_or_default();
            add(sum, entry(right, i % MATRIX, at % MATRIX), x)
        })
    };
    (0..vector.len()).map(slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let product = expected_words(MATRIX_VECTOR, &vector, &right, t).unwrap();
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
