//! The key switchings of `[KPZ21, B.3]`: BV, and GHS and hybrid, which are one procedure with one digit or several.

use std::iter;

use num_bigint::BigUint;

use super::conversion::{divide, extend_roughly, inverses, remainder};
use super::{Basis, Counter, Limbs, add, subtract};
use crate::Result;

/// The scheme of a key switch: it decides how ciphertext parts are kept and how errors are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// BFV: ciphertext parts in coefficient form, errors e.
    Bfv,
    /// BGV: ciphertext parts in evaluation form, errors t·e.
    Bgv {
        /// Plaintext modulus t of BGV.
        plain_modulus: u64,
    },
}

/// A key-switching key: for each digit a pair of polynomials in evaluation form.
pub type Key = Vec<[Limbs; 2]>;

/// Setting of a key switch: ciphertext moduli in digits, special moduli, the scheme.
#[derive(Clone)]
pub struct Setting {
    /// Basis of the ciphertext modulus Q.
    pub ciphertext: Basis,
    /// Basis of the special modulus P; empty for BV.
    pub special: Basis,
    /// Number of moduli α in a digit.
    pub width: usize,
    /// Scheme whose ciphertexts are switched.
    pub scheme: Scheme,
}

impl Setting {
    /// First modulus of each digit, and the one after its last.
    pub fn digits(&self) -> Vec<(usize, usize)> {
        let count = self.ciphertext.count();
        (0..count).step_by(self.width.max(1)).map(|begin| (begin, (begin + self.width).min(count))).collect()
    }

    /// The basis of the ciphertext moduli Q followed by the special moduli P.
    pub fn all(&self) -> Basis {
        self.ciphertext.with(&self.special)
    }

    /// Factor of the old secret in a digit's key, limb by limb: P on the digit's own moduli, else 0 `[HPS19]`.
    pub fn gadget(&self, digit: (usize, usize)) -> Vec<u64> {
        let product = self.special.product();
        let factor = |(i, &q): (usize, &u64)| match i >= digit.0 && i < digit.1 {
            true => remainder(&product, q),
            false => 0,
        };
        self.all().moduli.iter().enumerate().map(factor).collect()
    }

    /// Size of a key-switching key in bits `[KPZ21, Table 5]`.
    pub fn key_bits(&self, degree: usize, radix_digits: usize) -> f64 {
        let pairs = self.digits().len() * radix_digits;
        2.0 * degree as f64 * pairs as f64 * sunzi_math::log2(&self.all().product())
    }
}

/// Switches a part c by GHS or hybrid key switching: (c_0, c_1) with c_0 + c_1·s ≈ c·s′ modulo Q.
///
/// # Errors
/// No error is expected of a key switch.
pub fn hybrid(counter: &Counter, setting: &Setting, key: &Key, part: &Limbs) -> Result<[Limbs; 2]> {
    let all = setting.all();
    let coefficients = match setting.scheme {
        Scheme::Bfv => part.clone(),
        Scheme::Bgv { .. } => counter.inverse(&setting.ciphertext, part.clone())?,
    };
    let mut sums = [zero(&all, part), zero(&all, part)];
    for (&digit, key) in setting.digits().iter().zip(key) {
        let wide = transformed_digit(counter, setting, digit, part, &coefficients)?;
        for (sum, key) in sums.iter_mut().zip(key) {
            *sum = add(&all.moduli, sum, &counter.pointwise(&all, &wide, key));
        }
    }
    let [c0, c1] = sums;
    Ok([mod_down(counter, setting, c0)?, mod_down(counter, setting, c1)?])
}

/// One digit of a part, extended to QP, in evaluation form.
fn transformed_digit(
    counter: &Counter,
    setting: &Setting,
    (begin, end): (usize, usize),
    part: &Limbs,
    coefficients: &Limbs,
) -> Result<Limbs> {
    let q = &setting.ciphertext;
    let others = q.part(0, begin).with(&q.part(end, q.count())).with(&setting.special);
    let own: Vec<Vec<u64>> = coefficients.iter().take(end).skip(begin).cloned().collect();
    let mut rest = extend_roughly(counter, &q.part(begin, end), &others, &own)?;
    match setting.scheme {
        Scheme::Bfv => {
            let tail = rest.split_off(begin);
            counter.forward(&setting.all(), rest.into_iter().chain(own).chain(tail).collect())
        }
        // In evaluation form the digit's own limbs are there already.
        Scheme::Bgv { .. } => {
            let mut rest = counter.forward(&others, rest)?;
            let tail = rest.split_off(begin);
            let own = part.iter().take(end).skip(begin).cloned();
            Ok(rest.into_iter().chain(own).chain(tail).collect())
        }
    }
}

