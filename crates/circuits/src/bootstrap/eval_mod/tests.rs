use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_ckks::encoder::Encoder;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Context, Parameters};
use sunzi_math::primes_below;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{SecretKey, Security};

use super::*;

const DEFAULT: EvalModParameters = EvalModParameters {
    form: ApproximationForm::Cosine { degree: 30, arcsine: 3 },
    doublings: 3,
    range: 15,
    ratio_bits: 8.0,
    weight: 32,
};
const PAPER: EvalModParameters = EvalModParameters {
    form: ApproximationForm::Exponential { degree: 7 },
    doublings: 8,
    range: 30,
    ratio_bits: 10.0,
    weight: 64,
};

const JACOBI_ANGER: ApproximationForm = ApproximationForm::JacobiAnger { degree: 31 };

fn cosine(degree: usize, arcsine: usize) -> EvalModParameters {
    EvalModParameters { form: ApproximationForm::Cosine { degree, arcsine }, ..DEFAULT }
}

#[test]
fn errors_in_the_clear() {
    // Columns: log2 of the error at integers, of the largest around 0 and around the ends of the range; the depth.
    for (parameters, typical, least, ends, depth) in [
        (DEFAULT, -42.0, -33.0, -28.5, 10),
        // Without arcsin the largest messages are off by (2π)²·2^-24/6.
        (cosine(30, 1), -42.0, -21.0, -21.0, 8),
        (EvalModParameters { ratio_bits: 4.0, ..cosine(30, 7) }, -36.0, -19.0, -19.0, 11),
        (EvalModParameters { doublings: 4, ..cosine(22, 3) }, -42.0, -33.0, -32.0, 11),
        (cosine(62, 7), -47.0, -47.0, -38.5, 12),
        (PAPER, -30.0, -27.0, -14.0, 11),
        (EvalModParameters { form: JACOBI_ANGER, ..DEFAULT }, -32.0, -17.0, -17.0, 8),
    ] {
        let made = EvalMod::new(parameters).unwrap();
        let errors = [made.typical_error(), made.error_at(0), made.error_at(parameters.range)].map(f64::log2);
        for (error, bound) in errors.iter().zip([typical, least, ends]) {
            assert!(*error <= bound, "{parameters:?}: {errors:?}");
        }
        assert_eq!(made.depth(), depth, "{parameters:?}");
    }
}

/// Tests the whole range of the argument: the powers of both forms are off by no more than is said, and by a fiftieth of it somewhere.
#[test]
fn exponentials_are_as_near_as_stated() {
    for (form, doublings) in [
        (JACOBI_ANGER, 3),
        (ApproximationForm::JacobiAnger { degree: 22 }, 4),
        (ApproximationForm::JacobiAnger { degree: 47 }, 2),
        (PAPER.form, 8),
    ] {
        let made = EvalMod::new(EvalModParameters { form, doublings, ratio_bits: 1.0, ..DEFAULT }).unwrap();
        let off = |i: i32| {
            let u = f64::from(i) / 2000.0;
            let power = made.base.at_complex(u.into()).powi(1 << doublings);
            (power - Complex64::cis(2.0 * PI * u * made.width())).norm()
        };
        let worst = (-2000..=2000).map(off).fold(0.0, f64::max);
        let bound = made.exponential_error();
        assert!(worst <= bound && worst >= bound / 50.0, "{form:?} {doublings}: {worst:e} {bound:e}");
    }
    assert_eq!(EvalMod::new(DEFAULT).unwrap().exponential_error(), f64::INFINITY);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for parameters in [
        cosine(1, 1),
        cosine(30, 33),
        EvalModParameters { range: 0, ..DEFAULT },
        EvalModParameters { range: 5000, ..DEFAULT },
        EvalModParameters { ratio_bits: 1.5, ..DEFAULT },
        EvalModParameters { form: JACOBI_ANGER, ratio_bits: 0.9, ..DEFAULT },
        EvalModParameters { doublings: 41, ..DEFAULT },
    ] {
        assert!(matches!(EvalMod::new(parameters), Err(SeriesError::OutOfRange { .. })), "{parameters:?}");
    }
}

#[test]
fn encrypted_slots_lose_their_integers() {
    const LOG2_DEGREE: u32 = 8;
    const SLOTS: usize = 1 << (LOG2_DEGREE - 1);
    for (parameters, bound) in [(DEFAULT, -33.0), (cosine(30, 1), -20.5), (PAPER, -13.5)] {
        let made = EvalMod::new(parameters).unwrap();
        let step = 2 << LOG2_DEGREE;
        let mut moduli = primes_below(1 << 60, step, 1).unwrap();
        moduli.extend(primes_below(1 << 55, step, made.depth()).unwrap());
        let special_moduli = primes_below(1 << 61, step, 3).unwrap();
        let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
        let security = Security::InsecureForResearchOnly;
        let levels = (1..=made.depth() + 1).collect();
        let chosen = Parameters::new(LOG2_DEGREE, moduli, levels, 55, security).with_key_switching(options);
        let context = Context::new(&chosen).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let rotations = rotation_keys(&context, &secret, [], true, context.depth(), &mut rng).unwrap();
        let encoder = Encoder::new(&context, SLOTS).unwrap();
        // Every integer up to 8 in absolute value, with remainders from one end to the other.
        let ratio = (-parameters.ratio_bits).exp2();
        let rest = |i: usize| ratio * ((i * 37 % SLOTS) as f64 / (SLOTS as f64 / 2.0) - 1.0);
        let slots: Vec<f64> = (0..SLOTS).map(|i| ((i % 17) as f64 - 8.0 + rest(i)) / made.width()).collect();
        let x = encoder.encode_real(&slots).unwrap();
        let x = context.encrypt_secret(&x, &secret, &mut rng).unwrap();
        let evaluator = Evaluator::new(&context);
        let scale = 53_f64.exp2();
        let (products, turning) = ([(&evaluator, &key); 2], (&evaluator, &rotations));
        let y = made.evaluate(&x, scale, products, turning).unwrap();
        assert_eq!(y.metadata().level, 0);
        let stated = made.output_scale(&context, context.depth(), scale).unwrap();
        assert!((y.metadata().scale / stated - 1.0).abs() < 1e-13);
        let y = encoder.decode_real(&context.decrypt(&y, &secret).unwrap()).unwrap();
        let worst = y.iter().enumerate().map(|(i, y)| (y - rest(i)).abs()).fold(0.0, f64::max);
        assert!(worst.log2() < bound, "{parameters:?}: {}", worst.log2());
        let low = evaluator.drop_to(&x, made.depth() - 1).unwrap();
        let error = made.evaluate(&low, scale, products, turning).err().unwrap();
        assert!(matches!(error, CkksError::LevelExhausted { operation: "EvalMod", .. }));
    }
}
