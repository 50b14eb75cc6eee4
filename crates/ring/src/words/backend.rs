//! [`Backend`] implemented by the storage in words.

use std::io::BufRead;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_kernels::IntegerMatrix;
use sunzi_math::RingIndex;

use super::integers::{self, residue_of};
use super::plaintext::scale_into;
use super::raise::{self, Raise};
use super::{
    WordRing, automorphism, block_product, combination, division, error_sample, factor, gathered, masking,
    matrix_product, poly_matrix, sum, tensor,
};
use crate::backend::multiply_by_values;
use crate::error::{entry, part};
use crate::ladder::is_prefix;
use crate::once::get_or_try_init;
use crate::parallel::{BLOCK, Work, on_pool};
use crate::scratch::Scratch;
use crate::{
    Append, Backend, Coefficient, Evaluation, Factors, KeyPoly, PackedPoly, PackingError, Poly, PolyMatrix,
    Representation, Residues, RingError, Shape, packing,
};

impl Backend for WordRing {
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

    fn at_level(&self, level: usize) -> Result<Arc<dyn Backend>, RingError> {
        Ok(Arc::new(Self::at_level(self, level)?))
    }

    fn check(&self, a: &Residues) -> Result<(), RingError> {
        self.check_basis(a.shape(), a.tag())
    }

    fn level_of(&self, a: &Residues) -> Result<usize, RingError> {
        let (ladder, Shape { degree, limbs }) = (self.ladder(), a.shape());
        let mismatch = RingError::ShapeMismatch { expected: self.shape(), got: a.shape() };
        match ladder.level_of(a.tag(), self.0.level) {
            _ if degree != self.0.degree => Err(mismatch),
            Some(level) if ladder.limbs(level).len() == limbs => Ok(level),
            _ if ladder.has_length(limbs, self.0.level) => Err(RingError::OtherModulus { shape: a.shape() }),
            _ => Err(mismatch),
        }
    }

