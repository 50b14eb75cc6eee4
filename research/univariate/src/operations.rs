//! Operations on polynomials of the storage with reductions modulo Φ_m.

use std::io::BufRead;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_math::{CoefficientBasis, Integers, RingIndex};
use sunzi_ring::sampling::{SeededRng, centered_binomial, uniform_residues};
use sunzi_ring::storage::{
    Scratch, Work, check_automorphism, check_length, check_level, check_shape, get_or_try_init, part,
    residue_of, rows_len, scale_into,
};
use sunzi_ring::{
    Append, Backend, Coefficient, Evaluation, Expansion, Gadget, GadgetOptions, PackingError, Poly,
    Representation, Residues, Ring, RingError, Scaler, ScalerOptions, Shape, Tables,
};
use zeroize::Zeroizing;

use crate::form::ReducedForm;
use crate::gadget::UnivariateGadget;
use crate::packing;
use crate::ring::Switching;
use crate::ring::UnivariateRing;
use crate::scaler::UnivariateScaler;

impl Backend for UnivariateRing {
    fn ring_index(&self) -> &RingIndex {
        &self.geometry().shape
    }

    fn coefficient_basis(&self) -> CoefficientBasis {
        CoefficientBasis::Power
    }

    /// Multiplies a polynomial by X^exponent, on the coefficients of the power basis.
    fn mul_monomial_assign(&self, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
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

    fn at_level(&self, level: usize) -> Result<Arc<dyn Backend>, RingError> {
        Ok(Arc::new(Self::at_level(self, level)?))
    }

    fn check(&self, a: &Residues) -> Result<(), RingError> {
        check_shape(self.shape(), a.shape())?;
        if a.tag() != self.tag() {
            return Err(RingError::OtherModulus { shape: self.shape() });
        }
        let words = [self.geometry().degree, self.geometry().length].map(|stride| stride * self.level());
        if words.contains(&a.words().len()) { Ok(()) } else { Err(RingError::OtherStorage) }
    }

    fn level_of(&self, a: &Residues) -> Result<usize, RingError> {
        let Shape { degree, limbs } = a.shape();
        match self.tag_at(limbs) {
            Some(tag) if degree == self.degree() && tag == a.tag() => Ok(limbs),
            Some(_) if degree == self.degree() => Err(RingError::OtherModulus { shape: a.shape() }),
            _ => Err(RingError::ShapeMismatch { expected: self.shape(), got: a.shape() }),
        }
    }

    fn restrict(&self, a: &Residues, level: usize) -> Result<Residues, RingError> {
        check_level(level, self.level_of(a)?)?;
        let words = part("limb of a polynomial", a.words(), 0..level * a.stride(), level)?;
        let tag =
            self.tag_at(level).ok_or(RingError::MissingTable { table: "tag of a level", limb: level })?;
        let shape = Shape { degree: self.degree(), limbs: level };
        let mut restricted = Residues::of_words(Scratch::from_slice(words), shape, tag);
        ReducedForm::of(a).mark(&mut restricted);
        Ok(restricted)
    }

    /// Switches moduli of the stored coefficients: rounding errors are those of [`UnivariateRing`]'s description.
    fn mod_switch(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        let from = self.level_of(a)?;
        check_level(level, from)?;
        if level == from {
            return Ok(a.clone());
        }
        let own = self.at_level(from)?;
        let tables = get_or_try_init(&own.lower(level)?.switching, || Switching::new(&own, level))?;
        tables.apply(a)
    }

    fn scale_up(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let level = self.level_of(a)?;
        let own = self.at_level(level)?;
        own.check_as(a, Representation::Values)?;
        let factor = BigInt::from(self.modulus() / own.modulus());
        // The factor is a multiple of every modulus above the level.
        let mut scaled: Poly<Evaluation> = self.zero(Representation::Values).into();
        ReducedForm::of(a).mark(&mut scaled);
        self.for_each_limb(Work::Elementwise, &mut scaled, |i, reducer, limb| {
            if i < level {
                limb.copy_from_slice(a.own_limb(i)?);
                reducer.modulus().mul_scalar_assign(limb, residue_of(&factor, reducer.modulus().value()))?;
            }
            Ok(())
        })?;
        Ok(scaled)
    }

    fn zero(&self, representation: Representation) -> Residues {
        let shape = self.shape();
        Residues::of_words(Scratch::zeroed(self.stride(representation) * shape.limbs), shape, self.tag())
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        let mut a = self.arbitrary();
        self.for_each_limb(Work::Elementwise, &mut a, |_, reducer, limb| {
            Ok(reducer.modulus().reduce_signed_into(limb, coefficients)?)
        })?;
        self.with_factor(a, true)
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.degree(), coefficients.len())?;
        let mut a = self.arbitrary();
        self.for_each_limb(Work::Elementwise, &mut a, |_, reducer, limb| {
            let q = reducer.modulus().value();
            limb.iter_mut().zip(coefficients).for_each(|(residue, c)| *residue = residue_of(c, q));
            Ok(())
        })?;
        self.with_factor(a, true)
    }

    fn to_integers(&self, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        self.check_as(a, Representation::Coefficients)?;
        let a = self.with_factor(a.clone(), false)?;
        let crt = self.basis().crt();
        let coefficient = |i| {
            let residues: Vec<u64> = a.limbs().filter_map(|limb| limb.get(i).copied()).collect();
            Ok(crt.reconstruct_centered(&residues)?)
        };
        (0..self.degree()).map(coefficient).collect()
    }

