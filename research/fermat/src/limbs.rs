//! Limbs modulo word-size primes beside q, for the ring of products.

use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use sunzi_kernels::NttPlan;
use sunzi_math::mod_inv;
use sunzi_ring::{Basis, RingError, sampling};

/// Word-size primes with their transforms. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Limbs(Arc<Tables>);

struct Tables {
    basis: Basis,
    plans: Vec<Arc<NttPlan>>,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("primes", &self.basis.values()).finish_non_exhaustive()
    }
}

impl Limbs {
    pub(crate) fn new(plans: Vec<Arc<NttPlan>>) -> Result<Self, RingError> {
        let values: Vec<u64> = plans.iter().map(|plan| plan.modulus().value()).collect();
        Ok(Self(Arc::new(Tables { basis: Basis::new(&values)?, plans })))
    }

    pub(crate) fn basis(&self) -> &Basis {
        &self.0.basis
    }

    pub(crate) fn plans(&self) -> &[Arc<NttPlan>] {
        &self.0.plans
    }

    /// Yields every limb of a polynomial with its transform's plan.
    pub(crate) fn rows<'a>(
        &'a self,
        limbs: &'a mut [u64],
    ) -> impl Iterator<Item = (&'a NttPlan, &'a mut [u64])> {
        let n = self.0.plans.first().map_or(1, |plan| plan.n());
        self.0.plans.iter().map(|plan| &**plan).zip(limbs.chunks_exact_mut(n))
    }

    pub(crate) fn reduce(&self, limbs: &mut [u64], n: usize, integers: &[BigUint]) {
        for (limb, &p) in limbs.chunks_exact_mut(n).zip(self.0.basis.values()) {
            for (word, x) in limb.iter_mut().zip(integers) {
                *word = (x % p).to_u64().unwrap_or(0);
            }
        }
    }

    /// Returns the integers below q·p_1⋯p_K with these residues modulo q and these limbs.
    pub(crate) fn join(
        &self,
        mut integers: Vec<BigUint>,
        q: &BigUint,
        limbs: &[u64],
    ) -> Result<Vec<BigUint>, RingError> {
        let n = integers.len();
        let basis = &self.0.basis;
        let remainder = |x: &BigUint, p: u64| (x % p).to_u64().unwrap_or(0);
        let inverses = basis.moduli().iter().map(|p| mod_inv(remainder(q, p.value()), p.value()));
        let inverses = inverses.collect::<Result<Vec<_>, _>>()?;
        for (i, x) in integers.iter_mut().enumerate() {
            let limbs = limbs.chunks_exact(n).filter_map(|limb| limb.get(i));
            let residue = |((p, &inverse), &limb): ((_, _), &u64)| {
                let p: &sunzi_kernels::Modulus = p;
                p.mul(p.sub(limb, remainder(x, p.value())), inverse)
            };
            let residues: Vec<u64> = basis.moduli().iter().zip(&inverses).zip(limbs).map(residue).collect();
            *x += q * basis.crt().reconstruct(&residues)?;
        }
        Ok(integers)
    }

    pub(crate) fn uniform(&self, limbs: &mut [u64], rng: &mut dyn CryptoRng) {
        for (plan, limb) in self.rows(limbs) {
            sampling::uniform_residues(limb, plan.modulus().value(), rng);
        }
    }
}
