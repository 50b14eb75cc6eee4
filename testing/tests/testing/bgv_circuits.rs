//! Random circuits under BGV: inside the declared budget no refusal and no wrong answer; outside it always an error;
//! noise never above its bounds.

use chacha20::ChaCha20Rng;
use num_bigint::BigUint;
use rand_core::SeedableRng;
use rayon::prelude::*;
use sunzi_bgv::{Context, Parameters, ParametersBuilder, Settings};
use sunzi_big::BigRing;
use sunzi_ring::Storage;
use sunzi_rlwe::Security;
use sunzi_rlwe::security::accepting_insecure;
use sunzi_testing::storage::stored;
use sunzi_testing::{Circuit, Figure, LevelReport, Operation, Party};

/// Parameters: ring degree (log2), plaintext modulus, depth; additions, rotations and plaintext products of every level.
type Set = (u32, u64, usize, u64, u64, usize);
const SETS: [Set; 6] = [
    (6, 257, 4, 3, 2, 0),
    (6, 65537, 3, 7, 4, 1),
    (7, 1_099_511_619_841, 2, 1, 1, 1),
    (6, 257, 6, 1, 1, 0),
    (6, 65537, 0, 5, 3, 1),
    WIDE,
];

/// Parameters whose levels are longer than a word, which sets of moduli hold in fewer words.
const WIDE: Set = (6, 549_755_817_601, 6, 0, 0, 0);

/// Parameters of a practical degree: the bound holds all coefficients up to 2^-128, and of few the largest is further from it.
const LARGE: Set = (10, 65537, 3, 7, 4, 1);

/// Parameters with a digit for every modulus, many of which are merged below the highest level.
const MERGED: [Set; 2] = [(6, 65537, 6, 7, 4, 1), (7, 65537, 8, 3, 2, 0)];

fn builder((log2_degree, t, depth, additions, rotations, plain): Set) -> ParametersBuilder {
    Parameters::builder()
        .depth(depth)
        .plain_modulus(t)
        .log2_degree(log2_degree)
        .fresh_additions(additions)
        .fresh_rotations(rotations)
        .fresh_plain_products(plain)
        .additions_per_level(additions)
        .rotations_per_level(rotations)
        .plain_products_per_level(plain)
        .security(Security::InsecureForResearchOnly)
}

fn parameters(set: Set) -> Parameters {
    builder(set).build().unwrap()
}

/// The parameters of a set with as many digits as moduli.
fn of_single_moduli(set: Set) -> Parameters {
    let limbs = parameters(set).moduli().len();
    builder(set).digits(limbs).build().unwrap()
}

fn big(parameters: &Parameters) -> Context {
    let moduli: Vec<BigUint> = parameters.moduli().iter().map(|&q| q.into()).collect();
    let index = 2 << parameters.log2_degree();
    let ring = match parameters.rungs() {
        [] => BigRing::with_chain(index, &moduli),
        rungs => BigRing::with_rungs(index, &moduli, rungs),
    };
    let ring = stored(ring.unwrap(), Storage::Big);
    Context::with_ring(ring, &Settings::from(parameters)).unwrap()
}

/// Runs `count` circuits on each set, every `big_every`-th on big integers too, if that is not more often.
fn run(sets: &[Set], count: u64, big_every: u64) -> LevelReport {
    let parties = sets.iter().map(|&set| {
        let parameters = parameters(set);
        (Party::new(Context::new(&parameters).unwrap(), 1).unwrap(), parameters)
    });
    let total = run_with(parties, count, big_every);
    Figure::new(5, "values of random circuits above a bound or wrong, BGV")
        .cases(count as usize * sets.len(), 10_000)
        .none_wrong(0);
    total
}

/// Runs `count` circuits on each set with keys that have sums for merged digits.
fn run_merged(count: u64) -> LevelReport {
    let parties = MERGED.iter().map(|&set| {
        let parameters = of_single_moduli(set);
        let mut party = Party::new(Context::new(&parameters).unwrap(), 1).unwrap();
        let (rlwe, without) = (party.context.rlwe(), party.keys.byte_len());
        let merges = |&level: &usize| {
            let ring_level = parameters.limbs(level).len();
            rlwe.gadget_at(ring_level).unwrap().merged(ring_level).unwrap().is_some()
        };
        let merging = (0..parameters.depth()).filter(merges).count();
        assert!(merging >= 2, "{merging} levels of {:?} merge digits", parameters.moduli());
        party.keys = party.keys.clone().with_merged_digits(rlwe).unwrap();
        assert!((without + 1..2 * without).contains(&party.keys.byte_len()));
        (party, parameters)
    });
    let total = run_with(parties, count, u64::MAX);
    Figure::new(5, "values of random circuits above a bound or wrong, merged digits")
        .cases(count as usize * MERGED.len(), 10_000)
        .none_wrong(0);
    total
}

