//! Tests that BGV refuses other keys, other parameters, hostile files and undeclared operations by typed errors.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bgv::{BgvError, Ciphertext, Context, Evaluator, Parameters, Request};
use sunzi_encoding::Plaintext;
use sunzi_ring::RingError;
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RingShape, RlweError, SecretKey, Security};

struct Owner {
    context: Context,
    secret: SecretKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    plaintext: Plaintext,
    ciphertext: Ciphertext,
}

fn parameters(t: u64, depth: usize) -> Parameters {
    declared(t, depth, 0)
}

fn declared(t: u64, depth: usize, additions: u64) -> Parameters {
    Parameters::builder()
        .depth(depth)
        .fresh_additions(additions)
        .additions_per_level(additions)
        .plain_modulus(t)
        .batching(false)
        .log2_degree(6)
        .security(Security::InsecureForResearchOnly)
        .build()
        .unwrap()
}

fn owner(parameters: &Parameters, seed: u64) -> Owner {
    let context = Context::new(parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let coefficients = (0..64).map(|i| i % context.plain_modulus()).collect();
    let plaintext = Plaintext::new(coefficients, context.plain_modulus()).unwrap();
    Owner {
        relinearization: RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap(),
        galois: GaloisKeys::generate(context.rlwe(), &secret, [3], &mut rng).unwrap(),
        ciphertext: context.encrypt(&plaintext, &public, &mut rng).unwrap(),
        plaintext,
        secret,
        context,
    }
}

fn refused<T>(result: Result<T, BgvError>) {
    let error = result.err().unwrap();
    let named = matches!(
        error,
        BgvError::PlainModulusMismatch { .. }
            | BgvError::LevelMismatch { .. }
            | BgvError::Encoding(_)
            | BgvError::Ring(RingError::ShapeMismatch { .. } | RingError::OtherModulus { .. })
            | BgvError::Rlwe(
                RlweError::Ring(_) | RlweError::KeyMismatch { .. } | RlweError::GadgetMismatch { .. }
            )
    );
    assert!(named && !error.to_string().is_empty(), "{error:?}");
}

/// Tests that sets of moduli that are no levels, or that stand beside shares, are refused.
#[test]
fn rungs_of_others_are_refused() {
    let good = Parameters::builder().depth(6).plain_modulus(549_755_817_601).log2_degree(6);
    let good = good.security(Security::InsecureForResearchOnly).build().unwrap();
    good.validate().unwrap();
    assert!(!good.rungs().is_empty());
    let changes: [fn(&mut Vec<Vec<usize>>); 6] = [
        |rungs| rungs.truncate(2),
        |rungs| rungs[0] = vec![],
        |rungs| rungs[0] = vec![usize::MAX],
        |rungs| rungs[1].reverse(),
        |rungs| rungs.swap(0, 1),
        |rungs| *rungs = vec![vec![0]; 1000],
    ];
    for change in changes {
        let mut rungs = good.rungs().to_vec();
        change(&mut rungs);
        if rungs != good.rungs() {
            let bad = good.clone().with_rungs(rungs);
            assert!(bad.validate().is_err() && Context::new(&bad).is_err(), "{:?}", bad.rungs());
        }
    }
    let levels = good.levels().to_vec();
    let shares = vec![0, 2, 0, 0, 0, 0, 0];
    assert!(good.clone().with_shared_moduli(levels, shares).validate().is_err());
    assert!(good.limbs(9).is_empty());
}

#[test]
fn ciphertexts_of_others_are_refused_by_every_operation() {
    let own = owner(&parameters(257, 3), 1);
    let evaluator = Evaluator::new(&own.context);
    // Equal seeds give equal key names where rings are alike: another t, another depth, another key.
    let others =
        [(parameters(263, 3), 1), (parameters(257, 4), 1), (parameters(2, 3), 1), (parameters(257, 3), 2)];
    for (parameters, seed) in others {
        let other = owner(&parameters, seed);
        let (a, b) = (&own.ciphertext, &other.ciphertext);
        refused(evaluator.add(a, b));
        refused(evaluator.sub(b, a));
        refused(evaluator.multiply(a, b, &own.relinearization));
        refused(evaluator.multiply(b, b, &own.relinearization));
        refused(evaluator.square(b, &own.relinearization));
        refused(evaluator.multiply_unrelinearized(a, b));
        refused(evaluator.automorphism(b, 3, &own.galois));
        refused(own.context.decrypt(b, &own.secret));
        if seed == 1 {
            refused(evaluator.negate(b));
            refused(evaluator.multiply_scalar(b, 2));
            refused(evaluator.add_plain(b, &own.plaintext));
            refused(evaluator.multiply_plain(b, &own.plaintext));
            refused(evaluator.mod_switch_to(b, 0));
            refused(evaluator.hoist(b).map(|_| ()));
            refused(own.context.bits_left(b));
            if own.context.plain_modulus() != other.context.plain_modulus() {
                refused(evaluator.add_plain(a, &other.plaintext));
                refused(evaluator.prepare_plain(&other.plaintext));
            }
        }
    }
}

#[test]
fn levels_go_down_and_every_one_decrypts() {
    for t in [2, 257, 65536, 1_099_511_619_841] {
        let own = owner(&declared(t, 5, 2), 3);
        let evaluator = Evaluator::new(&own.context);
        let a = &own.ciphertext;
        assert_eq!(own.context.depth(), 5);
        for level in (0..=5).rev() {
            let low = evaluator.mod_switch_to(a, level).unwrap();
            assert_eq!(low.metadata().level(), level);
            assert_eq!(
                own.context.decrypt(&low, &own.secret).unwrap(),
                own.plaintext,
                "t = {t}, level {level}"
            );
            // Operations across all levels: sum, difference and plaintext operations.
            let double = evaluator.add(a, &low).unwrap();
            assert_eq!(evaluator.sub(&double, &low).unwrap().metadata().level(), level);
            let back = evaluator.sub_plain(&double, &own.plaintext).unwrap();
            assert_eq!(
                own.context.decrypt(&back, &own.secret).unwrap(),
                own.plaintext,
                "t = {t}, level {level}"
            );
            if level < 5 {
                let up = evaluator.mod_switch_to(&low, level + 1);
                assert!(
                    matches!(up, Err(BgvError::LevelTooLow { got, wanted }) if got == level && wanted == level + 1)
                );
            }
        }
        let mut power = a.clone();
        for _ in 0..5 {
            power = evaluator.multiply(&power, a, &own.relinearization).unwrap();
        }
        let error = evaluator.square(&power, &own.relinearization).err().unwrap();
        assert!(matches!(error, BgvError::DepthExceeded { needed: 6, depth: 5, .. }), "{error}");
        assert!(error.to_string().contains("depth(6)"), "{error}");
    }
}

#[test]
fn what_was_not_declared_is_named_with_what_to_declare() {
    let own = owner(&parameters(257, 2), 4);
    let evaluator = Evaluator::new(&own.context);
    let undeclared = |result: Result<Ciphertext, BgvError>, setting: &str| {
        let error = result.err().unwrap();
        assert!(matches!(error, BgvError::Undeclared(_)), "{error}");
        assert!(error.to_string().contains(setting), "{error}");
    };
    let (a, product) = (&own.ciphertext, evaluator.square(&own.ciphertext, &own.relinearization).unwrap());
    undeclared(evaluator.add(a, a), "fresh_additions(1)");
    undeclared(evaluator.multiply_scalar(a, -3), "fresh_additions(2)");
    undeclared(evaluator.automorphism(a, 3, &own.galois), "fresh_rotations(1)");
    undeclared(evaluator.multiply_plain(a, &own.plaintext), "fresh_plain_products(1)");
    undeclared(evaluator.sub(&product, &product), "additions_per_level(1)");
    undeclared(evaluator.automorphism(&product, 3, &own.galois), "rotations_per_level(1)");
    undeclared(evaluator.multiply_plain(&product, &own.plaintext), "plain_products_per_level(1)");
    // Operations that need no declaration.
    let shifted = evaluator.add_plain(&evaluator.negate(&product).unwrap(), &own.plaintext).unwrap();
    let opened =
        own.context.decrypt(&evaluator.multiply(&shifted, a, &own.relinearization).unwrap(), &own.secret);
    assert!(opened.is_ok());
}

#[test]
fn a_range_takes_the_smallest_modulus_that_holds_it() {
    let builder = Parameters::builder().depth(1);
    assert_eq!(builder.clone().plain_range(30_000_u32).build().unwrap().plain_modulus(), 65_537);
    let wide = builder.clone().plain_range(1_u64 << 59).build();
    assert!(matches!(wide, Err(BgvError::NothingFits(_))), "{wide:?}");
    let error = builder.plain_range(0_u32).build().unwrap_err();
    assert!(error.to_string().starts_with("plain_range: 0 is not possible"), "{error}");
}

#[test]
fn parameters_from_anywhere_are_refused_or_work() {
    for t in [2, 257, 1_099_511_619_841] {
        let good = parameters(t, 4);
        let text = serde_json::to_string(&good).unwrap();
        assert!(serde_json::from_str::<Parameters>(&text).is_err(), "no security");
        let read = accepting_insecure(|| serde_json::from_str::<Parameters>(&text));
        assert_eq!(read.unwrap(), good);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let wild = [
            "0",
            "1",
            "2",
            "3",
            "-1",
            "64",
            "4611686018427387904",
            "18446744073709551615",
            "[]",
            "[0]",
            "[1]",
            "[1,1]",
            "[3,2,1]",
            "[1,18446744073709551615]",
            "[257]",
            "[0,0,0,0,0]",
            "[0,1,0,1,0]",
            "\"x\"",
            "{}",
        ];
        for field in value.as_object().unwrap().keys() {
            for replacement in wild {
                let mut changed = value.clone();
                changed[field] = serde_json::from_str(replacement).unwrap();
                let read = accepting_insecure(|| serde_json::from_value::<Parameters>(changed));
                let Ok(parameters) = read else { continue };
                let _ = (parameters.degree(), parameters.depth(), parameters.log2_key_modulus());
                match Context::new(&parameters) {
                    Ok(context) => assert!(parameters.validate().is_ok() && context.plain_modulus() > 1),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}

#[test]
fn the_builder_takes_any_request() {
    let wild = [0, 1, 101, u32::MAX];
    for count in wild {
        let builder = Parameters::builder().log2_degree(12);
        for builder in [
            builder.clone().depth(count as usize),
            builder.clone().plain_bits(count),
            builder.clone().margin(count),
            builder.clone().fresh_plain_products(count as usize),
            builder.clone().plain_products_per_level(count as usize),
            builder.clone().additions_per_level(u64::from(count) << 32).fresh_additions(u64::MAX),
            builder.clone().rotations_per_level(u64::MAX).digits(count as usize),
            Parameters::builder().log2_degree(count),
            builder.clone().plain_modulus(u64::from(count)).batching(false),
            builder.clone().slots(count as usize),
        ] {
            match builder.explain() {
                Ok(explanation) => {
                    let fits = explanation.chosen.as_ref().is_none_or(|chosen| chosen.validate().is_ok());
                    assert!(fits && !explanation.to_string().is_empty());
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    let request = serde_json::to_string(&Request::default()).unwrap();
    let request: Request =
        serde_json::from_str(&request.replace("\"depth\":1", "\"depth\":4294967295")).unwrap();
    assert!(!request.to_string().is_empty());
}

/// Checks that real rings are refused as parameters and below a context.
#[test]
fn real_rings_are_refused() {
    let shape = RingShape::RealLog2Degree(6);
    let moduli = sunzi_math::primes_with_bits(40, 256, 3).unwrap();
    let parameters = Parameters::new(shape, moduli.clone(), 257, Security::InsecureForResearchOnly);
    let refused = Context::new(&parameters).err().unwrap().to_string();
    assert!(refused.contains("CKKS") && refused.contains("real ring degree 2^6"), "{refused}");
    let ring = sunzi_ring::Ring::new(shape, &moduli).unwrap();
    let refused = Context::with_ring(ring, &sunzi_bgv::Settings::from(&parameters)).err();
    assert!(matches!(refused, Some(BgvError::Rlwe(RlweError::RealRing { what: "BGV" }))));
}
