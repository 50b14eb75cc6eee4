//! Tests of discrete Gaussians against their probabilities and moments.

use sunzi_ring::RingError;
use sunzi_ring::sampling::{LARGEST_LOG2_WIDTH, SeededRng, discrete_gaussian};
use zeroize::Zeroizing;

const DRAWS: usize = 1 << 18;

fn draws(log2_width: u32) -> Zeroizing<Vec<i128>> {
    let mut rng = SeededRng::derive(&[44; 32], "gaussian", u64::from(log2_width));
    discrete_gaussian(DRAWS, log2_width, &mut rng).unwrap()
}

/// Checks that counts of samples pass χ² against the probabilities themselves, at widths at which every value
/// counts.
#[test]
fn narrow_ones_have_the_exact_distribution() {
    for k in 0..4 {
        let sigma = f64::from(1 << k);
        let reach = 4 << k;
        let density = |x: i64| (-((x * x) as f64) / (2.0 * sigma * sigma)).exp();
        let total: f64 = (-20 * reach..=20 * reach).map(density).sum();
        let mut counts = vec![0_u64; 2 * reach as usize + 1];
        draws(k)
            .iter()
            .for_each(|&x| counts[(x as i64).clamp(-reach, reach).wrapping_add(reach) as usize] += 1);
        let mut chi2 = 0.0;
        for (x, &count) in (-reach..=reach).zip(&counts) {
            let tail: f64 = (reach + 1..=20 * reach).map(density).sum();
            let extra = if x.abs() == reach { tail } else { 0.0 };
            let expected = DRAWS as f64 * (density(x) + extra) / total;
            chi2 += (count as f64 - expected).powi(2) / expected;
        }
        let freedom = (counts.len() - 1) as f64;
        assert!(chi2 < freedom + 6.0 * (2.0 * freedom).sqrt() + 10.0, "{k}: {chi2} of {freedom}");
    }
}

/// Checks that wide Gaussians, in units of σ, have the right moments, and that no bit repeats, down to the
/// lowest.
#[test]
fn wide_ones_have_the_moments_of_a_gaussian_and_all_their_bits() {
    for k in [20, 53, 63, 64, 65, LARGEST_LOG2_WIDTH] {
        let values = draws(k);
        let scaled: Vec<f64> = values.iter().map(|&x| x as f64 / f64::from(k).exp2()).collect();
        let moment = |power: i32| scaled.iter().map(|x| x.powi(power)).sum::<f64>() / DRAWS as f64;
        // Standard errors: 1, √2, √15, √96 over √draws.
        for (power, expected, error) in
            [(1, 0.0, 1.0), (2, 1.0, 2_f64.sqrt()), (3, 0.0, 15_f64.sqrt()), (4, 3.0, 96_f64.sqrt())]
        {
            let got = moment(power);
            assert!((got - expected).abs() < 6.0 * error / (DRAWS as f64).sqrt(), "{k}, {power}: {got}");
        }
        for bit in 0..k {
            let ones = values.iter().filter(|&&x| x >> bit & 1 == 1).count() as f64;
            assert!((ones - DRAWS as f64 / 2.0).abs() < 6.0 * (DRAWS as f64).sqrt() / 2.0, "{k}, bit {bit}");
        }
    }
}

#[test]
fn what_is_too_wide_is_refused() {
    let mut rng = SeededRng::derive(&[44; 32], "gaussian", 0);
    for (n, k) in [(1, LARGEST_LOG2_WIDTH + 1), ((1 << 24) + 1, 3)] {
        assert!(matches!(discrete_gaussian(n, k, &mut rng), Err(RingError::OutOfRange { .. })));
    }
    assert!(discrete_gaussian(0, 3, &mut rng).unwrap().is_empty());
}
