//! Samplers against the distributions they claim: moments and tails of ten million draws.

use rand_core::Rng;
use sunzi_ring::sampling::{self, SeededRng};
use sunzi_testing::Figure;
use sunzi_testing::statistics::{chi_square_p, normal_p};

const ALL: usize = 10_000_000;
const BLOCK: usize = 1 << 16;
/// Least p that the table requires.
const LEAST: f64 = 1e-4;

/// Returns a generator with a fixed seed, so that a run that holds will hold again.
fn rng(domain: &str) -> SeededRng {
    SeededRng::derive(&[9; 32], domain, 0)
}

/// Counts values from `low` up, of `draws` draws; values beyond the last bin count there, and below the first in the first.
fn histogram(
    draws: usize,
    low: i64,
    bins: usize,
    mut draw: impl FnMut() -> Vec<i64>,
) -> (Vec<u64>, [f64; 4]) {
    let mut counts = vec![0; bins];
    let mut moments = [0.0; 4];
    let mut left = draws;
    while left > 0 {
        for &value in draw().iter().take(left) {
            let bin = (value - low).clamp(0, bins as i64 - 1) as usize;
            counts[bin] += 1;
            let x = value as f64;
            moments.iter_mut().fold(1.0, |power, moment| {
                *moment += power * x;
                power * x
            });
            left -= 1;
        }
    }
    (counts, moments.map(|sum| sum / draws as f64))
}

fn record(draws: usize, what: &str, p: f64) {
    Figure::new(9, format!("p of {what}")).cases(draws, ALL).at_least(p, LEAST);
}

/// Returns the probabilities C(42, 21 + x)/2^42 for |x| ≤ 21.
fn binomial() -> Vec<f64> {
    let mut row = vec![1.0_f64];
    for i in 0..42 {
        row.push(row[i] * (42 - i) as f64 / (i + 1) as f64);
    }
    row.iter().map(|c| c / 42_f64.exp2()).collect()
}

fn errors(draws: usize) {
    let mut rng = rng("errors");
    let draw = || sampling::centered_binomial(BLOCK, &mut rng).unwrap().to_vec();
    let all = binomial();
    // Bins at ±14 and beyond are joined: fewer than one draw of ten million lies beyond ±18.
    let (counts, [first, second, third, fourth]) = histogram(draws, -14, 29, draw);
    let tail: f64 = all[..=7].iter().sum();
    let exact = [vec![tail], all[8..35].to_vec(), vec![tail]].concat();
    record(draws, "the shape of errors", chi_square_p(&counts, &exact));
    let moment =
        |power: i32| -> f64 { (-21..=21).zip(&all).map(|(x, p)| f64::from(x).powi(power) * p).sum() };
    for (power, measured) in [(1, first), (2, second), (3, third), (4, fourth)] {
        let deviation = ((moment(2 * power) - moment(power).powi(2)) / draws as f64).sqrt();
        record(draws, &format!("moment {power} of errors"), normal_p((measured - moment(power)) / deviation));
    }
    let largest = counts.first().zip(counts.last()).map_or(0, |(a, b)| a + b) as f64 / draws as f64;
    let deviation = (2.0 * tail / draws as f64).sqrt();
    record(draws, "the tails of errors beyond 4.3 σ", normal_p((largest - 2.0 * tail) / deviation));
}

fn secrets(draws: usize) {
    let mut rng = rng("secrets");
    let draw = || sampling::ternary(BLOCK, &mut rng).unwrap().to_vec();
    let (counts, _) = histogram(draws, -1, 3, draw);
    record(draws, "the shape of ternary secrets", chi_square_p(&counts, &[1.0 / 3.0; 3]));
    let mut rng = self::rng("pairs");
    let draw = || {
        let values = sampling::ternary(2 * BLOCK, &mut rng).unwrap();
        values.chunks_exact(2).map(|pair| 3 * pair[0] + pair[1]).collect()
    };
    let (counts, _) = histogram(draws, -4, 9, draw);
    record(draws, "neighbours in ternary secrets", chi_square_p(&counts, &[1.0 / 9.0; 9]));
}

fn sparse_secrets(draws: usize) {
    const N: usize = 1024;
    let mut rng = rng("sparse");
    let mut positions = vec![0; 2 * N];
    for _ in 0..draws / 32 {
        let secret = sampling::fixed_weight_ternary(N, 32, &mut rng).unwrap();
        for (i, &c) in secret.iter().enumerate().filter(|&(_, &c)| c != 0) {
            positions[2 * i + usize::from(c > 0)] += 1;
        }
    }
    // Draws without replacement: a little narrower than χ² says, so that p is rather too large.
    record(
        draws,
        "positions and signs of sparse secrets",
        chi_square_p(&positions, &vec![0.5 / N as f64; 2 * N]),
    );
}

fn residues(draws: usize) {
    // q is no power of two: accepted values must be uniform.
    for (name, q, bins) in [("small residues", 48_u64, 48), ("large residues", 250_199_979_294_721, 4096)] {
        let mut rng = rng(name);
        let draw = || {
            let mut words = vec![0; BLOCK];
            sampling::uniform_residues(&mut words, q, &mut rng);
            words.iter().map(|&x| (u128::from(x) * bins as u128 / u128::from(q)) as i64).collect()
        };
        let (counts, _) = histogram(draws, 0, bins, draw);
        record(draws, name, chi_square_p(&counts, &vec![1.0 / bins as f64; bins]));
    }
}

fn bytes(draws: usize) {
    let mut rng = rng("bytes");
    let draw = || {
        let mut bytes = vec![0; BLOCK];
        rng.fill_bytes(&mut bytes);
        bytes.iter().map(|&byte| i64::from(byte)).collect()
    };
    let (counts, _) = histogram(draws, 0, 256, draw);
    record(draws, "bytes of the generator", chi_square_p(&counts, &[1.0 / 256.0; 256]));
}

fn everything(draws: usize) {
    errors(draws);
    secrets(draws);
    sparse_secrets(draws);
    residues(draws);
    bytes(draws);
}

#[test]
fn draws_follow_their_distributions() {
    everything(1 << 20);
}

#[test]
#[ignore = "long: ten million draws of each"]
fn ten_million_draws_follow_their_distributions() {
    everything(ALL);
}

/// Checks that a sampler which is off by a thousandth is found.
#[test]
fn what_does_not_follow_is_found() {
    let counts = [3_343_333_u64, 3_333_333, 3_323_334];
    assert!(chi_square_p(&counts, &[1.0 / 3.0; 3]) < LEAST);
}
