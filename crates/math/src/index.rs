//! Index m of a cyclotomic ring: its prime powers, and the places of powers of X in the powerful basis.

use crate::{MathError, gcd, mod_inv, mul_mod, prime_factors};

/// Exclusive bound of ring indices.
const LIMIT: u64 = 1 << 24;

/// An index m, the product of m_i = p_i^e_i, and the shape that it gives to Z\[X\]/Φ_m(X).
///
/// The ring is the tensor product of Z\[x_i\]/Φ_{m_i}(x_i) with x_i = X^(m/m_i), so polynomials are arrays with one axis for
/// each m_i, of length φ(m_i) = (p_i − 1)·p_i^(e_i−1). Entry (j_1, …, j_k) is the coefficient of ∏ x_i^{j_i}: the powerful
/// basis `[LPR13, section 4]`. Arrays are row-major, axes by increasing prime, the last one contiguous. For a power of two
/// that is the power basis.
///
/// ```
/// let index = sunzi_math::RingIndex::new(21_845)?;
/// assert_eq!(index.degree(), 4 * 16 * 256);
/// assert_eq!(index.axes().iter().map(|axis| axis.prime()).collect::<Vec<_>>(), [5, 17, 257]);
/// # Ok::<(), sunzi_math::MathError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingIndex {
    value: u64,
    degree: usize,
    axes: Vec<Axis>,
}

/// One prime power m_i of an index, and its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    prime: u64,
    exponent: u32,
    order: u64,
    stride: usize,
    /// Exponent m/m_i of X that gives x_i, and its inverse modulo m_i.
    weight: u64,
    inverse: u64,
}

impl Axis {
    /// Prime p_i of the axis.
    #[must_use]
    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// Exponent e_i of the axis's prime power.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// Order m_i of x_i, the prime power of the axis.
    #[must_use]
    pub fn order(&self) -> u64 {
        self.order
    }

    /// Length φ(m_i) of the axis.
    #[must_use]
    pub fn degree(&self) -> usize {
        (self.order - self.order / self.prime) as usize
    }

    /// Number of words between neighbours along the axis.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Number of powers of x_i that are distinct before they are folded: all m_i, or half of them where x_i^(m_i/2) = −1.
    #[must_use]
    pub fn span(&self) -> usize {
        if self.prime == 2 { self.degree() } else { self.order as usize }
    }

    /// Returns the shape of the cyclic convolution of length p − 1 that a transform along an axis of odd prime p needs (Rader): the length of its Fourier
    /// transforms, a product of twos, threes and fives, and the number of rows of that length, which are convolved by the definition.
    ///
    /// Either both lengths multiply to p − 1, or there is one row of a power of two, twice p − 1 or more, and
    /// zeros: whichever takes fewer instructions. (1, 1) for p = 2.
    #[must_use]
    pub fn convolution(&self) -> (usize, usize) {
        let length = self.prime as usize - 1;
        // Instructions a vector: a level in both directions for each factor of the length, 10/3 a product of a row.
        let (mut rows, mut levels) = (length, 3);
        for (radix, cost) in [(2, 5), (3, 10), (5, 19)] {
            while length > 0 && rows.is_multiple_of(radix) {
                rows /= radix;
                levels += cost;
            }
        }
        let padded = (2 * length).next_power_of_two();
        let direct = length * levels + length * rows * 10 / 3;
        if rows == 1 || direct <= padded * (5 * padded.ilog2() as usize + 3) {
            (length / rows, rows)
        } else {
            (padded, 1)
        }
    }

    /// Exponent m/m_i of the axis: x_i is this power of X.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }
}

impl RingIndex {
    /// Makes the shape of index m, 3 ≤ m < 2^24, odd or a multiple of four.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`]; [`MathError::HalfOddIndex`] for m = 2 mod 4, which is the ring of m/2.
    pub fn new(m: u64) -> Result<Self, MathError> {
        if !(3..LIMIT).contains(&m) {
            let expected = "a ring index from 3 to 2^24 - 1";
            return Err(MathError::OutOfRange { what: "ring index", expected, got: m });
        }
        if m % 4 == 2 {
            return Err(MathError::HalfOddIndex { index: m, half: m / 2 });
        }
        let mut stride = 1;
        let mut axes = Vec::new();
        for prime in prime_factors(m).into_iter().rev() {
            let mut order = 1;
            let mut exponent = 0;
            while (m / order).is_multiple_of(prime) {
                order *= prime;
                exponent += 1;
            }
            let weight = m / order;
            let axis =
                Axis { prime, exponent, order, stride, weight, inverse: mod_inv(weight % order, order)? };
            stride *= axis.degree();
            axes.push(axis);
        }
        axes.reverse();
        Ok(Self { value: m, degree: stride, axes })
    }

    /// Value of the ring index m.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Degree n = φ(m) of the ring.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Axes of the prime powers, by increasing prime.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Whether the powerful basis is the power basis and Φ_m = X^n + 1.
    #[must_use]
    pub fn is_power_of_two(&self) -> bool {
        self.value.is_power_of_two()
    }

