//! Ring of the oracle, with big-integer coefficients.

use std::io::BufRead;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::Zero;
use rand_core::CryptoRng;
use sunzi_math::{RingIndex, ToRingIndex};
use sunzi_ring::storage::{
    check_automorphism, check_length, check_level, check_message, check_products, check_shape,
    supported_index, tag_of,
};
use sunzi_ring::{
    Append, Backend, Coefficient, Evaluation, PackingError, Poly, Representation, Residues, Ring, RingError,
    Shape, Storage,
};

use super::coefficients::Coefficients;
use super::product::{self, Reduced};

/// Storage of R_q for any modulus q ≥ 2 and any ring index m, over multi-precision integers.
///
/// Both domains of a big-integer ring store coefficients: the transform is the identity and `mul_assign`
/// convolves. The constructors make a [`Ring`] of this storage.
///
/// ```
/// use num_bigint::BigInt;
/// use sunzi_big::BigRing;
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
    /// Moduli of the big-integer ring, whose products are the Q_l.
    moduli: Arc<[BigUint]>,
    /// Indices of the moduli of every level of the ring, ascending.
    rungs: Arc<[Vec<usize>]>,
    /// Moduli of the ring's levels, Q_1, Q_2, …, Q_k.
    chain: Arc<[Arc<BigUint>]>,
    level: usize,
    modulus: Arc<BigUint>,
    tag: u64,
}

/// Returns the tag that distinguishes residues modulo q from those modulo other numbers and of other storages.
pub(super) fn tag(q: &BigUint) -> u64 {
    let words: Vec<u64> = std::iter::once(Storage::Big as u64).chain(q.iter_u64_digits()).collect();
    tag_of(&words)
}

