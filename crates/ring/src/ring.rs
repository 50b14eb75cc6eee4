//! The word-size RNS ring.

mod build;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_kernels::{Isa, Modulus};
use sunzi_math::RingIndex;

use crate::automorphism::{self, AutomorphismTables, ValueSources};
use crate::division::{self, Division, Factor, Route};
use crate::error::{check_automorphism, check_level, check_shape, entry, part};
use crate::integers::{self, residue_of};
use crate::ladder::{Ladder, is_prefix};
use crate::once::get_or_try_init;
use crate::parallel::{Parallelism, Work, groups, on_pool};
use crate::poly_ring::Factors;
use crate::raise::{self, Raise};
use crate::scratch::Scratch;
use crate::transform::{Plan, Transform};
use crate::{
    Basis, Coefficient, Domain, Evaluation, GadgetOptions, Poly, PolyRing, RingError, RnsGadget, RnsScaler,
    ScalerOptions, Shape, combination, horner, masking, monomial, plaintext, tensor,
};

/// R_q for q = q_1⋯q_k, one residue a word; cheap to clone.
///
/// ```
/// use sunzi_ring::{PolyRing, Ring};
/// use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
///
/// let m = 2048;
/// let ring = Ring::new(m, &primes_below(DEFAULT_PRIME_BOUND, m, 3)?)?;
/// let mut coefficients = vec![0; ring.degree()];
/// coefficients[ring.degree() - 1] = 5;
/// let a = ring.to_evaluation(ring.from_signed(&coefficients)?)?;
/// let mut square = a.clone();
/// ring.mul_assign(&mut square, &a)?;
/// // (5·X^(n−1))² = −25·X^(n−2).
/// let square = ring.to_integers(&ring.to_coefficient(square)?)?;
/// assert_eq!(square[ring.degree() - 2], (-25).into());
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone)]
pub struct Ring(Arc<Inner>);

struct Inner {
    index: Arc<RingIndex>,
    degree: usize,
    basis: Basis,
    transform: Transform,
    /// By degree alone: shared by all rings made from one.
    automorphisms: Arc<AutomorphismTables>,
    ladder: Arc<Ladder>,
    /// The level that this ring is.
    level: usize,
    /// By level, the lowest first.
    lower: Vec<Lower>,
}

/// What leads to a lower level and back up, made at first use.
#[derive(Default)]
struct Lower {
    ring: OnceLock<Ring>,
    division: OnceLock<Division>,
    raise: OnceLock<Raise>,
}

impl Ring {
    /// How work is shared among threads.
    #[must_use]
    pub fn parallelism(&self) -> Parallelism {
        self.transform().parallelism()
    }

