//! Tests that a rehearsal reports what real ciphertexts have.
use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_circuits::polynomial::{Method, Polynomial, evaluate};
use sunzi_circuits::series::Series;
use sunzi_circuits::{Arithmetic, EvaluationKeys, Rotation};
use sunzi_encoding::{BatchEncoder, Encoder as _};
use sunzi_program::ProgramError;
use sunzi_program::analysis::Parameters;
use sunzi_program::tape::{Clear, Rehearsal, Step, Tape, Wanted};
use sunzi_rlwe::{PublicKey, SecretKey, Security};

const SECURITY: Security = Security::InsecureForResearchOnly;
const PERIOD: usize = 8;

/// Returns a tape of x·x + m, rotated, summed with a product of two numbers, and a polynomial of the sum.
fn tape(real: bool) -> (Tape, [usize; 6]) {
    let mut tape = Tape::new(real);
    let m = if real {
        Clear::Complex((0..PERIOD).map(|i| (i as f64 / 8.0).into()).collect())
    } else {
        Clear::Integers((0..PERIOD as i64).collect())
    };
    let mut push = |step| tape.push(step).unwrap();
    let x = push(Step::Input(vec![(1.0, PERIOD)]));
    let square = push(Step::Multiply(x, x));
    let shifted = push(Step::AddPlain(square, m.clone(), PERIOD));
    let rotated = push(Step::Rotate(shifted, 1));
    let masked = push(Step::PlainProducts(vec![(shifted, m.clone()), (rotated, m)], PERIOD));
    let last = push(if real {
        Step::Series(masked, Series::power(vec![0.5, 0.0, 0.25]).unwrap())
    } else {
        Step::Polynomial(masked, vec![1, 0, 3])
    });
    tape.output(last, PERIOD).unwrap();
    (tape, [x, square, shifted, rotated, masked, last])
}

fn played(tape: &Tape, parameters: &Parameters) -> Rehearsal {
    let rehearsal = tape.rehearse(parameters).unwrap();
    assert!(rehearsal.failed.is_none(), "{:?}", rehearsal.failed);
    rehearsal
}

#[test]
fn bfv() {
    let builder = sunzi_bfv::Parameters::builder().depth(3).plain_bits(20).security(SECURITY).log2_degree(10);
    let own = builder.build().unwrap();
    let (tape, places) = tape(false);
    let rehearsal = played(&tape, &Parameters::Bfv(CrtParameters::from(own.clone())));
    let context = sunzi_bfv::Context::new(&own).unwrap();
    let rng = &mut ChaCha20Rng::seed_from_u64(3);
    let secret = SecretKey::generate(context.rlwe(), rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, rng).unwrap();
    let keys = EvaluationKeys::generate(context.rlwe(), &secret, [Rotation::Rows(1)], rng).unwrap();
    assert_eq!(rehearsal.key_bytes, keys.byte_len());
    let encoder = BatchEncoder::new(context.degree(), own.plain_modulus()).unwrap();
    let values: Vec<u64> = (0..1024).map(|i| i % PERIOD as u64).collect();
    let m = encoder.encode(&values).unwrap();
    let e = sunzi_bfv::Evaluator::new(&context);
    let x = context.encrypt(&m, &public, rng).unwrap();
    let square = Arithmetic::square(&e, &x, &keys).unwrap();
    let shifted = Arithmetic::add_plain(&e, &square, &m).unwrap();
    let rotated = Arithmetic::rotate(&e, &shifted, Rotation::Rows(1), &keys).unwrap();
    let products = [&shifted, &rotated].map(|a| Arithmetic::multiply_plain(&e, a, &m).unwrap());
    let masked = Arithmetic::add(&e, &products[0], &products[1]).unwrap();
    let last = evaluate(&e, &Polynomial::constants(&[1, 0, 3]), &masked, Method::Automatic, &keys).unwrap();
    for (place, a) in places.into_iter().zip([&x, &square, &shifted, &rotated, &masked, &last]) {
        let (report, bits) = (rehearsal.reports[place], context.bits_left(a.noise()));
        assert!((report.bits_left - bits).abs() < 1e-9, "step {place}: {} for {bits}", report.bits_left);
        assert_eq!(report.bytes, a.parts().iter().map(|part| size_of_val(part.words())).sum::<usize>());
    }
    assert!(rehearsal.peak_bytes >= 3 * rehearsal.reports[0].bytes);
}

