//! Random circuits over plaintext polynomials modulo (Φ_m, t) under BFV and BGV, for general m: no wrong answer, no noise above its
//! bounds.

use chacha20::ChaCha20Rng;
use num_bigint::BigUint;
use rand_core::SeedableRng;
use rayon::prelude::*;
use sunzi_big::BigRing;
use sunzi_math::primes_below;
use sunzi_ring::{GadgetOptions, Ring, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::scheme::Scheme;
use sunzi_testing::storage::stored;
use sunzi_testing::{Circuit, Polynomials};
use sunzi_univariate::{Reduction, UnivariateRing};

const SECURITY: Security = Security::InsecureForResearchOnly;
/// Cases of index and plaintext modulus: p = 2, 3, 7, 17, 127 and powers, one to four primes, an odd and an even index; twice t has a factor of m.
const CASES: [(u64, u64); 10] = [
    (73, 2),
    (81, 16),
    (91, 3),
    (85, 2),
    (85, 17),
    (60, 49),
    (105, 127),
    (105, 10),
    (420, 17 * 17),
    (1155, 2),
];

fn bfv(ring: Ring, t: u64) -> sunzi_bfv::Context {
    sunzi_bfv::Context::with_ring(ring, t, SECURITY).unwrap()
}

fn bgv(ring: Ring, t: u64, special: &[u64]) -> sunzi_bgv::Context {
    let digits = (!special.is_empty()).then_some(2);
    let settings = sunzi_bgv::Settings {
        plain_modulus: t,
        levels: (1..ring.level()).collect(),
        shares: Vec::new(),
        key_switching: GadgetOptions { digits, special_moduli: special.to_vec(), ..GadgetOptions::default() },
        budget: sunzi_bgv::Budget::UNLIMITED,
        security: SECURITY,
        secrets: sunzi_rlwe::SecretDistribution::Ternary,
    };
    sunzi_bgv::Context::with_ring(ring, &settings).unwrap()
}

/// Runs circuits; at least this many values must be checked.
fn run<S: Scheme + Sync>(name: &str, context: S, circuits: u64) -> Vec<f64>
where
    S::Error: From<sunzi_math::MathError> + Send,
    S::Evaluator: Sync,
    Polynomials<S>: Sync,
{
    let (degree, t) =
        (context.rlwe().ring().degree(), sunzi_circuits::Arithmetic::plain_modulus(&context.evaluator()));
    let party = Polynomials::new(context, 1).unwrap();
    let reports: Vec<_> = (0..circuits)
        .into_par_iter()
        .map(|seed| {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            party.check(&Circuit::random(&mut rng, degree, t, 2, 10), seed).unwrap()
        })
        .collect();
    for (seed, report) in reports.iter().enumerate() {
        assert!(report.failures.is_empty(), "{name}, seed {seed}: {:?}", report.failures);
    }
    let gaps: Vec<f64> = reports.into_iter().flat_map(|report| report.gaps).collect();
    assert!(gaps.len() as u64 > 6 * circuits, "{name}: {} values", gaps.len());
    gaps
}

fn median(mut gaps: Vec<f64>) -> f64 {
    gaps.sort_by(f64::total_cmp);
    gaps[gaps.len() / 2]
}

fn moduli(order: u64, count: usize) -> Vec<u64> {
    primes_below(sunzi_math::DEFAULT_PRIME_BOUND, order, count).unwrap()
}

fn over_big_integers(circuits: u64) {
    for (m, t) in CASES {
        let chain: Vec<BigUint> = moduli(4, 4).into_iter().map(BigUint::from).collect();
        let ring = || stored(BigRing::with_chain(m, &chain).unwrap(), Storage::Big);
        let first = run(&format!("BFV at {m}, t = {t}"), bfv(ring(), t), circuits);
        let second = run(&format!("BGV at {m}, t = {t}"), bgv(ring(), t, &[]), circuits);
        println!(
            "m = {m}, t = {t}: median gaps {:.2} under BFV, {:.2} under BGV",
            median(first),
            median(second)
        );
    }
}

fn in_the_power_basis(circuits: u64) {
    for (m, t) in CASES {
        let primes = moduli(UnivariateRing::root_order(m).unwrap(), 6);
        let (own, special) = primes.split_at(4);
        let ring = || {
            stored(
                Ring::of(UnivariateRing::new(m, own, Reduction::SparseBarrett).unwrap()),
                Storage::Univariate,
            )
        };
        run(&format!("BFV at {m}, t = {t}"), bfv(ring(), t), circuits);
        run(&format!("BGV at {m}, t = {t}"), bgv(ring(), t, special), circuits);
    }
}

#[test]
fn random_circuits_agree_over_big_integers() {
    over_big_integers(2);
}

#[test]
fn random_circuits_agree_in_the_power_basis() {
    in_the_power_basis(4);
}

#[test]
#[ignore = "long: two hundred circuits at every index under both schemes"]
fn many_random_circuits_agree() {
    in_the_power_basis(200);
    over_big_integers(200);
}
