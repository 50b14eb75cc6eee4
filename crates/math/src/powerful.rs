//! The powerful basis and the power basis of Z\[X\]/Φ_m(X), over any arithmetic that adds and subtracts.

use std::marker::PhantomData;
use std::ops::{AddAssign, SubAssign};

use num_traits::Zero;

use crate::{MathError, RingIndex, add_mod, prime_factors};

/// Arithmetic of coefficients that a change of basis needs.
pub trait Additive {
    /// Type of a coefficient of a polynomial.
    type Element: Clone;
    /// Returns the coefficient 0 of the arithmetic.
    fn zero(&self) -> Self::Element;
    /// Adds a coefficient: a ← a + b.
    fn add_assign(&self, a: &mut Self::Element, b: &Self::Element);
    /// Subtracts a coefficient: a ← a − b.
    fn sub_assign(&self, a: &mut Self::Element, b: &Self::Element);
}

/// Arithmetic of integers of type `T`, as `T` adds them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Integers<T>(PhantomData<T>);

impl<T> Integers<T> {
    /// Makes the arithmetic of integers of type `T`.
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Additive for Integers<T>
where
    T: Clone + Zero + for<'a> AddAssign<&'a T> + for<'a> SubAssign<&'a T>,
{
    type Element = T;

    fn zero(&self) -> T {
        T::zero()
    }
    fn add_assign(&self, a: &mut T, b: &T) {
        *a += b;
    }
    fn sub_assign(&self, a: &mut T, b: &T) {
        *a -= b;
    }
}

/// Basis of the n coefficients of a ring element. For an index that is a power of two both are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CoefficientBasis {
    /// Powerful basis: products of powers of the x_i, in the order of [`RingIndex`].
    #[default]
    Powerful,
    /// Power basis: 1, X, …, X^(n−1).
    Power,
}

/// Arithmetic of words modulo the number t: coefficients are in [0, t).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residues(pub u64);

impl Additive for Residues {
    type Element = u64;

    fn zero(&self) -> u64 {
        0
    }
    fn add_assign(&self, a: &mut u64, b: &u64) {
        *a = add_mod(*a, *b, self.0);
    }
    fn sub_assign(&self, a: &mut u64, b: &u64) {
        *a = if *a >= *b { *a - *b } else { *a + (self.0 - *b) };
    }
}

impl RingIndex {
    /// Reduces coefficients of powers of every x_i below its [`span`](crate::Axis::span) to the powerful basis, in place: on each axis x^(φ + r) is
    /// −Σ x^(s·p^(e−1) + r) over s below p − 1. One subtraction an entry and axis, whatever the values; the list is cut
    /// to n entries.
    ///
    /// # Errors
    /// [`MathError::LengthMismatch`] unless there are [`redundant_len`](Self::redundant_len) entries.
    pub fn fold<A: Additive>(&self, arithmetic: &A, entries: &mut Vec<A::Element>) -> Result<(), MathError> {
        check(self.redundant_len(), entries.len())?;
        let mut inner = entries.len();
        for axis in self.axes() {
            // Axes before this one are folded, those behind it are not.
            inner /= axis.span();
            let (from, to) = (axis.span() * inner, axis.degree() * inner);
            if from == to {
                continue;
            }
            let blocks = entries.len() / from;
            for (start, target) in (0..blocks).map(|block| (block * from, block * to)) {
                for i in 0..to {
                    if let Ok([x, last]) = entries.get_disjoint_mut([start + i, start + to + i % (from - to)])
                    {
                        arithmetic.sub_assign(x, last);
                    }
                    // The target index never passes entries that are still to be read.
                    entries.swap(target + i, start + i);
                }
            }
            entries.truncate(blocks * to);
        }
        Ok(())
    }

    /// Returns Σ c_j·X^j, of any number of terms, in the powerful basis: m additions and a [`fold`](Self::fold).
    #[must_use]
    pub fn powerful_from_power<A: Additive>(
        &self,
        arithmetic: &A,
        coefficients: &[A::Element],
    ) -> Vec<A::Element> {
        let mut redundant = vec![arithmetic.zero(); self.redundant_len()];
        for (exponent, x) in (0..).zip(coefficients) {
            let (position, negative) = self.redundant_position(exponent);
            if let Some(entry) = redundant.get_mut(position) {
                if negative {
                    arithmetic.sub_assign(entry, x);
                } else {
                    arithmetic.add_assign(entry, x);
                }
            }
        }
        // There are as many entries as `fold` expects.
        let _ = self.fold(arithmetic, &mut redundant);
        redundant
    }

