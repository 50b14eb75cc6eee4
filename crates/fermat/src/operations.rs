//! The operations of the seam.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use rand_core::CryptoRng;
use sunzi_math::RingIndex;
use sunzi_ring::{Coefficient, Domain, Evaluation, GadgetOptions, PolyRing, RingError, ScalerOptions};

use crate::error::{check_length, out_of_range};
use crate::{Component, FermatGadget, FermatPoly, FermatRing, FermatScaler};

impl FermatRing {
    /// Applies an operation to all pairs of residues, and one to all pairs of limbs.
    fn zip_assign<D: Domain>(
        &self,
        a: &mut FermatPoly<D>,
        b: &FermatPoly<D>,
        residues: impl Fn(Component, &mut [u64], &[u64]),
        limbs: impl Fn(&sunzi_kernels::Modulus, &mut [u64], &[u64]) -> Result<(), sunzi_kernels::KernelError>,
    ) -> Result<(), RingError> {
        self.check(a)?;
        self.check(b)?;
        for ((component, a), (_, b)) in self.0.parts_mut(&mut a.residues).zip(self.0.parts(&b.residues)) {
            for (a, b) in a.chunks_exact_mut(component.len()).zip(b.chunks_exact(component.len())) {
                residues(component, a, b);
            }
        }
        if let Some(tables) = &self.0.limbs {
            for ((plan, a), b) in tables.rows(&mut a.limbs).zip(b.limbs.chunks_exact(self.0.degree)) {
                limbs(&plan.modulus(), a, b)?;
            }
        }
        Ok(())
    }

    /// Both levels, and that of `a` not below `level`.
    fn between<D: Domain>(&self, a: &FermatPoly<D>, level: usize) -> Result<[Self; 2], RingError> {
        let own = self.level_of(a)?;
        if !(1..=own).contains(&level) {
            return Err(RingError::NoSuchLevel { got: level, highest: own });
        }
        Ok([self.at_level(own)?, self.at_level(level)?])
    }

    fn wrap<D: Domain>(&self, coefficients: &[BigUint]) -> Result<FermatPoly<D>, RingError> {
        let poly: FermatPoly<Coefficient> = self.reduced(coefficients);
        if D::EVALUATION { Ok(self.to_evaluation(poly)?.relabel()) } else { Ok(poly.relabel()) }
    }

    /// Coefficients in [0, q) of either form.
    fn coefficients<D: Domain>(&self, a: &FermatPoly<D>) -> Result<Vec<BigUint>, RingError> {
        self.check(a)?;
        if D::EVALUATION && self.0.limbs.is_some() {
            return self.integers(&self.to_coefficient(a.clone().relabel())?);
        }
        self.integers(a)
    }
}

impl PolyRing for FermatRing {
    type Poly<D: Domain> = FermatPoly<D>;
    type Scaler = FermatScaler;
    type Gadget = FermatGadget;

    fn ring_index(&self) -> &RingIndex {
        &self.0.index
    }

    fn modulus(&self) -> &BigUint {
        &self.0.value
    }

    /// One for every component, and one more for the primes of a ring of products.
    fn level(&self) -> usize {
        self.0.modulus.level() + usize::from(self.0.limbs.is_some())
    }

    fn at_level(&self, level: usize) -> Result<Self, RingError> {
        let highest = self.level();
        match level {
            _ if level == highest => Ok(self.clone()),
            _ if (1..highest).contains(&level) => self.without_limbs(level),
            _ => Err(RingError::NoSuchLevel { got: level, highest }),
        }
    }

    fn level_of<D: Domain>(&self, a: &FermatPoly<D>) -> Result<usize, RingError> {
        let mut result = self.check(a);
        for level in (1..=self.level()).rev() {
            let ring = self.at_level(level)?;
            match ring.check(a) {
                Ok(()) => return Ok(level),
                Err(error @ RingError::OtherModulus { .. }) => result = Err(error),
                Err(_) => {}
            }
        }
        result.map(|()| self.level())
    }

