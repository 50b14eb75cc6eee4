//! The ring with big-integer coefficients.

use std::marker::PhantomData;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::Zero;
use rand_core::CryptoRng;
use sunzi_math::RingIndex;

use super::product::{self, Residues};
use super::{BigGadget, BigPoly, BigScaler};
use crate::error::{
    check_automorphism, check_length, check_level, check_plaintext_modulus, check_shape, supported_index,
};
use crate::ladder::check_products;
use crate::{Coefficient, Domain, Evaluation, GadgetOptions, PolyRing, RingError, ScalerOptions, Shape};

/// R_q for any modulus q ≥ 2 and any ring index m, over multi-precision integers.
///
/// Both domains store coefficients: the transform is the identity and `mul_assign` convolves.
///
/// ```
/// use num_bigint::BigInt;
/// use sunzi_ring::{BigRing, PolyRing};
///
/// let ring = BigRing::new(8, &1_000_003_u32.into())?;
/// let x = ring.from_signed(&[0, 1, 0, 0])?;
/// let mut a = ring.to_evaluation(ring.from_signed(&[1, 2, 3, 4])?)?;
/// ring.mul_assign(&mut a, &ring.to_evaluation(x)?)?;
/// let product = ring.to_integers(&ring.to_coefficient(a)?)?;
/// assert_eq!(product, [-4, 1, 2, 3].map(BigInt::from));
/// # Ok::<(), sunzi_ring::RingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BigRing {
    index: Arc<RingIndex>,
    /// What the Q_l are products of.
    moduli: Arc<[BigUint]>,
    /// The indices of the moduli of every level, ascending.
    rungs: Arc<[Vec<usize>]>,
    /// Q_1, Q_2, …, Q_k.
    chain: Arc<[Arc<BigUint>]>,
    level: usize,
    modulus: Arc<BigUint>,
}

impl BigRing {
    /// The ring of index m, of degree 2 to 2^17, modulo q.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::Math`] for m = 2 mod 4; [`RingError::OutOfRange`] for q < 2.
    pub fn new(m: u64, q: &BigUint) -> Result<Self, RingError> {
        Self::with_chain(m, std::slice::from_ref(q))
    }

    /// The ring modulo q_1⋯q_k, whose levels are those of these moduli in order.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::LengthMismatch`] without moduli; [`RingError::OutOfRange`] for one
    /// below 2.
    pub fn with_chain(m: u64, moduli: &[BigUint]) -> Result<Self, RingError> {
        let rungs: Vec<Vec<usize>> = (1..=moduli.len()).map(|level| (0..level).collect()).collect();
        Self::with_rungs(m, moduli, &rungs)
    }

    /// The ring whose level l is modulo the product of the moduli with the indices `rungs[l − 1]`, as in
    /// [`Ring::with_rungs`](crate::Ring::with_rungs).
    ///
    /// # Errors
    /// As [`with_chain`](Self::with_chain); [`RingError::OutOfRange`] for rungs of other numbers or whose products do not ascend, and unless
    /// the last has all moduli.
    pub fn with_rungs(m: u64, moduli: &[BigUint], rungs: &[Vec<usize>]) -> Result<Self, RingError> {
        let index = Arc::new(supported_index(m)?);
        if let Some(q) = moduli.iter().find(|q| q.bits() < 2) {
            return Err(RingError::out_of_range("modulus", "at least 2", q));
        }
        check_products(moduli, rungs)?;
        let product =
            |limbs: &Vec<usize>| Arc::new(limbs.iter().filter_map(|&limb| moduli.get(limb)).product());
        let chain: Arc<[Arc<BigUint>]> = rungs.iter().map(product).collect();
        let Some(modulus) = chain.last().cloned() else {
            return Err(RingError::LengthMismatch {
                what: "moduli of a chain (at least)",
                expected: 1,
                got: 0,
            });
        };
        Ok(Self { index, moduli: moduli.into(), rungs: rungs.into(), level: chain.len(), chain, modulus })
    }

    /// What the moduli of all levels are products of.
    pub(super) fn moduli(&self) -> &[BigUint] {
        &self.moduli
    }

    /// The indices of those of a level.
    pub(super) fn limbs(&self, level: usize) -> &[usize] {
        level.checked_sub(1).and_then(|below| self.rungs.get(below)).map_or(&[], |limbs| limbs)
    }

