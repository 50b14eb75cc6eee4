//! Polynomials: residues of any storage, with their domain as a type.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

use zeroize::Zeroize;

use crate::error::{entry, part};
use crate::opaque::{Content, Opaque};
use crate::scratch::Scratch;
use crate::{RingError, Shape};

/// The name of a polynomial's limb in errors.
const LIMB: &str = "limb of a polynomial";

mod sealed {
    pub trait Sealed {}
}

/// Meaning of the numbers of a polynomial: coefficients or values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// The numbers are coefficients, as in [`Coefficient`].
    Coefficients,
    /// The numbers are values at the primitive m-th roots of unity, as in [`Evaluation`].
    Values,
}

/// The representation of a polynomial, as a type: a mix-up does not compile.
pub trait Domain: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// The representation of the domain as a value.
    const REPRESENTATION: Representation;
}

/// Coefficients in the powerful basis, in the order of [`RingIndex`](sunzi_math::RingIndex), unless the ring says otherwise
/// ([`Backend::coefficient_basis`](crate::Backend::coefficient_basis)): for a power of two, index `i` holds the coefficient of X^i; index 0 is the
/// constant in any ring.
#[derive(Clone, Copy, Debug)]
pub struct Coefficient;

/// Values at the primitive m-th roots of unity, in the order of `docs/format.md`.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation;

impl sealed::Sealed for Coefficient {}
impl sealed::Sealed for Evaluation {}
impl Domain for Coefficient {
    const REPRESENTATION: Representation = Representation::Coefficients;
}
impl Domain for Evaluation {
    const REPRESENTATION: Representation = Representation::Values;
}

/// An element of a [`Ring`](crate::Ring) in domain `D`. It does not print: it may hold a secret.
#[derive(Clone)]
pub struct Poly<D: Domain> {
    residues: Residues,
    domain: PhantomData<D>,
}

/// The residues of a polynomial in either domain: words for each modulus, limb after limb, or whatever else its
/// storage keeps.
#[derive(Clone)]
pub struct Residues {
    words: Scratch,
    shape: Shape,
    /// Tag that tells the modulus of the residues from others of equal shape.
    tag: u64,
    /// State of the words of the residues as their storage defines it, 0 for most.
    state: u8,
    /// Value that a storage keeps in place of the words of residues.
    other: Option<Opaque>,
}

impl<D: Domain> Poly<D> {
    /// A polynomial of words in [0, q_i), n for each limb.
    pub(crate) fn new(words: Scratch, degree: usize, tag: u64) -> Self {
        Residues::new(words, degree, tag).into()
    }

    /// The polynomial with the given residues in another domain.
    #[must_use]
    pub fn relabel<E: Domain>(self) -> Poly<E> {
        self.residues.into()
    }

    /// The residues of the polynomial, without the type of its domain.
    #[must_use]
    pub fn into_residues(self) -> Residues {
        self.residues
    }
}

impl<D: Domain> From<Residues> for Poly<D> {
    fn from(residues: Residues) -> Self {
        Self { residues, domain: PhantomData }
    }
}

impl<D: Domain> Deref for Poly<D> {
    type Target = Residues;

    fn deref(&self) -> &Residues {
        &self.residues
    }
}

impl<D: Domain> DerefMut for Poly<D> {
    fn deref_mut(&mut self) -> &mut Residues {
        &mut self.residues
    }
}

impl<D: Domain> Zeroize for Poly<D> {
    fn zeroize(&mut self) {
        self.residues.zeroize();
    }
}

/// Polynomials are [`Content`], since a storage may keep polynomials of keys unchanged.
impl<D: Domain> Content for Poly<D> {
    fn byte_len(&self) -> usize {
        self.residues.byte_len()
    }
}

