//! Shapes of rings, as parameter sets name them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_math::{MathError, RingIndex, ToRingIndex};
use sunzi_ring::{Expansion, Ring, RingError};

/// Range of ring degrees n that parameters may have.
pub const DEGREES: std::ops::RangeInclusive<usize> = 1 << 6..=1 << 17;

/// The shape of the ring Z\[X\]/Φ_m(X) of a parameter set, as plain data: m, or log2 n where m = 2n is a power of two. A real ring has the
/// real elements of one alone, which CKKS can compute with.
///
/// ```
/// use sunzi_rlwe::RingShape;
///
/// let shape = RingShape::of_index(21845);
/// assert_eq!((shape.index(), shape.degree()), (21845, 16384));
/// assert_eq!(RingShape::of_index(8192), RingShape::Log2Degree(12));
/// let real = RingShape::RealLog2Degree(12);
/// assert_eq!((real.index(), real.degree()), (4 * 4096, 4096));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RingShape {
    /// Ring Z\[X\]/(X^n + 1) of a power-of-two degree n, by log2 n.
    Log2Degree(u32),
    /// Ring Z\[X\]/Φ_m(X) whose index m is no power of two, by m.
    RingIndex(u64),
    /// Real ring of a power-of-two degree n, by log2 n: its elements are the real ones of index m = 4n.
    RealLog2Degree(u32),
}

impl ToRingIndex for RingShape {
    fn to_ring_index(self) -> Result<RingIndex, MathError> {
        match self {
            Self::RealLog2Degree(_) => RingIndex::real(self.degree()),
            _ => RingIndex::new(self.index()),
        }
    }
}

impl From<u32> for RingShape {
    /// Returns the shape of the power-of-two ring of degree 2^`log2_degree`.
    fn from(log2_degree: u32) -> Self {
        Self::Log2Degree(log2_degree)
    }
}

impl RingShape {
    /// Returns the shape of the ring of index m.
    #[must_use]
    pub fn of_index(m: u64) -> Self {
        if m > 1 && m.is_power_of_two() { Self::Log2Degree(m.ilog2() - 1) } else { Self::RingIndex(m) }
    }

    /// Returns the shape of the ring with the given log2 n or index, if one is given; the index counts where
    /// both are.
    #[must_use]
    pub fn of_names(log2_degree: Option<u32>, ring_index: Option<u64>) -> Option<Self> {
        ring_index.map(Self::RingIndex).or(log2_degree.map(Self::Log2Degree))
    }

    /// The number by which the ring is given: log2 n or the index m. A real ring, which has none, is given by index 0, which no request may have.
    #[must_use]
    pub fn names(self) -> (Option<u32>, Option<u64>) {
        match self {
            Self::Log2Degree(log2_degree) => (Some(log2_degree), None),
            Self::RingIndex(m) => (None, Some(m)),
            Self::RealLog2Degree(_) => (None, Some(0)),
        }
    }

    /// Whether the ring has the real elements of a ring alone.
    #[must_use]
    pub fn is_real(self) -> bool {
        matches!(self, Self::RealLog2Degree(_))
    }

    /// The index of the smallest power-of-two ring of the ring's degree or a larger one: it needs no other roots
    /// of unity, so that more primes serve it.
    #[must_use]
    pub fn power_of_two_index(self) -> u64 {
        (2 * self.degree() as u64).next_power_of_two()
    }

    /// The ring index m; 0 if it does not fit in a word.
    #[must_use]
    pub fn index(self) -> u64 {
        let power = |log2: Option<u32>| log2.and_then(|log2| 1_u64.checked_shl(log2)).unwrap_or(0);
        match self {
            Self::Log2Degree(log2) => power(log2.checked_add(1)),
            Self::RingIndex(m) => m,
            Self::RealLog2Degree(log2) => power(log2.checked_add(2)),
        }
    }

    /// The ring degree n: φ(m), or half of it for a real ring; 0 for an index of no ring.
    #[must_use]
    pub fn degree(self) -> usize {
        match self {
            Self::Log2Degree(log2) | Self::RealLog2Degree(log2) => 1_usize.checked_shl(log2).unwrap_or(0),
            Self::RingIndex(m) => Expansion::new(m).map_or(0, |ring| ring.degree()),
        }
    }

    /// The rounded logarithm ⌊log2 n⌋ of the ring degree, by which the security table is read, so that between two
    /// powers of two the smaller one's limit holds.
    #[must_use]
    pub fn log2_degree(self) -> u32 {
        match self {
            Self::Log2Degree(log2) | Self::RealLog2Degree(log2) => log2,
            Self::RingIndex(_) => self.degree().checked_ilog2().unwrap_or(0),
        }
    }