    /// Returns the coefficients of X^0, …, X^(n−1) of an element in the powerful basis.
    ///
    /// # Errors
    /// [`MathError::LengthMismatch`] unless there are n coefficients.
    pub fn power_from_powerful<A: Additive>(
        &self,
        arithmetic: &A,
        coefficients: &[A::Element],
    ) -> Result<Vec<A::Element>, MathError> {
        check(self.degree(), coefficients.len())?;
        let mut cyclic = vec![arithmetic.zero(); self.value() as usize];
        for (position, x) in coefficients.iter().enumerate() {
            if let Some(entry) = cyclic.get_mut(self.exponent(position) as usize) {
                entry.clone_from(x);
            }
        }
        Ok(self.remainder(arithmetic, cyclic))
    }

    /// Returns the remainder of Σ f_j·X^j by Φ_m(X), n coefficients.
    ///
    /// Φ_m is ∏ (1 − X^d)^μ(m/d) over the divisors d of m, as polynomial and as power series, and its own reverse. So both the
    /// quotient, from the top of f, and its product with Φ_m, from the bottom, take one addition a coefficient for each of
    /// the 2^k divisors with μ ≠ 0.
    #[must_use]
    pub fn remainder<A: Additive>(&self, arithmetic: &A, mut f: Vec<A::Element>) -> Vec<A::Element> {
        let n = self.degree();
        if f.len() > n {
            let high = f.split_off(n);
            let mut quotient: Vec<_> = high.iter().rev().cloned().collect();
            self.multiply_series(arithmetic, &mut quotient, true);
            quotient.reverse();
            quotient.resize(n, arithmetic.zero());
            self.multiply_series(arithmetic, &mut quotient, false);
            for (x, y) in f.iter_mut().zip(&quotient) {
                arithmetic.sub_assign(x, y);
            }
        }
        f.resize(n, arithmetic.zero());
        f
    }

    /// Multiplies or divides a power series: a ← a·Φ_m(X) or a/Φ_m(X) modulo X^len.
    fn multiply_series<A: Additive>(&self, arithmetic: &A, a: &mut [A::Element], inverse: bool) {
        for (d, negative) in self.binomials() {
            if negative == inverse {
                for i in (d..a.len()).rev() {
                    if let Ok([low, high]) = a.get_disjoint_mut([i - d, i]) {
                        arithmetic.sub_assign(high, low);
                    }
                }
            } else {
                for i in d..a.len() {
                    if let Ok([low, high]) = a.get_disjoint_mut([i - d, i]) {
                        arithmetic.add_assign(high, low);
                    }
                }
            }
        }
    }

    /// Returns the divisors d of m with μ(m/d) ≠ 0, and whether μ(m/d) is −1.
    fn binomials(&self) -> Vec<(usize, bool)> {
        let mut divisors = vec![(self.value() as usize, false)];
        for prime in prime_factors(self.value()) {
            let more: Vec<_> = divisors.iter().map(|&(d, sign)| (d / prime as usize, !sign)).collect();
            divisors.extend(more);
        }
        divisors
    }
}