    fn restrict<D: Domain>(&self, a: &FermatPoly<D>, level: usize) -> Result<FermatPoly<D>, RingError> {
        let [from, to] = self.between(a, level)?;
        if to.level() == from.level() {
            return Ok(a.clone());
        }
        let mut poly = to.empty();
        for (out, word) in poly.residues.iter_mut().zip(&*a.residues) {
            *out = *word;
        }
        Ok(poly)
    }

    /// What b is lifted to is kept with it: it is a key as a rule.
    fn mul_restricted_assign(
        &self,
        a: &mut FermatPoly<Evaluation>,
        b: &FermatPoly<Evaluation>,
    ) -> Result<(), RingError> {
        let level = self.level_of(a)?;
        let [_, ring] = self.between(b, level)?;
        if !ring.lifts_keys() {
            return ring.mul_assign(a, &self.restrict(b, level)?);
        }
        *a = ring.product_with_key(a, b)?;
        Ok(())
    }

    /// Through integers: modulus switching is no part of `[TSKJ20]`.
    fn mod_switch(
        &self,
        a: &FermatPoly<Evaluation>,
        level: usize,
    ) -> Result<FermatPoly<Evaluation>, RingError> {
        let [from, to] = self.between(a, level)?;
        let divisor = from.modulus() / to.modulus();
        let half = &divisor >> 1_u32;
        let switched: Vec<BigUint> =
            from.coefficients(a)?.iter().map(|x| (x + &half) / &divisor % to.modulus()).collect();
        to.wrap(&switched)
    }

    fn mod_switch_sum(
        &self,
        a: &FermatPoly<Evaluation>,
        b: &FermatPoly<Coefficient>,
        level: usize,
    ) -> Result<FermatPoly<Evaluation>, RingError> {
        let own = self.at_level(self.level_of(a)?)?;
        let mut sum = own.to_evaluation(b.clone())?;
        own.add_assign(&mut sum, a)?;
        self.mod_switch(&sum, level)
    }

    /// # Errors
    /// [`RingError::OutOfRange`] always: no modulus here is a product of word-size primes.
    fn divide_by_factor(
        &self,
        a: &FermatPoly<Evaluation>,
        d: u64,
        _rest: u64,
    ) -> Result<FermatPoly<Evaluation>, RingError> {
        self.level_of(a)?;
        Err(out_of_range("divisor", "none: moduli 2^h + 1 are not divided within", d))
    }

    fn scale_up(&self, a: &FermatPoly<Evaluation>) -> Result<FermatPoly<Evaluation>, RingError> {
        let from = self.at_level(self.level_of(a)?)?;
        let factor = self.modulus() / from.modulus();
        let scaled: Vec<BigUint> = from.coefficients(a)?.iter().map(|x| x * &factor).collect();
        self.wrap(&scaled)
    }

