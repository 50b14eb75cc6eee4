//! Sizes of ring elements in a basis, computed from sizes that do not depend on any basis.
//!
//! Write m̂ for m, or m/2 if m is even. Every ring Z\[X\]/Φ_m(X) is a quotient of a ring with m̂ coefficients in which products with
//! monomials and automorphisms permute coefficients up to sign: Z\[X\]/(X^m − 1) for m odd, Z\[X\]/(X^m̂ + 1) for m a power of two, and the tensor
//! product of such rings over the prime powers of m for all others. Two sizes of a ring element v are the same in every basis:
//!
//! * its **redundant norm**, the least max-norm of the elements above it there. It multiplies by the 1-norm of the other factor in products,
//!   and by nothing in automorphisms;
//! * its **deviation**, (Σ_ζ E|v(ζ)|²)^(1/2)/n over the roots of unity ζ: that of a coefficient where coefficients are independent and n = m̂.
//!
//! The step back to the n coefficients of a basis multiplies both sizes. In the powerful basis an axis of an odd
//! prime p has the coefficients v_j − v_j′, j′ in the block of ζ_p^(p−1), of any element above v: twice the max-norm
//! at most, √2 times the deviation, twice the largest value.

use sunzi_math::RingIndex;

use crate::RingError;

/// Quantities of a ring on which sizes of elements depend: degree, redundancy, and the factors between sizes in a
/// basis and sizes that no basis enters.
///
/// ```
/// use sunzi_ring::Expansion;
///
/// // 21845 = 5·17·257: three odd primes, each of which doubles at most.
/// let ring = Expansion::new(21845)?;
/// assert_eq!((ring.degree(), ring.redundant_degree()), (16384, 21845));
/// assert_eq!(ring.factor(), 8.0 * 16384.0);
/// // In Z[X]/(X^n + 1) nothing is redundant: δ = n.
/// assert_eq!(Expansion::new(4096)?, Expansion::from(2048));
/// assert_eq!(Expansion::from(2048).factor(), 2048.0);
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expansion {
    degree: usize,
    redundant: usize,
    norm: f64,
    deviation: f64,
    value: f64,
}

/// Expansion of Z\[X\]/(X^n + 1), from its degree n.
impl From<usize> for Expansion {
    fn from(degree: usize) -> Self {
        Self { degree, redundant: degree, norm: 1.0, deviation: 1.0, value: 1.0 }
    }
}

impl Expansion {
    /// Expansion of the ring of index m in its powerful basis.
    ///
    /// # Errors
    /// Every error of [`RingIndex::new`].
    pub fn new(m: u64) -> Result<Self, RingError> {
        let index = RingIndex::new(m)?;
        let fold = f64::from(index.odd_primes()).exp2();
        let (degree, redundant) = (index.degree(), index.redundant_len());
        // The functional of a coefficient has the value 2^k/m̂ at most at a root of unity.
        let value = fold * degree as f64 / redundant as f64;
        Ok(Self { degree, redundant, norm: fold, deviation: fold.sqrt(), value })
    }

    /// Returns the expansion of this ring in another basis of monomials, from three factors: max-norm of coefficients
    /// over redundant norm, deviation of coefficients over the deviation, and a coefficient over (2/n)·|v(ζ)| for the
    /// largest pair of conjugate values v(ζ).
    #[must_use]
    pub fn in_basis(self, norm: f64, deviation: f64, value: f64) -> Self {
        Self { norm, deviation, value, ..self }
    }

    /// The degree n = φ(m) of the ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The redundant degree m̂ of the ring: m for m odd, m/2 for m even.
    #[must_use]
    pub fn redundant_degree(&self) -> usize {
        self.redundant
    }

    /// The expansion factor δ of the ring: the max-norm of a product is at most δ times the product of the
    /// factors' max-norms.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.degree as f64 * self.norm
    }

    /// Factor from the redundant norm of an element to the max-norm of its coefficients.
    #[must_use]
    pub fn norm_gain(&self) -> f64 {
        self.norm
    }

    /// Factor from the deviation of an element to the deviation of its coefficients.
    #[must_use]
    pub fn deviation_gain(&self) -> f64 {
        self.deviation
    }

    /// Factor from (2/n)·|v(ζ)| to a coefficient, where all values but one pair of conjugates v(ζ) are 0.
    #[must_use]
    pub fn value_gain(&self) -> f64 {
        self.value
    }

    /// The variance, which is the square of the deviation, of an error whose m̂ redundant coefficients are
    /// independent and of this variance: spherical in the canonical embedding.
    #[must_use]
    pub fn spherical_variance(&self, variance: f64) -> f64 {
        if self.redundant == self.degree {
            variance
        } else {
            variance * self.redundant as f64 / self.degree as f64
        }
    }
}
