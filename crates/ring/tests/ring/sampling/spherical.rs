//! Tests of errors that are spherical in the canonical embedding.

use sunzi_math::RingIndex;
use sunzi_ring::Expansion;
use sunzi_ring::sampling::{
    CENTERED_BINOMIAL_BOUND, CENTERED_BINOMIAL_VARIANCE, SeededRng, centered_binomial, spherical_error,
};

fn rng(domain: &str) -> SeededRng {
    SeededRng::derive(&[43; 32], domain, 0)
}

/// Checks that values of errors of a real ring are uncorrelated and of one variance, 2n·10.5, and that a_0 alone is larger.
#[test]
fn values_of_real_errors_are_spherical() {
    let (n, rounds) = (16, 20_000);
    let index = RingIndex::real(n).unwrap();
    let expansion = Expansion::new(&index).unwrap();
    let mut rng = rng("real sphere");
    let (mut moments, mut largest) = (vec![vec![0.0; n]; n], vec![0_i64; n]);
    for _ in 0..rounds {
        let error = spherical_error(&index, &mut rng).unwrap();
        assert_eq!(error.len(), n);
        largest.iter_mut().zip(error.iter()).for_each(|(most, x)| *most = (*most).max(x.abs()));
        let value = |b: usize| {
            let angle = |j: usize| ((4 * b + 1) * j) as f64 * std::f64::consts::TAU / (4 * n) as f64;
            error[0] as f64 + (1..n).map(|j| 2.0 * error[j] as f64 * angle(j).cos()).sum::<f64>()
        };
        let values: Vec<f64> = (0..n).map(value).collect();
        for (row, x) in moments.iter_mut().zip(&values) {
            row.iter_mut().zip(&values).for_each(|(sum, y)| *sum += x * y / f64::from(rounds));
        }
    }
    let variance = expansion.spherical_variance(CENTERED_BINOMIAL_VARIANCE);
    let expected = expansion.weight() as f64 * variance;
    // The tolerance is six standard deviations of a mean of squares: 6·√(2/20000) = 0.06.
    for (b, row) in moments.iter().enumerate() {
        for (c, moment) in row.iter().enumerate() {
            let correlation = moment / expected - f64::from(u8::from(b == c));
            assert!(correlation.abs() < 0.06, "{b} {c}: {moment} {expected}");
        }
    }
    let bound = f64::from(CENTERED_BINOMIAL_BOUND);
    assert!(largest.iter().all(|&x| x as f64 <= expansion.spherical_norm(bound)));
    assert!(largest[1..].iter().all(|&x| x as f64 <= bound), "{largest:?}");
}

#[test]
fn powers_of_two_draw_what_they_always_drew() {
    let index = RingIndex::new(256).unwrap();
    let drawn = spherical_error(&index, &mut rng("error")).unwrap();
    assert_eq!(*drawn, *centered_binomial(128, &mut rng("error")).unwrap());
}

/// Checks that both embeddings of the errors of Z[x]/Φ_m have one variance in every direction: m·10.5, or
/// half of it where m is even.
#[test]
fn embeddings_are_spherical() {
    for m in [9, 15, 45, 20] {
        let index = RingIndex::new(m).unwrap();
        let mut rng = rng("sphere");
        let units: Vec<u64> = (1..m).filter(|&k| sunzi_math::gcd(k, m) == 1).collect();
        let gain = Expansion::new(m).unwrap().norm_gain();
        let mut squares = vec![[0.0; 2]; units.len()];
        let mut cross = 0.0;
        let mut variances = vec![0.0; index.degree()];
        let rounds = 20_000;
        for _ in 0..rounds {
            let error = spherical_error(&index, &mut rng).unwrap();
            assert!(error.iter().all(|x| x.abs() as f64 <= gain * f64::from(CENTERED_BINOMIAL_BOUND)));
            for (v, &x) in variances.iter_mut().zip(error.iter()) {
                *v += (x * x) as f64 / f64::from(rounds);
            }
            let embed = |k: u64| {
                error.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, &x)| {
                    let angle = (k * index.exponent(i) % m) as f64 * std::f64::consts::TAU / m as f64;
                    (re + x as f64 * angle.cos(), im + x as f64 * angle.sin())
                })
            };
            let values: Vec<_> = units.iter().map(|&k| embed(k)).collect();
            for (s, (re, im)) in squares.iter_mut().zip(&values) {
                s[0] += re * re / f64::from(rounds);
                s[1] += im * im / f64::from(rounds);
            }
            cross += values[0].0 * values[1].0 / f64::from(rounds);
        }
        let expected = index.redundant_len() as f64 * CENTERED_BINOMIAL_VARIANCE / 2.0;
        // The tolerance is six standard deviations of a mean of squares: 6·√(2/20000) = 0.06.
        assert!(
            squares.iter().flatten().all(|s| (s / expected - 1.0).abs() < 0.06),
            "{m}: {squares:?} {expected}"
        );
        assert!((cross / expected).abs() < 0.06, "{m}");
        let bound = gain * CENTERED_BINOMIAL_VARIANCE;
        assert!(variances.iter().all(|v| (v / bound - 1.0).abs() < 0.08), "{m}: {variances:?} {bound}");
    }
}