    /// The levels up to this one, and one more for each of these moduli.
    pub(super) fn extended(&self, others: &[BigUint]) -> Result<Self, RingError> {
        let own = self.limbs(self.level);
        // Without what only higher levels have.
        let moduli: Vec<BigUint> = self.moduli.iter().chain(others).cloned().collect();
        let mut rungs: Vec<Vec<usize>> = self.rungs.iter().take(self.level).cloned().collect();
        for count in 1..=others.len() {
            rungs.push(own.iter().copied().chain((self.moduli.len()..).take(count)).collect());
        }
        let product =
            |limbs: &Vec<usize>| Arc::new(limbs.iter().filter_map(|&limb| moduli.get(limb)).product());
        let chain: Arc<[Arc<BigUint>]> = rungs.iter().map(product).collect();
        let modulus = chain.last().map_or_else(|| Arc::clone(&self.modulus), Arc::clone);
        let level = chain.len();
        Ok(Self { moduli: moduli.into(), rungs: rungs.into(), level, chain, modulus, ..self.clone() })
    }

    /// Fails unless level `lower` is there and nested in level `higher`.
    pub(super) fn check_nested(&self, lower: usize, higher: usize) -> Result<(), RingError> {
        check_level(lower, higher)?;
        let within = self.limbs(higher);
        if self.limbs(lower).iter().all(|limb| within.contains(limb)) {
            return Ok(());
        }
        Err(RingError::NotNested { level: lower, within: higher })
    }

    /// Q_l.
    fn modulus_at(&self, level: usize) -> Result<&Arc<BigUint>, RingError> {
        check_level(level, self.level)?;
        let missing = RingError::NoSuchLevel { got: level, highest: self.level };
        self.chain.get(level.wrapping_sub(1)).ok_or(missing)
    }

    /// Level j of a, Q_j and Q_l.
    fn between<D: Domain>(&self, a: &BigPoly<D>, level: usize) -> Result<[&Arc<BigUint>; 2], RingError> {
        let from = self.level_of(a)?;
        check_level(level, from)?;
        Ok([self.modulus_at(from)?, self.modulus_at(level)?])
    }

    fn shape(&self) -> Shape {
        let bits = usize::try_from(self.modulus.bits()).unwrap_or(usize::MAX);
        Shape { degree: self.degree(), limbs: bits }
    }

    pub(super) fn check<D: Domain>(&self, a: &BigPoly<D>) -> Result<(), RingError> {
        check_shape(self.shape(), a.shape())?;
        if a.modulus == self.modulus { Ok(()) } else { Err(RingError::OtherModulus { shape: self.shape() }) }
    }

    fn wrap<D: Domain>(&self, coefficients: Vec<BigUint>) -> BigPoly<D> {
        BigPoly { coefficients, modulus: Arc::clone(&self.modulus), domain: PhantomData }
    }

    fn reduce(&self, x: &BigInt) -> BigUint {
        let q = BigInt::from_biguint(Sign::Plus, (*self.modulus).clone());
        x.mod_floor(&q).into_parts().1
    }

    /// The representative in [-q/2, q/2).
    pub(super) fn center(&self, x: &BigUint) -> BigInt {
        let lifted = BigInt::from_biguint(Sign::Plus, x.clone());
        if (x << 1_u32) >= *self.modulus {
            lifted - BigInt::from_biguint(Sign::Plus, (*self.modulus).clone())
        } else {
            lifted
        }
    }

    /// Applies `f` to the pairs of coefficients and reduces.
    fn zip_assign<D: Domain>(
        &self,
        a: &mut BigPoly<D>,
        b: &BigPoly<D>,
        f: impl Fn(&BigUint, &BigUint) -> BigUint,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.check(b)?;
        for (x, y) in a.coefficients.iter_mut().zip(&b.coefficients) {
            *x = f(x, y) % &*self.modulus;
        }
        Ok(())
    }

    fn product(
        &self,
        a: &BigPoly<Evaluation>,
        b: &BigPoly<Evaluation>,
    ) -> Result<BigPoly<Evaluation>, RingError> {
        self.check(a)?;
        self.check(b)?;
        Ok(self.wrap(product::cyclotomic(&self.index, &a.coefficients, &b.coefficients, &self.modulus)?))
    }
}

