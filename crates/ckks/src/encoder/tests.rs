use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_math::primes_below;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{GaloisKeys, SecretKey, Security};

use super::*;
use crate::rotation::rotation_keys;
use crate::{Evaluator, Parameters};

const DEGREE: usize = 256;

fn context() -> Context {
    let mut moduli = primes_below(1 << 40, 2 * DEGREE as u64, 4).unwrap();
    let special_moduli = moduli.split_off(3);
    let options = GadgetOptions { digits: Some(3), special_moduli, ..GadgetOptions::default() };
    let parameters = Parameters::new(8, moduli, vec![1, 2, 3], 35, Security::InsecureForResearchOnly)
        .with_key_switching(options);
    Context::new(&parameters).unwrap()
}

fn numbers(count: usize) -> Vec<Complex64> {
    (0..count).map(|j| Complex64::new((j as f64).sin() / 2.0, (3.0 * j as f64).cos() / 2.0)).collect()
}

fn close(a: &[Complex64], b: impl Iterator<Item = Complex64>, bound: f64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).norm() < bound)
}

#[test]
fn plaintexts_give_back_their_numbers() {
    let context = context();
    for slots in [1, 2, 8, 64, 128] {
        let encoder = Encoder::new(&context, slots).unwrap();
        let values = numbers(slots);
        let plaintext = encoder.encode(&values).unwrap();
        assert_eq!((plaintext.slots(), plaintext.level()), (slots, 2));
        assert!(close(&encoder.decode(&plaintext).unwrap(), values.iter().copied(), 1e-8));
        // An encoder of more slots sees the vector again and again.
        let all = Encoder::new(&context, DEGREE / 2).unwrap().decode(&plaintext).unwrap();
        assert!(close(&all, values.iter().copied().cycle(), 1e-8));
        let real: Vec<f64> = values.iter().map(|value| value.re).collect();
        let back = encoder.decode_real(&encoder.encode_real_at(&real, 0, 25_f64.exp2()).unwrap()).unwrap();
        assert!(real.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}

#[test]
fn ciphertexts_multiply_rotate_and_conjugate_slot_by_slot() {
    let context = context();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let keys: GaloisKeys = rotation_keys(&context, &secret, [1, -3], true, 2, &mut rng).unwrap();
    let evaluator = Evaluator::new(&context);
    for slots in [1, 4, 128] {
        let encoder = Encoder::new(&context, slots).unwrap();
        let values = numbers(slots);
        let plaintext = encoder.encode(&values).unwrap();
        let ciphertext = context.encrypt_secret(&plaintext, &secret, &mut rng).unwrap();
        let open = |c: &crate::Ciphertext| encoder.decode(&context.decrypt(c, &secret).unwrap()).unwrap();
        let product = evaluator.multiply_plain(&ciphertext, &plaintext).unwrap();
        assert!(close(&open(&product), values.iter().map(|value| value * value), 1e-6));
        for steps in [1_i64, -3] {
            let rotated = open(&evaluator.rotate(&ciphertext, steps, &keys).unwrap());
            let from = steps.rem_euclid(slots as i64) as usize;
            assert!(close(&rotated, values.iter().copied().cycle().skip(from), 1e-6));
        }
        let conjugate = open(&evaluator.conjugate(&ciphertext, &keys).unwrap());
        assert!(close(&conjugate, values.iter().map(Complex64::conj), 1e-6));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let context = context();
    for slots in [0, 3, 256] {
        assert!(matches!(
            Encoder::new(&context, slots),
            Err(CkksError::Encoder(EncoderError::Slots { most: 128, .. }))
        ));
    }
    let (few, many) = (Encoder::new(&context, 4).unwrap(), Encoder::new(&context, 8).unwrap());
    let plaintext = many.encode(&numbers(8)).unwrap();
    assert!(matches!(
        few.decode(&plaintext),
        Err(CkksError::Encoder(EncoderError::PlaintextSlots { slots: 4, got: 8 }))
    ));
    assert!(matches!(
        few.encode(&numbers(5)),
        Err(CkksError::Encoder(EncoderError::TooManyValues { got: 5, slots: 4 }))
    ));
    assert!(matches!(few.encode_at(&[], 3, 1e9), Err(CkksError::NoSuchLevel { level: 3, depth: 2 })));
    // Q_0 has 40 bits.
    let one = [Complex64::ONE];
    assert!(few.encode_at(&one, 0, 38.9_f64.exp2()).is_ok());
    assert!(matches!(few.encode_at(&one, 0, 40_f64.exp2()), Err(CkksError::MessageTooLarge { .. })));
}
