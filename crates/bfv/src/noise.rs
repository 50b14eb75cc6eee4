//! How BFV operations change the two noise bounds.
//!
//! The noise of a ciphertext is the real-valued v with c(s) = (q/t)·m + v (mod q). Encryption
//! rounds (q/t)·m instead of scaling by ⌊q/t⌋, so the terms with |q|_t of `[BEHZ16,
//! Proposition 1]` do not appear; otherwise the worst case follows that proposition and
//! Proposition 3 term by term.

use sunzi_rlwe::noise::{KEY_BOUND, TERNARY_VARIANCE, tail_factor};
use sunzi_rlwe::{Log2, NoiseBound};

/// What the noise of a product depends on.
#[derive(Clone, Copy, Debug)]
pub struct ProductModel {
    /// Ring degree n = δ.
    pub degree: usize,
    /// Plaintext modulus t.
    pub plain_modulus: f64,
    /// log2 q.
    pub log2_modulus: f64,
    /// ρ of the extension `[BEHZ16, Lemma 4]`.
    pub overflow: f64,
    /// Bound k on the flooring error `[BEHZ16, Lemma 5]`.
    pub scale_error: f64,
}

/// Adds the rounding of ⌊(q/t)·m⌉ to the noise of an encryption of zero.
#[must_use]
pub fn encryption(zero: &NoiseBound) -> NoiseBound {
    zero.plus_own(Log2::of(0.5), Log2::of(ROUNDING))
}

/// Adds the rounding of a plaintext that is added or subtracted.
#[must_use]
pub fn plain_sum(noise: &NoiseBound) -> NoiseBound {
    noise.plus(Log2::of(0.5), Log2::of(ROUNDING))
}

/// Standard deviation that a rounding error in [-1/2, 1/2] cannot exceed, whatever is rounded.
const ROUNDING: f64 = 0.5;

impl ProductModel {
    /// The noise after extension, tensor and scaling, before relinearisation.
    #[must_use]
    pub fn product(&self, a: &NoiseBound, b: &NoiseBound) -> NoiseBound {
        let secret_degree = a.secret_degree.max(b.secret_degree) + 1;
        NoiseBound::dependent(
            self.worst(a.worst, b.worst),
            self.deviation(a, b, secret_degree),
            secret_degree,
        )
    }

    /// `[BEHZ16, Proposition 1]` without its |q|_t terms, plus the flooring error b of (18).
    fn worst(&self, a: Log2, b: Log2) -> Log2 {
        let (n, t) = (self.degree as f64, self.plain_modulus);
        let r_infinity = (1.0 + self.overflow) / 2.0 * (1.0 + n * KEY_BOUND) + 1.0;
        let linear = (a + b) * (n * t) * (r_infinity + 0.5);
        let square = a * b * (n * t) * Log2::from_bits(-self.log2_modulus);
        let s = n * KEY_BOUND;
        linear + square + Log2::of((0.5 + self.scale_error) * (1.0 + s * (1.0 + s)))
    }

    /// t(v_1·r_2 + v_2·r_1) + m_1·v_2 + m_2·v_1 + (t/q)·v_1·v_2 + rounding, where q·r_i is what
    /// c_i(s) has beyond (q/t)·m_i + v_i. The coefficients of r_i are uncorrelated, since those of
    /// c_i are uniform; m_i is not random, so its terms are charged with the 1-norm.
    fn deviation(&self, a: &NoiseBound, b: &NoiseBound, secret_degree: u32) -> Log2 {
        let (n, t) = (self.degree as f64, self.plain_modulus);
        let lift = (1.0 + self.overflow).powi(2) / 12.0;
        let r = (lift * (1.0 + n * TERNARY_VARIANCE) + 0.25).sqrt();
        let gain = f64::from(secret_degree) * t * n.sqrt() * r + n * t / 2.0;
        let square = a.deviation * b.deviation * (n * t * tail_factor(self.degree));
        let s = (n * TERNARY_VARIANCE).sqrt();
        (a.deviation + b.deviation) * gain
            + square * Log2::from_bits(-self.log2_modulus)
            + Log2::of((0.5 + self.scale_error) * (1.0 + s + n))
    }
}
