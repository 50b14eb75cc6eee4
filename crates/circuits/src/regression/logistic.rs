//! Polynomial approximation of the logistic function.

/// The logistic function σ(−u) = 1/(1 + e^u) for |u| ≤ width as 1/2 + x·c·((x² + b)² + d), x = u/width: the Chebyshev series to degree 5.
///
/// Of the odd degrees, 1 modulo 4 are safe for training: beyond the interval, too, a large
/// score has a gradient that reduces it. With degree 3 or 7 the gradient increases it, and training diverges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic {
    leading: f64,
    inner: f64,
    outer: f64,
}

/// Number of points at which the coefficients of the series are summed; the error falls geometrically with it.
const POINTS: u32 = 256;

impl Logistic {
    /// Makes the polynomial for scores between −`width` and `width`.
    #[must_use]
    pub fn new(width: f64) -> Self {
        let coefficient = |k: f64| -> f64 {
            let at = |point: u32| {
                let angle = std::f64::consts::PI * (f64::from(point) + 0.5) / f64::from(POINTS);
                (k * angle).cos() / (1.0 + (width * angle.cos()).exp())
            };
            (0..POINTS).map(at).sum::<f64>() * 2.0 / f64::from(POINTS)
        };
        let [c1, c3, c5] = [1.0, 3.0, 5.0].map(coefficient);
        // T_3 = 4x³ − 3x, T_5 = 16x⁵ − 20x³ + 5x.
        let (a1, a3, a5) = (c1 - 3.0 * c3 + 5.0 * c5, 4.0 * c3 - 20.0 * c5, 16.0 * c5);
        let inner = a3 / (2.0 * a5);
        Self { leading: a5, inner, outer: a1 / a5 - inner * inner }
    }

    /// Leading factor c of the polynomial.
    #[must_use]
    pub fn leading(&self) -> f64 {
        self.leading
    }

    /// Inner summand b of the polynomial.
    #[must_use]
    pub fn inner(&self) -> f64 {
        self.inner
    }

    /// Outer summand d of the polynomial.
    #[must_use]
    pub fn outer(&self) -> f64 {
        self.outer
    }

    /// Returns the polynomial at x = u/width.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        0.5 + x * self.leading * ((x * x + self.inner).powi(2) + self.outer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_near_the_function_and_pulls_back_outside() {
        for (width, error) in [(4.0, 0.0065), (8.0, 0.055), (12.0, 0.115), (16.0, 0.165)] {
            let logistic = Logistic::new(width);
            let distance = |i: i32| {
                let x = f64::from(i) / 1000.0;
                (logistic.at(x) - 1.0 / (1.0 + (width * x).exp())).abs()
            };
            let worst = (-1000..=1000).map(distance).fold(0.0, f64::max);
            assert!(worst < error && worst > 0.9 * error, "{width}: {worst}");
            // A row that is far on the right side gets a negative weight, one on the wrong side a large one.
            for x in [1.2, 1.5, 2.0, 10.0] {
                assert!(logistic.at(x) < 0.5 && logistic.at(-x) > 0.5, "{width}, {x}");
            }
            assert!(logistic.at(3.0) < logistic.at(2.0) && logistic.at(2.0) < 0.0);
        }
    }
}
