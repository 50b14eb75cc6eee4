//! Modulus switching within a word: a last modulus that is a product of primes loses one of them.

use sunzi_math::mod_inv;

use crate::backend::check_factors;
use crate::ladder::is_prefix;
use crate::parallel::Work;
use crate::scratch::Scratch;
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// Does [`Backend::divide_by_factor`] in RNS: one inverse transform, and one for each modulus of the result.
pub(crate) fn divide_residues(
    ring: &WordRing,
    a: &Poly<Evaluation>,
    d: u64,
    rest: u64,
) -> Result<Poly<Evaluation>, RingError> {
    let level = ring.level_of(a)?;
    let (n, own) = (ring.degree(), ring.at_level(level)?);
    let index = own.basis().len().wrapping_sub(1);
    let (plan, values) = (own.plan(index)?, a.own_limb(index)?);
    let last = plan.modulus().value();
    let left = check_factors(last, level, d, rest)?;
    if left < level {
        // The level below must have all moduli but the last.
        let places = ring.nested(left, level)?;
        if places.len() != index || !is_prefix(&places) {
            return Err(RingError::NotNested { level: left, within: level });
        }
    }
    let mut remainder = Scratch::from_slice(values);
    plan.inverse(&mut remainder)?;
    let centred = |&x: &u64| {
        let r = x % d;
        // The cast is exact, since d is below 2^62.
        if r > d / 2 { r as i64 - d as i64 } else { r as i64 }
    };
    let remainder: Vec<i64> = remainder.iter().map(centred).collect();
    let mut quotient = ring.at_level(left)?.arbitrary();
    ring.parallelism().for_each_limb(Work::Transform, quotient.words_mut(), n, |i, limb| {
        let (plan, a) = (own.plan(i)?, a.own_limb(i)?);
        let modulus = plan.modulus();
        modulus.reduce_signed_into(limb, &remainder)?;
        plan.forward(limb)?;
        // Quotient −(r − a)/d: d has no inverse modulo its own word, and needs one modulo the factor that stays of
        // it.
        let inverse = if i == index { mod_inv(d % rest, rest)? } else { mod_inv(d, modulus.value())? };
        modulus.sub_assign(limb, a)?;
        Ok(modulus.mul_scalar_assign(limb, modulus.neg(inverse))?)
    })?;
    Ok(quotient)
}