fn check(expected: usize, got: usize) -> Result<(), MathError> {
    if expected == got { Ok(()) } else { Err(MathError::LengthMismatch { expected, got }) }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    const INDICES: [u64; 30] = [
        3, 4, 5, 7, 8, 9, 11, 12, 15, 16, 20, 21, 24, 25, 27, 28, 35, 36, 45, 60, 63, 64, 75, 81, 84, 105,
        120, 165, 180, 257,
    ];

    /// Computes Φ_m by the definition: X^m − 1 divided by Φ_d for the proper divisors d.
    fn cyclotomic(m: u64) -> Vec<i64> {
        let mut f = vec![0; m as usize + 1];
        (f[0], f[m as usize]) = (-1, 1);
        for d in (1..m).filter(|d| m.is_multiple_of(*d)) {
            f = divide(f, &cyclotomic(d)).0;
        }
        f
    }

    /// Returns quotient and remainder of a polynomial by a monic polynomial.
    fn divide(mut f: Vec<i64>, g: &[i64]) -> (Vec<i64>, Vec<i64>) {
        let n = g.len() - 1;
        let mut quotient = vec![0; f.len().saturating_sub(n)];
        for i in (0..quotient.len()).rev() {
            quotient[i] = f[i + n];
            for (j, c) in g.iter().enumerate() {
                f[i + j] -= quotient[i] * c;
            }
        }
        f.resize(n, 0);
        (quotient, f)
    }

    fn sample(len: usize, seed: u64) -> Vec<i64> {
        let step =
            |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        std::iter::successors(Some(seed), step)
            .skip(1)
            .map(|x| (x >> 40) as i64 % 1000 - 500)
            .take(len)
            .collect()
    }

    fn sparse(m: u64, exponent: u64, sign: i64) -> Vec<i64> {
        let mut f = vec![0; m as usize];
        f[exponent as usize] = sign;
        f
    }

    #[test]
    fn remainders_are_those_of_long_division() {
        for m in INDICES {
            let (index, phi) = (RingIndex::new(m).unwrap(), cyclotomic(m));
            let n = index.degree();
            assert_eq!(phi.len(), n + 1);
            for len in [0, 1, n - 1, n, n + 1, 2 * n - 1, m as usize, 3 * m as usize + 2] {
                let f = sample(len, m);
                assert_eq!(index.remainder(&Integers::new(), f.clone()), divide(f, &phi).1, "{m} {len}");
            }
        }
    }

    #[test]
    fn basis_elements_are_the_powers_they_stand_for() {
        for m in INDICES {
            let (index, phi) = (RingIndex::new(m).unwrap(), cyclotomic(m));
            let n = index.degree();
            for position in 0..n {
                let mut unit = vec![0; n];
                unit[position] = 1;
                let power = index.power_from_powerful(&Integers::new(), &unit).unwrap();
                assert_eq!(power, divide(sparse(m, index.exponent(position), 1), &phi).1);
                assert_eq!(index.powerful_from_power(&Integers::new(), &power), unit);
            }
        }
    }

    #[test]
    fn both_ways_are_inverse_over_every_arithmetic() {
        for m in INDICES.into_iter().chain([3855, 4369, 1024]) {
            let index = RingIndex::new(m).unwrap();
            let f = sample(2 * m as usize, m);
            let integers = Integers::<i64>::new();
            let powerful = index.powerful_from_power(&integers, &f);
            let power = index.power_from_powerful(&integers, &powerful).unwrap();
            assert_eq!(power, index.remainder(&integers, f.clone()));
            assert_eq!(index.powerful_from_power(&integers, &power), powerful);

            let big: Vec<BigInt> = f.iter().map(|&x| x.into()).collect();
            let expected: Vec<BigInt> = powerful.iter().map(|&x| x.into()).collect();
            assert_eq!(index.powerful_from_power(&Integers::new(), &big), expected);
            for t in [1, 2, 257, u64::MAX >> 1] {
                let residue = |x: &i64| i128::from(*x).rem_euclid(i128::from(t)) as u64;
                let words: Vec<u64> = f.iter().map(residue).collect();
                let found = index.powerful_from_power(&Residues(t), &words);
                assert_eq!(found, powerful.iter().map(residue).collect::<Vec<_>>());
                let back = index.power_from_powerful(&Residues(t), &found).unwrap();
                assert_eq!(back, power.iter().map(residue).collect::<Vec<_>>());
            }
            if m.is_power_of_two() {
                assert_eq!(power, powerful);
            }
            assert!(
                index.power_from_powerful(&integers, &f).is_err()
                    && index.fold(&integers, &mut vec![0; 1]).is_err()
            );
        }
    }

    /// Checks that a coefficient of a product sums at most n·∏ (2p − 3)/(p − 1) products of coefficients, less than n·2^k for k odd primes.
    #[test]
    fn every_odd_prime_less_than_doubles_the_terms_of_a_product() {
        for m in INDICES.into_iter().filter(|&m| m < 100) {
            let index = RingIndex::new(m).unwrap();
            let n = index.degree();
            let mut terms = vec![0; n];
            for i in 0..n {
                for j in 0..n {
                    let power = sparse(m, (index.exponent(i) + index.exponent(j)) % m, 1);
                    let product = index.powerful_from_power(&Integers::new(), &power);
                    for (terms, x) in terms.iter_mut().zip(product) {
                        *terms += x.abs();
                    }
                }
            }
            let expected = |axis: &crate::Axis| (2 * axis.prime() - 3) * (axis.order() / axis.prime());
            let expected: u64 = index.axes().iter().map(expected).product();
            assert_eq!(terms.iter().max(), Some(&(expected as i64)), "{m}");
        }
    }
}
