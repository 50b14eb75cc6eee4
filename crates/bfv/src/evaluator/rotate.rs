//! Rotations of the 2 × n/2 slots, and sums over them.

use sunzi_encoding::{check_segment, doubling_steps};
use sunzi_rlwe::{GaloisKeys, galois};

use super::Evaluator;
use crate::{Bfv, BfvError, Ciphertext, Context};

/// The digits of a ciphertext, for any number of its rotations.
pub struct Hoisted<'a> {
    context: &'a Context,
    ciphertext: &'a Ciphertext,
    digits: galois::Hoisted<'a, Bfv>,
}

impl Hoisted<'_> {
    /// Both rows rotated left by `steps` slots: as [`Evaluator::rotate_rows`].
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`].
    pub fn rotate_rows(&self, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, BfvError> {
        self.automorphism(galois::rotation_exponent(self.context.ring().index(), steps)?, keys)
    }

    /// The ciphertext of m(X^k).
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`], for the exponent given.
    pub fn automorphism(&self, exponent: u64, keys: &GaloisKeys) -> Result<Ciphertext, BfvError> {
        let image = self.digits.automorphism(exponent, keys)?;
        Ok(self.context.record(image, "rotate", &[self.ciphertext.trace()]))
    }
}

impl Evaluator {
    /// Rotates both rows left by `steps` slots (right if negative): slot i + steps moves to slot i.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::NoRows`] unless m is a power of two; [`sunzi_rlwe::RlweError::MissingGaloisKey`] without the key of
    /// [`galois::rotation_exponent`]; [`sunzi_rlwe::RlweError::WrongPartCount`] for three parts.
    pub fn rotate_rows(&self, a: &Ciphertext, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, BfvError> {
        self.apply(a, galois::rotation_exponent(self.context.ring().index(), steps)?, keys, "rotate")
    }

    /// Cuts a ciphertext into digits once, for any number of rotations: each takes what its key takes, and no more.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::WrongPartCount`]; [`BfvError::PlainModulusMismatch`] or [`BfvError::LevelMismatch`] for a
    /// ciphertext of other parameters.
    pub fn hoist<'a>(&'a self, a: &'a Ciphertext) -> Result<Hoisted<'a>, BfvError> {
        self.context.check(a)?;
        let digits = galois::hoist(self.context.rlwe(), a)?;
        Ok(Hoisted { context: &self.context, ciphertext: a, digits })
    }

    /// Swaps the two rows, which rotates each column by one.
    ///
    /// # Errors
    /// As [`rotate_rows`](Self::rotate_rows), for [`galois::swap_exponent`].
    pub fn rotate_columns(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, BfvError> {
        self.apply(a, galois::swap_exponent(self.context.ring().index())?, keys, "rotate")
    }

    /// The ciphertext of m(X^k).
    ///
    /// # Errors
    /// As [`rotate_rows`](Self::rotate_rows), for the exponent given.
    pub fn automorphism(
        &self,
        a: &Ciphertext,
        exponent: u64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BfvError> {
        self.apply(a, exponent, keys, "apply an automorphism")
    }

    fn apply(
        &self,
        a: &Ciphertext,
        exponent: u64,
        keys: &GaloisKeys,
        operation: &'static str,
    ) -> Result<Ciphertext, BfvError> {
        self.context.check(a)?;
        let image = galois::automorphism(self.context.rlwe(), a, exponent, keys)?;
        Ok(self.context.record(image, operation, &[a.trace()]))
    }

    /// Sums of consecutive slots: slot i becomes the sum of slots i, …, i + length − 1 of its row
    /// (cyclically), so that slot j·length holds the sum of segment j.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::SegmentLength`] unless `length` is a power of two and at most n/2;
    /// [`sunzi_rlwe::RlweError::MissingGaloisKey`] without the keys of [`sunzi_encoding::slot_sum_exponents`].
    pub fn sum_segments(
        &self,
        a: &Ciphertext,
        length: usize,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BfvError> {
        check_segment(length, self.context.degree() / 2)?;
        let mut sum = a.clone();
        for step in doubling_steps(1, length) {
            let rotated = self.rotate_rows(&sum, step as i64, keys)?;
            self.add_assign(&mut sum, &rotated)?;
        }
        Ok(sum)
    }

    /// The sum of all n slots, in every slot.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::MissingGaloisKey`] without the keys of [`sunzi_encoding::slot_sum_exponents`] for length n.
    pub fn sum_slots(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, BfvError> {
        let mut sum = self.sum_segments(a, self.context.degree() / 2, keys)?;
        let swapped = self.rotate_columns(&sum, keys)?;
        self.add_assign(&mut sum, &swapped)?;
        Ok(sum)
    }
}
