//! Tests of the samplers against the distributions they claim, with fixed seeds: thresholds are six standard
//! deviations of χ² or of a mean, so a wrong distribution fails and a right one does not.

use sunzi_ring::sampling::{
    CENTERED_BINOMIAL_BOUND, CENTERED_BINOMIAL_VARIANCE, SeededRng, centered_binomial, fixed_weight_ternary,
    ternary, uniform_residues,
};

const DRAWS: usize = 1 << 20;

fn rng(domain: &str) -> SeededRng {
    SeededRng::derive(&[42; 32], domain, 0)
}

/// Checks that χ² of counts against probabilities stays within six standard deviations of its mean.
fn assert_fits(counts: &[u64], probabilities: &[f64]) {
    let total: u64 = counts.iter().sum();
    let chi2: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&count, p)| {
            let expected = p * total as f64;
            (count as f64 - expected).powi(2) / expected
        })
        .sum();
    let freedom = (counts.len() - 1) as f64;
    assert!(chi2 < freedom + 6.0 * (2.0 * freedom).sqrt() + 10.0, "chi2 {chi2} with {freedom} degrees");
}

fn histogram(values: impl Iterator<Item = i64>, low: i64, bins: usize) -> Vec<u64> {
    let mut counts = vec![0; bins];
    for value in values {
        counts[(value - low) as usize] += 1;
    }
    counts
}

/// Returns the correlation of neighbouring samples.
fn lag_one(values: &[i64]) -> f64 {
    let square: f64 = values.iter().map(|&x| (x * x) as f64).sum();
    values.windows(2).map(|w| (w[0] * w[1]) as f64).sum::<f64>() / square
}

#[test]
fn ternary_is_uniform_and_independent() {
    let draws = ternary(DRAWS, &mut rng("ternary")).unwrap();
    assert_fits(&histogram(draws.iter().copied(), -1, 3), &[1.0 / 3.0; 3]);
    let pairs = draws.chunks_exact(2).map(|w| 3 * w[0] + w[1]);
    assert_fits(&histogram(pairs, -4, 9), &[1.0 / 9.0; 9]);
}

#[test]
fn errors_are_centred_binomial() {
    let draws = centered_binomial(DRAWS, &mut rng("binomial")).unwrap();
    // Probabilities are P(x) = C(42, 21 + x)/2^42; the bins beyond ±14 are joined.
    let mut choose = vec![1.0_f64];
    for i in 0..42 {
        choose.push(choose[i] * (42 - i) as f64 / (i + 1) as f64);
    }
    let tail: f64 = choose[..=6].iter().sum();
    let mut probabilities: Vec<f64> = choose[7..=35].iter().map(|c| c / 2_f64.powi(42)).collect();
    probabilities.insert(0, tail / 2_f64.powi(42));
    probabilities.push(tail / 2_f64.powi(42));
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert_fits(&histogram(draws.iter().map(|x| x.clamp(&-15, &15)).copied(), -15, 31), &probabilities);

    let variance = draws.iter().map(|&x| (x * x) as f64).sum::<f64>() / DRAWS as f64;
    // The variance of x² is below 3·10.5².
    assert!((variance - CENTERED_BINOMIAL_VARIANCE).abs() < 6.0 * (2.0 * 110.25 / DRAWS as f64).sqrt());
    assert!(draws.iter().all(|x| x.unsigned_abs() <= u64::from(CENTERED_BINOMIAL_BOUND)));
    assert!(lag_one(&draws).abs() < 6.0 / (DRAWS as f64).sqrt());
}

#[test]
fn uniform_residues_are_uniform() {
    for q in [2, 3, 17, 48] {
        let mut out = vec![0; DRAWS];
        uniform_residues(&mut out, q, &mut rng("residues"));
        let counts = histogram(out.iter().map(|&x| x as i64), 0, q as usize);
        assert_fits(&counts, &vec![1.0 / q as f64; q as usize]);
    }
    // Counts are of the top bits of a residue modulo a large prime.
    let q = 250_199_979_294_721;
    let mut out = vec![0; DRAWS];
    uniform_residues(&mut out, q, &mut rng("residues"));
    let counts = histogram(out.iter().map(|&x| (u128::from(x) * 64 / u128::from(q)) as i64), 0, 64);
    assert_fits(&counts, &[1.0 / 64.0; 64]);
}

#[test]
fn positions_and_signs_of_sparse_secrets_are_uniform() {
    let (n, weight, rounds) = (48, 8, 20_000);
    let mut rng = rng("sparse");
    let mut plus = vec![0_u64; n];
    let mut minus = vec![0_u64; n];
    let mut pairs = vec![0_u64; n];
    for _ in 0..rounds {
        let secret = fixed_weight_ternary(n, weight, &mut rng).unwrap();
        for (i, &c) in secret.iter().enumerate() {
            plus[i] += u64::from(c == 1);
            minus[i] += u64::from(c == -1);
            pairs[i] += u64::from(c != 0 && secret[(i + 1) % n] != 0);
        }
    }
    let counts: Vec<u64> = plus.iter().chain(&minus).copied().collect();
    assert_eq!(counts.iter().sum::<u64>(), rounds * weight as u64);
    assert_fits(&counts, &vec![1.0 / (2 * n) as f64; 2 * n]);
    // Two neighbours are both non-zero with probability h(h−1)/(n(n−1)).
    let expected = rounds as f64 * n as f64 * 56.0 / (48.0 * 47.0);
    assert!((pairs.iter().sum::<u64>() as f64 - expected).abs() < 6.0 * (2.0 * expected).sqrt());
}
