//! ModRaise [AS19, 3.2]: the same integers modulo a larger number; and numbers that scale with the modulus.

use num_bigint::BigInt;

use crate::integers::residue_of;
use crate::parallel::{BLOCK, Work, block_of};
use crate::rns::ExactExtension;
use crate::scratch::Scratch;
use crate::transform::Scale;
use crate::{Basis, Evaluation, Poly, PolyRing, Ring, RingError};

/// From modulus Q_l to those above it. The paper's approximate conversion adds e·Q_l with 0 ≤ e < l; the exact one has
/// |x| ≤ (1/2 + ε)·Q_l, ε below 2^-40: nothing is left to bound beyond c(s) itself.
pub(crate) struct Raise {
    /// (Q_l/q_i)^-1, folded into the inverse transforms.
    scales: Vec<Scale>,
    extension: ExactExtension,
}

impl Raise {
    /// From a level of `ring` to its highest.
    pub(crate) fn new(ring: &Ring, level: usize) -> Result<Self, RingError> {
        let (plans, targets) = ring.plans().split_at_checked(level).unwrap_or_default();
        let source = Basis::from_moduli(plans.iter().map(|plan| plan.modulus()).collect(), ring.isa())?;
        let scales = plans.iter().zip(source.quotient_inverses()).map(|(plan, &c)| plan.scale(c));
        let targets: Vec<_> = targets.iter().map(|plan| plan.modulus()).collect();
        Ok(Self {
            scales: scales.collect::<Result<_, _>>()?,
            extension: ExactExtension::new(&source, &targets)?,
        })
    }

    /// [`PolyRing::mod_raise`].
    pub(crate) fn apply(&self, ring: &Ring, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let n = ring.degree();
        let mut raised = ring.arbitrary();
        let (low, high) = raised.words_mut().split_at_mut_checked(a.words().len()).unwrap_or_default();
        let mut digits = Scratch::new(low.len());
        ring.transform().inverse_scaled_from(&mut digits, a, low, &self.scales)?;
        ring.parallelism().for_each_block(high, n, |range, output| {
            self.extension.apply(&block_of(digits.chunks_exact(n), &range), output)
        })?;
        let plans = ring.plans().get(self.scales.len()..).unwrap_or_default();
        ring.parallelism().for_each_limb(Work::Transform, high, n, |i, limb| {
            plans.get(i).map_or(Ok(()), |plan| Ok(plan.forward(limb)?))
        })?;
        Ok(raised)
    }
}

/// [`PolyRing::scale_up`]: the factor is a multiple of every modulus above the level.
pub(crate) fn scale_up(ring: &Ring, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
    let level = ring.level_of(a)?;
    let factor = BigInt::from(ring.modulus() / ring.at_level(level)?.modulus());
    let moduli = ring.basis().moduli();
    let factors: Vec<u64> =
        moduli.iter().take(level).map(|modulus| residue_of(&factor, modulus.value())).collect();
    let mut scaled = ring.arbitrary();
    ring.parallelism().for_each_part([scaled.words_mut()], ring.degree(), |i, range, [out]| {
        let (Some(modulus), Some(&factor)) = (moduli.get(i), factors.get(i)) else {
            out.fill(0);
            return Ok(());
        };
        for (out, values) in out.chunks_mut(BLOCK).zip(a.part(i, range).chunks(BLOCK)) {
            out.copy_from_slice(values);
            modulus.mul_scalar_assign(out, factor)?;
        }
        Ok(())
    })?;
    Ok(scaled)
}
