//! Constructors of rings in words, from moduli and from other rings.

use std::ops::Range;
use std::sync::Arc;

use sunzi_kernels::{Isa, active_isa};
use sunzi_math::{RingIndex, ToRingIndex};

use super::automorphism::AutomorphismTables;
use super::{Inner, Lower, WordRing};
use crate::error::{check_shape, supported_index};
use crate::ladder::Ladder;
use crate::parallel::Parallelism;
use crate::transform::{Plan, Transform};
use crate::{Basis, RingError, Shape};

impl WordRing {
    /// The ring of index m, of degree up to 2^17, modulo the product of the given primes ≡ 1 (mod
    /// [`root_order`](crate::Ring::root_order)): any m with an odd factor that is no odd number's double, or a power
    /// of two from 2^7 on; or the ring of any [`RingIndex`] of these.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::Math`] for m = 2 mod 4; [`RingError::LengthMismatch`] without moduli;
    /// [`RingError::NotCoprime`]; [`RingError::Kernel`] for a modulus without a transform of this degree.
    pub fn new(m: impl ToRingIndex, moduli: &[u64]) -> Result<Self, RingError> {
        Self::with_isa(m, moduli, active_isa()?)
    }

    /// The ring of [`new`](Self::new) on a given instruction set, which every ring derived from it uses too.
    /// Polynomials of the two rings are interchangeable.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`RingError::Kernel`] for an instruction set this processor lacks.
    pub fn with_isa(m: impl ToRingIndex, moduli: &[u64], isa: Isa) -> Result<Self, RingError> {
        let (index, transform) = Self::tables(m, moduli, isa)?;
        let ladder = Ladder::of_prefixes(transform.plans().to_vec(), isa);
        Self::assemble(index, ladder.into(), moduli.len(), Arc::default(), Parallelism::default())
    }

    /// The ring whose level l is modulo the product of the moduli with the indices `rungs[l − 1]`: any sets of the moduli, with
    /// ascending products and all moduli last. See [`is_nested`](crate::Backend::is_nested) for what levels can then do with each other.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`RingError::OutOfRange`] for rungs that break these conditions.
    pub fn with_rungs(m: impl ToRingIndex, moduli: &[u64], rungs: &[Vec<usize>]) -> Result<Self, RingError> {
        let isa = active_isa()?;
        let (index, transform) = Self::tables(m, moduli, isa)?;
        let ladder = Ladder::of_rungs(transform.plans().to_vec(), rungs, isa)?;
        Self::assemble(index, ladder.into(), rungs.len(), Arc::default(), Parallelism::default())
    }

    fn tables(
        m: impl ToRingIndex,
        moduli: &[u64],
        isa: Isa,
    ) -> Result<(Arc<RingIndex>, Transform), RingError> {
        let index = supported_index(m)?;
        if index.is_power_of_two() && index.degree() < 1 << 6 {
            return Err(RingError::UnsupportedIndex { index: index.value() });
        }
        let transform = Transform::new(&index, &Basis::with_isa(moduli, isa)?)?;
        Ok((Arc::new(index), transform))
    }

    fn assemble(
        index: Arc<RingIndex>,
        ladder: Arc<Ladder>,
        level: usize,
        automorphisms: Arc<AutomorphismTables>,
        parallelism: Parallelism,
    ) -> Result<Self, RingError> {
        let (degree, basis) = (index.degree(), ladder.basis(level)?);
        let transform = Transform::from_plans(degree, ladder.plans(level), parallelism);
        let lower = (1..level).map(|_| Lower::default()).collect();
        Ok(Self(Arc::new(Inner { index, degree, basis, transform, automorphisms, ladder, level, lower })))
    }

    /// A ring of the same index over the given ladder, at one of its levels.
    pub(super) fn derive(&self, ladder: Arc<Ladder>, level: usize) -> Result<Self, RingError> {
        let (index, automorphisms) = (Arc::clone(&self.0.index), Arc::clone(&self.0.automorphisms));
        Self::assemble(index, ladder, level, automorphisms, self.parallelism())
    }

    /// The ring modulo the product of both moduli, limbs of `self` first; tables are shared. Its levels are those of
    /// `self`, and one more for each modulus of `other`.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`] for another degree; [`RingError::NotCoprime`] where the moduli share a factor.
    pub fn concat(&self, other: &Self) -> Result<Self, RingError> {
        let (ours, theirs) = (self.shape(), other.shape());
        check_shape(ours, Shape { limbs: ours.limbs, ..theirs })?;
        let ladder = self.0.ladder.extended(self.0.level, other.plans());
        let level = ladder.len();
        self.derive(ladder.into(), level)
    }

    /// The ring modulo the product of a range of the moduli; tables are shared.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for an empty range or one past the end.
    pub fn sub_ring(&self, range: Range<usize>) -> Result<Self, RingError> {
        let plans = self.plans().get(range.clone()).filter(|plans| !plans.is_empty()).ok_or_else(|| {
            let expected = format_args!("a range of the {} limbs, not empty", self.basis().len());
            RingError::out_of_range("limbs", expected, format_args!("{range:?}"))
        })?;
        self.of_plans(plans.to_vec())
    }

    /// A ring of the same index over the given transforms, whose levels are its first moduli.
    pub(crate) fn of_plans(&self, plans: Vec<Arc<Plan>>) -> Result<Self, RingError> {
        let level = plans.len();
        self.derive(Ladder::of_prefixes(plans, self.isa()).into(), level)
    }

    /// This ring with another way to share work among threads, which every ring derived from it has too; tables are
    /// shared as far as they do not depend on it. Polynomials of the two rings are interchangeable.
    #[must_use]
    pub fn with_parallelism(&self, parallelism: Parallelism) -> Self {
        self.with_plans(self.plans().to_vec(), parallelism)
    }

    /// This ring with other transforms modulo its moduli.
    fn with_plans(&self, plans: Vec<Arc<Plan>>, parallelism: Parallelism) -> Self {
        let Inner { index, degree, basis, automorphisms, ladder, level, .. } = &*self.0;
        Self(Arc::new(Inner {
            index: Arc::clone(index),
            degree: *degree,
            basis: basis.clone(),
            transform: Transform::from_plans(*degree, plans, parallelism),
            automorphisms: Arc::clone(automorphisms),
            ladder: Arc::clone(ladder),
            level: *level,
            lower: (1..*level).map(|_| Lower::default()).collect(),
        }))
    }

    /// This ring without the transform of its last modulus: a fault, which operations must report.
    pub(crate) fn without_last_transform(&self) -> Self {
        let others = self.plans().split_last().map_or(&[][..], |(_, others)| others);
        self.with_plans(others.to_vec(), self.parallelism())
    }
}
