//! Products of big-integer polynomials modulo Φ_m.

use num_bigint::BigUint;
use num_traits::Zero;
use sunzi_math::{Additive, RingIndex};
use sunzi_ring::RingError;

/// Arithmetic of big integers in [0, q).
pub(super) struct Reduced<'a>(pub(super) &'a BigUint);

impl Additive for Reduced<'_> {
    type Element = BigUint;

    fn zero(&self) -> BigUint {
        BigUint::zero()
    }
    fn add_assign(&self, a: &mut BigUint, b: &BigUint) {
        *a += b;
        if &*a >= self.0 {
            *a -= self.0;
        }
    }
    fn sub_assign(&self, a: &mut BigUint, b: &BigUint) {
        if &*a < b {
            *a += self.0;
        }
        *a -= b;
    }
}

/// Returns a·b mod (Φ_m, q) in the powerful basis: the product of polynomials in X, and its remainder by Φ_m.
pub(super) fn cyclotomic(
    index: &RingIndex,
    a: &[BigUint],
    b: &[BigUint],
    q: &BigUint,
) -> Result<Vec<BigUint>, RingError> {
    let residues = Reduced(q);
    if index.is_real() {
        return Ok(real(a, b, q));
    }
    let [a, b] = [a, b].map(|x| index.power_from_powerful(&residues, x));
    let product = multiply(&a?, &b?, q);
    Ok(index.powerful_from_power(&residues, &index.remainder(&residues, product)))
}

/// Returns the product of two elements of a real ring, as polynomials modulo (X^2n + 1, q).
fn real(a: &[BigUint], b: &[BigUint], q: &BigUint) -> Vec<BigUint> {
    let residues = Reduced(q);
    // An element has −a_j at X^(2n−j).
    let whole = |a: &[BigUint]| -> Vec<BigUint> {
        let mirrored = a.iter().skip(1).rev().map(|x| if x.is_zero() { x.clone() } else { q - x });
        a.iter().cloned().chain([BigUint::zero()]).chain(mirrored).collect()
    };
    let mut low = multiply(&whole(a), &whole(b), q);
    let high = low.split_off(2 * a.len());
    low.truncate(a.len());
    low.iter_mut().zip(&high).for_each(|(low, high)| residues.sub_assign(low, high));
    low
}

/// Returns the 2n − 1 coefficients of a·b modulo q by Kronecker substitution: X becomes a power of 256 above n·q², so one
/// product of two long integers holds all of them side by side.
fn multiply(a: &[BigUint], b: &[BigUint], q: &BigUint) -> Vec<BigUint> {
    let n = a.len();
    let bits = 2 * q.bits() + u64::from(usize::BITS - n.leading_zeros());
    let width = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    let product = (pack(a, width) * pack(b, width)).to_bytes_le();
    let mut coefficients: Vec<_> =
        product.chunks(width).map(|chunk| BigUint::from_bytes_le(chunk) % q).collect();
    coefficients.resize(2 * n - 1, BigUint::zero());
    coefficients
}

fn pack(a: &[BigUint], width: usize) -> BigUint {
    let mut bytes = Vec::with_capacity(a.len() * width);
    for coefficient in a {
        let start = bytes.len();
        bytes.extend_from_slice(&coefficient.to_bytes_le());
        bytes.resize(start + width, 0);
    }
    BigUint::from_bytes_le(&bytes)
}
