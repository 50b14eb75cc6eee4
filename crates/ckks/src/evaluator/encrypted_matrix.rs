//! Products of two encrypted matrices, and transposition of one.
//!
//! A row of d entries is Σ_j X^j·m_j, where m_j is in the subring of X^d: n/2d slots of their own, or one integer for d = n. The
//! magnitude of such a ciphertext bounds its entries; its deviation is that of slots of the whole ring, √d times that
//! of an entry.

use rayon::prelude::*;
use sunzi_rlwe::evaluator::MatrixFactors;
use sunzi_rlwe::{GaloisKeys, NoiseBound, RelinearizationKey};

use super::{Evaluator, with_errors};
use crate::{Ciphertext, Ckks, CkksError, Metadata};

const MULTIPLY: &str = "multiply encrypted matrices";

impl Evaluator {
    /// Explicit mode: multiplies a matrix whose columns are encrypted by one whose rows are, in entries of the subring of
    /// X^d for d of `size`: column k is Σ_i X^i·m_ik and row k is Σ_j X^j·m′_kj, with entries as an [`Encoder`](crate::Encoder) of
    /// n/2d slots makes them, or integers for d = n. Rows of the product are relinearised and rescaled: one level below the
    /// factors, at the product of both scales over the divisor of the level.
    ///
    /// Entries of the product are bounded by the number of terms times both bounds on entries; errors of entries grow by the
    /// square root of that number where the ciphertexts of a factor are fresh, by the number where they may depend on
    /// each other. The Galois keys are those of a [`Transposition`](sunzi_rlwe::evaluator::Transposition).
    ///
    /// # Errors
    /// [`CkksError::Empty`] without rows; [`CkksError::LevelExhausted`] at level 0; [`CkksError::MissingRotation`] without a key;
    /// [`CkksError::Rlwe`] for a size that is no power of two from 64 to n, for factors of different lengths, other keys or three
    /// parts, and without the memory; [`CkksError::ScaleMismatch`]; [`CkksError::MessageTooLarge`];
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for ciphertexts of another context.
    pub fn multiply_encrypted_matrices(
        &self,
        size: usize,
        columns: &[&Ciphertext],
        rows: &[&Ciphertext],
        galois: &GaloisKeys,
        relinearization: &RelinearizationKey,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        let lowest = columns.iter().chain(rows).map(|row| row.metadata().level).min();
        if let Some(level) = lowest {
            self.divisor(level, MULTIPLY)?;
        }
        for row in columns.iter().take(1) {
            row.check_key(relinearization.id(), "the relinearisation key")?;
        }
        let sizes = [columns, rows].map(|rows| {
            let most = |of: fn(&Ciphertext) -> f64| rows.iter().map(|row| of(row)).fold(0.0, f64::max);
            [
                most(|row| row.metadata().precision.magnitude()),
                most(|row| row.metadata().precision.deviation()),
            ]
        });
        let carry = |factors: &MatrixFactors<Ckks>| self.carried_by_matrices(factors, size, sizes);
        let products = self.multiply_encrypted(size, [columns, rows], galois, carry)?;
        products.par_iter().map(|row| self.relinearize_rescale(row, relinearization)).collect()
    }

    /// Transposes an encrypted matrix of `size` rows of as many entries: entry (i, j) of the result is entry (j, i), in
    /// entries of the subring of X^d for d of `size`. It takes no level.
    ///
    /// # Errors
    /// [`CkksError::Rlwe`] unless there are `size` rows; every other error of
    /// [`multiply_encrypted_matrices`](Self::multiply_encrypted_matrices) but of levels.
    pub fn transpose_encrypted_matrix(
        &self,
        size: usize,
        rows: &[&Ciphertext],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, CkksError> {
        let most = |of: fn(&Ciphertext) -> f64| rows.iter().map(|row| of(row)).fold(0.0, f64::max);
        let magnitude = most(|row| row.metadata().precision.magnitude());
        let deviation = most(|row| row.metadata().precision.deviation());
        self.transposed(size, rows, keys, |common, switching| {
            let Metadata { level, scale, slots, precision } = common.metadata;
            let precision = precision.with_magnitude(magnitude).with_deviation(deviation);
            let metadata = Metadata { level, scale, slots, precision };
            let precision = with_errors(&metadata, scale, switching.deviation);
            Ok((Metadata { precision, ..metadata }, common.noise.largest().mixed(size).plus(switching)))
        })
    }

    /// Metadata and noise of a product of matrices before it is rescaled; `sizes` are the largest magnitude and deviation
    /// of each factor.
    fn carried_by_matrices(
        &self,
        factors: &MatrixFactors<Ckks>,
        size: usize,
        sizes: [[f64; 2]; 2],
    ) -> Result<(Metadata, NoiseBound), CkksError> {
        let MatrixFactors { left, right, terms, switching } = factors;
        let (ours, theirs) = (&left.metadata, &right.metadata);
        let (n, count) = (self.context().degree(), *terms as f64);
        let [[our_size, our_deviation], [their_size, their_deviation]] = sizes;
        let growth = |independent: bool| if independent { count.sqrt() } else { count };
        // Deviations of sums over all terms, as if each factor were one row with larger errors.
        let grown = |of: &Metadata, magnitude: f64, deviation: f64, growth: f64| {
            of.precision.with_magnitude(magnitude).with_deviation(deviation * growth)
        };
        let p = grown(ours, our_size, our_deviation, growth(left.noise.is_independent()));
        let q = grown(theirs, their_size, their_deviation, growth(right.noise.is_independent()));
        // A product of errors of slots of the whole ring is √d times larger than one of entries.
        let precision = p.product(&q, (size as f64).sqrt().recip());
        let metadata = Metadata {
            level: ours.level,
            scale: ours.scale * theirs.scale,
            slots: ours.slots.max(theirs.slots),
            precision: precision.with_magnitude(count * our_size * their_size),
        };
        let &Metadata { level, scale, precision, .. } = &metadata;
        self.context().check_magnitude(MULTIPLY, precision.magnitude(), level, scale)?;
        // The error of an entry is Σ_k m·e′ + e·m′ + e·e′ over the subring.
        let first = right.noise.sum_of_products(*terms, our_size * ours.scale, n);
        let second = left.noise.sum_of_products(*terms, their_size * theirs.scale, n).mixed(size);
        let both = left.noise.largest().product(&right.noise.largest(), 1.0, n).times_norm(count);
        let noise = first.sum(&second).sum(&both).plus(*switching);
        let precision = with_errors(&metadata, scale, switching.deviation);
        Ok((Metadata { precision, ..metadata }, noise))
    }
}
