//! Division by a product of moduli with rounding: modulus switching, and the way down from R_QP.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use sunzi_kernels::{Buffer, Conversion, Isa, Modulus, RoundedQuotient};
use sunzi_math::mod_inv;
use zeroize::{Zeroize, Zeroizing};

use crate::parallel::{Parallelism, Work, block_of};
use crate::scratch::Scratch;
use crate::transform::{Plan, Scale};
use crate::{Coefficient, Evaluation, Poly, PolyRing, Ring, RingError};

/// [`PolyRing::mod_switch`] and, with b, [`PolyRing::mod_switch_sum`].
pub(crate) fn switch_down(
    ring: &Ring,
    a: &Poly<Evaluation>,
    b: Option<&Poly<Coefficient>>,
    level: usize,
) -> Result<Poly<Evaluation>, RingError> {
    let from = ring.level_of(a)?;
    let ring = ring.at_level(from)?;
    b.map_or(Ok(()), |b| ring.check(b))?;
    if level == from {
        let mut sum = a.clone();
        // The errors and the message of an encryption.
        b.map_or(Ok(()), |b| ring.add_assign(&mut sum, &Zeroizing::new(ring.to_evaluation(b.clone())?)))?;
        return Ok(sum);
    }
    let mut switched = ring.at_level(level)?.arbitrary();
    ring.division(level)?.divide(switched.words_mut(), a.words(), b.map(Poly::words))?;
    Ok(switched)
}

/// What the remainder is multiplied by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    /// Nothing.
    One,
    /// D^-1.
    Inverse,
}

/// ⌊x/D⌉ modulo the target moduli for D = d_1⋯d_s: (x − r)/D with r = [x]_D the centred remainder.
///
/// With y_i = |x·d_i/D|_{d_i} and v = ⌊Σ y_i/d_i⌉ the remainder is r = Σ y_i·(D/d_i) − v·D [HPS19]: one matrix product with v as a
/// further row. In doubles v is off by one only where x/D is within [`RoundedQuotient::error`] of a half: ‖⌊x/D⌉ − x/D‖ ≤ 1/2 + that.
pub(crate) struct Division {
    divisor: Vec<Arc<Plan>>,
    targets: Vec<Arc<Plan>>,
    /// D/d_i to the power of −1, folded into inverse transforms.
    scales: Vec<Scale>,
    /// The same, for what does not come from a transform.
    factors: Vec<u64>,
    quotient: RoundedQuotient,
    /// From y and v to −r, times D^-1 for [`Factor::Inverse`], for the targets of each group.
    remainders: Vec<(Range<usize>, Conversion)>,
    /// D^-1 modulo every target.
    inverses: Vec<u64>,
    parallelism: Parallelism,
}

impl Division {
    pub(crate) fn new(
        [divisor, targets]: [&[Arc<Plan>]; 2],
        groups: Vec<Range<usize>>,
        isa: Isa,
        factor: Factor,
        parallelism: Parallelism,
    ) -> Result<Self, RingError> {
        let moduli: Vec<Modulus> = divisor.iter().map(|plan| plan.modulus()).collect();
        let product_mod = |q: &Modulus, without: usize| {
            let others = moduli.iter().enumerate().filter(|&(i, _)| i != without);
            others.fold(1, |product, (_, d)| q.mul(product, q.reduce(d.value())))
        };
        let inverse_mod = |q: &Modulus, without| mod_inv(product_mod(q, without), q.value());
        let factors: Vec<u64> =
            moduli.iter().enumerate().map(|(i, d)| inverse_mod(d, i)).collect::<Result<_, _>>()?;
        let scales: Result<_, _> = divisor.iter().zip(&factors).map(|(plan, &c)| plan.scale(c)).collect();
        let to: Vec<Modulus> = targets.iter().map(|plan| plan.modulus()).collect();
        let inverses: Vec<u64> = to.iter().map(|q| inverse_mod(q, usize::MAX)).collect::<Result<_, _>>()?;
        let quotient = RoundedQuotient::new(isa, &moduli)?;
        let rows: Vec<Modulus> = moduli.iter().copied().chain([quotient.range()]).collect();
        let group = |range: Range<usize>| {
            let to = to.get(range.clone()).unwrap_or_default();
            let inverses = inverses.get(range.clone()).unwrap_or_default();
            let entry = |i: usize, j: usize| {
                let (Some(q), Some(&inverse)) = (to.get(j), inverses.get(j)) else { return 0 };
                let factor = if factor == Factor::One { 1 } else { inverse };
                let entry = q.mul(product_mod(q, i), factor);
                if i < moduli.len() { q.neg(entry) } else { entry }
            };
            Ok((range, Conversion::new(&rows, to, entry)?))
        };
        let remainders = groups.into_iter().map(group).collect::<Result<_, RingError>>()?;
        let (divisor, targets) = (divisor.to_vec(), targets.to_vec());
        Ok(Self { divisor, targets, scales: scales?, factors, quotient, remainders, inverses, parallelism })
    }

