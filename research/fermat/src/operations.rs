//! Operations on polynomials of the storage over 2^g − 1.

use std::io::BufRead;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use rand_core::CryptoRng;
use sunzi_kernels::{KernelError, Modulus};
use sunzi_math::RingIndex;
use sunzi_ring::Representation::Values;
use sunzi_ring::storage::{check_automorphism, check_length, check_message, check_shape};
use sunzi_ring::{
    Append, Backend, Coefficient, Evaluation, Gadget, GadgetOptions, PackingError, Poly, Representation,
    Residues, Ring, RingError, Scaler, ScalerOptions, Shape, Storage, Tables, describe,
};

use crate::modulus::WORD;
use crate::residues::FermatResidues;
use crate::ring::tag_of;
use crate::{Component, FermatGadget, FermatRing, FermatScaler, general, packing};

impl FermatRing {
    /// Applies an operation to all pairs of residues of two polynomials, and another to all pairs of limbs.
    fn zip_assign(
        &self,
        a: &mut FermatResidues,
        b: &FermatResidues,
        residues: impl Fn(Component, &mut [u64], &[u64]),
        limbs: impl Fn(&Modulus, &mut [u64], &[u64]) -> Result<(), KernelError>,
    ) -> Result<(), RingError> {
        for ((component, a), (_, b)) in self.0.parts_mut(&mut a.words).zip(self.0.parts(&b.words)) {
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

    /// Adds polynomials modulo 2^g − 1: a ← a + b.
    fn add(&self, a: &mut FermatResidues, b: &FermatResidues) -> Result<(), RingError> {
        self.zip_assign(a, b, Component::add_assign, |p, a, b| p.add_assign(a, b))
    }

    /// Returns the rings at the level of `a` and at `level`, which is not above it.
    fn between(&self, a: &Residues, level: usize) -> Result<[Self; 2], RingError> {
        let own = self.level_of(a)?;
        if !(1..=own).contains(&level) {
            return Err(RingError::NoSuchLevel { got: level, highest: own });
        }
        Ok([self.at_level(own)?, self.at_level(level)?])
    }

    /// Returns the residues modulo the components of this ring, out of a ring that has these and more.
    pub(crate) fn first_residues(&self, a: &FermatResidues) -> FermatResidues {
        let mut first = self.empty();
        for (out, word) in first.words.iter_mut().zip(&*a.words) {
            *out = *word;
        }
        first
    }

    /// Multiplies a polynomial by an integer: a ← c·a.
    fn multiply_by_integer(&self, a: &mut FermatResidues, c: &BigInt) -> Result<(), RingError> {
        let c = self.modulo(c);
        let words: Vec<u64> = c.iter_u64_digits().collect();
        for (component, a) in self.0.parts_mut(&mut a.words) {
            let mut product = Vec::new();
            for a in a.chunks_exact_mut(component.len()) {
                if let [c @ 0..=0x7fff_ffff_ffff_ffff] = *words {
                    component.mul_word_assign(a, c);
                    continue;
                }
                product.resize(a.len() + words.len(), 0);
                general::mul(&mut product, a, &words);
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

    /// Returns a(X^k) for residues modulo the components alone, whose n coefficients go to these positions below 2n.
    fn permuted(&self, a: &FermatResidues, positions: impl Iterator<Item = usize> + Clone) -> FermatResidues {
        let (n, mut image) = (self.0.degree, self.empty());
        let parts = self.0.parts_mut(&mut image.words).zip(self.0.parts(&a.words));
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
        image
    }
}

impl Backend for FermatRing {
    fn ring_index(&self) -> &RingIndex {
        &self.0.index
    }

    fn modulus(&self) -> &BigUint {
        &self.0.value
    }

    /// Number of limbs of the storage: one for every component, and one more for the primes of a ring of products.
    fn level(&self) -> usize {
        self.0.modulus.level() + usize::from(self.0.limbs.is_some())
    }

    fn at_level(&self, level: usize) -> Result<Arc<dyn Backend>, RingError> {
        Ok(Arc::new(self.at_level(level)?))
    }

    fn check(&self, a: &Residues) -> Result<(), RingError> {
        check_shape(self.shape(), a.shape())?;
        if a.tag() == self.0.tag { Ok(()) } else { Err(RingError::OtherModulus { shape: self.shape() }) }
    }

    fn level_of(&self, a: &Residues) -> Result<usize, RingError> {
        let (own, Shape { degree, limbs }) = (self.check(a), a.shape());
        // Below the highest level there are no primes: one limb for each component.
        if own.is_ok() || degree != self.0.degree || !(1..self.level()).contains(&limbs) {
            return own.map(|()| self.level());
        }
        if a.tag() == tag_of(&self.0.modulus.at_level(limbs)?, &[]) {
            return Ok(limbs);
        }
        Err(RingError::OtherModulus { shape: a.shape() })
    }

    fn restrict(&self, a: &Residues, level: usize) -> Result<Residues, RingError> {
        let [from, to] = self.between(a, level)?;
        if to.level() == from.level() {
            return Ok(a.clone());
        }
        Ok(to.wrap(to.first_residues(from.residues(a)?)))
    }

    /// Multiplies by a polynomial `b`, whose lift is stored with it: it is a key as a rule.
    fn mul_restricted_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        let level = self.level_of(a)?;
        let [_, ring] = self.between(b, level)?;
        if !ring.lifts_keys() {
            return ring.mul_assign(a, &self.restrict(b, level)?.into());
        }
        *a = ring.wrap(ring.product_with_key(ring.residues(a)?, b.content()?)?);
        Ok(())
    }

    /// Switches moduli of a polynomial through integers: this operation is no part of `[TSKJ20]`.
    fn mod_switch(&self, a: &Poly<Evaluation>, level: usize) -> Result<Poly<Evaluation>, RingError> {
        let [from, to] = self.between(a, level)?;
        let divisor = from.modulus() / to.modulus();
        let half = &divisor >> 1_u32;
        let integers = from.coefficients(from.residues(a)?, Values)?;
        let switched: Vec<BigUint> = integers.iter().map(|x| (x + &half) / &divisor % to.modulus()).collect();
        Ok(to.wrap(to.represented(&switched, Values)?))
    }

    /// # Errors
    /// [`RingError::OutOfRange`] always: no modulus 2^g − 1 is a product of word-size primes.
    fn divide_by_factor(
        &self,
        a: &Poly<Evaluation>,
        d: u64,
        _rest: u64,
    ) -> Result<Poly<Evaluation>, RingError> {
        self.level_of(a)?;
        Err(RingError::out_of_range("divisor", "none: moduli 2^h + 1 are not divided within", d))
    }

    fn scale_up(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let from = self.at_level(self.level_of(a)?)?;
        let factor = self.modulus() / from.modulus();
        let integers = from.coefficients(from.residues(a)?, Values)?;
        let scaled: Vec<BigUint> = integers.iter().map(|x| x * &factor).collect();
        Ok(self.wrap(self.represented(&scaled, Values)?))
    }

    fn zero(&self, _: Representation) -> Residues {
        self.wrap(self.empty())
    }

    fn from_signed(&self, coefficients: &[i64]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.0.degree, coefficients.len())?;
        let mut poly = self.empty();
        for (component, residues) in self.0.parts_mut(&mut poly.words) {
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
        Ok(self.wrap(poly))
    }

    fn from_integers(&self, coefficients: &[BigInt]) -> Result<Poly<Coefficient>, RingError> {
        check_length("coefficients", self.0.degree, coefficients.len())?;
        let integers: Vec<BigUint> = coefficients.iter().map(|c| self.modulo(c)).collect();
        Ok(self.wrap(self.reduced(&integers)))
    }

    fn to_integers(&self, a: &Poly<Coefficient>) -> Result<Vec<BigInt>, RingError> {
        Ok(self.integers(self.residues(a)?)?.into_iter().map(|x| self.center(x)).collect())
    }

    fn uniform(&self, rng: &mut dyn CryptoRng) -> Poly<Evaluation> {
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
        for (component, residues) in self.0.parts_mut(&mut poly.words) {
            for (residue, x) in residues.chunks_exact_mut(component.len()).zip(drawn.chunks_exact(words)) {
                component.reduce(residue, x);
            }
        }
        if let Some(limbs) = &self.0.limbs {
            limbs.uniform(&mut poly.limbs, rng);
        }
        self.wrap(poly)
    }

    /// Returns the polynomial in evaluation form: modulo 2^g − 1 nothing changes.
    fn to_evaluation(&self, mut a: Poly<Coefficient>) -> Result<Poly<Evaluation>, RingError> {
        self.forward(self.residues_mut(&mut a)?)?;
        Ok(a.relabel())
    }

    fn to_coefficient(&self, mut a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.inverse(self.residues_mut(&mut a)?)?;
        Ok(a.relabel())
    }

    fn add_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.add(self.residues_mut(a)?, self.residues(b)?)
    }

    fn sub_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        let (a, b) = (self.residues_mut(a)?, self.residues(b)?);
        self.zip_assign(a, b, Component::sub_assign, |p, a, b| p.sub_assign(a, b))
    }

    fn neg_assign(&self, a: &mut Residues) -> Result<(), RingError> {
        let a = self.residues_mut(a)?;
        for (component, a) in self.0.parts_mut(&mut a.words) {
            a.chunks_exact_mut(component.len()).for_each(|a| component.neg_assign(a));
        }
        if let Some(limbs) = &self.0.limbs {
            limbs.rows(&mut a.limbs).for_each(|(plan, limb)| plan.modulus().neg_assign(limb));
        }
        Ok(())
    }

    fn mul_assign(&self, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        let [product] = self.sums_of_products(&[self.residues(a)?, self.residues(b)?], [&[(0, 1)]])?;
        *a = self.wrap(product);
        Ok(())
    }

    fn mul_add_assign(
        &self,
        acc: &mut Poly<Evaluation>,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
    ) -> Result<(), RingError> {
        let acc = self.residues_mut(acc)?;
        let [product] = self.sums_of_products(&[self.residues(a)?, self.residues(b)?], [&[(0, 1)]])?;
        self.add(acc, &product)
    }

    fn tensor(
        &self,
        [a0, a1]: [&Poly<Evaluation>; 2],
        [b0, b1]: [&Poly<Evaluation>; 2],
        t: u64,
    ) -> Result<[Poly<Evaluation>; 3], RingError> {
        let factors = [a0, a1, b0, b1].map(|a| self.residues(a));
        let factors: Vec<&FermatResidues> = factors.into_iter().collect::<Result<_, _>>()?;
        let mut parts = self.sums_of_products(&factors, [&[(0, 2)], &[(0, 3), (1, 2)], &[(1, 3)]])?;
        if t != 1 {
            parts.iter_mut().try_for_each(|part| self.multiply_by_integer(part, &t.into()))?;
        }
        Ok(parts.map(|part| self.wrap(part)))
    }

    fn mul_integer_assign(&self, a: &mut Residues, c: &BigInt) -> Result<(), RingError> {
        self.multiply_by_integer(self.residues_mut(a)?, c)
    }

    fn automorphism(
        &self,
        a: &Residues,
        representation: Representation,
        k: u64,
    ) -> Result<Residues, RingError> {
        let (n, a) = (self.0.degree, self.residues(a)?);
        check_automorphism(k, self.ring_index())?;
        // X^i goes to X^(ik mod m), and X^(n+j) = −X^j.
        let positions = (0..n as u64).map(|i| (i * k % self.index()) as usize);
        if self.0.limbs.is_none() {
            return Ok(self.wrap(self.permuted(a, positions)));
        }
        let mut moved = vec![BigUint::ZERO; n];
        for (x, position) in self.coefficients(a, representation)?.into_iter().zip(positions) {
            if let Some(out) = moved.get_mut(position % n) {
                *out = if position < n { x } else { (self.modulus() - x) % self.modulus() };
            }
        }
        Ok(self.wrap(self.represented(&moved, representation)?))
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError> {
        check_message(message, t, self.0.degree)?;
        let half = t / 2;
        let scaled: Vec<BigUint> =
            message.iter().map(|&m| (self.modulus() * m + half) / t % self.modulus()).collect();
        Ok(self.wrap(self.reduced(&scaled)))
    }

    fn packed_len(&self) -> usize {
        packing::packed_len(self)
    }

    fn pack(&self, a: &Residues, _: Representation, out: &mut dyn Append) -> Result<(), PackingError> {
        packing::pack(self, self.residues(a)?, out)
    }

    fn unpack(&self, _: Representation, from: &mut dyn BufRead) -> Result<Residues, PackingError> {
        Ok(self.wrap(packing::unpack(self, from)?))
    }
}

impl Tables for FermatRing {
    fn scaler(&self, ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Scaler, RingError> {
        FermatScaler::new(ring.storage_as::<Self>()?, t, options).map(Scaler::new)
    }

    fn gadget(&self, ring: &Ring, options: &GadgetOptions) -> Result<Gadget, RingError> {
        FermatGadget::new(ring.storage_as::<Self>()?, options).map(Gadget::new)
    }

    fn description(&self, ring: &Ring) -> Vec<u8> {
        let Ok(own) = ring.storage_as::<Self>() else { return Vec::new() };
        let modulus = own.fermat_modulus();
        let (bits, smallest) = (modulus.bits() as u64, modulus.smallest() as u64);
        // The usual smallest component goes without saying.
        let numbers: &[u64] = if modulus.smallest() == WORD { &[bits] } else { &[bits, smallest] };
        describe(Storage::Fermat, own.index(), numbers)
    }
}
