//! Sums with the powers of X·ω, over polynomials: what an encrypted transposition does between its automorphisms.
//!
//! Let ω = X^(m/d), a d-th root of unity, and σ_e the automorphism X → X·ω^e, for e < d: those that fix the subring of
//! X^d. The maps a_i → Σ_i σ_e(X)^i·a_i and b_e → 1/d·Σ_e σ_e(X)^(−i)·b_e are inverse to each other: transforms of
//! length d whose roots are monomials, d/2·log2 d products with monomials each.

use rayon::prelude::*;
use sunzi_ring::{Evaluation, Poly, Ring, RingError};

/// Sums with powers of monomials at one level, for one size d.
pub(crate) struct MonomialSums {
    ring: Ring,
    size: usize,
    /// ω^j for j < d/2.
    roots: Vec<Poly<Evaluation>>,
}

/// The number of monomials that are products of one another.
const RUN: usize = 64;

impl MonomialSums {
    /// Makes the tables of sums of `size` polynomials of a ring whose index is a power of two.
    pub(crate) fn new(ring: &Ring, size: usize) -> Result<Self, RingError> {
        let mut one = ring.zero::<Evaluation>();
        ring.add_integer_assign(&mut one, &1.into())?;
        let mut roots = vec![one; size / 2];
        multiply_by_powers(ring, &mut roots, ring.index() / size.max(1) as u64)?;
        Ok(Self { ring: ring.clone(), size, roots })
    }

    /// Returns Σ_i σ_e(X)^i·a_i for every e.
    pub(crate) fn forward(&self, mut a: Vec<Poly<Evaluation>>) -> Result<Vec<Poly<Evaluation>>, RingError> {
        multiply_by_powers(&self.ring, &mut a, 1)?;
        self.transform(&mut a)?;
        Ok(a)
    }

    /// Returns Σ_e σ_e(X)^(−i)·b_e for every i: d times the inverse of [`forward`](Self::forward).
    pub(crate) fn backward(&self, mut b: Vec<Poly<Evaluation>>) -> Result<Vec<Poly<Evaluation>>, RingError> {
        self.transform(&mut b)?;
        // Powers of 1/ω are those of ω, backwards.
        if let Some(rest) = b.get_mut(1..) {
            rest.reverse();
        }
        multiply_by_powers(&self.ring, &mut b, self.ring.index() - 1)?;
        Ok(b)
    }

    /// Replaces a_i by Σ_i ω^(e·i)·a_i.
    fn transform(&self, a: &mut [Poly<Evaluation>]) -> Result<(), RingError> {
        sunzi_math::bit_reverse(a);
        let mut half = 1;
        while half < self.size {
            let step = self.size / (2 * half);
            let butterflies = |block: &mut [Poly<Evaluation>]| {
                let (low, high) = block.split_at_mut_checked(half).unwrap_or_default();
                let pairs = low.par_iter_mut().zip(high.par_iter_mut()).enumerate();
                pairs.try_for_each(|(j, (low, high))| self.butterfly(low, high, j * step))
            };
            a.par_chunks_exact_mut(2 * half).try_for_each(butterflies)?;
            half *= 2;
        }
        Ok(())
    }

    /// Computes (a, b) ← (a + ω^j·b, a − ω^j·b).
    fn butterfly(
        &self,
        a: &mut Poly<Evaluation>,
        b: &mut Poly<Evaluation>,
        j: usize,
    ) -> Result<(), RingError> {
        if let (1.., Some(root)) = (j, self.roots.get(j)) {
            self.ring.mul_assign(b, root)?;
        }
        let mut difference = a.clone();
        self.ring.sub_assign(&mut difference, b)?;
        self.ring.add_assign(a, b)?;
        *b = difference;
        Ok(())
    }
}

/// Multiplies a_i by X^(exponent·i) for every i.
fn multiply_by_powers(ring: &Ring, a: &mut [Poly<Evaluation>], exponent: u64) -> Result<(), RingError> {
    let monomial = |exponent: u64| {
        let mut one = ring.zero::<Evaluation>();
        ring.add_integer_assign(&mut one, &1.into())?;
        ring.mul_monomial_assign(&mut one, exponent)?;
        Ok::<_, RingError>(one)
    };
    let (index, step) = (ring.index(), monomial(exponent)?);
    let run = |(at, run): (usize, &mut [Poly<Evaluation>])| {
        let mut power = monomial((at * RUN) as u64 % index * exponent % index)?;
        for a in run {
            ring.mul_assign(a, &power)?;
            ring.mul_assign(&mut power, &step)?;
        }
        Ok(())
    };
    a.par_chunks_mut(RUN).enumerate().try_for_each(run)
}
