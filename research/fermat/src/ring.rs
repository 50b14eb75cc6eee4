//! Ring of polynomials modulo 2^g − 1.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use sunzi_math::RingIndex;
use sunzi_ring::{Backend, Representation, Residues, RingError, Shape};

use crate::limbs::Limbs;
use crate::plans::Plans;
use crate::product::WordProducts;
use crate::residues::{CachedWords, FermatResidues};
use crate::{Component, FermatModulus, InverseCofactor, Shortcuts};

/// Smallest and largest index m of a ring over 2^g − 1.
const INDICES: (u64, u64) = (1 << 7, 1 << 18);

/// Algorithm of products of polynomials modulo a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Products {
    /// Products by transforms: lifted to word-size primes, transformed, recovered by a matrix product and folded.
    #[default]
    Transforms,
    /// Products by Kronecker substitution, one product of long integers by a library, to compare with.
    Kronecker,
}

/// Storage of R_q for q = 2^g − 1 `[TSKJ20]`, of a [`Ring`](sunzi_ring::Ring) for BFV.
///
/// Residues of the ring modulo the [components](FermatModulus) have several words; the ring of products has
/// limbs modulo word-size primes beside them. It has a level for every component. No operation runs in
/// constant time: large residues are carried and folded with branches.
///
/// ```
/// use sunzi_fermat::FermatRing;
/// use sunzi_ring::Ring;
///
/// let ring = Ring::of(FermatRing::new(2048, 256)?);
/// let one = ring.to_evaluation(ring.from_signed(&vec![1; 1024])?)?;
/// let mut square = one.clone();
/// ring.mul_assign(&mut square, &one)?;
/// let square = ring.to_integers(&ring.to_coefficient(square)?)?;
/// assert_eq!(square[1023], 1024.into());
/// assert_eq!(ring.storage::<FermatRing>().map(|storage| storage.fermat_modulus().bits()), Some(256));
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FermatRing(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) index: RingIndex,
    pub(crate) degree: usize,
    /// Tag that distinguishes polynomials of this ring from others of the same shape.
    pub(crate) tag: u64,
    pub(crate) modulus: FermatModulus,
    /// Modulus q of the ring, times the primes beside it.
    pub(crate) value: BigUint,
    pub(crate) shortcuts: Shortcuts,
    pub(crate) products: Products,
    pub(crate) cofactors: Vec<InverseCofactor>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) limbs: Option<Limbs>,
}

/// Tables that rings of one degree share, whatever their level.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) plans: Plans,
    /// Tables of products of residues, by component.
    products: Vec<OnceLock<WordProducts>>,
}

impl FermatRing {
    /// Makes the ring of index m, a power of two from 2^7 to 2^18, modulo 2^`bits` − 1.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for another ring index m, and unless `bits` is a power of two from 64 to
    /// 16384.
    pub fn new(m: u64, bits: usize) -> Result<Self, RingError> {
        Self::with_modulus(m, FermatModulus::new(bits)?)
    }

    /// Makes the ring of index m, a power of two from 2^7 to 2^18, with this modulus.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for another ring index m.
    pub fn with_modulus(m: u64, modulus: FermatModulus) -> Result<Self, RingError> {
        let (least, greatest) = INDICES;
        if !m.is_power_of_two() || !(least..=greatest).contains(&m) {
            let expected = format_args!("a power of two from {least} to {greatest}");
            return Err(RingError::out_of_range("index of a ring modulo 2^g - 1", expected, m));
        }
        let products = modulus.components().iter().map(|_| OnceLock::new()).collect();
        let shared = Shared { plans: Plans::new((m / 2) as usize), products };
        let options = (Shortcuts::default(), Products::default());
        Ok(Self::assemble(RingIndex::new(m)?, modulus, options, Arc::new(shared), None))
    }

    fn assemble(
        index: RingIndex,
        modulus: FermatModulus,
        (shortcuts, products): (Shortcuts, Products),
        shared: Arc<Shared>,
        limbs: Option<Limbs>,
    ) -> Self {
        let cofactor = |(i, &component): (usize, &Component)| {
            InverseCofactor::new(component, modulus.twos(i), shortcuts)
        };
        let cofactors = modulus.components().iter().enumerate().map(cofactor).collect();
        let value = limbs.iter().fold(modulus.value(), |value, limbs| value * limbs.basis().product());
        let degree = shared.plans.degree();
        let tag = tag_of(&modulus, limbs.as_ref().map_or(&[], |limbs| limbs.basis().values()));
        Self(Arc::new(Inner {
            index,
            degree,
            tag,
            modulus,
            value,
            shortcuts,
            products,
            cofactors,
            shared,
            limbs,
        }))
    }

