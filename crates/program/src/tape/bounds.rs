//! Bounds on the exact numbers of a tape, slot by slot.

use super::{Clear, Step, Tape};

impl Tape {
    /// Returns a bound on every |number| of the outputs, from the bounds of the inputs: infinite where real numbers
    /// pass through a series.
    #[must_use]
    pub fn largest(&self, row: usize) -> f64 {
        let mut all: Vec<Vec<f64>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let bounds = of_step(step, &all, row);
            all.push(bounds);
        }
        let out = self
            .outputs
            .iter()
            .filter_map(|&(place, size)| all.get(place)?.iter().take(size.max(1)).copied().reduce(f64::max));
        out.fold(self.largest_input(), f64::max)
    }
}

fn of_step(step: &Step, all: &[Vec<f64>], row: usize) -> Vec<f64> {
    let of = |place: usize| all.get(place).map_or(&[][..], Vec::as_slice);
    match step {
        Step::Input(runs) => {
            runs.iter().flat_map(|&(bound, slots)| std::iter::repeat_n(bound, slots)).collect()
        }
        Step::Add(a, b) | Step::Sub(a, b) => joined(of(*a), of(*b), |x, y| x + y),
        Step::Multiply(a, b) => joined(of(*a), of(*b), |x, y| x * y),
        // Slot by slot it is known better.
        Step::Negate(a) | Step::Bounded(a, _) => of(*a).to_vec(),
        Step::AddPlain(a, m, period) | Step::SubPlain(a, m, period) => {
            joined(of(*a), &sizes(m, *period), |x, y| x + y)
        }
        Step::PlainProducts(terms, period) => {
            let products = terms.iter().map(|(a, m)| joined(of(*a), &sizes(m, *period), |x, y| x * y));
            products.reduce(|sum, next| joined(&sum, &next, |x, y| x + y)).unwrap_or_default()
        }
        Step::Products(terms) => {
            let products = terms.iter().map(|(a, b)| joined(of(*a), of(*b), |x, y| x * y));
            products.reduce(|sum, next| joined(&sum, &next, |x, y| x + y)).unwrap_or_default()
        }
        Step::Integer(a, factor) => {
            let factor = factor.unsigned_abs() as f64;
            of(*a).iter().map(|x| x * factor).collect()
        }
        Step::Constant(a, factor) => of(*a).iter().map(|x| x * factor.norm()).collect(),
        Step::Rotate(a, steps) => rotated(of(*a), *steps, row),
        Step::Swap(a) => swapped(of(*a), row),
        Step::Polynomial(a, coefficients) => {
            let value =
                |x: &f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c.unsigned_abs() as f64);
            of(*a).iter().map(value).collect()
        }
        Step::Series(a, series) => vec![series.largest_value(); of(*a).len()],
    }
}

/// Returns f of the bounds of two operands slot by slot, where one period divides the other.
fn joined(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let period = a.len().max(b.len());
    a.iter().cycle().zip(b.iter().cycle()).take(period).map(|(&x, &y)| f(x, y)).collect()
}

fn sizes(clear: &Clear, period: usize) -> Vec<f64> {
    let mut sizes: Vec<f64> = match clear {
        Clear::Integers(values) => values.iter().map(|value| value.unsigned_abs() as f64).collect(),
        Clear::Complex(values) => values.iter().map(|value| value.norm()).collect(),
    };
    sizes.resize(period.max(1), 0.0);
    sizes
}

fn rotated(a: &[f64], steps: i64, row: usize) -> Vec<f64> {
    let mut image = a.to_vec();
    let length = a.len().min(row).max(1);
    let by = steps.rem_euclid(length as i64) as usize;
    image.chunks_exact_mut(length).for_each(|chunk| chunk.rotate_left(by));
    image
}

fn swapped(a: &[f64], row: usize) -> Vec<f64> {
    let mut image = a.to_vec();
    if a.len() > row {
        image.rotate_left(row);
    }
    image
}
