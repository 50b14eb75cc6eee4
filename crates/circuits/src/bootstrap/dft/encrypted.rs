//! CoeffsToSlots and SlotsToCoeffs applied to ciphertexts.

use std::collections::BTreeMap;

use rayon::prelude::*;
use sunzi_ckks::rotation::{conjugation_exponent, rotation_exponent};
use sunzi_ckks::{Ciphertext, Context, Evaluator, Metadata};
use sunzi_rlwe::GaloisKeys;

use super::{Dft, Direction, Packing};
use crate::linear_transform::{LinearTransform, LinearTransformError, Plan, Slots};

/// Plan of CoeffsToSlots or SlotsToCoeffs: its rotations and bytes, known before any key or diagonal is made.
#[derive(Clone, Debug, PartialEq)]
pub struct DftPlan {
    dft: Dft,
    plans: Vec<Plan>,
}

impl DftPlan {
    /// Makes the plan of a transform whose first factor works at `level`, and each other one level below the one before.
    ///
    /// # Errors
    /// [`LinearTransformError::Ckks`] for a level that does not exist, or fewer levels below than factors.
    pub fn new(context: &Context, dft: Dft, level: usize) -> Result<Self, LinearTransformError> {
        let plan = |(i, factor)| {
            let level = level.saturating_sub(i);
            context.divisor(level)?;
            Plan::new(context, factor, level)
        };
        let plans = dft.factors.iter().enumerate().map(plan).collect::<Result<_, _>>()?;
        Ok(Self { dft, plans })
    }

    /// Matrices of the transform in the clear.
    #[must_use]
    pub fn dft(&self) -> &Dft {
        &self.dft
    }

    /// Plans of the factors of the transform in the order in which they are applied.
    #[must_use]
    pub fn factors(&self) -> &[Plan] {
        &self.plans
    }

    /// Level of the results of the transform.
    #[must_use]
    pub fn lowest_level(&self) -> usize {
        self.plans.last().map_or(0, |plan| plan.level().saturating_sub(1))
    }

    /// Number of bytes that all encoded diagonals of the transform will take in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.plans.iter().map(Plan::bytes).sum()
    }

    /// Returns the automorphisms X → X^k that the transform needs in a ring of index m, each with the highest level of its ciphertexts: rotations,
    /// and the conjugation of CoeffsToSlots.
    #[must_use]
    pub fn exponents(&self, index: u64) -> BTreeMap<u64, usize> {
        let rotations = self.plans.iter().flat_map(|plan| {
            plan.rotations().into_iter().map(|steps| (rotation_exponent(steps, index), plan.level()))
        });
        let fold = self.fold_level().map(|level| (rotation_exponent(self.dft.slots as i64, index), level));
        let conjugation = (self.dft.direction == Direction::ToSlots)
            .then(|| (conjugation_exponent(index), self.lowest_level()));
        let mut exponents = BTreeMap::new();
        add_exponents(&mut exponents, rotations.chain(fold).chain(conjugation));
        exponents
    }

    /// Level at which SlotsToCoeffs adds both halves of a sparse vector.
    fn fold_level(&self) -> Option<usize> {
        let folds = (self.dft.direction, self.dft.packing) == (Direction::ToCoeffs, Packing::Sparse);
        self.plans.first().filter(|_| folds).map(|plan| plan.level().saturating_sub(1))
    }

    /// Encodes the factors, from one scale to another, several at a time; `progress` is called after each.
    fn encode(
        &self,
        context: &Context,
        expected: Direction,
        ends: [f64; 2],
        progress: &(impl Fn() + Sync),
    ) -> Result<Vec<LinearTransform>, LinearTransformError> {
        if self.dft.direction != expected {
            return Err(LinearTransformError::Direction { expected, got: self.dft.direction });
        }
        let scales = self.dft.scales(ends);
        let factors: Vec<_> = self.dft.factors.iter().zip(&self.plans).zip(scales.windows(2)).collect();
        let encoded = factors.into_par_iter().map(|((matrix, plan), ends)| {
            let &[from, to] = ends else { return Err(LinearTransformError::PlanMismatch) };
            let made = LinearTransform::encode_between(context, matrix, plan.clone(), from, to)?;
            progress();
            Ok(made)
        });
        encoded.collect()
    }
}