    /// The instruction set asked for; limbs whose moduli it cannot take run on the portable one.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.basis().isa()
    }

    /// The moduli and their constants.
    #[must_use]
    pub fn basis(&self) -> &Basis {
        &self.0.basis
    }

    /// Degree and number of limbs of a polynomial of this ring.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape { degree: self.0.degree, limbs: self.0.basis.len() }
    }

    /// Where the coefficients of a(X^k) come from.
    pub(crate) fn coefficient_sources(&self, k: u64) -> Result<Arc<[u32]>, RingError> {
        check_automorphism(k, self.index())?;
        Ok(self.0.automorphisms.get(self, k, false))
    }

    /// Where the values of a(X^k) come from.
    pub(crate) fn value_sources(&self, k: u64) -> Result<ValueSources, RingError> {
        check_automorphism(k, self.index())?;
        Ok(ValueSources::new(self, &self.0.automorphisms, k))
    }

    /// A polynomial of arbitrary content, for those who write every word.
    pub(crate) fn arbitrary<D: Domain>(&self) -> Poly<D> {
        let Shape { degree, limbs } = self.shape();
        Poly::new(Scratch::new(degree * limbs), degree, self.basis().tag())
    }

    pub(crate) fn plans(&self) -> &[Arc<Plan>] {
        self.0.transform.plans()
    }

    /// The transform of limb i, where it must be.
    pub(crate) fn plan(&self, i: usize) -> Result<&Plan, RingError> {
        self.transform().plan(i)
    }

    pub(crate) fn transform(&self) -> &Transform {
        &self.0.transform
    }

    pub(crate) fn check<D: Domain>(&self, a: &Poly<D>) -> Result<(), RingError> {
        self.check_basis(a.shape(), a.tag())
    }

    /// [`check`](Self::check) for whatever has the shape and the tag of a polynomial.
    pub(crate) fn check_basis(&self, shape: Shape, tag: u64) -> Result<(), RingError> {
        check_shape(self.shape(), shape)?;
        if tag == self.basis().tag() { Ok(()) } else { Err(RingError::OtherModulus { shape: self.shape() }) }
    }

    /// Tables of a lower level.
    fn lower(&self, level: usize) -> Result<&Lower, RingError> {
        let missing = RingError::NoSuchLevel { got: level, highest: self.0.level };
        self.0.lower.get(level.wrapping_sub(1)).ok_or(missing)
    }

    /// Which moduli every level has.
    pub(crate) fn ladder(&self) -> &Ladder {
        &self.0.ladder
    }

    /// Where the limbs of level `to` stand in polynomials of another.
    ///
    /// # Errors
    /// [`RingError::NoSuchLevel`] above level `from`; [`RingError::NotNested`].
    pub(crate) fn nested(&self, to: usize, from: usize) -> Result<Vec<usize>, RingError> {
        check_level(to, from)?;
        self.0.ladder.nested(to, from)
    }

    /// For what needs level l to have the first l moduli.
    pub(crate) fn check_prefixes(&self) -> Result<(), RingError> {
        if self.ladder().is_of_prefixes() {
            return Ok(());
        }
        let expected = "the first moduli, for scale-invariant products and digits of a radix";
        Err(RingError::out_of_range("moduli of a level", expected, "other sets of them"))
    }

    /// The division that leads to a lower level.
    pub(crate) fn division(&self, level: usize) -> Result<&Division, RingError> {
        get_or_try_init(&self.lower(level)?.division, || {
            let (ladder, targets) = (self.ladder(), self.ladder().plans(level));
            let route = Route::new(ladder.limbs(level), ladder.limbs(self.0.level));
            let groups = groups(0..targets.len());
            Division::new(self.plans(), &targets, route, groups, self.isa(), Factor::One, self.parallelism())
        })
    }

    /// Applies `f` to every part of a with its limb, modulus and range of coefficients.
    pub(crate) fn for_each_modulus<D: Domain>(
        &self,
        a: &mut Poly<D>,
        f: impl Fn(usize, Modulus, Range<usize>, &mut [u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.parallelism().for_each_part([a.words_mut()], self.0.degree, |i, range, [part]| {
            f(i, self.basis().own(i)?, range, part)
        })
    }

    /// Applies `f` to every part of a with its modulus and that part of b.
    fn zip_assign<D: Domain>(
        &self,
        a: &mut Poly<D>,
        b: &Poly<D>,
        f: impl Fn(Modulus, &mut [u64], &[u64]) -> Result<(), RingError> + Send + Sync,
    ) -> Result<(), RingError> {
        self.check(b)?;
        self.for_each_modulus(a, |i, modulus, range, part| f(modulus, part, b.part(i, range)?))
    }
}

/// The limbs of a at these places, one after the other.
pub(crate) fn gathered<D: Domain>(a: &Poly<D>, places: &[usize]) -> Result<Scratch, RingError> {
    let n = a.shape().degree;
    let mut words = Scratch::new(places.len() * n);
    for (to, &place) in words.chunks_exact_mut(n.max(1)).zip(places) {
        to.copy_from_slice(a.own_limb(place)?);
    }
    Ok(words)
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("index", &self.index())
            .field("degree", &self.0.degree)
            .field("moduli", &self.basis().values())
            .finish()
    }
}

impl PolyRing for Ring {
    type Poly<D: Domain> = Poly<D>;
    type Scaler = RnsScaler;
    type Gadget = RnsGadget;

    fn ring_index(&self) -> &RingIndex {
        &self.0.index
    }

    fn modulus(&self) -> &BigUint {
        self.basis().product()
    }

    fn level(&self) -> usize {
        self.0.level
    }

    fn is_nested(&self, lower: usize, higher: usize) -> bool {
        self.nested(lower, higher).is_ok()
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        if level == self.level() {
            return Ok(self.clone());
        }
        get_or_try_init(&self.lower(level)?.ring, || self.derive(Arc::clone(&self.0.ladder), level)).cloned()
    }

