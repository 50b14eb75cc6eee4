//! Tests of lifts with and without m̃ of every residue of small moduli.

use sunzi_kernels::Modulus;
use sunzi_ring::internals::{Extension, Overflow, row_factors};
use sunzi_ring::{Basis, MTilde};

/// Checks Lemma 4 for every c modulo a small q: c' ≡ c (mod q), |c'| ≤ (q/2)(1 + ρ), which is nearly attained, and
/// lifts that have no mean.
fn check(values: &[u64], m_tilde: MTilde) {
    let basis = Basis::new(values).unwrap();
    let q: i64 = values.iter().product::<u64>() as i64;
    let p = Modulus::new(250_199_979_294_721).unwrap();
    let extension = Extension::new(&basis, m_tilde, &[p]).unwrap();
    let factor = m_tilde.value().unwrap_or(1);
    let factors = row_factors(&basis, |_| Ok(factor)).unwrap();
    let mut digits: Vec<u64> =
        values.iter().zip(&factors).flat_map(|(&m, f)| (0..q as u64).map(move |c| c % m * f % m)).collect();
    let mut lifted = vec![0; q as usize];
    extension.apply(&mut digits, &mut lifted, q as usize).unwrap();
    let (mut largest, mut sum) = (0, 0_i128);
    for (c, &lift) in (0..q).zip(&lifted) {
        let lift = if lift > p.value() / 2 { lift as i64 - p.value() as i64 } else { lift as i64 };
        assert_eq!(lift.rem_euclid(q), c, "{values:?} {m_tilde:?}");
        largest = largest.max(lift.abs());
        sum += i128::from(lift);
    }
    let overflow = Overflow::new(values.len(), m_tilde);
    let bound = q as f64 / 2.0 * (1.0 + overflow.value());
    let largest = largest as f64;
    assert!(largest <= bound, "{values:?} {m_tilde:?}: {largest} {bound}");
    // A digit may be short of q_i/2 by a half, and r takes only the values that occur.
    let slack = if m_tilde == MTilde::None { 0.07 } else { 0.02 };
    assert!(largest >= bound * (1.0 - slack), "{values:?} {m_tilde:?}: {largest} {bound}");
    let mean = sum as f64 / q as f64 / (q as f64 / 2.0);
    // Digits in [0, q_i) are short of a mean of q_i/2 by a half; an even k is not balanced for a large m̃.
    let short: f64 = values.iter().map(|&q| 1.0 / q as f64).sum();
    let allowed = match m_tilde {
        MTilde::None => 0.0,
        MTilde::Bits16 => (2.0 + short) / 65_536.0,
        _ => (0.25 + short) / factor as f64,
    };
    assert!(mean.abs() <= allowed, "{values:?} {m_tilde:?}: mean {mean}");
    assert_eq!(lifted[0], 0, "nothing is lifted to nothing");
}

#[test]
fn every_residue_is_lifted_within_the_bound() {
    for values in [&[65_537][..], &[769, 1153], &[17, 97, 193], &[17, 19, 23, 97], &[11, 13, 17, 19, 23]] {
        for m_tilde in [MTilde::None, MTilde::Bits8, MTilde::Bits16] {
            check(values, m_tilde);
        }
    }
}
