//! Square matrices of complex numbers as diagonals, in the clear.

use std::collections::BTreeMap;

use num_complex::Complex64;

use super::LinearTransformError;

/// A square matrix stored by its nonzero diagonals: (M·v)_j = Σ_d diagonal_d\[j\]·v_(j+d), indices modulo the size,
/// a power of two.
///
/// A diagonal that repeats is stored for one period: the diagonals of a factor of a Fourier transform have a short period, and so have the
/// polynomials that encode them.
///
/// ```
/// use num_complex::Complex64;
/// use sunzi_circuits::linear_transform::Diagonals;
///
/// # fn main() -> Result<(), sunzi_circuits::linear_transform::LinearTransformError> {
/// // Every slot plus twice its right neighbour.
/// let mut matrix = Diagonals::new(4)?;
/// matrix.add(0, &[Complex64::ONE])?;
/// matrix.add(1, &[Complex64::from(2.0)])?;
/// let vector = [1.0, 10.0, 100.0, 1000.0].map(Complex64::from);
/// assert_eq!(matrix.apply(&vector)?, [21.0, 210.0, 2100.0, 1002.0].map(Complex64::from));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Diagonals {
    size: usize,
    diagonals: BTreeMap<usize, Vec<Complex64>>,
}

impl Diagonals {
    /// Makes the zero matrix of a size.
    ///
    /// # Errors
    /// [`LinearTransformError::Size`] unless the size is a power of two up to 2^30.
    pub fn new(size: usize) -> Result<Self, LinearTransformError> {
        if !size.is_power_of_two() || size > 1 << 30 {
            return Err(LinearTransformError::Size { got: size });
        }
        Ok(Self { size, diagonals: BTreeMap::new() })
    }

