//! Laws that the BFV parameter sets of the builder keep.

use num_bigint::BigUint;
use sunzi_encoding::{PlainRefusal, PlainRequest};
use sunzi_math::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND};
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{Security, security::max_log2_modulus};

use crate::explain::{Refusal, Verdict};
use crate::{Algorithms, BfvError, CrtParameters, Parameters};
use crate::{KeySwitching, NothingFits, ParametersBuilder, Relaxation, Request};

const LEVELS: [Security; 3] = [Security::Bits128, Security::Bits192, Security::Bits256];

fn modulus(parameters: &CrtParameters) -> BigUint {
    parameters.moduli().iter().product()
}

fn key_modulus(parameters: &CrtParameters) -> BigUint {
    parameters.moduli().iter().chain(parameters.special_moduli()).product()
}

fn nothing_fits(builder: &ParametersBuilder) -> NothingFits {
    match builder.build() {
        Err(BfvError::NothingFits(error)) => *error,
        other => panic!("expected that nothing fits, got {other:?}"),
    }
}

/// Tests that wide moduli are chosen where fewer of them do, and no others.
#[test]
fn wide_moduli_save_one_and_are_not_chosen_otherwise() {
    let of = |depth, bits, rotations| {
        let builder = Parameters::builder().depth(depth).plain_bits(bits).rotations(rotations);
        let chosen = builder.build().unwrap();
        assert!(chosen.moduli().iter().all(|&q| q < WIDE_PRIME_BOUND));
        let wide = chosen.moduli().iter().any(|&q| q >= DEFAULT_PRIME_BOUND);
        (
            chosen.log2_degree(),
            chosen.moduli().len(),
            chosen.algorithms().key_switching.special_moduli.len(),
            wide,
        )
    };
    // Five of 42.8 bits, one of them special or none, were chosen among narrower ones.
    assert_eq!(of(3, 28, 6), (13, 4, 0, true));
    assert_eq!(of(3, 34, 0), (13, 4, 0, true));
    // 7 + 3 moduli of 43 bits in three digits.
    assert_eq!(of(7, 20, 0), (14, 6, 2, true));
    for depth in 1..=3 {
        assert!(!of(depth, 17, 0).3, "depth {depth}");
    }
}

#[test]
fn chosen_sets_are_valid_and_respect_the_security_table() {
    for security in LEVELS {
        for depth in [0, 1, 2, 3, 5, 8, 12] {
            for bits in [1, 2, 17, 30, 60] {
                let builder = Parameters::builder().depth(depth).plain_bits(bits).security(security);
                let Ok(chosen) = builder.build_crt() else {
                    assert!(depth > 3, "depth {depth}, {bits} bits, {security}");
                    continue;
                };
                chosen.validate().unwrap();
                let limit = max_log2_modulus(chosen.log2_degree(), security).unwrap();
                assert!(key_modulus(&chosen).bits() <= u64::from(limit));
                let [t] = chosen.plain_moduli() else { panic!("one modulus") };
                assert!(*t >= 1 << (bits - 1));
                assert!(chosen.parts()[0].supports_batching());
            }
        }
    }
}

#[test]
fn one_bit_over_the_table_is_refused() {
    let chosen = Parameters::builder().depth(2).build_crt().unwrap();
    let limit = max_log2_modulus(chosen.log2_degree(), Security::Bits128).unwrap();
    let index = 2 << chosen.log2_degree();
    // Exchange one limb so that the product is a little less than one bit above the limit.
    let (last, others) = chosen.moduli().split_last().unwrap();
    let excess = f64::from(limit) - chosen.log2_modulus() + 0.99;
    let larger = sunzi_math::primes_below((*last as f64 * excess.exp2()) as u64, index, 1).unwrap();
    let moduli = [others, &larger].concat();
    let over = Parameters::new(chosen.log2_degree(), moduli, chosen.plain_moduli()[0], Security::Bits128);
    assert!(over.log2_modulus() > f64::from(limit) && over.log2_modulus() < f64::from(limit) + 1.0);
    assert!(matches!(over.validate(), Err(BfvError::Rlwe(_))));
}

#[test]
fn more_depth_never_takes_a_smaller_modulus_or_ring() {
    for log2_degree in 12..=15 {
        let mut last = BigUint::ZERO;
        for depth in 0..20 {
            let builder = Parameters::builder().plain_modulus(786_433).log2_degree(log2_degree).depth(depth);
            let Ok(chosen) = builder.build_crt() else { break };
            assert!(modulus(&chosen) >= last, "2^{log2_degree}, depth {depth}");
            last = modulus(&chosen);
        }
        assert!(last > BigUint::ZERO);
    }
    let degree = |depth| Parameters::builder().depth(depth).build().map_or(u32::MAX, |p| p.log2_degree());
    assert!((0..40).is_sorted_by_key(degree));
}

