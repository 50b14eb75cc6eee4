//! Ring of any index m with reductions of products modulo Φ_m.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use sunzi_kernels::Modulus;

use sunzi_ring::storage::{RoundedDivision, Scratch, Work, check_length, entry, get_or_try_init, part};
use sunzi_ring::{
    Backend, Basis, Coefficient, Domain, Evaluation, Parallelism, Poly, Representation, Residues, RingError,
    Shape,
};
use zeroize::{Zeroize, Zeroizing};

use crate::form::ReducedForm;
use crate::geometry::{Geometry, MontgomeryFactor};
use crate::{Reducer, Reduction};

/// Storage of R_q for any index m, by products of polynomials and a [`Reduction`] modulo Φ_m `[BEHMSZ17]`; cheap to clone.
/// [`Ring::of`](sunzi_ring::Ring::of) makes a ring of it, [`Ring::storage`](sunzi_ring::Ring::storage) returns it.
///
/// Sums of products in a ring with reductions modulo Φ_m are reduced once, when another operation than a sum
/// needs them. With [`Reduction::Montgomery`] a polynomial is stored times M = X^(N/2) + 1; inputs are
/// multiplied by M and outputs divided by it, but conversions between moduli round the stored polynomial, so
/// that their errors grow by M^-1.
///
/// ```
/// use sunzi_math::primes_with_bits;
/// use sunzi_ring::Ring;
/// use sunzi_univariate::{Reduction, UnivariateRing};
///
/// // Φ_15 has degree 8.
/// let storage = UnivariateRing::new(15, &primes_with_bits(62, 128, 2)?, Reduction::SparseBarrett)?;
/// let ring = Ring::of(storage);
/// let a = ring.to_evaluation(ring.from_signed(&[0, 0, 0, 0, 0, 0, 0, 1])?)?;
/// let mut square = a.clone();
/// ring.mul_assign(&mut square, &a)?;
/// // X^14 = X^-1 = −(X^7 − X^6 + X^4 − X^3 + X^2 − 1).
/// let square = ring.to_integers(&ring.to_coefficient(square)?)?;
/// assert_eq!(square, [1, 0, -1, 1, -1, 0, 1, -1].map(Into::into));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct UnivariateRing(Arc<Inner>);

struct Inner {
    geometry: Arc<Geometry>,
    reduction: Reduction,
    basis: Basis,
    reducers: Vec<Reducer>,
    /// Tables of the ring's levels, the lowest first.
    lower: Vec<Lower>,
}

#[derive(Default)]
pub(crate) struct Lower {
    pub(crate) ring: OnceLock<UnivariateRing>,
    pub(crate) switching: OnceLock<Switching>,
}

/// Tables of the division by D, the product of the moduli from a level on.
pub(crate) struct Switching {
    /// Ring modulo D; the next field is the ring of the level.
    pub(crate) divisor: UnivariateRing,
    pub(crate) target: UnivariateRing,
    pub(crate) division: RoundedDivision,
    /// Inverse D^-1 modulo every modulus that stays.
    pub(crate) inverses: Vec<u64>,
}

impl UnivariateRing {
    /// Makes the ring of index m modulo the product of these primes ≡ 1 (mod [`root_order`](Self::root_order)).
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for an index that is not supported; [`RingError::LengthMismatch`] without moduli;
    /// [`RingError::NotCoprime`]; [`RingError::Kernel`] for a modulus without a transform.
    pub fn new(m: u64, moduli: &[u64], reduction: Reduction) -> Result<Self, RingError> {
        Self::with_geometry(Arc::new(Geometry::new(m)?), Basis::new(moduli)?, reduction)
    }

    /// Returns the root order N, the power of two from 2φ(m) and at least 128: moduli are 1 modulo it.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for an index m that is not supported.
    pub fn root_order(m: u64) -> Result<u64, RingError> {
        Ok(Geometry::new(m)?.length as u64)
    }

    fn with_geometry(geometry: Arc<Geometry>, basis: Basis, reduction: Reduction) -> Result<Self, RingError> {
        let reducer = |&modulus: &Modulus| Reducer::with_geometry(&geometry, modulus, reduction);
        let reducers = basis.moduli().iter().map(reducer).collect::<Result<_, _>>()?;
        Ok(Self::assemble(geometry, basis, reducers, reduction))
    }

