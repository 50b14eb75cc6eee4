//! Operators on ciphertexts against the methods that they stand for: the same bits, noise, metadata and trace.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_ckks::LevelRange;
use sunzi_encoding::{BatchEncoder, Encoder as _};
use sunzi_rlwe::evaluator::Exact;
use sunzi_rlwe::operators::{Value, WithKeys};
use sunzi_rlwe::{
    Ciphertext, EvaluationKeys, Evaluator, Operate, OperateReals, OperatorError, PublicKey, RlweError,
    SecretKey, Security,
};

const RESEARCH: Security = Security::InsecureForResearchOnly;

/// Keys and two ciphertexts of a scheme.
struct Case<S: Operate> {
    evaluator: Evaluator<S>,
    secret: SecretKey,
    keys: EvaluationKeys,
    a: Ciphertext<S>,
    b: Ciphertext<S>,
    m: S::Plaintext,
}

fn same<S: Operate>(what: &str, got: Value<'_, S>, expected: &Ciphertext<S>) {
    let got = got.get().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(got.parts().len(), expected.parts().len(), "{what}");
    for (x, y) in got.parts().iter().zip(expected.parts()) {
        assert_eq!(x.words(), y.words(), "{what}");
    }
    assert_eq!(got.metadata(), expected.metadata(), "{what}");
    assert_eq!(got.noise(), expected.noise(), "{what}");
    assert_eq!(got.trace().steps(), expected.trace().steps(), "{what}");
}

/// Holds what every scheme has against its methods, with operands that are borrowed and owned.
fn common<S: Operate>(case: &Case<S>) {
    let Case { evaluator, keys, a, b, m, .. } = case;
    let with = evaluator.with(keys);
    let (x, y) = (with.bind(a), with.bind(b));
    let own = || with.bind_owned(a.clone());
    let key = keys.relinearization.as_ref().unwrap();
    let galois = keys.galois.as_ref().unwrap();
    let sum = evaluator.add(a, b).unwrap();
    for got in [&x + &y, own() + &y, &x + y.clone(), own() + y.clone()] {
        same("a + b", got, &sum);
    }
    let difference = evaluator.sub(a, b).unwrap();
    for got in [&x - &y, own() - &y, &x - y.clone(), own() - y.clone()] {
        same("a - b", got, &difference);
    }
    let product = S::multiply(evaluator, a, b, key).unwrap();
    for got in [&x * &y, own() * &y, &x * y.clone(), own() * y.clone()] {
        same("a * b", got, &product);
    }
    same("a * a", &x * &x, &S::square(evaluator, a, key).unwrap());
    let negative = evaluator.negate(a).unwrap();
    same("-a", -&x, &negative);
    same("-a, owned", -own(), &negative);
    let times = S::multiply_plain(evaluator, a, m).unwrap();
    same("a * m", x.times_plain(m, std::panic::Location::caller()), &times);
    let left = S::rotate(evaluator, a, 1, galois).unwrap();
    same("a << 1", &x << 1, &left);
    same("a >> -1, owned", own() >> -1, &left);
    same("a >> 1", &x >> 1, &S::rotate(evaluator, a, -1, galois).unwrap());
    same("a << 0", &x << 0, a);
    same("a >> i64::MIN", &x >> i64::MIN, a);
    // A chain, and a temporary on the left of each operator.
    let chain = evaluator.sub(&evaluator.add(&product, b).unwrap(), &left).unwrap();
    same("a * b + b - (a << 1)", &x * &y + &y - (&x << 1), &chain);
}

