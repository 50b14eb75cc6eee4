//! Polynomials of a [`UnivariateRing`](super::UnivariateRing).

use std::marker::PhantomData;

use zeroize::Zeroize;

use crate::scratch::Scratch;
use crate::{Domain, Shape};

/// What the values of a polynomial stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A polynomial of degree below n.
    Reduced,
    /// A sum of products of two of them, which is still to be reduced.
    Product,
    /// The same, to be divided by M: products with keys, in [`Reduction::Mixed`](super::Reduction::Mixed).
    KeyProduct,
}

/// An element of a [`UnivariateRing`](super::UnivariateRing) in domain `D`, limb after limb: n coefficients, or N values of a polynomial that may
/// still be a sum of products.
///
/// It does not print: it may hold a secret.
#[derive(Clone)]
pub struct UnivariatePoly<D: Domain> {
    data: Scratch,
    /// Words of a limb.
    stride: usize,
    degree: usize,
    /// Names moduli, index and whether there is a factor M.
    tag: u64,
    form: Form,
    domain: PhantomData<D>,
}

impl<D: Domain> UnivariatePoly<D> {
    pub(super) fn new(data: Scratch, stride: usize, degree: usize, tag: u64, form: Form) -> Self {
        Self { data, stride, degree, tag, form, domain: PhantomData }
    }

    pub(super) fn relabel<E: Domain>(self) -> UnivariatePoly<E> {
        let Self { data, stride, degree, tag, form, .. } = self;
        UnivariatePoly { data, stride, degree, tag, form, domain: PhantomData }
    }

    pub(super) fn tag(&self) -> u64 {
        self.tag
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    pub(super) fn set_form(&mut self, form: Form) {
        self.form = form;
    }

    /// Degree and number of limbs.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape { degree: self.degree, limbs: self.data.len() / self.stride.max(1) }
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.data
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.data
    }

    pub(super) fn limb(&self, i: usize) -> &[u64] {
        self.data.chunks_exact(self.stride.max(1)).nth(i).unwrap_or_default()
    }
}

impl<D: Domain> Zeroize for UnivariatePoly<D> {
    fn zeroize(&mut self) {
        self.data.zeroize();
    }
}
