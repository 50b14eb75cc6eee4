//! Products with clear integers that are 0 in most slots, and what noise they leave.
//!
//! A clear 0 takes the noise of a slot away, but for the roundings of the product. Where rotations then add slots of which few were kept, the noise of those few
//! counts, and roundings of all: a bound that knows no slots would count the noise of all.

use super::RowEvaluator;
use crate::bootstrap::noise::exact;
use crate::integers::IntegerError;
use crate::integers::integer::Digit;

/// Digits that were multiplied by clear integers.
pub(super) struct Masked {
    /// The digits, with the noise of roundings and rotations alone.
    digit: Digit,
    /// Bound on the noise of the numbers d/8 in slots that were kept.
    own: f64,
}

impl Masked {
    /// Returns the digits with all of their noise, where each slot is a sum of at most so many that were kept.
    pub(super) fn settled(self, rows: &RowEvaluator<'_>, kept: usize) -> Digit {
        let ciphertext =
            rows.integers.bootstrapper.with_slot_error(self.digit.ciphertext, kept as f64 * self.own);
        Digit { ciphertext, range: self.digit.range }
    }

    /// Returns Σ over r below `length` of the digits rotated by r·stride.
    pub(super) fn window(
        self,
        rows: &RowEvaluator<'_>,
        length: usize,
        stride: i64,
    ) -> Result<Self, IntegerError> {
        Ok(Self { digit: rows.window(&self.digit, length, stride)?, ..self })
    }

    /// Rotates the digits left by any number of slots.
    pub(super) fn turned(self, rows: &RowEvaluator<'_>, steps: i64) -> Result<Self, IntegerError> {
        Ok(Self { digit: rows.turned(&self.digit, steps)?, ..self })
    }

    /// Returns the sum of digits that were kept in different slots.
    pub(super) fn beside(self, other: Self, rows: &RowEvaluator<'_>) -> Result<Self, IntegerError> {
        let digit = rows.integers.plus(&self.digit, &other.digit)?;
        Ok(Self { digit, own: self.own.max(other.own) })
    }
}

impl RowEvaluator<'_> {
    /// Returns digits times a clear integer for each slot, a level lower.
    pub(super) fn masked(
        &self,
        digit: &Digit,
        factor: &dyn Fn(usize) -> i64,
    ) -> Result<Masked, IntegerError> {
        let level = digit.ciphertext.metadata().level;
        let (plaintext, [low, high]) = self.clear(factor, 1.0, level)?;
        let noise = self.integers.noise(digit);
        let evaluator = self.integers.evaluator();
        // Roundings of the plaintext multiply the noise, too.
        let whole = digit.ciphertext.metadata().precision.magnitude() + 2.0 * noise;
        let bare = evaluator.with_magnitude(&exact(&digit.ciphertext), whole)?;
        let product = evaluator.multiply_plain(&bare, &plaintext)?;
        let ends = [low, high].map(|factor| digit.range.map(|end| end * factor));
        let all = ends.iter().flatten().copied();
        let range = [all.clone().min().unwrap_or(0), all.max().unwrap_or(0)];
        let own = noise * low.abs().max(high.abs()) as f64;
        Ok(Masked { digit: self.integers.declared(product, range)?, own })
    }

    /// Rotates by any number of slots, by powers of two.
    pub(super) fn turned(&self, digit: &Digit, steps: i64) -> Result<Digit, IntegerError> {
        let (size, sign) = (steps.unsigned_abs() as usize % self.capacity(), steps.signum());
        super::powers(1, self.capacity())
            .filter(|power| size & power != 0)
            .try_fold(digit.clone(), |a, power| self.rotated(&a, sign * power as i64))
    }
}
