//! Multiplication by X^k.

use crate::{Evaluation, Poly, PolyRing, Ring, RingError};

/// a ← a·X^k by the values of X^k, where X^n = −1 for n = m/2.
pub(crate) fn multiply_by_values<R: PolyRing>(
    ring: &R,
    a: &mut R::Poly<Evaluation>,
    exponent: u64,
) -> Result<(), RingError> {
    let (n, k) = (ring.degree() as u64, exponent % ring.index());
    let sign = if k < n { 1 } else { -1 };
    let coefficients: Vec<i64> = (0..n).map(|i| if i == k % n { sign } else { 0 }).collect();
    ring.mul_assign(a, &ring.to_evaluation(ring.from_signed(&coefficients)?)?)
}

/// [`PolyRing::mul_monomial_assign`].
pub(crate) fn multiply(ring: &Ring, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
    let (n, k) = (ring.degree() as u64, exponent % ring.index());
    // Below 128 the evaluation order mixes both halves of the roots.
    if n < 128 || !k.is_multiple_of(n / 2) {
        return multiply_by_values(ring, a, k);
    }
    ring.for_each_modulus(a, |i, modulus, range, values| {
        let psi = ring.plans().get(i).map_or(1, |plan| plan.psi());
        // X^(n/2) is i = ψ^(n/2) at the first half of the roots, i³ = −i at the second.
        let middle = (n as usize / 2).clamp(range.start, range.end) - range.start;
        let (first, second) = values.split_at_mut_checked(middle).unwrap_or_default();
        modulus.mul_scalar_assign(first, modulus.pow(psi, k))?;
        Ok(modulus.mul_scalar_assign(second, modulus.pow(psi, 3 * k))?)
    })
}
