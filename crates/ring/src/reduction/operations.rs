//! What schemes ask of the ring.

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_math::{CoefficientBasis, Integers, RingIndex};
use zeroize::Zeroizing;

use super::poly::Form;
use super::ring::UnivariateRing;
use super::switching::Switching;
use super::{UnivariateGadget, UnivariatePoly, UnivariateScaler};
use crate::error::{check_length, check_level, part};
use crate::integers::residue_of;
use crate::once::get_or_try_init;
use crate::parallel::Work;
use crate::poly_ring::sealed::Sealed;
use crate::sampling::{SeededRng, centered_binomial, uniform_residues};
use crate::scratch::Scratch;
use crate::{
    Coefficient, Domain, Evaluation, Expansion, GadgetOptions, PolyRing, RingError, ScalerOptions, Shape,
    factor, plaintext,
};

impl PolyRing for UnivariateRing {
    type Poly<D: Domain> = UnivariatePoly<D>;
    type Scaler = UnivariateScaler;
    type Gadget = UnivariateGadget;

    fn ring_index(&self) -> &RingIndex {
        &self.geometry().shape
    }

    fn coefficient_basis(&self) -> CoefficientBasis {
        CoefficientBasis::Power
    }

    /// Coefficients are those of the power basis.
    fn mul_monomial_assign(
        &self,
        a: &mut UnivariatePoly<Evaluation>,
        exponent: u64,
    ) -> Result<(), RingError> {
        let shape = self.ring_index();
        let mut power = vec![0_i64; (exponent % shape.value()) as usize];
        power.push(1);
        let power = shape.remainder(&Integers::new(), power);
        self.mul_assign(a, &self.to_evaluation(self.from_signed(&power)?)?)
    }

    fn modulus(&self) -> &BigUint {
        self.basis().product()
    }

    fn expansion(&self) -> Expansion {
        self.geometry().expansion()
    }

    fn rounding_growth(&self) -> f64 {
        self.error_growth()
    }

    fn level(&self) -> usize {
        self.basis().len()
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        if level == self.level() {
            return Ok(self.clone());
        }
        get_or_try_init(&self.lower(level)?.ring, || self.sub_ring(0..level)).cloned()
    }

    fn level_of<D: Domain>(&self, a: &UnivariatePoly<D>) -> Result<usize, RingError> {
        let Shape { degree, limbs } = a.shape();
        match self.tag_at(limbs) {
            Some(tag) if degree == self.degree() && tag == a.tag() => Ok(limbs),
            Some(_) if degree == self.degree() => Err(RingError::OtherModulus { shape: a.shape() }),
            _ => Err(RingError::ShapeMismatch { expected: self.shape(), got: a.shape() }),
        }
    }

    fn restrict<D: Domain>(
        &self,
        a: &UnivariatePoly<D>,
        level: usize,
    ) -> Result<UnivariatePoly<D>, RingError> {
        check_level(level, self.level_of(a)?)?;
        let stride = self.stride::<D>();
        let words = part("limb of a polynomial", a.words(), 0..level * stride, level)?;
        let tag =
            self.tag_at(level).ok_or(RingError::MissingTable { table: "tag of a level", limb: level })?;
        Ok(UnivariatePoly::new(Scratch::from_slice(words), stride, self.degree(), tag, a.form()))
    }

    fn mul_restricted_assign(
        &self,
        a: &mut UnivariatePoly<Evaluation>,
        b: &UnivariatePoly<Evaluation>,
    ) -> Result<(), RingError> {
        let level = self.level_of(a)?;
        self.at_level(level)?.mul_assign(a, &self.restrict(b, level)?)
    }

    /// Of what is kept: rounding errors are those of [`UnivariateRing`]'s description.
    fn mod_switch(
        &self,
        a: &UnivariatePoly<Evaluation>,
        level: usize,
    ) -> Result<UnivariatePoly<Evaluation>, RingError> {
        let from = self.level_of(a)?;
        check_level(level, from)?;
        if level == from {
            return Ok(a.clone());
        }
        let own = self.at_level(from)?;
        let tables = get_or_try_init(&own.lower(level)?.switching, || Switching::new(&own, level))?;
        tables.apply(a)
    }

    fn mod_switch_sum(
        &self,
        a: &UnivariatePoly<Evaluation>,
        b: &UnivariatePoly<Coefficient>,
        level: usize,
    ) -> Result<UnivariatePoly<Evaluation>, RingError> {
        let own = self.at_level(self.level_of(a)?)?;
        let mut sum = Zeroizing::new(a.clone());
        own.add_assign(&mut sum, &Zeroizing::new(own.raw_values(b)?))?;
        self.mod_switch(&sum, level)
    }