    /// Samples an error: coefficients modulo X^m − 1, or X^(m/2) + 1 for m even, reduced modulo Φ_m.
    fn error(&self, rng: &mut dyn CryptoRng) -> Result<Poly<Coefficient>, RingError> {
        let redundant = centered_binomial(self.expansion().redundant_degree(), rng)?;
        // Allocated at its full length: a growing vector would leave a copy behind.
        let mut whole = Zeroizing::new(Vec::with_capacity(self.geometry().index.max(redundant.len())));
        whole.extend_from_slice(&redundant);
        whole.resize(self.geometry().index, 0);
        self.from_signed(&Zeroizing::new(self.geometry().reduce(&whole)))
    }

    fn uniform(&self, rng: &mut dyn CryptoRng) -> Poly<Evaluation> {
        let mut seed = [0_u8; 32];
        rng.fill_bytes(&mut seed);
        let mut values = self.zero(Representation::Values);
        let n = self.degree();
        // Never fails: nothing in it does. Stored words are uniform if the polynomial is, since M is a unit.
        let _ = self.for_each_limb(Work::Transform, &mut values, |i, reducer, limb| {
            let coefficients = limb.get_mut(..n).unwrap_or_default();
            let mut stream = SeededRng::derive(&seed, "uniform limb", i as u64);
            uniform_residues(coefficients, reducer.modulus().value(), &mut stream);
            reducer.transform(limb)
        });
        values.into()
    }

    fn to_evaluation(&self, a: Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError> {
        // The polynomial may be a secret, and is not returned.
        self.raw_values(&Zeroizing::new(a))
    }

    fn to_coefficient(&self, a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.raw_coefficients(&Zeroizing::new(a))
    }

    fn add_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.add_or_subtract(a, b, |modulus, a, b| Ok(modulus.add_assign(a, b)?))
    }

    fn sub_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.add_or_subtract(a, b, |modulus, a, b| Ok(modulus.sub_assign(a, b)?))
    }

    fn neg_assign(&self, a: &mut Residues) -> Result<(), RingError> {
        self.for_each_limb(Work::Elementwise, a, |_, reducer, limb| {
            reducer.modulus().neg_assign(limb);
            Ok(())
        })
    }

    fn mul_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        self.check_as(a, Representation::Values)?;
        self.check_as(b, Representation::Values)?;
        self.reduce_assign(a)?;
        let reduced = self.reduced_if_needed(b)?;
        let b = reduced.as_ref().unwrap_or(b);
        self.zip_assign(a, b, |modulus, a, b| Ok(modulus.mul_assign(a, b)?))?;
        ReducedForm::Product.mark(a);
        Ok(())
    }

    fn mul_add_assign(
        &self,
        acc: &mut Poly<Evaluation>,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
    ) -> Result<(), RingError> {
        [&*acc, a, b].into_iter().try_for_each(|poly| self.check_as(poly, Representation::Values))?;
        let (left, right) = (self.reduced_if_needed(a)?, self.reduced_if_needed(b)?);
        let (a, b) = (left.as_ref().unwrap_or(a), right.as_ref().unwrap_or(b));
        self.prepare_sum(acc, ReducedForm::Product)?;
        self.for_each_limb(Work::Elementwise, acc, |i, reducer, acc| {
            Ok(reducer.modulus().mul_add_assign(acc, a.own_limb(i)?, b.own_limb(i)?)?)
        })
    }

    fn tensor(
        &self,
        a: [&Poly<Evaluation>; 2],
        b: [&Poly<Evaluation>; 2],
        t: u64,
    ) -> Result<[Poly<Evaluation>; 3], RingError> {
        [a[0], a[1], b[0], b[1]]
            .into_iter()
            .try_for_each(|poly| self.check_as(poly, Representation::Values))?;
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

    fn mul_integer_assign(&self, a: &mut Residues, c: &BigInt) -> Result<(), RingError> {
        self.for_each_limb(Work::Elementwise, a, |_, reducer, limb| {
            Ok(reducer.modulus().mul_scalar_assign(limb, residue_of(c, reducer.modulus().value()))?)
        })
    }

    /// Applies an automorphism on coefficients: X^i goes to X^(ik mod m), which is reduced modulo Φ_m.
    fn automorphism(
        &self,
        a: &Residues,
        representation: Representation,
        k: u64,
    ) -> Result<Residues, RingError> {
        self.check_as(a, representation)?;
        check_automorphism(k, self.ring_index())?;
        if representation == Representation::Coefficients {
            return Ok(self.substitute(a.clone().into(), k)?.into_residues());
        }
        let coefficients = self.raw_coefficients(&a.clone().into())?;
        Ok(self.raw_values(&self.substitute(coefficients, k)?)?.into_residues())
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError> {
        let mut scaled = self.arbitrary::<Coefficient>();
        scale_into(self.basis(), scaled.words_mut(), self.degree(), message, t)?;
        self.with_factor(scaled, true)
    }

    fn packed_len(&self) -> usize {
        rows_len(self.degree(), self.basis().values())
    }

    fn pack(
        &self,
        a: &Residues,
        representation: Representation,
        out: &mut dyn Append,
    ) -> Result<(), PackingError> {
        packing::pack(self, a, representation, out)
    }

    fn unpack(
        &self,
        representation: Representation,
        from: &mut dyn BufRead,
    ) -> Result<Residues, PackingError> {
        packing::unpack(self, representation, from)
    }
}

impl Tables for UnivariateRing {
    fn scaler(&self, ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        UnivariateScaler::new(ring.storage_as()?, t, options).map(Scaler::new)
    }

    fn gadget(&self, ring: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError> {
        UnivariateGadget::new(ring.storage_as()?, options).map(Gadget::new)
    }

    fn description(&self, ring: &Ring) -> Vec<u8> {
        ring.storage_as().map(packing::description).unwrap_or_default()
    }
}
