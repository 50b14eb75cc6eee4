//! Scaler of multi-precision integers: Dec_MP and the steps of Mult_MP before relinearisation.

use std::ops::RangeInclusive;
use std::sync::Arc;

use sunzi_kernels::Modulus;
use sunzi_ring::storage::{
    Scale, Scratch, Work, check_plaintext_modulus, check_table, choose_auxiliary_basis, entry,
};
use sunzi_ring::{
    Backend, Coefficient, Evaluation, Parallelism, Poly, Representation, Ring, RingError, ScalerBackend,
    ScalerOptions, ScalingBounds, Side, WordRing,
};
use zeroize::Zeroizing;

use super::conversion::Conversion;
use super::rounding::Ratio;
use super::tables::MultiPrecision;

/// Scaler of BFV by division and rounding DR of `[BEHZ16, eq. (1)]` over the integers, without approximation.
///
/// The scaler's wide basis q ∪ B' is that of the residue ring for equal options, so that both multiply
/// polynomials of equal size `[BEHZ16, B.3]`.
#[derive(Clone, Debug)]
pub struct MultiPrecisionScaler(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Ring modulo q of the scaler.
    base: WordRing,
    /// Ring modulo q, then B', in which products are computed; the next field is its storage.
    wide: Ring,
    wide_words: WordRing,
    /// Limbs modulo B' of the wide ring.
    auxiliary: WordRing,
    /// Factors (q/q_i)^-1, and those of the wide basis, folded into inverse transforms.
    inverses: Vec<Scale>,
    wide_inverses: Vec<Scale>,
    extension: Conversion,
    scaling: Conversion,
    decryption: Conversion,
    products: u64,
}

impl MultiPrecisionScaler {
    pub(super) fn new(
        tables: MultiPrecision,
        ring: &Ring,
        t: u64,
        options: &ScalerOptions,
    ) -> Result<Self, RingError> {
        check_plaintext_modulus(t, 60)?;
        let (base, q) = (ring.words()?, ring.modulus());
        base.check_prefixes()?;
        if *q <= (2 * t).into() {
            return Err(RingError::out_of_range("modulus", format_args!("above 2t = {}", 2 * t), q));
        }
        let chosen = choose_auxiliary_basis(base.basis(), base.ring_index(), t, options)?;
        let moduli: Vec<u64> = chosen.b.iter().copied().chain([chosen.m_sk]).collect();
        let auxiliary = WordRing::with_isa(base.ring_index(), &moduli, base.isa())?;
        let wide = base.concat(&auxiliary)?;
        let ratio = Ratio { t, q };
        let conversion = |source: &WordRing, ratio: Option<Ratio<'_>>, target: &[Modulus]| {
            Conversion::new(tables.arithmetic(), source.basis(), ratio, target)
        };
        Ok(Self(Arc::new(Inner {
            inverses: inverses(base)?,
            wide_inverses: inverses(&wide)?,
            extension: conversion(base, None, auxiliary.basis().moduli())?,
            scaling: conversion(&wide, Some(ratio), base.basis().moduli())?,
            decryption: conversion(base, Some(ratio), &[Modulus::new(t)?])?,
            products: chosen.products,
            base: base.clone(),
            wide: Ring::from(wide.clone()).with_tables(tables),
            wide_words: wide,
            auxiliary,
        })))
    }
}

/// Returns the factors (q/q_i)^-1 of every limb.
pub(super) fn inverses(ring: &WordRing) -> Result<Vec<Scale>, RingError> {
    let factors = ring.basis().quotient_inverses();
    check_table("factor of an inverse transform", ring.plans().len(), factors.len())?;
    ring.plans().iter().zip(factors).map(|(plan, &c)| Ok(plan.scale(c)?)).collect()
}

impl Inner {
    /// Returns the message that the rows of a lift decrypt to.
    fn message(&self, rows: &[u64]) -> Result<Vec<u64>, RingError> {
        let mut message = vec![0; self.base.degree()];
        self.decryption.apply(rows, &mut message, self.base.degree())?;
        Ok(message)
    }

    /// Checks the level of the scaler's operands: products are computed modulo q alone.
    fn check_level(&self, level: usize) -> Result<(), RingError> {
        let top = self.base.level();
        if level == top { Ok(()) } else { Err(RingError::out_of_range("level of a product", top, level)) }
    }
}

/// Scaler that ignores which multiplication the options name: on integers its variants are equal.
impl ScalerBackend for MultiPrecisionScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        let top = self.0.base.level();
        top..=top
    }

    fn wide(&self, level: usize) -> Result<Ring, RingError> {
        self.0.check_level(level)?;
        Ok(self.0.wide.clone())
    }

    fn extend(&self, a: &Poly<Evaluation>, _: Side, level: usize) -> Result<Poly<Evaluation>, RingError> {
        let inner = &*self.0;
        inner.check_level(level)?;
        let ring = &inner.base;
        ring.check(a)?;
        let mut extended: Poly<Evaluation> = inner.wide.zero();
        let (low, high) = extended.words_mut().split_at_mut(a.words().len());
        let mut residues = Scratch::new(a.words().len());
        ring.transform().inverse_scaled_from(&mut residues, a, low, &inner.inverses)?;
        inner.extension.apply(&residues, high, ring.degree())?;
        inner.auxiliary.transform().forward(high)?;
        Ok(extended)
    }

    fn scale(&self, mut a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError> {
        let inner = &*self.0;
        inner.check_level(level)?;
        let wide = &inner.wide_words;
        wide.check(&a)?;
        wide.transform().inverse_scaled(a.words_mut(), &inner.wide_inverses)?;
        let mut scaled = Poly::from(inner.base.zero(Representation::Coefficients));
        inner.scaling.apply(a.words(), scaled.words_mut(), wide.degree())?;
        Ok(scaled)
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        let inner = &*self.0;
        inner.base.check(a)?;
        inner.message(&lift_residues(&inner.base, a)?)
    }

    /// Decrypts a polynomial from its values; the factors of the lift are folded into the inverse transforms.
    fn decrypt_values(&self, _: &Ring, mut rows: Zeroizing<Poly<Evaluation>>) -> Result<Vec<u64>, RingError> {
        let inner = &*self.0;
        inner.base.check(&rows)?;
        inner.base.transform().inverse_scaled(rows.words_mut(), &inner.inverses)?;
        inner.message(rows.words())
    }

    fn product_capacity(&self) -> u64 {
        self.0.products
    }

    fn bounds(&self) -> &ScalingBounds {
        const EXACT: ScalingBounds =
            ScalingBounds { overflow: 0.0, scale_error: 0.0, decryption_margin: 0.5, switching: None };
        &EXACT
    }
}

/// Returns the residues |a·(q/q_i)^-1|_{q_i} of a polynomial, limb after limb.
pub(super) fn lift_residues(ring: &WordRing, a: &Poly<Coefficient>) -> Result<Scratch, RingError> {
    let basis = ring.basis();
    let mut residues = Scratch::new(a.words().len());
    Parallelism::Collapsed.for_each_limb(Work::Elementwise, &mut residues, ring.degree(), |i, row| {
        let inverse = *entry("inverse of a quotient", basis.quotient_inverses(), i)?;
        row.copy_from_slice(a.own_limb(i)?);
        Ok(basis.own(i)?.mul_scalar_assign(row, inverse)?)
    })?;
    Ok(residues)
}
