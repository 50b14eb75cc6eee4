//! Linear maps by double hoisting against single automorphisms, products and sums, and against clear slots.

use num_bigint::BigUint;
use sunzi_bfv::Algorithms;
use sunzi_bgv::{Budget, Operations};
use sunzi_big::{BigRing, MultiPrecision};
use sunzi_circuits::{Arithmetic, CircuitError, EvaluationKeys, GiantStep, Rotation};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{GadgetOptions, Ring, Storage};
use sunzi_rlwe::Security;
use sunzi_testing::storage::stored;
use sunzi_testing::{Encrypted, Operation, Party, Report, Scheme};

const DEGREE: usize = 64;
const ROW: usize = DEGREE / 2;
const T: u64 = 65537;
const INSECURE: Security = Security::InsecureForResearchOnly;

/// Giant steps and their baby steps.
type Steps = &'static [(i64, &'static [i64])];

const MAPS: [Steps; 7] = [
    &[(0, &[0, 1, 2, 3]), (4, &[0, 1, 2, 3]), (8, &[0, 3]), (12, &[1])],
    &[(0, &[0])],
    &[(0, &[5])],
    &[(7, &[0])],
    &[(0, &[0]), (3, &[0]), (6, &[0])],
    &[(0, &[1, 2]), (-8, &[0])],
    // Equal steps twice, and a whole cycle.
    &[(1, &[2, 2]), (1, &[2]), (ROW as i64, &[ROW as i64])],
];

/// Returns the slots of the plaintext of a giant step and a baby step; one of them is 0, others are ±t/2.
fn diagonal(giant: i64, baby: i64) -> Vec<u64> {
    let slot = |i: u64| match (giant + 3 * baby) % 5 {
        3 if i.is_multiple_of(2) => T / 2,
        3 => T / 2 + 1,
        4 => 0,
        // These slots repeat.
        2 => (i % 4) * 1000 + giant.unsigned_abs(),
        _ => (i * i * 7919 + giant.unsigned_abs() * 31 + baby.unsigned_abs()) % T,
    };
    (0..DEGREE as u64).map(slot).collect()
}

fn rotated(slots: &[u64], steps: i64) -> Vec<u64> {
    let steps = steps.rem_euclid(ROW as i64) as usize;
    slots.chunks(ROW).flat_map(|row| row.iter().cycle().skip(steps).take(ROW).copied()).collect()
}

fn clear(slots: &[u64], steps: Steps) -> Vec<u64> {
    let mut sum = vec![0; DEGREE];
    for &(giant, babies) in steps {
        let mut inner = vec![0; DEGREE];
        for &baby in babies {
            let terms = diagonal(giant, baby).into_iter().zip(rotated(slots, baby));
            inner.iter_mut().zip(terms).for_each(|(sum, (m, x))| *sum = (*sum + m * x) % T);
        }
        sum.iter_mut().zip(rotated(&inner, giant)).for_each(|(sum, x)| *sum = (*sum + x) % T);
    }
    sum
}

/// Computes the oracle: every automorphism ends in a division by P.
fn one_by_one<S: Scheme>(party: &Party<S>, x: &Encrypted<S>, steps: Steps) -> Encrypted<S> {
    let (evaluator, keys) = (&party.evaluator, &party.keys);
    let mut sum: Option<Encrypted<S>> = None;
    for &(giant, babies) in steps {
        let turned = evaluator.rotate_many(x, babies, keys).unwrap();
        let factors: Vec<_> = babies
            .iter()
            .map(|&baby| evaluator.factor(&party.encode(&diagonal(giant, baby)).unwrap()).unwrap())
            .collect();
        let terms: Vec<_> = turned.iter().zip(&factors).collect();
        let inner = evaluator.sum_of_plain_products(&terms).unwrap();
        let part = evaluator.rotate(&inner, Rotation::Rows(giant), keys).unwrap();
        sum = Some(sum.map_or_else(|| part.clone(), |sum| evaluator.add(&sum, &part).unwrap()));
    }
    sum.unwrap()
}

fn mapped<S: Scheme>(party: &Party<S>, x: &Encrypted<S>, steps: Steps) -> Encrypted<S> {
    let multiplier =
        |giant, baby| party.evaluator.multiplier(&party.encode(&diagonal(giant, baby)).unwrap()).unwrap();
    let kept: Vec<(i64, Vec<_>)> = steps
        .iter()
        .map(|&(giant, babies)| (giant, babies.iter().map(|&b| (b, multiplier(giant, b))).collect()))
        .collect();
    let steps: Vec<GiantStep<'_, i64, S::Evaluator>> =
        kept.iter().map(|(giant, terms)| (*giant, terms.iter().map(|(b, m)| (*b, m)).collect())).collect();
    party.evaluator.linear_map(x, &steps, &party.keys).unwrap()
}

/// Checks that both ways decrypt to the clear slots, within bounds, and that double hoisting leaves at least as many bits.
fn law<S: Scheme>(party: &Party<S>, x: &Encrypted<S>, slots: &[u64]) {
    for steps in MAPS {
        let (expected, slow, fast) =
            (clear(slots, steps), one_by_one(party, x, steps), mapped(party, x, steps));
        let mut report = Report::default();
        for value in [&slow, &fast] {
            party.judge(&Operation::Input(0), value, &expected, &mut report).unwrap();
        }
        let Report { wrong, above_worst, above_deviation, gaps } = &report;
        assert!(wrong.is_empty() && above_worst.is_empty() && above_deviation.is_empty(), "{report:?}");
        // Bounds are not far too pessimistic either.
        assert!(gaps[1] < gaps[0] + 3.0, "{steps:?}: {gaps:?}");
        let [slow, fast] = [&slow, &fast].map(|value| party.evaluator.bits_left(value));
        assert!(fast > slow - 1e-9, "{steps:?}: {fast} bits left, {slow} one by one");
    }
}

