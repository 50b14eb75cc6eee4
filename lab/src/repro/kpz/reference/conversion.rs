//! Conversions from one basis to another: `[KPZ21, eq. (5), (6) and appendix E]` and the scaling of `[HPS19]`.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;
use sunzi_math::{add_mod, mod_inv};

use super::{Basis, Counter, Limbs, centred, subtract};
use crate::Result;

/// Converts x to another basis, centred and exact: k(k' + 1) multiplications, k floating-point ones.
pub(crate) fn extend(counter: &Counter, from: &Basis, to: &Basis, x: &[Vec<u64>]) -> Result<Limbs> {
    let digits = digits(counter, from, x, &BigUint::from(1_u8))?;
    let weights: Vec<f64> = from.moduli.iter().map(|&q| 1.0 / q as f64).collect();
    let overflow = rounded_sum(counter, &digits, &weights);
    let sums = sums(counter, &digits, to, &quotients(from, to));
    let product = from.product();
    let taken = to.moduli.iter().zip(sums).map(|(&p, sums)| {
        let multiple = remainder(&product, p);
        // v·Q: the table of its few multiples is what is not counted.
        sums.into_iter().zip(&overflow).map(|(sum, &v)| add_mod(sum, times(-v, multiple, p), p)).collect()
    });
    Ok(taken.collect())
}

/// Converts x + u·Q to another basis with |u| ≤ k/2 `[KPZ21, eq. (5)]`: k(k' + 1) multiplications.
pub(crate) fn extend_roughly(counter: &Counter, from: &Basis, to: &Basis, x: &[Vec<u64>]) -> Result<Limbs> {
    let digits = digits(counter, from, x, &BigUint::from(1_u8))?;
    Ok(sums(counter, &digits, to, &quotients(from, to)))
}

/// Switches x from Q to P: ⌊P·x/Q⌉ up to a u with |u| ≤ k/2 `[KPZ21, appendix E]`, in k(k' + 1) multiplications.
pub(crate) fn switch_roughly(counter: &Counter, from: &Basis, to: &Basis, x: &[Vec<u64>]) -> Result<Limbs> {
    let digits = digits(counter, from, x, &to.product())?;
    let row =
        |&p: &u64| from.moduli.iter().map(|&q| Ok(p - mod_inv(q % p, p)?)).collect::<Result<Vec<u64>>>();
    let rows = to.moduli.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    Ok(sums(counter, &digits, to, &rows))
}

/// Switches x down to level ℓ: ⌊Q_ℓ·x/Q⌉, the last moduli dropped, in (k − ℓ)(ℓ + 1) + ℓ multiplications and
/// k − ℓ floating-point ones.
pub(crate) fn switch_down(counter: &Counter, from: &Basis, level: usize, x: &[Vec<u64>]) -> Result<Limbs> {
    let (kept, dropped) = (from.part(0, level), from.part(level, from.count()));
    let (low, high) = x.split_at_checked(level).unwrap_or((x, &[]));
    if high.is_empty() {
        return divide(counter, &kept, &dropped.product(), low);
    }
    let rest = extend(counter, &dropped, &kept, high)?;
    divide(counter, &kept, &dropped.product(), &subtract(&kept.moduli, low, &rest))
}

/// Switches x up to the whole modulus: (Q/Q_ℓ)·x modulo Q, whose new limbs are zero; ℓ multiplications.
pub(crate) fn switch_up(counter: &Counter, to: &Basis, level: usize, x: &[Vec<u64>]) -> Limbs {
    let factor = to.part(level, to.count()).product();
    let low = to.part(0, level);
    let factors: Vec<u64> = low.moduli.iter().map(|&q| remainder(&factor, q)).collect();
    let mut limbs = counter.scale(&low.moduli, x, &factors);
    limbs.resize(to.count(), vec![0; x.first().map_or(0, Vec::len)]);
    limbs
}

/// Divides x by `divisor` modulo each prime: k multiplications.
pub(crate) fn divide(counter: &Counter, basis: &Basis, divisor: &BigUint, x: &[Vec<u64>]) -> Result<Limbs> {
    let inverses = inverses(basis, divisor)?;
    Ok(counter.scale(&basis.moduli, x, &inverses))
}

