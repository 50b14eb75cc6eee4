//! Arithmetic modulo a prime power.

use crate::mul_mod;

/// Integers modulo t = p^r.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrimePower {
    pub(crate) p: u64,
    pub(crate) t: u64,
}

impl PrimePower {
    /// a + b mod t for a, b ≤ t.
    pub(crate) const fn add(self, a: u64, b: u64) -> u64 {
        (a + b) % self.t
    }

    /// a·b mod t for a, b < t.
    pub(crate) const fn mul(self, a: u64, b: u64) -> u64 {
        if self.t <= 1 << 32 { a * b % self.t } else { mul_mod(a, b, self.t) }
    }

    /// a·b modulo Z^d + Σ low_i·Z^i, all of d coefficients.
    pub(crate) fn product_modulo(self, a: &[u64], b: &[u64], low: &[u64]) -> Vec<u64> {
        let d = low.len();
        let mut product = vec![0; (2 * d).saturating_sub(1)];
        for (i, &x) in a.iter().enumerate() {
            for (sum, &y) in product.iter_mut().skip(i).zip(b) {
                *sum = self.add(*sum, self.mul(x, y));
            }
        }
        while product.len() > d {
            let minus = self.t - product.pop().unwrap_or(0);
            let shift = product.len() - d;
            for (sum, &y) in product.iter_mut().skip(shift).zip(low) {
                *sum = self.add(*sum, self.mul(minus % self.t, y));
            }
        }
        product
    }
}