impl PolyRing for BigRing {
    type Poly<D: Domain> = BigPoly<D>;
    type Scaler = BigScaler;
    type Gadget = BigGadget;

    fn ring_index(&self) -> &RingIndex {
        &self.index
    }

    fn modulus(&self) -> &BigUint {
        &self.modulus
    }

    fn level(&self) -> usize {
        self.level
    }

    fn is_nested(&self, lower: usize, higher: usize) -> bool {
        higher <= self.level && self.check_nested(lower, higher).is_ok()
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        let modulus = Arc::clone(self.modulus_at(level)?);
        Ok(Self { level, modulus, ..self.clone() })
    }

    fn level_of<D: Domain>(&self, a: &BigPoly<D>) -> Result<usize, RingError> {
        let level = self.chain.iter().take(self.level).position(|modulus| *modulus == a.modulus);
        match level {
            Some(level) if a.coefficients.len() == self.degree() => Ok(level + 1),
            _ if a.shape() == self.shape() => Err(RingError::OtherModulus { shape: a.shape() }),
            _ => Err(RingError::ShapeMismatch { expected: self.shape(), got: a.shape() }),
        }
    }

    fn restrict<D: Domain>(&self, a: &BigPoly<D>, level: usize) -> Result<BigPoly<D>, RingError> {
        let [_, modulus] = self.between(a, level)?;
        self.check_nested(level, self.level_of(a)?)?;
        let coefficients = a.coefficients.iter().map(|x| x % &**modulus).collect();
        Ok(self.at_level(level)?.wrap(coefficients))
    }

    fn mul_restricted_assign(
        &self,
        a: &mut BigPoly<Evaluation>,
        b: &BigPoly<Evaluation>,
    ) -> Result<(), RingError> {
        let level = self.level_of(a)?;
        self.at_level(level)?.mul_assign(a, &self.restrict(b, level)?)
    }

    fn mod_switch(&self, a: &BigPoly<Evaluation>, level: usize) -> Result<BigPoly<Evaluation>, RingError> {
        let [from, to] = self.between(a, level)?;
        // ⌊x·Q_l/Q_j⌉: neither has a factor of the other to itself where levels are not nested.
        let half = &**from >> 1_u32;
        let coefficients = a.coefficients.iter().map(|x| (x * &**to + &half) / &**from % &**to).collect();
        Ok(self.at_level(level)?.wrap(coefficients))
    }

    fn mod_switch_sum(
        &self,
        a: &BigPoly<Evaluation>,
        b: &BigPoly<Coefficient>,
        level: usize,
    ) -> Result<BigPoly<Evaluation>, RingError> {
        let mut sum = a.clone();
        self.at_level(self.level_of(a)?)?.add_assign(&mut sum, &b.clone().relabel())?;
        self.mod_switch(&sum, level)
    }

    fn divide_by_factor(
        &self,
        a: &BigPoly<Evaluation>,
        d: u64,
        rest: u64,
    ) -> Result<BigPoly<Evaluation>, RingError> {
        crate::factor::divide_integers(self, a, d, rest)
    }

    fn scale_up(&self, a: &BigPoly<Evaluation>) -> Result<BigPoly<Evaluation>, RingError> {
        let level = self.level_of(a)?;
        self.check_nested(level, self.level)?;
        let factor = &*self.modulus / &**self.modulus_at(level)?;
        Ok(self.wrap(a.coefficients.iter().map(|x| x * &factor).collect()))
    }

    fn zero<D: Domain>(&self) -> BigPoly<D> {
        self.wrap(vec![BigUint::zero(); self.degree()])
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<BigPoly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        Ok(self.wrap(coefficients.iter().map(|&c| self.reduce(&c.into())).collect()))
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<BigPoly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        Ok(self.wrap(coefficients.iter().map(|c| self.reduce(c)).collect()))
    }

    fn to_integers(&self, a: &BigPoly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        self.check(a)?;
        Ok(a.coefficients.iter().map(|x| self.center(x)).collect())
    }

