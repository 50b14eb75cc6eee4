//! The algorithms of `[KPZ21]` word for word, plain and slow, every operation counted.
//!
//! Nothing is fused, shared or skipped in the reference algorithms: what is counted is what the formulas of
//! `[KPZ21]` speak of. A transform counts once. An integer multiplication is one of two residues, of a
//! residue by a constant, or of a digit by a constant; a floating-point operation is the product of a residue
//! and a constant. Additions are not counted, nor is taking a multiple v·Q off, v being small: its multiples
//! are in a table.

pub mod conversion;
pub mod key_switching;
pub mod multiplication;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use num_bigint::BigUint;
use sunzi_kernels::{Modulus, NttPlan};
use sunzi_math::add_mod;

use crate::Result;

/// Limbs of one polynomial: for each modulus n words below it.
pub type Limbs = Vec<Vec<u64>>;

/// Counts of the operations of a reference algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of transforms of one limb, forward or inverse.
    pub transforms: u64,
    /// Number of multiplications of n residues each.
    pub products: u64,
    /// Number of floating-point multiplications of n numbers each.
    pub floats: u64,
}

/// A counter that does the arithmetic of the reference algorithms and counts it.
#[derive(Debug, Default)]
pub struct Counter {
    transforms: Cell<u64>,
    /// Number of inverse transforms among them.
    inverses: Cell<u64>,
    products: Cell<u64>,
    floats: Cell<u64>,
}

impl Counter {
    /// The operations counted since the counter was made, in polynomials of degree n.
    pub fn counts(&self, degree: usize) -> Counts {
        let n = degree as u64;
        Counts {
            transforms: self.transforms.get(),
            products: self.products.get() / n,
            floats: self.floats.get() / n,
        }
    }

    /// Number of inverse transforms among the counted transforms.
    pub(crate) fn inverses(&self) -> u64 {
        self.inverses.get()
    }

    /// Counts multiplications of words that are done elsewhere.
    pub(crate) fn add_products(&self, count: usize) {
        self.products.set(self.products.get() + count as u64);
    }

    /// Product a·b mod p of residues, counted as a multiplication.
    pub(crate) fn multiply(&self, a: i64, b: u64, p: u64) -> u64 {
        self.add_products(1);
        (i128::from(a) * i128::from(b)).rem_euclid(i128::from(p)) as u64
    }

    /// Product a·b in floating point, counted as one.
    pub(crate) fn multiply_float(&self, a: i64, b: f64) -> f64 {
        self.floats.set(self.floats.get() + 1);
        a as f64 * b
    }

    /// Pointwise product a·b of two polynomials, counted.
    pub(crate) fn pointwise(&self, basis: &Basis, a: &Limbs, b: &Limbs) -> Limbs {
        let limbs = basis.moduli.iter().zip(a.iter().zip(b));
        limbs
            .map(|(&q, (a, b))| a.iter().zip(b).map(|(&a, &b)| self.multiply(a as i64, b, q)).collect())
            .collect()
    }

    /// Multiplies every limb by its constant, counted.
    pub(crate) fn scale(&self, moduli: &[u64], a: &[Vec<u64>], factors: &[u64]) -> Limbs {
        let limbs = moduli.iter().zip(a).zip(factors);
        limbs.map(|((&q, a), &f)| a.iter().map(|&a| self.multiply(a as i64, f, q)).collect()).collect()
    }

    /// Forward transform of every limb, coefficients to evaluations, counted.
    pub(crate) fn forward(&self, basis: &Basis, mut limbs: Limbs) -> Result<Limbs> {
        for (plan, limb) in basis.plans.iter().zip(&mut limbs) {
            plan.forward(limb)?;
            self.transforms.set(self.transforms.get() + 1);
        }
        Ok(limbs)
    }

    /// Inverse transform of every limb, evaluations to coefficients, counted.
    pub(crate) fn inverse(&self, basis: &Basis, limbs: Limbs) -> Result<Limbs> {
        self.inverse_scaled(basis, limbs, &vec![1; basis.count()])
    }

    /// Inverse transform of every limb times its constant, which the last stage multiplies by: counted as transforms.
    pub(crate) fn inverse_scaled(&self, basis: &Basis, mut limbs: Limbs, factors: &[u64]) -> Result<Limbs> {
        for ((plan, limb), &factor) in basis.plans.iter().zip(&mut limbs).zip(factors) {
            plan.inverse_scaled(limb, &plan.scale(factor)?)?;
            self.transforms.set(self.transforms.get() + 1);
            self.inverses.set(self.inverses.get() + 1);
        }
        Ok(limbs)
    }
}

/// A basis of a few primes with their transforms.
#[derive(Clone)]
pub struct Basis {
    pub(crate) moduli: Vec<u64>,
    pub(crate) plans: Vec<NttPlan>,
}

impl Basis {
    /// The basis of these primes with the tables of their transforms of degree n.
    ///
    /// # Errors
    /// [`LabError::Below`](crate::LabError::Below) unless all primes are 1 modulo 2n.
    pub fn new(degree: usize, moduli: &[u64]) -> Result<Self> {
        let plan = |&q: &u64| Ok(NttPlan::new(Modulus::new(q)?, degree)?);
        Ok(Self { moduli: moduli.to_vec(), plans: moduli.iter().map(plan).collect::<Result<_>>()? })
    }

    /// Moduli of an RNS basis.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Number of moduli of an RNS basis.
    pub(crate) fn count(&self) -> usize {
        self.moduli.len()
    }

    /// Product of the moduli of an RNS basis.
    pub(crate) fn product(&self) -> BigUint {
        self.moduli.iter().product()
    }

    /// The basis of the primes from `begin` to before `end`.
    pub(crate) fn part(&self, begin: usize, end: usize) -> Self {
        let plans = self.plans.iter().take(end).skip(begin).cloned().collect();
        Self { moduli: self.moduli.iter().take(end).skip(begin).copied().collect(), plans }
    }

    /// The basis of this one's primes followed by the other's.
    pub(crate) fn with(&self, other: &Self) -> Self {
        let moduli = [&self.moduli[..], &other.moduli[..]].concat();
        Self { moduli, plans: self.plans.iter().chain(&other.plans).cloned().collect() }
    }
}

/// Sum a + b of two polynomials, limb by limb.
pub(crate) fn add(moduli: &[u64], a: &[Vec<u64>], b: &[Vec<u64>]) -> Limbs {
    let limbs = moduli.iter().zip(a.iter().zip(b));
    limbs.map(|(&q, (a, b))| a.iter().zip(b).map(|(&a, &b)| add_mod(a, b, q)).collect()).collect()
}

/// Difference a − b of two polynomials, limb by limb.
pub(crate) fn subtract(moduli: &[u64], a: &[Vec<u64>], b: &[Vec<u64>]) -> Limbs {
    let limbs = moduli.iter().zip(a.iter().zip(b));
    limbs.map(|(&q, (a, b))| a.iter().zip(b).map(|(&a, &b)| add_mod(a, q - b, q)).collect()).collect()
}

/// The representative of a residue of least absolute value.
pub(crate) fn centred(residue: u64, modulus: u64) -> i64 {
    if residue > modulus / 2 { residue as i64 - modulus as i64 } else { residue as i64 }
}
