//! Limbs modulo word-size primes beside q, for the ring of products.

use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use rand_core::CryptoRng;
use sunzi_kernels::NttPlan;
use sunzi_math::mod_inv;
use sunzi_ring::{Basis, RingError, sampling};

/// Primes with their transforms. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Limbs(Arc<Tables>);

struct Tables {
    basis: Basis,
    plans: Vec<Arc<NttPlan>>,
    tag: u64,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("tag", &self.tag).finish_non_exhaustive()
    }
}

impl Limbs {
    pub(crate) fn new(plans: Vec<Arc<NttPlan>>) -> Result<Self, RingError> {
        let values: Vec<u64> = plans.iter().map(|plan| plan.modulus().value()).collect();
        // FNV-1a, and never the 0 of rings without limbs.
        let hash = |hash: u64, &value: &u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
        let tag = values.iter().fold(0xcbf2_9ce4_8422_2325, hash) | 1;
        Ok(Self(Arc::new(Tables { basis: Basis::new(&values)?, plans, tag })))
    }

    pub(crate) fn basis(&self) -> &Basis {
        &self.0.basis
    }

    pub(crate) fn plans(&self) -> &[Arc<NttPlan>] {
        &self.0.plans
    }

    pub(crate) fn tag(&self) -> u64 {
        self.0.tag
    }

    /// Every limb with its plan.
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

    /// The integers below q·p_1⋯p_K that are these modulo q and have these limbs.
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

    pub(crate) fn uniform<G: CryptoRng + ?Sized>(&self, limbs: &mut [u64], rng: &mut G) {
        for (plan, limb) in self.rows(limbs) {
            sampling::uniform_residues(limb, plan.modulus().value(), rng);
        }
    }
}
