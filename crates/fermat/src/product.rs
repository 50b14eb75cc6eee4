//! Products of polynomials modulo one component through transforms modulo enough primes.

use std::sync::Arc;

use num_bigint::BigUint;
use sunzi_kernels::{Conversion, InverseScale, Modulus, NttPlan, RoundedQuotient, active_isa};
use sunzi_math::{DEFAULT_PRIME_BOUND, mod_inv, mod_pow, mul_mod};
use sunzi_ring::RingError;
use zeroize::Zeroizing;

use crate::Component;
use crate::combination::{BLOCK, Combination};
use crate::plans::Plans;

/// Bits of the digits that residues are cut into.
pub(crate) const DIGIT_BITS: u32 = 48;
/// As many products of residues may be summed before they are recovered.
pub(crate) const MOST_TERMS: usize = 16;

/// Digits of 48 bits that a residue has.
pub(crate) fn digit_count(component: Component) -> usize {
    (component.bits() + usize::from(component.is_fermat())).div_ceil(DIGIT_BITS as usize)
}

/// The digits of [`BLOCK`] residues, one row after the other.
pub(crate) fn cut(component: Component, residues: &[u64], rows: &mut [u64]) {
    let mask = (1_u128 << DIGIT_BITS) - 1;
    for (c, residue) in residues.chunks_exact(component.len()).enumerate() {
        let (mut bits, mut held, mut words) = (0_u128, 0, residue.iter());
        for row in rows.iter_mut().skip(c).step_by(BLOCK) {
            if held < DIGIT_BITS {
                bits |= u128::from(words.next().copied().unwrap_or(0)) << held;
                held += 64;
            }
            *row = (bits & mask) as u64;
            bits >>= DIGIT_BITS;
            held -= DIGIT_BITS;
        }
    }
}

/// The bound of digits, as a source of conversions.
pub(crate) fn digit_bound() -> Result<Modulus, RingError> {
    Ok(Modulus::new(1 << DIGIT_BITS)?)
}

/// Tables for sums of products, the coefficients of which are known by their residues modulo primes p_1, …, p_K.
pub(crate) struct WordProducts {
    component: Component,
    plans: Vec<Arc<NttPlan>>,
    lift: Conversion,
    /// (P/p)^-1, folded into the inverse transforms.
    scales: Vec<InverseScale>,
    quotient: RoundedQuotient,
    combination: Combination,
}

impl std::fmt::Debug for WordProducts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WordProducts").field("component", &self.component).finish_non_exhaustive()
    }
}

impl WordProducts {
    /// For sums whose coefficients are below 2^`bits`.
    pub(crate) fn new(component: Component, pool: &Plans, bits: usize) -> Result<Self, RingError> {
        // Centred: P > 2·2^bits, and a little for the quotients.
        let per_prime = (DEFAULT_PRIME_BOUND as f64).log2() - 1e-3;
        let plans = pool.first(((bits + 2) as f64 / per_prime).ceil() as usize)?;
        let moduli: Vec<Modulus> = plans.iter().map(|plan| plan.modulus()).collect();
        let count = digit_count(component);
        let entry = |w: usize, p: usize| {
            let p = moduli.get(p).map_or(3, Modulus::value);
            mod_pow(2, (DIGIT_BITS as usize * w) as u64, p)
        };
        let lift = Conversion::new(&vec![digit_bound()?; count], &moduli, entry)?;
        let product: BigUint = moduli.iter().map(Modulus::value).product();
        let (q, mut scales, mut constants) = (component.value(), Vec::new(), Vec::new());
        for (plan, modulus) in plans.iter().zip(&moduli) {
            let p = modulus.value();
            let others = moduli.iter().map(Modulus::value).filter(|&other| other != p);
            scales.push(
                plan.scale(mod_inv(others.fold(1, |product, other| mul_mod(product, other % p, p)), p)?)?,
            );
            constants.push((&product / p) % &q);
        }
        let quotient = RoundedQuotient::new(active_isa()?, &moduli)?;
        constants.push(&q - &product % &q);
        let sources: Vec<Modulus> = moduli.iter().copied().chain([quotient.range()]).collect();
        let combination = Combination::new(component, &sources, &constants)?;
        Ok(Self { component, plans, lift, scales, quotient, combination })
    }

