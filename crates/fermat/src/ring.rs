//! The ring modulo 2^g − 1.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use sunzi_math::RingIndex;
use sunzi_ring::{Domain, RingError, Shape};

use crate::limbs::Limbs;
use crate::plans::Plans;
use crate::product::WordProducts;
use crate::residues::Residues;
use crate::{Component, FermatModulus, FermatPoly, InverseCofactor, Shortcuts, error};

/// The smallest and the largest ring index.
const INDICES: (u64, u64) = (1 << 7, 1 << 18);

/// How polynomials are multiplied modulo a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Products {
    /// Lifted to word-size primes, transformed, recovered by a matrix product and folded.
    #[default]
    Transforms,
    /// One product of long integers by a library, to compare with.
    Kronecker,
}

/// R_q for q = 2^g − 1: one more [`PolyRing`](sunzi_ring::PolyRing), for BFV `[TSKJ20]`.
///
/// Residues modulo the [components](FermatModulus) have several words; the ring of products has limbs modulo word-size primes
/// beside them. It has a level for every component. Nothing here runs in constant time: large residues are carried and folded with branches.
///
/// ```
/// use sunzi_fermat::FermatRing;
/// use sunzi_ring::PolyRing;
///
/// let ring = FermatRing::new(2048, 256)?;
/// let one = ring.to_evaluation(ring.from_signed(&vec![1; 1024])?)?;
/// let mut square = one.clone();
/// ring.mul_assign(&mut square, &one)?;
/// let square = ring.to_integers(&ring.to_coefficient(square)?)?;
/// assert_eq!(square[1023], 1024.into());
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FermatRing(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) index: RingIndex,
    pub(crate) degree: usize,
    pub(crate) modulus: FermatModulus,
    /// q, times the primes beside it.
    pub(crate) value: BigUint,
    pub(crate) shortcuts: Shortcuts,
    pub(crate) products: Products,
    pub(crate) cofactors: Vec<InverseCofactor>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) limbs: Option<Limbs>,
}

/// What rings of one degree share, whatever their level.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) plans: Plans,
    /// By component.
    products: Vec<OnceLock<WordProducts>>,
}

impl FermatRing {
    /// The ring of index m, a power of two from 2^7 to 2^18, modulo 2^`bits` − 1.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for another m, and unless `bits` is a power of two from 64 to 16384.
    pub fn new(m: u64, bits: usize) -> Result<Self, RingError> {
        let (least, greatest) = INDICES;
        if !m.is_power_of_two() || !(least..=greatest).contains(&m) {
            let expected = format_args!("a power of two from {least} to {greatest}");
            return Err(error::out_of_range("index of a ring modulo 2^g - 1", expected, m));
        }
        let modulus = FermatModulus::new(bits)?;
        let products = modulus.components().iter().map(|_| OnceLock::new()).collect();
        let shared = Shared { plans: Plans::new((m / 2) as usize), products };
        Self::assemble(
            RingIndex::new(m)?,
            modulus,
            (Shortcuts::default(), Products::default()),
            Arc::new(shared),
            None,
        )
    }

    fn assemble(
        index: RingIndex,
        modulus: FermatModulus,
        (shortcuts, products): (Shortcuts, Products),
        shared: Arc<Shared>,
        limbs: Option<Limbs>,
    ) -> Result<Self, RingError> {
        let cofactor = |(i, &component): (usize, &Component)| {
            InverseCofactor::new(component, modulus.twos(i), shortcuts)
        };
        let cofactors = modulus.components().iter().enumerate().map(cofactor).collect();
        let value = limbs.iter().fold(modulus.value(), |value, limbs| value * limbs.basis().product());
        let degree = shared.plans.degree();
        Ok(Self(Arc::new(Inner {
            index,
            degree,
            modulus,
            value,
            shortcuts,
            products,
            cofactors,
            shared,
            limbs,
        })))
    }

    /// The same ring taking these shortcuts: polynomials of one are polynomials of the other.
    ///
    /// # Errors
    /// None is expected.
    pub fn with_shortcuts(&self, shortcuts: Shortcuts) -> Result<Self, RingError> {
        self.with(self.0.modulus.clone(), (shortcuts, self.0.products), self.0.limbs.clone())
    }

    /// The same ring multiplying in this way: polynomials of one are polynomials of the other.
    ///
    /// # Errors
    /// None is expected.
    pub fn with_products(&self, products: Products) -> Result<Self, RingError> {
        self.with(self.0.modulus.clone(), (self.0.shortcuts, products), self.0.limbs.clone())
    }

    /// This ring with limbs modulo primes beside q.
    pub(crate) fn with_limbs(&self, limbs: Limbs) -> Result<Self, RingError> {
        self.with(self.0.modulus.clone(), (self.0.shortcuts, self.0.products), Some(limbs))
    }

    /// The ring modulo the first components alone.
    pub(crate) fn without_limbs(&self, level: usize) -> Result<Self, RingError> {
        if level == self.fermat_modulus().level() && self.0.limbs.is_none() {
            return Ok(self.clone());
        }
        self.with(self.0.modulus.at_level(level)?, (self.0.shortcuts, self.0.products), None)
    }

    fn with(
        &self,
        modulus: FermatModulus,
        options: (Shortcuts, Products),
        limbs: Option<Limbs>,
    ) -> Result<Self, RingError> {
        Self::assemble(self.0.index.clone(), modulus, options, Arc::clone(&self.0.shared), limbs)
    }

    /// 2^g − 1, without the primes beside it.
    #[must_use]
    pub fn fermat_modulus(&self) -> &FermatModulus {
        &self.0.modulus
    }

    /// Which shortcuts it takes.
    #[must_use]
    pub fn shortcuts(&self) -> Shortcuts {
        self.0.shortcuts
    }

