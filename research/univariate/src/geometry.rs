//! Geometry of a ring index m: Φ_m, its sparse multiple, M and M^-1, and the growth of products.

use std::sync::OnceLock;

use sunzi_math::{RingIndex, SparseMultiple, cyclotomic_polynomial};

use crate::cyclic::SHORTEST;
use sunzi_ring::{Expansion, RingError};

/// Largest length N of a ring's transforms.
const LONGEST: usize = 1 << 18;

/// Integers of a ring index m from which every table of a ring is made.
pub(crate) struct Geometry {
    pub(crate) index: usize,
    pub(crate) shape: RingIndex,
    /// Degree n = φ(m) of the ring of index m.
    pub(crate) degree: usize,
    /// Length N of the transforms, the power of two from 2n.
    pub(crate) length: usize,
    pub(crate) phi: Vec<i64>,
    pub(crate) sparse: SparseMultiple,
    growth: OnceLock<Growth>,
    factor: OnceLock<MontgomeryFactor>,
}

/// Growth of coefficients when powers of X from X^n on are reduced. F_ij is the coefficient of X^i in X^j modulo Φ_m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Norm ‖F_m‖∞ of `[BEHMSZ17, Lemma 4]`: max Σ_j |F_ij| for j up to 2n − 2.
    pub(crate) norm: f64,
    /// Maximum of Σ_j w_j·|F_ij| with w_j the number of products that make the coefficient of X^j: at most n·‖F_m‖.
    pub(crate) worst: f64,
    /// Maxima of Σ_j |F_ij| and of Σ_j F_ij² over the redundant powers: m of them for m odd, m/2 for m even.
    pub(crate) redundant: [f64; 2],
}

/// Montgomery's factor M = X^(N/2) + 1 mod Φ_m and its inverse.
#[derive(Clone, Debug)]
pub struct MontgomeryFactor {
    /// Coefficients of Montgomery's factor M.
    pub factor: Vec<i64>,
    /// Coefficients of the square M² of Montgomery's factor.
    pub square: Vec<i64>,
    /// Coefficients of the inverse M^-1 of Montgomery's factor.
    pub inverse: Vec<i64>,
    /// Largest factor by which multiplication by M^-1 can enlarge the largest coefficient: at most δ·‖M^-1‖.
    pub growth: f64,
    /// Largest factor by which multiplication by M^-1 can enlarge the variance of independent coefficients.
    pub variance: f64,
}

impl Geometry {
    pub(crate) fn new(m: u64) -> Result<Self, RingError> {
        let unsupported = || {
            let expected =
                "an index from 3 on with at most 2^17 coefficients and a sparse multiple of its polynomial";
            RingError::out_of_range("ring index", expected, m)
        };
        if !(3..1 << 20).contains(&m) {
            return Err(unsupported());
        }
        let phi = cyclotomic_polynomial(m)?;
        let degree = phi.len() - 1;
        let length = (2 * degree).next_power_of_two().max(2 * SHORTEST);
        let sparse = SparseMultiple::best(m)?;
        // Polynomials modulo X^m − 1, as automorphisms leave them, must be within reach of Barrett's reduction.
        if length > LONGEST || sparse.degree() > degree + length / 2 {
            return Err(unsupported());
        }
        let (growth, factor) = (OnceLock::new(), OnceLock::new());
        Ok(Self { index: m as usize, shape: RingIndex::new(m)?, degree, length, phi, sparse, growth, factor })
    }

    /// Checks that Montgomery's factor M is invertible: always but for powers of two, of which one is M itself.
    pub(crate) fn check_factor(&self) -> Result<(), RingError> {
        if self.index.is_power_of_two() {
            let expected = "one that is no power of two, for Montgomery's reduction";
            return Err(RingError::out_of_range("ring index", expected, self.index));
        }
        Ok(())
    }

    pub(crate) fn growth(&self) -> Growth {
        *self.growth.get_or_init(|| {
            let (n, m) = (self.degree, self.index);
            let redundant = if m.is_multiple_of(2) { m / 2 } else { m };
            let mut norm = vec![1_i64; n];
            let mut worst: Vec<i64> = (1..=n as i64).collect();
            let (mut sums, mut squares) = (vec![1_i64; n], vec![1_i64; n]);
            let mut power: Vec<i64> = self.phi.iter().take(n).map(|c| -c).collect();
            for j in n..redundant.max(2 * n - 1) {
                if j < 2 * n - 1 {
                    let weight = (2 * n - 1 - j) as i64;
                    for ((norm, worst), c) in norm.iter_mut().zip(&mut worst).zip(&power) {
                        *norm += c.abs();
                        *worst += weight * c.abs();
                    }
                }
                if j < redundant {
                    for ((sum, square), c) in sums.iter_mut().zip(&mut squares).zip(&power) {
                        *sum += c.abs();
                        *square += c * c;
                    }
                }
                self.times_x(&mut power);
            }
            let most = |sums: &[i64]| sums.iter().copied().max().unwrap_or(0) as f64;
            Growth { norm: most(&norm), worst: most(&worst), redundant: [most(&sums), most(&squares)] }
        })
    }

