//! CoeffsToSlots and SlotsToCoeffs: the embedding of `[AS19, 3.1]`, steps 2 and 5, as products of sparse matrices.
//!
//! A message polynomial p with slots z = U·w has the coefficients w_k = a_k + i·a_(k+s). CoeffsToSlots multiplies the slots
//! by U^-1 and takes them apart into real and imaginary parts by a conjugation; SlotsToCoeffs puts the parts together and
//! multiplies by U. Both are Fourier transforms, and a number of their steps at a time is one matrix with few diagonals and
//! one level: more levels, fewer diagonals. In between the numbers are in bit-reversed order, which slotwise operations do not
//! depend on; no permutation is ever done.

mod encrypted;
mod factors;
mod shape;

pub(super) use encrypted::add_exponents;
pub use encrypted::{CoeffsToSlots, DftPlan, Parts, SlotsToCoeffs};
pub use shape::{Direction, Packing};

use num_complex::Complex64;
use sunzi_ckks::encoder::Embedding;

use crate::linear_transform::{Diagonals, LinearTransformError};

/// Matrices of CoeffsToSlots or of SlotsToCoeffs, in the clear.
#[derive(Clone, Debug, PartialEq)]
pub struct Dft {
    direction: Direction,
    slots: usize,
    packing: Packing,
    factors: Vec<Diagonals>,
}

impl Dft {
    /// Makes CoeffsToSlots for messages of s slots in a ring of n coefficients, in `levels` levels: multiplies by `constant`, which
    /// all factors share. Sparse packing needs vectors that repeat with period s in *every* coefficient: take the trace first.
    ///
    /// With out = F_k·⋯·F_1·z the parts are out + out* and −i·(out − out*) for full packing, and both side by side
    /// out + out* for sparse packing.
    ///
    /// # Errors
    /// [`LinearTransformError::Encoder`] unless s is a power of two up to n/2; [`LinearTransformError::Budget`] for 0 levels or
    /// more than log2 s.
    pub fn coeffs_to_slots(
        degree: usize,
        slots: usize,
        levels: usize,
        constant: f64,
    ) -> Result<Self, LinearTransformError> {
        let (embedding, packing) = (Embedding::new(slots)?, Packing::new(degree, slots)?);
        let mut factors = factors::to_coefficients(&embedding, &factors::radices(slots, levels)?)?;
        if packing == Packing::Sparse {
            let halves = [vec![Complex64::ONE; slots], vec![-Complex64::i(); slots]].concat();
            if let Some(last) = factors.last_mut() {
                *last = last.with_size(2 * slots)?.with_rows_scaled(&halves)?;
            }
        }
        // A conjugation adds to twice the parts.
        let factors = spread(factors, constant / 2.0)?;
        Ok(Self { direction: Direction::ToSlots, slots, packing, factors })
    }

    /// Makes SlotsToCoeffs, the inverse: of a + i·b for full packing; for sparse packing of both parts side by side, where the result of the first
    /// factor must be added to itself, rotated by s.
    ///
    /// # Errors
    /// Every error of [`coeffs_to_slots`](Self::coeffs_to_slots).
    pub fn slots_to_coeffs(
        degree: usize,
        slots: usize,
        levels: usize,
        constant: f64,
    ) -> Result<Self, LinearTransformError> {
        let (embedding, packing) = (Embedding::new(slots)?, Packing::new(degree, slots)?);
        let first_size = if packing == Packing::Sparse { 2 * slots } else { slots };
        let mut factors = factors::to_slots(&embedding, &factors::radices(slots, levels)?, first_size)?;
        if packing == Packing::Sparse {
            // No block of the first factor extends over the middle.
            let halves = [vec![Complex64::ONE; slots], vec![Complex64::i(); slots]].concat();
            if let Some(first) = factors.first_mut() {
                *first = first.with_rows_scaled(&halves)?;
            }
        }
        let factors = spread(factors, constant)?;
        Ok(Self { direction: Direction::ToCoeffs, slots, packing, factors })
    }

    /// Makes the map of s real and s imaginary parts side by side to s slots of the real parts, or of the imaginary ones: a mask, whose result must be added to
    /// itself, rotated by s.
    ///
    /// # Errors
    /// [`LinearTransformError::Encoder`] for a number of slots that is no power of two up to n/4.
    pub fn side(degree: usize, slots: usize, imaginary: bool) -> Result<Self, LinearTransformError> {
        Packing::new(degree / 2, slots)?;
        let halves = if imaginary { [0.0, 1.0] } else { [1.0, 0.0] };
        let mut mask = Diagonals::new(2 * slots)?;
        mask.add(0, &halves.map(|half| vec![Complex64::from(half); slots]).concat())?;
        Ok(Self { direction: Direction::ToCoeffs, slots, packing: Packing::Sparse, factors: vec![mask] })
    }

    /// Factors of the transform in the order in which they are applied.
    #[must_use]
    pub fn factors(&self) -> &[Diagonals] {
        &self.factors
    }

    /// Returns the scales of ciphertexts before, between and after the factors, for those of both ends.
    ///
    /// A rounded diagonal has an error that grows with the root of its period, which differs from factor to factor: the scales between
    /// are such that entries are encoded at scales in proportion to that.
    pub(super) fn scales(&self, [from, to]: [f64; 2]) -> Vec<f64> {
        let roots: Vec<f64> =
            self.factors.iter().map(|factor| (longest_period(factor) as f64).sqrt()).collect();
        let count = roots.len() as f64;
        let mean = (roots.iter().map(|root| root.ln()).sum::<f64>() / count).exp();
        let each = (to / from).powf(1.0 / count) / mean;
        let mut scales = vec![from];
        for root in &roots {
            scales.push(scales.last().copied().unwrap_or(from) * each * root);
        }
        scales.pop();
        scales.push(to);
        scales
    }

    /// Takes the first factor off the transform, where there are several.
    pub(super) fn split_first(mut self) -> (Option<Diagonals>, Self) {
        let first = if self.factors.len() > 1 { Some(self.factors.remove(0)) } else { None };
        (first, self)
    }

    /// Direction of the transform: to slots or to coefficients.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Number s of slots of the messages.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Packing of the real and imaginary parts.
    #[must_use]
    pub fn packing(&self) -> Packing {
        self.packing
    }
}

impl Packing {
    /// Makes the embedding of s slots in a ring of n coefficients.
    ///
    /// # Errors
    /// [`LinearTransformError::Encoder`] for more than n/2 slots.
    pub fn new(degree: usize, slots: usize) -> Result<Self, LinearTransformError> {
        let most = degree / 2;
        match slots {
            s if s == most => Ok(Self::Full),
            s if s < most => Ok(Self::Sparse),
            got => Err(sunzi_ckks::encoder::EncoderError::Slots { got, most }.into()),
        }
    }
}

/// Returns the longest period of a diagonal of the matrix.
fn longest_period(matrix: &Diagonals) -> usize {
    matrix.iter().map(|(_, values)| values.len()).max().unwrap_or(1)
}

/// Multiplies the product of the factors by a constant, every factor by the same root of it.
fn spread(factors: Vec<Diagonals>, constant: f64) -> Result<Vec<Diagonals>, LinearTransformError> {
    let each = constant.abs().powf(1.0 / factors.len().max(1) as f64);
    let scaled = |(i, factor): (usize, Diagonals)| {
        let sign = if i == 0 { constant.signum() } else { 1.0 };
        factor.with_rows_scaled(&[Complex64::from(sign * each)])
    };
    factors.into_iter().enumerate().map(scaled).collect()
}

#[cfg(test)]
mod tests;