    /// Returns the ring with these shortcuts: polynomials of one are polynomials of the other.
    #[must_use]
    pub fn with_shortcuts(&self, shortcuts: Shortcuts) -> Self {
        self.with(self.0.modulus.clone(), (shortcuts, self.0.products), self.0.limbs.clone())
    }

    /// Returns the ring that multiplies by this algorithm: polynomials of one are polynomials of the other.
    #[must_use]
    pub fn with_products(&self, products: Products) -> Self {
        self.with(self.0.modulus.clone(), (self.0.shortcuts, products), self.0.limbs.clone())
    }

    /// Returns this ring with limbs modulo word-size primes beside q.
    pub(crate) fn with_limbs(&self, limbs: Limbs) -> Self {
        self.with(self.0.modulus.clone(), (self.0.shortcuts, self.0.products), Some(limbs))
    }

    /// Returns the ring modulo the first `level` components alone.
    pub(crate) fn without_limbs(&self, level: usize) -> Result<Self, RingError> {
        if level == self.fermat_modulus().level() && self.0.limbs.is_none() {
            return Ok(self.clone());
        }
        Ok(self.with(self.0.modulus.at_level(level)?, (self.0.shortcuts, self.0.products), None))
    }

    /// Returns the ring over 2^g − 1 at a lower level, or this one.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] for a level that the ring does not have.
    pub fn at_level(&self, level: usize) -> Result<Self, RingError> {
        let highest = self.level();
        match level {
            _ if level == highest => Ok(self.clone()),
            _ if (1..highest).contains(&level) => self.without_limbs(level),
            _ => Err(RingError::NoSuchLevel { got: level, highest }),
        }
    }

    fn with(&self, modulus: FermatModulus, options: (Shortcuts, Products), limbs: Option<Limbs>) -> Self {
        Self::assemble(self.0.index.clone(), modulus, options, Arc::clone(&self.0.shared), limbs)
    }

    /// Modulus 2^g − 1 of the ring, without the primes beside it.
    #[must_use]
    pub fn fermat_modulus(&self) -> &FermatModulus {
        &self.0.modulus
    }

    /// Shortcuts of the ring in products with (q/q_i)^-1.
    #[must_use]
    pub fn shortcuts(&self) -> Shortcuts {
        self.0.shortcuts
    }

    /// Factors (q/q_i)^-1 of the ring, one for each component.
    #[must_use]
    pub fn cofactors(&self) -> &[InverseCofactor] {
        &self.0.cofactors
    }

    /// Returns the number of word-size primes that a product modulo each component takes.
    ///
    /// # Errors
    /// [`RingError::Math`] if there are not enough primes.
    pub fn product_primes(&self) -> Result<Vec<usize>, RingError> {
        (0..self.0.modulus.level()).map(|i| Ok(self.0.word_products(i)?.plans().len())).collect()
    }

