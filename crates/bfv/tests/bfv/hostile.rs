//! Arguments and parameter files from untrusted sources give typed errors, no panic and no work before the checks.

use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{
    BatchEncoder, BfvError, CoefficientEncoder, Context, CrtEncoder, CrtParameters, Encoder, Evaluator,
    Explanation, Parameters, Plaintext, Request, row_rotation_exponent, row_swap_exponent,
    slot_sum_exponents,
};
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::{
    GaloisKeys, ModuliError, PublicKey, RelinearizationKey, RingShape, RlweError, SecretKey, Security,
};

const WORDS: [u64; 16] = [
    0,
    1,
    2,
    3,
    128,
    257,
    641,
    65_536,
    (1 << 47) + 1,
    (1 << 60) - 1,
    1 << 60,
    (1 << 62) - 57,
    1 << 62,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX,
];
const SIZES: [usize; 12] =
    [0, 1, 2, 3, 63, 64, 65, 1 << 17, (1 << 17) + 1, usize::MAX / 4 + 1, usize::MAX / 2 + 1, usize::MAX];

fn parameter_text(log2_degree: u64, moduli: &[u64], t: u64) -> String {
    format!(
        r#"{{"log2_degree":{log2_degree},"moduli":{moduli:?},"plain_modulus":{t},"security":"InsecureForResearchOnly"}}"#
    )
}

