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
///
/// A [real](Self::real) index names another ring: the real elements of the ring of index m.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingIndex {
    value: u64,
    degree: usize,
    axes: Vec<Axis>,
    real: bool,
}

/// Trait of the names of a ring: the index m of a cyclotomic ring, or a [`RingIndex`].
pub trait ToRingIndex {
    /// Returns the ring index.
    ///
    /// # Errors
    /// Every error of [`RingIndex::new`].
    fn to_ring_index(self) -> Result<RingIndex, MathError>;
}

impl ToRingIndex for u64 {
    fn to_ring_index(self) -> Result<RingIndex, MathError> {
        RingIndex::new(self)
    }
}

impl ToRingIndex for RingIndex {
    fn to_ring_index(self) -> Result<RingIndex, MathError> {
        Ok(self)
    }
}

impl ToRingIndex for &RingIndex {
    fn to_ring_index(self) -> Result<RingIndex, MathError> {
        Ok(self.clone())
    }
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
        Ok(Self { value: m, degree: stride, axes, real: false })
    }

    /// Makes the index of the real ring of degree n, a power of two from 2 on: the elements of Z\[X\]/(X^2n + 1), the ring of index m = 4n,
    /// that X → X^-1 does not change `[KS18]`.
    ///
    /// The basis is 1 and X^j + X^-j for j from 1 to n − 1, so that element a_0, …, a_(n−1) is a_0 + Σ a_j·X^j − Σ a_j·X^(2n−j). Its
    /// values at roots of unity are real numbers, each at ω and ω^-1. The automorphisms are X → X^k for k ≡ 1 modulo 4:
    /// an odd k and −k do the same.
    ///
    /// ```
    /// let index = sunzi_math::RingIndex::real(64)?;
    /// assert_eq!((index.degree(), index.value(), index.is_real()), (64, 256, true));
    /// assert!(index.is_automorphism(5) && !index.is_automorphism(255));
    /// # Ok::<(), sunzi_math::MathError>(())
    /// ```
    ///
    /// # Errors
    /// [`MathError::OutOfRange`].
    pub fn real(n: usize) -> Result<Self, MathError> {
        if !n.is_power_of_two() || !(2..LIMIT / 4).contains(&(n as u64)) {
            let expected = "a power of two from 2 to 2^21";
            return Err(MathError::OutOfRange { what: "degree of a real ring", expected, got: n as u64 });
        }
        Ok(Self { degree: n, real: true, ..Self::new(4 * n as u64)? })
    }

    /// Value of the ring index m.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Degree n of the ring: φ(m), or φ(m)/2 for a real one.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Whether the ring has the real elements of the ring of index m alone.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Whether X → X^k is an automorphism of the ring that is named by k: k is below m and coprime to it, and 1 modulo 4 for a real ring.
    #[must_use]
    pub fn is_automorphism(&self, k: u64) -> bool {
        k < self.value && gcd(k, self.value) == 1 && (!self.real || k % 4 == 1)
    }

    /// Axes of the prime powers, by increasing prime.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Whether the index m is a power of two: Φ_m = X^(m/2) + 1, and the powerful basis is the power basis.
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
    /// where m is even; n for a real ring.
    #[must_use]
    pub fn redundant_len(&self) -> usize {
        if self.real { self.degree } else { self.axes.iter().map(Axis::span).product() }
    }

    /// Returns the exponent j, below m, with X^j the basis element at this position below n; X^j + X^-j for a real ring.
    #[must_use]
    pub fn exponent(&self, position: usize) -> u64 {
        let along = |axis: &Axis| (position / axis.stride % axis.degree()) as u64 * axis.weight;
        self.axes.iter().map(along).sum::<u64>() % self.value
    }

    /// Returns the place of X^j = ± ∏ x_i^{j_i} in the redundant array, and whether its sign is negative. In a real ring it is the place of
    /// X^j + X^-j, which has one unless j ≡ n modulo 2n, where it is 0.
    #[must_use]
    pub fn redundant_position(&self, exponent: u64) -> (usize, bool) {
        if self.real {
            // X^-j counts as X^j, and X^(2n) = −1.
            let (n, folded) = (self.degree as u64, exponent % self.value);
            let folded = folded.min(self.value - folded);
            let negative = folded > n;
            return ((if negative { 2 * n - folded } else { folded % n }) as usize, negative);
        }
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

    /// Checks places in real rings against X^j + X^-j as polynomials modulo X^2n + 1.
    #[test]
    fn real_elements_have_the_places_of_their_powers() {
        for n in [2_usize, 4, 16, 64] {
            let (index, whole) = (RingIndex::real(n).unwrap(), RingIndex::new(4 * n as u64).unwrap());
            assert_eq!((index.degree(), index.redundant_len(), index.root_order()), (n, n, 4 * n as u64));
            let sum = |j: u64| {
                let mut sum = vec![0_i64; 2 * n];
                for exponent in [j, 4 * n as u64 - j % (4 * n as u64)] {
                    let (place, negative) = whole.redundant_position(exponent);
                    sum[place] += if negative { -1 } else { 1 };
                }
                sum
            };
            for j in (0..8 * n as u64).filter(|j| j % (2 * n as u64) != n as u64) {
                let (place, negative) = index.redundant_position(j);
                let expected: Vec<i64> =
                    sum(place as u64).iter().map(|x| if negative { -x } else { *x }).collect();
                assert_eq!(sum(j), expected, "{n} {j}");
            }
            assert!((0..n).all(|i| index.exponent(i) == i as u64));
            let units = (0..8 * n as u64).filter(|&k| index.is_automorphism(k));
            assert!(units.eq((1..4 * n as u64).step_by(4)));
        }
        for n in [0, 1, 3, 96, 1 << 22, usize::MAX] {
            assert!(matches!(RingIndex::real(n), Err(MathError::OutOfRange { .. })), "{n}");
        }
        assert_ne!(RingIndex::real(64).unwrap(), RingIndex::new(256).unwrap());
    }

    #[test]
    fn other_indices_are_refused() {
        for m in [0, 1, 2, LIMIT] {
            assert!(matches!(RingIndex::new(m), Err(MathError::OutOfRange { .. })), "{m}");
        }
        assert_eq!(RingIndex::new(30), Err(MathError::HalfOddIndex { index: 30, half: 15 }));
    }
}