    /// Returns the growth of sizes by products in the power basis.
    pub(crate) fn expansion(&self) -> Expansion {
        let ring = Expansion::new(self.index as u64).unwrap_or_else(|_| self.degree.into());
        let share = ring.degree() as f64 / ring.redundant_degree() as f64;
        let [norm, square] = self.growth().redundant;
        // Of redundant coefficients that are independent, and of |v(ζ)| ≥ |Σ_j v_j·ζ^j|/m times the sum of |F_ij|.
        ring.in_basis(norm, (square * share).sqrt(), norm * share)
    }

    /// Multiplies a polynomial by X: a ← a·X modulo Φ_m.
    fn times_x(&self, a: &mut [i64]) {
        let top = a.last().copied().unwrap_or(0);
        a.rotate_right(1);
        a.iter_mut().take(1).for_each(|c| *c = 0);
        if top != 0 {
            a.iter_mut().zip(&self.phi).for_each(|(c, phi)| *c -= top * phi);
        }
    }

    /// Reduces a polynomial modulo X^m − 1 to one modulo Φ_m.
    pub(crate) fn reduce(&self, a: &[i64]) -> Vec<i64> {
        let mut rest = a.to_vec();
        let top = self.sparse.degree();
        let divide = |rest: &mut Vec<i64>, terms: &[(usize, i64)], degree: usize| {
            for i in (degree..rest.len()).rev() {
                let quotient = rest.get(i).copied().unwrap_or(0);
                for &(at, c) in terms.iter().filter(|_| quotient != 0) {
                    rest.iter_mut().skip(i - degree + at).take(1).for_each(|x| *x -= quotient * c);
                }
            }
            rest.truncate(degree);
        };
        divide(&mut rest, self.sparse.terms(), top);
        let terms: Vec<(usize, i64)> =
            self.phi.iter().copied().enumerate().filter(|(_, c)| *c != 0).collect();
        divide(&mut rest, &terms, self.degree);
        rest.resize(self.degree, 0);
        rest
    }

    /// Returns Montgomery's factor M and M^-1: with η = X^(N/2), of odd order m′, 1/(1 + η) = (1 − η)/(1 −
    /// η²) = Σ η^(2j) for j from 0 to (m′ − 1)/2.
    pub(crate) fn montgomery_factor(&self) -> &MontgomeryFactor {
        self.factor.get_or_init(|| {
            let (m, half) = (self.index, self.length / 2);
            let sum_of_powers = |exponents: &mut dyn Iterator<Item = usize>| {
                let mut sum = vec![0; m];
                for exponent in exponents {
                    sum.iter_mut().skip(exponent % m).take(1).for_each(|c| *c += 1);
                }
                self.reduce(&sum)
            };
            let odd = m >> m.trailing_zeros();
            let factor = sum_of_powers(&mut [0, half].into_iter());
            let square = sum_of_powers(&mut [0, half, half, 2 * half].into_iter());
            let inverse = sum_of_powers(&mut (0..=odd / 2).map(|j| 2 * half * j));
            let [growth, variance] = self.multiplication_growth(&inverse);
            MontgomeryFactor { factor, square, inverse, growth, variance }
        })
    }

    /// Returns the largest sums of absolute values and of squares in a row of the matrix of a multiplication by a.
    fn multiplication_growth(&self, a: &[i64]) -> [f64; 2] {
        let mut multiple = a.to_vec();
        let (mut sums, mut squares) = (vec![0_i64; self.degree], vec![0_i64; self.degree]);
        for _ in 0..self.degree {
            for ((sum, square), c) in sums.iter_mut().zip(&mut squares).zip(&multiple) {
                *sum += c.abs();
                *square += c * c;
            }
            self.times_x(&mut multiple);
        }
        [sums, squares].map(|sums| sums.into_iter().max().unwrap_or(0) as f64)
    }
}
