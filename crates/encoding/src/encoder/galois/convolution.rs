//! Stage of the slot transform for a large prime, by cyclic convolutions (Rader) through transforms modulo
//! word-size primes.
//!
//! With g a generator of (Z/q)*, exponents j = g^a and classes U = g^(−b), the coordinates of the values are
//! F_i(b) = c_0·\[i = 0\] + Σ_a c(g^a)·h_i(a − b), where h_i(e) is the i-th coordinate of η^(g^e). Back, the traces are
//! T(g^a) = Σ_i Σ_b F_i(b)·w_i(a − b), where w_i(e) is that of η^(i − g^e)/q, and coefficient j is T(j) − T(q − 1).

use sunzi_kernels::{Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, log2, mod_inv, mul_mod, primes_below, primitive_root_of_unity};
use zeroize::Zeroizing;

use crate::EncodingError;

/// Primes q for which convolutions pay, and are short enough for the transforms: 2q − 3 ≤ 2^17.
pub(super) const PRIMES: std::ops::RangeInclusive<u64> = 64..=65_537;

/// Tables of the convolutions for one prime q and one t.
pub(super) struct Convolution {
    t: u64,
    /// Degree d: the order of p modulo q.
    degree: usize,
    /// Powers g^a of the generator for all a.
    exponents: Vec<usize>,
    /// Exponent b of the generator for every class.
    points: Vec<usize>,
    /// Values w(i) for the exponent 0, one for each coordinate i.
    constants: Vec<u64>,
    fields: Vec<Field>,
}

/// Tables of the convolutions modulo one word-size prime.
struct Field {
    plan: NttPlan,
    /// Transforms of the lists h_i(−e), for each coordinate i.
    forward: Vec<Zeroizing<Vec<u64>>>,
    /// Transforms of the lists w_i(e), for each coordinate i.
    backward: Vec<Zeroizing<Vec<u64>>>,
    /// Inverses of the word-size primes before, modulo this prime.
    inverses: Vec<u64>,
}

impl Convolution {
    /// Makes the tables for classes with these units; the input tables have a row of d coordinates for each of the q powers of η, and one trace.
    pub(super) fn new(
        [q, t]: [u64; 2],
        units: &[u64],
        degree: usize,
        powers: &[u64],
        traces: &[u64],
    ) -> Result<Self, EncodingError> {
        let period = q as usize - 1;
        let g = primitive_root_of_unity(q - 1, q)?;
        let exponents: Vec<usize> = std::iter::successors(Some(1), |&x| Some(mul_mod(x, g, q)))
            .take(period)
            .map(|x| x as usize)
            .collect();
        // The unit is g^(q − 1 − b).
        let mut logarithms = vec![0; q as usize];
        for (a, &exponent) in exponents.iter().enumerate() {
            if let Some(place) = logarithms.get_mut(exponent) {
                *place = a;
            }
        }
        let back = |unit: &u64| (period - logarithms.get(*unit as usize).copied().unwrap_or(0)) % period;
        let points = units.iter().map(back).collect();
        let coordinate = |i: usize| {
            // The list h(−e).
            let reversed = exponents.iter().take(1).chain(exponents.iter().skip(1).rev());
            reversed.map(|&e| powers.get(e * degree + i).copied().unwrap_or(0)).collect::<Vec<u64>>()
        };
        let trace = |i: usize| {
            let row = |&e: &usize| traces.get((i + q as usize - e) % q as usize).copied().unwrap_or(0);
            exponents.iter().map(row).collect::<Vec<u64>>()
        };
        let [coordinates, weights]: [Vec<Vec<u64>>; 2] =
            [(0..degree).map(coordinate).collect(), (0..degree).map(trace).collect()];
        let length = (2 * period - 1).next_power_of_two();
        let mut fields: Vec<Field> = Vec::new();
        for prime in primes_for(q, t, length)? {
            let modulus = Modulus::new(prime)?;
            let plan = NttPlan::new(modulus, length)?;
            let all = |rows: &Vec<Vec<u64>>| -> Result<Vec<Zeroizing<Vec<u64>>>, EncodingError> {
                rows.iter().map(|row| transformed(&plan, row.iter().copied())).collect()
            };
            let before = fields.iter().map(|field: &Field| field.plan.modulus().value());
            let inverses = before.map(|other| mod_inv(other, prime)).collect::<Result<_, _>>()?;
            let (forward, backward) = (all(&coordinates)?, all(&weights)?);
            fields.push(Field { plan, forward, backward, inverses });
        }
        let constants = traces.iter().copied().take(degree).collect();
        Ok(Self { t, degree, exponents, points, constants, fields })
    }

