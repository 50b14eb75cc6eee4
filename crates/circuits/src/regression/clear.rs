//! Training in the clear, by the algorithm of encrypted training.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{REFRESHED, RealArithmetic};

/// Arithmetic on clear vectors, with levels counted as for ciphertexts.
#[derive(Debug)]
pub struct ClearReals {
    slots: usize,
    top: usize,
    rotations: AtomicUsize,
    products: AtomicUsize,
}

/// A clear vector in place of a ciphertext.
#[derive(Clone, Debug, PartialEq)]
pub struct ClearVector {
    values: Vec<f64>,
    level: usize,
}

impl ClearVector {
    /// Values of the slots of the vector.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// Errors of the clear arithmetic, equal to those of the schemes.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClearRealsError {
    /// No level of a vector is left.
    #[error("no level is left to multiply: refresh first, or begin with more levels")]
    LevelsExhausted,
    /// A slot exceeds its declared bound.
    #[error(
        "a slot of {got} where at most {most} is expected: train with a smaller rate or fewer iterations, or with a \
         larger width"
    )]
    TooLarge {
        /// Absolute value of the slot that exceeds its bound.
        got: f64,
        /// Declared bound on the slot.
        most: f64,
    },
}

impl ClearReals {
    /// Makes arithmetic on `slots` slots, with `top` levels when fresh and after a refresh.
    #[must_use]
    pub fn new(slots: usize, top: usize) -> Self {
        Self { slots, top, rotations: AtomicUsize::new(0), products: AtomicUsize::new(0) }
    }

    /// Makes a vector of these numbers, as fresh as a new ciphertext; missing ones count as zero.
    #[must_use]
    pub fn encrypt(&self, values: &[f64]) -> ClearVector {
        let padded = values.iter().copied().chain(std::iter::repeat(0.0));
        ClearVector { values: padded.take(self.slots).collect(), level: self.top }
    }

    /// Returns the numbers of rotations, and of products of two vectors, so far.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.rotations.load(Ordering::Relaxed), self.products.load(Ordering::Relaxed))
    }

    fn product(
        a: &ClearVector,
        level: usize,
        values: impl Iterator<Item = f64>,
    ) -> Result<ClearVector, ClearRealsError> {
        let level = level.checked_sub(1).ok_or(ClearRealsError::LevelsExhausted)?;
        let products = a.values.iter().zip(values).map(|(x, y)| x * y);
        Ok(ClearVector { values: products.collect(), level })
    }
}

impl RealArithmetic for ClearReals {
    type Vector = ClearVector;
    type Error = ClearRealsError;

    fn level(&self, a: &ClearVector) -> usize {
        a.level
    }

    fn add(&self, a: &ClearVector, b: &ClearVector) -> Result<ClearVector, ClearRealsError> {
        let sums = a.values.iter().zip(&b.values).map(|(x, y)| x + y);
        Ok(ClearVector { values: sums.collect(), level: a.level.min(b.level) })
    }

    fn add_constant(&self, a: &ClearVector, c: f64) -> Result<ClearVector, ClearRealsError> {
        Ok(ClearVector { values: a.values.iter().map(|x| x + c).collect(), level: a.level })
    }

    fn multiply(&self, a: &ClearVector, b: &ClearVector) -> Result<ClearVector, ClearRealsError> {
        self.products.fetch_add(1, Ordering::Relaxed);
        Self::product(a, a.level.min(b.level), b.values.iter().copied())
    }

    fn square(&self, a: &ClearVector) -> Result<ClearVector, ClearRealsError> {
        self.multiply(a, a)
    }

    fn multiply_constant(&self, a: &ClearVector, c: f64) -> Result<ClearVector, ClearRealsError> {
        Self::product(a, a.level, std::iter::repeat(c))
    }

    fn multiply_plain(&self, a: &ClearVector, m: &[f64]) -> Result<ClearVector, ClearRealsError> {
        Self::product(a, a.level, m.iter().copied())
    }

    fn rotate(&self, a: &ClearVector, steps: i64) -> Result<ClearVector, ClearRealsError> {
        self.rotations.fetch_add(1, Ordering::Relaxed);
        let mut rotated = a.clone();
        let by = steps.checked_rem_euclid(self.slots as i64).unwrap_or_default();
        rotated.values.rotate_left(by as usize);
        Ok(rotated)
    }

    fn bounded(&self, a: ClearVector, bound: f64) -> Result<ClearVector, ClearRealsError> {
        let got = a.values.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
        // Encrypted, a slot that is NaN would exceed any bound, too.
        if got <= bound && a.values.iter().all(|x| !x.is_nan()) {
            return Ok(a);
        }
        Err(ClearRealsError::TooLarge { got, most: bound })
    }

    fn refresh(&self, pair: [&ClearVector; 2]) -> Result<[ClearVector; 2], ClearRealsError> {
        let doubled = |a: &ClearVector| a.values.iter().map(|x| REFRESHED * x).collect();
        Ok(pair.map(|a| ClearVector { values: doubled(a), level: self.top }))
    }
}
