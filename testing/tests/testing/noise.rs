//! Attempts to break both noise bounds: dependent operands, structured messages, every shape of parameters.

use std::collections::BTreeMap;
use sunzi_testing::storage::stored;

use rayon::prelude::*;
use sunzi_bfv::{Algorithms, Context};
use sunzi_big::BigRing;
use sunzi_math::{primes_below, primes_with_bits};
use sunzi_ring::{Auxiliary, MTilde, Multiplication, Ring, ScalerOptions, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::NoiseMeter;
use sunzi_testing::attack::attack;

/// Exponents of rotations by 1, 2, 4, 8, 16 columns and of the swap of rows, for n = 64.
const ROTATIONS: [u64; 6] = [3, 9, 81, 81 * 81 % 128, 33 * 33 % 128, 127];

/// Returns contexts with moduli of every size, alone, mixed and many; plaintext moduli at both ends, even and odd.
fn contexts() -> Vec<(String, Context)> {
    let bits = |bits, count| primes_with_bits(bits, 128, count).unwrap();
    let default = |count| primes_below(sunzi_math::DEFAULT_PRIME_BOUND, 128, count).unwrap();
    let mixed = [bits(17, 2), bits(62, 2), bits(48, 2), bits(30, 2)].concat();
    let bases: [(&str, Vec<u64>); 9] = [
        ("one of 48", default(1)),
        ("one of 62", bits(62, 1)),
        ("3 of 48", default(3)),
        ("12 of 48", default(12)),
        ("12 of 17", bits(17, 12)),
        ("9 of 30", bits(30, 9)),
        ("4 of 62", bits(62, 4)),
        ("mixed", mixed),
        ("40 of 48", default(40)),
    ];
    let plain = [2, 3, 256, 257, 65_536, 65_537, (1 << 59) + 55, (1 << 60) - 1];
    let mut all = Vec::new();
    for (name, moduli) in &bases {
        let ring = Ring::new(128, moduli).unwrap();
        for t in plain {
            if let Ok(context) = Context::with_ring(ring.clone(), t, Security::InsecureForResearchOnly) {
                all.push((format!("{name}, t = {t}"), context));
            }
        }
    }
    all
}

/// Returns count, median, smallest gap to the bound and to the worst case of each kind of value.
fn table(gaps: &[(String, f64, f64)]) -> BTreeMap<&str, (usize, f64, f64, f64)> {
    let mut by_name: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for (name, gap, worst) in gaps {
        by_name.entry(name).or_default().push((*gap, *worst));
    }
    let summary = |mut list: Vec<(f64, f64)>| {
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        let worst = list.iter().map(|pair| pair.1).fold(f64::INFINITY, f64::min);
        (list.len(), list[list.len() / 2].0, list[0].0, worst)
    };
    by_name.into_iter().map(|(name, list)| (name, summary(list))).collect()
}

/// Attacks every `stride`-th pair of a context and a seed.
fn run(seeds: std::ops::Range<u64>, stride: usize, least: usize) {
    let contexts = contexts();
    let pairs: Vec<_> = seeds.flat_map(|seed| contexts.iter().map(move |(_, c)| (c, seed))).collect();
    let under = |(context, seed): &(&Context, u64)| {
        let mut meter = NoiseMeter::new((*context).clone(), *seed, &ROTATIONS).unwrap();
        attack(&mut meter, *seed).unwrap();
        meter.gaps
    };
    let gaps: Vec<_> = pairs.par_iter().step_by(stride).flat_map_iter(under).collect();
    assert!(gaps.len() > least, "{} values", gaps.len());
    for (name, (count, median, least, worst)) in table(&gaps) {
        println!(
            "{name:20} {count:6} values, gap median {median:6.2} least {least:6.2}, to the worst case {worst:6.2}"
        );
    }
}

fn show(gaps: &[(String, f64, f64)]) {
    for (name, (count, median, least, worst)) in table(gaps) {
        println!(
            "{name:20} {count:6} values, gap median {median:6.2} least {least:6.2}, to the worst case {worst:6.2}"
        );
    }
}

#[test]
#[ignore = "long: the same attacks at a degree in use"]
fn dependent_operands_break_no_bound_at_degree_2048() {
    let ring = Ring::new(4096, &primes_below(sunzi_math::DEFAULT_PRIME_BOUND, 4096, 6).unwrap()).unwrap();
    let mut gaps = Vec::new();
    for t in [2, 65_537] {
        let context = Context::with_ring(ring.clone(), t, Security::InsecureForResearchOnly).unwrap();
        let mut meter = NoiseMeter::new(context, t, &ROTATIONS).unwrap();
        attack(&mut meter, t).unwrap();
        gaps.append(&mut meter.gaps);
    }
    show(&gaps);
}

/// Attacks lifts beyond q/2, where m̃ is small or absent; an even and an odd number of moduli.
fn attack_extensions(index: u64, bases: &[Vec<u64>]) -> Vec<(String, f64, f64)> {
    let mut contexts = Vec::new();
    for (m_tilde, auxiliary) in [(MTilde::None, Auxiliary::LikeModulus), (MTilde::Bits8, Auxiliary::Standard)]
    {
        let multiplication = Multiplication::Behz;
        let scaling = ScalerOptions { multiplication, m_tilde, auxiliary, ..ScalerOptions::default() };
        let algorithms = Algorithms { scaling, ..Algorithms::default() };
        for (moduli, t) in bases.iter().flat_map(|moduli| [(moduli, 2), (moduli, 65_537)]) {
            let ring = Ring::new(index, moduli).unwrap();
            let security = Security::InsecureForResearchOnly;
            contexts.push(Context::with_algorithms(ring, t, security, &algorithms).unwrap());
        }
    }
    let under = |(seed, context): (usize, &Context)| {
        let mut meter = NoiseMeter::new(context.clone(), seed as u64, &ROTATIONS).unwrap();
        attack(&mut meter, seed as u64).unwrap();
        meter.gaps
    };
    contexts.par_iter().enumerate().flat_map_iter(under).collect()
}

#[test]
fn dependent_operands_break_no_bound_with_larger_lifts() {
    let bits = |bits, count| primes_with_bits(bits, 128, count).unwrap();
    let mixed = [bits(17, 2), bits(62, 2), bits(48, 2), bits(30, 2)].concat();
    show(&attack_extensions(128, &[bits(30, 9), mixed]));
}

#[test]
#[ignore = "long: the same at a degree in use"]
fn dependent_operands_break_no_bound_with_larger_lifts_at_degree_2048() {
    let default = |count| primes_below(sunzi_math::DEFAULT_PRIME_BOUND, 4096, count).unwrap();
    show(&attack_extensions(4096, &[default(6), default(7)]));
}

#[test]
fn dependent_operands_break_no_bound() {
    run(0..1, 3, 8_000);
}

#[test]
#[ignore = "long: the attacks of the test above under 20 keys"]
fn dependent_operands_break_no_bound_under_many_keys() {
    run(1..21, 1, 400_000);
}

#[test]
fn dependent_operands_break_no_bound_over_big_integers() {
    let mut gaps = Vec::new();
    for (bits, t) in [(61, 3), (200, 65_536), (500, (1 << 60) - 1)] {
        let q = (num_bigint::BigUint::from(1_u32) << bits) - 1_u32;
        let ring = stored(BigRing::new(128, &q).unwrap(), Storage::Big);
        let context = Context::with_ring(ring, t, Security::InsecureForResearchOnly).unwrap();
        let mut meter = NoiseMeter::new(context, bits, &ROTATIONS).unwrap();
        attack(&mut meter, bits).unwrap();
        gaps.append(&mut meter.gaps);
    }
    for (name, (count, median, least, worst)) in table(&gaps) {
        println!(
            "{name:20} {count:6} values, gap median {median:6.2} least {least:6.2}, to the worst case {worst:6.2}"
        );
    }
}