/// Adds exponents of automorphisms to others, each with the highest of its levels.
pub(in crate::bootstrap) fn add_exponents(
    all: &mut BTreeMap<u64, usize>,
    more: impl IntoIterator<Item = (u64, usize)>,
) {
    for (exponent, level) in more {
        let highest = all.entry(exponent).or_default();
        *highest = level.max(*highest);
    }
}

/// Real and imaginary parts of coefficients, in slots in bit-reversed order.
#[derive(Clone)]
pub struct Parts {
    /// Real parts of the coefficients; for sparse packing followed by the imaginary parts.
    pub real: Ciphertext,
    /// Imaginary parts of the coefficients, for full packing.
    pub imaginary: Option<Ciphertext>,
}

/// Evaluates CoeffsToSlots with encoded diagonals: `[AS19, 3.1]`, step 2.
#[derive(Clone)]
pub struct CoeffsToSlots {
    plan: DftPlan,
    factors: Vec<LinearTransform>,
}

impl CoeffsToSlots {
    /// Encodes the matrices of a plan for ciphertexts of the first scale and parts of the second; `progress` is called after each
    /// factor, from any thread of the pool.
    ///
    /// # Errors
    /// [`LinearTransformError::Direction`] for a plan of the other direction; every error of [`LinearTransform::encode_between`].
    pub fn encode(
        context: &Context,
        plan: DftPlan,
        scales: [f64; 2],
        progress: &(impl Fn() + Sync),
    ) -> Result<Self, LinearTransformError> {
        let factors = plan.encode(context, Direction::ToSlots, scales, progress)?;
        Ok(Self { plan, factors })
    }

