//! Polynomials with big-integer coefficients.

use std::marker::PhantomData;
use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::Zero;
use zeroize::Zeroize;

use crate::{Domain, Shape};

/// An element of a [`BigRing`](crate::BigRing): n coefficients in [0, q), in either domain.
///
/// `zeroize` sets the coefficients to zero but cannot erase what the big-integer library has freed:
/// this type is for oracles and baselines, not for secrets that matter.
#[derive(Clone)]
pub struct BigPoly<D: Domain> {
    pub(crate) coefficients: Vec<BigUint>,
    pub(crate) modulus: Arc<BigUint>,
    pub(crate) domain: PhantomData<D>,
}

impl<D: Domain> BigPoly<D> {
    pub(crate) fn shape(&self) -> Shape {
        let bits = usize::try_from(self.modulus.bits()).unwrap_or(usize::MAX);
        Shape { degree: self.coefficients.len(), limbs: bits }
    }

    /// The same coefficients under the other name: the transform of this ring is the identity.
    pub(crate) fn relabel<E: Domain>(self) -> BigPoly<E> {
        BigPoly { coefficients: self.coefficients, modulus: self.modulus, domain: PhantomData }
    }
}

impl<D: Domain> Zeroize for BigPoly<D> {
    fn zeroize(&mut self) {
        for coefficient in &mut self.coefficients {
            coefficient.set_zero();
        }
    }
}
