//! Bench of tests: a small set with its keys, and slots under encryption.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, Context, Encoder};
use sunzi_rlwe::SecretKey;

use super::FunctionalBootstrapper;
use crate::bootstrap::{Blueprint, BootstrapKeys, Set};

/// Context, keys and bootstrapper of a set for tables, and what tests draw from.
pub(crate) struct Bench {
    pub(crate) context: Context,
    pub(crate) secret: SecretKey,
    pub(crate) keys: BootstrapKeys,
    pub(crate) bootstrapper: FunctionalBootstrapper,
    pub(crate) rng: ChaCha20Rng,
}

impl Bench {
    pub(crate) fn new(set: &Set, seed: u64) -> Self {
        let context = Context::new(&set.parameters().unwrap()).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let blueprint = Blueprint::new(&context, set, context.max_slots()).unwrap();
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {}).unwrap();
        let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {}).unwrap();
        Self { context, secret, keys, bootstrapper, rng }
    }

    pub(crate) fn encrypt_slots(&mut self, slots: &[Complex64], level: usize) -> Ciphertext {
        let encoder = Encoder::new(&self.context, slots.len()).unwrap();
        let plaintext = encoder.encode_at(slots, level, self.context.scale(level).unwrap()).unwrap();
        self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng).unwrap()
    }

    pub(crate) fn open_slots(&self, a: &Ciphertext) -> Vec<Complex64> {
        let plaintext = self.context.decrypt(a, &self.secret).unwrap();
        Encoder::new(&self.context, a.metadata().slots).unwrap().decode(&plaintext).unwrap()
    }
}
