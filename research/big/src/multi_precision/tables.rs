//! Scaling and digits of a ring in words through multi-precision integers.

use sunzi_ring::{Ring, RingError};

use super::conversion::Arithmetic;

/// Makes a [`Ring`] in words whose scaler and gadget compute with multi-precision integers, as \[BEHZ16\] measures them: BFV over it
/// is FV of [BEHZ16, section 2] with its products by transforms.
///
/// Polynomials of the multi-precision ring are those of the ring in words. Operations do not run in constant time.
///
/// ```
/// use sunzi_big::MultiPrecision;
/// use sunzi_math::primes_with_bits;
/// use sunzi_ring::ScalerOptions;
///
/// let m = 2048;
/// let ring = MultiPrecision::ring(m, &primes_with_bits(62, m, 2)?)?;
/// let scaler = ring.scaler(17, &ScalerOptions::default())?;
/// let message: Vec<u64> = (0..1024).map(|i| i % 17).collect();
/// assert_eq!(scaler.decrypt(&ring.scale_plaintext(&message, 17)?)?, message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MultiPrecision(Arithmetic);

impl MultiPrecision {
    /// Makes the multi-precision ring of index m modulo the product of these primes, as [`Ring::new`] does.
    ///
    /// # Errors
    /// Every error of [`Ring::new`].
    pub fn ring(m: u64, moduli: &[u64]) -> Result<Ring, RingError> {
        Ring::new(m, moduli).map(|ring| Self::over(&ring))
    }

    /// Makes a ring over the residues of another, which must be words for scalers, gadgets and descriptions: others are
    /// [`RingError::OtherStorage`].
    #[must_use]
    pub fn over(ring: &Ring) -> Ring {
        ring.with_tables(Self(Arithmetic::Words))
    }

    /// Makes the ring of [`over`](Self::over) that divides by q for every rounding, as \[BEHZ16, 5.2\] does, where others
    /// multiply by a precomputed quotient t/q: the same results, to compare the time with.
    #[must_use]
    pub fn over_by_division(ring: &Ring) -> Ring {
        ring.with_tables(Self(Arithmetic::Division))
    }

    /// Makes the ring of [`over`](Self::over) with the arithmetic of GMP, to compare with.
    #[cfg(feature = "gmp")]
    #[must_use]
    pub fn over_with_gmp(ring: &Ring) -> Ring {
        ring.with_tables(Self(Arithmetic::Gmp))
    }

    pub(super) const fn arithmetic(self) -> Arithmetic {
        self.0
    }
}
