//! Rotations and conjugation of the slots of CKKS ciphertexts.

use std::ops::Deref;

use sunzi_rlwe::GaloisKeys;

use super::Evaluator;
use crate::rotation::{conjugation_exponent, rotation_exponent};
use crate::{Ciphertext, Ckks, CkksError};

/// The digits of a CKKS ciphertext, cut once for any number of its rotations.
///
/// ```
/// use sunzi_ckks::{Context, Encoder, Evaluator, Hoisted, LevelRange, Parameters, rotation::rotation_keys};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// let keys = rotation_keys(&context, &secret, [1, 2], false, context.depth(), &mut rng)?;
/// let evaluator = Evaluator::new(&context);
/// let hoisted: Hoisted<'_> = evaluator.hoist(&a)?;
/// for (steps, first) in [(1, -1.0), (2, 0.0)] {
///     let rotated = hoisted.rotate(steps, &keys)?;
///     let opened = encoder.decode_real(&context.decrypt(&rotated, &secret)?)?;
///     assert!((opened[0] - first).abs() < 1e-5);
/// }
/// # Ok(())
/// # }
/// ```
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
        self.automorphism(self.evaluator.conjugation()?, keys)
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
    /// Every error of [`rotate`](Self::rotate); [`RealRing`](sunzi_rlwe::RlweError::RealRing) where slots are real.
    pub fn conjugate(&self, a: &Ciphertext, keys: &GaloisKeys) -> Result<Ciphertext, CkksError> {
        self.automorphism(a, self.conjugation()?, keys)
    }

    /// The exponent of the conjugation, which real slots do not have.
    fn conjugation(&self) -> Result<u64, CkksError> {
        self.context().rlwe().check_whole("the conjugation of slots")?;
        Ok(conjugation_exponent(self.context().ring().index()))
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
