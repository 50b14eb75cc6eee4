//! Modulus switching within a word: a last modulus that is a product of primes loses one of them.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;
use sunzi_math::mod_inv;

use crate::ladder::is_prefix;
use crate::parallel::Work;
use crate::scratch::Scratch;
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// Checks that d·rest divides the last modulus and that something is left; returns the level of the result.
fn check_factors(last: u64, level: usize, d: u64, rest: u64) -> Result<usize, RingError> {
    let divides = d.checked_mul(rest).is_some_and(|product| product > 0 && last.is_multiple_of(product));
    let left = if rest > 1 { level } else { level.saturating_sub(1) };
    if divides && d > 1 && left > 0 {
        return Ok(left);
    }
    let expected =
        format_args!("a factor of the last modulus, {last}, beside {rest}, with another modulus left");
    Err(RingError::out_of_range("factor", expected, d))
}

/// [`Backend::divide_by_factor`] coefficient by coefficient.
pub(crate) fn divide_integers<R: Backend + ?Sized>(
    ring: &R,
    a: &Poly<Evaluation>,
    d: u64,
    rest: u64,
) -> Result<Poly<Evaluation>, RingError> {
    let level = ring.level_of(a)?;
    let own = ring.at_level(level)?;
    let last = match level {
        1 => own.modulus().clone(),
        _ if !ring.is_nested(level - 1, level) => {
            return Err(RingError::NotNested { level: level - 1, within: level });
        }
        _ => own.modulus() / ring.at_level(level - 1)?.modulus(),
    };
    let left = check_factors(last.to_u64().unwrap_or(0), level, d, rest)?;
    let divisor = BigInt::from(d);
    let divide = |x: BigInt| {
        let remainder = x.mod_floor(&divisor);
        let centred = if &remainder * 2_u8 > divisor { remainder - &divisor } else { remainder };
        (x - centred) / &divisor
    };
    let coefficients = own.to_integers(&own.to_coefficient(a.clone())?)?;
    let quotients: Vec<BigInt> = coefficients.into_iter().map(divide).collect();
    let target = ring.at_level(left)?;
    target.to_evaluation(target.from_integers(&quotients)?)
}

/// The same in RNS: one inverse transform, and one for each modulus of the result.
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
        // d is below 2^62.
        if r > d / 2 { r as i64 - d as i64 } else { r as i64 }
    };
    let remainder: Vec<i64> = remainder.iter().map(centred).collect();
    let mut quotient = ring.at_level(left)?.arbitrary();
    ring.parallelism().for_each_limb(Work::Transform, quotient.words_mut(), n, |i, limb| {
        let (plan, a) = (own.plan(i)?, a.own_limb(i)?);
        let modulus = plan.modulus();
        modulus.reduce_signed_into(limb, &remainder)?;
        plan.forward(limb)?;
        // −(r − a)/d; d has no inverse modulo its own word, and needs one modulo what stays of it.
        let inverse = if i == index { mod_inv(d % rest, rest)? } else { mod_inv(d, modulus.value())? };
        modulus.sub_assign(limb, a)?;
        Ok(modulus.mul_scalar_assign(limb, modulus.neg(inverse))?)
    })?;
    Ok(quotient)
}