/// Scales x modulo D·E down: ⌊t·x/D⌉ modulo the other moduli `[HPS19]`, in e(d + 1) multiplications and d
/// floating-point ones.
///
/// The limbs of x are given with those of `divided` first.
pub(crate) fn scale_down(
    counter: &Counter,
    divided: &Basis,
    kept: &Basis,
    t: u64,
    x: &[Vec<u64>],
) -> Result<Limbs> {
    let all = divided.with(kept);
    let product = all.product();
    let (high, low) = x.split_at_checked(divided.count()).unwrap_or((x, &[]));
    let residues: Vec<Vec<i64>> = divided.moduli.iter().zip(high).map(|(&q, limb)| signed(q, limb)).collect();
    // t·E·[(DE/q_i)^-1]_q_i = ω_i·q_i + ρ_i, so that the summand is x_i·(ω_i + ρ_i/q_i).
    let (mut whole, mut fractions) = (Vec::new(), Vec::new());
    for &q in &divided.moduli {
        let inverse = mod_inv(remainder(&(&product / q), q), q)?;
        let (quotient, rest) = (kept.product() * t * inverse).div_rem(&BigUint::from(q));
        whole.push(quotient);
        fractions.push(rest.to_f64().unwrap_or(f64::NAN) / q as f64);
    }
    let rounded = rounded_sum(counter, &residues, &fractions);
    let rows: Vec<Vec<u64>> =
        kept.moduli.iter().map(|&p| whole.iter().map(|omega| remainder(omega, p)).collect()).collect();
    let sums = sums(counter, &residues, kept, &rows);
    let own = kept.moduli.iter().map(|&p| {
        let inverse = mod_inv(remainder(&(&product / p), p), p)?;
        Ok(remainder(&(kept.product() / p * t * inverse), p))
    });
    let own = counter.scale(&kept.moduli, low, &own.collect::<Result<Vec<u64>>>()?);
    let sums = super::add(&kept.moduli, &sums, &own);
    let with = kept.moduli.iter().zip(sums).map(|(&p, sums)| {
        sums.into_iter().zip(&rounded).map(|(sum, &v)| add_mod(sum, times(v, 1, p), p)).collect()
    });
    Ok(with.collect())
}

/// Digits \[x·f·(Q/q_i)^-1\]_q_i of x, centred: k multiplications.
fn digits(counter: &Counter, basis: &Basis, x: &[Vec<u64>], factor: &BigUint) -> Result<Vec<Vec<i64>>> {
    let product = basis.product();
    let factors = basis.moduli.iter().map(|&q| {
        let inverse = mod_inv(remainder(&(&product / q), q), q)?;
        Ok(remainder(&(factor * inverse), q))
    });
    let scaled = counter.scale(&basis.moduli, x, &factors.collect::<Result<Vec<u64>>>()?);
    Ok(basis.moduli.iter().zip(&scaled).map(|(&q, limb)| signed(q, limb)).collect())
}

fn signed(modulus: u64, limb: &[u64]) -> Vec<i64> {
    limb.iter().map(|&residue| centred(residue, modulus)).collect()
}

/// Sums Σ_i x_i·m_ji modulo p_j: k multiplications for each of the k' primes.
fn sums(counter: &Counter, x: &[Vec<i64>], to: &Basis, rows: &[Vec<u64>]) -> Limbs {
    let one = |(&p, row): (&u64, &Vec<u64>)| {
        let zero = vec![0; x.first().map_or(0, Vec::len)];
        x.iter().zip(row).fold(zero, |sums: Vec<u64>, (x, &m)| {
            sums.iter().zip(x).map(|(&sum, &x)| add_mod(sum, counter.multiply(x, m, p), p)).collect()
        })
    };
    to.moduli.iter().zip(rows).map(one).collect()
}

/// Rounded sum ⌊Σ_i x_i·w_i⌉ in floating point `[KPZ21, eq. (6)]`.
fn rounded_sum(counter: &Counter, x: &[Vec<i64>], weights: &[f64]) -> Vec<i64> {
    let zero = vec![0.0; x.first().map_or(0, Vec::len)];
    let sums = x.iter().zip(weights).fold(zero, |sums: Vec<f64>, (x, &weight)| {
        sums.iter().zip(x).map(|(sum, &x)| sum + counter.multiply_float(x, weight)).collect()
    });
    sums.into_iter().map(|sum| sum.round() as i64).collect()
}

/// Conversion matrix of Q/q_i modulo p_j, a row for each p_j.
fn quotients(from: &Basis, to: &Basis) -> Vec<Vec<u64>> {
    let product = from.product();
    to.moduli.iter().map(|&p| from.moduli.iter().map(|&q| remainder(&(&product / q), p)).collect()).collect()
}

/// Inverses of an integer modulo each prime of a basis.
pub(crate) fn inverses(basis: &Basis, of: &BigUint) -> Result<Vec<u64>> {
    basis.moduli.iter().map(|&q| Ok(mod_inv(remainder(of, q), q)?)).collect()
}

pub(crate) fn remainder(value: &BigUint, modulus: u64) -> u64 {
    (value % modulus).to_u64().unwrap_or_default()
}

/// Product v·a mod p of residues, which is not counted.
fn times(v: i64, a: u64, p: u64) -> u64 {
    (i128::from(v) * i128::from(a)).rem_euclid(i128::from(p)) as u64
}