    /// The growth of sizes of polynomials in the ring; for an index of no ring, of a ring without coefficients.
    #[must_use]
    pub fn expansion(self) -> Expansion {
        Expansion::new(self).unwrap_or_else(|_| self.degree().into())
    }

    /// The number modulo which moduli of the ring must be 1; `u64::MAX`, which no modulus fulfils, for an index of no
    /// ring.
    #[must_use]
    pub fn root_order(self) -> u64 {
        Ring::root_order(self).unwrap_or(u64::MAX)
    }

    /// Whether moduli of the [`Ring`] may be products of several primes.
    #[must_use]
    pub fn takes_products_of_primes(self) -> bool {
        Ring::takes_products_of_primes(self)
    }

    /// Checks that parameters of BFV and BGV may have the ring.
    ///
    /// # Errors
    /// [`RingError::Math`] for m ≡ 2 modulo 4, saying which index has that ring; [`RingError::OutOfRange`] unless 2^6 ≤ n ≤ 2^17, and for real rings.
    pub fn check(self) -> Result<(), RingError> {
        match self {
            Self::RingIndex(m) if m % 4 == 2 => Expansion::new(m).map(|_| ()),
            Self::RealLog2Degree(_) => Err(RingError::OutOfRange {
                what: "ring",
                expected: "a whole ring, since real ones are for CKKS alone".to_owned(),
                got: self.to_string(),
            }),
            _ if DEGREES.contains(&self.degree()) => Ok(()),
            _ => Err(RingError::OutOfRange {
                what: "ring",
                expected: "a degree from 2^6 to 2^17".to_owned(),
                got: self.to_string(),
            }),
        }
    }
}

/// Formats the shape of a ring in words: "ring degree 2^12", "ring index 21845".
impl fmt::Display for RingShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log2Degree(log2) => write!(f, "ring degree 2^{log2}"),
            Self::RingIndex(m) => write!(f, "ring index {m}"),
            Self::RealLog2Degree(log2) => write!(f, "real ring degree 2^{log2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_name_a_power_of_two_are_one_ring() {
        for log2 in 1..=62 {
            let shape = RingShape::Log2Degree(log2);
            assert_eq!(RingShape::of_index(shape.index()), shape);
            assert_eq!(
                RingShape::RingIndex(shape.index()).degree(),
                if log2 < 23 { shape.degree() } else { 0 }
            );
        }
        for shape in [RingShape::of_index(21845), RingShape::RingIndex(1 << 15), RingShape::Log2Degree(14)] {
            assert_eq!((shape.degree(), shape.log2_degree()), (1 << 14, 14));
            assert_eq!(shape.root_order() % shape.index(), 0);
            shape.check().unwrap();
        }
        assert_eq!(RingShape::of_index(32767).log2_degree(), 14);
    }

    #[test]
    fn real_rings_are_for_ckks_alone() {
        let shape = RingShape::RealLog2Degree(12);
        assert_eq!((shape.degree(), shape.log2_degree(), shape.root_order()), (1 << 12, 12, 1 << 14));
        assert_eq!(shape.to_ring_index(), RingIndex::real(1 << 12));
        assert!(shape.expansion().is_real() && shape.is_real() && shape.takes_products_of_primes());
        let refused = shape.check().unwrap_err().to_string();
        assert!(refused.contains("CKKS") && refused.contains("real ring degree 2^12"), "{refused}");
        for log2 in [0, 22, 61, 62, 63, u32::MAX] {
            let shape = RingShape::RealLog2Degree(log2);
            assert!(shape.to_ring_index().is_err() && shape.root_order() == u64::MAX, "{log2}");
        }
    }

    #[test]
    fn what_is_no_ring_is_named() {
        for shape in [0, 1, 2, 3, 63, 4, 1 << 19, 3 << 20, u64::MAX].map(RingShape::of_index) {
            assert!(matches!(shape.check(), Err(RingError::OutOfRange { .. })), "{shape}");
        }
        for log2 in [0, 5, 18, 63, 64, u32::MAX] {
            let shape = RingShape::Log2Degree(log2);
            assert!(shape.check().is_err(), "{shape}");
            assert!(shape.root_order() > 1 && shape.expansion().degree() == shape.degree());
        }
        let half = RingShape::of_index(2 * 21845).check().unwrap_err().to_string();
        assert!(half.contains("21845"), "{half}");
    }
}