    /// Makes the matrix with the given entries, by row and column.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn from_entries(
        size: usize,
        entry: impl Fn(usize, usize) -> Complex64,
    ) -> Result<Self, LinearTransformError> {
        let mut matrix = Self::new(size)?;
        for d in 0..size {
            let values: Vec<Complex64> = (0..size).map(|j| entry(j, (j + d) % size)).collect();
            matrix.put(d, values);
        }
        Ok(matrix)
    }

    /// Adds these values, repeated, to diagonal d (modulo the size).
    ///
    /// # Errors
    /// [`LinearTransformError::Period`] unless their number divides the size.
    pub fn add(&mut self, d: i64, values: &[Complex64]) -> Result<(), LinearTransformError> {
        if values.is_empty() || !self.size.is_multiple_of(values.len()) {
            return Err(LinearTransformError::Period { got: values.len(), size: self.size });
        }
        let d = d.rem_euclid(self.size as i64) as usize;
        let old = self.diagonals.remove(&d).unwrap_or_else(|| vec![Complex64::ZERO]);
        let period = old.len().max(values.len());
        let sum = old.iter().cycle().zip(values.iter().cycle()).take(period).map(|(a, b)| a + b);
        self.put(d, sum.collect());
        Ok(())
    }

    /// Stores one period of a diagonal, unless it vanishes.
    fn put(&mut self, d: usize, mut values: Vec<Complex64>) {
        while values.len() > 1 {
            let (first, second) = values.split_at(values.len() / 2);
            if first != second {
                break;
            }
            values.truncate(values.len() / 2);
        }
        if values.iter().any(|value| *value != Complex64::ZERO) {
            self.diagonals.insert(d, values);
        }
    }

    /// Number of rows and of columns of the matrix.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Yields the diagonals of the matrix that do not vanish, ascending, each with one period of its values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[Complex64])> {
        self.diagonals.iter().map(|(&d, values)| (d, values.as_slice()))
    }

    /// Returns one period of a diagonal of the matrix, `None` if it vanishes.
    #[must_use]
    pub fn diagonal(&self, d: usize) -> Option<&[Complex64]> {
        self.diagonals.get(&d).map(Vec::as_slice)
    }

    /// Number of diagonals of the matrix that do not vanish.
    #[must_use]
    pub fn count(&self) -> usize {
        self.diagonals.len()
    }

    /// Returns the product M·v with a vector in the clear.
    ///
    /// # Errors
    /// [`LinearTransformError::Length`] unless the vector has as many numbers as the matrix has columns.
    pub fn apply(&self, vector: &[Complex64]) -> Result<Vec<Complex64>, LinearTransformError> {
        if vector.len() != self.size {
            return Err(LinearTransformError::Length { expected: self.size, got: vector.len() });
        }
        let mut product = vec![Complex64::ZERO; self.size];
        for (&d, values) in &self.diagonals {
            let moved = vector.iter().cycle().skip(d);
            for ((sum, value), entry) in product.iter_mut().zip(moved).zip(values.iter().cycle()) {
                *sum += entry * value;
            }
        }
        Ok(product)
    }

    /// Returns the matrix product that applies `first` and then this matrix.
    ///
    /// # Errors
    /// [`LinearTransformError::Length`] for matrices of different sizes.
    pub fn after(&self, first: &Self) -> Result<Self, LinearTransformError> {
        if self.size != first.size {
            return Err(LinearTransformError::Length { expected: self.size, got: first.size });
        }
        let mut sums: BTreeMap<usize, Vec<Complex64>> = BTreeMap::new();
        for (&a, left) in &self.diagonals {
            for (&b, right) in &first.diagonals {
                let period = left.len().max(right.len());
                let sum = sums.entry((a + b) % self.size).or_default();
                let longest = period.max(sum.len());
                let old = if sum.is_empty() { vec![Complex64::ZERO] } else { std::mem::take(sum) };
                let products = left.iter().cycle().zip(right.iter().cycle().skip(a));
                let terms = old.iter().cycle().zip(products).take(longest);
                *sum = terms.map(|(old, (left, right))| old + left * right).collect();
            }
        }
        let mut product = Self::new(self.size)?;
        sums.into_iter().for_each(|(d, values)| product.put(d, values));
        Ok(product)
    }

    /// Returns the matrix with row j multiplied by `factors[j]`, which repeat.
    ///
    /// # Errors
    /// [`LinearTransformError::Period`] unless their number divides the size.
    pub fn with_rows_scaled(&self, factors: &[Complex64]) -> Result<Self, LinearTransformError> {
        let mut scale = Self::new(self.size)?;
        scale.add(0, factors)?;
        scale.after(self)
    }

    /// Returns the matrix with these diagonals for vectors of another size, which the diagonals' periods must divide: on a larger size,
    /// this map of repeating vectors.
    ///
    /// # Errors
    /// [`LinearTransformError::Size`]; [`LinearTransformError::Period`].
    pub fn with_size(&self, size: usize) -> Result<Self, LinearTransformError> {
        let mut resized = Self::new(size)?;
        for (&d, values) in &self.diagonals {
            resized.add(d as i64, values)?;
        }
        Ok(resized)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(i: usize, j: usize) -> Complex64 {
        Complex64::new((3 * i + 7 * j) as f64 % 11.0 - 5.0, (5 * i + j) as f64 % 7.0)
    }

    fn vector(size: usize) -> Vec<Complex64> {
        (0..size).map(|j| Complex64::new(j as f64, 2.0 - j as f64)).collect()
    }

    #[test]
    fn a_matrix_acts_as_its_entries_say() {
        for size in [1_usize, 2, 4, 16] {
            let (matrix, v) = (Diagonals::from_entries(size, entry).unwrap(), vector(size));
            let product = matrix.apply(&v).unwrap();
            for (i, value) in product.iter().enumerate() {
                let expected: Complex64 = v.iter().enumerate().map(|(j, v)| entry(i, j) * v).sum();
                assert!((value - expected).norm() < 1e-9);
            }
        }
    }

    #[test]
    fn products_of_matrices_act_one_after_the_other() {
        let size = 8;
        let mut sparse = Diagonals::new(size).unwrap();
        sparse.add(-1, &vector(2)).unwrap();
        sparse.add(3, &vector(4)).unwrap();
        let dense = Diagonals::from_entries(size, entry).unwrap();
        for (a, b) in [(&sparse, &dense), (&dense, &sparse), (&sparse, &sparse)] {
            let once = a.after(b).unwrap().apply(&vector(size)).unwrap();
            let twice = a.apply(&b.apply(&vector(size)).unwrap()).unwrap();
            assert!(once.iter().zip(&twice).all(|(x, y)| (x - y).norm() < 1e-9));
        }
        let square = sparse.after(&sparse).unwrap();
        assert_eq!(square.iter().map(|(d, _)| d).collect::<Vec<_>>(), [2, 6]);
        let scaled = sparse.with_rows_scaled(&[Complex64::ONE, Complex64::i()]).unwrap();
        let expected = sparse.apply(&vector(size)).unwrap();
        for (j, value) in scaled.apply(&vector(size)).unwrap().iter().enumerate() {
            assert_eq!(*value, expected[j] * if j % 2 == 0 { Complex64::ONE } else { Complex64::i() });
        }
    }

    #[test]
    fn diagonals_that_repeat_are_kept_once_and_zeros_never() {
        let mut matrix = Diagonals::new(16).unwrap();
        let [one, i] = [Complex64::ONE, Complex64::i()];
        matrix.add(5, &[one, i, one, i]).unwrap();
        assert_eq!(matrix.iter().collect::<Vec<_>>(), [(5, &[one, i][..])]);
        matrix.add(-11, &[one, one, i, i]).unwrap();
        assert_eq!(matrix.iter().next().unwrap().1, [one + one, i + one, one + i, i + i]);
        matrix.add(5, &[-(one + one), -(i + one), -(one + i), -(i + i)]).unwrap();
        assert_eq!(matrix.count(), 0);
        assert_eq!(matrix.apply(&vector(16)).unwrap(), [Complex64::ZERO; 16]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for size in [0, 3, 1 << 31, usize::MAX] {
            assert!(matches!(Diagonals::new(size), Err(LinearTransformError::Size { .. })));
        }
        let mut matrix = Diagonals::new(8).unwrap();
        for count in [0, 3, 16] {
            assert!(matches!(matrix.add(0, &vector(count)), Err(LinearTransformError::Period { .. })));
        }
        assert!(matrix.add(i64::MIN, &vector(8)).is_ok() && matrix.add(i64::MAX, &vector(8)).is_ok());
        assert!(matrix.apply(&vector(7)).is_err() && matrix.with_size(4).is_err());
        assert!(matrix.after(&Diagonals::new(4).unwrap()).is_err());
    }
}
