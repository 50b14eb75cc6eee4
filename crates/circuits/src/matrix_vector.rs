//! Matrices times encrypted vectors, by diagonals in baby steps and giant steps.
//!
//! With R and C the numbers of rows and columns rounded up to powers of two, a vector stands in a row of slots
//! repeatedly with period C ([`pack`]), and diagonal d holds the entry (i mod R, i + d mod C) in slot i. Then
//! Σ_d diagonal_d·rotate_d(v) over the min(R, C) diagonals is the product, for wide matrices after log2(C/R) more
//! rotations that add slots R apart. It repeats with period R, so that a product may be multiplied again.
//!
//! The two rows of slots hold two vectors: one product multiplies both by the same matrix.

mod layout;

use std::collections::BTreeMap;

use layout::Layout;
use rayon::prelude::*;

use crate::arithmetic::check_keys;
use crate::{Arithmetic, CircuitError, GiantStep, Outcome, Rotation};

/// A matrix prepared to multiply vectors: its diagonals as `T`, prepared plaintexts or ciphertexts.
#[derive(Clone, Debug)]
pub struct Matrix<T> {
    layout: Layout,
    baby_steps: usize,
    /// Diagonals of each giant step by baby step, each diagonal rotated back by the giant step that follows.
    giants: BTreeMap<usize, Vec<(usize, T)>>,
    rotations: Vec<Rotation>,
}

/// Lists the rotations that any matrix without vanishing diagonals of this shape needs, clear or encrypted; one with
/// vanishing diagonals has its own: [`Matrix::required_rotations`].
///
/// # Errors
/// [`CircuitError::MatrixShape`] for a matrix that does not fit a row of slots.
pub fn required_rotations<A: Arithmetic>(
    arithmetic: &A,
    rows: usize,
    columns: usize,
) -> Outcome<A, Vec<Rotation>> {
    let layout = layout(arithmetic, rows, columns)?;
    let all: Vec<usize> = (0..layout.diagonals()).collect();
    Ok(layout.rotations(&all, layout.baby_steps(&all)))
}

/// Packs two vectors of at most `columns` numbers, one for each row of slots, as [`multiply`] takes them:
/// padded with zeros to a power of two and repeated.
///
/// ```
/// use sunzi_circuits::matrix_vector::pack;
///
/// assert_eq!(pack(3, 8, &[1, 2, 3], &[]), [1, 2, 3, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// ```
#[must_use]
pub fn pack<V: Clone + Default>(columns: usize, row_length: usize, first: &[V], second: &[V]) -> Vec<V> {
    let period = columns.max(1).checked_next_power_of_two().unwrap_or(usize::MAX);
    let value = |vector: &[V], slot: usize| vector.get(slot % period).cloned().unwrap_or_default();
    [first, second].iter().flat_map(|vector| (0..row_length).map(move |slot| value(vector, slot))).collect()
}

impl<T> Matrix<T> {
    /// Rotations that a product with this matrix needs.
    #[must_use]
    pub fn required_rotations(&self) -> &[Rotation] {
        &self.rotations
    }

    /// Number of rows of the prepared matrix.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Number of columns of the prepared matrix.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Number of diagonals of the matrix that do not vanish: the number of products it takes.
    #[must_use]
    pub fn diagonals(&self) -> usize {
        self.giants.values().map(Vec::len).sum()
    }

    /// Number of baby steps, all of them rotations of the vector itself.
    #[must_use]
    pub fn baby_steps(&self) -> usize {
        self.baby_steps
    }

    /// Groups the diagonals of a matrix and makes each from its slots.
    fn from_diagonals<V: Default, E>(
        layout: Layout,
        diagonals: &[usize],
        entry: impl Fn(usize, usize) -> V,
        mut make: impl FnMut(&[V]) -> Result<T, E>,
    ) -> Result<Self, E> {
        let baby_steps = layout.baby_steps(diagonals);
        let mut giants: BTreeMap<usize, Vec<(usize, T)>> = BTreeMap::new();
        for diagonal in diagonals {
            let baby = diagonal % baby_steps;
            let giant = diagonal - baby;
            let made = make(&layout.slots(*diagonal, giant, &entry))?;
            giants.entry(giant).or_default().push((baby, made));
        }
        Ok(Self { layout, baby_steps, giants, rotations: layout.rotations(diagonals, baby_steps) })
    }

    /// Lists the baby steps that occur in the matrix, ascending.
    fn babies(&self) -> Vec<usize> {
        let mut babies: Vec<usize> = self.giants.values().flatten().map(|(baby, _)| *baby).collect();
        babies.sort_unstable();
        babies.dedup();
        babies
    }
}

