//! Plaintexts: polynomials modulo t.

use std::fmt;

use sunzi_kernels::{pack, packed_len, unpack};
use sunzi_math::RingIndex;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::EncodingError;

/// Ring degrees that transforms support, as log2 n.
pub const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 6..=17;
/// Largest ring degree n of plaintexts.
pub const MAX_DEGREE: usize = 1 << *LOG2_DEGREES.end();
/// Exclusive bound of plaintext moduli: t < 2^60.
pub const PLAIN_MODULUS_LIMIT: u64 = 1 << 60;

/// Checks that a plaintext modulus t is in 2 ≤ t < 2^60.
///
/// # Errors
/// [`EncodingError::PlainModulusOutOfRange`] for any other t.
pub fn check_plain_modulus(plain_modulus: u64) -> Result<(), EncodingError> {
    if (2..PLAIN_MODULUS_LIMIT).contains(&plain_modulus) {
        Ok(())
    } else {
        Err(EncodingError::PlainModulusOutOfRange { got: plain_modulus })
    }
}

/// Checks 2 ≤ t < 2^60, and that t is coprime to all `moduli` of a ring, which are primes.
///
/// # Errors
/// [`EncodingError::PlainModulusOutOfRange`]; [`EncodingError::PlainModulusNotCoprime`].
pub fn check_plain_modulus_beside<'a>(
    plain_modulus: u64,
    moduli: impl IntoIterator<Item = &'a u64>,
) -> Result<(), EncodingError> {
    check_plain_modulus(plain_modulus)?;
    match moduli.into_iter().find(|&&modulus| plain_modulus.is_multiple_of(modulus)) {
        Some(&modulus) => Err(EncodingError::PlainModulusNotCoprime { plain_modulus, modulus }),
        None => Ok(()),
    }
}

/// Checks that n is a power of two that transforms support.
///
/// # Errors
/// [`EncodingError::DegreeOutOfRange`] for any other n.
pub fn check_degree(degree: usize) -> Result<(), EncodingError> {
    if degree.is_power_of_two() && LOG2_DEGREES.contains(&degree.ilog2()) {
        Ok(())
    } else {
        Err(EncodingError::DegreeOutOfRange { got: degree as u64 })
    }
}

/// Checks that a list of `degree` coefficients is not too long to make.
pub(crate) fn check_length(degree: usize) -> Result<(), EncodingError> {
    if (1..=MAX_DEGREE).contains(&degree) {
        Ok(())
    } else {
        Err(EncodingError::DegreeOutOfRange { got: degree as u64 })
    }
}

/// Checks that plaintexts of an index are not too long.
pub(crate) fn check_index_degree(index: &RingIndex) -> Result<(), EncodingError> {
    if index.degree() <= MAX_DEGREE {
        Ok(())
    } else {
        Err(EncodingError::IndexTooLarge { index: index.value(), degree: index.degree(), most: MAX_DEGREE })
    }
}

/// A polynomial of n coefficients in [0, t), index `i` holding the coefficient of X^i.
///
/// Encoders make plaintexts from numbers. A plaintext holds what its owner wants hidden: it is erased when
/// dropped, and its `Debug` shows no coefficient.
///
/// ```
/// use sunzi_encoding::Plaintext;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let plaintext = Plaintext::new(vec![5, 0, 250, 1], 257)?;
/// assert_eq!((plaintext.degree(), plaintext.modulus()), (4, 257));
/// assert_eq!(plaintext.centred(), [5, 0, -7, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Plaintext {
    coefficients: Vec<u64>,
    plain_modulus: u64,
}

impl Plaintext {
    /// Makes the polynomial with these coefficients, modulo `plain_modulus` = t.
    ///
    /// # Errors
    /// [`EncodingError::PlainModulusOutOfRange`] unless 2 ≤ t < 2^60; [`EncodingError::ValueOutOfRange`]
    /// for a coefficient of t or more.
    pub fn new(coefficients: Vec<u64>, plain_modulus: u64) -> Result<Self, EncodingError> {
        check_plain_modulus(plain_modulus)?;
        // No early exit: coefficients are secret. The highest bit is set if one is not below t.
        let wrong = coefficients.iter().fold(0, |wrong, &c| wrong | c | (plain_modulus - 1).wrapping_sub(c));
        if wrong >> 63 == 0 {
            return Ok(Self { coefficients, plain_modulus });
        }
        let index = coefficients.iter().position(|&c| c >= plain_modulus).unwrap_or_default();
        Err(EncodingError::unsigned_out_of_range(index, plain_modulus))
    }