/// Checks what is refused: the first error stays, with the places of the operator and of its operands.
fn refused<S: Operate>(case: &Case<S>, is: fn(&S::Error) -> bool) {
    let Case { evaluator, keys, a, b, .. } = case;
    let with = evaluator.with(keys);
    let (x, y) = (with.bind(a), with.bind(b));
    let (failed, line) = (&x << 3, line!());
    let (kept, lines) = (-(&y + (&failed * &y)) + 1, line!() + 1);
    let error = kept.get().map(|_| ()).unwrap_err();
    assert_eq!((error.operation(), error.place().line()), ("a rotation", line));
    assert_eq!(error.operands().map(|place| place.line()).collect::<Vec<_>>(), [line - 1]);
    assert!(error.place().file().ends_with("operators.rs") && lines > line);
    let text = error.to_string();
    assert!(text.contains("a rotation by 3 slots") && text.contains(&format!(":{line}:")), "{text}");
    // The value that failed says the same, and its error cannot be taken out of the other.
    let Err(again) = failed.get() else { panic!("there is no key for three slots") };
    assert!(again.into_error().is_err());
    assert!(error.into_error().is_ok());

    let none = EvaluationKeys::default();
    let bare: WithKeys<'_, S> = evaluator.with(&none);
    let (x, y) = (bare.bind(a), bare.bind(b));
    let missing: OperatorError<S::Error> = (&x * &y).get().map(|_| ()).unwrap_err();
    assert_eq!((missing.operation(), missing.operands().count()), ("a product", 2));
    assert!(is(missing.error()), "{missing}");
    let unrotated = (&x << 1).get().map(|_| ()).unwrap_err().to_string();
    assert!(unrotated.contains("there are keys for: none"), "{unrotated}");
    assert!((&x + &y).get().is_ok());
}

/// Holds operators with integers and plaintexts of the exact schemes against their methods.
fn exact<S: Operate + Exact>(case: &Case<S>) {
    let Case { evaluator, secret, keys, a, m, .. } = case;
    let with = evaluator.with(keys);
    let x = with.bind(a);
    let own = || with.bind_owned(a.clone());
    let plus = evaluator.add_plain(a, m).unwrap();
    same("a + m", &x + m, &plus);
    same("a + m, owned", own() + m, &plus);
    let minus = evaluator.sub_plain(a, m).unwrap();
    same("a - m", &x - m, &minus);
    same("a - m, owned", own() - m, &minus);
    let times = evaluator.multiply_plain(a, m).unwrap();
    same("a * m", &x * m, &times);
    same("a * m, owned", own() * m, &times);
    let raised = evaluator.add_scalar(a, -3).unwrap();
    for got in [&x + -3, own() + -3, -3 + &x, -3 + own(), &x - 3, own() - 3] {
        same("a - 3", got, &raised);
    }
    let scaled = evaluator.multiply_scalar(a, -2).unwrap();
    for got in [&x * -2, own() * -2, -2 * &x, -2 * own()] {
        same("a * -2", got, &scaled);
    }
    let from = evaluator.add_scalar(&evaluator.negate(a).unwrap(), 5).unwrap();
    same("5 - a", 5 - &x, &from);
    same("5 - a, owned", 5 - own(), &from);
    // The ends of the integers, by what decrypts.
    let context = evaluator.context();
    let t = S::plain_modulus(context);
    let before = S::decrypt(context, a, secret).unwrap();
    for c in [i64::MIN, i64::MAX] {
        let after = S::decrypt(context, &(&x - c).get().unwrap(), secret).unwrap();
        let expected = (i128::from(before.coefficients()[0]) - i128::from(c)).rem_euclid(t.into());
        assert_eq!(i128::from(after.coefficients()[0]), expected);
    }
}

/// Holds operators with numbers of CKKS against their methods.
fn reals(case: &Case<sunzi_ckks::Ckks>) {
    let Case { evaluator, keys, a, m, .. } = case;
    let methods = sunzi_ckks::Evaluator::new(evaluator.context());
    let with = evaluator.with(keys);
    let x = with.bind(a);
    let own = || with.bind_owned(a.clone());
    same("a + m", &x + m, &methods.add_plain(a, m).unwrap());
    same("a + m, owned", own() + m, &methods.add_plain(a, m).unwrap());
    same("a - m", &x - m, &methods.sub_plain(a, m).unwrap());
    same("a * m", &x * m, &methods.multiply_plain(a, m).unwrap());
    same("a * m, owned", own() * m, &methods.multiply_plain(a, m).unwrap());
    let raised = methods.add_constant(a, -0.25).unwrap();
    for got in [&x + -0.25, own() + -0.25, -0.25 + &x, &x - 0.25, own() - 0.25] {
        same("a - 0.25", got, &raised);
    }
    let scaled = methods.multiply_constant(a, 0.3).unwrap();
    for got in [&x * 0.3, own() * 0.3, 0.3 * &x, 0.3 * own()] {
        same("a * 0.3", got, &scaled);
    }
    same("0.5 - a", 0.5 - &x, &methods.add_constant(&methods.negate(a).unwrap(), 0.5).unwrap());
    same("a + 1", &x + 1, &methods.add_constant(a, 1.0).unwrap());
    same("3 * a", 3 * &x, &methods.multiply_integer(a, 3).unwrap());
    // Levels are brought together, and refused where none is left.
    let (square, lower) = (methods.square(a, keys.relinearization.as_ref().unwrap()).unwrap(), &x * &x);
    same("a * a + a", lower + &x, &methods.add(&square, a).unwrap());
    let spent = (&x * 0.5 * 0.5 * 0.5).get().map(|_| ()).unwrap_err();
    assert!(matches!(spent.error(), sunzi_ckks::CkksError::LevelExhausted { .. }), "{spent}");
    let unreal = sunzi_ckks::Ckks::add_real(evaluator, std::borrow::Cow::Borrowed(a), f64::NAN);
    assert!(unreal.is_err());
}

