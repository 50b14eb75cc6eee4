//! Counts of multiplications of `[BEHMSZ17, 3.1 and 3.2]`, Sunzi's own counts of operations, and the bounds
//! on depths of `[BEHMSZ17, 4.3]`.

use sunzi_math::SparseMultiple;
use sunzi_rlwe::Log2;
use sunzi_univariate::Reduction;

/// The count L·log2 L of `[BEHMSZ17]` for a transform of length L.
fn transform(length: usize) -> f64 {
    length as f64 * f64::from(length.ilog2())
}

/// Transform lengths of a reduction: N, the power of two from n on, and A for a degree n + α.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub(super) n: usize,
    pub(super) whole: usize,
    pub(super) half: usize,
}

impl Lengths {
    pub(super) fn new(n: usize) -> Self {
        let half = n.next_power_of_two();
        Self { n, whole: (2 * n).next_power_of_two(), half }
    }

    /// Transform length A of the quotient, for a degree n + α.
    pub(super) fn quotient(alpha: usize) -> usize {
        (2 * alpha + 1).next_power_of_two()
    }

    /// Number of modular multiplications of a reduction by the formulas of `[BEHMSZ17]`.
    pub(super) fn counted(&self, sparse: &SparseMultiple, reduction: Reduction) -> f64 {
        let Self { whole, half, .. } = *self;
        let barrett =
            |a: usize| transform(whole) + 2.0 * (transform(a) + transform(half)) + (a + half) as f64;
        match reduction {
            Reduction::Barrett => barrett(whole),
            Reduction::SparseBarrett => barrett(Self::quotient(sparse.alpha().unwrap_or(0))),
            Reduction::Montgomery | Reduction::Mixed => 3.0 * transform(half) + 4.0 * half as f64,
        }
    }

    /// Speed-up of Montgomery's reduction over Barrett's by the formulas of `[BEHMSZ17]`, which ask for the degree alone.
    pub(super) fn montgomery_speed_up(&self) -> f64 {
        let Self { whole, half, .. } = *self;
        let barrett = 3.0 * transform(whole) + 2.0 * transform(half) + (whole + half) as f64;
        barrett / (3.0 * transform(half) + 4.0 * half as f64)
    }

    /// Number of operations that a reduction does, in butterflies: L·(log2 L)/2 a transform, and a product of
    /// words as one. An addition of words is a quarter, and a transform adds L words beside its butterflies
    /// to come apart, unless half of them are zero.
    pub(super) fn done(&self, sparse: &SparseMultiple, reduction: Reduction) -> f64 {
        let Self { n, whole, half } = *self;
        let full = |length: usize| transform(length) / 2.0 + length as f64 / 2.0;
        let padded = |length: usize| full(length) - length as f64 / 4.0;
        let barrett = |a: usize| {
            let (a, words) = (a.max(64), (a + half) as f64);
            full(whole) + padded(a) + full(a) + 2.0 * full(half) + words + n as f64 / 2.0
        };
        match reduction {
            Reduction::Barrett => barrett(whole),
            Reduction::SparseBarrett => {
                let additions = (sparse.weight() - 1) * (2 * n - 1).saturating_sub(sparse.degree()).min(half);
                barrett(Self::quotient(sparse.alpha().unwrap_or(0))) + additions as f64 / 4.0
            }
            Reduction::Montgomery | Reduction::Mixed => 3.0 * full(half) + 2.0 * half as f64,
        }
    }
}

/// The sizes in the depth bounds of `[BEHMSZ17, 4.3]`. Without Montgomery's reduction M and M^-1 drop out
/// with their factors δ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Number k of ciphertext moduli, of 62 bits each.
    pub(super) moduli: usize,
    /// Expansion factor δ_R of the ring.
    pub(super) expansion: f64,
    /// Norm factors δ_R·‖M‖ and δ_R·‖M^-1‖, or 1 and 1 without Montgomery's reduction.
    pub(super) factor: f64,
    pub(super) inverse: f64,
    /// Bound B_err on the errors of encryptions and keys.
    pub(super) error: f64,
}

/// Bound B_err = 6σ of `[BEHMSZ17, 4.3]`, with σ = 2√n.
pub(super) fn error_bound(n: usize) -> f64 {
    6.0 * deviation(n)
}

/// Deviation σ = 2√n of errors in `[BEHMSZ17, 4.3]`.
pub(super) fn deviation(n: usize) -> f64 {
    2.0 * (n as f64).sqrt()
}

const MODULUS_BITS: f64 = 62.0;
/// Plaintext modulus t in the depth bounds.
const PLAIN: f64 = 2.0;
/// Bound B_key on the coefficients of a secret key.
const KEY: f64 = 1.0;

impl Sizes {
    fn log2_modulus(&self, moduli: usize) -> f64 {
        MODULUS_BITS * moduli as f64
    }