fn run_with(
    parties: impl Iterator<Item = (Party<Context>, Parameters)>,
    count: u64,
    big_every: u64,
) -> LevelReport {
    let mut total = LevelReport::default();
    for (number, (rns, parameters)) in parties.enumerate() {
        let (n, t) = (1 << parameters.log2_degree(), parameters.plain_modulus());
        let big = (big_every <= count).then(|| Party::new(big(&parameters), 2).unwrap());
        let reports: Vec<LevelReport> = (0..count)
            .into_par_iter()
            .flat_map_iter(|seed| {
                let mut rng = ChaCha20Rng::seed_from_u64(seed << 8 | number as u64);
                let circuit = Circuit::random(&mut rng, n, t, parameters.depth() + 2, 11);
                let mut reports = vec![rns.check_budget(&circuit, seed).unwrap()];
                if let Some(big) = big.as_ref().filter(|_| seed % big_every == 0) {
                    reports.push(big.check_budget(&circuit, seed).unwrap());
                }
                for report in &reports {
                    assert!(report.failures.is_empty(), "set {number}, seed {seed}: {:?}", report.failures);
                }
                reports
            })
            .collect();
        for report in reports {
            total.inside += report.inside;
            total.refused += report.refused;
            total.gaps.extend(report.gaps);
        }
    }
    total.gaps.sort_by(f64::total_cmp);
    total
}

#[test]
fn random_circuits_keep_to_the_budget() {
    let report = run(&SETS, 60, 6);
    assert!(report.inside > 2000 && report.refused > 200, "{report:?}");
}

#[test]
fn long_levels_are_sets_of_moduli() {
    let parameters = parameters(WIDE);
    let sets = parameters.rungs();
    assert!(!sets.is_empty() && parameters.shares().is_empty());
    let limbs: Vec<usize> = (0..=6).map(|level| parameters.limbs(level).len()).collect();
    assert!(limbs.windows(2).all(|pair| pair[0] <= pair[1]) && limbs[6] < 13, "{limbs:?}");
    let text = serde_json::to_string(&parameters).unwrap();
    assert_eq!(parameters, accepting_insecure(|| serde_json::from_str(&text)).unwrap());
    // Levels that fit a word are single primes.
    assert!(SETS.iter().filter(|set| set.1 == 257).all(|&set| self::parameters(set).rungs().is_empty()));
}

#[test]
fn bounds_are_near_at_a_degree_in_use() {
    let gaps = run(&[LARGE], 12, 13).gaps;
    Figure::new(5, "bits between noise and the variance bound, median, BGV, n = 1024")
        .cases(gaps.len(), gaps.len())
        .at_most(gaps[gaps.len() / 2], 3.0);
}

/// Checks that rotations by whole rows take nothing of the budget, all others one rotation each.
#[test]
fn only_turns_that_move_something_are_counted() {
    let party = Party::new(Context::new(&parameters((6, 257, 0, 0, 0, 0))).unwrap(), 1).unwrap();
    let operations = [(0, true), (32, true), (-32, true), (1, false), (31, false), (-1, false)];
    for (steps, free) in operations {
        let operations = vec![Operation::Input(0), Operation::Rotate(0, steps)];
        let circuit = Circuit { inputs: vec![(0..64).collect()], operations, modulus: 257 };
        let report = party.check_budget(&circuit, 1).unwrap();
        assert!(report.failures.is_empty(), "{steps}: {:?}", report.failures);
        assert_eq!((report.inside, report.refused), if free { (2, 0) } else { (1, 1) }, "{steps}");
    }
}

#[test]
#[ignore = "long: 10^4 circuits"]
fn ten_thousand_random_circuits_keep_to_the_budget() {
    let report = run(&SETS, 10_000_u64.div_ceil(SETS.len() as u64), 20);
    assert!(report.inside > 60_000);
}

#[test]
fn random_circuits_with_merged_digits_keep_to_the_budget() {
    let report = run_merged(60);
    assert!(report.inside > 600 && report.refused > 20, "{report:?}");
}

#[test]
#[ignore = "long: 10^4 circuits"]
fn ten_thousand_random_circuits_with_merged_digits_keep_to_the_budget() {
    let report = run_merged(10_000_u64.div_ceil(MERGED.len() as u64));
    assert!(report.inside > 60_000, "{}", report.inside);
}