    fn divide_by_factor(
        &self,
        a: &UnivariatePoly<Evaluation>,
        d: u64,
        rest: u64,
    ) -> Result<UnivariatePoly<Evaluation>, RingError> {
        factor::divide_integers(self, a, d, rest)
    }

    fn scale_up(&self, a: &UnivariatePoly<Evaluation>) -> Result<UnivariatePoly<Evaluation>, RingError> {
        let level = self.level_of(a)?;
        let factor = BigInt::from(self.modulus() / self.at_level(level)?.modulus());
        // The factor is a multiple of every modulus above the level.
        let mut scaled = self.zero::<Evaluation>();
        scaled.set_form(a.form());
        self.for_each_limb(Work::Elementwise, &mut scaled, |i, reducer, limb| {
            if i < level {
                limb.copy_from_slice(a.limb(i));
                reducer.modulus().mul_scalar_assign(limb, residue_of(&factor, reducer.modulus().value()))?;
            }
            Ok(())
        })?;
        Ok(scaled)
    }

    fn zero<D: Domain>(&self) -> UnivariatePoly<D> {
        let mut zero = self.arbitrary::<D>();
        zero.words_mut().fill(0);
        zero
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<UnivariatePoly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        let mut a = self.arbitrary();
        self.for_each_limb(Work::Elementwise, &mut a, |_, reducer, limb| {
            Ok(reducer.modulus().reduce_signed_into(limb, coefficients)?)
        })?;
        self.with_factor(a, true)
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<UnivariatePoly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        let mut a = self.arbitrary();
        self.for_each_limb(Work::Elementwise, &mut a, |_, reducer, limb| {
            let q = reducer.modulus().value();
            limb.iter_mut().zip(coefficients).for_each(|(residue, c)| *residue = residue_of(c, q));
            Ok(())
        })?;
        self.with_factor(a, true)
    }

    fn to_integers(&self, a: &UnivariatePoly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        self.check(a)?;
        let a = self.with_factor(a.clone(), false)?;
        let crt = self.basis().crt();
        let coefficient = |i| {
            let residues: Vec<u64> =
                (0..self.level()).filter_map(|limb| a.limb(limb).get(i).copied()).collect();
            Ok(crt.reconstruct_centered(&residues)?)
        };
        (0..self.degree()).map(coefficient).collect()
    }

    /// Coefficients modulo X^m − 1, or X^(m/2) + 1 for m even, reduced modulo Φ_m.
    fn error<G: CryptoRng + ?Sized>(&self, rng: &mut G) -> Result<UnivariatePoly<Coefficient>, RingError> {
        let redundant = centered_binomial(self.expansion().redundant_degree(), rng)?;
        // At its length at once: what grows leaves a copy behind.
        let mut whole = Zeroizing::new(Vec::with_capacity(self.geometry().index.max(redundant.len())));
        whole.extend_from_slice(&redundant);
        whole.resize(self.geometry().index, 0);
        self.from_signed(&Zeroizing::new(self.geometry().reduce(&whole)))
    }

    fn uniform<G: CryptoRng + ?Sized>(&self, rng: &mut G) -> UnivariatePoly<Evaluation> {
        let mut seed = [0_u8; 32];
        rng.fill_bytes(&mut seed);
        let mut values = self.zero::<Evaluation>();
        let n = self.degree();
        // Never fails: nothing in it does. What is kept is uniform if what it stands for is, since M is a unit.
        let _ = self.for_each_limb(Work::Transform, &mut values, |i, reducer, limb| {
            let coefficients = limb.get_mut(..n).unwrap_or_default();
            let mut stream = SeededRng::derive(&seed, "uniform limb", i as u64);
            uniform_residues(coefficients, reducer.modulus().value(), &mut stream);
            reducer.transform(limb)
        });
        values
    }

    fn byte_len<D: Domain>(a: &UnivariatePoly<D>) -> usize {
        size_of_val(a.words())
    }

    fn to_evaluation(&self, a: UnivariatePoly<Coefficient>) -> Result<UnivariatePoly<Evaluation>, RingError> {
        // It may be a secret, and is not what is returned.
        self.raw_values(&Zeroizing::new(a))
    }

    fn to_coefficient(
        &self,
        a: UnivariatePoly<Evaluation>,
    ) -> Result<UnivariatePoly<Coefficient>, RingError> {
        self.raw_coefficients(&Zeroizing::new(a))
    }

    fn add_assign<D: Domain>(
        &self,
        a: &mut UnivariatePoly<D>,
        b: &UnivariatePoly<D>,
    ) -> Result<(), RingError> {
        self.add_or_subtract(a, b, |modulus, a, b| Ok(modulus.add_assign(a, b)?))
    }

