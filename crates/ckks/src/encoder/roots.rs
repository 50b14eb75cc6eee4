//! Roots of unity of order 4s, each the nearest pair of doubles or within an ulp's thousandth of it, equal on every
//! machine: sines of the system's library are not.

use num_complex::Complex64;

use super::double_double::DoubleDouble;

/// A point on the unit circle: the cosine and the sine of an angle.
type Point = [DoubleDouble; 2];

/// The roots of unity e^(2πi·k/4s) of the first octant, k ≤ s/2; the others are their mirror images.
pub(super) struct Roots {
    quarter: usize,
    octant: Vec<Complex64>,
}

impl Roots {
    /// Computes the roots of unity of order 4s, for s a power of two.
    pub(super) fn new(quarter: usize) -> Self {
        let octant = octant(quarter).into_iter().map(|[c, s]| Complex64::new(c.nearest(), s.nearest()));
        Self { quarter, octant: octant.collect() }
    }

    /// The root of unity e^(2πi·k/4s).
    pub(super) fn root(&self, k: usize) -> Complex64 {
        let (quarters, remainder) = (k / self.quarter % 4, k % self.quarter);
        let mirrored = remainder > self.quarter / 2;
        let index = if mirrored { self.quarter - remainder } else { remainder };
        let Complex64 { re, im } = self.octant.get(index).copied().unwrap_or_default();
        let (re, im) = if mirrored { (im, re) } else { (re, im) };
        match quarters {
            0 => Complex64::new(re, im),
            1 => Complex64::new(-im, re),
            2 => Complex64::new(-re, -im),
            _ => Complex64::new(im, -re),
        }
    }
}

/// Points at the angles 2π·k/4s for k ≤ s/2: halved angles for powers of two, products of two for all others.
fn octant(quarter: usize) -> Vec<Point> {
    let half = quarter / 2;
    let mut points = vec![[DoubleDouble::ONE, DoubleDouble::ZERO]; half + 1];
    let mut angle = [DoubleDouble::ZERO, DoubleDouble::ONE];
    let mut powers = Vec::new();
    let mut k = half;
    while k > 0 {
        angle = halved(angle);
        powers.push((k, angle));
        k /= 2;
    }
    for (k, angle) in powers.into_iter().rev() {
        let (known, unknown) = points.split_at_mut(k);
        for (point, &start) in unknown.iter_mut().zip(known.iter()) {
            *point = product(start, angle);
        }
    }
    points
}

/// The point at half of an angle up to π/2.
fn halved([c, s]: Point) -> Point {
    let cosine = DoubleDouble::ONE.plus(c).scaled(0.5).sqrt();
    [cosine, s.over(cosine.scaled(2.0))]
}

/// The point at the sum of two angles.
fn product([a, b]: Point, [c, d]: Point) -> Point {
    [a.times(c).minus(b.times(d)), a.times(d).plus(b.times(c))]
}

/// The points of the first octant as double-double numbers, for sums of w_k·e^(2πi·e·k/4s) in the tests of the
/// embedding.
#[cfg(test)]
pub(super) fn exact_octant(quarter: usize) -> Vec<[DoubleDouble; 2]> {
    octant(quarter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    const BITS: u64 = 200;

    /// The angle arctan(1/x) in fixed point.
    fn arctan_inverse(x: u64) -> BigInt {
        let mut power = (BigInt::from(1) << BITS) / x;
        let mut sum = BigInt::ZERO;
        let mut k = 1_i64;
        while power != BigInt::ZERO {
            let term = &power / k;
            sum += if k % 4 == 1 { term } else { -term };
            power /= x * x;
            k += 2;
        }
        sum
    }

    /// The cosine and the sine of an angle in fixed point, by their series.
    fn series(angle: &BigInt) -> [BigInt; 2] {
        let (mut sums, mut term) = ([BigInt::ZERO, BigInt::ZERO], BigInt::from(1) << BITS);
        for k in 0_usize..80 {
            let signed = if k % 4 < 2 { term.clone() } else { -term.clone() };
            sums[k % 2] += signed;
            term = ((term * angle) >> BITS) / (k + 1);
        }
        sums
    }

    #[test]
    fn roots_are_right_to_the_last_bit() {
        let pi = (arctan_inverse(5) * 4 - arctan_inverse(239)) * 4;
        for quarter in [1_usize, 2, 4, 8, 64, 1 << 10, 1 << 16] {
            let points = octant(quarter);
            assert_eq!(points.len(), quarter / 2 + 1);
            let stride = (quarter / 97).max(1);
            for k in (0..=quarter / 2).step_by(stride).chain([quarter / 2]) {
                let expected = series(&(&pi * k / (2 * quarter)));
                for (value, expected) in points[k].iter().zip(&expected) {
                    let error = value.fixed_point(BITS) - expected;
                    assert!(error.magnitude().bits() <= BITS - 98, "root {k} of 4·{quarter}");
                }
            }
        }
    }

    #[test]
    fn all_octants_are_mirror_images() {
        for quarter in [1_usize, 2, 4, 16, 256] {
            let roots = Roots::new(quarter);
            for k in 0..8 * quarter {
                let angle = std::f64::consts::PI * k as f64 / (2 * quarter) as f64;
                let expected = Complex64::new(angle.cos(), angle.sin());
                assert!((roots.root(k) - expected).norm() < 1e-14, "{k} of 4·{quarter}");
            }
            assert_eq!(roots.root(quarter), Complex64::i());
        }
    }
}
