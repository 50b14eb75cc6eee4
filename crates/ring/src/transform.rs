//! Transforms between coefficients and values at the roots of unity: of one limb, and of every limb of a polynomial.

use std::sync::Arc;

use sunzi_kernels::{CyclotomicPlan, CyclotomicScale, InverseScale, KernelError, Later, Modulus, NttPlan};
use sunzi_math::RingIndex;

use crate::error::{check_table, entry};
use crate::parallel::{Parallelism, Work};
use crate::{Basis, Evaluation, Poly, RingError};

/// The name of an inverse transform's factor in errors.
const SCALE: &str = "factor of an inverse transform";

/// The transform of one modulus: Z_q\[X\]/(X^n + 1) for powers of two, or the real elements for 2n, all axes of the powerful basis otherwise.
pub enum Plan {
    /// Transform of a ring whose index is a power of two.
    Negacyclic(NttPlan),
    /// Transform of a ring of any other index.
    Cyclotomic(CyclotomicPlan),
}

/// A constant by which an inverse transform multiplies its results.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Factor of a transform for indices that are powers of two.
    Negacyclic(InverseScale),
    /// Factor of a transform for all other indices.
    Cyclotomic(CyclotomicScale),
}

impl Plan {
    pub(crate) fn new(index: &RingIndex, modulus: Modulus) -> Result<Self, RingError> {
        if index.is_real() {
            Ok(Self::Negacyclic(NttPlan::real(modulus, index.degree())?))
        } else if index.is_power_of_two() {
            Ok(Self::Negacyclic(NttPlan::new(modulus, index.degree())?))
        } else {
            Ok(Self::Cyclotomic(CyclotomicPlan::new(modulus, index)?))
        }
    }

    /// The number n of coefficients of a polynomial that is transformed.
    #[must_use]
    pub fn n(&self) -> usize {
        match self {
            Self::Negacyclic(plan) => plan.n(),
            Self::Cyclotomic(plan) => plan.n(),
        }
    }

    /// The modulus q of the transform.
    #[must_use]
    pub fn modulus(&self) -> Modulus {
        match self {
            Self::Negacyclic(plan) => plan.modulus(),
            Self::Cyclotomic(plan) => plan.modulus(),
        }
    }

    /// The root of unity of the transform: ψ for powers of two, ω otherwise.
    pub(crate) fn root(&self) -> u64 {
        match self {
            Self::Negacyclic(plan) => plan.psi(),
            Self::Cyclotomic(plan) => plan.root(),
        }
    }

    /// Changes the coefficients of a limb to values; residues may be anything below 2q.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless there are n residues.
    pub fn forward(&self, a: &mut [u64]) -> Result<(), KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.forward(a),
            Self::Cyclotomic(plan) => plan.forward(a),
        }
    }

    /// Does the levels of [`forward`](Self::forward) that mix words of different chunks.
    pub(crate) fn forward_outer(&self, a: &mut [u64]) -> Result<(), KernelError> {
        match self {
            Self::Negacyclic(plan) => plan.forward_outer(a),
            Self::Cyclotomic(plan) => plan.forward(a),
        }
    }

    /// Does [`forward_outer`](Self::forward_outer) with words that stand elsewhere, plus an offset, all below 2q.
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

    /// Does the levels of [`forward`](Self::forward) within chunks, for whole chunks from word `start` on, and
    /// prefetches what is read `later`.
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

    /// Number of words of a block, at least `least` of them unless there are fewer: whole chunks, whose last levels
    /// are their own.
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

    /// Returns the constant c as a factor for inverse transforms.
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
            // A factor of the other kind cannot occur: scales are made by the plans of their ring.
            _ => Err(KernelError::LengthMismatch { expected: self.n(), got: 0 }),
        }
    }

    /// Does [`inverse_scaled`](Self::inverse_scaled) with values that stand elsewhere.
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

    /// The exponents e of the transform, for all positions p in order, such that position p holds the value
    /// at X = ω^e.
    pub(crate) fn evaluation_exponents(&self) -> Vec<u64> {
        match self {
            Self::Negacyclic(plan) => (0..plan.n()).map(|p| plan.exponent(p) as u64).collect(),
            Self::Cyclotomic(plan) => plan.evaluation_exponents(),
        }
    }
}

/// The transforms of a ring, one for each modulus, shared between rings by `Arc`.
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

    /// The transform of limb i, which must exist.
    pub(crate) fn plan(&self, i: usize) -> Result<&Plan, RingError> {
        Ok(entry("transform", &self.plans, i)?)
    }

    /// Returns the constants c_i of all limbs as factors of their inverse transforms.
    pub(crate) fn scales(&self, constants: &[u64]) -> Result<Vec<Scale>, RingError> {
        check_table(SCALE, self.plans.len(), constants.len())?;
        self.plans.iter().zip(constants).map(|(plan, &c)| Ok(plan.scale(c)?)).collect()
    }

    /// Returns [`scales`](Self::scales) of the limbs of two rings in a row.
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

    /// Changes every limb of a polynomial to values; residues may be anything below 2q_i.
    ///
    /// # Errors
    /// [`RingError::MissingTable`] for a limb without a transform.
    pub fn forward(&self, words: &mut [u64]) -> Result<(), RingError> {
        self.parallelism
            .for_each_limb(Work::Transform, words, self.degree, |i, limb| Ok(self.plan(i)?.forward(limb)?))
    }

    /// Changes every limb of a polynomial back to coefficients.
    pub(crate) fn inverse(&self, words: &mut [u64]) -> Result<(), RingError> {
        self.parallelism
            .for_each_limb(Work::Transform, words, self.degree, |i, limb| Ok(self.plan(i)?.inverse(limb)?))
    }

    /// Changes limb i back to coefficients times its own constant, for every i, at no further cost.
    ///
    /// # Errors
    /// Every error of [`forward`](Self::forward), also for a limb without a constant.
    pub fn inverse_scaled(&self, words: &mut [u64], scales: &[Scale]) -> Result<(), RingError> {
        self.parallelism.for_each_limb(Work::Transform, words, self.degree, |i, limb| {
            Ok(self.plan(i)?.inverse_scaled(limb, entry(SCALE, scales, i)?)?)
        })
    }

    /// Does [`inverse_scaled`](Self::inverse_scaled) from `values` into `coefficients`.
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

    /// Does [`inverse_scaled`](Self::inverse_scaled) from `values` into `coefficients`, and copies the values on the
    /// way while they are in the cache.
    ///
    /// # Errors
    /// Every error of [`inverse_scaled`](Self::inverse_scaled); [`RingError::MissingTable`] for a copy of another
    /// length.
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
