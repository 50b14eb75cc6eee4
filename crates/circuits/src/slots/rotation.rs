//! Rotations along one dimension of the hypercube of slots.

use sunzi_encoding::{GaloisEncoder, Plaintext, WrappedRotation};

use super::check_keys;
use crate::{Automorphisms, Outcome};

/// A rotation along a dimension: slot e + steps of every line moves to slot e, cyclically. In a good dimension it is one automorphism; in
/// a bad one two, of which a mask takes the slots that wrap around from one and the others from the other: a product with a plaintext.
pub struct SlotRotation<A: Automorphisms> {
    exponent: u64,
    wrapped: Option<(u64, A::Factor)>,
}

impl<A: Automorphisms<Plaintext = Plaintext>> SlotRotation<A> {
    /// Prepares the rotation along a dimension and its mask.
    ///
    /// # Errors
    /// [`CircuitError::Encoding`](crate::CircuitError::Encoding) for a dimension that does not exist;
    /// [`CircuitError::Scheme`](crate::CircuitError::Scheme).
    pub fn new(arithmetic: &A, encoder: &GaloisEncoder, dimension: usize, steps: i64) -> Outcome<A, Self> {
        let rotation = encoder.rotation(dimension, steps)?;
        let prepared = |wrapped: WrappedRotation| -> Outcome<A, (u64, A::Factor)> {
            Ok((wrapped.exponent, arithmetic.factor(&wrapped.mask)?))
        };
        Ok(Self { exponent: rotation.exponent, wrapped: rotation.wrapped.map(prepared).transpose()? })
    }

    /// Exponents of the automorphisms for which the rotation needs keys.
    pub fn exponents(&self) -> impl Iterator<Item = u64> + '_ {
        let wrapped = self.wrapped.iter().map(|(exponent, _)| *exponent);
        std::iter::once(self.exponent).chain(wrapped)
    }

    /// Rotates the slots along the dimension.
    ///
    /// # Errors
    /// [`CircuitError::MissingAutomorphism`](crate::CircuitError::MissingAutomorphism);
    /// [`CircuitError::Scheme`](crate::CircuitError::Scheme).
    pub fn apply(&self, arithmetic: &A, a: &A::Ciphertext, keys: &A::Keys) -> Outcome<A, A::Ciphertext> {
        check_keys(arithmetic, keys, false, self.exponents())?;
        let Some((exponent, mask)) = &self.wrapped else {
            return arithmetic.automorphism(a, self.exponent, keys);
        };
        let images = arithmetic.automorphisms(a, &[self.exponent, *exponent], keys)?;
        let [straight, wrapped] = images.as_slice() else { return Ok(a.clone()) };
        let difference = arithmetic.sub(straight, wrapped)?;
        let taken = arithmetic.sum_of_plain_products(&[(&difference, mask)])?;
        arithmetic.add(wrapped, &taken)
    }
}
