//! Tests of sums of uniform integers against their probabilities and moments.

use sunzi_ring::RingError;
use sunzi_ring::sampling::{MOST_VALUES, SeededRng, uniform_sums};
use zeroize::Zeroizing;

const DRAWS: usize = 1 << 18;

fn draws(values: u64) -> Zeroizing<Vec<i64>> {
    uniform_sums(DRAWS, values, &mut SeededRng::derive(&[44; 32], "sums", values)).unwrap()
}

/// Counts of samples pass χ² against the probabilities themselves, for few values.
#[test]
fn narrow_ones_have_the_exact_distribution() {
    for values in [1, 2, 3, 4, 7, 10] {
        let ways = |sum: u64| {
            let pairs = (0..values).flat_map(|a| (0..values).map(move |b| a + b));
            pairs.filter(|pair| (*pair..pair + values).contains(&sum)).count()
        };
        let middle = (3 * (values - 1) / 2) as i64;
        let mut counts = vec![0_u64; 3 * values as usize - 2];
        draws(values).iter().for_each(|&x| counts[(x + middle) as usize] += 1);
        let part = DRAWS as f64 / (values as f64).powi(3);
        let chi2: f64 = (0..)
            .zip(&counts)
            .map(|(sum, &count)| {
                let expected = part * ways(sum) as f64;
                (count as f64 - expected).powi(2) / expected
            })
            .sum();
        let freedom = (counts.len() - 1) as f64;
        assert!(chi2 <= freedom + 6.0 * (2.0 * freedom).sqrt() + 10.0, "{values}: {chi2} of {freedom}");
    }
}

/// Wide ones have the right moments, in units of W, keep within 3W/2, and no bit repeats, down to the lowest.
#[test]
fn wide_ones_have_their_moments_and_all_their_bits() {
    for values in [1_000_003, (1 << 40) + 1, MOST_VALUES - 1, MOST_VALUES] {
        let sums = draws(values);
        let scaled: Vec<f64> = sums.iter().map(|&x| x as f64 / values as f64).collect();
        assert!(scaled.iter().all(|x| x.abs() <= 1.5));
        // The fourth moment is 13/80; variances of the moments' estimates follow from those of twice the order.
        for (power, expected, error) in
            [(1, 0.0, 0.5), (2, 0.25, 0.317), (3, 0.0, 0.393), (4, 13.0 / 80.0, 0.388)]
        {
            let got = scaled.iter().map(|x| x.powi(power)).sum::<f64>() / DRAWS as f64;
            assert!((got - expected).abs() < 6.0 * error / (DRAWS as f64).sqrt(), "{values}, {power}: {got}");
        }
        for bit in 0..values.ilog2() - 1 {
            let ones = sums.iter().filter(|&&x| x >> bit & 1 == 1).count() as f64;
            assert!((ones - DRAWS as f64 / 2.0).abs() < 3.0 * (DRAWS as f64).sqrt(), "{values}, bit {bit}");
        }
    }
}

#[test]
fn what_is_out_of_range_is_refused() {
    let mut rng = SeededRng::derive(&[44; 32], "sums", 0);
    for (n, values) in [(1, 0), (1, MOST_VALUES + 1), ((1 << 24) + 1, 3)] {
        assert!(matches!(uniform_sums(n, values, &mut rng), Err(RingError::OutOfRange { .. })));
    }
    assert!(uniform_sums(0, 3, &mut rng).unwrap().is_empty());
}
