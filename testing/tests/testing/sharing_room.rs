//! Parameters that were built to share results share them at the end of the declared depth; others say which option would.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_encoding::Plaintext;
use sunzi_rlwe::wire::Fingerprint;
use sunzi_rlwe::{
    DeclaredNoise, LedgerFile, PublicKey, RelinearizationKey, RlweError, SecretKey, SharingLedger,
    SharingPolicy,
};

/// Returns a policy that exceeds what a whole modulus leaves by chance.
fn demanding() -> SharingPolicy {
    SharingPolicy::new(60, 1 << 20).unwrap()
}

fn ledger(key: &SecretKey, policy: SharingPolicy) -> LedgerFile {
    LedgerFile::in_memory(SharingLedger::new(Fingerprint::default(), key.id(), policy))
}

#[test]
fn bfv_shares_at_full_depth() {
    let builder = sunzi_bfv::Parameters::builder().depth(2).additions(1).rotations(2);
    for (shared, parameters) in
        [(true, builder.clone().sharing(demanding()).build()), (false, builder.build())]
    {
        let context = sunzi_bfv::Context::new(&parameters.unwrap()).unwrap();
        let (evaluator, t) = (sunzi_bfv::Evaluator::new(&context), context.plain_modulus());
        let mut rng = ChaCha20Rng::seed_from_u64(31);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let message = Plaintext::constant(3, context.degree(), t).unwrap();
        let mut result = context.encrypt(&message, &public, &mut rng).unwrap();
        for _ in 0..2 {
            let square = evaluator.multiply(&result, &result, &key).unwrap();
            result = evaluator.add(&square, &square).unwrap();
        }
        let most = DeclaredNoise::from_bits(context.log2_largest_shareable_noise(demanding()).unwrap());
        let own = DeclaredNoise::of_own_run(result.noise(), context.ring().expansion());
        let declared = if shared { most } else { own };
        let mut ledger = ledger(&secret, demanding());
        let opened = context.decrypt_for_sharing(&result, &secret, declared, &mut ledger, &mut rng);
        if shared {
            // The constant (2·(2·3²)²), and no other coefficient.
            assert_eq!(opened.unwrap(), Plaintext::constant(648, context.degree(), t).unwrap());
        } else {
            let Err(error @ sunzi_bfv::BfvError::Rlwe(RlweError::SharingRoom { .. })) = opened else {
                panic!("there is room that nobody asked for")
            };
            assert!(error.to_string().contains("option `sharing`"), "{error}");
        }
    }
}

/// Checks every level, for large and for small plaintext moduli.
#[test]
fn bgv_shares_at_full_depth() {
    let wide = sunzi_bgv::Parameters::builder().depth(2).plain_bits(20);
    let narrow =
        sunzi_bgv::Parameters::builder().depth(5).plain_modulus(2).batching(false).shared_moduli(false);
    for builder in [wide, narrow] {
        let asked = builder.clone().sharing(demanding());
        assert!(asked.explain().unwrap().to_string().contains("room for sharing"));
        for (shared, parameters) in [(true, asked.build()), (false, builder.build())] {
            let context = sunzi_bgv::Context::new(&parameters.unwrap()).unwrap();
            let (evaluator, t) = (sunzi_bgv::Evaluator::new(&context), context.plain_modulus());
            let mut rng = ChaCha20Rng::seed_from_u64(32);
            let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
            let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
            let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
            let one = Plaintext::constant(1, context.degree(), t).unwrap();
            let mut result = context.encrypt(&one, &public, &mut rng).unwrap();
            let mut ledger = ledger(&secret, demanding());
            loop {
                let level = result.metadata().level();
                let declared = context.declared_noise(level).unwrap();
                let opened = context.decrypt_for_sharing(&result, &secret, declared, &mut ledger, &mut rng);
                if shared {
                    assert_eq!(opened.unwrap(), one, "level {level}");
                } else if level == 0 {
                    let Err(error) = opened else { panic!("there is room that nobody asked for") };
                    assert!(error.to_string().contains("option `sharing`"), "{error}");
                }
                if level == 0 {
                    break;
                }
                result = evaluator.multiply(&result, &result, &key).unwrap();
            }
        }
    }
    let paper = sunzi_bgv::Parameters::builder().noise(sunzi_bgv::NoiseModel::Paper).sharing(demanding());
    assert!(matches!(paper.build(), Err(sunzi_bgv::BgvError::Request { what: "sharing", .. })));
}

/// Checks also that shared results have the precision requested.
#[test]
fn ckks_shares_at_full_depth_with_the_precision_asked_for() {
    let policy = SharingPolicy::new(10, 16).unwrap();
    let builder = sunzi_ckks::Parameters::builder().depth(3).precision(10);
    for (shared, parameters) in [(true, builder.clone().sharing(policy).build()), (false, builder.build())] {
        let context = sunzi_ckks::Context::new(&parameters.unwrap()).unwrap();
        let evaluator = sunzi_ckks::Evaluator::new(&context);
        let mut rng = ChaCha20Rng::seed_from_u64(33);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let slots = context.degree() / 2;
        let encoder = sunzi_ckks::Encoder::new(&context, slots).unwrap();
        let values: Vec<f64> = (0..slots).map(|i| (i as f64).sin()).collect();
        let plaintext = encoder.encode_real(&values).unwrap();
        let mut result = context.encrypt(&plaintext, &public, &mut rng).unwrap();
        for _ in 0..3 {
            result = evaluator.multiply(&result, &result, &key).unwrap();
            result = evaluator.with_magnitude(&result, 1.0).unwrap();
        }
        let declared = DeclaredNoise::of_own_run(result.noise(), context.ring().expansion());
        let policy = if shared { policy } else { demanding() };
        let mut ledger = ledger(&secret, policy);
        let opened = context.decrypt_for_sharing(&result, &secret, declared, &mut ledger, &mut rng);
        if shared {
            let opened = opened.unwrap();
            let wanted = 2_f64.powi(-10);
            assert!(opened.precision().deviation() <= wanted, "{}", opened.precision().bits());
            let slots = encoder.decode_real(&opened).unwrap();
            let square: f64 = slots.iter().zip(&values).map(|(a, b)| (a - b.powi(8)).powi(2)).sum();
            assert!((square / slots.len() as f64).sqrt() <= wanted);
        } else {
            let Err(error) = opened else { panic!("there is room that nobody asked for") };
            assert!(error.to_string().contains("option `sharing`"), "{error}");
        }
    }
    let most = SharingPolicy::new(80, 1 << 20).unwrap();
    let refused = sunzi_ckks::Parameters::builder().depth(1).sharing(most).build().unwrap_err();
    assert!(refused.to_string().contains("fewer statistical bits"), "{refused}");
}