    /// ⌊(a + b)/D⌉ in evaluation form for a in evaluation form and b in coefficient form, both modulo the targets
    /// and then modulo the divisor.
    pub(crate) fn divide(&self, out: &mut [u64], a: &[u64], b: Option<&[u64]>) -> Result<(), RingError> {
        let n = self.degree();
        let low = self.targets.len() * n;
        let mut rows = self.rows(a.get(low..).unwrap_or_default(), b.and_then(|b| b.get(low..)))?;
        let inside = self.parallelism.inside(self.remainders.len());
        let step = |(range, out): (&Range<usize>, &mut [u64])| {
            self.remainders(&rows, range.clone(), out.chunks_exact_mut(n).collect(), inside)?;
            for (j, limb) in range.clone().zip(out.chunks_exact_mut(n)) {
                self.add(limb, a.chunks_exact(n).nth(j), b.and_then(|b| b.chunks_exact(n).nth(j)), j)?;
            }
            Ok(())
        };
        let (shared, mut rest, mut parts) = (out.len(), out, Vec::new());
        for (range, _) in &self.remainders {
            let (part, others) =
                std::mem::take(&mut rest).split_at_mut_checked(range.len() * n).unwrap_or_default();
            parts.push((range, part));
            rest = others;
        }
        let divided = if self.parallelism.shares_limbs(Work::Transform, shared) {
            parts.into_par_iter().try_for_each(step)
        } else {
            parts.into_iter().try_for_each(step)
        };
        if b.is_some() {
            // Remainders of an encryption in the making tell its randomness.
            rows.zeroize();
        }
        divided
    }

    /// From −r to (a + b − r)/D in evaluation form, modulo target j.
    fn add(&self, limb: &mut [u64], a: Option<&[u64]>, b: Option<&[u64]>, j: usize) -> Result<(), RingError> {
        let (Some(plan), Some(inverse)) = (self.targets.get(j), self.inverse(j)) else { return Ok(()) };
        let modulus = plan.modulus();
        b.map_or(Ok(()), |b| modulus.add_assign(limb, b))?;
        plan.forward(limb)?;
        a.map_or(Ok(()), |a| modulus.add_assign(limb, a))?;
        Ok(modulus.mul_scalar_assign(limb, inverse)?)
    }

    /// D^-1 modulo target j.
    pub(crate) fn inverse(&self, j: usize) -> Option<u64> {
        self.inverses.get(j).copied()
    }

    /// How many moduli are left.
    pub(crate) fn targets(&self) -> usize {
        self.targets.len()
    }

    pub(crate) fn degree(&self) -> usize {
        self.divisor.first().map_or(0, |plan| plan.n())
    }

    /// y_1, …, y_s and v of a + b, for a in evaluation form and b in coefficient form, modulo the divisor.
    fn rows(&self, a: &[u64], b: Option<&[u64]>) -> Result<Scratch, RingError> {
        let mut rows = Scratch::new(a.len() + self.degree());
        self.fill_rows(&mut rows, Some(a), b)?;
        Ok(rows)
    }

    /// The same in place of `rows`, whose first s are a unless it stands elsewhere.
    pub(crate) fn fill_rows(
        &self,
        rows: &mut [u64],
        a: Option<&[u64]>,
        b: Option<&[u64]>,
    ) -> Result<(), RingError> {
        let n = self.degree();
        let (residues, quotients) = rows.split_at_mut_checked(self.divisor.len() * n).unwrap_or_default();
        self.parallelism.for_each_limb(Work::Transform, residues, n, |i, limb| {
            let (Some(plan), Some(scale)) = (self.divisor.get(i), self.scales.get(i)) else { return Ok(()) };
            if let Some(a) = a.and_then(|a| a.chunks_exact(n).nth(i)) {
                limb.copy_from_slice(a);
            }
            plan.inverse_scaled(limb, scale)?;
            if let (Some(b), Some(&factor)) = (b.and_then(|b| b.chunks_exact(n).nth(i)), self.factors.get(i))
            {
                // The errors and the message of an encryption.
                let mut scaled = Zeroizing::new(Buffer::from_slice(b));
                plan.modulus().mul_scalar_assign(&mut scaled, factor)?;
                plan.modulus().add_assign(limb, &scaled)?;
            }
            Ok(())
        })?;
        let residues = &*residues;
        self.parallelism.for_each_block(quotients, n, |range, quotients| match quotients {
            [out] => Ok(self.quotient.apply(&block_of(residues.chunks_exact(n), &range), out)?),
            _ => Ok(()),
        })
    }

    /// −r, or −r/D for [`Factor::Inverse`], modulo these targets of one group.
    pub(crate) fn remainders(
        &self,
        rows: &[u64],
        targets: Range<usize>,
        out: Vec<&mut [u64]>,
        inside: Parallelism,
    ) -> Result<(), RingError> {
        let rows: Vec<&[u64]> = rows.chunks_exact(self.degree()).collect();
        let group = self.remainders.iter().find(|(range, _)| *range == targets);
        group.map_or(Ok(()), |(_, conversion)| inside.convert(conversion, &rows, out))
    }
}