#[test]
fn every_demand_is_monotone_in_the_ring_and_in_bits_left() {
    let last = |builder: ParametersBuilder| {
        let choice = builder.log2_degree(14).margin(0).explain().unwrap().chosen.unwrap();
        (choice.parameters.moduli().len(), choice.bits_left.last().copied().unwrap())
    };
    let base = || Parameters::builder().depth(2).plain_bits(20);
    let (limbs, _) = last(base());
    assert!(last(base().additions(20)).0 >= limbs);
    assert!(last(base().rotations(13)).0 >= limbs);
    assert!(last(base().plain_products(2)).0 > limbs);
    assert!(last(base().margin(90)).0 >= limbs);
}

#[test]
fn the_smallest_and_the_largest_plain_moduli_work() {
    let binary = Parameters::builder().depth(0).plain_modulus(2).batching(false).build().unwrap();
    assert_eq!((binary.plain_modulus(), binary.log2_degree()), (2, 11));
    assert_eq!(Parameters::builder().plain_bits(1).batching(false).build().unwrap().plain_modulus(), 2);
    let wide = Parameters::builder().depth(4).plain_bits(60).build().unwrap();
    assert!((1 << 59..1 << 60).contains(&wide.plain_modulus()));
    let wide = Parameters::builder().depth(1).plain_modulus((1 << 60) - 1).batching(false).build().unwrap();
    assert_eq!(wide.plain_modulus(), (1 << 60) - 1);
    for (builder, what) in [
        (Parameters::builder().plain_bits(0), "plain_bits"),
        (Parameters::builder().plain_bits(61), "plain_bits"),
        (Parameters::builder().plain_modulus(65536), "plain_modulus"),
        (Parameters::builder().plain_range(0_u32), "plain_range"),
        (Parameters::builder().depth(201), "depth"),
        (Parameters::builder().log2_degree(5), "log2_degree"),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{what}: ")), "{error}");
    }
    for t in [0, 1, 1 << 60] {
        assert!(matches!(
            Parameters::builder().plain_modulus(t).build(),
            Err(BfvError::Encoding(sunzi_encoding::EncodingError::PlainModulusOutOfRange { .. }))
        ));
    }
}

#[test]
fn wide_integers_are_spread_over_several_moduli() {
    for bits in [10_u32, 59, 60, 64, 120, 200] {
        let magnitude = BigUint::from(1_u32) << bits;
        let builder = Parameters::builder().depth(1).plain_range(magnitude.clone());
        let chosen = builder.build_crt().unwrap();
        chosen.validate().unwrap();
        assert!(chosen.plain_range() > magnitude * 2_u32, "{bits} bits");
        assert!(chosen.parts().iter().all(Parameters::supports_batching));
        // One modulus below 2^60 holds ±2^58.9 at most.
        assert_eq!(builder.build().is_ok(), bits < 59, "{bits} bits");
        if bits >= 59 {
            assert!(nothing_fits(&builder).relaxations.contains(&Relaxation::SeveralPlainModuli));
        }
    }
    // A 60-bit range at depth 1: three moduli of 20 bits in a small ring beat one in a large ring.
    let chosen = Parameters::builder().depth(1).plain_range(1_u64 << 57).build_crt().unwrap();
    assert_eq!(chosen.log2_degree(), 12);
    assert!(chosen.plain_moduli().len() > 1, "{chosen:?}");
}

#[test]
fn slots_and_degree_are_met() {
    let wide = Parameters::builder().depth(0).slots(10_000).build().unwrap();
    assert_eq!(wide.log2_degree(), 14);
    assert_eq!(Parameters::builder().depth(0).log2_degree(15).build().unwrap().log2_degree(), 15);
    let small = Parameters::builder()
        .depth(1)
        .log2_degree(7)
        .plain_modulus(257)
        .security(Security::InsecureForResearchOnly)
        .build()
        .unwrap();
    assert_eq!((small.degree(), small.plain_modulus()), (128, 257));
    small.validate().unwrap();
    let error = nothing_fits(&Parameters::builder().depth(1).log2_degree(7).plain_modulus(257));
    assert_eq!(error.refusal, Some(Refusal::NotSecure));
    let error = nothing_fits(&Parameters::builder().depth(1).slots(100_000));
    assert!(error.relaxations.contains(&Relaxation::Slots(65536)), "{error}");
}