    /// Makes the constant polynomial `value`, for a ring of degree `degree`.
    ///
    /// # Errors
    /// Every error of [`Plaintext::new`]; [`EncodingError::DegreeOutOfRange`] unless 1 ≤ n ≤ 2^17.
    pub fn constant(value: u64, degree: usize, plain_modulus: u64) -> Result<Self, EncodingError> {
        check_length(degree)?;
        let mut coefficients = vec![0; degree];
        if let Some(first) = coefficients.first_mut() {
            *first = value;
        }
        Self::new(coefficients, plain_modulus)
    }

    /// Returns the bytes that a packed plaintext takes: the bits of t − 1 for each coefficient.
    #[must_use]
    pub fn packed_len(degree: usize, plain_modulus: u64) -> usize {
        packed_len(degree, bits(plain_modulus)).unwrap_or(usize::MAX)
    }

    /// Packs the coefficients one after the other; the bytes are erased when dropped.
    ///
    /// # Errors
    /// No error is expected in packing a plaintext.
    pub fn to_packed(&self) -> Result<Zeroizing<Vec<u8>>, EncodingError> {
        let mut bytes = Zeroizing::new(vec![0; Self::packed_len(self.degree(), self.plain_modulus)]);
        pack(&mut bytes, &self.coefficients, bits(self.plain_modulus))?;
        Ok(bytes)
    }

    /// Reads the bytes of a plaintext that [`to_packed`](Self::to_packed) wrote.
    ///
    /// # Errors
    /// Every error of [`Plaintext::new`]; [`EncodingError::Kernel`] for bytes of another length, and for bits after the last coefficient that are not 0.
    pub fn from_packed(bytes: &[u8], degree: usize, plain_modulus: u64) -> Result<Self, EncodingError> {
        check_plain_modulus(plain_modulus)?;
        check_length(degree)?;
        let mut plaintext = Self { coefficients: vec![0; degree], plain_modulus };
        let largest = unpack(&mut plaintext.coefficients, bytes, bits(plain_modulus))?;
        if largest < plain_modulus {
            return Ok(plaintext);
        }
        let index = plaintext.coefficients.iter().position(|&c| c >= plain_modulus);
        Err(EncodingError::unsigned_out_of_range(index.unwrap_or(0), plain_modulus))
    }

    /// Coefficients of the polynomial, each in [0, t).
    #[must_use]
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// Returns the coefficients of the plaintext, without a copy.
    #[must_use]
    pub fn into_coefficients(mut self) -> Vec<u64> {
        std::mem::take(&mut self.coefficients)
    }

    /// Number n of coefficients of the plaintext.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.coefficients.len()
    }

    /// Plaintext modulus t of the coefficients.
    #[must_use]
    pub fn modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// Checks that the plaintext belongs to degree n and plaintext modulus t.
    ///
    /// # Errors
    /// [`EncodingError::PlaintextMismatch`] for another degree or modulus.
    pub fn check(&self, degree: usize, plain_modulus: u64) -> Result<(), EncodingError> {
        if self.degree() == degree && self.plain_modulus == plain_modulus {
            return Ok(());
        }
        Err(EncodingError::PlaintextMismatch {
            expected_degree: degree,
            expected_modulus: plain_modulus,
            degree: self.degree(),
            modulus: self.plain_modulus,
        })
    }

    /// Whether every coefficient of the plaintext is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.coefficients.iter().all(|&c| c == 0)
    }

    /// Returns the coefficients of the plaintext in [-t/2, t/2).
    #[must_use]
    pub fn centred(&self) -> Vec<i64> {
        self.coefficients.iter().map(|&c| to_signed(c, self.plain_modulus)).collect()
    }
}

/// Returns the number of bits of t − 1, which one packed coefficient takes.
fn bits(plain_modulus: u64) -> u32 {
    plain_modulus.saturating_sub(1).checked_ilog2().map_or(1, |log2| log2 + 1)
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plaintext")
            .field("degree", &self.degree())
            .field("modulus", &self.plain_modulus)
            .finish_non_exhaustive()
    }
}

impl From<Plaintext> for Vec<u64> {
    fn from(plaintext: Plaintext) -> Self {
        plaintext.into_coefficients()
    }
}

impl AsRef<[u64]> for Plaintext {
    fn as_ref(&self) -> &[u64] {
        self.coefficients()
    }
}

