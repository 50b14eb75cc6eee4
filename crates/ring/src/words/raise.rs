//! Modulus raising, ModRaise [AS19, 3.2]: the same integers modulo a larger number; and numbers that scale with the
//! modulus.

use std::sync::Arc;

use num_bigint::BigInt;

use super::gathered;
use super::integers::residue_of;
use crate::error::entry;
use crate::ladder::is_prefix;
use crate::parallel::{BLOCK, Work, block_of};
use crate::rns::exact_extension::ExactExtension;
use crate::scratch::Scratch;
use crate::transform::{Plan, Scale};
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// Tables that lead from modulus Q_l to a larger one. The paper's approximate conversion adds e·Q_l with 0 ≤ e < l;
/// the exact one has
/// |x| ≤ (1/2 + ε)·Q_l, ε below 2^-40: nothing is left to bound beyond c(s) itself.
pub(crate) struct Raise {
    from: WordRing,
    /// Factors (Q_l/q_i)^-1, folded into the inverse transforms.
    scales: Vec<Scale>,
    extension: ExactExtension,
    /// Transforms of the moduli that are added to those of Q_l.
    added: Vec<Arc<Plan>>,
    /// Place of each limb of the result among those of Q_l, followed by the added ones.
    order: Vec<usize>,
}

impl Raise {
    /// The tables that raise the modulus from a level of `ring` to its highest.
    pub(crate) fn new(ring: &WordRing, level: usize) -> Result<Self, RingError> {
        let from = ring.at_level(level)?;
        let mut added = Vec::new();
        let mut order = Vec::with_capacity(ring.plans().len());
        for (plan, place) in ring.plans().iter().zip(ring.ladder().places(ring.level(), level)) {
            order.push(place.unwrap_or(from.plans().len() + added.len()));
            if place.is_none() {
                added.push(Arc::clone(plan));
            }
        }
        let scales =
            from.plans().iter().zip(from.basis().quotient_inverses()).map(|(plan, &c)| plan.scale(c));
        let scales = scales.collect::<Result<_, _>>()?;
        let targets: Vec<_> = added.iter().map(|plan| plan.modulus()).collect();
        let extension = ExactExtension::new(from.basis(), &targets)?;
        Ok(Self { from, scales, extension, added, order })
    }

    /// Does [`Backend::mod_raise`] with these tables.
    pub(crate) fn apply(&self, ring: &WordRing, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let n = ring.degree();
        let own = a.words().len();
        let mut words = Scratch::new(own + self.added.len() * n);
        let (low, high) = words.split_at_mut_checked(own).unwrap_or_default();
        let mut digits = Scratch::new(own);
        self.from.transform().inverse_scaled_from(&mut digits, a, low, &self.scales)?;
        ring.parallelism().for_each_block(high, n, |range, output| {
            self.extension.apply(&block_of(digits.chunks_exact(n), &range), output)
        })?;
        ring.parallelism().for_each_limb(Work::Transform, high, n, |i, limb| {
            Ok(entry("transform of an added modulus", &self.added, i)?.forward(limb)?)
        })?;
        let raised = Poly::new(words, n, ring.basis().tag());
        if is_prefix(&self.order) {
            Ok(raised)
        } else {
            Ok(Poly::new(gathered(&raised, &self.order)?, n, raised.tag()))
        }
    }
}

/// Does [`Backend::scale_up`]: the factor is a multiple of every modulus above the level.
pub(crate) fn scale_up(ring: &WordRing, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
    let level = ring.level_of(a)?;
    let places = ring.nested(level, ring.level())?;
    let factor = BigInt::from(ring.modulus() / ring.at_level(level)?.modulus());
    let mut scaled = ring.arbitrary();
    ring.parallelism().for_each_part([scaled.words_mut()], ring.degree(), |i, range, [out]| {
        let modulus = ring.basis().own(i)?;
        // The factor is zero modulo the moduli that the level lacks.
        let Ok(own) = places.binary_search(&i) else {
            out.fill(0);
            return Ok(());
        };
        let factor = residue_of(&factor, modulus.value());
        for (out, values) in out.chunks_mut(BLOCK).zip(a.part(own, range)?.chunks(BLOCK)) {
            out.copy_from_slice(values);
            modulus.mul_scalar_assign(out, factor)?;
        }
        Ok(())
    })?;
    Ok(scaled)
}
