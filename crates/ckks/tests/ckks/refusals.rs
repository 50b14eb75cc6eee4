//! Tests that CKKS refuses operands that do not fit by typed errors that say what to do.

use num_complex::Complex64;
use sunzi_ckks::{CkksError, Encoder, LevelRange, Parameters, ScaleRange};
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::{RelinearizationKey, RlweError, SecretKey, Security};

use crate::common::{Party, parameters};

fn party() -> Party {
    Party::new(&parameters(10, 40, 2, 2), 512)
}

fn text<T>(result: Result<T, CkksError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn scales_that_differ_do_not_add() {
    let mut party = party();
    let x = party.numbers();
    let (a, e) = (party.encrypt(&x), party.evaluator.clone());
    let odd = party.encoder.encode_at(&x, 2, 41_f64.exp2()).unwrap();
    let b = party.context.encrypt(&odd, &party.public, &mut party.rng).unwrap();
    for result in [e.add(&a, &b), e.sub(&a, &b), e.add_plain(&a, &odd)] {
        assert!(matches!(result, Err(CkksError::ScaleMismatch { .. })), "{result:?}", result = text(result));
    }
    assert!(text(e.add(&a, &b)).contains("set_scale"));
    // The remedy that the error names works.
    let mended = e.set_scale(&b, 1, party.context.scale(1).unwrap()).unwrap();
    e.add(&a, &mended).unwrap();
    let tiny = e.set_scale(&b, 1, 2.0);
    assert!(matches!(tiny, Err(CkksError::ScaleMismatch { .. })));
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(e.set_scale(&b, 1, scale).is_err());
        assert!(e.multiply_constant_unscaled(&a, 0.5, scale).is_err());
    }
}

#[test]
fn linear_combinations_fit_and_change_nothing_otherwise() {
    let mut party = party();
    let x = party.numbers();
    let (mut a, e) = (party.encrypt(&x), party.evaluator.clone());
    let (level, scale) = (a.metadata().level, a.metadata().scale);
    let low = e.drop_to(&a, 0).unwrap();
    let before = a.clone();
    let refused = [
        e.linear_combination(&[], level, scale).map(drop),
        e.linear_combination(&[(1.0, &low)], level, scale).map(drop),
        e.linear_combination(&[(1.0, &before)], level, scale / 8.0).map(drop),
        e.linear_combination(&[(f64::NAN, &before)], level, scale).map(drop),
        e.linear_combination(&[(1.0, &before)], level, f64::INFINITY).map(drop),
        e.add_linear_combination_assign(&mut a, &[(1.0, &before), (1.0, &low)]),
        e.add_linear_combination_assign(&mut a, &[(f64::MAX, &before)]),
        e.add_linear_combination_assign(&mut a, &[(1.0, &e.multiply_unscaled(&before, &before).unwrap())]),
        e.add_constant_assign(&mut a, f64::NAN),
        e.add_constant_assign(&mut a, 1e60),
        e.multiply_unscaled_at(&before, &low, 1, level).map(drop),
    ];
    for (i, result) in refused.iter().enumerate() {
        assert!(result.is_err(), "{i}");
    }
    assert_eq!(a.metadata(), before.metadata());
    party.check(&a, &x, "unchanged");
}

#[test]
fn levels_end() {
    let mut party = party();
    let x = party.numbers();
    let (a, e) = (party.encrypt(&x), party.evaluator.clone());
    let plain = party.encoder.encode(&x).unwrap();
    let low = e.drop_to(&a, 0).unwrap();
    let exhausted = [
        e.multiply(&low, &a, &party.relinearization),
        e.square(&low, &party.relinearization),
        e.multiply_plain(&low, &plain),
        e.multiply_constant(&low, 0.5),
        e.rescale(&low),
        e.relinearize_rescale(&low, &party.relinearization),
    ];
    for result in exhausted {
        assert!(matches!(result, Err(CkksError::LevelExhausted { needed: 1, level: 0, .. })));
        assert!(text(result).contains("bootstrap"));
    }
    assert!(matches!(e.drop_to(&low, 1), Err(CkksError::LevelTooLow { got: 0, wanted: 1, .. })));
    assert!(matches!(e.level_to(&low, 2), Err(CkksError::LevelTooLow { .. })));
    assert!(matches!(e.level_to(&a, 3), Err(CkksError::NoSuchLevel { level: 3, depth: 2 })));
    assert!(matches!(e.multiply_unscaled(&a, &low), Err(CkksError::LevelTooLow { .. })));
    let lower = party.encoder.encode_at(&x, 1, party.context.scale(1).unwrap()).unwrap();
    assert!(matches!(e.add_plain(&a, &lower), Err(CkksError::LevelTooLow { .. })));
    assert!(party.encoder.encode_at(&x, 9, 1e6).is_err());
}

#[test]
fn keys_that_are_missing_or_foreign_are_named() {
    let mut party = party();
    let x = party.numbers();
    let (a, e) = (party.encrypt(&x), party.evaluator.clone());
    let missing = text(e.rotate(&a, 7, &party.rotations));
    assert!(missing.contains("a rotation by 7 slots") && missing.contains("rotation_keys"), "{missing}");
    assert!(missing.contains("the conjugation") && missing.contains("−1 slot"), "{missing}");
    assert!(matches!(
        e.hoist(&a).unwrap().rotate(7, &party.rotations),
        Err(CkksError::MissingRotation { .. })
    ));
    let stranger = SecretKey::generate(party.context.rlwe(), &mut party.rng).unwrap();
    let foreign = RelinearizationKey::generate(party.context.rlwe(), &stranger, &mut party.rng).unwrap();
    assert!(matches!(e.multiply(&a, &a, &foreign), Err(CkksError::Rlwe(RlweError::KeyMismatch { .. }))));
    assert!(party.context.decrypt(&a, &stranger).is_err());
    let three = e.multiply_unscaled(&a, &a).unwrap();
    for result in [e.rotate(&three, 1, &party.rotations), e.multiply(&three, &a, &party.relinearization)] {
        assert!(text(result).contains("relinearize"));
    }
}