/// Calls every function of BFV parameters before and after they are checked.
fn exercise(parameters: &Parameters) {
    let (_, _) = (parameters.degree(), parameters.log2_degree());
    let (_, _) = (parameters.modulus(), parameters.log2_modulus());
    let _ = (parameters.supports_batching(), parameters.security());
    let crt = CrtParameters::from(parameters.clone());
    let (_, _, _) = (crt.degree(), crt.log2_modulus(), crt.plain_range());
    assert_eq!(crt.validate().is_ok(), parameters.validate().is_ok());
    match Context::new(parameters) {
        Ok(context) => assert!(context.log2_noise_capacity() > 0.0, "{parameters:?}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

#[test]
fn parameters_from_anywhere_are_refused_or_work() {
    let prime = sunzi_math::primes_below(1 << 40, 1 << 18, 1).unwrap()[0];
    for log2_degree in [0, 5, 6, 17, 18, 31, 32, 62, 63, 64, 65, 255, u64::from(u32::MAX)] {
        for t in WORDS {
            for moduli in [vec![], vec![prime], vec![prime, prime], vec![prime, t], vec![t]] {
                let text = parameter_text(log2_degree, &moduli, t);
                assert!(serde_json::from_str::<Parameters>(&text).is_err(), "no security");
                exercise(&accepting_insecure(|| serde_json::from_str(&text)).unwrap());
            }
        }
    }
    for text in [
        parameter_text(1 << 32, &[prime], 3),
        parameter_text(6, &[prime], 3).replace("\"moduli\":[", "\"moduli\":[-1,"),
        parameter_text(6, &[prime], 3).replace(":3,", ":18446744073709551616,"),
        parameter_text(6, &[prime], 3).replace("Insecure", "Secure"),
        "[]".to_owned(),
    ] {
        let read = accepting_insecure(|| serde_json::from_str::<Parameters>(&text));
        assert!(read.is_err(), "{text}");
    }
}

/// Tests that a long list costs nothing: no table is built, no pair compared before the length is known.
#[test]
fn long_lists_are_refused_at_once() {
    let primes = sunzi_math::primes_below(1 << 40, 1 << 7, 20_000).unwrap();
    let security = Security::InsecureForResearchOnly;
    let start = Instant::now();
    let parameters = Parameters::new(6, primes.clone(), 3, security);
    assert!(matches!(
        Context::new(&parameters),
        Err(BfvError::Moduli(ModuliError::TooMany { got: 20_000, .. }))
    ));
    let crt = CrtParameters::new(6, primes[..2].to_vec(), primes[2..].to_vec(), security);
    assert!(matches!(crt.validate(), Err(BfvError::Moduli(ModuliError::TooMany { .. }))));
    let secure = Parameters::new(17, primes, 3, Security::Bits128);
    assert!(secure.validate().is_err());
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn encoders_and_plaintexts_take_any_size_and_modulus() {
    for size in SIZES {
        for t in WORDS {
            if let Ok(encoder) = BatchEncoder::new(size, t) {
                assert!(encoder.encode(&[]).is_ok());
            }
            if let Ok(encoder) = CoefficientEncoder::new(size, t) {
                assert!(encoder.encode(&[]).is_ok() && encoder.encode(&[u64::MAX]).is_err());
                assert!(encoder.encode_signed(&[i64::MIN]).is_err());
            }
            assert!(Plaintext::constant(u64::MAX, size, t).is_err());
            let _ = CrtEncoder::batching(size, &[t, 257]);
            let _ = CrtEncoder::coefficients(size, &[t, t]);
            let _ = Plaintext::constant(1, size, t);
        }
    }
    for t in WORDS {
        assert!(Plaintext::new(vec![t], t).is_err());
        if let Ok(empty) = Plaintext::new(vec![], t) {
            assert!(empty.is_zero() && empty.check(64, t).is_err());
        }
    }
    let encoder = CrtEncoder::coefficients(64, &[3, 5]).unwrap();
    assert!(encoder.encode(&[i128::MIN, i128::MAX]).is_err());
    assert!(encoder.decode(&[]).is_err());
    let empty = Plaintext::new(vec![], 3).unwrap();
    assert!(encoder.decode(&[empty.clone(), empty]).is_err());
}

#[test]
fn slot_helpers_take_any_degree_and_step() {
    for degree in SIZES {
        let _ = row_swap_exponent(degree);
        for steps in [i64::MIN, -1, 0, 1, i64::MAX] {
            let _ = row_rotation_exponent(degree, steps);
        }
        for length in SIZES {
            assert!(slot_sum_exponents(degree, length).len() <= 64);
        }
    }
}

#[test]
fn the_builder_takes_any_request() {
    for log2_degree in [None, Some(0), Some(6), Some(18), Some(u32::MAX)] {
        for slots in SIZES {
            let mut builder = Parameters::builder().slots(slots);
            if let Some(log2_degree) = log2_degree {
                builder = builder.log2_degree(log2_degree);
            }
            let _ = builder.build();
        }
    }
    for count in [0, 1, 100, 101, u32::MAX] {
        let builder = Parameters::builder().log2_degree(12);
        for builder in [
            builder.clone().depth(count as usize),
            builder.clone().additions(count),
            builder.clone().rotations(count),
            builder.clone().plain_products(count as usize),
            builder.clone().margin(count),
            builder.clone().plain_bits(count),
            builder.clone().plain_bits(count).batching(false),
        ] {
            let _ = builder.build();
        }
    }
    for t in WORDS {
        let _ = Parameters::builder().plain_modulus(t).log2_degree(12).build();
        let _ = Parameters::builder().plain_modulus(t).batching(false).log2_degree(12).build();
        let _ = Parameters::builder().plain_range(t).log2_degree(12).build_crt();
    }
    let request = serde_json::to_string(&Request::default()).unwrap();
    let wild = request.replace("\"depth\":1", "\"depth\":4294967295");
    let wild: Request = serde_json::from_str(&wild).unwrap();
    assert!(!wild.to_string().is_empty());
}

#[test]
fn explanations_from_anywhere_print() {
    let explanation = Parameters::builder().depth(1).explain().unwrap();
    let text = serde_json::to_string(&explanation).unwrap();
    for (from, to) in [
        ("\"log2_degree\":12", "\"log2_degree\":4294967295"),
        ("\"moduli\":[", "\"moduli\":[0,18446744073709551615,"),
        ("\"plain_moduli\":[", "\"plain_moduli\":[0,18446744073709551615,"),
        ("\"ciphertext\":", "\"ciphertext\":9"),
    ] {
        // Parameters that claim a security which they do not have are not read at all.
        let wild = text.replace(from, to);
        match serde_json::from_str::<Explanation>(&wild) {
            Ok(read) => assert!(!read.to_string().is_empty()),
            Err(error) => assert!(error.to_string().contains("ring degree"), "{error}"),
        }
        assert_ne!(wild, text, "{from}");
    }
}

#[test]
fn operations_take_any_argument() {
    let moduli = sunzi_math::primes_below(1 << 45, 1 << 7, 2).unwrap();
    let parameters = Parameters::new(6, moduli, 257, Security::InsecureForResearchOnly);
    let context = Context::new(&parameters).unwrap();
    let evaluator = Evaluator::new(&context);
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    for exponent in [0, 2, 128, 129, u64::MAX] {
        assert!(GaloisKeys::generate(context.rlwe(), &secret, [exponent], &mut rng).is_err());
    }
    let galois = GaloisKeys::generate(context.rlwe(), &secret, [], &mut rng).unwrap();
    let message = Plaintext::constant(5, 64, 257).unwrap();
    let a = context.encrypt(&message, &public, &mut rng).unwrap();
    for exponent in [0, 2, 3, 128, 129, u64::MAX] {
        assert!(evaluator.automorphism(&a, exponent, &galois).is_err());
    }
    for steps in [-1, 1, 31, 33, i64::MIN + 1, i64::MAX] {
        assert!(evaluator.rotate_rows(&a, steps, &galois).is_err());
    }
    // Rotations by whole turns need no key.
    for steps in [0, 32, -32, i64::MIN] {
        assert!(evaluator.rotate_rows(&a, steps, &galois).is_ok());
    }
    for length in SIZES {
        assert_eq!(evaluator.sum_segments(&a, length, &galois).is_ok(), length == 1);
    }
    assert!(evaluator.sum([]).is_err());
    for scalar in [i64::MIN, -257, -1, 0, 1, 128, 129, i64::MAX] {
        let product = evaluator.multiply_scalar(&a, scalar).unwrap();
        let expected = (i128::from(scalar) * 5).rem_euclid(257) as u64;
        assert_eq!(context.decrypt(&product, &secret).unwrap().coefficients()[0], expected);
    }
    let three = evaluator.multiply_unrelinearized(&a, &a).unwrap();
    assert!(evaluator.square(&three, &relinearization).is_err());
    assert!(evaluator.rotate_columns(&three, &galois).is_err());
    assert!(evaluator.add(&three, &a).is_ok() && evaluator.sub(&a, &three).is_ok());
    // Noise beyond every bound is an error, not a panic.
    let mut b = a;
    while context.bits_left(&b) > -1e4 {
        b = evaluator.square(&b, &relinearization).unwrap();
    }
    let error = context.decrypt(&b, &secret).unwrap_err();
    assert!(matches!(error, BfvError::NoiseExhausted { .. }) && error.to_string().contains("multiply ("));
    assert!(context.decrypt_unchecked(&b, &secret).is_ok());
}

/// Checks that real rings are refused as parameters and below a context.
#[test]
fn real_rings_are_refused() {
    let shape = RingShape::RealLog2Degree(6);
    let moduli = sunzi_math::primes_with_bits(40, 256, 3).unwrap();
    let security = Security::InsecureForResearchOnly;
    let parameters = Parameters::new(shape, moduli.clone(), 257, security);
    let refused = Context::new(&parameters).err().unwrap().to_string();
    assert!(refused.contains("CKKS") && refused.contains("real ring degree 2^6"), "{refused}");
    let ring = sunzi_ring::Ring::new(shape, &moduli).unwrap();
    let refused = Context::with_ring(ring, 257, security).err();
    assert!(matches!(refused, Some(BfvError::Rlwe(RlweError::RealRing { what: "BFV" }))));
}