    fn sub_assign<D: Domain>(
        &self,
        a: &mut UnivariatePoly<D>,
        b: &UnivariatePoly<D>,
    ) -> Result<(), RingError> {
        self.add_or_subtract(a, b, |modulus, a, b| Ok(modulus.sub_assign(a, b)?))
    }

    fn neg_assign<D: Domain>(&self, a: &mut UnivariatePoly<D>) -> Result<(), RingError> {
        self.for_each_limb(Work::Elementwise, a, |_, reducer, limb| {
            reducer.modulus().neg_assign(limb);
            Ok(())
        })
    }

    fn mul_assign(
        &self,
        a: &mut UnivariatePoly<Evaluation>,
        b: &UnivariatePoly<Evaluation>,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.check(b)?;
        self.reduce_assign(a)?;
        let reduced = self.reduced_if_needed(b)?;
        let b = reduced.as_ref().unwrap_or(b);
        self.zip_assign(a, b, |modulus, a, b| Ok(modulus.mul_assign(a, b)?))?;
        a.set_form(Form::Product);
        Ok(())
    }

    fn mul_add_assign(
        &self,
        acc: &mut UnivariatePoly<Evaluation>,
        a: &UnivariatePoly<Evaluation>,
        b: &UnivariatePoly<Evaluation>,
    ) -> Result<(), RingError> {
        [&*acc, a, b].into_iter().try_for_each(|poly| self.check(poly))?;
        let (left, right) = (self.reduced_if_needed(a)?, self.reduced_if_needed(b)?);
        let (a, b) = (left.as_ref().unwrap_or(a), right.as_ref().unwrap_or(b));
        self.prepare_sum(acc, Form::Product)?;
        self.for_each_limb(Work::Elementwise, acc, |i, reducer, acc| {
            Ok(reducer.modulus().mul_add_assign(acc, a.limb(i), b.limb(i))?)
        })
    }

    fn tensor(
        &self,
        a: [&UnivariatePoly<Evaluation>; 2],
        b: [&UnivariatePoly<Evaluation>; 2],
        t: u64,
    ) -> Result<[UnivariatePoly<Evaluation>; 3], RingError> {
        [a[0], a[1], b[0], b[1]].into_iter().try_for_each(|poly| self.check(poly))?;
        let [mut c0, mut c2] = [self.reduced(a[0])?, self.reduced(a[1])?];
        let reduced = [self.reduced_if_needed(b[0])?, self.reduced_if_needed(b[1])?];
        let [b0, b1] = [reduced[0].as_ref().unwrap_or(b[0]), reduced[1].as_ref().unwrap_or(b[1])];
        if t != 1 {
            self.mul_integer_assign(&mut c0, &t.into())?;
            self.mul_integer_assign(&mut c2, &t.into())?;
        }
        let mut c1 = c0.clone();
        self.mul_assign(&mut c1, b1)?;
        self.mul_add_assign(&mut c1, &c2, b0)?;
        self.mul_assign(&mut c0, b0)?;
        self.mul_assign(&mut c2, b1)?;
        Ok([c0, c1, c2])
    }

    fn mul_integer_assign<D: Domain>(&self, a: &mut UnivariatePoly<D>, c: &BigInt) -> Result<(), RingError> {
        self.for_each_limb(Work::Elementwise, a, |_, reducer, limb| {
            Ok(reducer.modulus().mul_scalar_assign(limb, residue_of(c, reducer.modulus().value()))?)
        })
    }

    /// By coefficients: X^i goes to X^(ik mod m), which is reduced modulo Φ_m.
    fn automorphism<D: Domain>(&self, a: &UnivariatePoly<D>, k: u64) -> Result<UnivariatePoly<D>, RingError> {
        self.check(a)?;
        let m = self.index();
        if k == 0 || k >= m || sunzi_math::gcd(k, m) != 1 {
            return Err(RingError::NotAnAutomorphism { exponent: k, index: m });
        }
        if !<D as Sealed>::EVALUATION {
            return Ok(self.substitute(a.clone().relabel(), k)?.relabel());
        }
        let coefficients = self.raw_coefficients(&a.clone().relabel())?;
        Ok(self.raw_values(&self.substitute(coefficients, k)?)?.relabel())
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<UnivariatePoly<Coefficient>, RingError> {
        let mut scaled = self.arbitrary::<Coefficient>();
        plaintext::scale_into(self.basis(), scaled.words_mut(), self.degree(), message, t)?;
        self.with_factor(scaled, true)
    }

    fn scaler(&self, t: u64, options: &ScalerOptions) -> Result<UnivariateScaler, RingError> {
        UnivariateScaler::new(self, t, options)
    }

    fn gadget(&self, options: &GadgetOptions) -> Result<UnivariateGadget, RingError> {
        UnivariateGadget::new(self, options)
    }
}