/// Divides x by P up to rounding; for BGV up to a multiple of t.
fn mod_down(counter: &Counter, setting: &Setting, mut x: Limbs) -> Result<Limbs> {
    let Setting { ciphertext: q, special: p, .. } = setting;
    let product = p.product();
    let high = x.split_off(q.count());
    let high = counter.inverse(p, high)?;
    match setting.scheme {
        Scheme::Bfv => {
            let low = counter.inverse(q, x)?;
            let delta = extend_roughly(counter, p, q, &high)?;
            divide(counter, q, &product, &subtract(&q.moduli, &low, &delta))
        }
        Scheme::Bgv { plain_modulus } => {
            let t = BigUint::from(plain_modulus);
            let factors: Vec<u64> =
                inverses(p, &t)?.into_iter().zip(&p.moduli).map(|(inverse, &p)| p - inverse).collect();
            let high = counter.scale(&p.moduli, &high, &factors);
            let delta = extend_roughly(counter, p, q, &high)?;
            let factors: Vec<u64> = q.moduli.iter().map(|&q| plain_modulus % q).collect();
            let delta = counter.forward(q, counter.scale(&q.moduli, &delta, &factors))?;
            divide(counter, q, &product, &add(&q.moduli, &x, &delta))
        }
    }
}

/// Switches a part by BV key switching: digits are residues, cut once more in a radix 2^w unless `radix_bits`
/// is none.
///
/// # Errors
/// No error is expected of a key switch.
pub fn bv(
    counter: &Counter,
    setting: &Setting,
    radix_bits: Option<u32>,
    key: &Key,
    part: &Limbs,
) -> Result<[Limbs; 2]> {
    let q = &setting.ciphertext;
    let coefficients = match setting.scheme {
        Scheme::Bfv => part.clone(),
        Scheme::Bgv { .. } => counter.inverse(q, part.clone())?,
    };
    let mut sums = [zero(q, part), zero(q, part)];
    let digits =
        coefficients.iter().flat_map(|limb| radix_digits(limb, radix_bits, radix_count(q, radix_bits)));
    for (digit, key) in digits.zip(key) {
        let everywhere = q.moduli.iter().map(|&q| digit.iter().map(|&x| x % q).collect()).collect();
        let wide = counter.forward(q, everywhere)?;
        for (sum, key) in sums.iter_mut().zip(key) {
            *sum = add(&q.moduli, sum, &counter.pointwise(q, &wide, key));
        }
    }
    let [c0, c1] = sums;
    match setting.scheme {
        Scheme::Bfv => Ok([counter.inverse(q, c0)?, counter.inverse(q, c1)?]),
        Scheme::Bgv { .. } => Ok([c0, c1]),
    }
}

/// Number of digits of a residue in radix ω, ℓ_(ω, q̃).
pub fn radix_count(basis: &Basis, radix_bits: Option<u32>) -> usize {
    let widest = basis.moduli.iter().map(|q| q.ilog2() + 1).max().unwrap_or(1);
    radix_bits.map_or(1, |bits| widest.div_ceil(bits) as usize)
}

fn radix_digits(limb: &[u64], radix_bits: Option<u32>, count: usize) -> Vec<Vec<u64>> {
    let Some(bits) = radix_bits else { return vec![limb.to_vec()] };
    let mask = (1_u64 << bits) - 1;
    (0..count as u32).map(|i| limb.iter().map(|x| (x >> (i * bits)) & mask).collect()).collect()
}

/// Makes a key-switching key: for every digit (g·s′ − a·s + e, a), with e times t for BGV. Secrets and errors
/// are integers, `uniform` gives a.
///
/// # Errors
/// No error is expected of the making of a key.
pub fn key(
    setting: &Setting,
    radix_bits: Option<u32>,
    [from, to]: [&[i64]; 2],
    mut uniform: impl FnMut(u64) -> Vec<u64>,
    mut error: impl FnMut() -> Vec<i64>,
) -> Result<Key> {
    let all = setting.all();
    let uncounted = Counter::default();
    let lift = |x: &[i64]| uncounted.forward(&all, residues(&all, x));
    let (from, to) = (lift(from)?, lift(to)?);
    let scale = match setting.scheme {
        Scheme::Bfv => 1,
        Scheme::Bgv { plain_modulus } => plain_modulus,
    };
    let mut key = Vec::new();
    for digit in setting.digits() {
        for power in 0..radix_count(&setting.ciphertext, radix_bits) as u32 {
            let radix = BigUint::from(1_u8) << (power * radix_bits.unwrap_or(0));
            let gadget = setting.gadget(digit);
            let factors: Vec<u64> =
                gadget.iter().zip(&all.moduli).map(|(&g, &q)| remainder(&(&radix * g), q)).collect();
            let a: Limbs = all.moduli.iter().map(|&q| uniform(q)).collect();
            let scaled: Vec<i64> = error().iter().map(|e| e * scale as i64).collect();
            let b = subtract(&all.moduli, &lift(&scaled)?, &uncounted.pointwise(&all, &a, &to));
            key.push([add(&all.moduli, &b, &uncounted.scale(&all.moduli, &from, &factors)), a]);
        }
    }
    Ok(key)
}

/// The residues of small integers modulo each prime of a basis.
pub(crate) fn residues(basis: &Basis, x: &[i64]) -> Limbs {
    basis.moduli.iter().map(|&q| x.iter().map(|&x| x.rem_euclid(q as i64) as u64).collect()).collect()
}

fn zero(basis: &Basis, like: &Limbs) -> Limbs {
    iter::repeat_n(vec![0; like.first().map_or(0, Vec::len)], basis.count()).collect()
}