impl<T> Matrix<T> {
    /// Prepares the clear matrix of `entry`(row, column): `encode` turns n slots into a plaintext. Diagonals that
    /// vanish are left out. Keep the result: preparing it takes longer than many products.
    ///
    /// # Errors
    /// [`CircuitError::MatrixShape`]; [`CircuitError::Scheme`], also for errors of `encode`.
    pub fn encode<A, E>(
        arithmetic: &A,
        rows: usize,
        columns: usize,
        entry: impl Fn(usize, usize) -> u64,
        mut encode: impl FnMut(&[u64]) -> Result<A::Plaintext, E>,
    ) -> Outcome<A, Self>
    where
        A: Arithmetic<Multiplier = T>,
        E: Into<A::Error>,
    {
        let layout = layout(arithmetic, rows, columns)?;
        let diagonals = layout.nonzero(|i, j| entry(i, j) != 0);
        Self::from_diagonals(layout, &diagonals, entry, |slots| {
            arithmetic.multiplier(&encode(slots).map_err(|error| CircuitError::Scheme(error.into()))?)
        })
    }

    /// Prepares an encrypted matrix: `encrypt` turns n slots into a ciphertext. All diagonals are kept, since
    /// which of them vanish is hidden, too.
    ///
    /// # Errors
    /// [`CircuitError::MatrixShape`]; [`CircuitError::Scheme`], also for errors of `encrypt`.
    pub fn encrypt<A, E>(
        arithmetic: &A,
        rows: usize,
        columns: usize,
        entry: impl Fn(usize, usize) -> u64,
        mut encrypt: impl FnMut(&[u64]) -> Result<A::Ciphertext, E>,
    ) -> Outcome<A, Self>
    where
        A: Arithmetic<Operand = T>,
        E: Into<A::Error>,
    {
        let layout = layout(arithmetic, rows, columns)?;
        let diagonals: Vec<usize> = (0..layout.diagonals()).collect();
        Self::from_diagonals(layout, &diagonals, entry, |slots| {
            arithmetic.operand(&encrypt(slots).map_err(|error| CircuitError::Scheme(error.into()))?)
        })
    }
}

/// Computes the product M·v for a clear matrix and a vector packed by [`pack`]; slot i of each row holds
/// entry i of the product.
///
/// With D = min(R, C) diagonals: D products with plaintexts and no product of ciphertexts; b − 1 rotations of the
/// vector together, at most D/b − 1 rotations one by one, and log2(C/R) for wide matrices. b is about √(3D), since
/// rotations of one ciphertext share their decomposition and are summed before the division by P.
///
/// ```
/// use sunzi_circuits::matrix_vector::{Matrix, multiply, pack};
/// # use sunzi_circuits::{Arithmetic, Clear, ClearKeys};
/// # let arithmetic = Clear::new(8, 65537);
/// # let keys = ClearKeys::all();
/// # let encode = |slots: &[u64]| Ok::<_, sunzi_circuits::ClearError>(arithmetic.encode(slots));
/// let rows = [[1, 2, 3], [4, 5, 6]];
/// let matrix = Matrix::encode(&arithmetic, 2, 3, |i, j| rows[i][j], encode)?;
/// let vector = arithmetic.encrypt(&pack(3, arithmetic.row_length(), &[1, 10, 100], &[]));
/// let product = multiply(&arithmetic, &matrix, &vector, &keys)?;
/// assert_eq!(product.slots()[..2], [321, 654]);
/// # Ok::<(), sunzi_circuits::CircuitError<sunzi_circuits::ClearError>>(())
/// ```
///
/// # Errors
/// [`CircuitError::MissingRotation`] without the keys of [`Matrix::required_rotations`];
/// [`CircuitError::PlanMismatch`] for a matrix of another row length; [`CircuitError::Scheme`].
pub fn multiply<A: Arithmetic>(
    arithmetic: &A,
    matrix: &Matrix<A::Multiplier>,
    vector: &A::Ciphertext,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    check(arithmetic, matrix, false, keys)?;
    let mut steps: Vec<GiantStep<'_, i64, A>> = Vec::with_capacity(matrix.giants.len());
    for (&giant, diagonals) in &matrix.giants {
        let terms = diagonals.iter().map(|(baby, diagonal)| (*baby as i64, diagonal));
        steps.push((giant as i64, terms.collect()));
    }
    if steps.is_empty() {
        // The zero matrix.
        return arithmetic.multiply_scalar(vector, 0);
    }
    folded(arithmetic, matrix, arithmetic.linear_map(vector, &steps, keys)?, keys)
}

