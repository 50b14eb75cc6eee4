//! Search for the first irreducible polynomial of a degree modulo p.

use crate::mod_inv;
use crate::prime_power::PrimePower;

/// Number of coefficients tried: all for a small prime. For a large one all binomials Z^d + c would otherwise come first, of which none
/// may be irreducible, while of the other polynomials one in d is.
const COEFFICIENTS: u64 = 16;

/// Returns the low coefficients of the first monic irreducible polynomial of degree d modulo p with c_i < b = min(p, 16), where
/// Z^d + Σ c_i·Z^i is number Σ c_i·b^i.
pub(crate) fn first_irreducible(p: u64, d: usize) -> Vec<u64> {
    let mut low = vec![0; d];
    while !is_irreducible(&low, p) {
        for digit in &mut low {
            *digit = (*digit + 1) % p.min(COEFFICIENTS);
            if *digit != 0 {
                break;
            }
        }
    }
    low
}

/// Runs Ben-Or's test: f of degree d has no factor of degree i ≤ d/2, that is none in common with Z^(p^i) − Z.
fn is_irreducible(low: &[u64], p: u64) -> bool {
    let field = PrimePower { p, t: p };
    let d = low.len();
    if d > 1 && low.first() == Some(&0) {
        return false;
    }
    let mut power = vec![0; d];
    if let Some(x) = power.get_mut(1) {
        *x = 1;
    }
    for _ in 0..d / 2 {
        power = power_modulo(field, &power, low, p);
        let mut difference = power.clone();
        if let Some(x) = difference.get_mut(1) {
            *x = field.add(*x, p - 1);
        }
        if !coprime(field, low, difference) {
            return false;
        }
    }
    true
}

fn power_modulo(field: PrimePower, base: &[u64], low: &[u64], exponent: u64) -> Vec<u64> {
    let mut result = base.to_vec();
    // Left to right, below the leading bit.
    for bit in (0..exponent.max(1).ilog2()).rev() {
        result = field.product_modulo(&result, &result, low);
        if exponent >> bit & 1 == 1 {
            result = field.product_modulo(&result, base, low);
        }
    }
    result
}

/// Whether gcd(Z^d + low, b) = 1, by Euclid's algorithm.
fn coprime(field: PrimePower, low: &[u64], mut b: Vec<u64>) -> bool {
    let mut a: Vec<u64> = low.iter().copied().chain([1]).collect();
    loop {
        trim(&mut b);
        let Some(&leading) = b.last() else { return a.len() == 1 };
        let Ok(inverse) = mod_inv(leading, field.p) else { return false };
        while a.len() >= b.len() {
            let shift = a.len() - b.len();
            let factor = field.mul(a.last().copied().unwrap_or(0), inverse);
            for (x, &y) in a.iter_mut().skip(shift).zip(&b) {
                *x = field.add(*x, field.p - field.mul(factor, y));
            }
            a.pop();
        }
        (a, b) = (b, a);
    }
}

fn trim(polynomial: &mut Vec<u64>) {
    while polynomial.last() == Some(&0) {
        polynomial.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a monic polynomial of smaller degree divides, by trial.
    fn has_divisor(low: &[u64], p: u64) -> bool {
        let field = PrimePower { p, t: p };
        (1..=low.len() / 2).any(|degree| {
            (0..p.pow(degree as u32)).any(|number| {
                let mut rest: Vec<u64> = low.iter().copied().chain([1]).collect();
                let divisor: Vec<u64> =
                    (0..degree).map(|i| number / p.pow(i as u32) % p).chain([1]).collect();
                while rest.len() > degree {
                    let factor = *rest.last().unwrap();
                    let shift = rest.len() - divisor.len();
                    for (i, &y) in divisor.iter().enumerate() {
                        rest[shift + i] = field.add(rest[shift + i], p - field.mul(factor, y));
                    }
                    rest.pop();
                }
                rest.iter().all(|&x| x == 0)
            })
        })
    }

    #[test]
    fn the_test_agrees_with_trial_division() {
        for (p, greatest) in [(2_u64, 8), (3, 5), (5, 4), (7, 3), (13, 2)] {
            for d in 1..=greatest {
                for number in 0..p.pow(d as u32) {
                    let low: Vec<u64> = (0..d).map(|i| number / p.pow(i as u32) % p).collect();
                    assert_eq!(is_irreducible(&low, p), !has_divisor(&low, p), "{low:?} modulo {p}");
                }
            }
        }
    }

    #[test]
    fn known_ones_come_first() {
        assert_eq!(first_irreducible(2, 1), [0]);
        assert_eq!(first_irreducible(2, 2), [1, 1]);
        // The polynomial of AES is the first of degree 8.
        assert_eq!(first_irreducible(2, 8), [1, 1, 0, 1, 1, 0, 0, 0]);
        assert_eq!(first_irreducible(3, 2), [1, 0]);
        // 3 modulo 4: no binomial of degree 4 is irreducible.
        for (p, d) in [((1 << 59) - 55, 3), ((1 << 31) - 1, 4), ((1 << 29) - 3, 12)] {
            let low = first_irreducible(p, d);
            assert_eq!(low.len(), d);
            assert!(low.iter().all(|&c| c < 16));
        }
    }
}
