//! Statistics: the probability of a count or a mean under the distribution it should have.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// Returns the probability P that counts deviate from these probabilities at least as much as they do (χ² of
/// Pearson): 0 where it is undefined.
#[must_use]
pub fn chi_square_p(counts: &[u64], probabilities: &[f64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let term = |(&count, p): (&u64, &f64)| {
        let expected = p * total as f64;
        (count as f64 - expected).powi(2) / expected
    };
    let statistic: f64 = counts.iter().zip(probabilities).map(term).sum();
    ChiSquared::new((counts.len().max(2) - 1) as f64).map_or(0.0, |chi| chi.sf(statistic))
}

/// Returns the probability P that a standard normal is at least as far from 0 as z.
#[must_use]
pub fn normal_p(z: f64) -> f64 {
    2.0 * Normal::standard().sf(z.abs())
}

/// Returns the interval of a binomial count of `trials` with this probability, but for 0.5 % on either side.
#[must_use]
pub fn binomial_interval(trials: u64, probability: f64) -> [u64; 2] {
    use statrs::distribution::{Binomial, DiscreteCDF};
    Binomial::new(probability, trials)
        .map_or([0, trials], |binomial| [0.005, 0.995].map(|p| binomial.inverse_cdf(p)))
}

/// Returns the probability that a sum of up to 64 uniform numbers from 0 to 1 is further above its middle than `distance` (the law of Irwin and Hall).
#[must_use]
pub fn above_sum_of_uniforms(terms: u32, distance: f64) -> f64 {
    // By symmetry the probability to lie below: few terms for far tails, so that nothing cancels.
    let below = f64::from(terms) / 2.0 - distance;
    let mut binomial_over_factorial: f64 = (1..=terms).map(|i| 1.0 / f64::from(i)).product();
    let mut sum = 0.0;
    for k in 0..=terms {
        let base = below - f64::from(k);
        if base <= 0.0 {
            break;
        }
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * binomial_over_factorial * base.powf(f64::from(terms));
        binomial_over_factorial *= f64::from(terms - k) / f64::from(k + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_uniform_numbers_have_their_law() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} for {b}");
        close(above_sum_of_uniforms(1, 0.25), 0.25);
        close(above_sum_of_uniforms(2, 0.5), 0.125);
        close(above_sum_of_uniforms(3, 0.0), 0.5);
        close(above_sum_of_uniforms(3, 1.5), 0.0);
        // Near normal for many: the kurtosis of 30 takes 15 % of the tail at 3.3 deviations.
        let ratio = above_sum_of_uniforms(30, 3.3 * (2.5_f64).sqrt()) / Normal::standard().sf(3.3);
        assert!((0.84..0.85).contains(&ratio), "{ratio}");
    }
}