impl Zeroize for Plaintext {
    fn zeroize(&mut self) {
        // The length stays: a zeroised plaintext is the polynomial zero of the same ring.
        self.coefficients.fill(0);
        zeroize::optimization_barrier(self.coefficients.as_slice());
    }
}

impl Drop for Plaintext {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for Plaintext {}

/// Returns the representative in [-⌊t/2⌋, ⌈t/2⌉ − 1] of `value` in [0, t), t < 2^60.
pub(crate) fn to_signed(value: u64, t: u64) -> i64 {
    if value < t.div_ceil(2) { value as i64 } else { value as i64 - t as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_must_be_reduced() {
        assert!(Plaintext::new(vec![0, 6], 7).is_ok());
        let error = Plaintext::new(vec![0, 7], 7).unwrap_err();
        assert!(matches!(error, EncodingError::ValueOutOfRange { index: 1, .. }), "{error}");
        assert!(error.to_string().contains("[0, 6]"), "{error}");
    }

    #[test]
    fn the_plain_modulus_has_two_ends() {
        for t in [0, 1, 1 << 60, u64::MAX] {
            assert!(
                matches!(Plaintext::new(vec![0], t), Err(EncodingError::PlainModulusOutOfRange { got }) if got == t)
            );
        }
        for t in [2, (1 << 60) - 1] {
            assert!(Plaintext::new(vec![t - 1], t).is_ok());
        }
    }

    #[test]
    fn a_modulus_must_not_divide_t() {
        check_plain_modulus_beside(2 * 257, &[641, 769]).unwrap();
        let error = check_plain_modulus_beside(3 * 769, &[641, 769]).unwrap_err();
        assert!(
            matches!(error, EncodingError::PlainModulusNotCoprime { plain_modulus: 2307, modulus: 769 }),
            "{error}"
        );
        assert!(check_plain_modulus_beside(1, &[641]).is_err());
    }

    #[test]
    fn a_plaintext_of_another_ring_is_named() {
        let p = Plaintext::constant(3, 8, 7).unwrap();
        assert_eq!(p.coefficients(), [3, 0, 0, 0, 0, 0, 0, 0]);
        assert!(p.check(8, 7).is_ok());
        assert!(p.check(8, 11).is_err());
        assert!(p.check(4, 7).is_err());
        assert!(matches!(Plaintext::constant(0, 0, 7), Err(EncodingError::DegreeOutOfRange { got: 0 })));
    }

    #[test]
    fn a_plaintext_does_not_print_what_it_holds() {
        fn erased<T: ZeroizeOnDrop>(_: &T) {}
        let p = Plaintext::new(vec![77_777, 88_888], 99_991).unwrap();
        erased(&p);
        let text = format!("{p:?}");
        assert!(text.contains("99991") && !text.contains("7777") && !text.contains("8888"), "{text}");
        assert_eq!(p.into_coefficients(), [77_777, 88_888]);
    }

    #[test]
    fn packed_plaintexts_come_back() {
        for t in [2, 3, 4, 65_537, 1 << 59, (1 << 60) - 1] {
            let coefficients: Vec<u64> =
                (0..13_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % t).collect();
            let plaintext = Plaintext::new(coefficients, t).unwrap();
            let bytes = plaintext.to_packed().unwrap();
            assert_eq!(Plaintext::from_packed(&bytes, 13, t).unwrap(), plaintext);
            let ones = vec![0xFF; bytes.len()];
            assert!(Plaintext::from_packed(&ones, 13, t).is_err());
            assert!(
                Plaintext::from_packed(&bytes, 12, t).is_err() || bytes.len() == Plaintext::packed_len(12, t)
            );
        }
        assert!(Plaintext::from_packed(&[0b11], 1, 3).is_err());
        assert!(Plaintext::from_packed(&[], 0, 3).is_err());
        assert!(Plaintext::from_packed(&[], usize::MAX, 3).is_err());
    }

    #[test]
    fn zeroise_leaves_the_zero_polynomial() {
        let mut p = Plaintext::new(vec![1, 6, 3, 4], 7).unwrap();
        assert_eq!(p.centred(), [1, -1, 3, -3]);
        assert_eq!(Plaintext::new(vec![3, 4, 5], 8).unwrap().centred(), [3, -4, -3]);
        p.zeroize();
        assert!(p.is_zero());
        assert_eq!(p.degree(), 4);
    }
}
