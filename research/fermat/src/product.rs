//! Products of polynomials modulo one component through transforms modulo enough primes.

use std::sync::Arc;

use num_bigint::BigUint;
use sunzi_kernels::{Conversion, InverseScale, Modulus, NttPlan, RoundedQuotient, active_isa};
use sunzi_math::{DEFAULT_PRIME_BOUND, mod_inv, mod_pow, mul_mod};
use sunzi_ring::RingError;
use zeroize::Zeroizing;

use crate::Component;
use crate::blocks::{for_each_block, for_each_row, for_each_row_pair};
use crate::combination::{BLOCK, Combination};
use crate::plans::Plans;

/// Number of bits of the digits that residues are cut into.
pub(crate) const DIGIT_BITS: u32 = 48;
/// Number of products of residues that may be summed before they are recovered.
pub(crate) const MOST_TERMS: usize = 16;

/// Returns the number of 48-bit digits of a residue.
pub(crate) fn digit_count(component: Component) -> usize {
    (component.bits() + usize::from(component.is_fermat())).div_ceil(DIGIT_BITS as usize)
}

/// Cuts [`BLOCK`] residues into digits, one row after the other.
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

/// Returns the bound of 48-bit digits, as a source of conversions.
pub(crate) fn digit_bound() -> Result<Modulus, RingError> {
    Ok(Modulus::new(1 << DIGIT_BITS)?)
}

/// Lift of residues modulo a component, or shorter ones, to their transforms modulo primes.
pub(crate) struct Lift {
    component: Component,
    plans: Vec<Arc<NttPlan>>,
    conversion: Conversion,
}

impl std::fmt::Debug for Lift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lift").field("component", &self.component).finish_non_exhaustive()
    }
}

impl Lift {
    pub(crate) fn new(component: Component, plans: Vec<Arc<NttPlan>>) -> Result<Self, RingError> {
        let moduli: Vec<Modulus> = plans.iter().map(|plan| plan.modulus()).collect();
        let entry = |w: usize, p: usize| {
            let p = moduli.get(p).map_or(3, Modulus::value);
            mod_pow(2, (DIGIT_BITS as usize * w) as u64, p)
        };
        let conversion = Conversion::new(&vec![digit_bound()?; digit_count(component)], &moduli, entry)?;
        Ok(Self { component, plans, conversion })
    }

    fn degree(&self) -> usize {
        self.plans.first().map_or(BLOCK, |plan| plan.n())
    }

    /// Length of a lift in words: one row of n words for every prime.
    pub(crate) fn len(&self) -> usize {
        self.plans.len() * self.degree()
    }

    fn zero(&self) -> Vec<u64> {
        vec![0; self.len()]
    }

    /// Lifts n residues as integers in [0, q_j], and transforms them modulo the primes; erased when dropped,
    /// since they may be a secret's.
    pub(crate) fn apply(&self, residues: &[u64]) -> Result<Zeroizing<Vec<u64>>, RingError> {
        let mut lifted = Zeroizing::new(self.zero());
        let (words, count) = (BLOCK * self.component.len(), digit_count(self.component) * BLOCK);
        let rows = lifted.chunks_exact_mut(self.degree()).map(|row| (row, 1));
        for_each_block(rows, |digits: &mut Zeroizing<Vec<u64>>, block, out| {
            digits.resize(count, 0);
            let own = residues.get(block * words..(block + 1) * words).unwrap_or_default();
            cut(self.component, own, digits);
            Ok(self.conversion.apply(&digits.chunks_exact(BLOCK).collect::<Vec<_>>(), out)?)
        })?;
        self.transform(&mut lifted)?;
        Ok(lifted)
    }

    /// Lifts n words, and transforms them modulo the primes.
    pub(crate) fn apply_words(&self, words: &[u64]) -> Result<Zeroizing<Vec<u64>>, RingError> {
        let mut lifted = Zeroizing::new(self.zero());
        for (row, plan) in lifted.chunks_exact_mut(self.degree()).zip(&self.plans) {
            plan.modulus().reduce_into(row, words)?;
        }
        self.transform(&mut lifted)?;
        Ok(lifted)
    }

    fn transform(&self, lifted: &mut [u64]) -> Result<(), RingError> {
        for_each_row(lifted, self.degree(), |i, row| {
            self.plans.get(i).map_or(Ok(()), |plan| Ok(plan.forward(row)?))
        })
    }
}

