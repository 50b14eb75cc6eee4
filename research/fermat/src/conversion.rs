//! Conversions from q to B_sk and back [BEHZ16, Alg. 3].

use num_bigint::BigUint;
use sunzi_kernels::{Conversion, InverseScale, Modulus};
use sunzi_math::{mod_inv, mul_mod};
use sunzi_ring::{Backend, Basis, RingError};

use crate::FermatRing;
use crate::blocks::{for_each_block, for_each_row};
use crate::combination::{BLOCK, Combination};
use crate::digits::{Digits, Factor, Rows};
use crate::limbs::Limbs;
use crate::residues::FermatResidues;

/// Tables of steps S0, S1, S3 and S4 of BFV's product `[BEHZ16, Alg. 3]`.
pub(crate) struct Conversions {
    ring: FermatRing,
    wide: FermatRing,
    limbs: Limbs,
    t: u64,
    m_tilde_bits: u32,
    digits: Digits,
    /// Conversion FastBconv to B_sk, from digits.
    plain: Conversion,
    /// Conversion of the extension to B_sk, from digits, r + m̃/2, and ones.
    extension: Conversion,
    /// Conversion −FastBconv·q^-1 times the factors of z_j, from digits.
    floor: Conversion,
    /// Scales t·q^-1 times the factors of z_j.
    floor_scales: Vec<InverseScale>,
    /// Conversion from z_j, z_sk and ones to α + h.
    alpha: Conversion,
    /// Combinations of z_j, α + h and ones back to every component.
    back: Vec<Combination>,
}

impl std::fmt::Debug for Conversions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversions").field("t", &self.t).finish_non_exhaustive()
    }
}

/// Makes the conversion that is a matrix product with these columns.
fn conversion(
    sources: &[Modulus],
    targets: &[Modulus],
    columns: &[Vec<u64>],
) -> Result<Conversion, RingError> {
    let entry = |i: usize, j: usize| columns.get(j).and_then(|column| column.get(i)).copied().unwrap_or(0);
    Ok(Conversion::new(sources, targets, entry)?)
}

impl Conversions {
    pub(crate) fn new(wide: &FermatRing, t: u64, m_tilde_bits: u32) -> Result<Self, RingError> {
        let ring = wide.without_limbs(wide.fermat_modulus().level())?;
        let Some(limbs) = wide.0.limbs.clone() else {
            return Err(RingError::out_of_range("limbs", "some", 0));
        };
        let q = ring.fermat_modulus();
        let digits = Digits::new(&ring);
        let targets = limbs.basis().moduli().to_vec();
        let (sk, b) = sk_factors(&limbs)?;
        let ones = Modulus::new(2)?;
        let (mut plain, mut extension, mut floor, mut scales) = (vec![], vec![], vec![], vec![]);
        let u = q.level() as u64 / 2;
        for ((plan, p), &factor) in limbs.plans().iter().zip(&targets).zip(&sk) {
            let value = p.value();
            plain.push(digits.column(value, 1)?);
            let (q, m_tilde) = (q.remainder(value), mod_inv(1 << m_tilde_bits, value)?);
            // (c″ − u·q)/m̃ + r⁺·q/m̃ − q/2 for r = r⁺ − m̃/2.
            let mut column = digits.column(value, m_tilde)?;
            let step = p.mul(q, m_tilde);
            column.push(step);
            column.push(p.neg(p.add(p.mul(step, u), p.mul(q, mod_inv(2, value)?))));
            extension.push(column);
            let quotient = p.mul(mod_inv(q, value)?, factor);
            floor.push(digits.column(value, p.neg(quotient))?);
            scales.push(plan.scale(p.mul(quotient, t % value))?);
        }
        let sources = digits.sources()?;
        let with = |more: &[Modulus]| sources.iter().chain(more).copied().collect::<Vec<_>>();
        let m_tilde = Modulus::new(1 << m_tilde_bits)?;
        let (alpha, back) = shenoy_kumaresan(&ring, &b, &targets)?;
        Ok(Self {
            plain: conversion(&sources, &targets, &plain)?,
            extension: conversion(&with(&[m_tilde, ones]), &targets, &extension)?,
            floor: conversion(&sources, &targets, &floor)?,
            floor_scales: scales,
            alpha,
            back,
            ring,
            wide: wide.clone(),
            limbs,
            t,
            m_tilde_bits,
            digits,
        })
    }

    /// Computes FastBconv(a, q, B_sk), the fast base conversion.
    pub(crate) fn convert(&self, a: &FermatResidues) -> Result<Vec<u64>, RingError> {
        let n = self.ring.degree();
        let mut out = vec![0; n * self.limbs.basis().len()];
        for_each_block(out.chunks_exact_mut(n).map(|limb| (limb, 1)), |rows: &mut Rows, block, out| {
            self.digits.cut(a, block, Factor::Words(&[]), rows);
            let inputs: Vec<&[u64]> = rows.rows.chunks_exact(BLOCK).collect();
            Ok(self.plain.apply(&inputs, out)?)
        })?;
        Ok(out)
    }

