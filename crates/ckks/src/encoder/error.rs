//! Errors of encoding and decoding.

/// An error of an encoder: what was expected, what came, what to do.
///
/// ```
/// use sunzi_ckks::{CkksError, Context, Encoder, EncoderError, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(8, 50, &ranges, security)?.with_digits(3)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let encoder = Encoder::new(&context, 4)?;
/// # let a = context.encrypt_secret(&encoder.encode_real(&[0.5, -1.0])?, &secret, &mut rng)?;
/// let refused = encoder.encode_real(&[1.0, f64::NAN]);
/// assert!(matches!(refused, Err(CkksError::Encoder(EncoderError::NotFinite { slot: 1 }))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// Error: no encoder has the number of slots that was asked for.
    #[error(
        "{got} slots: take a power of two from 1 to {most}, half of the ring degree, or all of it for real slots"
    )]
    Slots {
        /// Number of slots that was asked for.
        got: usize,
        /// Largest number of slots that is possible.
        most: usize,
    },
    /// Error: more numbers than the encoder has slots.
    #[error("{got} numbers for {slots} slots: take an encoder with more slots or several plaintexts")]
    TooManyValues {
        /// Count of the numbers given.
        got: usize,
        /// Number of slots of the encoder.
        slots: usize,
    },
    /// Error: a plaintext has more numbers than the encoder has slots.
    #[error("a plaintext of {got} slots for an encoder of {slots}: decode it with an encoder of {got} slots")]
    PlaintextSlots {
        /// Number of slots of the encoder.
        slots: usize,
        /// Number of slots of the plaintext.
        got: usize,
    },
    /// Error: a list has the wrong length.
    #[error("{got} {what} where {expected} belong")]
    Length {
        /// Content of the list, in words.
        what: &'static str,
        /// Length that the list of numbers should have.
        expected: usize,
        /// Length of the list that was given.
        got: usize,
    },
    /// Error: a number is infinite or not a number.
    #[error("the number in slot {slot} is infinite or not a number: remove it first")]
    NotFinite {
        /// Slot of the number that is not finite.
        slot: usize,
    },
    /// Error: a number for a real slot has an imaginary part.
    #[error(
        "the number in slot {slot} has an imaginary part, and slots of these parameters are real: leave it out or make \
         parameters without real slots"
    )]
    NotReal {
        /// Slot of the number that is not real.
        slot: usize,
    },
    /// Error: a scale is no positive number.
    #[error("scale {scale}: take a positive number, usually a power of two up to 2^120")]
    Scale {
        /// Scale that was given.
        scale: f64,
    },
    /// Error: scaled coefficients are too large.
    #[error(
        "a coefficient of 2^{log2_coefficient:.1} does not fit below 2^{log2_limit:.1}: encode smaller numbers, at a smaller \
         scale or at a higher level"
    )]
    TooLarge {
        /// log2 of the largest absolute value of a scaled coefficient.
        log2_coefficient: f64,
        /// log2 of the bound on scaled coefficients.
        log2_limit: f64,
    },
}
