//! Cyclotomic polynomials Φ_m and their sparse multiples `[BEHMSZ17, 3.1]`.

use crate::{MathError, prime_factors};

/// Largest accepted index m: a polynomial then has at most 2^22 coefficients.
const MAX_INDEX: u64 = 1 << 22;

/// Returns the coefficients of Φ_m, constant first: φ(m) + 1 of them.
///
/// ```
/// // Φ_15 = X^8 − X^7 + X^5 − X^4 + X^3 − X + 1.
/// assert_eq!(sunzi_math::cyclotomic_polynomial(15)?, [1, -1, 0, 1, -1, 1, 0, -1, 1]);
/// # Ok::<(), sunzi_math::MathError>(())
/// ```
///
/// # Errors
/// [`MathError::OutOfRange`] for m = 0 or above 2^22.
pub fn cyclotomic_polynomial(m: u64) -> Result<Vec<i64>, MathError> {
    let primes = prime_factors(checked_index(m)? as u64);
    let degree: usize = primes.iter().map(|&p| p as usize - 1).product();
    let mut series = binomial_series(&primes, degree + 1, false);
    if m == 1 {
        series.iter_mut().for_each(|c| *c = -*c);
    }
    // Φ_m(X) = Φ_r(X^(m/r)).
    Ok(spread(&series, m as usize / product_of(&primes, u32::MAX)))
}

/// Returns the coefficients of ⌊X^(φ(m) + α)/Φ_m⌋, constant first: α + 1 of them, which Barrett's reduction multiplies by.
///
/// ```
/// // X^6 = (X^2 + X + 1)(X^4 − X^3 + X − 1) + 1.
/// assert_eq!(sunzi_math::cyclotomic_quotient(3, 4)?, [-1, 1, 0, -1, 1]);
/// # Ok::<(), sunzi_math::MathError>(())
/// ```
///
/// # Errors
/// [`MathError::OutOfRange`] for m = 0 or above 2^22.
pub fn cyclotomic_quotient(m: u64, alpha: usize) -> Result<Vec<i64>, MathError> {
    let primes = prime_factors(checked_index(m)? as u64);
    let step = m as usize / product_of(&primes, u32::MAX);
    // 1/Φ_m to X^α, backwards: Φ_m is its own reverse, up to the sign for m = 1, which the binomials lack.
    let mut series = spread(&binomial_series(&primes, alpha / step + 1, true), step);
    series.resize(alpha + 1, 0);
    series.reverse();
    Ok(series)
}

/// Returns ∏ (1 − X^d)^μ(r/d) over the divisors of the product r of these primes, or its inverse, as a power series: Φ_r, up to the sign
/// for r = 1.
fn binomial_series(primes: &[u64], length: usize, inverse: bool) -> Vec<i64> {
    let radical = product_of(primes, u32::MAX);
    let mut series = vec![0_i64; length];
    series.iter_mut().take(1).for_each(|constant| *constant = 1);
    let subsets = 0..1_u32 << primes.len();
    let (factors, divisors): (Vec<_>, Vec<_>) =
        subsets.partition(|subset| (subset.count_ones() % 2 == 0) != inverse);
    factors
        .into_iter()
        .for_each(|subset| multiply_by_binomial(&mut series, radical / product_of(primes, subset)));
    divisors
        .into_iter()
        .for_each(|subset| divide_by_binomial(&mut series, radical / product_of(primes, subset)));
    series
}

fn checked_index(m: u64) -> Result<usize, MathError> {
    if m == 0 || m > MAX_INDEX {
        return Err(MathError::OutOfRange {
            what: "index of a cyclotomic polynomial",
            expected: "1 to 2^22",
            got: m,
        });
    }
    Ok(m as usize)
}

/// Returns the product of the primes whose bits are set in `subset`.
fn product_of(primes: &[u64], subset: u32) -> usize {
    let chosen = primes.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1);
    chosen.map(|(_, &p)| p as usize).product()
}

/// Multiplies a power series: a ← a·(1 − X^d), to the length of a.
fn multiply_by_binomial(a: &mut [i64], d: usize) {
    for i in (d..a.len()).rev() {
        let lower = a.get(i - d).copied().unwrap_or(0);
        a.iter_mut().skip(i).take(1).for_each(|c| *c = c.wrapping_sub(lower));
    }
}

/// Divides a power series: a ← a/(1 − X^d), to the length of a.
fn divide_by_binomial(a: &mut [i64], d: usize) {
    for i in d..a.len() {
        let lower = a.get(i - d).copied().unwrap_or(0);
        a.iter_mut().skip(i).take(1).for_each(|c| *c = c.wrapping_add(lower));
    }
}

/// Returns the polynomial a(X^step) for the coefficients of a(X).
fn spread(a: &[i64], step: usize) -> Vec<i64> {
    let mut spread = vec![0; a.len().saturating_sub(1) * step + 1];
    spread.iter_mut().step_by(step.max(1)).zip(a).for_each(|(to, &from)| *to = from);
    spread
}