    /// Number of odd primes that divide the index m.
    #[must_use]
    pub fn odd_primes(&self) -> u32 {
        self.axes.iter().map(|axis| u32::from(axis.prime != 2)).sum()
    }

    /// Number modulo which a prime q must be 1 for a transform: the smallest multiple of m and of the lengths of Fourier transforms along the axes;
    /// for a power of two m itself.
    ///
    /// ```
    /// assert_eq!(sunzi_math::RingIndex::new(21_845)?.root_order(), 21_845 << 8);
    /// # Ok::<(), sunzi_math::MathError>(())
    /// ```
    #[must_use]
    pub fn root_order(&self) -> u64 {
        let convolutions = self.axes.iter().map(|axis| axis.convolution().0 as u64);
        convolutions.fold(self.value, |order, length| order / gcd(order, length) * length)
    }

    /// Length of the array in which the powers of every x_i below its [`span`](Axis::span) have a place: m entries, or m/2
    /// where m is even.
    #[must_use]
    pub fn redundant_len(&self) -> usize {
        self.axes.iter().map(Axis::span).product()
    }

    /// Returns the exponent j, below m, with X^j the basis element at this position below n.
    #[must_use]
    pub fn exponent(&self, position: usize) -> u64 {
        let along = |axis: &Axis| (position / axis.stride % axis.degree()) as u64 * axis.weight;
        self.axes.iter().map(along).sum::<u64>() % self.value
    }

    /// Returns the place of X^j = ± ∏ x_i^{j_i} in the redundant array, and whether its sign is negative.
    #[must_use]
    pub fn redundant_position(&self, exponent: u64) -> (usize, bool) {
        let mut position = 0;
        let mut negative = false;
        for axis in &self.axes {
            let mut along = mul_mod(exponent % axis.order, axis.inverse, axis.order) as usize;
            if along >= axis.span() {
                along -= axis.span();
                negative = !negative;
            }
            position = position * axis.span() + along;
        }
        (position, negative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcd;

    #[test]
    fn shapes_are_those_of_the_definition() {
        for m in (3..600).filter(|m| m % 4 != 2) {
            let index = RingIndex::new(m).unwrap();
            let units = (1..m).filter(|&k| gcd(k, m) == 1).count();
            assert_eq!(index.degree(), units, "{m}");
            assert_eq!(index.axes().iter().map(Axis::order).product::<u64>(), m);
            assert_eq!(index.redundant_len() as u64, if m % 2 == 0 { m / 2 } else { m });
            assert_eq!(index.axes().last().unwrap().stride(), 1);
            for axis in index.axes() {
                assert_eq!(axis.order(), axis.prime().pow(axis.exponent()));
                assert_eq!((axis.weight() * axis.order(), gcd(axis.weight(), axis.order())), (m, 1));
            }
        }
    }

    #[test]
    fn positions_and_exponents_agree() {
        for m in [3, 4, 5, 8, 9, 12, 15, 45, 60, 64, 105, 180, 225, 257] {
            let index = RingIndex::new(m).unwrap();
            let mut seen: Vec<_> = (0..m).map(|j| index.redundant_position(j)).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len() as u64, m, "a bijection to places with a sign where m is even");
            assert!(seen.iter().all(|&(place, _)| place < index.redundant_len()));
            for j in 0..m {
                // Multiplying by X^j adds exponents; the constant stands first.
                let (place, negative) = index.redundant_position(j);
                let mut rest = place;
                let mut sum = if negative { m / 2 } else { 0 };
                for axis in index.axes().iter().rev() {
                    sum += (rest % axis.span()) as u64 * axis.weight();
                    rest /= axis.span();
                }
                assert_eq!(sum % m, j, "{m}");
            }
            assert_eq!(index.redundant_position(0), (0, false));
            assert_eq!(index.exponent(0), 0);
        }
        let index = RingIndex::new(64).unwrap();
        assert!((0..32).all(|i| index.exponent(i) == i as u64));
    }

    #[test]
    fn convolutions_cover_the_axis() {
        for m in (3..2000).filter(|m| m % 4 != 2) {
            let index = RingIndex::new(m).unwrap();
            assert!(index.root_order().is_multiple_of(m));
            for axis in index.axes() {
                let (length, rows) = axis.convolution();
                let rest = [2, 3, 5].into_iter().fold(length, |mut rest, radix| {
                    while rest.is_multiple_of(radix) {
                        rest /= radix;
                    }
                    rest
                });
                assert_eq!(rest, 1, "{length}");
                assert!(index.root_order().is_multiple_of(length as u64));
                let p = axis.prime() as usize;
                assert!(
                    length * rows == p - 1 || (rows == 1 && length >= 2 * (p - 1) - 1),
                    "{p}: {length} {rows}"
                );
            }
        }
        assert_eq!(RingIndex::new(1 << 14).unwrap().root_order(), 1 << 14);
    }

    #[test]
    fn other_indices_are_refused() {
        for m in [0, 1, 2, LIMIT] {
            assert!(matches!(RingIndex::new(m), Err(MathError::OutOfRange { .. })), "{m}");
        }
        assert_eq!(RingIndex::new(30), Err(MathError::HalfOddIndex { index: 30, half: 15 }));
    }
}
