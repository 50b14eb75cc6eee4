//! Rotations and conjugation of the slots of CKKS ciphertexts.

use std::ops::Deref;

use sunzi_rlwe::GaloisKeys;

use super::Evaluator;
use crate::rotation::{conjugation_exponent, rotation_exponent};
use crate::{Ciphertext, Ckks, CkksError};

/// The digits of a CKKS ciphertext, cut once for any number of its rotations.
pub struct Hoisted<'a> {
    evaluator: &'a Evaluator,
    digits: sunzi_rlwe::evaluator::Hoisted<'a, Ckks>,
}

/// Gives access to the automorphisms by their exponents.
impl<'a> Deref for Hoisted<'a> {
    type Target = sunzi_rlwe::evaluator::Hoisted<'a, Ckks>;

    fn deref(&self) -> &Self::Target {
        &self.digits
    }
}

impl Hoisted<'_> {
    /// Rotates the slots of the hoisted ciphertext left by `steps`, right if negative.
    ///
    /// # Errors
    /// Every error of [`Evaluator::rotate`].
    pub fn rotate(&self, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(rotation_exponent(steps, self.evaluator.context().ring().index()), keys)
    }

    /// Conjugates every slot of the hoisted ciphertext.
    ///
    /// # Errors
    /// Every error of [`Evaluator::rotate`].
    pub fn conjugate(&self, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(conjugation_exponent(self.evaluator.context().ring().index()), keys)
    }
}

impl Evaluator {
    /// Rotates the slots of a ciphertext left by `steps`, right if negative: slot i + steps moves to slot i.
    ///
    /// # Errors
    /// [`CkksError::MissingRotation`] without its key; [`sunzi_rlwe::RlweError::KeyMismatch`];
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for three parts; [`sunzi_rlwe::RlweError::KeyLevel`] for keys of a lower level;
    /// [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a ciphertext of another context.
    pub fn rotate(&self, a: &Ciphertext, steps: i64, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, rotation_exponent(steps, self.context().ring().index()), keys)
    }

    /// Conjugates every slot of a ciphertext.
    ///
    /// # Errors
    /// Every error of [`rotate`](Self::rotate).
    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, conjugation_exponent(self.context().ring().index()), keys)
    }

    /// Cuts a ciphertext into digits once, for any number of rotations.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::WrongPartCount`] for three parts; [`CkksError::LevelMismatch`] or [`CkksError::Ring`] for a
    /// ciphertext of another context.
    pub fn hoist<'a>(&'a self, a: &'a Ciphertext) -> Result<Hoisted<'a>, CkksError> {
        Ok(Hoisted { evaluator: self, digits: self.0.hoist(a)? })
    }
}
