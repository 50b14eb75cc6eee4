//! Sums along dimensions of the hypercube of slots.

use sunzi_encoding::{EncodingError, GaloisEncoder, Plaintext};

use super::doubling::{doubled, doublings};
use super::{SlotRotation, check_keys};
use crate::{Automorphisms, CircuitError, Outcome};

/// Sum of all slots of a line along a dimension, in each of them; along several dimensions, one after the other.
pub struct SlotSum<A: Automorphisms>(Vec<Line<A>>);

/// Rotations along one dimension by powers of two, and its length.
struct Line<A: Automorphisms> {
    length: usize,
    rotations: Vec<SlotRotation<A>>,
}

impl<A: Automorphisms<Plaintext = Plaintext>> SlotSum<A> {
    /// Prepares sums of slots along these dimensions.
    ///
    /// # Errors
    /// Every error of [`SlotRotation::new`].
    pub fn new(arithmetic: &A, encoder: &GaloisEncoder, dimensions: &[usize]) -> Outcome<A, Self> {
        let known = encoder.group().dimensions();
        let line = |&dimension: &usize| {
            let missing = EncodingError::NoDimension { got: dimension, dimensions: known.len() };
            let length = known.get(dimension).ok_or(missing)?.length;
            let rotation = |step: usize| SlotRotation::new(arithmetic, encoder, dimension, step as i64);
            Ok(Line { length, rotations: doublings(length).map(rotation).collect::<Result<_, _>>()? })
        };
        Ok(Self(dimensions.iter().map(line).collect::<Outcome<A, _>>()?))
    }

    /// Prepares the sum of all slots.
    ///
    /// # Errors
    /// Every error of [`SlotRotation::new`].
    pub fn of_all(arithmetic: &A, encoder: &GaloisEncoder) -> Outcome<A, Self> {
        let all: Vec<usize> = (0..encoder.group().dimensions().len()).collect();
        Self::new(arithmetic, encoder, &all)
    }

    /// Exponents of the automorphisms for which the sums need keys.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|line| line.rotations.iter().flat_map(SlotRotation::exponents))
    }

    /// Computes the sums of slots along the dimensions.
    ///
    /// # Errors
    /// Every error of [`SlotRotation::apply`].
    pub fn apply(&self, arithmetic: &A, a: &A::Ciphertext, keys: &A::Keys) -> Outcome<A, A::Ciphertext> {
        check_keys(arithmetic, keys, false, self.exponents())?;
        self.0.iter().try_fold(a.clone(), |sum, line| {
            doubled(line.length, &sum, &mut |step, left, right| {
                let rotation = line.rotations.get(step.ilog2() as usize);
                let rotation = rotation.ok_or(CircuitError::Empty { what: "a sum along a dimension" })?;
                arithmetic.add(left, &rotation.apply(arithmetic, right, keys)?)
            })
        })
    }
}