    fn assemble(geometry: Arc<Geometry>, basis: Basis, reducers: Vec<Reducer>, reduction: Reduction) -> Self {
        let lower = (1..basis.len()).map(|_| Lower::default()).collect();
        Self(Arc::new(Inner { geometry, reduction, basis, reducers, lower }))
    }

    /// Returns the ring of this index and reduction modulo other primes.
    pub(crate) fn with_moduli(&self, moduli: &[u64]) -> Result<Self, RingError> {
        let basis = Basis::with_isa(moduli, self.basis().isa())?;
        Self::with_geometry(Arc::clone(&self.0.geometry), basis, self.0.reduction)
    }

    /// Returns the ring modulo the product of the moduli of this ring and another one.
    pub(crate) fn concat(&self, other: &Self) -> Result<Self, RingError> {
        let moduli = self.basis().moduli().iter().chain(other.basis().moduli()).copied().collect();
        let reducers = self.0.reducers.iter().chain(&other.0.reducers).cloned().collect();
        let basis = Basis::from_moduli(moduli, self.basis().isa())?;
        Ok(Self::assemble(Arc::clone(&self.0.geometry), basis, reducers, self.0.reduction))
    }

    /// Returns the ring modulo the product of a range of its moduli.
    pub(crate) fn sub_ring(&self, range: std::ops::Range<usize>) -> Result<Self, RingError> {
        let moduli = part("modulus", self.basis().moduli(), range.clone(), range.start)?.to_vec();
        let reducers = part("reducer", &self.0.reducers, range.clone(), range.start)?.to_vec();
        let basis = Basis::from_moduli(moduli, self.basis().isa())?;
        Ok(Self::assemble(Arc::clone(&self.0.geometry), basis, reducers, self.0.reduction))
    }

    /// Returns this ring without the tables of its last modulus: a fault, which operations must report.
    pub(crate) fn without_last_reducer(&self) -> Self {
        let others = self.0.reducers.split_last().map_or(&[][..], |(_, others)| others);
        let (geometry, basis) = (Arc::clone(&self.0.geometry), self.basis().clone());
        Self::assemble(geometry, basis, others.to_vec(), self.0.reduction)
    }

    /// Reduction of the ring's products.
    #[must_use]
    pub fn reduction(&self) -> Reduction {
        self.0.reduction
    }

    /// Moduli of the ring and their constants.
    #[must_use]
    pub fn basis(&self) -> &Basis {
        &self.0.basis
    }

    /// Returns Montgomery's factor M and its inverse M^-1.
    ///
    /// # Errors
    /// [`RingError::OutOfRange`] for powers of two, where X^(N/2) + 1 is Φ_m or has a factor in common with it.
    pub fn montgomery_factor(&self) -> Result<&MontgomeryFactor, RingError> {
        self.0.geometry.check_factor()?;
        Ok(self.0.geometry.montgomery_factor())
    }

    /// Returns the norm ‖F_m‖∞ of `[BEHMSZ17, Lemma 4]`: the expansion factor is at most n times that.
    #[must_use]
    pub fn reduction_norm(&self) -> f64 {
        self.0.geometry.growth().norm
    }

    /// Returns a bound on the expansion factor δ, below that of `[BEHMSZ17, Lemma 4]`: coefficients of a
    /// product of two polynomials are at most δ times those of both.
    #[must_use]
    pub fn expansion_factor(&self) -> f64 {
        self.0.geometry.growth().worst
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.0.geometry
    }

    /// Returns the largest factor by which errors of stored polynomials grow in the polynomials they represent: 1, or that of a multiplication by M^-1.
    pub(crate) fn error_growth(&self) -> f64 {
        if self.0.reduction.keeps_factor() { self.0.geometry.montgomery_factor().growth } else { 1.0 }
    }

    /// Returns the number of words of a limb: n coefficients or N values.
    pub(crate) fn stride(&self, representation: Representation) -> usize {
        match representation {
            Representation::Values => self.0.geometry.length,
            Representation::Coefficients => self.0.geometry.degree,
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { degree: self.0.geometry.degree, limbs: self.basis().len() }
    }

    /// Returns the tag that distinguishes polynomials of a level.
    pub(crate) fn tag_at(&self, level: usize) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        (self.basis().tag_at(level)?, self.0.geometry.index, self.0.reduction.keeps_factor())
            .hash(&mut hasher);
        Some(hasher.finish())
    }

    pub(crate) fn tag(&self) -> u64 {
        self.tag_at(self.basis().len()).unwrap_or_default()
    }