impl Residues {
    /// Residues that are words in [0, q_i), n for each limb.
    pub(crate) fn new(words: Scratch, degree: usize, tag: u64) -> Self {
        let limbs = words.len() / degree.max(1);
        Self { words, shape: Shape { degree, limbs }, tag, state: 0, other: None }
    }

    /// Residues of a given shape that are words, equally many for each limb, which need not be n.
    #[must_use]
    pub fn of_words(words: Scratch, shape: Shape, tag: u64) -> Self {
        Self { words, shape, tag, state: 0, other: None }
    }

    /// Residues of a given shape that are not words.
    #[must_use]
    pub fn of_content(content: impl Content, shape: Shape, tag: u64) -> Self {
        Self { words: Scratch::new(0), shape, tag, state: 0, other: Some(Opaque::new(content)) }
    }

    /// Residues that consist of a shape alone, without words.
    pub(crate) fn hollow(shape: Shape, tag: u64) -> Self {
        Self { words: Scratch::new(0), shape, tag, state: 0, other: None }
    }

    /// Cuts the residues to the first `limbs` limbs, in place: a polynomial of the basis with this tag.
    pub(crate) fn truncate(&mut self, limbs: usize, tag: u64) {
        self.words.truncate(limbs * self.stride());
        self.shape.limbs = limbs;
        self.tag = tag;
    }

    /// The tag that tells the modulus of the residues from others of equal shape.
    #[must_use]
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// The value that the storage of the residues keeps in place of words.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] for residues of another storage.
    pub fn content<T: Content>(&self) -> Result<&T, RingError> {
        self.other.as_ref().ok_or(RingError::OtherStorage)?.get()
    }

    /// The value that the storage of the residues keeps in place of words, mutable.
    ///
    /// # Errors
    /// [`RingError::OtherStorage`] for residues of another storage.
    pub fn content_mut<T: Content>(&mut self) -> Result<&mut T, RingError> {
        self.other.as_mut().ok_or(RingError::OtherStorage)?.get_mut()
    }

    /// The state of the words as their storage defines it: 0 for most.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.state
    }

    /// Sets the [`state`](Self::state) of the words of the residues.
    pub fn set_state(&mut self, state: u8) {
        self.state = state;
    }

    /// The number of words of a limb of the residues: n in most storages.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.words.len() / self.shape.limbs.max(1)
    }

    /// The shape of the polynomial: degree and number of limbs.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Length of the residues in memory, in bytes; where no words are stored, the length that words of this
    /// shape would have.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let words = size_of_val(&*self.words);
        match &self.other {
            Some(other) => words + other.byte_len(),
            None if words > 0 => words,
            None => self.shape.degree * self.shape.limbs * size_of::<u64>(),
        }
    }

    /// The residues modulo q_i of all coefficients (or values) of the polynomial.
    #[must_use]
    pub fn limb(&self, i: usize) -> Option<&[u64]> {
        self.limbs().nth(i)
    }

    /// Limb i of the polynomial, which must exist.
    ///
    /// # Errors
    /// [`RingError::MissingTable`] where there is no limb i.
    pub fn own_limb(&self, i: usize) -> Result<&[u64], RingError> {
        self.limb(i).ok_or(RingError::MissingTable { table: LIMB, limb: i })
    }

    /// A range of the words of limb i of the polynomial.
    ///
    /// # Errors
    /// [`RingError::MissingTable`] where there is no such range.
    pub fn part(&self, i: usize, range: Range<usize>) -> Result<&[u64], RingError> {
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

    /// The limbs of the polynomial in order of the basis.
    pub fn limbs(&self) -> std::slice::ChunksExact<'_, u64> {
        self.words.chunks_exact(self.stride().max(1))
    }

    /// The words of all limbs of the polynomial, one after the other.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words of all limbs of the polynomial, one after the other, mutable.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

impl Zeroize for Residues {
    fn zeroize(&mut self) {
        self.words.zeroize();
        if let Some(other) = &mut self.other {
            other.zeroize();
        }
    }
}
