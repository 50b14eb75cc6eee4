//! Sizes of ring elements in a basis, computed from sizes that do not depend on any basis.
//!
//! Write m̂ for m, or m/2 if m is even. Every ring Z\[X\]/Φ_m(X) is a quotient of a ring with m̂ coefficients in which products with
//! monomials and automorphisms permute coefficients up to sign: Z\[X\]/(X^m − 1) for m odd, Z\[X\]/(X^m̂ + 1) for m a power of two, and the tensor
//! product of such rings over the prime powers of m for all others. Two sizes of a ring element v are the same in every basis:
//!
//! * its **redundant norm**, the least max-norm of the elements above it there. It multiplies by the 1-norm of the other factor in products,
//!   and by nothing in automorphisms;
//! * its **deviation**, (Σ_ζ E|v(ζ)|²)^(1/2)/w over the roots of unity ζ, w the weight of the basis: that of a coefficient where coefficients are independent
//!   and w = m̂. The weight is the sum of the 1-norms of the basis elements, n for monomials.
//!
//! The step back to the n coefficients of a basis multiplies both sizes. In the powerful basis an axis of an odd
//! prime p has the coefficients v_j − v_j′, j′ in the block of ζ_p^(p−1), of any element above v: twice the max-norm
//! at most, √2 times the deviation, twice the largest value.
//!
//! A real ring of degree n is a part of Z\[X\]/(X^2n + 1), with m̂ = 2n redundant coefficients a_0, a_j and −a_j: its redundant norm is the max-norm.
//! The weight is 2n, rounded up: X^j + X^-j counts twice. Its n values v(ζ) are real, each at two of the 2n roots of unity, and its
//! coefficients are a_0 = (1/n)·Σ v(ζ) and a_j = (1/n)·Σ v(ζ)·Re ζ^j, over one root of each pair. Values that are independent
//! and of one variance V = 2n·s² give a_j the variance s², but a_0 twice that: the deviation of a coefficient is √2 times
//! that of the element at most. One value adds |v(ζ)|/n at most, the (2/m̂)·|v(ζ)| of a pair of roots in the whole ring.

use std::f64::consts::SQRT_2;

use sunzi_math::ToRingIndex;

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
    weight: usize,
    real: bool,
    norm: f64,
    deviation: f64,
    value: f64,
}

/// Expansion of Z\[X\]/(X^n + 1), from its degree n.
impl From<usize> for Expansion {
    fn from(degree: usize) -> Self {
        let (redundant, weight) = (degree, degree);
        Self { degree, redundant, weight, real: false, norm: 1.0, deviation: 1.0, value: 1.0 }
    }
}

impl Expansion {
    /// Expansion of the ring of index m in its powerful basis.
    ///
    /// # Errors
    /// Every error of [`RingIndex::new`](sunzi_math::RingIndex::new).
    pub fn new(m: impl ToRingIndex) -> Result<Self, RingError> {
        let index = m.to_ring_index()?;
        if index.is_real() {
            let degree = index.degree();
            let whole = Self::from(2 * degree);
            return Ok(Self { degree, real: true, deviation: SQRT_2, ..whole });
        }
        let fold = f64::from(index.odd_primes()).exp2();
        let (degree, redundant) = (index.degree(), index.redundant_len());
        // The functional of a coefficient has the value 2^k/m̂ at most at a root of unity.
        let value = fold * degree as f64 / redundant as f64;
        let deviation = fold.sqrt();
        Ok(Self { degree, redundant, weight: degree, real: false, norm: fold, deviation, value })
    }

    /// Returns the expansion of this ring in another basis of monomials, from three factors: max-norm of coefficients
    /// over redundant norm, deviation of coefficients over the deviation, and a coefficient over (2/n)·|v(ζ)| for the
    /// largest pair of conjugate values v(ζ).
    #[must_use]
    pub fn in_basis(self, norm: f64, deviation: f64, value: f64) -> Self {
        Self { norm, deviation, value, ..self }
    }

    /// The degree n of the ring: φ(m), or half of it for a real ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The weight w of the basis: the 1-norm of an element is at most w times its max-norm, and the values of independent coefficients have a variance of
    /// at most w times theirs. It is n for monomials, 2n for a real ring.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Whether values at roots of unity are real numbers, whose squares have heavier tails than those of complex ones.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// The fourth moment E|v|^4 of Gaussian values over the square of E|v|²: 2 for complex ones, 3 for real ones.
    #[must_use]
    pub fn fourth_moment(&self) -> f64 {
        if self.real { 3.0 } else { 2.0 }
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
        self.weight as f64 * self.norm
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

    /// The variance, which is the square of the deviation, of an error whose redundant coefficients are independent and of this variance:
    /// spherical in the canonical embedding.
    #[must_use]
    pub fn spherical_variance(&self, variance: f64) -> f64 {
        if self.redundant == self.weight {
            variance
        } else {
            variance * self.redundant as f64 / self.degree as f64
        }
    }

    /// The redundant norm of an error whose independent coefficients are at most `bound`: the first of a real ring is the sum of two.
    #[must_use]
    pub fn spherical_norm(&self, bound: f64) -> f64 {
        if self.real { 2.0 * bound } else { bound }
    }
}
