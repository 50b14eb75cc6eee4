//! Storage of residues in words: one residue a word.

pub(crate) mod automorphism;
mod backend;
mod block_product;
mod build;
mod combination;
pub(crate) mod division;
mod error_sample;
mod factor;
pub(crate) mod integers;
pub(crate) mod masking;
mod matrix_product;
pub(crate) mod plaintext;
mod poly_matrix;
mod raise;
mod sum;
mod tensor;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sunzi_kernels::{Isa, Modulus};
use sunzi_math::RingIndex;

use crate::error::{check_automorphism, check_level, check_shape};
use crate::ladder::Ladder;
use crate::once::get_or_try_init;
use crate::parallel::{Parallelism, groups};
use crate::scratch::Scratch;
use crate::transform::{Plan, Transform};
use crate::{Backend, Basis, Domain, Poly, Residues, RingError, Shape};
use automorphism::{AutomorphismTables, ValueSources};
use division::{Division, DivisionPath, Factor};
use raise::Raise;

/// The ring R_q for q = q_1⋯q_k, one residue a word; cheap to clone.
/// [`Ring`](crate::Ring) uses this storage unless told otherwise.
#[derive(Clone)]
pub struct WordRing(Arc<Inner>);

struct Inner {
    index: Arc<RingIndex>,
    degree: usize,
    basis: Basis,
    transform: Transform,
    /// Tables of automorphisms, which depend on the degree alone: shared by all rings made from one.
    automorphisms: Arc<AutomorphismTables>,
    ladder: Arc<Ladder>,
    /// Level of this ring among those of its tables.
    level: usize,
    /// Tables of the lower levels, the lowest first.
    lower: Vec<Lower>,
}

/// Tables that lead to a lower level and back up, made at first use.
#[derive(Default)]
struct Lower {
    ring: OnceLock<WordRing>,
    division: OnceLock<Division>,
    raise: OnceLock<Raise>,
}

impl WordRing {
    /// The way work of the ring is shared among threads.
    #[must_use]
    pub fn parallelism(&self) -> Parallelism {
        self.transform().parallelism()
    }

