//! Polynomials without coefficients.

use std::marker::PhantomData;

use zeroize::Zeroize;

use crate::{Domain, Shape};

/// The place of an element of a [`HollowRing`](crate::HollowRing): its shape, and what tells its modulus from others.
#[derive(Clone, Copy, Debug)]
pub struct HollowPoly<D: Domain> {
    shape: Shape,
    tag: u64,
    domain: PhantomData<D>,
}

impl<D: Domain> HollowPoly<D> {
    pub(super) fn new(shape: Shape, tag: u64) -> Self {
        Self { shape, tag, domain: PhantomData }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether both are of one ring at one level.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.shape, self.tag) == (other.shape, other.tag)
    }

    /// The same in the other domain.
    pub(super) fn relabel<E: Domain>(self) -> HollowPoly<E> {
        HollowPoly::new(self.shape, self.tag)
    }
}

impl<D: Domain> Zeroize for HollowPoly<D> {
    /// Nothing of a polynomial is there.
    fn zeroize(&mut self) {}
}