fn bfv() -> Case<sunzi_bfv::Bfv> {
    let parameters = sunzi_bfv::Parameters::builder().depth(1).plain_modulus(257).log2_degree(7);
    let context = sunzi_bfv::Context::new(&parameters.security(RESEARCH).build().unwrap()).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let keys = context.evaluation_keys(&secret, [1, -1], &mut rng).unwrap();
    let encoder = BatchEncoder::new(context.degree(), 257).unwrap();
    let m = encoder.encode(&[3, 1, 4]).unwrap();
    let mut encrypt =
        |slots: &[u64]| context.encrypt(&encoder.encode(slots).unwrap(), &public, &mut rng).unwrap();
    let (a, b) = (encrypt(&[1, 2, 3]), encrypt(&[5, 7, 11]));
    Case { evaluator: Evaluator::new(&context), secret, keys, a, b, m }
}

fn bgv() -> Case<sunzi_bgv::Bgv> {
    let parameters = sunzi_bgv::Parameters::builder().depth(2).plain_modulus(257).log2_degree(7);
    let parameters = parameters.fresh_additions(8).fresh_rotations(4).fresh_plain_products(2);
    let parameters = parameters.additions_per_level(8).rotations_per_level(4).plain_products_per_level(2);
    let context = sunzi_bgv::Context::new(&parameters.security(RESEARCH).build().unwrap()).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let keys = context.evaluation_keys(&secret, [1, -1], &mut rng).unwrap();
    let encoder = BatchEncoder::new(context.degree(), 257).unwrap();
    let m = encoder.encode(&[3, 1, 4]).unwrap();
    let mut encrypt =
        |slots: &[u64]| context.encrypt(&encoder.encode(slots).unwrap(), &public, &mut rng).unwrap();
    let (a, b) = (encrypt(&[1, 2, 3]), encrypt(&[5, 7, 11]));
    Case { evaluator: Evaluator::new(&context), secret, keys, a, b, m }
}

fn ckks() -> Case<sunzi_ckks::Ckks> {
    let ranges = [LevelRange { levels: 2, scale_bits: 40 }];
    let parameters = sunzi_ckks::Parameters::from_ranges(7, 50, &ranges, RESEARCH).unwrap();
    let context = sunzi_ckks::Context::new(&parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let keys = context.evaluation_keys(&secret, [1, -1], &mut rng).unwrap();
    let encoder = sunzi_ckks::Encoder::new(&context, 16).unwrap();
    let m = encoder.encode_real(&[0.5, -0.25]).unwrap();
    let mut encrypt =
        |slots: &[f64]| context.encrypt(&encoder.encode_real(slots).unwrap(), &public, &mut rng).unwrap();
    let (a, b) = (encrypt(&[0.5, -0.75]), encrypt(&[0.25, 1.0]));
    Case { evaluator: Evaluator::new(&context), secret, keys, a, b, m }
}

#[test]
fn operators_of_bfv_are_its_methods() {
    let case = bfv();
    common(&case);
    exact(&case);
    refused(&case, |got| matches!(got, sunzi_bfv::BfvError::Rlwe(RlweError::MissingRelinearizationKey)));
}

#[test]
fn operators_of_bgv_are_its_methods() {
    let case = bgv();
    common(&case);
    exact(&case);
    refused(&case, |got| matches!(got, sunzi_bgv::BgvError::Rlwe(RlweError::MissingRelinearizationKey)));
}

#[test]
fn operators_of_ckks_are_its_methods() {
    let case = ckks();
    common(&case);
    reals(&case);
    refused(&case, |got| matches!(got, sunzi_ckks::CkksError::Rlwe(RlweError::MissingRelinearizationKey)));
}
