//! Circuits on slots of GF(p^d) and GR(p^r, d), in a ring of any index.
//!
//! Slots are those of a [`GaloisEncoder`]: a hypercube whose dimensions are rotated by automorphisms, with masks in bad dimensions.
//!
//! * [`SlotRotation`]: cyclic rotation along a dimension.
//! * [`SlotSum`]: sums along dimensions, in every slot.
//! * [`SlotMap`]: maps of the slots that are linear over Z_(p^r), by linearised polynomials; the Frobenius automorphism is
//!   X → X^k with [`GaloisEncoder::frobenius_exponent`].
//! * [`norm`], [`is_zero`]: products of Frobenius images.
//!
//! All parts of these circuits that depend on the slots alone are prepared once; each circuit lists the
//! exponents k of the automorphisms X → X^k that need keys.

mod doubling;
mod linear_map;
mod rotation;
mod sum;

pub use linear_map::SlotMap;
pub use rotation::SlotRotation;
pub use sum::SlotSum;

use sunzi_encoding::{Encoder, GaloisEncoder, Plaintext};

use crate::{Automorphisms, CircuitError, Outcome};
use doubling::{doubled, doublings};

/// Checks that the keys relinearise, if need be, and apply all of these automorphisms.
fn check_keys<A: Automorphisms>(
    arithmetic: &A,
    keys: &A::Keys,
    relinearization: bool,
    exponents: impl IntoIterator<Item = u64>,
) -> Outcome<A, ()> {
    crate::arithmetic::check_keys(arithmetic, keys, relinearization, [])?;
    let missing = exponents.into_iter().find(|&k| k != 1 && !arithmetic.can_apply(keys, k));
    missing.map_or(Ok(()), |exponent| Err(CircuitError::MissingAutomorphism { exponent }))
}

/// Lists the exponents that [`norm`] and [`is_zero`] need keys for: p^(2^i) for all 2^i < d.
#[must_use]
pub fn norm_exponents(encoder: &GaloisEncoder) -> Vec<u64> {
    doublings(encoder.ring().degree()).map(|step| encoder.frobenius_exponent(step as i64)).collect()
}

/// Multiplicative depth of [`norm`]: ⌈log2 d⌉.
#[must_use]
pub fn norm_depth(encoder: &GaloisEncoder) -> usize {
    encoder.ring().degree().next_power_of_two().ilog2() as usize
}

/// Multiplicative depth of [`is_zero`]: ⌈log2 d⌉ + ⌈log2(p − 1)⌉.
#[must_use]
pub fn zero_depth(encoder: &GaloisEncoder) -> usize {
    norm_depth(encoder) + (encoder.ring().prime() - 1).next_power_of_two().ilog2() as usize
}

/// Computes the product of all d Frobenius images, a number, in every slot: for r = 1 it is a^(1 + p + … + p^(d − 1)).
///
/// # Errors
/// [`CircuitError::MissingRelinearizationKey`]; [`CircuitError::MissingAutomorphism`] without keys for [`norm_exponents`];
/// [`CircuitError::Scheme`].
pub fn norm<A: Automorphisms>(
    arithmetic: &A,
    encoder: &GaloisEncoder,
    a: &A::Ciphertext,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    check_keys(arithmetic, keys, norm_depth(encoder) > 0, norm_exponents(encoder))?;
    doubled(encoder.ring().degree(), a, &mut |step, left, right| {
        let image = arithmetic.automorphism(right, encoder.frobenius_exponent(step as i64), keys)?;
        arithmetic.multiply_towards_product(left, &image, keys)
    })
}

/// Computes 1 in every slot that holds 0, and 0 in every other: 1 − a^(p^d − 1), from the norm raised to the power p − 1.
///
/// # Errors
/// [`CircuitError::NoField`] for r > 1; every error of [`norm`].
pub fn is_zero<A: Automorphisms>(
    arithmetic: &A,
    encoder: &GaloisEncoder,
    a: &A::Ciphertext,
    keys: &A::Keys,
) -> Outcome<A, A::Ciphertext> {
    let (prime, exponent) = (encoder.ring().prime(), encoder.ring().exponent());
    if exponent != 1 {
        return Err(CircuitError::NoField { what: "a test for zero", prime, exponent });
    }
    check_keys(arithmetic, keys, zero_depth(encoder) > 0, norm_exponents(encoder))?;
    let norm = norm(arithmetic, encoder, a, keys)?;
    let power = doubled(prime as usize - 1, &norm, &mut |_, left, right| {
        arithmetic.multiply_towards_product(left, right, keys)
    })?;
    // 1 − x, without a product.
    arithmetic.add_scalar(&arithmetic.negate(&power)?, 1)
}

/// Encodes one element in every slot.
///
/// # Errors
/// [`CircuitError::Encoding`] for an element that does not fit a slot.
pub fn everywhere<E: std::error::Error + 'static>(
    encoder: &GaloisEncoder,
    element: &[u64],
) -> Result<Plaintext, CircuitError<E>> {
    Ok(encoder.encode_elements(&vec![element; encoder.slots()])?)
}