    /// Depth bound of FV: the largest L with C_1^L·V + L·C_1^(L−1)·C_2 ≤ B_dec, for ρ = 0 and B_dec = q/2t.
    pub(super) fn fv_depth(&self) -> u64 {
        let (delta, t) = (Log2::of(self.expansion), PLAIN);
        let secret = Log2::of(1.0 + self.expansion * KEY);
        // r∞, C_1, C_2.
        let r = secret * 0.5 + Log2::of(self.factor);
        let first = delta * (2.0 * t) * (r * self.inverse + Log2::of(0.5)) + delta * 0.5;
        let square = Log2::of(1.0) + delta * KEY * secret;
        let second = delta * t * (r + Log2::of(1.0))
            + square * (self.inverse / 2.0)
            + Log2::of(1.5)
            + square * (self.moduli as f64)
            + delta * (self.moduli as f64 * self.error) * Log2::from_bits(MODULUS_BITS + 1.0);
        let fresh = Log2::of(self.error * (1.0 + 2.0 * self.expansion * KEY));
        let limit = self.log2_modulus(self.moduli) - (2.0 * t).log2();
        let noise = |depth: u32| {
            let power = |exponent: u32| Log2::from_bits(first.bits() * f64::from(exponent));
            let rest = if depth == 0 { Log2::ZERO } else { power(depth - 1) * second * f64::from(depth) };
            power(depth) * fresh + rest
        };
        (1..).take_while(|&depth| noise(depth).bits() <= limit).count() as u64
    }

    /// Depth bound of BGV: products of operands for which Lemma 3 holds, each followed by a scaling by one modulus.
    pub(super) fn bgv_depth(&self) -> u64 {
        let delta = Log2::of(self.expansion);
        let secret = 1.0 + self.expansion * KEY;
        let rounding = Log2::of(self.inverse * PLAIN / 2.0 * secret);
        let mut noise = Log2::of(PLAIN / 2.0 + PLAIN * self.error * (2.0 * self.expansion * KEY + 1.0));
        let mut depth = 0;
        for moduli in (2..=self.moduli).rev() {
            // ‖c_0 + c_1·s‖ < q/2 − δ‖M^-1‖·(q/q′)·(t/2)(1 + δ‖s‖).
            let held = noise + rounding * Log2::from_bits(MODULUS_BITS);
            if held.bits() >= self.log2_modulus(moduli) - 1.0 {
                break;
            }
            let switched = delta * 0.5 * (moduli as f64 * self.error * KEY) * Log2::from_bits(MODULUS_BITS);
            noise = (delta * noise * noise + switched) * Log2::from_bits(-MODULUS_BITS) + rounding;
            depth += 1;
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the legible speed-ups of `[BEHMSZ17]`, and 2.06, the largest of Table 1 by the introduction.
    #[test]
    fn counts_are_those_of_the_paper() {
        let speed_up = |m: u64, n: usize, reduction| {
            let (lengths, sparse) = (Lengths::new(n), SparseMultiple::best(m).unwrap());
            let ratio = lengths.counted(&sparse, Reduction::Barrett) / lengths.counted(&sparse, reduction);
            (ratio * 100.0).round() / 100.0
        };
        assert_eq!(speed_up(3855, 2048, Reduction::SparseBarrett), 2.06);
        assert_eq!(speed_up(65535, 32768, Reduction::SparseBarrett), 1.85);
        for printed in super::super::printed::reductions() {
            let found = speed_up(printed.m, printed.n as usize, Reduction::Montgomery);
            assert!((found - printed.montgomery).abs() < 0.011, "{} {found}", printed.m);
            let by_degree = Lengths::new(printed.n as usize).montgomery_speed_up();
            assert_eq!((by_degree * 100.0).round() / 100.0, found, "{}", printed.m);
        }
    }
    /// Depths of BGV, BGV with M, FV, FV with M of a row of Table 3 of `[BEHMSZ17]`, by its norms.
    fn depths(row: usize, n: usize, error: f64) -> [u64; 4] {
        let printed = &super::super::printed::DEPTHS[row];
        let [factor, inverse, expansion] = printed.norms.map(|norm| norm as f64);
        let expansion = expansion * n as f64;
        let plain = Sizes { moduli: printed.moduli, expansion, factor: 1.0, inverse: 1.0, error };
        let with_factor = Sizes { factor: expansion * factor, inverse: expansion * inverse, ..plain };
        [plain.bgv_depth(), with_factor.bgv_depth(), plain.fv_depth(), with_factor.fv_depth()]
    }

    /// Checks which bound on errors gives the depths of Table 3 of `[BEHMSZ17]`: 6σ all but two of FV, σ all of FV, and not those of BGV.
    #[test]
    fn depths_are_those_of_the_paper() {
        let mut missed = 0;
        for (row, n, fv) in [(0, 4096, 1), (1, 8192, 5), (2, 16384, 12), (3, 27000, 19), (4, 32768, 22)] {
            let printed = &super::super::printed::DEPTHS[row];
            let [bgv, bgv_factor, _, fv_factor] = printed.theory;
            assert_eq!(depths(row, n, error_bound(n)), [bgv, bgv_factor, fv, fv_factor], "{}", printed.m);
            let of_sigma = depths(row, n, deviation(n));
            assert_eq!(of_sigma[2..], printed.theory[2..], "{}", printed.m);
            missed +=
                of_sigma[..2].iter().zip(printed.theory).filter(|(found, depth)| *found != depth).count();
        }
        assert!(missed > 0, "B_err = σ would do for BGV too");
    }
}
