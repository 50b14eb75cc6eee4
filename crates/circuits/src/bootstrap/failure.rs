//! Probability that an integer which ModRaise leaves lies outside the range that EvalMod removes.
//!
//! ct(s) modulo q_0 becomes m + q_0·I with I_j = ⌊Σ ±u_i − m_j/q_0⌉ for the coefficients u_i of c_1/q_0 that the secret picks:
//! uniform in \[−1/2, 1/2) and, for one j, independent. So P(|I_j| > K) = 2·P(Σ u_i ≥ K + 1/2 − μ) at most for |m_j| ≤ μ·q_0,
//! and the union bound over the coefficients of the message gives what a set states.

use num_bigint::{BigInt, BigUint};
use sunzi_rlwe::SecretDistribution;

/// Largest weight for which the tail is computed exactly; above it is bounded by Chernoff.
const EXACT: usize = 512;
/// Number of fraction bits to which arguments of the tail are rounded down.
const FRACTION: u32 = 20;

/// Returns log2 of a bound on the probability that one of `coefficients` many I_j leaves \[−K, K\], for messages of at most
/// `ratio`·q_0: exact up to the union bound for a Hamming weight of at most 512, else a Chernoff bound, a few bits above.
///
/// The result is −∞ where the event cannot happen.
#[must_use]
pub fn log2_failure(
    secret: SecretDistribution,
    degree: usize,
    coefficients: usize,
    range: usize,
    ratio: f64,
) -> f64 {
    let bound = range as f64 + 0.5 - ratio;
    let tail = match secret {
        SecretDistribution::FixedWeight(weight) if weight <= EXACT => log2_uniform_tail(weight, bound),
        SecretDistribution::FixedWeight(weight) => log2_chernoff(weight as f64, 1.0, bound),
        SecretDistribution::Ternary | SecretDistribution::Joint(_) => {
            log2_chernoff(degree as f64 * f64::from(secret.parties()), 2.0 / 3.0, bound)
        }
    };
    (tail + 1.0 + (coefficients as f64).log2()).min(0.0)
}

/// Returns the least K for which [`log2_failure`] is at most `log2_target`.
#[must_use]
pub fn least_range(
    secret: SecretDistribution,
    degree: usize,
    coefficients: usize,
    ratio: f64,
    log2_target: f64,
) -> usize {
    let most = match secret {
        SecretDistribution::FixedWeight(weight) => weight,
        SecretDistribution::Ternary | SecretDistribution::Joint(_) => degree * secret.parties() as usize,
    };
    let enough = |range: &usize| log2_failure(secret, degree, coefficients, *range, ratio) <= log2_target;
    (0..most).find(enough).unwrap_or(most)
}

/// Returns log2 P(u_1 + … + u_h ≥ x): the sum Σ_(k ≤ d) (−1)^k·C(h, k)·(d − k)^h / h! for d = h/2 − x.
fn log2_uniform_tail(weight: usize, x: f64) -> f64 {
    let unit = f64::from(1_u32 << FRACTION);
    let distance = ((weight as f64 / 2.0 - x) * unit).ceil();
    if distance <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let power = weight as u32;
    let (mut sum, mut choices, mut factorial) = (BigInt::ZERO, BigInt::from(1), BigUint::from(1_u32));
    for k in 0..=weight {
        let left = distance - k as f64 * unit;
        if left > 0.0 {
            let term = &choices * BigInt::from(left as u64).pow(power);
            sum += if k % 2 == 0 { term } else { -term };
        }
        choices = choices * (weight - k) / (k + 1);
        factorial *= k.max(1);
    }
    let denominator = sunzi_math::log2(&factorial) + f64::from(FRACTION * power);
    sunzi_math::log2(sum.magnitude()) - denominator
}

/// Returns min over λ of log2 (1 − w + w·sinh(λ/2)/(λ/2))^count·e^(−λx): Chernoff's bound for sums of uniform variables each present with
/// probability w.
fn log2_chernoff(count: f64, weight: f64, x: f64) -> f64 {
    let exponent = |lambda: f64| {
        let half = lambda / 2.0;
        // Logarithm ln(sinh(h)/h) for any h.
        let log = half + (-(-2.0 * half).exp_m1() / (2.0 * half)).ln();
        let moment = if log < 600.0 { (weight * log.exp_m1()).ln_1p() } else { log + weight.ln() };
        (count * moment - lambda * x) / std::f64::consts::LN_2
    };
    let (mut low, mut high) = (1e-6_f64, 1e4_f64);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if exponent(a) < exponent(b) { high = b } else { low = a }
    }
    exponent(f64::midpoint(low, high)).min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sums_by_hand() {
        // One variable: P(u ≥ 1/4) = 1/4. Two: P(u + v ≥ 1/2) = 1/8. Three: P(≥ 1) = (1/2)³/6.
        for (weight, x, expected) in
            [(1, 0.25, 0.25_f64), (2, 0.5, 0.125), (3, 1.0, 1.0 / 48.0), (3, 0.0, 0.5)]
        {
            assert!((log2_uniform_tail(weight, x) - expected.log2()).abs() < 1e-4, "{weight} {x}");
        }
        assert_eq!(log2_uniform_tail(32, 16.0), f64::NEG_INFINITY);
    }

    #[test]
    fn the_exact_tail_is_below_chernoff_and_near_it() {
        for (weight, x) in [(32, 5.0), (32, 12.5), (32, 15.5), (64, 20.0), (192, 40.0), (512, 90.0)] {
            let (exact, bound) = (log2_uniform_tail(weight, x), log2_chernoff(weight as f64, 1.0, x));
            assert!(exact <= bound && bound < exact + 12.0, "{weight} {x}: {exact} {bound}");
        }
        // A sum over 5 deviations is close to normal: 2^-21.7 for one tail.
        let x = 5.0 * (512.0 / 12.0_f64).sqrt();
        assert!((log2_uniform_tail(512, x) + 21.7).abs() < 0.3);
    }

    #[test]
    fn ranges_of_the_usual_secrets() {
        let range = |secret, log2_degree: u32, ratio| {
            least_range(secret, 1 << log2_degree, 1 << log2_degree, ratio, -128.0)
        };
        let sparse = SecretDistribution::FixedWeight;
        assert_eq!(range(sparse(32), 16, 1.0 / 256.0), 15);
        assert_eq!(range(sparse(32), 16, 1.0 / 8.0), 16);
        // |I| ≤ h/2 always.
        assert!(range(sparse(8), 10, 0.25) <= 4);
        let (h64, h192, dense) = (
            range(sparse(64), 16, 0.01),
            range(sparse(192), 16, 0.01),
            range(SecretDistribution::Ternary, 16, 0.01),
        );
        assert!((27..32).contains(&h64), "{h64}");
        assert!((48..56).contains(&h192), "{h192}");
        assert!((800..900).contains(&dense), "{dense}");
        let one_less = log2_failure(sparse(192), 1 << 16, 1 << 16, h192 - 1, 0.01);
        assert!(one_less > -128.0 && log2_failure(sparse(192), 1 << 16, 1 << 16, h192, 0.01) <= -128.0);
    }

    #[test]
    fn more_range_or_fewer_coefficients_fail_less() {
        let secret = SecretDistribution::Ternary;
        let failure = |coefficients, range| log2_failure(secret, 4096, coefficients, range, 0.01);
        assert!(failure(4096, 100) < failure(4096, 90));
        assert!((failure(4096, 100) - failure(2, 100) - 11.0).abs() < 1e-9);
        assert_eq!(failure(4096, 0), 0.0);
    }
}
