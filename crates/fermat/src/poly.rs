//! Polynomials modulo 2^g − 1, and modulo word-size primes beside it.

use std::marker::PhantomData;

use sunzi_ring::{Domain, Shape};
use zeroize::Zeroize;

use crate::FermatModulus;
use crate::residues::Residues;

/// An element of a [`FermatRing`](crate::FermatRing).
///
/// Modulo 2^g − 1 both domains hold coefficients: component after component, in each the residues of X^0, X^1, … one after the
/// other. Modulo primes beside it, which the ring of products has, they hold limbs of n coefficients or values.
#[derive(Clone)]
pub struct FermatPoly<D: Domain> {
    pub(crate) degree: usize,
    /// g.
    pub(crate) bits: usize,
    pub(crate) residues: Residues,
    /// What tells the primes of `limbs` from others; 0 without any.
    pub(crate) tag: u64,
    pub(crate) limbs: Vec<u64>,
    pub(crate) domain: PhantomData<D>,
}

impl<D: Domain> FermatPoly<D> {
    pub(crate) fn shape(&self) -> Shape {
        let components = FermatModulus::new(self.bits).map_or(0, |modulus| modulus.level());
        Shape { degree: self.degree, limbs: components + self.limbs.len() / self.degree.max(1) }
    }

    /// The same words under the other name.
    pub(crate) fn relabel<E: Domain>(self) -> FermatPoly<E> {
        let Self { degree, bits, residues, tag, limbs, .. } = self;
        FermatPoly { degree, bits, residues, tag, limbs, domain: PhantomData }
    }
}

impl<D: Domain> Zeroize for FermatPoly<D> {
    fn zeroize(&mut self) {
        self.residues.zeroize();
        self.limbs.zeroize();
    }
}
