//! Attacks on noise bounds in rings whose index is no power of two, on every kind of ring.

use rayon::prelude::*;
use sunzi_bfv::Context;
use sunzi_big::BigRing;
use sunzi_math::{gcd, primes_below};
use sunzi_ring::{Ring, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::NoiseMeter;
use sunzi_testing::attack::attack;
use sunzi_testing::storage::stored;
use sunzi_univariate::{Reduction, UnivariateRing};

/// Indices: a prime, a prime power, two primes and an even index, three primes, four primes; a bit less than a hundred coefficients each.
const INDICES: [u64; 6] = [101, 91, 81, 180, 165, 420];

type Gaps = Vec<(String, f64, f64)>;

fn context(ring: Ring, t: u64) -> Context {
    Context::with_ring(ring, t, Security::InsecureForResearchOnly).unwrap()
}

/// Returns the first units of Z/m, and −1.
fn exponents(m: u64) -> Vec<u64> {
    (2..m).filter(|&k| gcd(k, m) == 1).take(4).chain([m - 1]).collect()
}

fn gaps(context: Context, seed: u64) -> Gaps {
    let mut meter = NoiseMeter::new(context.clone(), seed, &exponents(context.ring().index())).unwrap();
    attack(&mut meter, seed).unwrap();
    meter.gaps
}

fn median(gaps: &Gaps) -> f64 {
    let mut bits: Vec<f64> = gaps.iter().map(|gap| gap.1).collect();
    bits.sort_by(f64::total_cmp);
    bits[bits.len() / 2]
}

fn show(name: &str, gaps: &Gaps) {
    let least = gaps.iter().map(|gap| gap.1).fold(f64::INFINITY, f64::min);
    let worst = gaps.iter().map(|gap| gap.2).fold(f64::INFINITY, f64::min);
    let (count, median) = (gaps.len(), median(gaps));
    println!(
        "{name:28} {count:6} values, gap median {median:5.2} least {least:5.2}, to the worst case {worst:6.2}"
    );
}

fn moduli(order: u64, count: usize) -> Vec<u64> {
    primes_below(sunzi_math::DEFAULT_PRIME_BOUND, order, count).unwrap()
}

/// Runs every attack at every index under each of these keys and plaintext moduli.
fn run(
    name: &str,
    indices: &[u64],
    seeds: std::ops::Range<u64>,
    plain: &[u64],
    of: impl Fn(u64, u64, u64) -> Gaps + Sync,
) {
    for &m in indices {
        let cases: Vec<_> = plain.iter().flat_map(|&t| seeds.clone().map(move |seed| (t, seed))).collect();
        let found: Gaps = cases.par_iter().flat_map_iter(|&(t, seed)| of(m, t, seed)).collect();
        show(&format!("{name}, m = {m}"), &found);
        assert!(found.len() > 300 * cases.len(), "{} values", found.len());
    }
}

fn big(m: u64, t: u64, seed: u64) -> Gaps {
    let q = (num_bigint::BigUint::from(1_u8) << 190_u8) - 1_u8;
    gaps(context(stored(BigRing::new(m, &q).unwrap(), Storage::Big), t), seed)
}

fn words(m: u64, t: u64, seed: u64) -> Gaps {
    let ring = Ring::new(m, &moduli(Ring::root_order(m).unwrap(), 4)).unwrap();
    gaps(context(ring, t), seed)
}

fn univariate(m: u64, t: u64, seed: u64) -> Gaps {
    let primes = moduli(UnivariateRing::root_order(m).unwrap(), 4);
    gaps(
        context(
            stored(
                Ring::of(UnivariateRing::new(m, &primes, Reduction::SparseBarrett).unwrap()),
                Storage::Univariate,
            ),
            t,
        ),
        seed,
    )
}

#[test]
fn no_bound_breaks_over_big_integers() {
    run("big integers", &INDICES[1..3], 0..1, &[17], big);
}

#[test]
fn no_bound_breaks_over_words() {
    run("words", &INDICES, 0..1, &[2, 49, 127], words);
}

#[test]
fn no_bound_breaks_in_the_power_basis() {
    run("power basis", &INDICES, 0..1, &[2, 81], univariate);
}

#[test]
#[ignore = "long: the attacks above under 20 keys"]
fn no_bound_breaks_under_many_keys() {
    run("words", &INDICES, 1..21, &[2, 3, 16, 49, 127, 65_537], words);
    run("power basis", &INDICES, 1..21, &[2, 3, 16, 49, 127, 65_537], univariate);
    run("big integers", &INDICES, 1..21, &[2], big);
}