    fn level_of<D: Domain>(&self, a: &Poly<D>) -> Result<usize, RingError> {
        let (ladder, Shape { degree, limbs }) = (self.ladder(), a.shape());
        let mismatch = RingError::ShapeMismatch { expected: self.shape(), got: a.shape() };
        match ladder.level_of(a.tag(), self.0.level) {
            _ if degree != self.0.degree => Err(mismatch),
            Some(level) if ladder.limbs(level).len() == limbs => Ok(level),
            _ if ladder.has_length(limbs, self.0.level) => Err(RingError::OtherModulus { shape: a.shape() }),
            _ => Err(mismatch),
        }
    }

    fn restrict<D: Domain>(&self, a: &Poly<D>, level: usize) -> Result<Poly<D>, RingError> {
        let places = self.nested(level, self.level_of(a)?)?;
        let (n, tag) = (self.0.degree, self.ladder().tag(level)?);
        if is_prefix(&places) {
            let words = part("limb of a polynomial", a.words(), 0..places.len() * n, places.len())?;
            return Ok(Poly::new(Scratch::from_slice(words), n, tag));
        }
        Ok(Poly::new(gathered(a, &places)?, n, tag))
    }

    fn mul_restricted_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        let level = self.level_of(a)?;
        let places = self.nested(level, self.level_of(b)?)?;
        let plans = self.ladder().plans(level);
        self.parallelism().for_each_part([a.words_mut()], self.0.degree, |i, range, [part]| {
            let (plan, &place) = (entry("transform", &plans, i)?, entry("place", &places, i)?);
            Ok(plan.modulus().mul_assign(part, b.part(place, range)?)?)
        })
    }

    fn mul_add_restricted(
        &self,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
        c: &Poly<Evaluation>,
        level: usize,
    ) -> Result<Poly<Evaluation>, RingError> {
        horner::mul_add(self, [a, b, c], level)
    }

    fn mod_switch(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        division::switch_down(self, a, None, level)
    }

    fn mod_switch_all(
        &self,
        polys: &[&Poly<Evaluation>],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        let words = polys.iter().map(|a| a.words().len()).sum();
        on_pool(words, || {
            self.parallelism().map(Work::Transform, words, polys, |a| self.mod_switch(a, level))
        })
    }

    fn mod_switch_sum(
        &self,
        a: &Poly<Evaluation>,
        b: &Poly<Coefficient>,
        level: usize,
    ) -> Result<Poly<Evaluation>, RingError> {
        division::switch_down(self, a, Some(b), level)
    }

    fn masked<G: CryptoRng + ?Sized>(
        &self,
        parts: [&Poly<Evaluation>; 2],
        message: Option<&Poly<Coefficient>>,
        level: usize,
        rng: &mut G,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        masking::by_limbs(self, parts, message, level, rng)
    }

    fn divide_by_factor(
        &self,
        a: &Poly<Evaluation>,
        d: u64,
        rest: u64,
    ) -> Result<Poly<Evaluation>, RingError> {
        crate::factor::divide_residues(self, a, d, rest)
    }

    fn scale_up(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        raise::scale_up(self, a)
    }

    fn mod_raise(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        match self.level_of(a)? {
            level if level == self.level() => Ok(a.clone()),
            level => get_or_try_init(&self.lower(level)?.raise, || Raise::new(self, level))?.apply(self, a),
        }
    }

    fn zero<D: Domain>(&self) -> Poly<D> {
        let Shape { degree, limbs } = self.shape();
        Poly::new(Scratch::zeroed(degree * limbs), degree, self.basis().tag())
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError> {
        integers::from_signed(self, coefficients)
    }

    fn from_signed_wide(&self, coefficients: &[i128]) -> Result<Poly<Coefficient>, RingError> {
        integers::from_signed_wide(self, coefficients)
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<Poly<Coefficient>, RingError> {
        integers::from_integers(self, coefficients)
    }

    fn to_integers(&self, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        integers::to_integers(self, a)
    }

    fn to_floats(&self, a: &Poly<Coefficient>) -> Result<Vec<f64>, RingError> {
        integers::to_floats(self, a)
    }

    /// A function of 32 bytes of `rng`: limb i comes from the stream ("uniform limb", i) of that seed.
    fn uniform<G: CryptoRng + ?Sized>(&self, rng: &mut G) -> Poly<Evaluation> {
        integers::uniform(self, rng)
    }

    fn byte_len<D: Domain>(a: &Poly<D>) -> usize {
        size_of_val(a.words())
    }

    fn to_evaluation(&self, mut a: Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError> {
        self.check(&a)?;
        self.transform().forward(a.words_mut())?;
        Ok(a.relabel())
    }

    fn to_coefficient(&self, mut a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.check(&a)?;
        self.transform().inverse(a.words_mut())?;
        Ok(a.relabel())
    }

    fn add_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) -> Result<(), RingError> {
        self.zip_assign(a, b, |modulus, a, b| Ok(modulus.add_assign(a, b)?))
    }

    fn sub_assign<D: Domain>(&self, a: &mut Poly<D>, b: &Poly<D>) -> Result<(), RingError> {
        self.zip_assign(a, b, |modulus, a, b| Ok(modulus.sub_assign(a, b)?))
    }

    fn neg_assign<D: Domain>(&self, a: &mut Poly<D>) -> Result<(), RingError> {
        self.for_each_modulus(a, |_, modulus, _, part| {
            modulus.neg_assign(part);
            Ok(())
        })
    }

    fn mul_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        self.zip_assign(a, b, |modulus, a, b| Ok(modulus.mul_assign(a, b)?))
    }

    fn mul_add_assign(
        &self,
        acc: &mut Poly<Evaluation>,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.check(b)?;
        self.for_each_modulus(acc, |i, modulus, range, acc| {
            Ok(modulus.mul_add_assign(acc, a.part(i, range.clone())?, b.part(i, range)?)?)
        })
    }

    fn tensor(
        &self,
        a: [&Poly<Evaluation>; 2],
        b: [&Poly<Evaluation>; 2],
        t: u64,
    ) -> Result<[Poly<Evaluation>; 3], RingError> {
        tensor::tensor(self, a, b, t, self.level())
    }

    fn tensor_at(
        &self,
        a: [&Poly<Evaluation>; 2],
        b: [&Poly<Evaluation>; 2],
        t: u64,
        level: usize,
    ) -> Result<[Poly<Evaluation>; 3], RingError> {
        tensor::tensor(self, a, b, t, level)
    }

    fn inner_products(
        &self,
        lists: &[Factors<'_, Self>],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        tensor::inner_products(self, lists, level)
    }

    fn mul_integer_assign<D: Domain>(&self, a: &mut Poly<D>, c: &BigInt) -> Result<(), RingError> {
        self.for_each_modulus(a, |_, modulus, _, part| {
            Ok(modulus.mul_scalar_assign(part, residue_of(c, modulus.value()))?)
        })
    }

    fn linear_combination<D: Domain>(
        &self,
        terms: &[(&BigInt, &Poly<D>)],
        level: usize,
    ) -> Result<Poly<D>, RingError> {
        combination::sum(self, terms, level)
    }

    fn add_linear_combination_assign<D: Domain>(
        &self,
        a: &mut Poly<D>,
        terms: &[(&BigInt, &Poly<D>)],
    ) -> Result<(), RingError> {
        combination::combine(self, a, terms, true)
    }

    fn add_integer_assign(&self, a: &mut Poly<Evaluation>, c: &BigInt) -> Result<(), RingError> {
        integers::add(self, a, c)
    }

    fn mul_monomial_assign(&self, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
        monomial::multiply(self, a, exponent)
    }

    fn automorphism<D: Domain>(&self, a: &Poly<D>, k: u64) -> Result<Poly<D>, RingError> {
        automorphism::apply(self, a, k)
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError> {
        plaintext::scale_plaintext(self, message, t)
    }

    fn scaler(&self, t: u64, options: &ScalerOptions) -> Result<RnsScaler, RingError> {
        self.check_prefixes()?;
        RnsScaler::new(self, t, options)
    }

    fn gadget(&self, options: &GadgetOptions) -> Result<RnsGadget, RingError> {
        RnsGadget::new(self, options)
    }

    fn decryption_scaler(&self, t: u64) -> Result<RnsScaler, RingError> {
        RnsScaler::new(&self.of_plans(self.plans().to_vec())?, t, &ScalerOptions::default())
    }
}