#[test]
fn ckks() {
    let builder = sunzi_ckks::Parameters::builder().depth(4).precision(20).security(SECURITY).log2_degree(10);
    let own = builder.result_bits(12).build().unwrap();
    let (tape, places) = tape(true);
    assert_eq!(tape.depth(), 4);
    let rehearsal = played(&tape, &Parameters::Ckks(own.clone()));
    let context = sunzi_ckks::Context::new(&own).unwrap();
    let rng = &mut ChaCha20Rng::seed_from_u64(3);
    let secret = SecretKey::generate(context.rlwe(), rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, rng).unwrap();
    let exponent = sunzi_ckks::rotation::rotation_exponent(1, 2048);
    let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, [exponent], rng).unwrap();
    let (relinearization, galois) = (keys.relinearization.as_ref().unwrap(), keys.galois.as_ref().unwrap());
    let encoder = sunzi_ckks::Encoder::new(&context, PERIOD).unwrap();
    let values: Vec<f64> = (0..PERIOD).map(|i| i as f64 / 8.0).collect();
    let at = |level: usize, scale: f64| encoder.encode_real_at(&values, level, scale).unwrap();
    let e = sunzi_ckks::Evaluator::new(&context);
    let x = context.encrypt(&encoder.encode_real(&[]).unwrap(), &public, rng).unwrap();
    let square = e.multiply(&x, &x, relinearization).unwrap();
    let (level, scale) = (square.metadata().level, square.metadata().scale);
    let shifted = e.add_plain(&square, &at(level, scale)).unwrap();
    let rotated = e.rotate(&shifted, 1, galois).unwrap();
    let m = at(level, context.scale(level).unwrap());
    let products = [&shifted, &rotated].map(|a| e.multiply_plain_unscaled(a, &m).unwrap());
    let masked = e.rescale(&e.add(&products[0], &products[1]).unwrap()).unwrap();
    let series = Series::power(vec![0.5, 0.0, 0.25]).unwrap();
    let last = sunzi_circuits::series::evaluate(&e, &series, &masked, relinearization).unwrap();
    for (place, a) in places.into_iter().zip([&x, &square, &shifted, &rotated, &masked, &last]) {
        let (report, metadata) = (rehearsal.reports[place], a.metadata());
        assert_eq!(report.level, Some(metadata.level));
        assert_eq!(report.magnitude, Some(metadata.precision.magnitude()));
        let (said, bits) = (report.precision.unwrap(), metadata.precision.bits());
        assert!((said - bits).abs() < 1e-9, "step {place}: {said} for {bits}");
    }
}

#[test]
fn what_a_run_refuses_is_refused() {
    let (tape, _) = tape(true);
    let own = sunzi_ckks::Parameters::builder().depth(2).security(SECURITY).log2_degree(10).build().unwrap();
    let failed = tape.rehearse(&Parameters::Ckks(own)).unwrap().failed.unwrap();
    assert_eq!(failed.step, 5);
    assert!(failed.to_string().contains("level"), "{failed}");
}

#[test]
fn the_choice_is_secure_and_enough() {
    for real in [false, true] {
        let (tape, _) = tape(real);
        let wanted = Wanted { log2_degree: 14, ..Wanted::default() };
        let choice = tape.choose(&wanted).unwrap();
        assert!(choice.rehearsal.bits_left(&tape) >= if real { 0.0 } else { 2.0 });
        assert!(!real || choice.rehearsal.precision(&tape) >= 20.0);
        match &choice.parameters {
            Parameters::Bfv(parameters) => parameters.validate().unwrap(),
            Parameters::Ckks(parameters) => parameters.validate().unwrap(),
            _ => panic!("never chosen"),
        }
        assert_eq!(choice.reasons.len(), 2);
        // A ring that is too small says which step it is.
        let small = tape.choose(&Wanted { log2_degree: 11, ..Wanted::default() });
        assert!(matches!(small, Err(ProgramError::Refused(_) | ProgramError::Scheme(_))));
    }
}

#[test]
fn exact_results_are_bounded_slot_by_slot() {
    let mut tape = Tape::new(false);
    let x = tape.push(Step::Input(vec![(3.0, 1), (0.0, 2), (1.0, 1)])).unwrap();
    let rotated = tape.push(Step::Rotate(x, 1)).unwrap();
    let sum = tape.push(Step::Add(x, rotated)).unwrap();
    let mask = Clear::Integers(vec![1]);
    let masked = tape.push(Step::PlainProducts(vec![(sum, mask)], 4)).unwrap();
    let cube = tape.push(Step::Polynomial(masked, vec![0, 0, 0, -1])).unwrap();
    tape.output(cube, 4).unwrap();
    assert_eq!(tape.largest(1024), 27.0);
    // Of all slots 4, but only the first comes out.
    let mut tape = Tape::new(false);
    let x = tape.push(Step::Input(vec![(3.0, 1), (0.0, 2), (4.0, 1)])).unwrap();
    let swapped = tape.push(Step::Swap(x)).unwrap();
    let twice = tape.push(Step::Integer(swapped, -2)).unwrap();
    tape.output(twice, 1).unwrap();
    assert_eq!((tape.largest(1024), tape.largest(2)), (6.0, 4.0));
    for runs in [vec![], vec![(1.0, 0)], vec![(1.0, 1 << 18)], vec![(1.0, usize::MAX), (0.0, 2)]] {
        assert!(matches!(tape.push(Step::Input(runs)), Err(ProgramError::Invalid(_))));
    }
    assert!(tape.push(Step::Add(9, 0)).is_err() && tape.output(9, 1).is_err());
}
