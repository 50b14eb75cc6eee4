//! Rings made from others: tables are shared.

use std::ops::Range;
use std::sync::Arc;

use sunzi_kernels::Modulus;

use super::Ring;
use crate::error::check_shape;
use crate::parallel::Parallelism;
use crate::transform::{Plan, Transform};
use crate::{Basis, RingError, Shape};

impl Ring {
    /// A ring of the same index over these tables.
    pub(crate) fn derive(&self, moduli: Vec<Modulus>, plans: Vec<Arc<Plan>>) -> Result<Self, RingError> {
        let transform = Transform::from_plans(self.0.degree, plans, self.parallelism());
        let basis = Basis::from_moduli(moduli, self.isa())?;
        Ok(Self::assemble(Arc::clone(&self.0.index), basis, transform, Arc::clone(&self.0.automorphisms)))
    }

    /// The ring modulo the product of both moduli, limbs of `self` first; tables are shared.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for another degree; [`RingError::NotCoprime`].
    pub fn concat(&self, other: &Self) -> Result<Self, RingError> {
        let (ours, theirs) = (self.shape(), other.shape());
        check_shape(ours, Shape { limbs: ours.limbs, ..theirs })?;
        let moduli = self.basis().moduli().iter().chain(other.basis().moduli()).copied().collect();
        self.derive(moduli, self.plans().iter().chain(other.plans()).cloned().collect())
    }

    /// The ring modulo the product of a range of the moduli; tables are shared.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for an empty range or one past the end.
    pub fn sub_ring(&self, range: Range<usize>) -> Result<Self, RingError> {
        let (moduli, plans) = self
            .basis()
            .moduli()
            .get(range.clone())
            .zip(self.plans().get(range.clone()))
            .filter(|(moduli, _)| !moduli.is_empty())
            .ok_or_else(|| {
                let expected = format_args!("a range of the {} limbs, not empty", self.basis().len());
                RingError::out_of_range("limbs", expected, format_args!("{range:?}"))
            })?;
        self.derive(moduli.to_vec(), plans.to_vec())
    }

    /// The same ring with another way to share work among threads, which all that is derived from it uses too; tables are shared
    /// as far as they do not depend on it. Polynomials of one are polynomials of the other.
    #[must_use]
    pub fn with_parallelism(&self, parallelism: Parallelism) -> Self {
        let plans = self.plans().to_vec();
        let transform = Transform::from_plans(self.0.degree, plans, parallelism);
        Self::assemble(
            Arc::clone(&self.0.index),
            self.basis().clone(),
            transform,
            Arc::clone(&self.0.automorphisms),
        )
    }
}
