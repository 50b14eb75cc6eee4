//! Exact division by M = X^(N/2) + 1 modulo Φ_m `[BEHMSZ17, Alg. 3 and 4]`.

use sunzi_kernels::Buffer;

use crate::barrett::residues;
use crate::cyclic::{CyclicPlan, CyclicScale};
use crate::geometry::Geometry;
use sunzi_ring::RingError;

/// Tables of Montgomery's reduction for the two halves of the values: modulo Ψ = X^(N/2) + 1 and modulo
/// X^(N/2) − 1.
pub(crate) struct Montgomery {
    /// Transform of −1/Φ_m modulo Ψ for Montgomery's reduction.
    negated_inverse: Buffer,
    scale: CyclicScale,
}

impl Montgomery {
    pub(crate) fn new(geometry: &Geometry, plan: &CyclicPlan) -> Result<Self, RingError> {
        geometry.check_factor()?;
        Self::modulo(&geometry.phi, geometry.length, plan)
    }

    /// Makes the tables modulo any monic polynomial of degree at most N/2, N the length, that has no root in common with Ψ.
    pub(crate) fn modulo(phi: &[i64], length: usize, plan: &CyclicPlan) -> Result<Self, RingError> {
        let (half, modulus) = (length / 2, plan.modulus());
        let mut phi = phi.to_vec();
        // Where n = N/2, X^n = −1.
        let above: Vec<i64> = phi.drain(half.min(phi.len())..).collect();
        phi.iter_mut().zip(above).for_each(|(low, high)| *low -= high);
        let mut negated_inverse = residues(plan, &phi, half);
        plan.upper(length)?.forward(&mut negated_inverse)?;
        for value in negated_inverse.iter_mut() {
            // Φ_m has no root in common with Ψ [BEHMSZ17, Lemma 1].
            let missing = || {
                RingError::out_of_range(
                    "modulus",
                    "a prime modulo which the polynomial has no root in common with X^(N/2) + 1",
                    modulus.value(),
                )
            };
            *value = modulus.neg(modulus.inv(*value).ok_or_else(missing)?);
        }
        // 1/Ψ modulo X^(N/2) − 1 is 1/2: Ŷ of the paper is a constant, and Ẑ is Φ_m/2.
        let scale = plan.scale(half, modulus.value().div_ceil(2))?;
        Ok(Self { negated_inverse, scale })
    }

    /// Computes c/M modulo Φ_m from the N values of c, of degree below N/2 + n: the first n words become its coefficients. `phi` is that of Barrett's reduction.
    pub(crate) fn apply(&self, plan: &CyclicPlan, phi: &[u64], values: &mut [u64]) -> Result<(), RingError> {
        let modulus = plan.modulus();
        let length = values.len();
        // 1. Both halves; 2. Q = −c/Φ_m modulo Ψ.
        let (even, odd) = values.split_at_mut_checked(phi.len()).unwrap_or_default();
        modulus.mul_assign(odd, &self.negated_inverse)?;
        // 3. Its values modulo X^(N/2) − 1, by way of its coefficients [Alg. 4].
        plan.upper(length)?.inverse(odd)?;
        plan.forward(odd, false)?;
        // 4. and 5. (c + Q·Φ_m)/2.
        modulus.mul_add_assign(even, odd, phi)?;
        plan.inverse(even, &self.scale)
    }
}