/// Tables for sums of products, the coefficients of which are known by their residues modulo primes p_1, …, p_K.
pub(crate) struct WordProducts {
    component: Component,
    lift: Lift,
    /// Scales (P/p)^-1 for the recovery of a sum, folded into the inverse transforms.
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
    /// Makes the tables for sums whose coefficients are below 2^`bits`.
    pub(crate) fn new(component: Component, pool: &Plans, bits: usize) -> Result<Self, RingError> {
        // Centred sums need P > 2·2^bits, and a little more for the quotients.
        let per_prime = (DEFAULT_PRIME_BOUND as f64).log2() - 1e-3;
        let plans = pool.first(((bits + 2) as f64 / per_prime).ceil() as usize)?;
        let moduli: Vec<Modulus> = plans.iter().map(|plan| plan.modulus()).collect();
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
        Ok(Self { component, lift: Lift::new(component, plans)?, scales, quotient, combination })
    }

    /// Makes the tables for sums of [`MOST_TERMS`] products of residues.
    pub(crate) fn for_residues(component: Component, pool: &Plans) -> Result<Self, RingError> {
        let sums = (pool.degree() * MOST_TERMS).ilog2() as usize;
        Self::new(component, pool, 2 * component.bits() + sums)
    }

    /// Plans of the primes of these tables: tables of larger components have these first.
    pub(crate) fn plans(&self) -> &[Arc<NttPlan>] {
        &self.lift.plans
    }

    pub(crate) fn lift(&self) -> &Lift {
        &self.lift
    }

    /// Computes the sum Σ a_i·b_i of products of lifts, which have at least the rows of these primes.
    pub(crate) fn sum(&self, a: &[&[u64]], b: &[&[u64]]) -> Result<Vec<u64>, RingError> {
        let (mut sum, n) = (self.lift.zero(), self.lift.degree());
        for_each_row(&mut sum, n, |i, out| {
            let Some(plan) = self.lift.plans.get(i) else { return Ok(()) };
            Ok(plan.modulus().inner_product(out, &rows(a, i, n), &rows(b, i, n))?)
        })?;
        Ok(sum)
    }

    /// Computes the sums Σ a_i·b_i and Σ a_i·c_i of products of lifts.
    pub(crate) fn sum_pair(&self, a: &[&[u64]], b: [&[&[u64]]; 2]) -> Result<[Vec<u64>; 2], RingError> {
        let (mut sums, n) = ([self.lift.zero(), self.lift.zero()], self.lift.degree());
        for_each_row_pair(sums.each_mut().map(Vec::as_mut_slice), n, |i, out| {
            let [first, second] = b.map(|all| rows(all, i, n));
            let Some(plan) = self.lift.plans.get(i) else { return Ok(()) };
            Ok(plan.modulus().inner_product_pair(out, &rows(a, i, n), [&first, &second])?)
        })?;
        Ok(sums)
    }

    /// Recovers the residues of a sum of products from its transforms.
    pub(crate) fn recover(&self, mut sum: Vec<u64>, out: &mut [u64]) -> Result<(), RingError> {
        let n = self.lift.degree();
        for_each_row(&mut sum, n, |i, row| match (self.lift.plans.get(i), self.scales.get(i)) {
            (Some(plan), Some(scale)) => Ok(plan.inverse_scaled(row, scale)?),
            _ => Ok(()),
        })?;
        for_each_block([(out, self.component.len())].into_iter(), |(), block, out| {
            let own = block * BLOCK..(block + 1) * BLOCK;
            let mut quotients = [0; BLOCK];
            let mut inputs: Vec<&[u64]> =
                sum.chunks_exact(n).filter_map(|row| row.get(own.clone())).collect();
            self.quotient.apply(&inputs, &mut quotients)?;
            inputs.push(&quotients);
            out.iter_mut().try_for_each(|out| self.combination.apply(&inputs, out))
        })
    }
}

/// Returns row i of every lift, the n words modulo the i-th prime.
fn rows<'a>(lifts: &[&'a [u64]], i: usize, n: usize) -> Vec<&'a [u64]> {
    lifts.iter().filter_map(|lift| lift.get(i * n..(i + 1) * n)).collect()
}