#[test]
fn ciphertexts_of_other_contexts_are_refused() {
    let mut party = party();
    let mut other = Party::new(&parameters(10, 41, 2, 2), 512);
    let mut larger = Party::new(&parameters(11, 40, 2, 2), 512);
    let x = party.numbers();
    for foreign in [other.encrypt(&x), larger.encrypt(&x)] {
        assert!(party.evaluator.negate(&foreign).is_err());
        assert!(party.evaluator.rescale(&foreign).is_err());
        assert!(party.context.decrypt(&foreign, &party.secret).is_err());
    }
    let foreign = other.encoder.encode(&x).unwrap();
    let own = party.encrypt(&x);
    assert!(party.evaluator.add_plain(&own, &foreign).is_err());
    assert!(party.encoder.decode(&foreign).is_err());
}

#[test]
fn messages_must_fit() {
    let mut party = party();
    let large = vec![Complex64::new(0.9, 0.9); 512];
    let plain = party.encoder.encode(&large).unwrap();
    let refused = party.context.encrypt(&plain, &party.public, &mut party.rng);
    assert!(matches!(refused, Err(CkksError::MessageBound { .. })));
    assert!(text(refused).contains("message_bits"));
    for k in 0..400 {
        let edge = vec![Complex64::from_polar(1.0, 0.01 * f64::from(k)); 512];
        let plain = party.encoder.encode(&edge).unwrap();
        party.context.encrypt_secret(&plain, &party.secret, &mut party.rng).unwrap();
    }
    let x = party.numbers();
    let (a, e) = (party.encrypt(&x), party.evaluator.clone());
    // The scale takes 2^40 of 2^47: slots of 2^6 fit.
    let low = e.drop_to(&a, 0).unwrap();
    e.multiply_integer(&low, 60).unwrap();
    let refused = e.multiply_integer(&low, 1000);
    assert!(matches!(refused, Err(CkksError::MessageTooLarge { level: 0, .. })));
    assert!(text(refused).contains("with_magnitude"));
    let known = e.with_magnitude(&low, 0.01).unwrap();
    assert_eq!(known.trace().to_string(), low.trace().to_string());
    assert!(matches!(e.with_magnitude(&low, 1e3), Err(CkksError::MessageTooLarge { .. })));
    e.multiply_integer(&known, 1000).unwrap();
    for magnitude in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(e.with_magnitude(&a, magnitude).is_err());
    }
    for constant in [f64::NAN, f64::INFINITY, 1e300] {
        assert!(e.add_constant(&low, constant).is_err());
        assert!(e.multiply_constant(&a, constant).is_err());
    }
    assert!(party.encoder.encode_at(&x, 0, 60_f64.exp2()).is_err());
    for slots in [0, 3, 1024] {
        assert!(Encoder::new(&party.context, slots).is_err());
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let good = parameters(10, 40, 2, 2);
    good.validate().unwrap();
    let text = serde_json::to_string(&good).unwrap();
    assert!(serde_json::from_str::<Parameters>(&text).is_err(), "no security");
    assert_eq!(accepting_insecure(|| serde_json::from_str::<Parameters>(&text)).unwrap(), good);
    let insecure = Security::InsecureForResearchOnly;
    let new = |levels: Vec<usize>, bits| Parameters::new(10, good.moduli().to_vec(), levels, bits, insecure);
    for levels in [vec![], vec![0, 1, 3], vec![1, 1, 3], vec![2, 1, 3], vec![1, 2], vec![1, 2, 4]] {
        assert!(matches!(new(levels, 40).validate(), Err(CkksError::LevelsUnusable { .. })));
    }
    for bits in [9, 30, 50, 121, u32::MAX] {
        assert!(
            matches!(new(vec![1, 2, 3], bits).validate(), Err(CkksError::ScaleUnusable { .. })),
            "{bits}"
        );
    }
    let no_top = good.clone().with_scales(vec![ScaleRange { top: 1, bits: 40 }]);
    assert!(matches!(no_top.validate(), Err(CkksError::ScaleUnusable { level: 2, .. })));
    assert!(good.clone().with_message_bits(7).validate().is_err());
    let secure =
        Parameters::from_ranges(10, 48, &[LevelRange { levels: 2, scale_bits: 40 }], Security::Bits128);
    assert!(matches!(secure.unwrap().validate(), Err(CkksError::Rlwe(RlweError::Insecure { .. }))));
    for digits in [0, 4, usize::MAX] {
        assert!(good.clone().with_digits(digits).is_err());
    }
    for log2_degree in [0, 5, 18, u32::MAX] {
        assert!(Parameters::from_ranges(log2_degree, 48, &[], insecure).is_err());
        assert!(
            Parameters::new(log2_degree, good.moduli().to_vec(), vec![1, 2, 3], 40, insecure)
                .validate()
                .is_err()
        );
    }
}