/// A multiple Φ_d(X^(m/d)) of Φ_m with coefficients −1, 0 and 1 that divides X^m − 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseMultiple {
    index: u64,
    step: u64,
    terms: Vec<(usize, i64)>,
    degree: usize,
    alpha: Option<usize>,
    cost: u64,
}

impl SparseMultiple {
    /// Returns the cheapest multiple to reduce by before a Barrett reduction modulo Φ_m: see [`cost`](Self::cost).
    ///
    /// ```
    /// let sparse = sunzi_math::SparseMultiple::best(21845)?;
    /// assert_eq!((sparse.index(), sparse.degree(), sparse.weight()), (5, 17476, 5));
    /// # Ok::<(), sunzi_math::MathError>(())
    /// ```
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for m = 0 or above 2^22.
    pub fn best(m: u64) -> Result<Self, MathError> {
        let best = Self::all(m)?.into_iter().min_by_key(|sparse| (sparse.cost, sparse.degree));
        best.ok_or(MathError::OutOfRange {
            what: "index of a cyclotomic ring",
            expected: "at least 2",
            got: m,
        })
    }

    /// Returns all sparse multiples, one for each divisor d of the radical of m whose Φ_d has only coefficients −1, 0 and 1, by repeated use of
    /// Φ_m(X)·Φ_(m/p)(X) = Φ_(m/p)(X^p) `[BEHMSZ17, 3.1]`.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for m = 0 or above 2^22.
    pub fn all(m: u64) -> Result<Vec<Self>, MathError> {
        let (primes, size) = (prime_factors(m), checked_index(m)?);
        let n =
            size / product_of(&primes, u32::MAX) * primes.iter().map(|&p| p as usize - 1).product::<usize>();
        let mut multiples = Vec::new();
        for subset in 0..1_u32 << primes.len() {
            let index = product_of(&primes, subset);
            let base = cyclotomic_polynomial(index as u64)?;
            if base.iter().all(|c| c.abs() <= 1) {
                multiples.push(Self::new(m, index, n, &base));
            }
        }
        Ok(multiples)
    }

    fn new(m: u64, index: usize, n: usize, base: &[i64]) -> Self {
        let size = m as usize;
        let step = size / index;
        let terms: Vec<_> =
            base.iter().enumerate().filter(|(_, c)| **c != 0).map(|(i, &c)| (i * step, c)).collect();
        let degree = (base.len() - 1) * step;
        // Products have degree 2n − 2, and m − 1 after the reduction by X^m − 1.
        let length = (2 * n - 1).min(size);
        let additions = (terms.len() - 1) * length.saturating_sub(degree);
        let alpha = degree.min(length).checked_sub(n + 1);
        let transforms = alpha.map_or(0, |alpha| {
            let a = (2 * alpha + 1).next_power_of_two();
            let n = n.next_power_of_two();
            2 * a * a.ilog2() as usize + a + 2 * n * n.ilog2() as usize + n
        });
        let cost = (additions + transforms) as u64;
        Self { index: index as u64, step: step as u64, terms, degree, alpha, cost }
    }

    /// Index d of the polynomial Φ_d whose substitution is the multiple.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Exponent m/d of the substitution X → X^(m/d).
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Exponents with their coefficients, −1 or 1, the lowest exponent first.
    #[must_use]
    pub fn terms(&self) -> &[(usize, i64)] {
        &self.terms
    }