fn slots(seed: u64) -> Vec<u64> {
    (0..DEGREE as u64).map(|i| (i * 7919 + seed * 104_729 + (i << seed)) % T).collect()
}

fn moduli() -> Vec<u64> {
    primes_below(DEFAULT_PRIME_BOUND, 2 * DEGREE as u64, 7).unwrap()
}

fn hybrid(digits: usize, special: usize) -> GadgetOptions {
    let special_moduli = moduli()[7 - special..].to_vec();
    GadgetOptions { digits: Some(digits), special_moduli, ..GadgetOptions::default() }
}

fn bfv(ring: Ring, key_switching: &GadgetOptions) -> Party<sunzi_bfv::Context> {
    let algorithms = Algorithms { key_switching: key_switching.clone(), ..Algorithms::default() };
    let context = sunzi_bfv::Context::with_algorithms(ring, T, INSECURE, &algorithms).unwrap();
    Party::new(context, 1).unwrap()
}

fn under_bfv(ring: Ring, key_switching: &GadgetOptions) {
    let party = bfv(ring, key_switching);
    law(&party, &party.encrypt(&slots(1), 5).unwrap(), &slots(1));
}

#[test]
fn bfv_by_special_moduli_and_without() {
    let radix = |bits| GadgetOptions { radix_bits: Some(bits), ..GadgetOptions::default() };
    let dropped = GadgetOptions { dropped_limbs: 2, ..radix(16) };
    for options in [hybrid(2, 2), hybrid(4, 1), hybrid(1, 3), GadgetOptions::default(), dropped] {
        under_bfv(Ring::new(2 * DEGREE as u64, &moduli()[..4]).unwrap(), &options);
    }
    under_bfv(
        stored(MultiPrecision::ring(2 * DEGREE as u64, &moduli()[..4]).unwrap(), Storage::MultiPrecision),
        &radix(16),
    );
    let chain: Vec<BigUint> = moduli()[..4].iter().map(|&q| q.into()).collect();
    under_bfv(stored(BigRing::with_chain(2 * DEGREE as u64, &chain).unwrap(), Storage::Big), &radix(16));
}

#[test]
fn bgv_at_every_level() {
    let operations = Operations { additions: 20, rotations: 20, plain_products: 1 };
    let budget = Budget { fresh: operations, per_level: operations, last: Operations::default() };
    let parameters = sunzi_bgv::Parameters::builder()
        .depth(3)
        .plain_modulus(T)
        .log2_degree(DEGREE.ilog2())
        .budget(budget)
        .security(INSECURE)
        .build()
        .unwrap();
    assert!(!parameters.key_switching().special_moduli.is_empty());
    let party = Party::new(sunzi_bgv::Context::new(&parameters).unwrap(), 1).unwrap();
    let (mut x, mut value) = (party.encrypt(&slots(1), 5).unwrap(), slots(1));
    for level in (0..=3).rev() {
        assert_eq!(x.metadata().level(), level);
        law(&party, &x, &value);
        // Both use equal parts of the budget.
        for steps in MAPS {
            let [slow, fast] = [one_by_one(&party, &x, steps), mapped(&party, &x, steps)];
            assert_eq!(slow.metadata().usage(), fast.metadata().usage());
        }
        if level > 0 {
            x = party.evaluator.square(&x, party.keys.relinearization.as_ref().unwrap()).unwrap();
            value.iter_mut().for_each(|x| *x = *x * *x % T);
        }
    }
}

#[test]
fn dry_runs_know_the_noise() {
    let ring = Ring::new(2 * DEGREE as u64, &moduli()[..4]).unwrap();
    let hollow = Ring::dry(2 * DEGREE as u64, &moduli()[..4], &[]).unwrap();
    let (party, dry) = (bfv(ring, &hybrid(2, 2)), bfv(hollow, &hybrid(2, 2)));
    let [x, y] = [slots(1), slots(2)];
    let (x, y) = (party.encrypt(&x, 5).unwrap(), dry.encrypt(&y, 5).unwrap());
    for steps in MAPS {
        let left = party.evaluator.bits_left(&mapped(&party, &x, steps));
        assert_eq!(left, dry.evaluator.bits_left(&mapped(&dry, &y, steps)));
    }
}

#[test]
fn what_is_missing_is_said() {
    let mut party = bfv(Ring::new(2 * DEGREE as u64, &moduli()[..4]).unwrap(), &hybrid(2, 2));
    let x = party.encrypt(&slots(1), 5).unwrap();
    let multiplier = party.evaluator.multiplier(&party.encode(&slots(2)).unwrap()).unwrap();
    let map = |party: &Party<sunzi_bfv::Context>, steps: &[GiantStep<'_, i64, sunzi_bfv::Evaluator>]| {
        Arithmetic::linear_map(&party.evaluator, &x, steps, &party.keys)
    };
    assert!(matches!(map(&party, &[]), Err(CircuitError::Scheme(sunzi_bfv::BfvError::Empty { .. }))));
    // The identity needs no key.
    party.keys = EvaluationKeys { relinearization: None, galois: None };
    assert!(map(&party, &[(0, vec![(0, &multiplier)])]).is_ok());
    for (giant, baby) in [(0, 1), (1, 0)] {
        let refused = map(&party, &[(giant, vec![(baby, &multiplier)])]).err().unwrap();
        assert!(refused.to_string().contains("key"), "{refused}");
    }
}
