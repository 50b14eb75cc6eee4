//! The transform of every limb of a polynomial.

use std::sync::Arc;

use sunzi_math::RingIndex;

use super::{Plan, Scale};
use crate::parallel::{Parallelism, Work};
use crate::{Basis, Evaluation, Poly, RingError};

/// The plans of a ring, one a modulus, shared between rings by `Arc`.
#[derive(Clone)]
pub(crate) struct Transform {
    degree: usize,
    plans: Vec<Arc<Plan>>,
    parallelism: Parallelism,
}

impl Transform {
    pub(crate) fn new(index: &RingIndex, basis: &Basis) -> Result<Self, RingError> {
        let plan = |&q| Ok(Arc::new(Plan::new(index, q)?));
        let plans = basis.moduli().iter().map(plan).collect::<Result<_, RingError>>()?;
        Ok(Self::from_plans(index.degree(), plans, Parallelism::default()))
    }

    pub(crate) fn from_plans(degree: usize, plans: Vec<Arc<Plan>>, parallelism: Parallelism) -> Self {
        Self { degree, plans, parallelism }
    }

    pub(crate) fn parallelism(&self) -> Parallelism {
        self.parallelism
    }

    pub(crate) fn plans(&self) -> &[Arc<Plan>] {
        &self.plans
    }

    /// Every limb to values; residues may be anything below 2q_i.
    pub(crate) fn forward(&self, words: &mut [u64]) -> Result<(), RingError> {
        self.parallelism.for_each_limb(Work::Transform, words, self.degree, |i, limb| {
            self.plans.get(i).map_or(Ok(()), |plan| Ok(plan.forward(limb)?))
        })
    }

    /// Every limb back to coefficients.
    pub(crate) fn inverse(&self, words: &mut [u64]) -> Result<(), RingError> {
        self.parallelism.for_each_limb(Work::Transform, words, self.degree, |i, limb| {
            self.plans.get(i).map_or(Ok(()), |plan| Ok(plan.inverse(limb)?))
        })
    }

    /// Limb i back to coefficients times its own constant, at no further cost.
    pub(crate) fn inverse_scaled(&self, words: &mut [u64], scales: &[Scale]) -> Result<(), RingError> {
        self.parallelism.for_each_limb(Work::Transform, words, self.degree, |i, limb| {
            let tables = self.plans.get(i).zip(scales.get(i));
            tables.map_or(Ok(()), |(plan, scale)| Ok(plan.inverse_scaled(limb, scale)?))
        })
    }

    /// The same out of place.
    pub(crate) fn inverse_scaled_into(
        &self,
        coefficients: &mut [u64],
        values: &Poly<Evaluation>,
        scales: &[Scale],
    ) -> Result<(), RingError> {
        self.parallelism.for_each_limb(Work::Transform, coefficients, self.degree, |i, limb| {
            let (Some(plan), Some(scale), Some(values)) = (self.plans.get(i), scales.get(i), values.limb(i))
            else {
                return Ok(());
            };
            Ok(plan.inverse_scaled_into(limb, values, scale)?)
        })
    }

    /// The same with a copy of the values on the way while they are in the cache.
    pub(crate) fn inverse_scaled_from(
        &self,
        coefficients: &mut [u64],
        values: &Poly<Evaluation>,
        copy: &mut [u64],
        scales: &[Scale],
    ) -> Result<(), RingError> {
        self.parallelism.for_each_limb_pair(
            Work::Transform,
            coefficients,
            copy,
            self.degree,
            |i, [limb, copy]| {
                let (Some(plan), Some(scale), Some(values)) =
                    (self.plans.get(i), scales.get(i), values.limb(i))
                else {
                    return Ok(());
                };
                copy.copy_from_slice(values);
                Ok(plan.inverse_scaled_into(limb, values, scale)?)
            },
        )
    }
}
