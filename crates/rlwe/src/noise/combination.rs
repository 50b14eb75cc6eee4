//! Noise of linear combinations of many ciphertexts, by norms of their factors: without a step for each term.

use std::collections::HashSet;

use super::{Log2, NoiseBound};

/// Norms of the factors c_k of a linear combination.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Norms {
    /// Sum of absolute values Σ|c_k|.
    pub sum: f64,
    /// Euclidean length √Σ c_k².
    pub length: f64,
    /// Largest absolute value.
    pub largest: u64,
}

impl Norms {
    /// The norms of a list of factors.
    ///
    /// ```
    /// use sunzi_rlwe::noise::Norms;
    ///
    /// assert_eq!(Norms::of(&[3, -4]), Norms { sum: 7.0, length: 5.0, largest: 4 });
    /// ```
    #[must_use]
    pub fn of(factors: &[i64]) -> Self {
        let sizes = factors.iter().map(|factor| factor.unsigned_abs());
        Self {
            sum: sizes.clone().map(|size| size as f64).sum(),
            length: sizes.clone().map(|size| (size as f64).powi(2)).sum::<f64>().sqrt(),
            largest: sizes.max().unwrap_or(0),
        }
    }
}

/// Noise bounds that hold for each of several ciphertexts, and whether the ciphertexts are independent.
#[derive(Clone, Copy, Debug)]
pub struct CommonNoise {
    largest: NoiseBound,
    independent: bool,
}

impl CommonNoise {
    /// The noise bounds of all the given ciphertexts; `None` without any. They are independent where all are fresh
    /// encryptions, no two of them the same.
    #[must_use]
    pub fn of<'a>(noises: impl IntoIterator<Item = &'a NoiseBound>) -> Option<Self> {
        let mut noises = noises.into_iter();
        let first = noises.next()?;
        let mut origins = HashSet::new();
        let mut independent = first.origin.is_some_and(|origin| origins.insert(origin));
        let mut largest = *first;
        for noise in noises {
            independent &= noise.origin.is_some_and(|origin| origins.insert(origin));
            largest = largest.max(noise);
        }
        Some(Self { largest, independent })
    }

    /// The noise bounds that hold for each of the ciphertexts.
    #[must_use]
    pub fn largest(&self) -> NoiseBound {
        NoiseBound { origin: None, ..self.largest }
    }

    /// Whether the errors of these ciphertexts are independent of each other.
    #[must_use]
    pub fn is_independent(&self) -> bool {
        self.independent
    }

    /// The factor by which deviations grow in a linear combination with factors of these norms: their length for
    /// independent errors, their sum for others.
    #[must_use]
    pub fn growth(&self, norms: &Norms) -> f64 {
        if self.independent { norms.length } else { norms.sum }
    }

    /// The noise bounds of Σ c_k·a_k for factors of these norms.
    #[must_use]
    pub fn combination(&self, norms: &Norms) -> NoiseBound {
        let (sum, growth) = (Log2::of(norms.sum), Log2::of(self.growth(norms)));
        let NoiseBound { worst, deviation, peak, secret_degree, heavy, .. } = self.largest;
        NoiseBound {
            worst: worst * sum,
            deviation: deviation * growth,
            peak: peak * growth,
            secret_degree,
            origin: None,
            heavy: (heavy.0 * sum, heavy.1 * sum),
        }
    }

    /// Noise bounds of a sum of products over a subring of X^d: Σ_k c_k·v_k for `terms` noises v_k, and c_k in the subring
    /// with values of at most `values` at the roots of unity.
    #[must_use]
    pub fn sum_of_products(&self, terms: usize, values: f64, degree: usize) -> NoiseBound {
        let terms = terms as f64;
        let norms = Norms { sum: terms * values, length: terms.sqrt() * values, largest: 0 };
        let sum = self.combination(&norms);
        NoiseBound { worst: sum.worst * (degree as f64).sqrt(), ..sum }
    }
}

impl NoiseBound {
    /// The noise bounds of a polynomial whose coefficients come from `count` noises, each from one: a value at a root of unity
    /// is a sum of `count` of their values.
    #[must_use]
    pub fn mixed(&self, count: usize) -> Self {
        let count = Log2::of(count as f64);
        let heavy = (self.heavy.0, self.heavy.1 * count);
        Self { peak: self.peak * count, heavy, origin: None, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NoiseTerm;
    use super::*;

    fn noise(size: f64, origin: u64) -> NoiseBound {
        let size = Log2::of(size);
        NoiseBound::fresh(NoiseTerm { worst: size, deviation: size, peak: size }, origin)
    }

    fn bits(noises: &[NoiseBound], factors: &[i64]) -> [f64; 3] {
        let bound = CommonNoise::of(noises).unwrap().combination(&Norms::of(factors));
        [bound.worst, bound.deviation, bound.peak].map(|size| size.bits().exp2().round())
    }

    #[test]
    fn only_fresh_ciphertexts_count_by_length() {
        assert!(CommonNoise::of([]).is_none());
        assert_eq!(bits(&[noise(2.0, 1), noise(2.0, 2)], &[3, -4]), [14.0, 10.0, 10.0]);
        // One ciphertext twice, or one that others went into.
        assert_eq!(bits(&[noise(2.0, 1); 2], &[3, -4]), [14.0; 3]);
        let mixed = noise(1.0, 3).sum(&noise(1.0, 4));
        assert_eq!(bits(&[noise(2.0, 1), mixed], &[3, -4]), [14.0; 3]);
        // The largest noise counts for all.
        assert_eq!(bits(&[noise(1.0, 1), noise(2.0, 2)], &[3, -4]), [14.0, 10.0, 10.0]);
        assert_eq!(bits(&[noise(1.0, 1)], &[0]), [0.0; 3]);
    }

    /// The bounds of a combination are those of sums, for two fresh ciphertexts, and no less than theirs for others.
    #[test]
    fn combinations_agree_with_sums() {
        for (a, b) in [(noise(3.0, 1), noise(3.0, 2)), (noise(3.0, 1), noise(3.0, 1))] {
            let sum = a.times_norm(5.0).sum(&b.times_norm(7.0));
            let common = CommonNoise::of([&a, &b]).unwrap().combination(&Norms::of(&[5, -7]));
            assert!((common.deviation.bits() - sum.deviation.bits()).abs() < 1e-9);
            assert!((common.worst.bits() - sum.worst.bits()).abs() < 1e-9);
            assert!((common.peak.bits() - sum.peak.bits()).abs() < 1e-9);
        }
    }
}
