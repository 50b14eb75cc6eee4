//! Polynomials modulo a prime through given values at consecutive integers.

use sunzi_math::mod_inv;

/// Returns the coefficients of the polynomial of least degree that has these values at first, first + 1, …, all modulo a
/// prime t and centred around 0; `None` where two of the integers are the same modulo t, or t is no prime and has no
/// such polynomial.
///
/// Newton's form by forward differences, then the power basis: D² additions and D²/2 products for D values.
///
/// ```
/// use sunzi_circuits::polynomial::interpolate;
///
/// // x² at −1, 0, 1, 2
/// assert_eq!(interpolate(-1, &[1, 0, 1, 4], 257), Some(vec![0, 0, 1]));
/// assert_eq!(interpolate(0, &[1; 258], 257), None);
/// ```
#[must_use]
pub fn interpolate(first: i64, values: &[i128], t: u64) -> Option<Vec<i64>> {
    if t < 2 || i64::try_from(t).is_err() || values.len() as u64 > t {
        return None;
    }
    let newton = newton(values, t)?;
    let product = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(t)) as u64;
    let mut power: Vec<u64> = Vec::with_capacity(values.len());
    // Horner's rule: p ← p·(x − x_k) + c_k.
    for (k, &own) in newton.iter().enumerate().rev() {
        let minus = (-(i128::from(first) + k as i128)).rem_euclid(t.into()) as u64;
        let mut carried = own;
        for a in &mut power {
            let next = *a;
            *a = ((u128::from(carried) + u128::from(product(next, minus))) % u128::from(t)) as u64;
            carried = next;
        }
        power.push(carried);
    }
    let length = power.iter().rposition(|&a| a != 0).map_or(0, |last| last + 1);
    let centred = |&a: &u64| if a > t / 2 { a as i64 - t as i64 } else { a as i64 };
    Some(power.get(..length)?.iter().map(centred).collect())
}

/// Returns the coefficients Δ^k/k! of Newton's form.
fn newton(values: &[i128], t: u64) -> Option<Vec<u64>> {
    let mut differences: Vec<u64> = values.iter().map(|v| v.rem_euclid(t.into()) as u64).collect();
    let product = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(t)) as u64;
    let mut coefficients = Vec::with_capacity(values.len());
    let mut inverse = 1 % t;
    for k in 0..values.len() {
        if k > 1 {
            inverse = product(inverse, mod_inv(k as u64 % t, t).ok()?);
        }
        coefficients.push(product(*differences.first()?, inverse));
        let below = differences.clone();
        differences.pop();
        for (i, d) in differences.iter_mut().enumerate() {
            let (a, b) = (below.get(i).copied()?, below.get(i + 1).copied()?);
            *d = if b >= a { b - a } else { b + t - a };
        }
    }
    Some(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(coefficients: &[i64], x: i128, t: u64) -> u64 {
        let t = i128::from(t);
        let x = x.rem_euclid(t);
        coefficients.iter().rev().fold(0, |sum: i128, &c| (sum * x + i128::from(c)).rem_euclid(t)) as u64
    }

    #[test]
    fn polynomials_go_through_all_values() {
        let mut seed = 5_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            i128::from(seed as i64 >> 20)
        };
        for t in [2_u64, 3, 17, 257, 65537, 1_073_479_681, (1 << 61) - 1] {
            for length in [0, 1, 2, 3, 16, 17, 101, 256, 257] {
                let first = draw() as i64;
                let values: Vec<i128> = (0..length).map(|_| draw()).collect();
                let found = interpolate(first, &values, t);
                if length as u64 > t {
                    assert_eq!(found, None, "{length} values modulo {t}");
                    continue;
                }
                let found = found.unwrap();
                assert!(found.len() <= length && found.last() != Some(&0), "{length} {t}");
                assert!(found.iter().all(|c| c.unsigned_abs() <= t / 2), "{t}");
                for (k, value) in values.iter().enumerate() {
                    let own = value.rem_euclid(t.into()) as u64;
                    assert_eq!(at(&found, i128::from(first) + k as i128, t), own, "{length} {t}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_polynomial_is_none() {
        assert_eq!(interpolate(0, &[1], 0), None);
        assert_eq!(interpolate(0, &[1], 1), None);
        assert_eq!(interpolate(0, &[1], u64::MAX), None);
        // Modulo 4 the values 0, 1, 1 would take a half.
        assert_eq!(interpolate(0, &[0, 1, 1], 4), None);
        assert_eq!(interpolate(i64::MIN, &[i128::MAX, i128::MIN], 7).map(|c| c.len()), Some(2));
    }
}
