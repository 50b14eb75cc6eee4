//! Tests of encrypted reciprocals against division in the clear.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_circuits::approximation::Reciprocal;
use sunzi_ckks::{CkksError, Context, Encoder, Evaluator, LevelRange, Parameters};
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security};

const SLOTS: usize = 256;

/// Tests that slots are off by no more than the proved error and 7.2 deviations, at both ends and between, and that the levels and the scale are those stated.
#[test]
fn encrypted_reciprocals_are_as_right_as_they_state() {
    for (low, high) in [(0.25, 1.0), (-1.0, -0.25), (0.008, 0.8), (8e-5, 0.8)] {
        let near = f64::min(low, high).abs().min(f64::max(low, high).abs());
        let found = Reciprocal::new(near, low, high, 2.0_f64.powi(-18)).unwrap();
        let ranges = [LevelRange { levels: found.depth() + 1, scale_bits: 48 }];
        let security = Security::InsecureForResearchOnly;
        let parameters = Parameters::from_ranges(9, 58, &ranges, security).unwrap().with_digits(4).unwrap();
        let context = Context::new(&parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let (encoder, evaluator) = (Encoder::new(&context, SLOTS).unwrap(), Evaluator::new(&context));
        let last = (SLOTS - 1) as f64;
        for cell in [&|t: f64| low + (high - low) * t, &|_| low, &|_| high] as [&dyn Fn(f64) -> f64; 3] {
            let x: Vec<f64> = (0..SLOTS).map(|i| cell(i as f64 / last)).collect();
            let fresh = context.encrypt_secret(&encoder.encode_real(&x).unwrap(), &secret, &mut rng).unwrap();
            let refused = found.evaluate(&evaluator, &fresh, &key).err();
            assert!(
                matches!(refused, Some(CkksError::Value { .. })) || high == 1.0 || low == -1.0,
                "{refused:?}"
            );
            let operand = found.declared_within(&evaluator, &fresh).unwrap();
            let y = found.evaluate(&evaluator, &operand, &key).unwrap();
            assert_eq!(y.metadata().level, fresh.metadata().level - found.depth());
            assert_eq!(y.metadata().scale, context.scale(y.metadata().level).unwrap());
            let most = found.error() + 7.2 * y.metadata().precision.deviation();
            assert!(most < 1e-3, "{most:e}");
            let opened = encoder.decode_real(&context.decrypt(&y, &secret).unwrap()).unwrap();
            for (x, y) in x.iter().zip(opened) {
                assert!((y - near / x).abs() <= most, "{y} at {x}, {most:e}");
            }
        }
        let low_level = evaluator.drop_to(
            &context.encrypt_secret(&encoder.encode_real(&[low; SLOTS]).unwrap(), &secret, &mut rng).unwrap(),
            found.depth() - 1,
        );
        let error = found.evaluate(&evaluator, &low_level.unwrap(), &key).err().unwrap();
        assert!(matches!(error, CkksError::LevelExhausted { .. }), "{error}");
    }
}
