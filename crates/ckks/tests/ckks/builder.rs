//! Tests that CKKS parameters built for a request are secure, and as precise as asked.

use num_complex::Complex64;
use sunzi_ckks::{CkksError, LevelRange, Parameters, ParametersBuilder, Refusal, Verdict};
use sunzi_math::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND};
use sunzi_rlwe::chains::WIDE_WORD_BITS;
use sunzi_rlwe::switch_cost::SwitchCost;
use sunzi_rlwe::{SecretDistribution, Security};

use crate::common::{Party, map, rotated};

/// Measures the precision after the worst computation of a request: numbers of absolute value 1, squared and rotated
/// until no level is left.
fn measured(parameters: &Parameters) -> f64 {
    let mut party = Party::new(parameters, parameters.max_slots());
    let mut values: Vec<Complex64> =
        (0..parameters.max_slots()).map(|i| Complex64::from_polar(1.0, i as f64)).collect();
    let mut power = party.encrypt(&values);
    for _ in 0..parameters.depth() {
        power = party.evaluator.square(&power, &party.relinearization).unwrap();
        power = party.evaluator.rotate(&power, 1, &party.rotations).unwrap();
        values = rotated(&map(&values, |x| x * x), 1);
    }
    -party.error(&power, &values).log2()
}

#[test]
fn results_are_as_precise_as_asked() {
    for (log2_degree, depth, precision) in [(10, 1, 20), (11, 3, 15), (10, 6, 25), (10, 2, 38), (11, 0, 12)] {
        let explanation = Parameters::builder()
            .depth(depth)
            .precision(precision)
            .log2_degree(log2_degree)
            .security(Security::InsecureForResearchOnly)
            .explain()
            .unwrap();
        let [candidate] = &explanation.candidates[..] else { panic!("one degree, one candidate") };
        let got = measured(explanation.chosen.as_ref().unwrap());
        let asked = f64::from(precision);
        assert!(candidate.precision >= asked && got >= asked, "{got} bits\n{explanation}");
        // Neither the estimate nor the scale is wasteful: one bit more of scale is one of precision, from 2^25 on.
        assert!(got - candidate.precision < 1.5, "{got} bits\n{explanation}");
        assert!(candidate.scale_bits == 25 || candidate.precision < asked + 1.5, "{explanation}");
    }
}

fn of(depth: usize, precision: u32) -> ParametersBuilder {
    Parameters::builder().depth(depth).precision(precision)
}

#[test]
fn what_is_chosen_is_secure_and_holds_what_was_asked() {
    for builder in [
        of(1, 10),
        of(4, 20),
        of(8, 20).slots(5000),
        of(3, 25).message_bits(2),
        of(20, 20),
        of(5, 30).result_bits(20),
        of(10, 15).secrets(SecretDistribution::FixedWeight(192)),
        of(3, 20).security(Security::Bits256),
    ] {
        let explanation = builder.explain().unwrap();
        println!("{explanation}\n");
        let parameters = explanation.chosen.as_ref().unwrap();
        parameters.validate().unwrap();
        let request = builder.request();
        assert_ne!(parameters.security(), Security::InsecureForResearchOnly);
        assert_eq!(parameters.depth(), request.depth);
        assert!(parameters.max_slots() >= request.slots);
        let room = sunzi_math::log2(&parameters.modulus(0)) - 1.0 - parameters.scales()[0].log2();
        assert!(room >= f64::from(request.result_bits.unwrap_or(request.message_bits)) - 0.1, "{room}");
        assert!(explanation.to_string().contains("chosen: the smallest ring that fits"));
    }
}

/// The cost of key switches at all levels.
fn cost(parameters: &Parameters) -> f64 {
    let limbs = (0..=parameters.depth()).map(|level| parameters.limbs(level));
    SwitchCost::sum(parameters.key_switching(), parameters.moduli(), limbs, parameters.degree()).unwrap()
}

/// Whether levels that are sets of moduli cost 5 % less in key switches than levels of their own primes, which are more
/// but shorter.
fn sets_are_worth_it(chosen: &Parameters, depth: usize, scale_bits: u32) -> bool {
    assert!(chosen.rungs().is_empty());
    let first_bits = sunzi_math::log2(&chosen.modulus(0)).round() as u32;
    let ranges = [LevelRange { levels: depth, scale_bits }];
    let (log2_degree, security) = (chosen.log2_degree(), chosen.security());
    let sets = Parameters::from_ranges_rational(log2_degree, first_bits, &ranges, security).unwrap();
    let least = (1..=sets.moduli().len()).map(|digits| cost(&sets.clone().with_digits(digits).unwrap()));
    least.fold(f64::INFINITY, f64::min) < 0.95 * cost(chosen)
}

