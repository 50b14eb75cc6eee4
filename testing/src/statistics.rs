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
