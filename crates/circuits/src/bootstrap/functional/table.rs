//! Tables of messages modulo p, as polynomials of E.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::interpolation::{InterpolationOrder, check, interpolation, transformed};
use super::messages::Messages;
use crate::bootstrap::BootstrapError;
use crate::series::Series;

/// A table: a number from −1 to 1 for every message modulo p.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    values: Vec<f64>,
    order: InterpolationOrder,
    /// S with R = S(E) + conj(S(E)).
    pub(super) series: Series<Complex64>,
    /// Largest |dS/dE| at the points of the table, and a bound on |d²S/dE²| near the unit circle.
    slopes: [f64; 2],
}

impl Table {
    /// Makes a table from its values: the number for message m is `values[m]`.
    ///
    /// # Errors
    /// [`BootstrapError::Table`] for fewer than 2 or more than 2^14 values, and for one outside of \[−1, 1\].
    pub fn new(values: Vec<f64>, order: InterpolationOrder) -> Result<Self, BootstrapError> {
        check(&values)?;
        if let Some(value) = values.iter().find(|value| value.abs() > 1.0) {
            let got = value.to_string();
            return Err(BootstrapError::Table { what: "a value of a table", got, expected: "from -1 to 1" });
        }
        let series = interpolation(&values, order)?;
        let slopes = slopes(&series, values.len());
        Ok(Self { values, order, series, slopes })
    }

    /// Makes a table whose results are messages again: message m becomes f(m), taken modulo the modulus of `to`.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::functional::{InterpolationOrder, Messages, Table};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let nibbles = Messages::new(16)?;
    /// let squares = Table::of_messages(nibbles, nibbles, InterpolationOrder::First, |m| m * m)?;
    /// assert_eq!(nibbles.nearest(squares.values()[5]), 9);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn of_messages(
        from: Messages,
        to: Messages,
        order: InterpolationOrder,
        f: impl Fn(usize) -> usize,
    ) -> Result<Self, BootstrapError> {
        let value = |m| to.number(f(m) % to.modulus());
        Self::new((0..from.modulus()).map(value).collect::<Result<_, _>>()?, order)
    }

    /// Makes a table of pairs of messages, which [`joined`](super::FunctionalBootstrapper::joined) makes one of: a modulo p and b modulo q become f(a, b).
    ///
    /// # Errors
    /// Every error of [`new`](Self::new), for a table of p·q values.
    pub fn of_pairs(
        [upper, lower]: [Messages; 2],
        to: Messages,
        order: InterpolationOrder,
        f: impl Fn(usize, usize) -> usize,
    ) -> Result<Self, BootstrapError> {
        let [p, q] = [upper, lower].map(Messages::modulus);
        let pairs = Messages::new(p.saturating_mul(q))?;
        // The number of b is centred: where b counts as b − q, one is missing from a.
        let value = |m: usize| {
            let b = m % q;
            let a = (m / q + usize::from(2 * b >= q)) % p;
            f(a, b)
        };
        Self::of_messages(pairs, to, order, value)
    }

    /// The values of the table, that of message 0 first.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Order of the interpolation of the table.
    #[must_use]
    pub fn order(&self) -> InterpolationOrder {
        self.order
    }

    /// Number of levels that the table takes.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.series.cost().depth
    }

    /// The largest |value| of the table.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        self.values.iter().fold(0.0, |most, value| most.max(value.abs()))
    }

    /// Returns a bound on the error of the table's results, for inputs whose numbers 2m/p are off by at most `noise`.
    #[must_use]
    pub fn error(&self, noise: f64) -> f64 {
        self.order.error(self.values.len(), noise / 2.0) * self.magnitude()
    }

    /// Returns a bound on the error of results because E is off by at most `power`, for inputs whose numbers are off by at most `noise`.
    pub(super) fn error_of_power(&self, noise: f64, power: f64) -> f64 {
        let [first, second] = self.slopes;
        // exp(2πi·x) moves by 2π times half the noise of the number.
        2.0 * power * (first + second * (PI * noise + power))
    }
}

/// Returns max |S'| over the p points of a table, and Σ n²·|c_n|, which bounds |S''| on the unit circle; twice that bounds it next to the circle.
fn slopes(series: &Series<Complex64>, points: usize) -> [f64; 2] {
    let mut folded = vec![Complex64::ZERO; points];
    let mut second = 0.0;
    for (n, c) in series.terms().enumerate() {
        if let Some(sum) = folded.get_mut(n % points) {
            *sum += n as f64 * c;
        }
        second += (n * n) as f64 * c.norm();
    }
    // Conjugate points are all points.
    let first = transformed(&folded).iter().map(|value| value.norm()).fold(0.0, f64::max);
    [first, 2.0 * second]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_bound_what_a_wrong_power_does() {
        for points in [2, 5, 16, 64] {
            let values = (0..points).map(|k| ((k * k * 5 + 3) % 7) as f64 / 3.5 - 1.0).collect();
            let table = Table::new(values, InterpolationOrder::First).unwrap();
            let (noise, power) = (0.02 / points as f64, 1e-6);
            let bound = table.error_of_power(noise, power);
            let mut worst = 0.0_f64;
            for k in 0..points {
                for turn in [-0.5, 0.0, 0.5] {
                    let e = Complex64::cis(2.0 * PI * (k as f64 / points as f64 + turn * noise));
                    for way in 0..16 {
                        let off = power * Complex64::cis(f64::from(way));
                        let moved = table.series.at_complex(e + off) - table.series.at_complex(e);
                        worst = worst.max(2.0 * moved.re.abs());
                    }
                }
            }
            assert!(worst <= bound && worst >= bound / 4.0, "{points}: {worst:e} {bound:e}");
        }
    }
}