    fn restrict(&self, a: &Residues, level: usize) -> Result<Residues, RingError> {
        let places = self.nested(level, self.level_of(a)?)?;
        let (n, tag) = (self.0.degree, self.ladder().tag(level)?);
        if is_prefix(&places) {
            let words = part("limb of a polynomial", a.words(), 0..places.len() * n, places.len())?;
            return Ok(Residues::new(Scratch::from_slice(words), n, tag));
        }
        Ok(Residues::new(gathered(a, &places)?, n, tag))
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

    /// Computes the product a·b and the sum with c in one pass, restricted to level l on the way.
    fn mul_add_restricted(
        &self,
        a: &Poly<Evaluation>,
        b: &Poly<Evaluation>,
        c: &Poly<Evaluation>,
        level: usize,
    ) -> Result<Poly<Evaluation>, RingError> {
        let mut places = [const { Vec::new() }; 3];
        for (places, poly) in places.iter_mut().zip([a, b, c]) {
            *places = self.nested(level, self.level_of(poly)?)?;
        }
        let [of_a, of_b, of_c] = &places;
        let target = Self::at_level(self, level)?;
        let mut sum = target.arbitrary::<Evaluation>();
        target.for_each_modulus(&mut sum, |i, modulus, range, part| {
            let (a, b) = (a.part_at(of_a, i, range.clone())?, b.part_at(of_b, i, range.clone())?);
            let c = c.part_at(of_c, i, range)?;
            let factors = a.chunks(BLOCK).zip(b.chunks(BLOCK));
            // A copied block is still in the first-level cache when products are added to it.
            for ((sum, (a, b)), c) in part.chunks_mut(BLOCK).zip(factors).zip(c.chunks(BLOCK)) {
                sum.copy_from_slice(c);
                modulus.mul_add_assign(sum, a, b)?;
            }
            Ok(())
        })?;
        Ok(sum)
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

    fn masked(
        &self,
        parts: [&Poly<Evaluation>; 2],
        message: Option<&Poly<Coefficient>>,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        masking::by_limbs(self, parts, message, level, rng)
    }

    fn divide_by_factor(
        &self,
        a: &Poly<Evaluation>,
        d: u64,
        rest: u64,
    ) -> Result<Poly<Evaluation>, RingError> {
        factor::divide_residues(self, a, d, rest)
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

    fn zero(&self, _: Representation) -> Residues {
        let Shape { degree, limbs } = self.shape();
        Residues::new(Scratch::zeroed(degree * limbs), degree, self.basis().tag())
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

    fn error_sample(
        &self,
        products: &[[&Poly<Evaluation>; 2]],
        errors: u32,
        negated: bool,
        rng: &mut dyn CryptoRng,
    ) -> Result<Poly<Evaluation>, RingError> {
        error_sample::error_sample(self, products, errors, negated, rng)
    }

    /// Draws a polynomial as a function of 32 bytes of `rng`: limb i comes from the stream ("uniform limb", i) of
    /// that seed.
    fn uniform(&self, rng: &mut dyn CryptoRng) -> Poly<Evaluation> {
        integers::uniform(self, rng)
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

    fn add_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.zip_assign(a, b, |modulus, a, b| Ok(modulus.add_assign(a, b)?))
    }

    fn sum(&self, representation: Representation, polys: &[&Residues]) -> Result<Residues, RingError> {
        sum::sum(self, representation, polys)
    }

    fn sub_assign(&self, a: &mut Residues, b: &Residues) -> Result<(), RingError> {
        self.zip_assign(a, b, |modulus, a, b| Ok(modulus.sub_assign(a, b)?))
    }

    fn neg_assign(&self, a: &mut Residues) -> Result<(), RingError> {
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
        lists: &[Factors<'_>],
        level: usize,
    ) -> Result<Vec<Poly<Evaluation>>, RingError> {
        tensor::inner_products(self, lists, level)
    }

    fn mul_integer_assign(&self, a: &mut Residues, c: &BigInt) -> Result<(), RingError> {
        self.for_each_modulus(a, |_, modulus, _, part| {
            Ok(modulus.mul_scalar_assign(part, residue_of(c, modulus.value()))?)
        })
    }

    fn linear_combination(
        &self,
        terms: &[(&BigInt, &Residues)],
        level: usize,
        _: Representation,
    ) -> Result<Residues, RingError> {
        combination::sum(self, terms, level)
    }

    fn add_linear_combination_assign(
        &self,
        a: &mut Residues,
        terms: &[(&BigInt, &Residues)],
    ) -> Result<(), RingError> {
        combination::combine(self, a, terms, true)
    }

    fn matrix_product(
        &self,
        matrix: &IntegerMatrix,
        polys: &[&Residues],
        level: usize,
        _: Representation,
    ) -> Result<Vec<Residues>, RingError> {
        matrix_product::multiply(self, matrix, polys, level)
    }

    fn block_products(
        &self,
        size: usize,
        left: &[Vec<&Poly<Evaluation>>],
        right: &[Vec<&Poly<Evaluation>>],
        level: usize,
    ) -> Result<Vec<Vec<Poly<Evaluation>>>, RingError> {
        block_product::multiply(self, size, [left, right], level)
    }

    fn add_integer_assign(&self, a: &mut Poly<Evaluation>, c: &BigInt) -> Result<(), RingError> {
        integers::add(self, a, c)
    }

    fn mul_monomial_assign(&self, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
        let (n, k) = (self.degree() as u64, exponent % self.index());
        // The evaluation order mixes both halves of the roots for n below 128.
        let whole = self.ring_index().is_power_of_two() && !self.ring_index().is_real();
        if !whole || n < 128 || !k.is_multiple_of(n / 2) {
            return multiply_by_values(self, a, k);
        }
        self.for_each_modulus(a, |i, modulus, range, values| {
            let psi = self.plan(i)?.root();
            // The values of X^(n/2) are i = ψ^(n/2) at the first half of the roots, i³ = −i at the second.
            let middle = (n as usize / 2).clamp(range.start, range.end) - range.start;
            let (first, second) = values.split_at_mut_checked(middle).unwrap_or_default();
            modulus.mul_scalar_assign(first, modulus.pow(psi, k))?;
            Ok(modulus.mul_scalar_assign(second, modulus.pow(psi, 3 * k))?)
        })
    }

    fn automorphism(
        &self,
        a: &Residues,
        representation: Representation,
        k: u64,
    ) -> Result<Residues, RingError> {
        automorphism::apply(self, a, representation, k)
    }

    fn scale_plaintext(&self, message: &[u64], t: u64) -> Result<Poly<Coefficient>, RingError> {
        let mut scaled = self.arbitrary();
        scale_into(self.basis(), scaled.words_mut(), self.degree(), message, t)?;
        Ok(scaled)
    }

    fn poly_matrix(&self, rows: usize, columns: usize) -> Result<PolyMatrix, RingError> {
        poly_matrix::zeros(self, rows, columns)
    }

    fn packed(&self, a: &Poly<Evaluation>) -> Result<PackedPoly, RingError> {
        Ok(PackedPoly::new(KeyPoly::new(a, self)?))
    }

    fn packed_combination(&self, terms: &[(&BigInt, &Poly<Evaluation>)]) -> Result<PackedPoly, RingError> {
        combination::packed(self, terms)
    }

    fn unpacked(&self, a: &PackedPoly) -> Result<Poly<Evaluation>, RingError> {
        a.0.get::<KeyPoly>()?.poly(self)
    }

    fn sum_packed(
        &self,
        packed: &[&PackedPoly],
        plus: Option<&Poly<Evaluation>>,
    ) -> Result<Poly<Evaluation>, RingError> {
        let packed = packed.iter().map(|part| part.0.get()).collect::<Result<Vec<_>, _>>()?;
        KeyPoly::unpacked_sum(&packed, plus, self)
    }

    fn packed_len(&self) -> usize {
        packing::rows_len(self.degree(), self.basis().values())
    }

    fn pack(&self, a: &Residues, _: Representation, out: &mut dyn Append) -> Result<(), PackingError> {
        self.check(a)?;
        packing::pack_rows(a.limbs(), self.basis().values(), out)
    }

    fn unpack(&self, _: Representation, from: &mut dyn BufRead) -> Result<Residues, PackingError> {
        let mut a = self.arbitrary_residues();
        packing::unpack_rows(a.words_mut().chunks_exact_mut(self.degree()), self.basis().values(), from)?;
        Ok(a)
    }
}
