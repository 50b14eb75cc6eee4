//! Products of polynomials by Kronecker substitution: one product of long integers, as the paper's baseline.

use crate::Component;

/// out ← a·b modulo X^n + 1 and q_i: X becomes a power of 2^64 above n·q_i², so one product of two long integers holds all
/// coefficients side by side.
///
/// The product is that of the library for big integers, or with the feature `gmp` that of GMP.
pub(crate) fn negacyclic(component: Component, n: usize, a: &[u64], b: &[u64], out: &mut [u64]) {
    let width = (2 * component.bits() + n.ilog2() as usize + 3).div_ceil(64);
    let product = multiply(&pack(component, a, width), &pack(component, b, width));
    let mut high = product.chunks_exact(width).skip(n);
    let mut reduced = vec![0; component.len()];
    for (out, low) in out.chunks_exact_mut(component.len()).zip(product.chunks_exact(width)) {
        component.reduce(out, low);
        // X^n = −1.
        if let Some(high) = high.next() {
            component.reduce(&mut reduced, high);
            component.sub_assign(out, &reduced);
        }
    }
}

fn pack(component: Component, a: &[u64], width: usize) -> Vec<u64> {
    let mut packed = Vec::with_capacity(a.len() / component.len() * width);
    for residue in a.chunks_exact(component.len()) {
        let end = packed.len() + width;
        packed.extend_from_slice(residue);
        packed.resize(end, 0);
    }
    packed
}

#[cfg(feature = "gmp")]
fn multiply(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0; a.len() + b.len()];
    sunzi_kernels::gmp::mul(&mut product, a, b);
    product
}

#[cfg(not(feature = "gmp"))]
fn multiply(a: &[u64], b: &[u64]) -> Vec<u64> {
    let product = crate::modulus::integer(a) * crate::modulus::integer(b);
    let mut words: Vec<u64> = product.iter_u64_digits().collect();
    words.resize(a.len() + b.len(), 0);
    words
}