    fn zero<D: Domain>(&self) -> FermatPoly<D> {
        self.empty()
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<FermatPoly<Coefficient>, RingError> {
        check_length("coefficients", self.0.degree, coefficients.len())?;
        let mut poly = self.empty();
        for (component, residues) in self.0.parts_mut(&mut poly.residues) {
            for (residue, &c) in residues.chunks_exact_mut(component.len()).zip(coefficients) {
                component.reduce(residue, &[c.unsigned_abs()]);
                if c < 0 {
                    component.neg_assign(residue);
                }
            }
        }
        if let Some(limbs) = &self.0.limbs {
            for (plan, limb) in limbs.rows(&mut poly.limbs) {
                plan.modulus().reduce_signed_into(limb, coefficients)?;
            }
        }
        Ok(poly)
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<FermatPoly<Coefficient>, RingError> {
        check_length("coefficients", self.0.degree, coefficients.len())?;
        Ok(self.reduced(&coefficients.iter().map(|c| self.modulo(c)).collect::<Vec<_>>()))
    }

    fn to_integers(&self, a: &FermatPoly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        Ok(self.coefficients(a)?.into_iter().map(|x| self.center(x)).collect())
    }

    fn uniform<G: CryptoRng + ?Sized>(&self, rng: &mut G) -> FermatPoly<Evaluation> {
        let mut poly = self.empty();
        // One integer of g bits for every coefficient, drawn again in the one case that is no residue: it is public.
        let words = self.0.modulus.bits() / 64;
        let mut bytes = vec![0_u8; 8 * words];
        let mut drawn = Vec::with_capacity(self.0.degree * words);
        while drawn.len() < self.0.degree * words {
            rng.fill_bytes(&mut bytes);
            if bytes.iter().any(|&byte| byte != u8::MAX) {
                drawn.extend(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
            }
        }
        for (component, residues) in self.0.parts_mut(&mut poly.residues) {
            for (residue, x) in residues.chunks_exact_mut(component.len()).zip(drawn.chunks_exact(words)) {
                component.reduce(residue, x);
            }
        }
        if let Some(limbs) = &self.0.limbs {
            limbs.uniform(&mut poly.limbs, rng);
        }
        poly
    }

    fn byte_len<D: Domain>(a: &FermatPoly<D>) -> usize {
        8 * (a.residues.len() + a.limbs.len())
    }

    /// Modulo 2^g − 1 nothing changes.
    fn to_evaluation(&self, mut a: FermatPoly<Coefficient>) -> Result<FermatPoly<Evaluation>, RingError> {
        self.check(&a)?;
        if let Some(limbs) = &self.0.limbs {
            limbs.rows(&mut a.limbs).try_for_each(|(plan, limb)| plan.forward(limb))?;
        }
        Ok(a.relabel())
    }

    fn to_coefficient(&self, mut a: FermatPoly<Evaluation>) -> Result<FermatPoly<Coefficient>, RingError> {
        self.check(&a)?;
        if let Some(limbs) = &self.0.limbs {
            limbs.rows(&mut a.limbs).try_for_each(|(plan, limb)| plan.inverse(limb))?;
        }
        Ok(a.relabel())
    }

    fn add_assign<D: Domain>(&self, a: &mut FermatPoly<D>, b: &FermatPoly<D>) -> Result<(), RingError> {
        self.zip_assign(a, b, Component::add_assign, |p, a, b| p.add_assign(a, b))
    }

    fn sub_assign<D: Domain>(&self, a: &mut FermatPoly<D>, b: &FermatPoly<D>) -> Result<(), RingError> {
        self.zip_assign(a, b, Component::sub_assign, |p, a, b| p.sub_assign(a, b))
    }

    fn neg_assign<D: Domain>(&self, a: &mut FermatPoly<D>) -> Result<(), RingError> {
        self.check(a)?;
        for (component, a) in self.0.parts_mut(&mut a.residues) {
            a.chunks_exact_mut(component.len()).for_each(|a| component.neg_assign(a));
        }
        if let Some(limbs) = &self.0.limbs {
            limbs.rows(&mut a.limbs).for_each(|(plan, limb)| plan.modulus().neg_assign(limb));
        }
        Ok(())
    }

    fn mul_assign(
        &self,
        a: &mut FermatPoly<Evaluation>,
        b: &FermatPoly<Evaluation>,
    ) -> Result<(), RingError> {
        let [product] = self.sums_of_products(&[a, b], [&[(0, 1)]])?;
        *a = product;
        Ok(())
    }

    fn mul_add_assign(
        &self,
        acc: &mut FermatPoly<Evaluation>,
        a: &FermatPoly<Evaluation>,
        b: &FermatPoly<Evaluation>,
    ) -> Result<(), RingError> {
        self.check(acc)?;
        let [product] = self.sums_of_products(&[a, b], [&[(0, 1)]])?;
        self.add_assign(acc, &product)
    }

    fn tensor(
        &self,
        [a0, a1]: [&FermatPoly<Evaluation>; 2],
        [b0, b1]: [&FermatPoly<Evaluation>; 2],
        t: u64,
    ) -> Result<[FermatPoly<Evaluation>; 3], RingError> {
        let mut parts =
            self.sums_of_products(&[a0, a1, b0, b1], [&[(0, 2)], &[(0, 3), (1, 2)], &[(1, 3)]])?;
        if t != 1 {
            parts.iter_mut().try_for_each(|part| self.mul_integer_assign(part, &t.into()))?;
        }
        Ok(parts)
    }

    fn mul_integer_assign<D: Domain>(&self, a: &mut FermatPoly<D>, c: &BigInt) -> Result<(), RingError> {
        self.check(a)?;
        let c = self.modulo(c);
        let words: Vec<u64> = c.iter_u64_digits().collect();
        for (component, a) in self.0.parts_mut(&mut a.residues) {
            let mut product = Vec::new();
            for a in a.chunks_exact_mut(component.len()) {
                if let [c @ 0..=0x7fff_ffff_ffff_ffff] = *words {
                    component.mul_word_assign(a, c);
                    continue;
                }
                product.resize(a.len() + words.len(), 0);
                crate::general::mul(&mut product, a, &words);
                component.reduce(a, &product);
            }
        }
        if let Some(limbs) = &self.0.limbs {
            for (plan, limb) in limbs.rows(&mut a.limbs) {
                let p = plan.modulus();
                let c = c.mod_floor(&p.value().into()).iter_u64_digits().next().unwrap_or(0);
                p.mul_scalar_assign(limb, c)?;
            }
        }
        Ok(())
    }

    fn automorphism<D: Domain>(&self, a: &FermatPoly<D>, k: u64) -> Result<FermatPoly<D>, RingError> {
        self.check(a)?;
        if k & 1 == 0 || k >= self.index() {
            return Err(RingError::NotAnAutomorphism { exponent: k, index: self.index() });
        }
        let n = self.0.degree;
        // X^i goes to X^(ik mod m), and X^(n+j) = −X^j.
        let positions = (0..n as u64).map(|i| (i * k % self.index()) as usize);
        let mut image: FermatPoly<D> = self.empty();
        let parts = self.0.parts_mut(&mut image.residues).zip(self.0.parts(&a.residues));
        for ((component, image), (_, part)) in parts {
            let len = component.len();
            for (residue, position) in part.chunks_exact(len).zip(positions.clone()) {
                let at = position % n * len;
                let Some(out) = image.get_mut(at..at + len) else { continue };
                out.copy_from_slice(residue);
                if position >= n {
                    component.neg_assign(out);
                }
            }
        }
        if self.0.limbs.is_some() {
            let coefficients = self.coefficients(a)?;
            let mut moved = vec![BigUint::ZERO; n];
            for (x, position) in coefficients.into_iter().zip(positions) {
                if let Some(out) = moved.get_mut(position % n) {
                    *out = if position < n { x } else { (self.modulus() - x) % self.modulus() };
                }
            }
            return self.wrap(&moved);
        }
        Ok(image)
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<FermatPoly<Coefficient>, RingError> {
        check_length("plaintext", self.0.degree, message.len())?;
        if t < 2 || t >> 62 != 0 {
            return Err(out_of_range("plaintext modulus", "2 <= t < 2^62", t));
        }
        if let Some(&bad) = message.iter().find(|&&x| x >= t) {
            return Err(out_of_range("plaintext coefficient", format_args!("below t = {t}"), bad));
        }
        let half = t / 2;
        let scaled: Vec<BigUint> =
            message.iter().map(|&m| (self.modulus() * m + half) / t % self.modulus()).collect();
        Ok(self.reduced(&scaled))
    }

    fn scaler(&self, t: u64, options: &ScalerOptions) -> Result<FermatScaler, RingError> {
        FermatScaler::new(self, t, options)
    }

    fn gadget(&self, options: &GadgetOptions) -> Result<FermatGadget, RingError> {
        FermatGadget::new(self, options)
    }
}
