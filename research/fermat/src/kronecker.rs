//! Products of polynomials by Kronecker substitution: one product of long integers, as the baseline of `[TSKJ20]`.

use crate::Component;

impl Component {
    /// Packs n residues a_i as the integer Σ a_i·X^i, in words: X is the power of 2^64 next above n·q_i², so that a product of two such integers
    /// holds the coefficients of the product of the polynomials side by side.
    #[must_use]
    pub fn pack(self, residues: &[u64]) -> Vec<u64> {
        let n = residues.len() / self.len();
        let width = width(self, n);
        let mut packed = Vec::with_capacity(n * width);
        for residue in residues.chunks_exact(self.len()) {
            let end = packed.len() + width;
            packed.extend_from_slice(residue);
            packed.resize(end, 0);
        }
        packed
    }
}

/// Returns the number of words of a packed coefficient.
fn width(component: Component, n: usize) -> usize {
    (2 * component.bits() + n.max(1).ilog2() as usize + 3).div_ceil(64)
}

/// Multiplies: out ← a·b modulo X^n + 1 and q_i by one product of two long integers.
///
/// The product of long integers is that of the library for big integers, or with the feature `gmp` that of GMP.
pub(crate) fn negacyclic(component: Component, n: usize, a: &[u64], b: &[u64], out: &mut [u64]) {
    let width = width(component, n);
    let product = multiply(&component.pack(a), &component.pack(b));
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