    /// For sums of [`MOST_TERMS`] products of residues.
    pub(crate) fn for_residues(component: Component, pool: &Plans) -> Result<Self, RingError> {
        let sums = (pool.degree() * MOST_TERMS).ilog2() as usize;
        Self::new(component, pool, 2 * component.bits() + sums)
    }

    /// K.
    pub(crate) fn primes(&self) -> usize {
        self.plans.len()
    }

    fn degree(&self) -> usize {
        self.plans.first().map_or(BLOCK, |plan| plan.n())
    }

    /// A sum of no products.
    pub(crate) fn zero(&self) -> Vec<u64> {
        vec![0; self.plans.len() * self.degree()]
    }

    /// n residues as integers in [0, q_j], transformed; erased in the end, since they may be a secret's.
    pub(crate) fn lift(&self, residues: &[u64]) -> Result<Zeroizing<Vec<u64>>, RingError> {
        let (n, mut lifted) = (self.degree(), Zeroizing::new(self.zero()));
        let mut digits = Zeroizing::new(vec![0; digit_count(self.component) * BLOCK]);
        let mut rows: Vec<_> = lifted.chunks_exact_mut(n).map(|row| row.chunks_exact_mut(BLOCK)).collect();
        for block in residues.chunks_exact(BLOCK * self.component.len()) {
            cut(self.component, block, &mut digits);
            let mut out: Vec<&mut [u64]> = rows.iter_mut().filter_map(Iterator::next).collect();
            self.lift.apply(&digits.chunks_exact(BLOCK).collect::<Vec<_>>(), &mut out)?;
        }
        self.transform(&mut lifted)?;
        Ok(lifted)
    }

    /// n words below 2^62, transformed.
    pub(crate) fn lift_words(&self, words: &[u64]) -> Result<Vec<u64>, RingError> {
        let mut lifted = self.zero();
        for (row, plan) in lifted.chunks_exact_mut(self.degree()).zip(&self.plans) {
            plan.modulus().reduce_into(row, words)?;
        }
        self.transform(&mut lifted)?;
        Ok(lifted)
    }

    fn transform(&self, lifted: &mut [u64]) -> Result<(), RingError> {
        for (row, plan) in lifted.chunks_exact_mut(self.degree()).zip(&self.plans) {
            plan.forward(row)?;
        }
        Ok(())
    }

    /// sum ← sum + a·b.
    pub(crate) fn mul_add(&self, sum: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        let n = self.degree();
        let rows = sum.chunks_exact_mut(n).zip(a.chunks_exact(n)).zip(b.chunks_exact(n));
        for (((sum, a), b), plan) in rows.zip(&self.plans) {
            plan.modulus().mul_add_assign(sum, a, b)?;
        }
        Ok(())
    }

    /// The residues of a sum of products.
    pub(crate) fn recover(&self, mut sum: Vec<u64>, out: &mut [u64]) -> Result<(), RingError> {
        let n = self.degree();
        for ((row, plan), scale) in sum.chunks_exact_mut(n).zip(&self.plans).zip(&self.scales) {
            plan.inverse_scaled(row, scale)?;
        }
        let mut quotients = [0; BLOCK];
        let mut rows: Vec<_> = sum.chunks_exact(n).map(|row| row.chunks_exact(BLOCK)).collect();
        for out in out.chunks_exact_mut(BLOCK * self.component.len()) {
            let mut inputs: Vec<&[u64]> = rows.iter_mut().filter_map(Iterator::next).collect();
            self.quotient.apply(&inputs, &mut quotients)?;
            inputs.push(&quotients);
            self.combination.apply(&inputs, out)?;
        }
        Ok(())
    }
}
