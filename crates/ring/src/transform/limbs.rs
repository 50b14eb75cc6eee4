//! The transform of every limb of a polynomial.

use std::sync::Arc;

use sunzi_math::RingIndex;

use super::{Plan, Scale};
use crate::error::entry;
use crate::parallel::{Parallelism, Work};
use crate::{Basis, Evaluation, Poly, RingError};

/// What an inverse transform multiplies by.
const SCALE: &str = "factor of an inverse transform";

/// The plans of a ring, one a modulus, shared between rings by `Arc`.
#[derive(Clone)]
pub struct Transform {
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

    /// The transform of limb i, where it must be.
    pub(crate) fn plan(&self, i: usize) -> Result<&Plan, RingError> {
        Ok(entry("transform", &self.plans, i)?)
    }

    /// Every limb to values; residues may be anything below 2q_i.
    ///
    /// # Errors
    /// [`RingError::MissingTable`] for a limb without a transform.
    pub fn forward(&self, words: &mut [u64]) -> Result<(), RingError> {
        self.parallelism
            .for_each_limb(Work::Transform, words, self.degree, |i, limb| Ok(self.plan(i)?.forward(limb)?))
    }

    /// Every limb back to coefficients.
    pub(crate) fn inverse(&self, words: &mut [u64]) -> Result<(), RingError> {
        self.parallelism
            .for_each_limb(Work::Transform, words, self.degree, |i, limb| Ok(self.plan(i)?.inverse(limb)?))
    }

    /// Limb i back to coefficients times its own constant, at no further cost.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), also for a limb without a constant.
    pub fn inverse_scaled(&self, words: &mut [u64], scales: &[Scale]) -> Result<(), RingError> {
        self.parallelism.for_each_limb(Work::Transform, words, self.degree, |i, limb| {
            Ok(self.plan(i)?.inverse_scaled(limb, entry(SCALE, scales, i)?)?)
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
            let scale = entry(SCALE, scales, i)?;
            Ok(self.plan(i)?.inverse_scaled_into(limb, values.own_limb(i)?, scale)?)
        })
    }

    /// [`inverse_scaled`](Self::inverse_scaled) of `values` into `coefficients`, with a copy of the values on the way while they are in the cache.
    ///
    /// # Errors
    /// As [`inverse_scaled`](Self::inverse_scaled); [`RingError::MissingTable`] for a copy of another length.
    pub fn inverse_scaled_from(
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
                let (scale, values) = (entry(SCALE, scales, i)?, values.own_limb(i)?);
                copy.copy_from_slice(values);
                Ok(self.plan(i)?.inverse_scaled_into(limb, values, scale)?)
            },
        )
    }
}
