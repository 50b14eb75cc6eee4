//! Masked transforms: a refresh in whose middle a linear map acts on masked messages in the clear `[MTBH21]`.

use sunzi_encoding::{EncodingError, Plaintext};

type Map<'a> = dyn Fn(Plaintext) -> Result<Plaintext, EncodingError> + 'a;

/// A linear map modulo t that parties apply to a message while it is opened under masks, and the seed of the ciphertext that comes out.
///
/// The map acts on what is opened and on every mask, and sums are those of both: f(m − Σ M_i) + Σ f(M_i) = f(m). Any permutation of slots, any matrix over Z_t
/// and any other encoding cost nothing here but the map itself. **A map that is not linear gives a wrong message**, and no error.
///
/// ```
/// use sunzi_encoding::{Encoder, Plaintext};
/// use sunzi_rlwe::joint::MaskedTransform;
///
/// // Slots in the opposite order.
/// let encoder = sunzi_encoding::BatchEncoder::new(128, 257)?;
/// let reverse = |message: Plaintext| {
///     let mut slots = encoder.decode(&message)?;
///     slots.reverse();
///     encoder.encode(&slots)
/// };
/// let transform = MaskedTransform::new(&[7; 32], &reverse);
/// assert_eq!(encoder.decode(&reverse(encoder.encode(&[5])?)?)?.last(), Some(&5));
/// # let _ = transform;
/// # Ok::<(), sunzi_encoding::EncodingError>(())
/// ```
pub struct MaskedTransform<'a> {
    pub(super) seed: &'a [u8; 32],
    map: Option<&'a Map<'a>>,
}

impl<'a> MaskedTransform<'a> {
    /// Makes a masked transform of a linear map and of a seed that is common to all parties and serves once.
    #[must_use]
    pub fn new(seed: &'a [u8; 32], map: &'a Map<'a>) -> Self {
        Self { seed, map: Some(map) }
    }

    /// Returns the transform that changes no message: a refresh.
    pub(super) fn identity(seed: &'a [u8; 32]) -> Self {
        Self { seed, map: None }
    }

    pub(super) fn apply(&self, message: Plaintext) -> Result<Plaintext, EncodingError> {
        match self.map {
            Some(map) => map(message),
            None => Ok(message),
        }
    }
}