impl BigRing {
    /// Makes the big-integer ring of index m, of degree 2 to 2^17, modulo q.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::Math`] for m = 2 mod 4; [`RingError::OutOfRange`] for q < 2.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a ring is what callers compute with, whatever stores its residues"
    )]
    pub fn new(m: impl ToRingIndex, q: &BigUint) -> Result<Ring, RingError> {
        Self::with_chain(m, std::slice::from_ref(q))
    }

    /// Makes the big-integer ring modulo q_1⋯q_k, whose levels are those of these moduli in order.
    ///
    /// # Errors
    /// [`RingError::UnsupportedIndex`]; [`RingError::LengthMismatch`] without moduli; [`RingError::OutOfRange`] for one
    /// below 2.
    pub fn with_chain(m: impl ToRingIndex, moduli: &[BigUint]) -> Result<Ring, RingError> {
        let rungs: Vec<Vec<usize>> = (1..=moduli.len()).map(|level| (0..level).collect()).collect();
        Self::with_rungs(m, moduli, &rungs)
    }

    /// Makes the big-integer ring whose level l is modulo the product of the moduli with the indices
    /// `rungs[l − 1]`, as in [`Ring::with_rungs`].
    ///
    /// # Errors
    /// Every error of [`with_chain`](Self::with_chain); [`RingError::OutOfRange`] for rungs of other numbers or whose products do not ascend, and unless
    /// the last has all moduli.
    pub fn with_rungs(
        m: impl ToRingIndex,
        moduli: &[BigUint],
        rungs: &[Vec<usize>],
    ) -> Result<Ring, RingError> {
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
        let (moduli, rungs, level) = (moduli.into(), rungs.into(), chain.len());
        Ok(Ring::of(Self { index, moduli, rungs, level, chain, tag: tag(&modulus), modulus }))
    }

    /// Returns the big-integer ring at a lower level, or this one.
    pub(super) fn at_level(&self, level: usize) -> Result<Self, RingError> {
        let modulus = Arc::clone(self.modulus_at(level)?);
        Ok(Self { level, tag: tag(&modulus), modulus, ..self.clone() })
    }

    /// Moduli whose products are the moduli of all levels.
    pub(super) fn moduli(&self) -> &[BigUint] {
        &self.moduli
    }

    /// Indices of the moduli of a level of the ring.
    pub(super) fn limbs(&self, level: usize) -> &[usize] {
        level.checked_sub(1).and_then(|below| self.rungs.get(below)).map_or(&[], |limbs| limbs)
    }

    /// Returns the big-integer ring with the levels up to this one, and one more for each of these moduli.
    pub(super) fn extended(&self, others: &[BigUint]) -> Result<Self, RingError> {
        let own = self.limbs(self.level);
        // Moduli that only higher levels have are left out.
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
        let (moduli, rungs) = (moduli.into(), rungs.into());
        Ok(Self { moduli, rungs, level, chain, tag: tag(&modulus), modulus, ..self.clone() })
    }

    /// Checks that the ring's level `lower` exists and is nested in level `higher`.
    pub(super) fn check_nested(&self, lower: usize, higher: usize) -> Result<(), RingError> {
        check_level(lower, higher)?;
        let within = self.limbs(higher);
        if self.limbs(lower).iter().all(|limb| within.contains(limb)) {
            return Ok(());
        }
        Err(RingError::NotNested { level: lower, within: higher })
    }

    /// Returns the modulus Q_l of a level of the ring.
    fn modulus_at(&self, level: usize) -> Result<&Arc<BigUint>, RingError> {
        check_level(level, self.level)?;
        let missing = RingError::NoSuchLevel { got: level, highest: self.level };
        self.chain.get(level.wrapping_sub(1)).ok_or(missing)
    }

    /// Returns Q_j and Q_l for a polynomial a of level j.
    fn between(&self, a: &Residues, level: usize) -> Result<[&Arc<BigUint>; 2], RingError> {
        let from = self.level_of(a)?;
        check_level(level, from)?;
        Ok([self.modulus_at(from)?, self.modulus_at(level)?])
    }

    fn shape(&self) -> Shape {
        let bits = usize::try_from(self.modulus.bits()).unwrap_or(usize::MAX);
        Shape { degree: self.degree(), limbs: bits }
    }

    /// Returns the big-integer coefficients of a polynomial of this ring.
    pub(super) fn values<'a>(&self, a: &'a Residues) -> Result<&'a [BigUint], RingError> {
        self.check(a)?;
        Ok(&a.content::<Coefficients>()?.values)
    }

    /// Returns the big-integer coefficients of a polynomial of this ring, to be changed.
    fn values_mut<'a>(&self, a: &'a mut Residues) -> Result<&'a mut [BigUint], RingError> {
        self.check(a)?;
        Ok(&mut a.content_mut::<Coefficients>()?.values)
    }

    /// Makes a polynomial of reduced big-integer coefficients.
    pub(super) fn wrap(&self, values: Vec<BigUint>) -> Residues {
        let shape = Shape { degree: values.len(), limbs: self.shape().limbs };
        Residues::of_content(Coefficients { values, bits: shape.limbs }, shape, self.tag)
    }

    fn reduce(&self, x: &BigInt) -> BigUint {
        let q = BigInt::from_biguint(Sign::Plus, (*self.modulus).clone());
        x.mod_floor(&q).into_parts().1
    }

    /// Returns the representative of a coefficient in [-q/2, q/2).
    fn center(&self, x: &BigUint) -> BigInt {
        let lifted = BigInt::from_biguint(Sign::Plus, x.clone());
        if (x << 1_u32) >= *self.modulus {
            lifted - BigInt::from_biguint(Sign::Plus, (*self.modulus).clone())
        } else {
            lifted
        }
    }

    /// Applies `f` to the pairs of coefficients of two polynomials and reduces.
    fn zip_assign(
        &self,
        a: &mut Residues,
        b: &Residues,
        f: impl Fn(&BigUint, &BigUint) -> BigUint,
    ) -> Result<(), RingError> {
        for (x, y) in self.values_mut(a)?.iter_mut().zip(self.values(b)?) {
            *x = f(x, y) % &*self.modulus;
        }
        Ok(())
    }

    fn product(&self, a: &Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let product = product::cyclotomic(&self.index, self.values(a)?, self.values(b)?, &self.modulus)?;
        Ok(self.wrap(product).into())
    }
}

impl Backend for BigRing {
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

    fn at_level(&self, level: usize) -> Result<Arc<dyn Backend>, RingError> {
        Ok(Arc::new(Self::at_level(self, level)?))
    }

    fn check(&self, a: &Residues) -> Result<(), RingError> {
        check_shape(self.shape(), a.shape())?;
        if a.tag() == self.tag { Ok(()) } else { Err(RingError::OtherModulus { shape: self.shape() }) }
    }

    fn level_of(&self, a: &Residues) -> Result<usize, RingError> {
        let level = self.chain.iter().take(self.level).position(|modulus| tag(modulus) == a.tag());
        match level {
            Some(level) if a.shape().degree == self.degree() => Ok(level + 1),
            _ if a.shape() == self.shape() => Err(RingError::OtherModulus { shape: a.shape() }),
            _ => Err(RingError::ShapeMismatch { expected: self.shape(), got: a.shape() }),
        }
    }

