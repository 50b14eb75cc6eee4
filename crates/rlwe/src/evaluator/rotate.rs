//! Automorphisms of ciphertexts, rotations of the two rows of slots, and sums over slots.

use sunzi_encoding::{check_segment, doubling_steps};

use super::{Evaluator, Exact, Homomorphic};
use crate::{Ciphertext, GaloisKeys, RlweError, Trace, galois};

const ROTATE: &str = "rotate";

/// A hoisted ciphertext: its digits are cut once, for any number of automorphisms.
pub struct Hoisted<'a, S: Homomorphic> {
    evaluator: &'a Evaluator<S>,
    digits: galois::Hoisted<'a, S>,
}

impl<S: Homomorphic> Hoisted<'_, S> {
    /// Applies the automorphism X → X^k to a ciphertext of m(X): returns a ciphertext of m(X^k), for `exponent` k.
    ///
    /// # Errors
    /// Every error of [`Evaluator::automorphism`].
    pub fn automorphism(&self, exponent: u64, keys: &GaloisKeys) -> Result<Ciphertext<S>, S::Error> {
        let image = self.digits.automorphism(exponent, keys);
        self.evaluator.finish_rotation(image, exponent, self.digits.ciphertext().trace(), ROTATE)
    }
}

impl<S: Exact> Hoisted<'_, S> {
    /// Rotates both rows of slots left by `steps`, right if negative.
    ///
    /// # Errors
    /// Every error of [`Evaluator::rotate_rows`].
    pub fn rotate_rows(&self, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext<S>, S::Error> {
        self.automorphism(galois::rotation_exponent(self.evaluator.index(), steps)?, keys)
    }
}

impl<S: Homomorphic> Evaluator<S> {
    /// Applies the automorphism X → X^k to a ciphertext of m(X): returns a ciphertext of m(X^k), for `exponent` k.
    ///
    /// # Errors
    /// The scheme's error for a missing key; [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`] for three parts;
    /// [`RlweError::KeyLevel`] for keys of a lower level; the scheme's errors for a ciphertext of other parameters, and its refusal of
    /// the result.
    pub fn automorphism(
        &self,
        a: &Ciphertext<S>,
        exponent: u64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext<S>, S::Error> {
        self.rotated(a, exponent, keys, S::AUTOMORPHISM)
    }

    /// Hoists a ciphertext: cuts it into digits once, for any number of rotations.
    ///
    /// # Errors
    /// [`RlweError::WrongPartCount`] for three parts; the scheme's errors for a ciphertext of other parameters.
    pub fn hoist<'a>(&'a self, a: &'a Ciphertext<S>) -> Result<Hoisted<'a, S>, S::Error> {
        S::check(self.context(), a)?;
        Ok(Hoisted { evaluator: self, digits: galois::hoist(S::rlwe(self.context()), a)? })
    }

    fn rotated(
        &self,
        a: &Ciphertext<S>,
        exponent: u64,
        keys: &GaloisKeys,
        operation: &'static str,
    ) -> Result<Ciphertext<S>, S::Error> {
        S::check(self.context(), a)?;
        let image = galois::automorphism(S::rlwe(self.context()), a, exponent, keys);
        self.finish_rotation(image, exponent, a.trace(), operation)
    }

    /// Ends a rotation, and counts the key switch of its automorphism; the identity takes none.
    fn finish_rotation(
        &self,
        image: Result<Ciphertext<S>, RlweError>,
        exponent: u64,
        operand: &Trace,
        operation: &'static str,
    ) -> Result<Ciphertext<S>, S::Error> {
        let mut image = image.map_err(S::missing_key)?;
        if exponent == 1 {
            return Ok(image);
        }
        image.set_metadata(S::rotated(self.context(), image.metadata())?);
        self.finish(image, operation, &[operand])
    }

    /// The index m of the evaluator's ring.
    fn index(&self) -> u64 {
        S::rlwe(self.context()).ring().index()
    }
}

impl<S: Exact> Evaluator<S> {
    /// Rotates both rows of slots left by `steps`, right if negative: slot i + steps moves to slot i.
    ///
    /// # Errors
    /// [`RlweError::NoRows`] unless m is a power of two; [`RlweError::MissingGaloisKey`] without the key of
    /// [`galois::rotation_exponent`]; every other error of [`automorphism`](Self::automorphism).
    pub fn rotate_rows(
        &self,
        a: &Ciphertext<S>,
        steps: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext<S>, S::Error> {
        self.rotated(a, galois::rotation_exponent(self.index(), steps)?, keys, ROTATE)
    }

    /// Swaps the two rows of slots, which rotates each column by one.
    ///
    /// # Errors
    /// Every error of [`rotate_rows`](Self::rotate_rows), for [`galois::swap_exponent`].
    pub fn rotate_columns(&self, a: &Ciphertext<S>, keys: &GaloisKeys) -> Result<Ciphertext<S>, S::Error> {
        self.rotated(a, galois::swap_exponent(self.index())?, keys, ROTATE)
    }

    /// Sums consecutive slots: slot i becomes the sum of slots i to i + length − 1 of its row, cyclically, so that
    /// slot j·length holds the sum of segment j. A budget counts length − 1 additions and as many rotations.
    ///
    /// # Errors
    /// [`EncodingError::SegmentLength`](sunzi_encoding::EncodingError) unless `length` is a power of two and at most n/2; every error of [`rotate_rows`](Self::rotate_rows) without
    /// the keys of the steps 1, 2, 4, …, length/2, and of [`add`](Self::add).
    pub fn sum_segments(
        &self,
        a: &Ciphertext<S>,
        length: usize,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext<S>, S::Error> {
        check_segment(length, S::rlwe(self.context()).ring().degree() / 2)?;
        let mut sum = a.clone();
        for step in doubling_steps(1, length) {
            let rotated = self.rotate_rows(&sum, step as i64, keys)?;
            self.add_assign(&mut sum, &rotated)?;
        }
        Ok(sum)
    }

    /// Returns the sum of all n slots, in every slot: n − 1 additions and rotations of a budget.
    ///
    /// # Errors
    /// Every error of [`sum_segments`](Self::sum_segments) for length n/2, and of [`rotate_columns`](Self::rotate_columns).
    pub fn sum_slots(&self, a: &Ciphertext<S>, keys: &GaloisKeys) -> Result<Ciphertext<S>, S::Error> {
        let mut sum = self.sum_segments(a, S::rlwe(self.context()).ring().degree() / 2, keys)?;
        let swapped = self.rotate_columns(&sum, keys)?;
        self.add_assign(&mut sum, &swapped)?;
        Ok(sum)
    }
}