    /// Degree n + α + 1 of the multiple, for n = φ(m).
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Number of coefficients that are not zero: HW in Table 1.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.terms.len()
    }

    /// Excess α over n of the degree of a product that the multiple has reduced; `None` where the multiple is Φ_m itself and nothing is left
    /// to do. Equal to the paper's α unless the product, of degree 2n − 2, is short already.
    #[must_use]
    pub fn alpha(&self) -> Option<usize> {
        self.alpha
    }

    /// Cost of the reduction by the multiple: (HW − 1)·(m − deg) additions, and, unless it is Φ_m itself, the multiplications of the two products
    /// after it, 2A·log2 A + A with A the power of two from 2α + 1 and again with n for 2α + 1, all of equal weight.
    ///
    /// If additions cost nothing, as the paper counts, denser multiples than those of Table 1 would win: those of degree 8224 for
    /// m = 13107 and 16448 for m = 21845.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multiply(a: &[i64], b: &[i64]) -> Vec<i64> {
        let mut product = vec![0; a.len() + b.len() - 1];
        for (i, x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
            for (j, y) in b.iter().enumerate() {
                product[i + j] += x * y;
            }
        }
        product
    }

    /// Returns quotient and remainder of a polynomial by a monic divisor.
    fn divide(a: &[i64], divisor: &[i64]) -> (Vec<i64>, Vec<i64>) {
        let (mut rest, degree) = (a.to_vec(), divisor.len() - 1);
        let mut quotient = vec![0; (a.len()).saturating_sub(degree)];
        for i in (0..quotient.len()).rev() {
            quotient[i] = rest[i + degree];
            for (j, d) in divisor.iter().enumerate() {
                rest[i + j] -= quotient[i] * d;
            }
        }
        rest.truncate(degree);
        (quotient, rest)
    }

    fn binomial(m: u64) -> Vec<i64> {
        let mut polynomial = vec![0; m as usize + 1];
        polynomial[0] = -1;
        polynomial[m as usize] = 1;
        polynomial
    }

    /// Checks the definition: ∏ Φ_d over the divisors of m is X^m − 1.
    #[test]
    fn divisors_multiply_to_the_binomial() {
        for m in (1..=130).chain([210, 256, 315, 1155]) {
            let divisors = (1..=m).filter(|d| m % d == 0);
            let product =
                divisors.fold(vec![1], |product, d| multiply(&product, &cyclotomic_polynomial(d).unwrap()));
            assert_eq!(product, binomial(m), "{m}");
        }
        assert!(cyclotomic_polynomial(0).is_err() && cyclotomic_polynomial((1 << 22) + 1).is_err());
        assert_eq!(cyclotomic_polynomial(105).unwrap()[7], -2);
        assert_eq!(cyclotomic_polynomial(1 << 22).unwrap().len(), (1 << 21) + 1);
    }

    #[test]
    fn quotients_are_those_of_long_division() {
        for m in (1..=60).chain([105, 128, 210, 315]) {
            let phi = cyclotomic_polynomial(m).unwrap();
            for alpha in [0, 1, 2, 7, 50, 200] {
                let mut power = vec![0; phi.len() + alpha];
                *power.last_mut().unwrap() = 1;
                assert_eq!(cyclotomic_quotient(m, alpha).unwrap(), divide(&power, &phi).0, "{m} {alpha}");
            }
        }
    }

    #[test]
    fn multiples_divide_the_binomial() {
        for m in (2..=130).chain([210, 255, 257, 1155, 3855, 4369]) {
            let phi = cyclotomic_polynomial(m).unwrap();
            let all = SparseMultiple::all(m).unwrap();
            assert!(!all.is_empty());
            for sparse in all {
                let mut polynomial = vec![0; sparse.degree() + 1];
                sparse.terms().iter().for_each(|&(i, c)| polynomial[i] = c);
                assert!(divide(&polynomial, &phi).1.iter().all(|c| *c == 0), "{m} {}", sparse.index());
                assert!(
                    divide(&binomial(m), &polynomial).1.iter().all(|c| *c == 0),
                    "{m} {}",
                    sparse.index()
                );
                assert_eq!(polynomial.last(), Some(&1));
                assert_eq!(sparse.weight(), polynomial.iter().filter(|c| **c != 0).count());
                // For m = 2 a product of constants is short.
                assert_eq!(sparse.alpha().is_none(), sparse.degree() + 1 == phi.len() || m == 2);
            }
        }
        assert!(SparseMultiple::best(0).is_err() && SparseMultiple::best((1 << 22) + 1).is_err());
    }

    /// Checks Table 1 of `[BEHMSZ17]`, with the digits that the archived text lost.
    #[test]
    fn the_six_of_the_paper_are_found() {
        let table = [
            (3855, 2048, 15, 2056, 7, 7),
            (4369, 4096, 17, 4112, 15, 17),
            (13107, 8192, 3, 8738, 545, 3),
            (21845, 16384, 5, 17476, 1091, 5),
            (32767, 27000, 7, 28086, 1085, 7),
            (65535, 32768, 15, 34952, 2183, 7),
        ];
        for (m, n, index, degree, alpha, weight) in table {
            assert_eq!(cyclotomic_polynomial(m).unwrap().len(), n + 1);
            let best = SparseMultiple::best(m).unwrap();
            let got = (best.index(), best.degree(), best.alpha(), best.weight());
            assert_eq!(got, (index, degree, Some(alpha), weight), "{m}");
        }
    }

    /// Checks that no other product of Φ_d over divisors d of m, Φ_m among them, is cheaper.
    #[test]
    fn no_other_divisor_of_the_binomial_is_cheaper() {
        for m in (2..=120_u64).filter(|m| (1..=*m).filter(|d| m % d == 0).count() <= 10) {
            let n = cyclotomic_polynomial(m).unwrap().len() - 1;
            let divisors: Vec<u64> = (1..m).filter(|d| m % d == 0).collect();
            let best = SparseMultiple::best(m).unwrap();
            for subset in 0..1_u32 << divisors.len() {
                let chosen = divisors.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1);
                let start = cyclotomic_polynomial(m).unwrap();
                let product = chosen
                    .fold(start, |product, (_, &d)| multiply(&product, &cyclotomic_polynomial(d).unwrap()));
                if product.iter().all(|c| c.abs() <= 1) {
                    let other = SparseMultiple::new(m, m as usize, n, &product);
                    assert!(other.cost() >= best.cost(), "{m}: {subset:b} {other:?} {best:?}");
                }
            }
        }
    }
}
