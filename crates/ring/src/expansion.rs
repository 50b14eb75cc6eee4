//! How sizes of ring elements follow from sizes that no basis enters.
//!
//! Write m̂ for m, or m/2 if m is even. Every ring Z\[X\]/Φ_m(X) is a quotient of a ring with m̂ coefficients in which products with
//! monomials and automorphisms permute coefficients up to sign: Z\[X\]/(X^m − 1) for m odd, Z\[X\]/(X^m̂ + 1) for m a power of two, and the tensor
//! product of such rings over the prime powers of m for all others. Two sizes of a ring element v are the same in every basis:
//!
//! * its **redundant norm**, the least max-norm of the elements above it there. It multiplies by the 1-norm of the other factor in products,
//!   and by nothing in automorphisms;
//! * its **deviation**, (Σ_ζ E|v(ζ)|²)^(1/2)/n over the roots of unity ζ: that of a coefficient where coefficients are independent and n = m̂.
//!
//! Going back to the n coefficients of a basis multiplies them. In the powerful basis an axis of an odd prime p has the coefficients
//! v_j − v_j′, j′ in the block of ζ_p^(p−1), of any element above v: twice the max-norm at most, √2 times the deviation, twice the largest value.

use sunzi_math::RingIndex;

use crate::RingError;

/// What sizes of elements depend on in a ring: degree, redundancy, and what coefficients of a basis gain over sizes that no basis enters.
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

/// That of Z\[X\]/(X^n + 1).
impl From<usize> for Expansion {
    fn from(degree: usize) -> Self {
        Self { degree, redundant: degree, norm: 1.0, deviation: 1.0, value: 1.0 }
    }
}

impl Expansion {
    /// That of the powerful basis of the ring of index m.
    ///
    /// # Errors
    /// Those of [`RingIndex::new`].
    pub fn new(m: u64) -> Result<Self, RingError> {
        let index = RingIndex::new(m)?;
        let fold = f64::from(index.odd_primes()).exp2();
        let (degree, redundant) = (index.degree(), index.redundant_len());
        // The functional of a coefficient has the value 2^k/m̂ at most at a root of unity.
        let value = fold * degree as f64 / redundant as f64;
        Ok(Self { degree, redundant, norm: fold, deviation: fold.sqrt(), value })
    }

    /// The same ring in another basis of monomials: what the max-norm of coefficients gains over the redundant norm, their deviation over the deviation, and a
    /// coefficient over (2/n)·|v(ζ)| for the largest pair of conjugate values v(ζ).
    #[must_use]
    pub fn in_basis(self, norm: f64, deviation: f64, value: f64) -> Self {
        Self { norm, deviation, value, ..self }
    }

    /// n = φ(m).
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// m̂: m for m odd, m/2 for m even.
    #[must_use]
    pub fn redundant_degree(&self) -> usize {
        self.redundant
    }

    /// δ: the max-norm of a product is at most δ times those of both factors.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.degree as f64 * self.norm
    }

    /// What the max-norm of coefficients gains over the redundant norm.
    #[must_use]
    pub fn norm_gain(&self) -> f64 {
        self.norm
    }

    /// What deviations of coefficients gain over the deviation.
    #[must_use]
    pub fn deviation_gain(&self) -> f64 {
        self.deviation
    }

    /// What a coefficient gains over (2/n)·|v(ζ)| where one pair of conjugate values v(ζ) is all there is.
    #[must_use]
    pub fn value_gain(&self) -> f64 {
        self.value
    }

    /// The variance, as the square of the deviation, of an error whose m̂ redundant coefficients are independent and of this variance: spherical in the
    /// canonical embedding.
    #[must_use]
    pub fn spherical_variance(&self, variance: f64) -> f64 {
        if self.redundant == self.degree {
            variance
        } else {
            variance * self.redundant as f64 / self.degree as f64
        }
    }
}