/// Computes the product M·v for an encrypted matrix: [`multiply`] with products of ciphertexts at depth 1,
/// which every giant step scales and relinearises once.
///
/// ```
/// use sunzi_circuits::matrix_vector::{Matrix, multiply_encrypted, pack};
/// # use sunzi_circuits::{Arithmetic, Clear, ClearKeys};
/// # let arithmetic = Clear::new(8, 65537);
/// # let keys = ClearKeys::all();
/// # let encrypt = |slots: &[u64]| Ok::<_, sunzi_circuits::ClearError>(arithmetic.encrypt(slots));
/// let rows = [[1, 2, 3], [4, 5, 6]];
/// let matrix = Matrix::encrypt(&arithmetic, 2, 3, |i, j| rows[i][j], encrypt)?;
/// let vector = arithmetic.encrypt(&pack(3, arithmetic.row_length(), &[1, 10, 100], &[]));
/// let product = multiply_encrypted(&arithmetic, &matrix, &vector, &keys)?;
/// assert_eq!(product.slots()[..2], [321, 654]);
/// # Ok::<(), sunzi_circuits::CircuitError<sunzi_circuits::ClearError>>(())
/// ```
///
/// # Errors
/// Every error of [`multiply`]; [`CircuitError::MissingRelinearizationKey`].
pub fn multiply_encrypted<A: Arithmetic>(
    arithmetic: &A,
    matrix: &Matrix<A::Operand>,
    vector: &A::Ciphertext,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    check(arithmetic, matrix, true, keys)?;
    let babies: BTreeMap<usize, A::Operand> = babies(arithmetic, matrix, vector, keys)?
        .into_iter()
        .map(|(step, baby)| Ok((step, arithmetic.operand(&baby)?)))
        .collect::<Outcome<A, _>>()?;
    by_giants(arithmetic, matrix, vector, keys, |diagonals| {
        let mut sum = None;
        for (baby, diagonal) in pairs(&babies, diagonals) {
            arithmetic.add_product(&mut sum, diagonal, baby)?;
        }
        arithmetic.finish(sum.ok_or(CircuitError::Empty { what: "a giant step" })?, keys)
    })
}

fn layout<A: Arithmetic>(arithmetic: &A, rows: usize, columns: usize) -> Outcome<A, Layout> {
    let row_length = arithmetic.row_length();
    Layout::new(rows, columns, row_length).ok_or(CircuitError::MatrixShape { rows, columns, row_length })
}

fn check<A: Arithmetic, T>(
    arithmetic: &A,
    matrix: &Matrix<T>,
    relinearization: bool,
    keys: &A::Keys,
) -> Outcome<A, ()> {
    let (expected, got) = (matrix.layout.row_length as u64, arithmetic.row_length() as u64);
    if expected != got {
        return Err(CircuitError::PlanMismatch { what: "rows of slots of length", expected, got });
    }
    check_keys(arithmetic, keys, relinearization, matrix.rotations.iter().copied())
}

/// Returns the vector rotated by every baby step that occurs in the matrix.
fn babies<A: Arithmetic, T>(
    arithmetic: &A,
    matrix: &Matrix<T>,
    vector: &A::Ciphertext,
    keys: &A::Keys,
) -> Outcome<A, BTreeMap<usize, A::Ciphertext>> {
    let steps = matrix.babies();
    let signed: Vec<i64> = steps.iter().map(|&step| step as i64).collect();
    Ok(steps.into_iter().zip(arithmetic.rotate_many(vector, &signed, keys)?).collect())
}

/// Yields each diagonal with the rotated vector of its baby step.
fn pairs<'a, B, T>(
    babies: &'a BTreeMap<usize, B>,
    diagonals: &'a [(usize, T)],
) -> impl Iterator<Item = (&'a B, &'a T)> {
    diagonals.iter().filter_map(|(step, diagonal)| Some((babies.get(step)?, diagonal)))
}

/// Computes Σ rotate_g(inner sum) over the giant steps g, then adds the parts of a wide matrix.
fn by_giants<A: Arithmetic, T: Sync>(
    arithmetic: &A,
    matrix: &Matrix<T>,
    vector: &A::Ciphertext,
    keys: &A::Keys,
    inner: impl Fn(&[(usize, T)]) -> Outcome<A, A::Ciphertext> + Sync,
) -> Outcome<A, A::Ciphertext> {
    let turned = |(&giant, diagonals): (&usize, &Vec<(usize, T)>)| {
        arithmetic.rotate(&inner(diagonals)?, Rotation::Rows(giant as i64), keys)
    };
    let parts: Vec<A::Ciphertext> = matrix.giants.par_iter().map(turned).collect::<Outcome<A, _>>()?;
    let mut sum: Option<A::Ciphertext> = None;
    for part in parts {
        sum = Some(match sum {
            Some(sum) => arithmetic.add(&sum, &part)?,
            None => part,
        });
    }
    // The zero matrix.
    let Some(sum) = sum else { return arithmetic.multiply_scalar(vector, 0) };
    folded(arithmetic, matrix, sum, keys)
}

/// Adds up the parts of a product with a wide matrix.
fn folded<A: Arithmetic, T>(
    arithmetic: &A,
    matrix: &Matrix<T>,
    sum: A::Ciphertext,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    matrix.layout.folds().try_fold(sum, |sum, step| {
        let rotated = arithmetic.rotate(&sum, Rotation::Rows(step as i64), keys)?;
        arithmetic.add(&sum, &rotated)
    })
}

#[cfg(test)]
mod tests;