    fn uniform<G: CryptoRng + ?Sized>(&self, rng: &mut G) -> BigPoly<Evaluation> {
        let bits = self.modulus.bits();
        let mut bytes = vec![0_u8; usize::try_from(bits.div_ceil(8)).unwrap_or(0)];
        let excess = u32::try_from(bits.wrapping_neg() % 8).unwrap_or(0);
        let mut draw = || loop {
            rng.fill_bytes(&mut bytes);
            if let Some(top) = bytes.last_mut() {
                *top >>= excess;
            }
            // Rejection: the value is public.
            let candidate = BigUint::from_bytes_le(&bytes);
            if candidate < *self.modulus {
                return candidate;
            }
        };
        self.wrap((0..self.degree()).map(|_| draw()).collect())
    }

    /// As many bytes as the modulus has, n times; what the big-integer library adds is not counted.
    fn byte_len<D: Domain>(a: &BigPoly<D>) -> usize {
        let Shape { degree, limbs: bits } = a.shape();
        degree * bits.div_ceil(8)
    }

    fn to_evaluation(&self, a: BigPoly<Coefficient>) -> Result<BigPoly<Evaluation>, RingError> {
        self.check(&a)?;
        Ok(a.relabel())
    }

    fn to_coefficient(&self, a: BigPoly<Evaluation>) -> Result<BigPoly<Coefficient>, RingError> {
        self.check(&a)?;
        Ok(a.relabel())
    }

    fn add_assign<D: Domain>(&self, a: &mut BigPoly<D>, b: &BigPoly<D>) -> Result<(), RingError> {
        self.zip_assign(a, b, |x, y| x + y)
    }

    fn sub_assign<D: Domain>(&self, a: &mut BigPoly<D>, b: &BigPoly<D>) -> Result<(), RingError> {
        self.zip_assign(a, b, |x, y| x + &*self.modulus - y)
    }

    fn neg_assign<D: Domain>(&self, a: &mut BigPoly<D>) -> Result<(), RingError> {
        self.check(a)?;
        for x in &mut a.coefficients {
            *x = (&*self.modulus - &*x) % &*self.modulus;
        }
        Ok(())
    }

    fn mul_assign(&self, a: &mut BigPoly<Evaluation>, b: &BigPoly<Evaluation>) -> Result<(), RingError> {
        *a = self.product(a, b)?;
        Ok(())
    }

    fn mul_add_assign(
        &self,
        acc: &mut BigPoly<Evaluation>,
        a: &BigPoly<Evaluation>,
        b: &BigPoly<Evaluation>,
    ) -> Result<(), RingError> {
        let product = self.product(a, b)?;
        self.add_assign(acc, &product)
    }

    fn mul_integer_assign<D: Domain>(&self, a: &mut BigPoly<D>, c: &BigInt) -> Result<(), RingError> {
        self.check(a)?;
        let c = self.reduce(c);
        for x in &mut a.coefficients {
            *x = &*x * &c % &*self.modulus;
        }
        Ok(())
    }

    fn automorphism<D: Domain>(&self, a: &BigPoly<D>, k: u64) -> Result<BigPoly<D>, RingError> {
        self.check(a)?;
        check_automorphism(k, self.index())?;
        let mut image = vec![BigUint::zero(); self.index.redundant_len()];
        for (position, x) in a.coefficients.iter().enumerate() {
            let exponent = self.index.exponent(position) * k % self.index();
            let (position, negative) = self.index.redundant_position(exponent);
            if let Some(entry) = image.get_mut(position) {
                *entry = if negative { (&*self.modulus - x) % &*self.modulus } else { x.clone() };
            }
        }
        self.index.fold(&Residues(&self.modulus), &mut image)?;
        Ok(self.wrap(image))
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<BigPoly<Coefficient>, RingError> {
        check_length("plaintext", self.degree(), message.len())?;
        check_plaintext_modulus(t, 62)?;
        if let Some(&bad) = message.iter().find(|&&x| x >= t) {
            return Err(RingError::out_of_range("plaintext coefficient", format_args!("below t = {t}"), bad));
        }
        // ⌊x + 1/2⌋ of x = q·m/t; a half can only occur for t even.
        let half = t / 2;
        Ok(self.wrap(message.iter().map(|&m| (&*self.modulus * m + half) / t % &*self.modulus).collect()))
    }

    fn scaler(&self, t: u64, options: &ScalerOptions) -> Result<BigScaler, RingError> {
        BigScaler::new(self, t, options)
    }

    fn gadget(&self, options: &GadgetOptions) -> Result<BigGadget, RingError> {
        BigGadget::new(self, options)
    }
}
