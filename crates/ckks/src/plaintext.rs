//! CKKS plaintexts: encoded slots.

use sunzi_ring::{Evaluation, Poly};
use zeroize::Zeroizing;

use crate::precision::slot_error;
use crate::{CkksError, Context, Metadata, Precision};

/// A CKKS plaintext, an encoded message: an integer polynomial in evaluation form, modulo Q_l, whose values at the
/// roots of unity are the slots times the scale. Erased when dropped.
///
/// ```
/// use sunzi_ckks::{Context, Encoder, LevelRange, Parameters, Plaintext};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// let plaintext: Plaintext = encoder.encode_real(&[0.5, -1.0])?;
/// assert_eq!((plaintext.level(), plaintext.slots()), (context.depth(), 4));
/// assert_eq!(plaintext.precision().magnitude(), 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Plaintext {
    poly: Zeroizing<Poly<Evaluation>>,
    metadata: Metadata,
}

/// Variance of the rounding of a coefficient.
const ROUNDING_VARIANCE: f64 = 1.0 / 12.0;

impl Plaintext {
    /// Makes the plaintext of n rounded coefficients; `magnitude` is the largest |slot|.
    ///
    /// # Errors
    /// [`CkksError::NoSuchLevel`]; [`EncoderError::Slots`](crate::encoder::EncoderError); [`CkksError::Value`] for a scale that is no positive number;
    /// [`CkksError::MessageTooLarge`] for slots that do not fit the level at this scale; [`CkksError::Ring`] unless there
    /// are n coefficients.
    pub fn from_coefficients(
        context: &Context,
        coefficients: &[i128],
        level: usize,
        scale: f64,
        slots: usize,
        magnitude: f64,
    ) -> Result<Self, CkksError> {
        context.check_slots(slots)?;
        check_scale(scale)?;
        context.check_magnitude("encode", magnitude, level, scale)?;
        let ring = context.ring_at(level)?;
        let poly = Zeroizing::new(ring.to_evaluation(ring.from_signed_wide(coefficients)?)?);
        let rounding = slot_error(ROUNDING_VARIANCE.sqrt(), slots, scale);
        let precision = Precision::plain(magnitude, rounding.hypot(magnitude * f64::EPSILON));
        Ok(Self { poly, metadata: Metadata { level, scale, slots, precision } })
    }

    pub(crate) fn from_parts(poly: Zeroizing<Poly<Evaluation>>, metadata: Metadata) -> Self {
        Self { poly, metadata }
    }

    /// The n coefficients of a plaintext in [−Q_l/2, Q_l/2), as the nearest doubles: secret if the plaintext is.
    ///
    /// # Errors
    /// [`CkksError::LevelMismatch`] and [`CkksError::Ring`] for a plaintext of another context.
    pub fn to_coefficients(&self, context: &Context) -> Result<Zeroizing<Vec<f64>>, CkksError> {
        context.check_plaintext(self)?;
        let ring = context.ring_at(self.level())?;
        let mut poly = self.poly.clone();
        let empty = context.ring_at(0)?.zero();
        let coefficients = Zeroizing::new(ring.to_coefficient(std::mem::replace(&mut *poly, empty))?);
        Ok(Zeroizing::new(ring.to_floats(&coefficients)?))
    }

    /// The polynomial of the plaintext, modulo Q_l.
    #[must_use]
    pub fn poly(&self) -> &Poly<Evaluation> {
        &self.poly
    }

    /// Level, scale, slots and precision of the plaintext.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The level l of the plaintext.
    #[must_use]
    pub fn level(&self) -> usize {
        self.metadata.level
    }

    /// The scale of the plaintext, by which the slots are multiplied.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.metadata.scale
    }

    /// The number of slots of the plaintext; with fewer than n/2 the vector repeats.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.metadata.slots
    }

    /// The precision of the plaintext: a bound on the slots, and an estimate of their errors.
    #[must_use]
    pub fn precision(&self) -> &Precision {
        &self.metadata.precision
    }
}

/// Fails unless a number can be a scale of CKKS slots.
pub(crate) fn check_scale(scale: f64) -> Result<(), CkksError> {
    if scale.is_finite() && scale >= 1.0 {
        return Ok(());
    }
    Err(CkksError::Value { what: "a scale of", got: scale, expected: "give a finite number from 1 on" })
}

impl Context {
    /// Fails unless a CKKS plaintext belongs to the context.
    pub(crate) fn check_plaintext(&self, plaintext: &Plaintext) -> Result<(), CkksError> {
        self.check_poly(plaintext.poly(), plaintext.level())
    }
}