    /// Returns the coordinates of the values at all classes of Σ c_j·η^(U·j), one class after the other, of
    /// c_0 to c_(q−2).
    pub(super) fn forward(&self, c: &[u64]) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
        let period = self.exponents.len();
        let ordered = || self.exponents.iter().map(|&e| c.get(e).copied().unwrap_or(0));
        let inputs = self.transforms(ordered)?;
        let mut out = Zeroizing::new(vec![0; self.points.len() * self.degree]);
        for i in 0..self.degree {
            let mut residues = Vec::with_capacity(self.fields.len());
            for (field, input) in self.fields.iter().zip(&inputs) {
                let mut product = input.clone();
                let table = field.forward.get(i).map(|table| &table[..]).unwrap_or_default();
                field.plan.modulus().mul_assign(&mut product, table)?;
                field.plan.inverse(&mut product)?;
                residues.push(product);
            }
            let constant = if i == 0 { c.first().copied().unwrap_or(0) } else { 0 };
            for (out, &b) in out.iter_mut().skip(i).step_by(self.degree).zip(&self.points) {
                *out = (self.entry(&residues, b, period) + constant) % self.t;
            }
        }
        Ok(out)
    }

    /// Returns the coefficients c_0 to c_(q−2) that have the given coordinates at all classes.
    pub(super) fn inverse(&self, values: &[u64]) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
        let period = self.exponents.len();
        let mut sums: Vec<Zeroizing<Vec<u64>>> =
            self.fields.iter().map(|field| Zeroizing::new(vec![0; field.plan.n()])).collect();
        let mut ordered = Zeroizing::new(vec![0; period]);
        let mut constant = 0;
        for i in 0..self.degree {
            for (&b, &x) in self.points.iter().zip(values.iter().skip(i).step_by(self.degree)) {
                let weight = self.constants.get(i).copied().unwrap_or(0);
                constant = (constant + mul_mod(x, weight, self.t)) % self.t;
                ordered.iter_mut().skip(b).take(1).for_each(|entry| *entry = x);
            }
            let inputs = self.transforms(|| ordered.iter().copied())?;
            for ((field, sum), input) in self.fields.iter().zip(&mut sums).zip(&inputs) {
                let table = field.backward.get(i).map(|table| &table[..]).unwrap_or_default();
                field.plan.modulus().mul_add_assign(sum, input, table)?;
            }
        }
        for (field, sum) in self.fields.iter().zip(&mut sums) {
            field.plan.inverse(sum)?;
        }
        // −1 = g^((q − 1)/2).
        let last = self.t - self.entry(&sums, period / 2, period);
        let mut out = Zeroizing::new(vec![0; period + 1]);
        out.iter_mut().take(1).for_each(|c| *c = (constant + last) % self.t);
        for (a, &exponent) in self.exponents.iter().enumerate() {
            let value = (self.entry(&sums, a, period) + last) % self.t;
            out.iter_mut().skip(exponent).take(1).for_each(|c| *c = value);
        }
        out.truncate(period);
        Ok(out)
    }

    /// Transforms a list modulo every word-size prime.
    fn transforms<I: Iterator<Item = u64>>(
        &self,
        list: impl Fn() -> I,
    ) -> Result<Vec<Zeroizing<Vec<u64>>>, EncodingError> {
        self.fields.iter().map(|field| transformed(&field.plan, list())).collect()
    }

    /// Returns entry b modulo t of a cyclic convolution, from the linear convolutions modulo every prime, by
    /// mixed radices (Garner).
    fn entry(&self, products: &[Zeroizing<Vec<u64>>], b: usize, period: usize) -> u64 {
        let mut digits: Vec<u64> = Vec::with_capacity(3);
        let (mut sum, mut weight) = (0, 1);
        for (field, product) in self.fields.iter().zip(products) {
            let modulus = field.plan.modulus();
            let [low, high] = [b, b + period].map(|b| product.get(b).copied().unwrap_or(0));
            let digit =
                digits.iter().zip(&field.inverses).fold(modulus.add(low, high), |x, (&digit, &inverse)| {
                    modulus.mul(modulus.sub(x, modulus.reduce(digit)), inverse)
                });
            sum = (sum + mul_mod(digit % self.t, weight, self.t)) % self.t;
            weight = mul_mod(weight, modulus.value() % self.t, self.t);
            digits.push(digit);
        }
        sum
    }
}

/// Reduces a list modulo a prime, pads it with zeros and transforms it.
fn transformed(
    plan: &NttPlan,
    list: impl Iterator<Item = u64>,
) -> Result<Zeroizing<Vec<u64>>, EncodingError> {
    let mut words = Zeroizing::new(vec![0; plan.n()]);
    words.iter_mut().zip(list).for_each(|(word, x)| *word = plan.modulus().reduce(x));
    plan.forward(&mut words)?;
    Ok(words)
}

/// Returns word-size primes, as many as sums of q − 1 products of residues modulo t need.
fn primes_for(q: u64, t: u64, length: usize) -> Result<Vec<u64>, EncodingError> {
    let bits = 2.0 * log2(&t.into()) + log2(&q.into());
    let order = 2 * length as u64;
    for count in 1.. {
        let primes = primes_below(DEFAULT_PRIME_BOUND, order, count)?;
        if primes.iter().map(|&prime| log2(&prime.into())).sum::<f64>() > bits + 1.0 {
            return Ok(primes);
        }
    }
    Ok(Vec::new())
}
