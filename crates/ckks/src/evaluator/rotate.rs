//! Rotations and conjugation of the slots.

use sunzi_rlwe::{GaloisKeys, Trace, galois};

use super::Evaluator;
use crate::rotation::{conjugation_exponent, named, rotation_exponent};
use crate::{Ciphertext, Ckks, CkksError, Metadata};

/// The digits of a ciphertext, for any number of its rotations.
pub struct Hoisted<'a> {
    evaluator: &'a Evaluator,
    digits: galois::Hoisted<'a, Ckks>,
    trace: Trace,
}

impl Hoisted<'_> {
    /// Rotates the slots left by `steps` (right if negative).
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn rotate(&self, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        let index = self.evaluator.context.ring().index();
        self.automorphism(rotation_exponent(steps, index), keys)
    }

    /// Conjugates every slot.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    pub fn conjugate(&self, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(conjugation_exponent(self.evaluator.context.ring().index()), keys)
    }

    /// The ciphertext of m(X^k).
    ///
    /// # Errors
    /// As [`Evaluator::rotate`], for the exponent given.
    pub fn automorphism(&self, exponent: u64, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        let image = self.digits.automorphism(exponent, keys).map_err(named)?;
        self.evaluator.turned(image, exponent, &self.trace)
    }
}

impl Evaluator {
    /// Rotates the slots left by `steps` (right if negative): slot i + steps moves to slot i.
    ///
    /// # Errors
    /// [`CkksError::MissingRotation`] without its key; [`sunzi_rlwe::RlweError::KeyMismatch`];
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for three parts; [`sunzi_rlwe::RlweError::KeyLevel`] for keys of a lower level;
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
    pub fn rotate(&self, a: &Ciphertext, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, rotation_exponent(steps, self.context.ring().index()), keys)
    }

    /// Conjugates every slot.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate).
    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, conjugation_exponent(self.context.ring().index()), keys)
    }

    /// The ciphertext of m(X^k).
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate), for the exponent given.
    pub fn automorphism(
        &self,
        a: &Ciphertext,
        exponent: u64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, CkksError> {
        self.context.check(a)?;
        let image = galois::automorphism(self.context.rlwe(), a, exponent, keys).map_err(named)?;
        self.turned(image, exponent, a.trace())
    }

    /// Does once what all rotations of a ciphertext have in common.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate), keys apart.
    pub fn hoist<'a>(&'a self, a: &'a Ciphertext) -> Result<Hoisted<'a>, CkksError> {
        self.context.check(a)?;
        let digits = galois::hoist(self.context.rlwe(), a)?;
        Ok(Hoisted { evaluator: self, digits, trace: a.trace().clone() })
    }

    /// Counts the key switch of an automorphism.
    fn turned(&self, mut image: Ciphertext, exponent: u64, trace: &Trace) -> Result<Ciphertext, CkksError> {
        if exponent == 1 {
            return Ok(image);
        }
        let metadata = image.metadata();
        let added = galois::added_noise_at(self.context.rlwe(), self.context.limbs(metadata.level)?)?;
        let precision = self.with_errors(metadata, metadata.scale, added.deviation);
        let metadata = Metadata { precision, ..metadata.clone() };
        image.set_metadata(metadata);
        self.context.finish(image, "rotate", &[trace])
    }
}
