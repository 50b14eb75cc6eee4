//! Rotations of results of tables.

use rand_core::CryptoRng;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, Evaluator};
use sunzi_rlwe::{GaloisKeys, SecretKey};

use crate::bootstrap::{Blueprint, BootstrapError};

/// Keys of rotations of the slots of results, with special moduli that cost least from the level of results to the lowest one that tables take.
pub struct Rotations {
    evaluator: Evaluator,
    keys: GaloisKeys,
}

impl Rotations {
    /// Makes the keys of rotations by these steps.
    ///
    /// # Errors
    /// [`BootstrapError::Rlwe`] for a secret of another context; [`BootstrapError::Ckks`] above the security limit.
    pub fn generate(
        blueprint: &Blueprint,
        secret: &SecretKey,
        steps: impl IntoIterator<Item = i64>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, BootstrapError> {
        let (context, set) = (blueprint.context(), blueprint.set());
        let highest = blueprint.levels().residual;
        let levels = set.lowest_level().min(highest)..=highest;
        let special_moduli = set.parameters()?.special_moduli_for(levels.clone())?;
        let low = context.for_levels(levels, &special_moduli)?;
        let secret = secret.in_context(context.rlwe(), low.rlwe())?;
        let keys = rotation_keys(&low, &secret, steps, false, highest, rng)?;
        Ok(Self { evaluator: Evaluator::new(&low), keys })
    }

    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.keys.byte_len()
    }

    /// Rotates the slots of a result left by `steps`, right if negative.
    ///
    /// # Errors
    /// [`BootstrapError::MissingKey`]; [`BootstrapError::Ckks`] for ciphertexts of another context or above the level of results.
    pub fn rotate(&self, a: &Ciphertext, steps: i64) -> Result<Ciphertext, BootstrapError> {
        let rotated = self.evaluator.rotate(a, steps, &self.keys);
        rotated.map_err(|error| BootstrapError::from(error).of_bootstrapping())
    }
}