    /// Number of bytes of the encoded diagonals of CoeffsToSlots.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.factors.iter().map(LinearTransform::byte_len).sum()
    }

    /// Plan of the CoeffsToSlots transform.
    #[must_use]
    pub fn plan(&self) -> &DftPlan {
        &self.plan
    }

    /// Returns the parts of the coefficients of a ciphertext, times the constant of the transform.
    ///
    /// # Errors
    /// Every error of [`LinearTransform::apply`]: missing keys, wrong levels or slots.
    pub fn apply(
        &self,
        evaluator: &Evaluator,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Parts, LinearTransformError> {
        let [out, conjugate] = self.conjugates(evaluator, a, keys)?;
        let real = evaluator.add(&out, &conjugate)?;
        let imaginary = match self.plan.dft.packing {
            Packing::Sparse => None,
            // −i·(out − out*).
            Packing::Full => Some(evaluator.multiply_by_i(&evaluator.sub(&conjugate, &out)?)?),
        };
        Ok(Parts { real, imaginary })
    }

    /// Returns the real parts of [`apply`](Self::apply) alone.
    ///
    /// # Errors
    /// Every error of [`apply`](Self::apply).
    pub fn apply_to_real(
        &self,
        evaluator: &Evaluator,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Parts, LinearTransformError> {
        let [out, conjugate] = self.conjugates(evaluator, a, keys)?;
        Ok(Parts { real: evaluator.add(&out, &conjugate)?, imaginary: None })
    }

    /// Returns the product with all matrices, and its conjugate.
    fn conjugates(
        &self,
        evaluator: &Evaluator,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<[Ciphertext; 2], LinearTransformError> {
        let out = apply_all(evaluator, &self.factors, a, keys, false)?;
        let conjugate = evaluator.conjugate(&out, keys)?;
        Ok([out, conjugate])
    }
}

/// Evaluates SlotsToCoeffs with encoded diagonals: `[AS19, 3.1]`, step 5.
#[derive(Clone)]
pub struct SlotsToCoeffs {
    plan: DftPlan,
    factors: Vec<LinearTransform>,
}

impl SlotsToCoeffs {
    /// Encodes the matrices of a plan for parts of the first scale and ciphertexts of the second; `progress` is called after each
    /// factor, from any thread of the pool.
    ///
    /// # Errors
    /// Every error of [`CoeffsToSlots::encode`].
    pub fn encode(
        context: &Context,
        plan: DftPlan,
        scales: [f64; 2],
        progress: &(impl Fn() + Sync),
    ) -> Result<Self, LinearTransformError> {
        let factors = plan.encode(context, Direction::ToCoeffs, scales, progress)?;
        Ok(Self { plan, factors })
    }

    /// Number of bytes of the encoded diagonals of SlotsToCoeffs.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.factors.iter().map(LinearTransform::byte_len).sum()
    }

    /// Plan of the SlotsToCoeffs transform.
    #[must_use]
    pub fn plan(&self) -> &DftPlan {
        &self.plan
    }

    /// Returns the ciphertext whose coefficients have the given parts, times the constant of the transform.
    ///
    /// # Errors
    /// [`LinearTransformError::Parts`] for parts of the other packing; every error of [`LinearTransform::apply`].
    pub fn apply(
        &self,
        evaluator: &Evaluator,
        parts: &Parts,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, LinearTransformError> {
        let Dft { packing, slots, .. } = self.plan.dft;
        match (packing, &parts.imaginary) {
            (Packing::Full, Some(imaginary)) => {
                let whole = evaluator.add(&parts.real, &evaluator.multiply_by_i(imaginary)?)?;
                self.apply_to_whole(evaluator, &whole, keys)
            }
            (Packing::Sparse, None) => {
                let (first, rest) = self.factors.split_at(self.factors.len().min(1));
                let both = apply_all(evaluator, first, &parts.real, keys, true)?;
                let turned = evaluator.rotate(&both, slots as i64, keys)?;
                let mut sum = evaluator.add(&both, &turned)?;
                sum.set_metadata(Metadata { slots, ..sum.metadata().clone() });
                apply_all(evaluator, rest, &sum, keys, true)
            }
            (packing, imaginary) => {
                let got = 1 + usize::from(imaginary.is_some());
                Err(LinearTransformError::Parts { packing, got })
            }
        }
    }

    /// Runs [`apply`](Self::apply) for full packing, to parts joined as one complex number a slot.
    ///
    /// # Errors
    /// Every error of [`LinearTransform::apply`].
    pub fn apply_to_whole(
        &self,
        evaluator: &Evaluator,
        whole: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, LinearTransformError> {
        apply_all(evaluator, &self.factors, whole, keys, true)
    }

    /// Returns √E|e|² in a slot of the result because diagonals are rounded, for slots of this root mean square.
    pub(in crate::bootstrap) fn rounding_error(&self, magnitude: f64) -> f64 {
        let step = |(error, magnitude): (f64, f64), factor: &LinearTransform| {
            let length = factor.row_length();
            ((error * length).hypot(factor.rounding_error(magnitude)), magnitude * length)
        };
        self.factors.iter().fold((0.0, magnitude), step).0
    }
}

/// Applies the factors of a transform, one after the other. The magnitude of vectors in between is their root
/// mean square, which errors depend on; `chosen` says whether an adversary may have chosen the vector.
fn apply_all(
    evaluator: &Evaluator,
    factors: &[LinearTransform],
    a: &Ciphertext,
    keys: &GaloisKeys,
    chosen: bool,
) -> Result<Ciphertext, LinearTransformError> {
    factors.iter().try_fold(a.clone(), |a, factor| {
        let Metadata { scale, precision, .. } = *a.metadata();
        let length = precision.magnitude();
        let noise = factor.unitary_noise(evaluator.context(), a.noise(), scale, Slots { length, chosen })?;
        let mut product = factor.apply(evaluator, &a, keys)?;
        let precision = product.metadata().precision.with_magnitude(length * factor.row_length());
        let metadata = Metadata { precision, ..product.metadata().clone() };
        product.set_metadata(metadata);
        product.set_noise(noise);
        Ok(product)
    })
}

#[cfg(test)]
mod tests;