#[test]
fn a_refusal_says_what_would_fit() {
    let builder = Parameters::builder().depth(60).plain_bits(20).additions(3);
    let error = nothing_fits(&builder);
    assert!(error.bits_short.unwrap() > 0.0);
    let depth = error.relaxations.iter().find_map(|r| match r {
        Relaxation::Depth(depth) => Some(*depth),
        _ => None,
    });
    let depth = depth.unwrap();
    assert!(builder.clone().depth(depth).build().is_ok());
    assert!(builder.clone().depth(depth + 1).build().is_err());
    assert!(error.to_string().contains(&format!("depth {depth}")), "{error}");

    // At a fixed ring a smaller plaintext modulus or another ring helps.
    let builder = Parameters::builder().depth(1).plain_bits(50).log2_degree(12);
    let error = nothing_fits(&builder);
    assert!(error.relaxations.contains(&Relaxation::AnyDegree), "{error}");
    let bits = error.relaxations.iter().find_map(|r| match r {
        Relaxation::PlainBits(bits) => Some(*bits),
        _ => None,
    });
    assert!(builder.clone().plain_bits(bits.unwrap()).build().is_ok());
    assert!(builder.plain_bits(bits.unwrap() + 1).build().is_err());

    let error = nothing_fits(&Parameters::builder().depth(1).plain_modulus(257));
    assert!(matches!(error.refusal, Some(Refusal::Plain(PlainRefusal::NotBatchable { .. }))));
    assert!(error.relaxations.contains(&Relaxation::NoBatching), "{error}");

    let strict = Parameters::builder().depth(1).log2_degree(12).security(Security::Bits256);
    assert!(nothing_fits(&strict).relaxations.iter().any(|r| matches!(r, Relaxation::Security(_))));
}

#[test]
fn exactly_one_candidate_is_chosen_and_no_fitting_one_is_cheaper() {
    let requests = [
        Parameters::builder().depth(1).plain_range(BigUint::from(1_u32) << 120_u32),
        Parameters::builder().depth(3).plain_bits(17),
        Parameters::builder().depth(0).plain_bits(30).rotations(12).additions(4),
    ];
    for builder in requests {
        let explanation = builder.explain().unwrap();
        let chosen: Vec<_> = explanation.candidates.iter().filter(|c| c.verdict == Verdict::Chosen).collect();
        assert_eq!(chosen.len(), 1);
        let choice = explanation.chosen.as_ref().unwrap();
        assert_eq!(choice.bits_left.len(), explanation.request.depth + 1);
        assert!(*choice.bits_left.last().unwrap() >= f64::from(explanation.request.margin));
        for candidate in &explanation.candidates {
            match candidate.verdict {
                Verdict::Beaten { cost_ratio } => assert!(cost_ratio >= 1.0 && candidate.cost >= choice.cost),
                Verdict::Fits => panic!("a verdict is missing"),
                _ => {}
            }
        }
    }
}

#[test]
fn key_switching_is_chosen_by_cost_and_can_be_forced() {
    let deep = Parameters::builder().depth(12).plain_bits(17).rotations(3).log2_degree(15);
    let chosen = |key_switching| {
        let explanation = deep.clone().key_switching(key_switching).explain().unwrap();
        let choice = explanation.chosen.unwrap();
        choice.parameters.validate().unwrap();
        (
            choice.parameters.special_moduli().len(),
            choice.digits,
            choice.cost,
            choice.parameters.moduli().len(),
        )
    };
    let (special, digits, cost, limbs) = chosen(KeySwitching::Automatic);
    assert!(special > 0 && digits == limbs.div_ceil(special), "{special} {digits} {limbs}");
    let (special, digits, bv, limbs) = chosen(KeySwitching::Bv);
    assert_eq!((special, digits), (0, limbs));
    assert!(bv > 1.5 * cost);
    let (special, digits, hybrid, limbs) = chosen(KeySwitching::Hybrid(4));
    assert_eq!((special, digits), (limbs.div_ceil(4), 4));
    assert!(hybrid >= cost);
    let shallow = Parameters::builder().depth(3).key_switching(KeySwitching::Ghs).build_crt().unwrap();
    assert_eq!(shallow.special_moduli().len(), shallow.moduli().len());
    assert!(Parameters::builder().depth(1).build().unwrap().special_moduli().is_empty());
    let none = Parameters::builder().key_switching(KeySwitching::Hybrid(0)).build();
    assert!(matches!(none, Err(BfvError::Request { what: "hybrid", .. })));
    // More digits than moduli: as many moduli as digits, then.
    let many = Parameters::builder()
        .depth(1)
        .log2_degree(14)
        .key_switching(KeySwitching::Hybrid(6))
        .build()
        .unwrap();
    assert_eq!((many.moduli().len(), many.special_moduli().len()), (6, 1));
}

#[test]
fn special_moduli_that_are_given_are_kept_and_avoided() {
    let free = Parameters::builder().depth(2).log2_degree(14).build().unwrap();
    let special = free.moduli()[..1].to_vec();
    let key_switching = GadgetOptions { special_moduli: special.clone(), ..GadgetOptions::default() };
    let algorithms = Algorithms { key_switching, ..Algorithms::default() };
    let built = Parameters::builder().depth(2).log2_degree(14).algorithms(algorithms).build().unwrap();
    assert_eq!(built.special_moduli(), special);
    built.validate().unwrap();
}

#[test]
fn requests_travel_as_json() {
    let wide = PlainRequest::Range(BigUint::from(3_u32) << 200_u32);
    for plain in [PlainRequest::Bits(3), PlainRequest::Modulus(5), wide] {
        let request = Request { plain, key_switching: KeySwitching::Hybrid(3), ..Request::default() };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }
}