    fn restrict(&self, a: &Residues, level: usize) -> Result<Residues, RingError> {
        let [_, modulus] = self.between(a, level)?;
        self.check_nested(level, self.level_of(a)?)?;
        let coefficients = a.content::<Coefficients>()?.values.iter().map(|x| x % &**modulus).collect();
        Ok(self.at_level(level)?.wrap(coefficients))
    }

    fn mod_switch(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        let [from, to] = self.between(a, level)?;
        // ⌊x·Q_l/Q_j⌉: where levels are not nested, each product has factors that the other lacks.
        let half = &**from >> 1_u32;
        let values = &a.content::<Coefficients>()?.values;
        let coefficients = values.iter().map(|x| (x * &**to + &half) / &**from % &**to).collect();
        Ok(self.at_level(level)?.wrap(coefficients).into())
    }

    fn scale_up(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let level = self.level_of(a)?;
        self.check_nested(level, self.level)?;
        let factor = &*self.modulus / &**self.modulus_at(level)?;
        let values = &a.content::<Coefficients>()?.values;
        Ok(self.wrap(values.iter().map(|x| x * &factor).collect()).into())
    }

    fn zero(&self, _: Representation) -> Residues {
        self.wrap(vec![BigUint::zero(); self.degree()])
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        Ok(self.wrap(coefficients.iter().map(|&c| self.reduce(&c.into())).collect()).into())
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        Ok(self.wrap(coefficients.iter().map(|c| self.reduce(c)).collect()).into())
    }

    fn to_integers(&self, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        Ok(self.values(a)?.iter().map(|x| self.center(x)).collect())
    }

    fn uniform(&self, rng: &mut dyn CryptoRng) -> Poly<Evaluation> {
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
        self.wrap((0..self.degree()).map(|_| draw()).collect()).into()
    }

    fn to_evaluation(&self, a: Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError> {
        self.check(&a)?;
        Ok(a.relabel())
    }

    fn to_coefficient(&self, a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.check(&a)?;
        Ok(a.relabel())
    }

    fn add_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.zip_assign(a, b, |x, y| x + y)
    }

    fn sub_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.zip_assign(a, b, |x, y| x + &*self.modulus - y)
    }

    fn neg_assign(&self, a: &mut Residues) -> Result<(), RingError> {
        for x in self.values_mut(a)? {
            *x = (&*self.modulus - &*x) % &*self.modulus;
        }
        Ok(())
    }

    fn mul_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        *a = self.product(a, b)?;
        Ok(())
    }

    fn mul_integer_assign(&self, a: &mut Residues, c: &BigInt) -> Result<(), RingError> {
        let c = self.reduce(c);
        for x in self.values_mut(a)? {
            *x = &*x * &c % &*self.modulus;
        }
        Ok(())
    }

    fn automorphism(&self, a: &Residues, _: Representation, k: u64) -> Result<Residues, RingError> {
        let values = self.values(a)?;
        check_automorphism(k, &self.index)?;
        let mut image = vec![BigUint::zero(); self.index.redundant_len()];
        for (position, x) in values.iter().enumerate() {
            let exponent = self.index.exponent(position) * k % self.index();
            let (position, negative) = self.index.redundant_position(exponent);
            if let Some(entry) = image.get_mut(position) {
                *entry = if negative { (&*self.modulus - x) % &*self.modulus } else { x.clone() };
            }
        }
        self.index.fold(&Reduced(&self.modulus), &mut image)?;
        Ok(self.wrap(image))
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError> {
        check_message(message, t, self.degree())?;
        // ⌊x + 1/2⌋ of x = q·m/t; a half can only occur for t even.
        let half = t / 2;
        let scaled = |&m: &u64| (&*self.modulus * m + half) / t % &*self.modulus;
        Ok(self.wrap(message.iter().map(scaled).collect()).into())
    }

    fn packed_len(&self) -> usize {
        self.bytes()
    }

    fn pack(&self, a: &Residues, _: Representation, out: &mut dyn Append) -> Result<(), PackingError> {
        self.write(a, out)
    }

    fn unpack(&self, _: Representation, from: &mut dyn BufRead) -> Result<Residues, PackingError> {
        self.read(from)
    }
}