    /// Steps S0 and S1 of `[BEHZ16, Alg. 3]`: FastBconv of |m̃·a|_q to B_sk ∪ {m̃} and the small Montgomery
    /// reduction `[BEHZ16, Alg. 2]`, with a multiple of q subtracted so that the mean of lifts is negligible.
    pub(crate) fn extend(&self, a: &FermatResidues) -> Result<FermatResidues, RingError> {
        let n = self.ring.degree();
        let mut extended = self.wide.empty();
        extended.words.copy_from_slice(&a.words);
        let (mask, half) = ((1_u64 << self.m_tilde_bits) - 1, 1 << (self.m_tilde_bits - 1));
        let shift = half + self.ring.fermat_modulus().level() as u64 / 2;
        let limbs = extended.limbs.chunks_exact_mut(n).map(|limb| (limb, 1));
        for_each_block(limbs, |rows: &mut Rows, block, out| {
            self.digits.cut(a, block, Factor::PowerOfTwo(self.m_tilde_bits), rows);
            // −c″/q = c″ modulo m̃, since q = −1 there.
            for low in &mut rows.low {
                *low = low.wrapping_add(shift) & mask;
            }
            let mut inputs: Vec<&[u64]> = rows.rows.chunks_exact(BLOCK).collect();
            inputs.extend([rows.low.as_slice(), &[1; BLOCK]]);
            Ok(self.extension.apply(&inputs, out)?)
        })?;
        for_each_row(&mut extended.limbs, n, |i, limb| {
            self.limbs.plans().get(i).map_or(Ok(()), |plan| Ok(plan.forward(limb)?))
        })?;
        Ok(extended)
    }

    /// Steps S3 and S4 of `[BEHZ16, Alg. 3]`: the fast RNS floor of t·a/q in B_sk, and the conversion to q
    /// with the redundant m_sk.
    pub(crate) fn scale(&self, mut a: FermatResidues) -> Result<FermatResidues, RingError> {
        let n = self.ring.degree();
        for_each_row(&mut a.limbs, n, |i, limb| {
            match (self.limbs.plans().get(i), self.floor_scales.get(i)) {
                (Some(plan), Some(scale)) => Ok(plan.inverse_scaled(limb, scale)?),
                _ => Ok(()),
            }
        })?;
        let mut scaled = self.ring.empty();
        let outs = self.ring.0.parts_mut(&mut scaled.words).map(|(component, part)| (part, component.len()));
        for_each_block(outs, |(rows, floored): &mut (Rows, Vec<u64>), block, outs| {
            floored.resize(self.limbs.basis().len() * BLOCK, 0);
            self.scale_block(&a, block, rows, floored, outs)
        })?;
        Ok(scaled)
    }

    /// Scales a block of coefficients of a product, whose inverse transforms in B_sk are done.
    fn scale_block(
        &self,
        a: &FermatResidues,
        block: usize,
        rows: &mut Rows,
        floored: &mut [u64],
        outs: &mut [&mut [u64]],
    ) -> Result<(), RingError> {
        self.digits.cut(a, block, Factor::Words(&[self.t]), rows);
        let inputs: Vec<&[u64]> = rows.rows.chunks_exact(BLOCK).collect();
        self.floor.apply(&inputs, &mut floored.chunks_exact_mut(BLOCK).collect::<Vec<_>>())?;
        let own = block * BLOCK..(block + 1) * BLOCK;
        let parts = floored.chunks_exact_mut(BLOCK).zip(a.limbs.chunks_exact(self.ring.degree()));
        for ((floored, limb), p) in parts.zip(self.limbs.basis().moduli()) {
            p.add_assign(floored, limb.get(own.clone()).unwrap_or_default())?;
        }
        let mut inputs: Vec<&[u64]> = floored.chunks_exact(BLOCK).collect();
        let (mut alpha, ones) = ([0; BLOCK], [1; BLOCK]);
        inputs.push(&ones);
        self.alpha.apply(&inputs, &mut [&mut alpha])?;
        // α + h takes the place of z_sk.
        let sk = inputs.len().saturating_sub(2);
        if let Some(row) = inputs.get_mut(sk) {
            *row = &alpha;
        }
        self.back.iter().zip(outs).try_for_each(|(combination, out)| combination.apply(&inputs, out))
    }
}

/// Returns the factors (m_j/M mod m_j for every j, −1/M mod m_sk) of FastBconvSK, and B.
fn sk_factors(limbs: &Limbs) -> Result<(Vec<u64>, Basis), RingError> {
    let values = limbs.basis().values();
    let (sk, b) = values.split_last().map_or((3, values), |(sk, b)| (*sk, b));
    let b = Basis::new(b)?;
    let mut factors = b.quotient_inverses().to_vec();
    factors.push(sk - mod_inv(b.product_mod(sk), sk)?);
    Ok((factors, b))
}

/// Makes FastBconvSK [BEHZ16, Lemma 6]: eq. (12) for α + h with h = (m_sk − 1)/2, and eq. (13) for every component.
fn shenoy_kumaresan(
    ring: &FermatRing,
    b: &Basis,
    targets: &[Modulus],
) -> Result<(Conversion, Vec<Combination>), RingError> {
    let (ones, Some(sk)) = (Modulus::new(2)?, targets.last()) else {
        return Err(RingError::out_of_range("auxiliary primes", "some", 0));
    };
    let half = (sk.value() - 1) / 2;
    let sources: Vec<Modulus> = targets.iter().copied().chain([ones]).collect();
    let mut column = b.values().iter().map(|&m| mod_inv(m, sk.value())).collect::<Result<Vec<_>, _>>()?;
    column.extend([1, half]);
    let alpha = conversion(&sources, &[*sk], &[column])?;
    let product = b.product();
    let mut back = Vec::with_capacity(ring.level());
    for &component in ring.fermat_modulus().components() {
        let q = component.value();
        let mut constants: Vec<BigUint> = b.values().iter().map(|&m| product / m % &q).collect();
        constants.extend([&q - product % &q, product * half % &q]);
        back.push(Combination::new(component, &sources, &constants)?);
    }
    debug_assert_eq!(mul_mod(2, half, sk.value()) + 1, sk.value());
    Ok((alpha, back))
}