    /// The instruction set of the ring; limbs whose moduli it cannot take run on the portable one.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.basis().isa()
    }

    /// The moduli of the ring and their constants.
    #[must_use]
    pub fn basis(&self) -> &Basis {
        &self.0.basis
    }

    /// The shape, degree and number of limbs, of a polynomial of this ring.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape { degree: self.0.degree, limbs: self.0.basis.len() }
    }

    /// The positions from which the coefficients of a(X^k) come.
    pub(crate) fn coefficient_sources(&self, k: u64) -> Result<Arc<[u32]>, RingError> {
        check_automorphism(k, self.ring_index())?;
        Ok(self.0.automorphisms.get(self, k, false))
    }

    /// The positions from which the values of a(X^k) come.
    pub(crate) fn value_sources(&self, k: u64) -> Result<ValueSources, RingError> {
        check_automorphism(k, self.ring_index())?;
        Ok(ValueSources::new(self, &self.0.automorphisms, k))
    }

    /// A polynomial of the ring with arbitrary content, for callers that write every word.
    pub(crate) fn arbitrary<D: Domain>(&self) -> Poly<D> {
        self.arbitrary_residues().into()
    }

    /// Residues of arbitrary content, for callers that write every word.
    pub(crate) fn arbitrary_residues(&self) -> Residues {
        let Shape { degree, limbs } = self.shape();
        Residues::new(Scratch::new(degree * limbs), degree, self.basis().tag())
    }

    /// The transforms of all limbs of the ring, in order.
    #[must_use]
    pub fn plans(&self) -> &[Arc<Plan>] {
        self.0.transform.plans()
    }

    /// The transform of limb i, which must exist.
    ///
    /// # Errors
    /// [`RingError::MissingTable`] where there is no limb i.
    pub fn plan(&self, i: usize) -> Result<&Plan, RingError> {
        self.transform().plan(i)
    }

    /// The transforms of whole polynomials of this ring.
    #[must_use]
    pub fn transform(&self) -> &Transform {
        &self.0.transform
    }

    /// Does [`check`](Self::check) for any value with the shape and the tag of a polynomial.
    pub(crate) fn check_basis(&self, shape: Shape, tag: u64) -> Result<(), RingError> {
        check_shape(self.shape(), shape)?;
        if tag == self.basis().tag() { Ok(()) } else { Err(RingError::OtherModulus { shape: self.shape() }) }
    }

    /// The ring at a lower level, or this ring itself.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] for 0 and above the level of this ring.
    pub fn at_level(&self, level: usize) -> Result<Self, RingError> {
        if level == self.level() {
            return Ok(self.clone());
        }
        get_or_try_init(&self.lower(level)?.ring, || self.derive(Arc::clone(&self.0.ladder), level)).cloned()
    }

    /// Tables of the ring that lead to a lower level.
    fn lower(&self, level: usize) -> Result<&Lower, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.0.level };
        self.0.lower.get(level.wrapping_sub(1)).ok_or(missing)
    }

    /// The moduli of every level of the ring.
    pub(crate) fn ladder(&self) -> &Ladder {
        &self.0.ladder
    }

    /// The places of the limbs of level `to` in polynomials of level `from`.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] above level `from`; [`RingError::NotNested`] where level `to` is not nested in
    /// level `from`.
    pub(crate) fn nested(&self, to: usize, from: usize) -> Result<Vec<usize>, RingError> {
        check_level(to, from)?;
        self.0.ladder.nested(to, from)
    }

    /// Checks that every level l has the first l moduli, for operations that need it.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] where a level has other moduli.
    pub fn check_prefixes(&self) -> Result<(), RingError> {
        if self.ladder().is_of_prefixes() {
            return Ok(());
        }
        let expected = "the first moduli, for scale-invariant products and digits of a radix";
        Err(RingError::out_of_range("moduli of a level", expected, "other sets of them"))
    }

    /// The division by the moduli above a lower level.
    pub(crate) fn division(&self, level: usize) -> Result<&Division, RingError> {
        get_or_try_init(&self.lower(level)?.division, || {
            let (ladder, targets) = (self.ladder(), self.ladder().plans(level));
            let path = DivisionPath::new(ladder.limbs(level), ladder.limbs(self.0.level));
            let groups = groups(0..targets.len());
            Division::new(self.plans(), &targets, path, groups, self.isa(), Factor::One, self.parallelism())
        })
    }

    /// Applies `f` to every part of a with its limb, modulus and range of coefficients.
    pub(crate) fn for_each_modulus(
        &self,
        a: &mut Residues,
        f: impl Fn(usize, Modulus, Range<usize>, &mut [u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.parallelism().for_each_part([a.words_mut()], self.0.degree, |i, range, [part]| {
            f(i, self.basis().own(i)?, range, part)
        })
    }

    /// Applies `f` to every part of a with its modulus and the equal part of b.
    fn zip_assign(
        &self,
        a: &mut Residues,
        b: &Residues,
        f: impl Fn(Modulus, &mut [u64], &[u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.check(b)?;
        self.for_each_modulus(a, |i, modulus, range, part| f(modulus, part, b.part(i, range)?))
    }
}

/// The limbs of a at the given places, one after the other.
pub(crate) fn gathered(a: &Residues, places: &[usize]) -> Result<Scratch, RingError> {
    let n = a.shape().degree;
    let mut words = Scratch::new(places.len() * n);
    for (to, &place) in words.chunks_exact_mut(n.max(1)).zip(places) {
        to.copy_from_slice(a.own_limb(place)?);
    }
    Ok(words)
}

impl fmt::Debug for WordRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("index", &self.index())
            .field("degree", &self.0.degree)
            .field("moduli", &self.basis().values())
            .finish()
    }
}