    /// Returns the n residues of a polynomial modulo the component at a position.
    ///
    /// # Errors
    /// [`RingError::ShapeMismatch`]; [`RingError::NoSuchLevel`] for a position without a component.
    pub fn component_residues<'a>(&self, a: &'a Residues, position: usize) -> Result<&'a [u64], RingError> {
        let a = self.residues(a)?;
        let highest = self.0.modulus.level();
        let range = self.ranges().nth(position).map(|(_, _, range)| range);
        let part = range.and_then(|range| a.words.get(range));
        part.ok_or(RingError::NoSuchLevel { got: position + 1, highest })
    }

    pub(crate) fn shape(&self) -> Shape {
        let limbs = self.0.limbs.as_ref().map_or(0, |limbs| limbs.basis().len());
        Shape { degree: self.0.degree, limbs: self.0.modulus.level() + limbs }
    }

    /// Returns the residues of a polynomial of this ring over 2^g − 1.
    pub(crate) fn residues<'a>(&self, a: &'a Residues) -> Result<&'a FermatResidues, RingError> {
        self.check(a)?;
        a.content()
    }

    /// Returns the residues of a polynomial of this ring over 2^g − 1, to be changed.
    pub(crate) fn residues_mut<'a>(&self, a: &'a mut Residues) -> Result<&'a mut FermatResidues, RingError> {
        self.check(a)?;
        a.content_mut()
    }

    /// Makes the polynomial of this ring with these residues.
    pub(crate) fn wrap<P: From<Residues>>(&self, residues: FermatResidues) -> P {
        Residues::of_content(residues, self.shape(), self.0.tag).into()
    }

    pub(crate) fn empty(&self) -> FermatResidues {
        let inner = &*self.0;
        let words = inner.modulus.components().iter().map(|c| c.len()).sum::<usize>();
        let limbs = inner.limbs.as_ref().map_or(0, |limbs| limbs.basis().len());
        FermatResidues {
            words: CachedWords::zero(inner.degree * words),
            limbs: vec![0; inner.degree * limbs],
        }
    }

    /// Returns the residues of n integers, as coefficients of a polynomial.
    pub(crate) fn reduced(&self, integers: &[BigUint]) -> FermatResidues {
        let mut poly = self.empty();
        let words: Vec<Vec<u64>> = integers.iter().map(|x| x.iter_u64_digits().collect()).collect();
        for (component, residues) in self.0.parts_mut(&mut poly.words) {
            for (residue, x) in residues.chunks_exact_mut(component.len()).zip(&words) {
                component.reduce(residue, x);
            }
        }
        if let Some(limbs) = &self.0.limbs {
            limbs.reduce(&mut poly.limbs, self.0.degree, integers);
        }
        poly
    }

    /// Returns the residues of n integers in a representation of polynomials.
    pub(crate) fn represented(
        &self,
        integers: &[BigUint],
        representation: Representation,
    ) -> Result<FermatResidues, RingError> {
        let mut poly = self.reduced(integers);
        if representation == Representation::Values {
            self.forward(&mut poly)?;
        }
        Ok(poly)
    }

    /// Returns the coefficients of a polynomial as integers in [0, q), from either representation.
    pub(crate) fn coefficients(
        &self,
        a: &FermatResidues,
        representation: Representation,
    ) -> Result<Vec<BigUint>, RingError> {
        if representation == Representation::Values && self.0.limbs.is_some() {
            let mut a = a.clone();
            self.inverse(&mut a)?;
            return self.integers(&a);
        }
        self.integers(a)
    }

    /// Returns the coefficients of a polynomial as integers in [0, q).
    pub(crate) fn integers(&self, a: &FermatResidues) -> Result<Vec<BigUint>, RingError> {
        let mut parts: Vec<_> =
            self.0.parts(&a.words).map(|(component, part)| part.chunks_exact(component.len())).collect();
        let mut integers = Vec::with_capacity(self.0.degree);
        for _ in 0..self.0.degree {
            integers.push(self.0.modulus.integer(parts.iter_mut().filter_map(Iterator::next)));
        }
        match &self.0.limbs {
            Some(limbs) => limbs.join(integers, &self.0.modulus.value(), &a.limbs),
            None => Ok(integers),
        }
    }

    /// Transforms a polynomial's limbs modulo primes; modulo 2^g − 1 nothing changes.
    pub(crate) fn forward(&self, a: &mut FermatResidues) -> Result<(), RingError> {
        if let Some(limbs) = &self.0.limbs {
            limbs.rows(&mut a.limbs).try_for_each(|(plan, limb)| plan.forward(limb))?;
        }
        Ok(())
    }

    /// Transforms a polynomial's limbs modulo primes back to coefficients.
    pub(crate) fn inverse(&self, a: &mut FermatResidues) -> Result<(), RingError> {
        if let Some(limbs) = &self.0.limbs {
            limbs.rows(&mut a.limbs).try_for_each(|(plan, limb)| plan.inverse(limb))?;
        }
        Ok(())
    }

    /// Returns the representative of an integer modulo q in [−q/2, q/2).
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
    /// Yields every component with its part of a polynomial's residues.
    pub(crate) fn parts<'a>(&'a self, residues: &'a [u64]) -> impl Iterator<Item = (Component, &'a [u64])> {
        let mut rest = residues;
        self.modulus.components().iter().map(move |&component| {
            let (part, others) = rest.split_at(rest.len().min(self.degree * component.len()));
            rest = others;
            (component, part)
        })
    }

    /// Yields every component with its part of a polynomial's residues, to write to.
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

    /// Returns the tables for products modulo the component at a position.
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

/// Returns a hash of the modulus 2^g − 1 and the primes beside it, which no ring over words has: against accidents, not against attackers.
pub(crate) fn tag_of(modulus: &FermatModulus, primes: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    ("2^g - 1", modulus.bits(), modulus.smallest(), primes).hash(&mut hasher);
    hasher.finish()
}
