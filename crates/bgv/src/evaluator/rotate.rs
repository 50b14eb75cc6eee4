//! Rotations of the 2 × n/2 slots, and sums over them.

use sunzi_encoding::{check_segment, doubling_steps};
use sunzi_rlwe::{GaloisKeys, galois};

use super::Evaluator;
use crate::{Bgv, BgvError, Ciphertext, Context};

/// The digits of a ciphertext, for any number of its rotations.
pub struct Hoisted<'a> {
    context: &'a Context,
    digits: galois::Hoisted<'a, Bgv>,
}

impl Hoisted<'_> {
    /// Rotates both rows left by `steps` slots (right if negative).
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`].
    pub fn rotate_rows(&self, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, BgvError> {
        self.automorphism(galois::rotation_exponent(self.context.ring().index(), steps)?, keys)
    }

    /// The ciphertext of m(X^k).
    ///
    /// # Errors
    /// As [`Evaluator::rotate_rows`], for the exponent given.
    pub fn automorphism(&self, exponent: u64, keys: &GaloisKeys) -> Result<Ciphertext, BgvError> {
        counted(self.context, self.digits.automorphism(exponent, keys)?, exponent)
    }
}

/// Counts the key switch of an automorphism.
fn counted(context: &Context, mut image: Ciphertext, exponent: u64) -> Result<Ciphertext, BgvError> {
    if exponent == 1 {
        return Ok(image);
    }
    let mut metadata = image.metadata().clone();
    metadata.usage.rotations = metadata.usage.rotations.saturating_add(1);
    image.set_metadata(metadata);
    context.finish(image, "rotate", &[])
}

impl Evaluator {
    /// Rotates both rows left by `steps` slots (right if negative): slot i + steps moves to slot i.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::NoRows`] unless m is a power of two; [`sunzi_rlwe::RlweError::MissingGaloisKey`] without the key of
    /// [`galois::rotation_exponent`];
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for three parts; [`BgvError::Undeclared`]; [`BgvError::BudgetExceeded`];
    /// [`BgvError::PlainModulusMismatch`], [`BgvError::LevelMismatch`] or [`BgvError::Ring`] for a ciphertext of other
    /// parameters.
    pub fn rotate_rows(&self, a: &Ciphertext, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, BgvError> {
        self.automorphism(a, galois::rotation_exponent(self.context.ring().index(), steps)?, keys)
    }

    /// Swaps the two rows, which rotates each column by one.
    ///
    /// # Errors
    /// As [`rotate_rows`](Self::rotate_rows), for [`galois::swap_exponent`].
    pub fn rotate_columns(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, BgvError> {
        self.automorphism(a, galois::swap_exponent(self.context.ring().index())?, keys)
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
    ) -> Result<Ciphertext, BgvError> {
        self.context.check(a)?;
        counted(&self.context, galois::automorphism(self.context.rlwe(), a, exponent, keys)?, exponent)
    }

    /// Does once what all rotations of a ciphertext have in common.
    ///
    /// # Errors
    /// As [`rotate_rows`](Self::rotate_rows), keys apart.
    pub fn hoist<'a>(&'a self, a: &'a Ciphertext) -> Result<Hoisted<'a>, BgvError> {
        self.context.check(a)?;
        Ok(Hoisted { context: &self.context, digits: galois::hoist(self.context.rlwe(), a)? })
    }

    /// Sums of consecutive slots: slot i becomes the sum of slots i, …, i + length − 1 of its row
    /// (cyclically), so that slot j·length holds the sum of segment j. It takes length − 1 additions and as many
    /// rotations of the budget.
    ///
    /// # Errors
    /// [`sunzi_encoding::EncodingError::SegmentLength`] unless `length` is a power of two and at most n/2; as
    /// [`rotate_rows`](Self::rotate_rows) without the keys of [`sunzi_encoding::slot_sum_exponents`].
    pub fn sum_segments(
        &self,
        a: &Ciphertext,
        length: usize,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, BgvError> {
        check_segment(length, self.context.degree() / 2)?;
        let mut sum = a.clone();
        for step in doubling_steps(1, length) {
            let rotated = self.rotate_rows(&sum, step as i64, keys)?;
            sum = self.add(&sum, &rotated)?;
        }
        Ok(sum)
    }

    /// The sum of all n slots, in every slot: n − 1 additions and rotations of the budget.
    ///
    /// # Errors
    /// As [`sum_segments`](Self::sum_segments), for length n.
    pub fn sum_slots(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, BgvError> {
        let sum = self.sum_segments(a, self.context.degree() / 2, keys)?;
        let swapped = self.rotate_columns(&sum, keys)?;
        self.add(&sum, &swapped)
    }
}
