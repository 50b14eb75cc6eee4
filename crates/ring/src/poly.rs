//! Polynomials in RNS.

use std::marker::PhantomData;
use std::ops::Range;

use zeroize::Zeroize;

use crate::error::{entry, part};
use crate::scratch::Scratch;
use crate::{Domain, RingError, Shape};

/// What is missing where a polynomial is too short.
const LIMB: &str = "limb of a polynomial";

/// An element of a [`Ring`](crate::Ring) in domain `D`: limb after limb, n residues each, in [0, q_i).
///
/// It does not print: it may hold a secret.
#[derive(Clone)]
pub struct Poly<D: Domain> {
    data: Scratch,
    degree: usize,
    /// The tag of the basis.
    tag: u64,
    domain: PhantomData<D>,
}

impl<D: Domain> Poly<D> {
    pub(crate) fn new(data: Scratch, degree: usize, tag: u64) -> Self {
        Self { data, degree, tag, domain: PhantomData }
    }

    pub(crate) fn relabel<E: Domain>(self) -> Poly<E> {
        Poly { data: self.data, degree: self.degree, tag: self.tag, domain: PhantomData }
    }

    /// Its first limbs, in place: a polynomial of the basis with this tag.
    pub(crate) fn truncated(mut self, limbs: usize, tag: u64) -> Self {
        self.data.truncate(limbs * self.degree);
        Self { tag, ..self }
    }

    pub(crate) fn tag(&self) -> u64 {
        self.tag
    }

    /// Degree and number of limbs.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape { degree: self.degree, limbs: self.data.len() / self.degree.max(1) }
    }

    /// The residues modulo q_i of all coefficients (or values).
    #[must_use]
    pub fn limb(&self, i: usize) -> Option<&[u64]> {
        self.limbs().nth(i)
    }

    /// Limb i, where it must be.
    pub(crate) fn own_limb(&self, i: usize) -> Result<&[u64], RingError> {
        self.limb(i).ok_or(RingError::MissingTable { table: LIMB, limb: i })
    }

    /// A range of limb i.
    pub(crate) fn part(&self, i: usize, range: Range<usize>) -> Result<&[u64], RingError> {
        part(LIMB, self.own_limb(i)?, range, i)
    }

    /// A range of the limb that stands at place i of a lower level, whose limbs stand at `places`.
    pub(crate) fn part_at(
        &self,
        places: &[usize],
        i: usize,
        range: Range<usize>,
    ) -> Result<&[u64], RingError> {
        self.part(*entry("place", places, i)?, range)
    }

    /// The limbs in order of the basis.
    pub fn limbs(&self) -> std::slice::ChunksExact<'_, u64> {
        self.data.chunks_exact(self.degree.max(1))
    }

    /// All limbs, one after the other.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.data
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.data
    }
}

impl<D: Domain> Zeroize for Poly<D> {
    fn zeroize(&mut self) {
        self.data.zeroize();
    }
}
