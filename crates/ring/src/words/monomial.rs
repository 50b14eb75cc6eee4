//! Multiplication by X^k.

use crate::backend::multiply_by_values;
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// [`Backend::mul_monomial_assign`].
pub(crate) fn multiply(ring: &WordRing, a: &mut Poly<Evaluation>, exponent: u64) -> Result<(), RingError> {
    let (n, k) = (ring.degree() as u64, exponent % ring.index());
    // Below 128 the evaluation order mixes both halves of the roots.
    if !ring.ring_index().is_power_of_two() || n < 128 || !k.is_multiple_of(n / 2) {
        return multiply_by_values(ring, a, k);
    }
    ring.for_each_modulus(a, |i, modulus, range, values| {
        let psi = ring.plan(i)?.root();
        // X^(n/2) is i = ψ^(n/2) at the first half of the roots, i³ = −i at the second.
        let middle = (n as usize / 2).clamp(range.start, range.end) - range.start;
        let (first, second) = values.split_at_mut_checked(middle).unwrap_or_default();
        modulus.mul_scalar_assign(first, modulus.pow(psi, k))?;
        Ok(modulus.mul_scalar_assign(second, modulus.pow(psi, 3 * k))?)
    })
}
