//! Operations on CKKS ciphertexts: what CKKS adds to the operations that all schemes share, its levels, scales and
//! products.

mod combination;
mod constant;
mod encrypted_matrix;
mod level;
mod matrix;
mod multiply;
mod plain;
mod rotate;

use std::borrow::Cow;
use std::ops::Deref;

use sunzi_rlwe::evaluator::Pair;
use sunzi_rlwe::{Homomorphic, Log2, NoiseTerm, RlweContext, RlweError, Sign, galois, relinearization};

pub use matrix::PlainMatrix;
pub use rotate::Hoisted;

use crate::context::same_scale;
use crate::precision::slot_error;
use crate::{Ciphertext, Ckks, CkksError, Context, Metadata, Plaintext, Precision, rotation};

/// Evaluator: computes on CKKS ciphertexts without any secret.
///
/// Operands of CKKS operations may have different levels: the higher one is converted to the level and scale of the
/// other. Products take one level and have the canonical scale of the next.
///
/// ```
/// use sunzi_ckks::{Context, Encoder, Evaluator, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// let evaluator = Evaluator::new(&context);
/// let key = sunzi_rlwe::RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
/// let square = evaluator.square(&a, &key)?;
/// // The sum has the level of the square: one less than that of `a`.
/// let sum = evaluator.add(&square, &a)?;
/// assert_eq!(sum.metadata().level, context.depth() - 1);
/// let opened = encoder.decode_real(&context.decrypt(&sum, &secret)?)?;
/// assert!((opened[0] - 0.75).abs() < 1e-5 && opened[1].abs() < 1e-5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Evaluator(sunzi_rlwe::Evaluator<Ckks>);

/// Gives access to the operations that all schemes share.
impl Deref for Evaluator {
    type Target = sunzi_rlwe::Evaluator<Ckks>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Homomorphic for Ckks {
    type Context = Context;
    type Plaintext = Plaintext;
    type Error = CkksError;

    fn rlwe(context: &Context) -> &RlweContext {
        context.rlwe()
    }

    fn check(context: &Context, a: &Ciphertext) -> Result<(), CkksError> {
        context.check(a)
    }

    /// Converts the higher of two CKKS operands to the level and the scale of the other.
    fn align<'a, 'b>(
        context: &Context,
        a: Cow<'a, Ciphertext>,
        b: &'b Ciphertext,
        operation: &'static str,
    ) -> Result<Pair<'a, 'b, Self>, CkksError> {
        context.check(&a)?;
        context.check(b)?;
        a.check_key(b.key(), "the second summand")?;
        let (ours, theirs) = (a.metadata().level, b.metadata().level);
        if ours == theirs {
            return Ok((a, Cow::Borrowed(b)));
        }
        let evaluator = Evaluator::new(context);
        if ours > theirs {
            let converted = evaluator.converted(&a, theirs, b.metadata().scale, operation)?;
            return Ok((Cow::Owned(converted), Cow::Borrowed(b)));
        }
        let converted = evaluator.converted(b, ours, a.metadata().scale, operation)?;
        Ok((a, Cow::Owned(converted)))
    }

    /// The metadata of a sum of two CKKS ciphertexts; fails unless both operands have one scale.
    fn join(_: &Context, a: &Metadata, b: &Metadata, operation: &'static str) -> Result<Metadata, CkksError> {
        if !same_scale(a.scale, b.scale) {
            let [left, right] = [a.scale.log2(), b.scale.log2()];
            return Err(CkksError::ScaleMismatch { operation, left, right });
        }
        let (slots, [p, q]) = a.joint_slots(b);
        Ok(Metadata { slots, precision: p.sum(&q), ..a.clone() })
    }

    fn shift(
        context: &Context,
        a: &mut Ciphertext,
        plaintext: &Plaintext,
        sign: Sign,
        operation: &'static str,
    ) -> Result<(), CkksError> {
        let &Metadata { level, scale, .. } = a.metadata();
        let (plaintext, own) = Evaluator::new(context).plain_at(plaintext, level, scale, operation)?;
        let metadata = Self::join(context, a.metadata(), plaintext.metadata(), operation)?;
        a.shift(context.ring_at(level)?, plaintext.poly(), sign)?;
        a.set_noise(a.noise().plus(own));
        a.set_metadata(metadata);
        Ok(())
    }

    fn rotated(context: &Context, metadata: &Metadata) -> Result<Metadata, CkksError> {
        let added = galois::added_noise_at(context.rlwe(), context.limbs(metadata.level)?)?;
        let precision = with_errors(metadata, metadata.scale, added.deviation);
        Ok(Metadata { precision, ..metadata.clone() })
    }

    fn relinearized(context: &Context, metadata: &Metadata) -> Result<Metadata, CkksError> {
        let added = relinearization::added_noise_at(context.rlwe(), context.limbs(metadata.level)?)?;
        let precision = with_errors(metadata, metadata.scale, added.deviation);
        Ok(Metadata { precision, ..metadata.clone() })
    }

    fn noisier(_: &Context, metadata: &Metadata, added: NoiseTerm) -> Result<Metadata, CkksError> {
        let precision = with_errors(metadata, metadata.scale, added.deviation);
        Ok(Metadata { precision, ..metadata.clone() })
    }

    fn admit(context: &Context, a: &Ciphertext, operation: &'static str) -> Result<f64, CkksError> {
        let metadata = a.metadata();
        let magnitude = metadata.precision.magnitude();
        context.check_magnitude(operation, magnitude, metadata.level, metadata.scale)?;
        Ok(metadata.precision.bits())
    }

    fn empty(what: &'static str) -> CkksError {
        CkksError::Empty { what }
    }

    fn missing_key(error: RlweError) -> CkksError {
        rotation::named(error)
    }
}

/// The precision of a CKKS ciphertext after further independent errors of a given deviation in every coefficient.
fn with_errors(of: &Metadata, scale: f64, deviation: Log2) -> Precision {
    of.precision.plus_error(slot_error(deviation.bits().exp2(), of.slots, scale))
}

impl Evaluator {
    /// Makes an evaluator over a CKKS context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self(sunzi_rlwe::Evaluator::new(context))
    }

    /// Returns a ciphertext with another bound on its slots, for whoever knows a tighter one than follows from the
    /// operations: estimates of errors and checks for overflow rely on it.
    ///
    /// # Errors
    /// [`CkksError::Value`] unless the bound is a positive number; [`CkksError::MessageTooLarge`].
    pub fn with_magnitude(&self, a: &Ciphertext, magnitude: f64) -> Result<Ciphertext, CkksError> {
        self.context().check(a)?;
        if !(magnitude.is_finite() && magnitude > 0.0) {
            let expected = "give a finite number above 0";
            return Err(CkksError::Value { what: "a magnitude of", got: magnitude, expected });
        }
        let Metadata { precision, level, scale, .. } = *a.metadata();
        self.context().check_magnitude("declare a magnitude", magnitude, level, scale)?;
        // Nothing is computed: the trace goes on from what made the slots.
        let mut declared = a.clone();
        let precision = precision.with_magnitude(magnitude);
        declared.set_metadata(Metadata { precision, ..a.metadata().clone() });
        Ok(declared)
    }
}