    /// The factors (q/q_i)^-1, one for each component.
    #[must_use]
    pub fn cofactors(&self) -> &[InverseCofactor] {
        &self.0.cofactors
    }

    /// How many word-size primes a product modulo each component takes.
    ///
    /// # Errors
    /// [`RingError::Math`] if there are not enough.
    pub fn product_primes(&self) -> Result<Vec<usize>, RingError> {
        (0..self.0.modulus.level()).map(|i| Ok(self.0.word_products(i)?.plans().len())).collect()
    }

    /// The n residues of a polynomial modulo the component at a position.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NoSuchLevel`] for a position without a component.
    pub fn component_residues<'a, D: Domain>(
        &self,
        a: &'a FermatPoly<D>,
        position: usize,
    ) -> Result<&'a [u64], RingError> {
        self.check(a)?;
        let highest = self.0.modulus.level();
        let range = self.ranges().nth(position).map(|(_, _, range)| range);
        let part = range.and_then(|range| a.residues.get(range));
        part.ok_or(RingError::NoSuchLevel { got: position + 1, highest })
    }

    pub(crate) fn shape(&self) -> Shape {
        let limbs = self.0.limbs.as_ref().map_or(0, |limbs| limbs.basis().len());
        Shape { degree: self.0.degree, limbs: self.0.modulus.level() + limbs }
    }

    pub(crate) fn tag(&self) -> u64 {
        self.0.limbs.as_ref().map_or(0, Limbs::tag)
    }

    pub(crate) fn check<D: Domain>(&self, a: &FermatPoly<D>) -> Result<(), RingError> {
        let (expected, got) = (self.shape(), a.shape());
        if expected != got {
            return Err(RingError::ShapeMismatch { expected, got });
        }
        if a.bits == self.0.modulus.bits() && a.tag == self.tag() {
            return Ok(());
        }
        Err(RingError::OtherModulus { shape: expected })
    }

    pub(crate) fn empty<D: Domain>(&self) -> FermatPoly<D> {
        let inner = &*self.0;
        let (degree, bits) = (inner.degree, inner.modulus.bits());
        let words = inner.modulus.components().iter().map(|c| c.len()).sum::<usize>();
        let residues = Residues::zero(degree * words);
        let limbs = vec![0; degree * inner.limbs.as_ref().map_or(0, |limbs| limbs.basis().len())];
        FermatPoly { degree, bits, residues, tag: self.tag(), limbs, domain: PhantomData }
    }

    /// The residues of n integers.
    pub(crate) fn reduced<D: Domain>(&self, integers: &[BigUint]) -> FermatPoly<D> {
        let mut poly = self.empty();
        let words: Vec<Vec<u64>> = integers.iter().map(|x| x.iter_u64_digits().collect()).collect();
        for (component, residues) in self.0.parts_mut(&mut poly.residues) {
            for (residue, x) in residues.chunks_exact_mut(component.len()).zip(&words) {
                component.reduce(residue, x);
            }
        }
        if let Some(limbs) = &self.0.limbs {
            limbs.reduce(&mut poly.limbs, self.0.degree, integers);
        }
        poly
    }

    /// The coefficients as integers in [0, q).
    pub(crate) fn integers<D: Domain>(&self, a: &FermatPoly<D>) -> Result<Vec<BigUint>, RingError> {
        let mut parts: Vec<_> =
            self.0.parts(&a.residues).map(|(component, part)| part.chunks_exact(component.len())).collect();
        let mut integers = Vec::with_capacity(self.0.degree);
        for _ in 0..self.0.degree {
            integers.push(self.0.modulus.integer(parts.iter_mut().filter_map(Iterator::next)));
        }
        match &self.0.limbs {
            Some(limbs) => limbs.join(integers, &self.0.modulus.value(), &a.limbs),
            None => Ok(integers),
        }
    }

    /// The representative in [−q/2, q/2).
    pub(crate) fn center(&self, x: BigUint) -> BigInt {
        let upper = &x << 1 >= self.0.value;
        let x = BigInt::from(x);
        if upper { x - BigInt::from(self.0.value.clone()) } else { x }
    }

    pub(crate) fn modulo(&self, x: &BigInt) -> BigUint {
        x.mod_floor(&self.0.value.clone().into()).into_parts().1
    }
}

impl Inner {
    /// Every component with its part of the residues.
    pub(crate) fn parts<'a>(&'a self, residues: &'a [u64]) -> impl Iterator<Item = (Component, &'a [u64])> {
        let mut rest = residues;
        self.modulus.components().iter().map(move |&component| {
            let (part, others) = rest.split_at(rest.len().min(self.degree * component.len()));
            rest = others;
            (component, part)
        })
    }

    /// The same to write to.
    pub(crate) fn parts_mut<'a>(
        &'a self,
        residues: &'a mut [u64],
    ) -> impl Iterator<Item = (Component, &'a mut [u64])> {
        let mut rest = residues;
        self.modulus.components().iter().map(move |&component| {
            let taken = std::mem::take(&mut rest);
            let (part, others) = taken.split_at_mut(taken.len().min(self.degree * component.len()));
            rest = others;
            (component, part)
        })
    }

    /// The tables for products modulo the component at a position.
    pub(crate) fn word_products(&self, position: usize) -> Result<&WordProducts, RingError> {
        let (cells, components) = (&self.shared.products, self.modulus.components());
        let (Some(cell), Some(&component)) = (cells.get(position), components.get(position)) else {
            return Err(RingError::NoSuchLevel { got: position + 1, highest: components.len() });
        };
        if let Some(tables) = cell.get() {
            return Ok(tables);
        }
        let tables = WordProducts::for_residues(component, &self.shared.plans)?;
        Ok(cell.get_or_init(|| tables))
    }
}
