//! Reductions modulo polynomials that need not be cyclotomic `[BEHMSZ17, 6]`.

use sunzi_kernels::{Buffer, Modulus, active_isa};

use crate::barrett::{Barrett, quotient_length, residues};
use crate::cyclic::{CyclicPlan, CyclicScale, SHORTEST};
use crate::montgomery::Montgomery;
use sunzi_ring::RingError;
use sunzi_ring::storage::check_length;

/// Largest degree of a polynomial that products are reduced by.
const LARGEST: usize = 1 << 17;

/// Products modulo one prime, reduced by Barrett or by Montgomery modulo any monic polynomial.
///
/// ```
/// use sunzi_univariate::PolynomialReducer;
///
/// // Modulo X^67 − X − 1 and 7681.
/// let mut f = vec![0; 68];
/// (f[67], f[1], f[0]) = (1, -1, -1);
/// let reducer = PolynomialReducer::new(&f, 7681)?;
/// let [mut x, mut y] = [vec![0; reducer.length()], vec![0; reducer.length()]];
/// (x[66], y[1]) = (1, 1);
/// reducer.transform(&mut x)?;
/// reducer.transform(&mut y)?;
/// reducer.multiply(&mut x, &y)?;
/// reducer.reduce(&mut x)?;
/// // X^66·X = X + 1.
/// assert_eq!(x[..3], [1, 1, 0]);
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
pub struct PolynomialReducer {
    degree: usize,
    length: usize,
    plan: CyclicPlan,
    /// Transform of f modulo X^(N/2) − 1.
    folded: Buffer,
    whole: CyclicScale,
    barrett: Barrett,
    montgomery: Montgomery,
}

impl PolynomialReducer {
    /// Makes the reducer modulo f, of degree n with the coefficients `polynomial` from the lowest to a 1, and a prime q ≡ 1 (mod N), N the power of
    /// two from 2n and at least 128.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for a polynomial that is not monic, has no degree from 2 to 2^17, or shares a root with M = X^(N/2) + 1 modulo q;
    /// [`RingError::Kernel`] for a modulus without the roots.
    pub fn new(polynomial: &[i64], q: u64) -> Result<Self, RingError> {
        let degree = polynomial.len().saturating_sub(1);
        if polynomial.last() != Some(&1) || !(2..=LARGEST).contains(&degree) {
            let expected = format_args!("2 to {LARGEST}, with a leading coefficient of 1");
            return Err(RingError::out_of_range("degree of a polynomial", expected, degree));
        }
        let length = (2 * degree).next_power_of_two().max(2 * SHORTEST);
        let plan = CyclicPlan::new(Modulus::with_isa(q, active_isa()?)?, length)?;
        let mut folded = polynomial.to_vec();
        let above: Vec<i64> = folded.drain((length / 2).min(folded.len())..).collect();
        folded.iter_mut().zip(above).for_each(|(low, high)| *low += high);
        let mut folded = residues(&plan, &folded, length / 2);
        plan.forward(&mut folded, false)?;
        // Products have degree 2n − 2 = n + α.
        let alpha = degree - 2;
        let quotient = quotient(polynomial, alpha, plan.modulus());
        let barrett = Barrett::with_quotient([degree, length], &plan, alpha, quotient)?;
        let montgomery = Montgomery::modulo(polynomial, length, &plan)?;
        Ok(Self { degree, length, folded, whole: plan.scale(length, 1)?, plan, barrett, montgomery })
    }

    /// Length N of the transforms.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Degree n of the polynomial that is reduced by.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Transforms a polynomial of at most N/2 coefficients to its N values, in place: the upper words may be anything.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless there are N words of values.
    pub fn transform(&self, words: &mut [u64]) -> Result<(), RingError> {
        check_length("words", self.length, words.len())?;
        self.plan.forward(words, true)
    }

    /// Multiplies values point by point, a ← a·b.
    ///
    /// # Errors
    /// [`RingError::Kernel`] for lists of values of different length.
    pub fn multiply(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        Ok(self.plan.modulus().mul_assign(a, b)?)
    }

    /// Reduces the N values of a product of two polynomials of degree below n to its n coefficients modulo f, the first n words, by Barrett.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless there are N words of values.
    pub fn reduce(&self, values: &mut [u64]) -> Result<(), RingError> {
        check_length("values", self.length, values.len())?;
        self.plan.inverse(values, &self.whole)?;
        self.barrett.apply(&self.plan, &self.folded, values)
    }

    /// Reduces as [`reduce`](Self::reduce) does, but by Montgomery: the result is divided by M = X^(N/2) + 1 modulo f.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] unless there are N words of values.
    pub fn reduce_and_divide(&self, values: &mut [u64]) -> Result<(), RingError> {
        check_length("values", self.length, values.len())?;
        self.montgomery.apply(&self.plan, &self.folded, values)
    }
}

/// Returns ⌊X^(n+α)/f⌋ modulo the prime: the first α + 1 coefficients of the power series of 1 over the reversed f, reversed.
fn quotient(polynomial: &[i64], alpha: usize, modulus: Modulus) -> Buffer {
    let terms: Vec<(usize, u64)> = polynomial
        .iter()
        .rev()
        .enumerate()
        .skip(1)
        .map(|(at, &c)| (at, modulus.reduce_i64(-c)))
        .filter(|(_, c)| *c != 0)
        .collect();
    let mut series: Vec<u64> = vec![1];
    for i in 1..=alpha {
        let earlier = |at: usize| i.checked_sub(at).and_then(|at| series.get(at)).copied().unwrap_or(0);
        let next = terms
            .iter()
            .take_while(|(at, _)| *at <= i)
            .fold(0, |sum, &(at, c)| modulus.add(sum, modulus.mul(c, earlier(at))));
        series.push(next);
    }
    series.reverse();
    series.resize(quotient_length(alpha), 0);
    Buffer::from_slice(&series)
}
