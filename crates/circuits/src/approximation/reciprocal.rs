//! Reciprocals on wide intervals, by products in place of the powers of one polynomial.

use std::borrow::Cow;

use sunzi_ckks::{Ciphertext, CkksError, Evaluator};
use sunzi_rlwe::RelinearizationKey;

use crate::series::evaluate::bounded;
use crate::series::{Cost, SeriesError, check_interval};

/// Largest number of levels of a reciprocal.
const DEEPEST: usize = 32;
/// Largest integer that numbers are multiplied by.
const MOST_TIMES: f64 = (1_u64 << 40) as f64;
/// Half of a unit in the last place of a double.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Approximates c/x on \[low, high\] to one side of 0, |x| ≤ 2, by the polynomial of degree 2^J − 1 whose relative error 1/T_(2^J)(τ) is the least of
/// its degree, τ = (high + low)/(high − low): in J levels and 2J − 2 relinearisations.
///
/// With t_i = T_(2^i)(u), u from −1 to 1 on the interval, and τ_i = T_(2^i)(τ), x/c times the product of all τ_i + t_i for i < J is a constant times
/// τ_J − t_J, since τ_(i+1) − t_(i+1) = 2·(τ_i − t_i)·(τ_i + t_i). These are Goldschmidt's iterations, over-relaxed: each squares
/// the error, and its factor has a free constant. Here s_i = γ_i·t_i stands for t_i, with γ_i chosen so that no product with a number that is
/// no integer is needed but the constant of the result, and all factors are about 1 at their largest: errors of ciphertexts grow by little more than
/// the function's slope.
///
/// ```
/// use sunzi_circuits::approximation::Reciprocal;
///
/// let found = Reciprocal::new(1e-4, 1e-4, 1.0, 1e-5)?;
/// assert!((found.at(1e-4) - 1.0).abs() <= found.error() && found.error() <= 1e-5);
/// assert_eq!((found.cost().depth, found.cost().relinearizations), (10, 18));
/// # Ok::<(), sunzi_circuits::series::SeriesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reciprocal {
    interval: [f64; 2],
    /// Integer that brings x to z from 0 to 2, with 1 or more where it is largest; below 0 where x is.
    times: i64,
    /// Constant factor of the product of all w_i.
    factor: f64,
    /// Sum of the ends of z: w_0 is this less z.
    ends: f64,
    /// Largest |s_0|.
    radius: f64,
    squares: Vec<Square>,
    error: f64,
}

/// Step s ← k·s² − γ, with the factor w = s + shift.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Square {
    factor: u32,
    radius: f64,
    shift: f64,
}

impl Square {
    /// Bound on |w|.
    fn largest(self) -> f64 {
        self.radius + self.shift
    }
}

impl Reciprocal {
    /// Approximates c/x on \[low, high\] at the fewest levels with at most this error.
    ///
    /// # Errors
    /// [`SeriesError::Interval`]; [`SeriesError::OutOfRange`] for an interval with 0 in it or ends beyond ±2, and c that is no finite number above 0; [`SeriesError::NotReached`] for an error that rounding errors hide.
    pub fn new(c: f64, low: f64, high: f64, error: f64) -> Result<Self, SeriesError> {
        check_interval(low, high)?;
        if low <= 0.0 && high >= 0.0 {
            let expected = "above 0, or the upper end below 0: 1/x has its pole there";
            return Err(SeriesError::OutOfRange { what: "the lower end", got: low, expected });
        }
        if !(c > 0.0 && c.is_finite()) {
            let expected = "a finite number above 0";
            return Err(SeriesError::OutOfRange { what: "the numerator", got: c, expected });
        }
        let (near, far) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
        if !(MOST_TIMES.recip()..=2.0).contains(&far) {
            let expected = "from 2^-40 to 2 in size: divide x by a power of two";
            return Err(SeriesError::OutOfRange { what: "the end farther from 0", got: far, expected });
        }
        let (times, largest) = ((2.0 / far).log2().floor().exp2(), c / near);
        let (near, far, sign) = (near * times, far * times, low.signum());
        let radius = (far - near) / 2.0;
        let mut found = Self {
            interval: [low, high],
            times: (sign * times) as i64,
            factor: 0.0,
            ends: near + far,
            radius,
            squares: Vec::new(),
            error,
        };
        // τ_i − 1, which is exact to a few units where τ_i itself is 1 but for them.
        let mut beyond = near / radius;
        let (mut gamma, mut constant) = (radius, 1.0 / radius);
        let mut reached = f64::INFINITY;
        for _ in 1..=DEEPEST {
            // z·w_0·…·w_(i−1)·constant is τ_i − t_i.
            constant *= 2.0 / gamma;
            beyond *= 2.0 * (beyond + 2.0);
            found.factor = sign * c * times * constant / (1.0 + beyond);
            reached = (largest / (1.0 + beyond) + found.rounding()) * (1.0 + 1e-12);
            if reached <= error {
                return Ok(Self { error: reached, ..found });
            }
            if !(beyond.is_finite() && constant.is_finite()) || found.rounding() > error {
                break;
            }
            let factor = (2.0 / (gamma * gamma * (2.0 + beyond))).floor().clamp(1.0, 64.0);
            gamma *= gamma * factor / 2.0;
            found.squares.push(Square {
                factor: factor as u32,
                radius: gamma,
                shift: gamma * (1.0 + beyond),
            });
        }
        Err(SeriesError::NotReached {
            wanted: error,
            largest: (1 << found.depth().min(DEEPEST)) - 1,
            reached,
        })
    }

