//! Changes between coefficients and values at the roots of unity: of one limb, and of every limb of a polynomial.

use std::sync::Arc;

use sunzi_kernels::{CyclotomicPlan, CyclotomicScale, InverseScale, KernelError, Later, Modulus, NttPlan};
use sunzi_math::RingIndex;

use crate::error::{check_table, entry};
use crate::parallel::{Parallelism, Work};
use crate::{Basis, Evaluation, Poly, RingError};

/// What an inverse transform multiplies by.
const SCALE: &str = "factor of an inverse transform";

/// The transform of one modulus: Z_q\[X\]/(X^n + 1) for powers of two, all axes of the powerful basis otherwise.
pub enum Plan {
    /// For powers of two.
    Negacyclic(NttPlan),
    /// For all other indices.
    Cyclotomic(CyclotomicPlan),
}

/// A constant that an inverse transform multiplies by.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Of a transform for powers of two.
    Negacyclic(InverseScale),
    /// Of a transform for all other indices.
    Cyclotomic(CyclotomicScale),
}

impl Plan {
    pub(crate) fn new(index: &RingIndex, modulus: Modulus) -> Result<Self, RingError> {
        if index.is_power_of_two() {
            Ok(Self::Negacyclic(NttPlan::new(modulus, index.degree())?))
        } else {
            Ok(Self::Cyclotomic(CyclotomicPlan::new(modulus, index)?))
        }
    }

    /// Coefficients of a polynomial.
    #[must_use]
    pub fn n(&self) -> usize {
        match self {
            Self::Negacyclic(plan) => plan.n(),
            Self::Cyclotomic(plan) => plan.n(),
        }
    }

    /// The modulus.
    #[must_use]
    pub fn modulus(&self) -> Modulus {
        match self {
            Self::Negacyclic(plan) => plan.modulus(),
            Self::Cyclotomic(plan) => plan.modulus(),
        }
    }

    /// ψ, or ω.
    pub(crate) fn root(&self) -> u64 {
        match self {
            Self::Negacyclic(plan) => plan.psi(),
            Self::Cyclotomic(plan) => plan.root(),
        }
    }

    /// Changes to values; residues may be anything below 2q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`].
    pub fn forward(&self, a: &mut [u64]) -> Result<(), KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.forward(a),
            Self::Cyclotomic(plan) => plan.forward(a),
        }
    }

    /// The levels of [`forward`](Self::forward) that mix words of different chunks.
    pub(crate) fn forward_outer(&self, a: &mut [u64]) -> Result<(), KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.forward_outer(a),
            Self::Cyclotomic(plan) => plan.forward(a),
        }
    }

    /// [`forward_outer`](Self::forward_outer) of words elsewhere plus an offset, all below 2q.
    pub(crate) fn forward_outer_from(
        &self,
        out: &mut [u64],
        words: &[u64],
        offset: u64,
    ) -> Result<(), KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.forward_outer_from(out, words, offset),
            Self::Cyclotomic(_) if out.len() != words.len() => {
                Err(KernelError::LengthMismatch { expected: out.len(), got: words.len() })
            }
            Self::Cyclotomic(plan) => {
                out.iter_mut().zip(words).for_each(|(out, word)| *out = word + offset);
                plan.forward(out)
            }
        }
    }

    /// The others, for whole chunks from word `start` on, while memory is asked for what is read `later`.
    pub(crate) fn forward_inner(
        &self,
        start: usize,
        part: &mut [u64],
        later: [Later<'_>; 2],
    ) -> Result<(), KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.forward_inner(start, part, later),
            Self::Cyclotomic(_) => Ok(()),
        }
    }

    /// Words of a block, at least `least` of them unless there are fewer: whole chunks, whose last levels are their own.
    pub(crate) fn block(&self, least: usize) -> usize {
        match self {
            Self::Negacyclic(plan) => least.next_multiple_of(plan.chunk()).min(plan.n()),
            Self::Cyclotomic(plan) => least.min(plan.n()),
        }
    }

    pub(crate) fn inverse(&self, a: &mut [u64]) -> Result<(), KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.inverse(a),
            Self::Cyclotomic(plan) => plan.inverse(a),
        }
    }

    /// The constant c for inverse transforms.
    ///
    /// # Errors
    /// [`KernelError`] for a c that is not reduced.
    pub fn scale(&self, c: u64) -> Result<Scale, KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.scale(c).map(Scale::Negacyclic),
            Self::Cyclotomic(plan) => plan.scale(c).map(Scale::Cyclotomic),
        }
    }

    pub(crate) fn inverse_scaled(&self, a: &mut [u64], scale: &Scale) -> Result<(), KernelError> {
        match (self, scale) {
            (Self::Negacyclic(plan), Scale::Negacyclic(scale)) => plan.inverse_scaled(a, scale),
            (Self::Cyclotomic(plan), Scale::Cyclotomic(scale)) => plan.inverse_scaled(a, scale),
            // Scales are made by the plans of their ring.
            _ => Err(KernelError::LengthMismatch { expected: self.n(), got: 0 }),
        }
    }

    /// [`inverse_scaled`](Self::inverse_scaled) of values that stand elsewhere.
    pub(crate) fn inverse_scaled_into(
        &self,
        out: &mut [u64],
        values: &[u64],
        scale: &Scale,
    ) -> Result<(), KernelError> {
        match (self, scale) {
            (Self::Negacyclic(plan), Scale::Negacyclic(scale)) => {
                plan.inverse_scaled_into(out, values, scale)
            }
            _ if out.len() != values.len() => {
                Err(KernelError::LengthMismatch { expected: out.len(), got: values.len() })
            }
            _ => {
                out.copy_from_slice(values);
                self.inverse_scaled(out, scale)
            }
        }
    }

    /// The e for which position p holds the value at X = ω^e, of all positions.
    pub(crate) fn evaluation_exponents(&self) -> Vec<u64> {
        match self {
            Self::Negacyclic(plan) => {
                (0..plan.n()).map(|p| sunzi_kernels::evaluation_exponent(plan.n(), p) as u64).collect()
            }
            Self::Cyclotomic(plan) => plan.evaluation_exponents(),
        }
    }
}

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

    /// The constants c_i of every limb as factors of its inverse transform.
    pub(crate) fn scales(&self, constants: &[u64]) -> Result<Vec<Scale>, RingError> {
        check_table(SCALE, self.plans.len(), constants.len())?;
        self.plans.iter().zip(constants).map(|(plan, &c)| Ok(plan.scale(c)?)).collect()
    }

    /// [`scales`](Self::scales) of the limbs of two rings in a row.
    pub(crate) fn scales_of_both(
        &self,
        constants: &[u64],
        other: &Self,
        others: &[u64],
    ) -> Result<Vec<Scale>, RingError> {
        let mut all = self.scales(constants)?;
        all.extend(other.scales(others)?);
        Ok(all)
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

    /// [`inverse_scaled`](Self::inverse_scaled) of `values` into `coefficients`.
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
