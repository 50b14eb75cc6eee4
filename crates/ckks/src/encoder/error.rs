//! What can go wrong between numbers and coefficients.

/// An error of an encoder: what was expected, what came, what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// A number of slots that no encoder has.
    #[error("{got} slots: take a power of two from 1 to {most}, half of the ring degree")]
    Slots {
        /// What was asked for.
        got: usize,
        /// The largest possible.
        most: usize,
    },
    /// More numbers than slots.
    #[error("{got} numbers for {slots} slots: take an encoder with more slots or several plaintexts")]
    TooManyValues {
        /// Numbers given.
        got: usize,
        /// Slots there are.
        slots: usize,
    },
    /// A plaintext with more numbers than the encoder has slots.
    #[error("a plaintext of {got} slots for an encoder of {slots}: decode it with an encoder of {got} slots")]
    PlaintextSlots {
        /// Slots of the encoder.
        slots: usize,
        /// Slots of the plaintext.
        got: usize,
    },
    /// A list has the wrong length.
    #[error("{got} {what} where {expected} belong")]
    Length {
        /// What is listed.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many came.
        got: usize,
    },
    /// A number that is infinite or none.
    #[error("the number in slot {slot} is infinite or not a number: remove it first")]
    NotFinite {
        /// Its slot.
        slot: usize,
    },
    /// A scale that is no positive number.
    #[error("scale {scale}: take a positive number, usually a power of two up to 2^120")]
    Scale {
        /// What was given.
        scale: f64,
    },
    /// Scaled coefficients do not fit.
    #[error(
        "a coefficient of 2^{log2_coefficient:.1} does not fit below 2^{log2_limit:.1}: encode smaller numbers, at a smaller \
         scale or at a higher level"
    )]
    TooLarge {
        /// log2 of the largest absolute value.
        log2_coefficient: f64,
        /// log2 of the bound.
        log2_limit: f64,
    },
}