    /// Bounds what roundings of all constants change: ends and radius are right to a unit, γ_i to 4·2^i and τ_i to as many, since errors double
    /// with each square, products of both and the factor to 16·2^i.
    fn rounding(&self) -> f64 {
        let unit = |step: usize| 16.0 * UNIT * (step as f64).exp2();
        let (mut moved, mut radius) = (2.0 * UNIT * self.ends, self.radius);
        // The product so far: a bound, and a bound on its error.
        let mut product = self.factor.abs() * self.ends;
        let mut off = self.factor.abs() * moved + unit(self.depth()) * product;
        for (i, square) in self.squares.iter().enumerate() {
            let (factor, each) = (f64::from(square.factor), unit(i + 1));
            moved = factor * moved * (2.0 * radius + moved) + each / 4.0 * square.radius;
            let largest = square.largest();
            off = off * largest + product * (moved + each * square.shift);
            (product, radius) = (product * largest, square.radius);
        }
        off
    }

    /// Interval on which the reciprocal is approximated.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        self.interval
    }

    /// Proved bound on |value − c/x| over the interval, constants as they are rounded.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Number of levels that [`evaluate`](Self::evaluate) takes.
    #[must_use]
    pub fn depth(&self) -> usize {
        1 + self.squares.len()
    }

    /// Returns the cost of [`evaluate`](Self::evaluate).
    #[must_use]
    pub fn cost(&self) -> Cost {
        let products = 2 * self.squares.len();
        Cost { depth: self.depth(), products, relinearizations: products }
    }

    /// Returns the polynomial's value at x in the clear, computed as under encryption.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        let z = x * self.times as f64;
        let mut s = z - self.ends / 2.0;
        self.squares.iter().fold(self.factor * (self.ends - z), |product, square| {
            s = f64::from(square.factor) * s * s - square.radius;
            product * (s + square.shift)
        })
    }

    /// Declares that the slots of a point lie in the interval, as the caller knows, by a bound. If they do not, results are wrong.
    ///
    /// # Errors
    /// Every error of [`with_magnitude`](Evaluator::with_magnitude).
    pub fn declared_within(&self, evaluator: &Evaluator, x: &Ciphertext) -> Result<Ciphertext, CkksError> {
        let bound = self.largest_operand();
        if x.metadata().precision.magnitude() <= bound {
            Ok(x.clone())
        } else {
            evaluator.with_magnitude(x, bound)
        }
    }

    fn largest_operand(&self) -> f64 {
        let [low, high] = self.interval;
        low.abs().max(high.abs())
    }

    /// Evaluates the polynomial slot by slot, for slots in the interval: outside, values are anything.
    ///
    /// # Errors
    /// [`CkksError::Value`] for slots whose declared bound lies outside of the interval on both sides; [`CkksError::LevelExhausted`] with too few levels;
    /// every error of [`multiply`](Evaluator::multiply).
    pub fn evaluate(
        &self,
        evaluator: &Evaluator,
        x: &Ciphertext,
        key: &RelinearizationKey,
    ) -> Result<Ciphertext, CkksError> {
        let (needed, level) = (self.depth(), x.metadata().level);
        if level < needed {
            return Err(CkksError::LevelExhausted { operation: "compute a reciprocal", needed, level });
        }
        let magnitude = x.metadata().precision.magnitude();
        if magnitude > self.largest_operand() * (1.0 + 1e-9) {
            let expected = "its interval ends before: declare a smaller bound by with_magnitude, or take a wider interval";
            return Err(CkksError::Value {
                what: "a reciprocal of slots of up to",
                got: magnitude,
                expected,
            });
        }
        let first = evaluator.multiply_constant(x, -self.factor * self.times as f64)?;
        let first = evaluator.add_constant(&first, self.factor * self.ends)?;
        let mut largest = self.factor.abs() * self.ends;
        let mut product = bounded(first, largest);
        let z = if self.times == 1 {
            Cow::Borrowed(x)
        } else {
            Cow::Owned(evaluator.multiply_integer(x, self.times)?)
        };
        let mut s = bounded(evaluator.add_constant(&z, -self.ends / 2.0)?, self.radius);
        for square in &self.squares {
            let mut wide = evaluator.multiply_unscaled_at(&s, &s, square.factor, s.metadata().level)?;
            evaluator.add_constant_assign(&mut wide, -square.radius)?;
            s = bounded(evaluator.relinearize_rescale(&wide, key)?, square.radius);
            let factor = bounded(evaluator.add_constant(&s, square.shift)?, square.largest());
            largest *= square.largest();
            product = bounded(evaluator.multiply(&product, &factor, key)?, largest);
        }
        Ok(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximation::{Function, Target, approximate_function};
    use crate::series::depth;

    /// Points of an interval, its ends and what is next to them among them.
    fn points(low: f64, high: f64) -> impl Iterator<Item = f64> {
        let even = (0..=4000).map(move |i| low + (high - low) * f64::from(i) / 4000.0);
        let (near, ratio) =
            (low.abs().min(high.abs()), low.abs().max(high.abs()) / low.abs().min(high.abs()));
        let sign = low.signum();
        let by_ratio = (0..=4000).map(move |i| sign * near * ratio.powf(f64::from(i) / 4000.0));
        even.chain(by_ratio).map(move |x| x.clamp(low, high))
    }

    #[test]
    fn errors_hold_at_every_ratio() {
        for ratio in [1.0001_f64, 1.5, 3.0, 10.0, 100.0, 1e4, 1e6, 1e8] {
            // Doubles have no 30 bits at the widest. Numbers are brought near 1 by an integer.
            for bits in
                [4_i32, 10, 16, 24, 30].into_iter().filter(|&bits| f64::from(bits) + ratio.log2() < 48.0)
            {
                for far in [0.75, -0.75, 2.0, -0.003] {
                    let near: f64 = far / ratio;
                    let (low, high) = (near.min(far), near.max(far));
                    let near = near.abs();
                    let found = Reciprocal::new(near, low, high, f64::from(-bits).exp2()).unwrap();
                    // Doubles round as the constants do.
                    let most = found.error() + found.rounding();
                    let worst = points(low, high).map(|x| (found.at(x) - near / x).abs()).fold(0.0, f64::max);
                    assert!(worst <= most, "{ratio} {bits}: {worst:e} {most:e}");
                    assert!(found.rounding() < 1e-14 * (ratio + 50.0), "{ratio}: {:e}", found.rounding());
                    // The bound is that of the best polynomial: it is reached.
                    assert!(
                        worst >= 0.9 * (found.error() - 2.0 * found.rounding()),
                        "{ratio} {bits}: {worst:e}"
                    );
                }
            }
        }
    }

    /// The fewest levels: one fewer misses the error, whatever polynomial it has.
    #[test]
    fn no_chebyshev_series_is_cheaper() {
        for ratio in [1.5, 3.0, 10.0, 100.0, 1e3] {
            for bits in [8, 16, 24] {
                let (low, error) = (0.75 / ratio, f64::from(-bits).exp2());
                let chain = Reciprocal::new(low, low, 0.75, error).unwrap().cost();
                let target = Target::Error(error / low);
                let series = approximate_function(Function::Inverse, low, 0.75, target).unwrap().series;
                assert!(chain.depth <= depth(&series), "{ratio} {bits}: {chain}, degree {}", series.degree());
                let relinearizations = series.cost().relinearizations;
                assert!(
                    chain.relinearizations <= relinearizations + 1,
                    "{ratio} {bits}: {chain}, {relinearizations}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_reciprocal_says_so() {
        for (low, high) in [(0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0)] {
            assert!(matches!(Reciprocal::new(1.0, low, high, 0.1), Err(SeriesError::OutOfRange { .. })));
        }
        assert!(matches!(Reciprocal::new(1.0, 2.0, 1.0, 0.1), Err(SeriesError::Interval { .. })));
        for (c, low, high) in
            [(-1.0, 1.0, 2.0), (1.0, 1.0, 2.1), (1.0, 1e-20, 1e-19), (f64::INFINITY, 1.0, 2.0)]
        {
            assert!(matches!(Reciprocal::new(c, low, high, 0.1), Err(SeriesError::OutOfRange { .. })));
        }
        let hidden = Reciprocal::new(1e-12, 1e-12, 1.0, 1e-9);
        assert!(matches!(hidden, Err(SeriesError::NotReached { .. })), "{hidden:?}");
    }
}
