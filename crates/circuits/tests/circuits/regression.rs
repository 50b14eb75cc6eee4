//! Training on ciphertexts beside the same training in the clear.

use std::cell::{Cell, RefCell};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_circuits::regression::{
    ClearReals, EncryptedReals, Layout, RegressionKeys, Scaling, Training, accuracy, train,
};
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Parameters};
use sunzi_math::primes_below;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{PublicKey, SecretKey, Security};

const LEVELS: usize = 11;

fn context() -> Context {
    let log2_degree = 9;
    // One prime of 50 bits for level 0, one of about 40 bits, the scale, for every level above, four special ones.
    let mut moduli = primes_below(1 << 50, 2 << log2_degree, 5).unwrap();
    let special_moduli = moduli.split_off(1);
    let key_switching = GadgetOptions { digits: Some(3), special_moduli, ..GadgetOptions::default() };
    moduli.extend(primes_below(1 << 40, 2 << log2_degree, LEVELS).unwrap());
    let levels = (1..=moduli.len()).collect();
    let parameters = Parameters::new(log2_degree, moduli, levels, 40, Security::InsecureForResearchOnly);
    Context::new(&parameters.with_key_switching(key_switching)).unwrap()
}

#[test]
fn encrypted_training_gives_the_clear_model() {
    let rows: Vec<Vec<f64>> = (0..50_i32)
        .map(|i| vec![f64::from(i * 7 % 50), f64::from(i * i % 13), f64::from((i * 11 + 3) % 17) / 1e4])
        .collect();
    let labels: Vec<bool> = rows.iter().map(|row| row[0] + 2.0 * row[1] > 37.0).collect();
    let scaling = Scaling::of(&rows).unwrap();
    let context = context();
    let layout = Layout::new(rows.len(), 3, context.max_slots() / 2).unwrap();
    assert_eq!(layout.blocks(), 2);
    let blocks = layout.pack(&scaling, &rows, &labels).unwrap();
    let training = Training { iterations: 5, ..Training::default() };

    let rng = RefCell::new(ChaCha20Rng::seed_from_u64(5));
    let rng = &mut *rng.borrow_mut();
    let secret = SecretKey::generate(context.rlwe(), rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, rng).unwrap();
    let keys = RegressionKeys::generate(&context, &secret, &layout, context.depth(), rng).unwrap();
    let encoder = Encoder::new(&context, layout.slots()).unwrap();
    let table: Vec<_> = blocks
        .iter()
        .map(|block| context.encrypt(&encoder.encode_real(block).unwrap(), &public, rng).unwrap())
        .collect();

    let clear = ClearReals::new(layout.slots(), LEVELS);
    let plain: Vec<_> = blocks.iter().map(|block| clear.encrypt(block)).collect();
    let expected = train(&clear, &layout, &training, &plain, &mut |_| ()).unwrap();
    let expected = layout.weights(expected.values());

    // The owner of the key in the place of a bootstrapping.
    let (refreshes, rng) = (Cell::new(0), RefCell::new(ChaCha20Rng::seed_from_u64(6)));
    let again = |exhausted: &Ciphertext| -> Result<Ciphertext, CkksError> {
        refreshes.set(refreshes.get() + 1);
        let narrow = Encoder::new(&context, layout.width())?;
        let slots = narrow.decode(&context.decrypt(exhausted, &secret)?)?;
        assert!(slots.iter().all(|slot| slot.norm() < 1.0));
        context.encrypt(&narrow.encode(&slots)?, &public, &mut *rng.borrow_mut())
    };
    let encrypted = EncryptedReals::new(&context, &layout, &keys, again).unwrap();
    let trained = train(&encrypted, &layout, &training, &table, &mut |_| ()).unwrap();
    let got = layout.weights(&encoder.decode_real(&context.decrypt(&trained, &secret).unwrap()).unwrap());

    assert_eq!(refreshes.get(), 1);
    for (got, expected) in got.iter().zip(&expected) {
        assert!((got - expected).abs() < 1e-4, "{got} {expected}");
    }
    let [got, expected] = [got, expected].map(|weights| accuracy(&scaling.model(&weights), &rows, &labels));
    assert!(got == expected && got > 0.9, "{got} {expected}");
}
