//! Coordinates in a free submodule over Z_(p^r), by Gaussian elimination.

use crate::mod_inv;
use crate::prime_power::PrimePower;

/// Solves v = Σ x_i·b_i for basis vectors b_i that are independent modulo p.
#[derive(Debug, Clone)]
pub(crate) struct Coordinates {
    residues: PrimePower,
    /// Columns on which the basis is invertible.
    pivots: Vec<usize>,
    /// Inverse of the basis on these columns, row by row.
    inverse: Vec<Vec<u64>>,
}

impl Coordinates {
    /// Prepares the basis; `None` where the vectors are dependent modulo p.
    pub(crate) fn new(residues: PrimePower, basis: &[Vec<u64>]) -> Option<Self> {
        let size = basis.len();
        let width = basis.first().map_or(0, Vec::len);
        // [basis | identity], reduced row by row until the pivot columns hold the identity.
        let unit = |i: usize| (0..size).map(move |j| u64::from(i == j));
        let mut rows: Vec<Vec<u64>> =
            basis.iter().enumerate().map(|(i, row)| row.iter().copied().chain(unit(i)).collect()).collect();
        let mut pivots = vec![0; size];
        for i in 0..size {
            let mut row = std::mem::take(rows.get_mut(i)?);
            let column = row.iter().take(width).position(|x| !x.is_multiple_of(residues.p))?;
            let scale = mod_inv(*row.get(column)?, residues.t).ok()?;
            row.iter_mut().for_each(|x| *x = residues.mul(*x, scale));
            for other in rows.iter_mut().filter(|other| !other.is_empty()) {
                let factor = residues.t - other.get(column)?;
                for (x, &y) in other.iter_mut().zip(&row) {
                    *x = residues.add(*x, residues.mul(factor % residues.t, y));
                }
            }
            *pivots.get_mut(i)? = column;
            *rows.get_mut(i)? = row;
        }
        let inverse = rows.into_iter().map(|row| row.into_iter().skip(width).collect()).collect();
        Some(Self { residues, pivots, inverse })
    }

    /// Returns the coordinates of a vector in the span.
    pub(crate) fn of(&self, vector: &[u64]) -> Vec<u64> {
        let mut sum = vec![0; self.inverse.len()];
        for (&pivot, row) in self.pivots.iter().zip(&self.inverse) {
            let entry = vector.get(pivot).copied().unwrap_or(0);
            for (x, &y) in sum.iter_mut().zip(row) {
                *x = self.residues.add(*x, self.residues.mul(entry, y));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_found_again() {
        for (p, r) in [(2_u64, 1), (2, 5), (3, 2), (7, 1), (1_000_003, 2)] {
            let residues = PrimePower { p, t: p.pow(r) };
            let t = residues.t;
            let basis = [vec![p, 1, 0, t - 1, 0], vec![0, 0, 1, 1, p], vec![1, 1, 1, 0, 0]];
            let basis: Vec<Vec<u64>> = basis.iter().map(|b| b.iter().map(|x| x % t).collect()).collect();
            let coordinates = Coordinates::new(residues, &basis).unwrap();
            for x in [[0, 0, 0], [1, 0, 0], [1, t - 1, 1], [t / 2, t / 3, t - 1]] {
                let vector: Vec<u64> = (0..5)
                    .map(|k| (0..3).fold(0, |sum, i| residues.add(sum, residues.mul(x[i], basis[i][k]))))
                    .collect();
                assert_eq!(coordinates.of(&vector), x, "{p}^{r}");
            }
        }
        // These vectors are dependent modulo 2, though not modulo 4.
        assert!(Coordinates::new(PrimePower { p: 2, t: 4 }, &[vec![1, 1], vec![1, 3]]).is_none());
        assert!(Coordinates::new(PrimePower { p: 2, t: 4 }, &[vec![2, 0]]).is_none());
    }
}