/// Tests that no other scale costs less at the precision asked for, also where the least one needs more digits.
#[test]
fn no_other_scale_costs_less() {
    let mut compared = 0;
    for (depth, precision) in [(9, 10), (8, 10), (5, 35), (4, 20), (7, 15), (13, 25)] {
        let explanation = of(depth, precision).explain().unwrap();
        let (chosen, at) = (explanation.chosen.as_ref().unwrap(), explanation.candidates.last().unwrap());
        for scale_bits in at.scale_bits - 2..=at.scale_bits + 4 {
            let at_scale = of(depth, precision).log2_degree(at.log2_degree).scale_bits(scale_bits);
            let Ok(other) = at_scale.build() else { continue };
            if other.predicted_precision().unwrap() >= f64::from(precision) {
                assert!(cost(&other) >= cost(chosen), "scale 2^{scale_bits} costs less\n{explanation}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 12, "{compared} scales were compared");
}

/// Tests that wide moduli are chosen where they save one: with scales of 48 bits 3 + 1 moduli for 4 + 2.
#[test]
fn wide_moduli_save_one() {
    for (depth, precision, shape) in [(2, 30, (13, 3, 1)), (0, 35, (12, 1, 1))] {
        let chosen = of(depth, precision).build().unwrap();
        let special = &chosen.key_switching().special_moduli;
        assert_eq!((chosen.log2_degree(), chosen.moduli().len(), special.len()), shape);
        let all = || chosen.moduli().iter().chain(special);
        assert!(all().any(|&q| q >= DEFAULT_PRIME_BOUND) && all().all(|&q| q < WIDE_PRIME_BOUND));
    }
}

/// Tests every scale at large rings, also scales of which there are too few primes: levels hold their bits in few
/// limbs, at canonical scales near the target.
#[test]
fn every_scale_has_limbs_for_its_bits() {
    for (log2_degree, depth, scales) in
        [(14, 8, 25..=60), (16, 26, 44..=60), (17, 20, 25..=30), (17, 40, 46..=60)]
    {
        for bits in scales {
            let builder = Parameters::builder().depth(depth).log2_degree(log2_degree).scale_bits(bits);
            let explanation = builder.security(Security::InsecureForResearchOnly).explain().unwrap();
            let Some(parameters) = &explanation.chosen else { panic!("{explanation}") };
            parameters.validate().unwrap();
            let candidate = explanation.candidates.last().unwrap();
            assert_eq!(candidate.limbs, parameters.moduli().len());
            let mut more = 0;
            for (level, scale) in parameters.scales().iter().enumerate() {
                assert!((scale.log2() - f64::from(bits)).abs() <= 0.25, "{explanation}\n{scale} at {level}");
                let whole = sunzi_math::log2(&parameters.modulus(level));
                more += parameters.limbs(level).len() - (whole / WIDE_WORD_BITS).ceil() as usize;
            }
            println!("2^{log2_degree}, {bits} bits: {candidate}; {more} in {depth} levels");
            let few = candidate.limbs <= candidate.least_limbs * 5 / 4 + 2;
            assert!(few || !sets_are_worth_it(parameters, depth, bits), "{explanation}");
        }
    }
}

#[test]
fn what_cannot_be_had_is_refused_with_a_remedy() {
    let error = of(100, 30).build().unwrap_err();
    let CkksError::NothingFits(nothing) = &error else { panic!("{error}") };
    let depth = nothing.depth.unwrap();
    assert!(error.to_string().contains(&format!("depth {depth}, and bootstrapping")), "{error}");
    assert!(of(depth, 30).build().is_ok() && of(depth + 1, 30).build().is_err());
    let explanation = of(1, 45).log2_degree(16).explain().unwrap();
    assert!(matches!(explanation.candidates[0].verdict, Verdict::Refused(Refusal::TooPrecise { .. })));
    let explanation = of(1, 20).log2_degree(12).slots(4096).explain().unwrap();
    assert!(matches!(explanation.candidates[0].verdict, Verdict::Refused(Refusal::TooFewSlots { .. })));
    for builder in [
        of(101, 20),
        of(1, 0),
        of(1, 46),
        of(1, 20).scale_bits(24),
        of(1, 20).scale_bits(61),
        of(1, 20).message_bits(21),
        of(1, 20).message_bits(5).result_bits(4),
        of(1, 20).log2_degree(18),
        of(1, 20).digits(0),
    ] {
        assert!(matches!(builder.build(), Err(CkksError::Request { .. })));
    }
}