    /// Makes the polynomial of this ring with these words, limb after limb.
    pub(crate) fn poly_of<D: Domain>(&self, words: &[u64], form: ReducedForm) -> Poly<D> {
        let mut residues = Residues::of_words(Scratch::from_slice(words), self.shape(), self.tag());
        form.mark(&mut residues);
        residues.into()
    }

    /// Makes a polynomial of this ring with arbitrary content, of which the caller writes every word.
    pub(crate) fn arbitrary<D: Domain>(&self) -> Poly<D> {
        let (stride, shape) = (self.stride(D::REPRESENTATION), self.shape());
        Residues::of_words(Scratch::new(stride * shape.limbs), shape, self.tag()).into()
    }

    /// Checks that a polynomial a is of this ring, in this representation.
    pub(crate) fn check_as(&self, a: &Residues, representation: Representation) -> Result<(), RingError> {
        self.check(a)?;
        check_length("words of a limb", self.stride(representation), a.stride())
    }

    /// Runs `f` for every limb of a polynomial with its reducer.
    pub(crate) fn for_each_limb(
        &self,
        work: Work,
        a: &mut Residues,
        f: impl Fn(usize, &Reducer, &mut [u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.check(a)?;
        let stride = a.stride();
        Parallelism::default().for_each_limb(work, a.words_mut(), stride, |i, limb| {
            f(i, entry("reducer", &self.0.reducers, i)?, limb)
        })
    }

    /// Runs `f` for every limb of a polynomial a with that of b.
    pub(crate) fn zip_assign(
        &self,
        a: &mut Residues,
        b: &Residues,
        f: impl Fn(Modulus, &mut [u64], &[u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.check(b)?;
        self.for_each_limb(Work::Elementwise, a, |i, reducer, limb| {
            f(reducer.modulus(), limb, b.own_limb(i)?)
        })
    }

    /// Returns the stored coefficients of a polynomial of any form.
    pub(crate) fn raw_coefficients(&self, a: &Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.check_as(a, Representation::Values)?;
        let (n, form) = (self.degree(), ReducedForm::of(a));
        let mut coefficients = self.arbitrary::<Coefficient>();
        self.for_each_limb(Work::Transform, &mut coefficients, |i, reducer, limb| {
            let mut values = Zeroizing::new(Scratch::from_slice(a.own_limb(i)?));
            match form {
                ReducedForm::Reduced => reducer.coefficients(&mut values)?,
                ReducedForm::Product => reducer.reduce(&mut values)?,
                ReducedForm::KeyProduct => reducer.divide_by_factor(&mut values)?,
            }
            limb.copy_from_slice(values.get(..n).unwrap_or_default());
            Ok(())
        })?;
        Ok(coefficients)
    }

    /// Returns the values of the polynomial with these stored coefficients.
    pub(crate) fn raw_values(&self, a: &Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError> {
        self.check_as(a, Representation::Coefficients)?;
        let n = self.degree();
        let mut values = self.arbitrary::<Evaluation>();
        self.for_each_limb(Work::Transform, &mut values, |i, reducer, limb| {
            let (low, high) = limb.split_at_mut_checked(n).unwrap_or_default();
            low.copy_from_slice(a.own_limb(i)?);
            high.fill(0);
            reducer.transform(limb)
        })?;
        Ok(values)
    }

    /// Returns a polynomial with its values reduced modulo Φ_m.
    pub(crate) fn reduced(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        match ReducedForm::of(a) {
            ReducedForm::Reduced => Ok(a.clone()),
            _ => self.raw_values(&Zeroizing::new(self.raw_coefficients(a)?)),
        }
    }

    /// Returns the polynomial [`reduced`](Self::reduced), without a copy of one that is reduced already.
    pub(crate) fn reduced_if_needed(
        &self,
        a: &Poly<Evaluation>,
    ) -> Result<Option<Poly<Evaluation>>, RingError> {
        if ReducedForm::of(a) == ReducedForm::Reduced { Ok(None) } else { self.reduced(a).map(Some) }
    }

    /// Reduces a polynomial in place, as [`reduced`](Self::reduced) does.
    pub(crate) fn reduce_assign(&self, a: &mut Poly<Evaluation>) -> Result<(), RingError> {
        if ReducedForm::of(a) != ReducedForm::Reduced {
            let reduced = self.reduced(a)?;
            a.zeroize();
            *a = reduced;
        }
        Ok(())
    }

    /// Whether values of this form are divided by M when they are reduced.
    fn divides(&self, form: ReducedForm) -> bool {
        form == ReducedForm::KeyProduct || form == ReducedForm::Product && self.0.reduction.keeps_factor()
    }

    /// Brings a polynomial to the form of its sum with one of `form`: that form, or one of which it is a part.
    pub(crate) fn prepare_sum(&self, a: &mut Poly<Evaluation>, form: ReducedForm) -> Result<(), RingError> {
        if ReducedForm::of(a) == form || form == ReducedForm::Reduced {
            return Ok(());
        }
        self.reduce_assign(a)?;
        if self.divides(form) {
            self.for_each_limb(Work::Elementwise, a, |_, reducer, limb| {
                reducer.multiply_by_factor(limb, false)
            })?;
        }
        form.mark(a);
        Ok(())
    }

    /// Multiplies the stored coefficients by M, or divides them by it: between the stored polynomial and the one it represents.
    pub(crate) fn with_factor(
        &self,
        mut a: Poly<Coefficient>,
        multiply: bool,
    ) -> Result<Poly<Coefficient>, RingError> {
        if !self.0.reduction.keeps_factor() {
            return Ok(a);
        }
        let (n, length) = (self.degree(), self.0.geometry.length);
        self.for_each_limb(Work::Transform, &mut a, |_, reducer, limb| {
            let mut values = Zeroizing::new(Scratch::zeroed(length));
            values.get_mut(..n).unwrap_or_default().copy_from_slice(limb);
            reducer.transform(&mut values)?;
            if multiply {
                reducer.multiply_by_factor(&mut values, true)?;
            }
            reducer.divide_by_factor(&mut values)?;
            limb.copy_from_slice(values.get(..n).unwrap_or_default());
            Ok(())
        })?;
        Ok(a)
    }

    /// Returns the image a(X^k) for stored coefficients.
    pub(crate) fn substitute(&self, a: Poly<Coefficient>, k: u64) -> Result<Poly<Coefficient>, RingError> {
        let (n, m) = (self.degree(), self.0.geometry.index);
        let length = m.max(self.0.geometry.length);
        let mut image = self.with_factor(a, false)?;
        self.for_each_limb(Work::Transform, &mut image, |_, reducer, limb| {
            let mut powers = Zeroizing::new(Scratch::zeroed(length));
            let mut exponent = 0;
            for &c in limb.iter() {
                powers.iter_mut().skip(exponent).take(1).for_each(|power| *power = c);
                exponent = (exponent + k as usize) % m;
            }
            reducer.reduce_coefficients(&mut powers)?;
            limb.copy_from_slice(powers.get(..n).unwrap_or_default());
            Ok(())
        })?;
        self.with_factor(image, true)
    }

    /// Returns the ring at a lower level, or this one, with reductions modulo Φ_m.
    pub(crate) fn at_level(&self, level: usize) -> Result<Self, RingError> {
        if level == self.basis().len() {
            return Ok(self.clone());
        }
        get_or_try_init(&self.lower(level)?.ring, || self.sub_ring(0..level)).cloned()
    }

    /// Returns the tables of a lower level of the ring.
    pub(crate) fn lower(&self, level: usize) -> Result<&Lower, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.basis().len() };
        self.0.lower.get(level.wrapping_sub(1)).ok_or(missing)
    }

    /// Runs [`zip_assign`](Self::zip_assign) for sums and differences, whose terms may have different forms.
    pub(crate) fn add_or_subtract(
        &self,
        a: &mut Residues,
        b: &Residues,
        f: impl Fn(Modulus, &mut [u64], &[u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.check(b)?;
        let form = match [ReducedForm::of(a), ReducedForm::of(b)] {
            [left, right] if left == right => return self.zip_assign(a, b, f),
            [ReducedForm::Reduced, right] => right,
            [left, _] => left,
        };
        // Only values have a form.
        let (mut left, mut right) = (Poly::from(a.clone()), Poly::from(b.clone()));
        self.prepare_sum(&mut left, form)?;
        self.prepare_sum(&mut right, form)?;
        self.zip_assign(&mut left, &right, f)?;
        *a = left.into_residues();
        Ok(())
    }
}

impl fmt::Debug for UnivariateRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnivariateRing")
            .field("index", &self.0.geometry.index)
            .field("degree", &self.0.geometry.degree)
            .field("moduli", &self.basis().values())
            .field("reduction", &self.0.reduction)
            .finish()
    }
}
